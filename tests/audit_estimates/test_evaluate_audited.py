"""evaluate() with audited rows: exact where all is known, and right in simulations."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from pueval import Counts, evaluate
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.errors import AssumptionWarning, InputError
from tests.audit_estimates.audits import (
    LABELINGS,
    audit_rows,
    label_rows,
    make_rows,
    uniform_audit,
)


def sample(seed=0, labeling="up", n=6000, size=300):
    rng = np.random.default_rng(seed)
    positive, score = make_rows(rng, n=n)
    labeled = label_rows(rng, positive, score, labeling)
    return positive, score, labeled, uniform_audit(rng, positive, labeled, size)


@pytest.mark.parametrize("weighted", [False, True])
def test_complete_audit_gives_the_truth(weighted):
    # With at most 60 distinct scores, each has a cell of its own, and nothing is left to estimate.
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.3
    score = np.round(rng.normal(size=2000) + positive, 1)
    score = np.clip(score, -2.0, 3.0)
    labeled = positive & (rng.random(2000) < np.where(score > 1, 0.6, 0.2))
    audited = np.where(labeled, np.nan, positive.astype(float))
    weight = rng.integers(1, 4, size=2000) if weighted else None
    ev = evaluate(
        labeled, score, audited=audited, labeling="any", threshold=0.5, sample_weight=weight
    )
    options = {"sample_weight": weight}
    assert ev["roc_auc"].value == pytest.approx(roc_auc_score(positive, score, **options))
    assert ev["f1"].value == pytest.approx(f1_score(positive, score >= 0.5, **options))
    assert ev.prevalence == pytest.approx(np.average(positive, weights=weight))
    truth = average_precision_score(positive, score, **options)
    assert ev["average_precision"].value == pytest.approx(truth, abs=0.02)  # interpolated ties


def test_audit_alone_is_the_weighted_share():
    _, _, _, audited = data = sample()
    _, score, labeled, _ = data
    ev = evaluate(labeled, score, audited=audited)
    found = np.nanmean(audited)
    assert ev.audit.prior_by_audit_alone.value == pytest.approx(found)
    assert ev.audit.n_unlabeled == 300
    assert ev.audit.n_unlabeled_positive == np.nansum(audited)
    low, high = ev.audit.prior_by_audit_alone[1:]
    assert low < found < high


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_audit_recovers_the_truth_where_labels_favor_high_scores(target):
    positive, score, labeled, audited = sample(n=20_000, size=600)
    rows = np.ones(score.size, bool) if target == "population" else ~labeled
    truth = roc_auc_score(positive[rows], score[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        before = evaluate(labeled, score, target=target)["roc_auc"]
    after = evaluate(labeled, score, audited=audited, target=target)["roc_auc"]
    assert before.low > truth
    assert after.low < truth < after.high
    assert abs(after.value - truth) < abs(before.value - truth) / 2


def test_focused_audit_needs_its_probabilities():
    rng = np.random.default_rng(3)
    positive, score = make_rows(rng, n=20_000)
    labeled = label_rows(rng, positive, score)
    probability = np.where(score > 1.5, 0.1, 0.01)
    audited = audit_rows(rng, positive, labeled, probability)
    ev = evaluate(labeled, score, audited=audited, audit_probability=probability)
    assert not ev.warnings
    truth = positive[~labeled].mean()
    assert ev.audit.prior.low < truth < ev.audit.prior.high
    with pytest.warns(AssumptionWarning, match="audit_probability"):
        evaluate(labeled, score, audited=audited)


def test_probability_that_depends_on_another_column():
    # Rows of one branch are checked ten times as often, and it has more positives at each score.
    rng = np.random.default_rng(4)
    errors = []
    for _ in range(12):
        positive, score = make_rows(rng, n=8000)
        branch = rng.random(score.size) < np.where(positive, 0.8, 0.3)
        labeled = label_rows(rng, positive, score)
        probability = np.where(branch, 0.12, 0.012)
        audited = audit_rows(rng, positive, labeled, probability)
        ev = evaluate(labeled, score, audited=audited, audit_probability=probability, level=None)
        errors.append(ev.prior - positive[~labeled].mean())
    # Unweighted, the share of positives would be twice as large.
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors)) + 0.005


def test_audited_labeled_rows_determine_the_purity():
    positive, score, labeled, audited = sample(labeling="random", n=20_000, size=600)
    rng = np.random.default_rng(5)
    wrong = rng.choice(np.flatnonzero(~positive & ~labeled & np.isnan(audited)), 200, replace=False)
    labeled[wrong] = True
    truth = positive[labeled].mean()
    rows = rng.choice(np.flatnonzero(labeled), 150, replace=False)
    audited[rows] = positive[rows]
    ev = evaluate(labeled, score, audited=audited)
    purity = ev.audit.purity
    assert purity.low < truth < purity.high
    assert ev.purity == pytest.approx(purity.value)
    assert ev.audit.test(purity=1.0) < 0.01
    assert ev.audit.test(purity=truth) > 0.01
    assert ev["roc_auc"].low < roc_auc_score(positive, score) < ev["roc_auc"].high


def test_given_purity_without_audited_labeled_rows():
    positive, score, labeled, audited = sample(labeling="random", n=20_000, size=600)
    rng = np.random.default_rng(6)
    wrong = rng.choice(np.flatnonzero(~positive & ~labeled & np.isnan(audited)), 200, replace=False)
    labeled[wrong] = True
    ev = evaluate(labeled, score, audited=audited, purity=float(positive[labeled].mean()))
    assert ev["roc_auc"].low < roc_auc_score(positive, score) < ev["roc_auc"].high
    assert ev.prevalence == pytest.approx(positive.mean(), abs=0.03)


def test_counts_with_audited_rows_equal_arrays():
    _, score, labeled, audited = sample()
    rows = np.isfinite(audited)
    checked = AuditedRows(score[rows], labeled[rows], audited[rows] == 1, np.ones(int(rows.sum())))
    ours = evaluate(Counts.from_arrays(labeled, score), audited=checked)
    theirs = evaluate(labeled, score, audited=audited)
    assert ours["f1"] == theirs["f1"]
    assert ours.audit.to_dict() == theirs.audit.to_dict()


def test_audited_column_kinds():
    _, score, labeled, audited = sample()
    expected = evaluate(labeled, score, audited=audited, level=None)["roc_auc"].value
    pandas = pytest.importorskip("pandas")
    missing = np.isnan(audited)
    kinds = {
        "objects": [
            None if gap else bool(value) for gap, value in zip(missing, audited, strict=True)
        ],
        "nullable": pandas.array(np.where(missing, 0, audited), dtype="Int64"),
        "masked": np.ma.masked_array(np.where(missing, 0, audited), missing),
    }
    kinds["nullable"][missing] = pandas.NA
    for column in kinds.values():
        ev = evaluate(labeled, score, audited=column, level=None)
        assert ev["roc_auc"].value == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"audited": "two"}, "must hold 1"),
        ({"audited": "none"}, "no checked row"),
        ({"audited": "short"}, "same length"),
        ({"audited": "few"}, "at least 10"),
        ({"prior": 0.2}, "cannot be combined"),
        ({"propensity": 0.5}, "cannot be combined"),
        ({"labeling": "linear"}, "labeling must be"),
        ({"audit_probability": 0.0}, r"in \(0, 1\]"),
        ({"purity": (0.8, 0.9)}, "purity must be a number"),
        ({"variance": "labeling"}, "variance"),
    ],
)
def test_refusals(change, message):
    _, score, labeled, audited = sample()
    columns = {
        "two": np.where(np.isnan(audited), np.nan, 2.0),
        "none": np.full(audited.size, np.nan),
        "short": audited[:-1],
        "few": np.where(np.cumsum(np.isfinite(audited)) <= 5, audited, np.nan),
    }
    options = {"audited": audited} | change
    if isinstance(options["audited"], str):
        options["audited"] = columns[options["audited"]]
    for name in ("propensity", "audit_probability"):
        if name in options:
            options[name] = np.full(score.size, options[name])
    with pytest.raises(InputError, match=message):
        evaluate(labeled, score, **options)


def test_options_without_an_audit_are_refused():
    _, score, labeled, _ = sample()
    with pytest.raises(InputError, match="needs audited"):
        evaluate(labeled, score, labeling="any")
    with pytest.raises(InputError, match="needs audited"):
        evaluate(labeled, score, audit_probability=np.ones(score.size))


def test_text_and_plain_data():
    _, score, labeled, audited = sample()
    ev = evaluate(labeled, score, audited=audited)
    text = str(ev)
    assert "audited unlabeled rows are positive" in text
    assert "Labels favor high scores" in text
    assert "random sample of all positives" not in text
    assert "by the audit" in text
    data = ev.to_dict()["audit"]
    assert data["n_unlabeled"] == 300
    assert data["random_labeling_pvalue"] < 0.05
    assert data["propensity"]["0.05"]["value"] > 2 * data["propensity"]["0.95"]["value"]
    assert "Prior by the audit alone" in repr(ev.audit)
    curve = ev.audit.propensity()
    assert np.all(curve.low <= curve.propensity)
    assert np.all(curve.propensity <= curve.high)


def test_random_labeling_that_the_audit_contradicts():
    _, score, labeled, audited = sample()
    with pytest.warns(AssumptionWarning, match="the audit contradicts labeling='random'"):
        ev = evaluate(labeled, score, audited=audited, labeling="random")
    verdict = ev.verdict()
    assert verdict.contradicted
    assert verdict.random_labeling
    assert verdict.next_step.startswith("Leave labeling out")
    assert "the probability of a label" not in str(ev.audit)
    plain = evaluate(labeled, score, audited=audited).verdict()
    assert not plain.contradicted
    assert not plain.random_labeling


def test_random_labeling_that_the_audit_does_not_contradict():
    _, score, labeled, audited = sample(labeling="random")
    verdict = evaluate(labeled, score, audited=audited, labeling="random").verdict()
    assert not verdict.contradicted
    assert "the numbers assume that the labeled positives are a random sample" in str(verdict)
    assert "not on random labeling" not in str(verdict)


def test_the_direction_is_that_of_the_trend():
    """If labels follow a step, the highest positives can be labeled as often as the median one."""
    directions = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        positive = rng.random(20_000) < 0.1
        score = rng.normal(size=20_000) + 2 * positive
        labeled = positive & (rng.random(20_000) < np.where(score < 1.2, 0.02, 0.5))
        audited = uniform_audit(rng, positive, labeled, 300)
        ev = evaluate(labeled, score, audited=audited, threshold=1.5, level=None)
        directions += [word for word in ("high", "low") if f"favor {word}" in str(ev.audit)]
    assert directions
    assert set(directions) == {"high"}


@pytest.mark.filterwarnings("ignore:no unlabeled row with a score below")
@pytest.mark.parametrize("labeling", ["smooth", "any"])
def test_alarms_only(labeling):
    """An audit of alarms tells their precision; the other rows are not scaled up from them."""
    errors, widths, covered = [], [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        positive = rng.random(8000) < 0.2
        score = rng.normal(size=8000) + positive
        labeled = positive & (rng.random(8000) < 0.3)
        threshold = np.quantile(score, 0.8)
        alarms = np.flatnonzero(~labeled & (score >= threshold))
        audited, probability = np.full(8000, np.nan), np.zeros(8000)
        checked = rng.choice(alarms, 100, replace=False)
        audited[checked], probability[alarms] = positive[checked], 100 / alarms.size
        ev = evaluate(
            labeled, score, audited=audited, audit_probability=probability, threshold=threshold,
            labeling=labeling,
        )  # fmt: skip
        truth = positive[score >= threshold].mean()
        estimate = ev["precision"]
        errors.append(estimate.value - truth)
        widths.append(estimate.high - estimate.low)
        covered.append(estimate.low <= truth <= estimate.high)
    # A binomial interval from 100 rows is about 0.18 wide.
    assert np.mean(widths) < 0.22
    assert np.sqrt(np.mean(np.square(errors))) < 0.06
    assert np.mean(covered) >= 7 / 8
    assert ev.verdict().next_step.startswith("Check some unlabeled rows with low scores, too")
    assert ev.audit.prior_by_audit_alone is None
    assert "Prior by the audit alone" not in repr(ev.audit)
    assert np.isnan(ev.audit.widths().audit_alone).all()
    assert any("82% of them score lower" in w or "of them score lower" in w for w in ev.warnings)


def test_very_unequal_probabilities_are_noted():
    rng = np.random.default_rng(0)
    positive, score = make_rows(rng, n=6000)
    labeled = label_rows(rng, positive, score, "random")
    unlabeled = rng.permutation(np.flatnonzero(~labeled))
    small, large = np.split(unlabeled, [unlabeled.size // 10])
    probability = np.zeros(score.size)
    audited = np.full(score.size, np.nan)
    for stratum, size in ((small, 170), (large, 30)):
        checked = stratum[:size]
        audited[checked], probability[stratum] = positive[checked], size / stratum.size
    with pytest.warns(AssumptionWarning, match="200 audited unlabeled rows are worth only 3"):
        evaluate(labeled, score, audited=audited, audit_probability=probability)


def test_probabilities_that_are_missing():
    positive, score, labeled, audited = sample()
    probability = np.where(labeled, 0.0, 0.05)
    checked = np.flatnonzero(labeled)[:20]
    audited[checked] = positive[checked]
    with pytest.raises(InputError, match="20 are not, such as 0. These are labeled rows"):
        evaluate(labeled, score, audited=audited, audit_probability=probability)
    tiny = np.where(np.arange(score.size) < score.size / 2, 0.05, 1e-300)
    with pytest.raises(InputError, match="such as 1e-300. Such rows are never chosen"):
        evaluate(labeled, score, audited=audited, audit_probability=np.where(labeled, 0.05, tiny))
    probability = np.where(np.arange(score.size) < score.size / 2, 0.05, np.nan)
    with pytest.raises(InputError, match="pass plan.combined_probabilities"):
        evaluate(labeled, score, audited=audited, audit_probability=probability)


def test_audited_rows_are_checked():
    rows = AuditedRows([1, 2], [0, 1], [True, False], [1, 2.5])
    assert rows.labeled.tolist() == [False, True]
    assert rows.weight.dtype == rows.score.dtype == np.float64
    good = {"score": [1.0, 2], "labeled": [0, 1], "positive": [0, 1], "weight": [1, 1]}
    for change, message in (
        ({"positive": [0.5, 1]}, "positive must hold only booleans"),
        ({"labeled": [2, 1]}, "labeled must hold only booleans"),
        ({"score": [np.nan, 1]}, "score of audited rows must be finite"),
        ({"weight": [-1, 1]}, "weight of audited rows must be at least 0"),
        ({"weight": [1, 1, 1]}, "same length"),
    ):
        with pytest.raises(InputError, match=message):
            AuditedRows(**(good | change))


def test_tests_of_believed_shares():
    positive, score, labeled, audited = sample(labeling="random")
    audit = evaluate(labeled, score, audited=audited).audit
    truths = {
        "prior": positive[~labeled].mean(),
        "prevalence": positive.mean(),
        "label_frequency": labeled.sum() / positive.sum(),
    }
    for name, truth in truths.items():
        assert audit.test(**{name: truth}) > 0.01
        assert audit.test(**{name: 0.9}) < 0.01
    with pytest.raises(InputError, match="exactly one"):
        audit.test()
    with pytest.raises(InputError, match="no labeled row"):
        audit.test(purity=0.9)


@pytest.mark.thorough
@pytest.mark.parametrize("labeling", LABELINGS)
def test_coverage(labeling):
    """Intervals of the default cover the truth under every labeling (benchmarks/audit.py)."""
    rng = np.random.default_rng(7)
    population = make_rows(rng, n=1_000_000)
    threshold = 1.5
    truths = {
        "roc_auc": roc_auc_score(*population),
        "f1": f1_score(population[0], population[1] >= threshold),
    }
    replications, hits = 60, dict.fromkeys(truths, 0)
    for seed in range(replications):
        _, score, labeled, audited = sample([seed, 1], labeling)
        ev = evaluate(labeled, score, audited=audited, threshold=threshold, n_resamples=500)
        for name, truth in truths.items():
            hits[name] += ev[name].low <= truth <= ev[name].high
    # Three standard errors below .93.
    assert min(hits.values()) / replications >= 0.83, hits


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_prior_is_the_same_everywhere(target, purity):
    _, score, labeled, audited = sample(labeling="random")
    ev = evaluate(labeled, score, audited=audited, purity=purity, target=target)
    assert ev.prior == pytest.approx(ev.audit.prior.value, rel=1e-6)
    assert ev.assumptions.audited.prior == pytest.approx(ev.audit.prior[1:], rel=1e-6)


@pytest.mark.parametrize(("size", "knowledge"), [(60, "poorly"), (2000, "well")])
def test_verdict_grades_the_prior_by_the_intervals(size, knowledge):
    positive, score, labeled, audited = sample(n=20_000, size=size)
    verdict = evaluate(labeled, score, audited=audited).verdict()
    assert verdict.prior_knowledge == knowledge
    low, high = verdict.hidden_interval
    assert low < positive[~labeled].sum() < high
    assert not verdict.random_labeling
    assert verdict.audit


def test_label_frequency_includes_the_uncertainty_of_an_audited_purity():
    """At the ends of the 95% interval, the test of the same share has a p-value of 5%."""
    rng = np.random.default_rng(3)
    positive = rng.random(8000) < 0.2
    score = rng.normal(size=8000) + 2 * positive
    labeled = (positive & (rng.random(8000) < 0.3)) | (~positive & (rng.random(8000) < 0.01))
    audited = np.full(8000, np.nan)
    for kind, size in ((labeled, 40), (~labeled, 300)):
        chosen = rng.choice(np.flatnonzero(kind), size, replace=False)
        audited[chosen] = positive[chosen]
    audit = evaluate(labeled, score, audited=audited).audit
    share = audit.label_frequency
    assert share.low < share.value < share.high
    for end in (share.low, share.high):
        assert audit.test(label_frequency=end) == pytest.approx(0.05, abs=0.01)
    assert audit.prior_by_scores.prior > 0


def test_the_interval_of_the_labeling_bias_agrees_with_the_test_of_random_labeling():
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.2
    score = rng.normal(size=20_000) + 2 * positive
    lows = []
    for propensity in (0.3, expit(2 * (score - 2.5))):
        labeled = positive & (rng.random(20_000) < propensity)
        audited = np.full(20_000, np.nan)
        chosen = rng.choice(np.flatnonzero(~labeled), 400, replace=False)
        audited[chosen] = positive[chosen]
        audit = evaluate(labeled, score, audited=audited).audit
        bias = audit.labeling_bias
        assert 1 <= bias.low <= bias.value <= bias.high
        assert (bias.low == 1) == (audit.random_labeling_pvalue >= 0.05)
        lows.append(bias.low)
    assert lows[0] == 1
    assert lows[1] > 2


@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_naive_auc_of_tied_scores_is_that_without_an_audit(decimals):
    """Ties count half, as in scikit-learn; also with two scores, and with one."""
    rng = np.random.default_rng(1)
    positive = rng.random(1500) < 0.3
    labeled = positive & (rng.random(1500) < 0.4)
    audited = np.full(1500, np.nan)
    chosen = rng.choice(np.flatnonzero(~labeled), 150, replace=False)
    audited[chosen] = positive[chosen]
    score = np.round(rng.normal(size=1500) + 2 * positive, decimals)
    for values in (score, (score > 1).astype(float)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)  # scores look like classes
            naive = evaluate(labeled, values, audited=audited, level=None)["roc_auc"].naive
        assert naive == pytest.approx(roc_auc_score(labeled, values), abs=1e-12)


@pytest.mark.parametrize("labeling", ["smooth", "random", "score", "any"])
def test_an_audit_of_every_row(labeling):
    """Nothing is left to estimate; models still smooth a little."""
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.3
    score = rng.normal(size=2000) + 2 * positive
    labeled = positive & (rng.random(2000) < 0.3)
    ev = evaluate(labeled, score, audited=positive, labeling=labeling)
    close = 0.002 if labeling in ("smooth", "any") else 0.01
    assert ev["roc_auc"].value == pytest.approx(roc_auc_score(positive, score), abs=close)
    assert ev.prevalence == pytest.approx(positive.mean(), abs=close)


def test_labels_that_an_audit_finds_worthless():
    """A purity at or below the prior cannot be corrected for; a warning says what was used."""
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.3
    score = rng.normal(size=3000) + 2 * positive
    labeled = ~positive & (score > 1) & (rng.random(3000) < 0.3)
    audited = np.full(3000, np.nan)
    chosen = rng.choice(np.flatnonzero(~labeled), 200, replace=False)
    audited[chosen] = positive[chosen]
    audited[labeled] = 0
    with pytest.warns(AssumptionWarning, match="only 0 of .* audited labeled rows are positive"):
        evaluate(labeled, score, audited=audited)


def test_counts_do_not_know_which_rows_were_checked():
    counts = Counts.from_arrays([1, 0, 0], [3, 2, 1])
    with pytest.raises(InputError, match="audited must be pueval.audit.AuditedRows"):
        evaluate(counts, audited=[np.nan, 1, 0])
