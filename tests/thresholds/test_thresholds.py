"""Choosing thresholds: against a search over all of them, and against the truth."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from pueval import AssumptionWarning, Counts, InputError, evaluate
from pueval.commands.app import run
from pueval.core.measures import MEASURES
from tests.conftest import draw


@pytest.fixture
def ev(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    return evaluate(labeled, np.round(score, 1), prior=0.2, n_resamples=300)


def everywhere(ev):
    """Every measure at every score, one by one."""
    return {float(t): ev.at(float(t)) for t in ev.counts.score}


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("decimals", [1, 6])
def test_against_a_search_over_all_scores(rng, target, purity, decimals):
    _, score, labeled = draw(rng, 700, prevalence=0.4, label_frequency=0.5, purity=purity)
    given = {"prior": 0.25, "purity": purity, "target": target}
    ev = evaluate(labeled, np.round(score, decimals), threshold=0.5, level=None, **given)
    points = everywhere(ev)
    highest = sorted(ev.counts.score[ev.counts.labeled > 0], reverse=True)
    reached = np.cumsum([ev.counts.labeled[ev.counts.score == s][0] for s in highest])
    highest = highest[int(np.argmax(reached >= 10))]

    def value(t, name):  # not clipped: clipped values tie
        table, total = points[t].table, ev.counts.n if target == "population" else (~labeled).sum()
        tp, fp, fn = table.true_positive, table.false_positive, table.false_negative
        return {
            "precision": tp / (tp + fp) if tp + fp else math.nan,
            "recall": tp / (tp + fn),
            "fpr": fp / (fp + table.true_negative),
            "cost": (2 * fp + 7 * fn) / total,
        }[name]

    allowed = [t for t in points if value(t, "precision") >= 0.7 and t <= highest]
    expected = max(allowed, key=lambda t: value(t, "recall"))
    assert ev.threshold_for(precision=0.7).threshold == expected
    expected = max(t for t in points if value(t, "recall") >= 0.7)
    assert ev.threshold_for(recall=0.7).threshold == expected
    allowed = [t for t in points if value(t, "fpr") <= 0.1]
    assert ev.threshold_for(fpr=0.1).threshold == max(allowed, key=lambda t: value(t, "recall"))
    found = ev.threshold_for(cost=(2, 7))
    expected = min(points, key=lambda t: value(t, "cost"))
    assert found.threshold == expected
    assert found["cost"].value == pytest.approx(value(expected, "cost"), abs=1e-12)
    assert found["cost"].naive > 0
    kept = score if target == "population" else score[~labeled]
    kept = np.round(kept, decimals)
    fits = [t for t in kept if (kept >= t).sum() <= 60]
    assert ev.threshold_for(top=60).threshold == min(fits)


def test_values_are_those_at_the_threshold(ev):
    for choice in (
        ev.threshold_for(precision=0.8),
        ev.threshold_for(top=100),
        ev.threshold_for(best="f2"),
    ):
        point = ev.at(choice.threshold)
        assert choice.table == point.table
        assert choice.naive_table == point.naive_table
        for name, one in point.items():
            assert choice[name].value == one.value
            assert choice[name].naive == one.naive
    assert ev.threshold_for(best="f1").threshold == ev.best("f1").threshold
    assert ev.threshold_for(best="f2")["f2"].value == ev.best("f2").value


def test_same_seed_same_limits_and_none_without_a_level(ev, rng):
    one, two = ev.threshold_for(recall=0.8), ev.threshold_for(recall=0.8)
    assert one["f1"] == two["f1"]
    assert 0.9 < one.reached <= 1
    bare = evaluate(ev.counts, prior=0.2, level=None).threshold_for(recall=0.8)
    assert math.isnan(bare["f1"].low)
    assert math.isnan(bare.reached)
    assert bare["f1"].value == one["f1"].value
    assert bare.level is None


def test_the_most_of_few_labeled_rows_is_not_precision():
    """One labeled row above all others would have precision 1 and tell nothing."""
    score = np.r_[9.0, np.linspace(0, 1, 59), np.linspace(0, 1.2, 300)]
    ev = evaluate(np.repeat([1, 0], [60, 300]), score, prior=0.0, level=None)
    assert ev.at(9.0)["precision"].value == pytest.approx(1)
    with pytest.raises(InputError, match=r"best attainable is 0\.\d+, at \d\.\d+\. Thresholds"):
        ev.threshold_for(precision=0.9)


def test_costs(ev):
    """To miss nothing at all, predict all; to alarm nobody, none."""
    lowest = ev.threshold_for(cost=(0, 1))
    assert lowest["recall"].value == 1
    assert lowest["cost"].value == pytest.approx(0, abs=1e-12)
    with pytest.warns(AssumptionWarning, match="labeled rows score lower than the background rows"):
        ev = evaluate(np.repeat([1, 0], [50, 200]), np.r_[0:50, 0:200], prior=0.0, n_resamples=99)
    none = ev.threshold_for(cost=(1000, 0.01))
    assert none.threshold == math.inf
    assert none["cost"].value == pytest.approx(0.01 * ev.prevalence)
    assert math.isnan(none["precision"].value)
    assert none.to_dict()["threshold"] is None
    # The same costs in another currency choose the same threshold.
    a = ev.threshold_for(cost=(1, 20))
    b = ev.threshold_for(cost=(3, 60))
    assert a.threshold == b.threshold
    assert b["cost"].low == pytest.approx(3 * a["cost"].low)


def test_cost_of_the_bayes_rule():
    """Without a correction, the least cost is where precision crosses the ratio of costs."""
    rng = np.random.default_rng(0)
    positive = rng.random(200_000) < 0.3
    score = rng.normal(size=200_000) + 2 * positive
    ev = evaluate(positive, score, prior=0.0, level=None)
    found = ev.threshold_for(cost=(1, 4)).threshold
    # posterior odds at the threshold = 1/4: .3/.7·exp(2s − 2) = 1/4
    assert found == pytest.approx((math.log(0.25 * 0.7 / 0.3) + 2) / 2, abs=0.05)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "give exactly one of precision, recall, fpr, top, best, cost; got none of them"),
        ({"precision": 0.9, "recall": 0.9}, "got precision and recall"),
        ({"precision": 1.2}, "precision must be a number in [0, 1]; got 1.2"),
        ({"recall": "much"}, "recall must be a number in [0, 1]; got 'much'"),
        ({"fpr": math.nan}, "fpr must be a number in [0, 1]; got nan"),
        ({"fpr": True}, "fpr must be a number in [0, 1]; got True"),
        ({"top": 0}, "top must be a number of rows between 1 and 3,000"),
        ({"top": 3001}, "top must be a number of rows between 1 and 3,000"),
        ({"top": "all"}, "got 'all'"),
        ({"best": "f_1"}, "unknown measure 'f_1'. Did you mean 'f1'?"),
        ({"best": "roc_auc"}, "roc_auc is an area under a curve and has no threshold"),
    ],
)
def test_bad_requests(ev, asked, message):
    with pytest.raises(InputError) as caught:
        ev.threshold_for(**asked)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ((-1, 1), "false_positive must be a cost of at least 0; got -1"),
        ((1, math.inf), "false_negative must be a cost of at least 0; got inf"),
        ((0, 0), "both 0"),
        (("a", 1), "false_positive must be a cost of at least 0; got 'a'"),
    ],
)
def test_bad_costs(ev, costs, message):
    with pytest.raises(InputError, match=message):
        ev.threshold_for(cost=(costs[0], costs[1]))


def test_ties_that_leave_no_threshold():
    ev = evaluate(Counts.from_table([2, 1], [30, 10], [70, 90]), prior=0.0, level=None)
    with pytest.raises(InputError, match="100 share the highest score, 2"):
        ev.threshold_for(top=50)
    with pytest.raises(InputError, match="least attainable is 0.4375, at 2"):
        ev.threshold_for(fpr=0.1)
    with pytest.raises(InputError, match="precision of 0.5: the best attainable is 0.3, at 2"):
        ev.threshold_for(precision=0.5)
    assert ev.threshold_for(top=199).threshold == 2
    assert ev.threshold_for(top=200).threshold == 1


def test_a_nearly_unreachable_precision_says_so(rng):
    """The best attainable precision is asked for: other samples often do not have it."""
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.5, separation=0.7)
    ev = evaluate(labeled, score, prior=0.18, n_resamples=400)
    with pytest.raises(InputError) as caught:
        ev.threshold_for(precision=0.999)
    best = float(str(caught.value).split("best attainable is ")[1].split(",")[0])
    choice = ev.threshold_for(precision=best - 1e-3)
    assert choice.reached < 0.9
    assert ev.threshold_for(precision=0.35).reached > 0.99


def test_weights_and_rows_many_times_over(rng):
    """A row of weight 3 is three rows, and the top is counted in rows."""
    _, score, labeled = draw(rng, 400, prevalence=0.4, label_frequency=0.5)
    weight = rng.integers(1, 4, 400)
    given = {"prior": 0.2, "level": None}
    once = evaluate(labeled, score, sample_weight=weight, **given)
    repeated = evaluate(np.repeat(labeled, weight), np.repeat(score, weight), **given)
    for asked in ({"precision": 0.8}, {"recall": 0.6}, {"fpr": 0.2}, {"top": 120}):
        assert once.threshold_for(**asked).threshold == repeated.threshold_for(**asked).threshold, (
            asked
        )


def test_what_is_unknown_about_the_prior_widens_the_limits(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4, separation=2.5)
    given = {"threshold": 1.0, "n_resamples": 300}
    region = evaluate(labeled, score, prior=(0.1, 0.2), **given).threshold_for(recall=0.8)
    for prior in (0.1, 0.15, 0.2):
        one = evaluate(labeled, score, prior=prior, **given).threshold_for(recall=0.8)
        assert one.threshold == region.threshold  # the prior does not change recall
        for name in ("precision", "f1", "recall"):
            assert region[name].low <= one[name].low + 1e-12
            assert region[name].high >= one[name].high - 1e-12
    guessed = evaluate(labeled, score, **given)
    exact = evaluate(labeled, score, prior=guessed.mixture.prior, **given)
    wide, narrow = (ev.threshold_for(fpr=0.1)["precision"] for ev in (guessed, exact))
    assert wide.value == narrow.value
    assert wide.high - wide.low > narrow.high - narrow.low


@pytest.mark.parametrize("asked", [{"precision": 0.8}, {"top": 300}, {"recall": 0.8}])
def test_an_estimated_prior_is_as_uncertain_at_a_chosen_threshold(rng, asked):
    # That precision looks like .8 whatever the prior is, does not make it so.
    _, score, labeled = draw(rng, 10_000, prevalence=0.08, label_frequency=0.3, separation=2.5)
    ev = evaluate(labeled, score, n_resamples=500)
    chosen = ev.threshold_for(**asked)
    fixed = evaluate(
        labeled, score, prior=ev.prior_estimate, threshold=chosen.threshold, n_resamples=500
    )
    for name in ("precision", "f1", "recall"):
        mine, other = chosen[name], fixed[name]
        assert mine.value == other.value
        assert mine.high - mine.low > 0.9 * (other.high - other.low)
        assert mine.standard_error > 0.9 * other.standard_error


@pytest.mark.parametrize(
    "given", [{"label_frequency": 0.6}, {"prior": 0.1, "variance": "labeling"}]
)
def test_few_rows_give_no_warnings_of_arithmetic(given):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = np.arange(rng.integers(40, 160)) < rng.integers(3, 30)
        score = rng.normal(size=y.size) + 2 * y
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(y, score, n_resamples=200, **given)
            for name in MEASURES:
                low, high = ev[name].low, ev[name].high
                assert math.isnan(low) or low <= high


def test_other_ways_of_drawing(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    given = {"threshold": 1.0, "n_resamples": 300}
    labels = evaluate(labeled, score, prior=0.2, variance="labeling", **given)
    rows = evaluate(labeled, score, prior=0.2, **given)
    recalls = [ev.threshold_for(top=300)["recall"] for ev in (labels, rows)]
    assert recalls[0].value == recalls[1].value
    assert recalls[0].standard_error < recalls[1].standard_error  # the rows stay the same
    known = evaluate(labeled, score, propensity=np.full(3000, 0.4), **given)
    choice = known.threshold_for(recall=0.8)
    assert choice["recall"].low < 0.8 < choice["recall"].high


def truth(threshold, prevalence, separation):
    tpr, fpr = norm.sf(threshold, separation), norm.sf(threshold)
    predicted = prevalence * tpr + (1 - prevalence) * fpr
    return {
        "recall": tpr,
        "precision": prevalence * tpr / predicted,
        "f1": 2 * prevalence * tpr / (prevalence + predicted),
        "cost": (predicted - prevalence * tpr) + 5 * prevalence * (1 - tpr),
    }


def test_limits_hold_what_the_chosen_threshold_achieves():
    """A short version of benchmarks/thresholds.py."""
    rng = np.random.default_rng(3)
    n_labeled, n_unlabeled, prior, separation = 100, 500, 0.25, 1.0
    prevalence = (n_labeled + prior * n_unlabeled) / 600
    y = np.repeat([1, 0], [n_labeled, n_unlabeled])
    held, plain, excess = [], [], []
    replications = 80
    for seed in range(replications):
        positive = rng.random(600) < np.where(y == 1, 1, prior)
        score = rng.normal(size=600) + separation * positive
        ev = evaluate(y, score, prior=prior, threshold=0.0, n_resamples=150, seed=seed)
        choice = ev.threshold_for(cost=(1, 5))
        true = truth(choice.threshold, prevalence, separation)
        point = ev.at(choice.threshold)
        held.append([choice[n].low <= true[n] <= choice[n].high for n in ("cost", "recall", "f1")])
        plain.append([point[n].low <= true[n] <= point[n].high for n in ("recall", "f1")])
        excess.append(true["cost"] - choice["cost"].value)
    # 3 standard errors below .95; plain limits, which ignore the choice, fail by far.
    assert np.mean(held, axis=0).min() > 0.88
    assert np.mean(plain, axis=0)[0] < 0.85
    assert np.mean(excess) > 0.02


def test_as_data_and_text(ev):
    choice = ev.threshold_for(precision=0.8)
    frame = choice.frame()
    assert frame.loc["recall", "low"] == choice["recall"].low
    content = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    assert content["rule"] == "a precision of at least 0.8"
    assert content["measures"]["recall"]["value"] == choice["recall"].value
    text = repr(choice)
    assert text.startswith(f"Threshold {choice.threshold:.6g} for a precision of at least 0.8")
    assert f"{choice['recall'].low:.3f} to {choice['recall'].high:.3f}" in text
    assert "<table>" in choice._repr_html_()
    assert "Cost per row" in repr(ev.threshold_for(cost=(1, 2)))
    with pytest.raises(InputError, match="Did you mean 'recall'"):
        choice["recal"]


@pytest.fixture
def file(tmp_path, rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    path = tmp_path / "scores.csv"
    noisy = score + rng.normal(size=2000)
    frame = pd.DataFrame({"label": labeled.astype(int), "a": score, "b": noisy})
    frame.to_csv(path, index=False)
    return path


def test_command_line(file, tmp_path, capsys):
    out = tmp_path / "out.json"
    code = run(["evaluate", str(file), "--label", "label", "--score", "a", "--score", "b",
                "--prior", "0.2", "--at", "precision=0.7", "--at", "cost=1:20", "--at", "top=50",
                "--at", "best=f1", "--json", str(out)])  # fmt: skip
    assert code == 0
    printed = capsys.readouterr().out
    frame = pd.read_csv(file, converters={"a": float, "b": float})
    ev = evaluate(frame["label"], frame["a"], prior=0.2)
    choice = ev.threshold_for(precision=0.7)
    line = next(one for one in printed.splitlines() if one.startswith("a, precision=0.7"))
    one = choice["recall"]
    assert f"{one.value:.3f} ({one.low:.3f}–{one.high:.3f})" in line
    assert f"{choice.threshold:.5g}" in line
    choices = json.loads(out.read_text())["models"]["a"]["choices"]
    assert choices["precision=0.7"]["threshold"] == choice.threshold
    cost = ev.threshold_for(cost=(1, 20))
    assert choices["cost=1:20"]["measures"]["cost"]["value"] == cost["cost"].value
    assert len([one for one in printed.splitlines() if one.startswith("b, ")]) == 4
    assert "choosing these thresholds on the same rows" in printed


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("precision", "unrecognized --at value 'precision'. Use precision=0.9"),
        ("precison=0.9", "Did you mean 'precision=0.9'?"),
        ("precision=90", "If this is a percentage, pass 0.9."),
        ("precision=high", "unrecognized --at value 'precision=high'"),
        ("cost=1", "cost=1:20"),
        ("best=", "unrecognized --at value 'best='"),
        ("sensitivity=0.9", "unrecognized --at value"),
        ("best=f_1", "Did you mean 'f1'?"),
    ],
)
def test_command_line_errors(file, capsys, asked, message):
    code = run(["evaluate", str(file), "--label", "label", "--score", "b", "--prior", "0.02",
                "--no-intervals", "--at", asked])  # fmt: skip
    captured = capsys.readouterr()
    assert code == 2
    assert message in captured.err
    assert captured.out == ""


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_the_default_threshold_is_a_choice(rng):
    """Limits allow for it, and hold the value seen; a threshold that is given is no choice."""
    _, score, labeled = draw(rng, 400, prevalence=0.4, label_frequency=0.4)
    chosen = evaluate(labeled, score, prior=0.25)
    given = evaluate(labeled, score, prior=0.25, threshold=chosen.threshold)
    assert chosen.threshold_chosen
    assert not given.threshold_chosen
    for name in ("matthews_corrcoef", "f1", "accuracy"):
        one, other = chosen[name], given[name]
        assert one.value == other.value
        assert one.low < other.low
        assert one.low <= one.value <= one.high
    assert chosen["f2"].low < given["f2"].low
    choice = chosen.threshold_for(best="matthews_corrcoef")
    assert choice["f1"].low == pytest.approx(chosen["f1"].low, abs=0.02)


def test_what_cannot_be_reached_does_not_stop_the_rest(file, tmp_path, capsys):
    target, page = tmp_path / "out.json", tmp_path / "out.html"
    code = run(["evaluate", str(file), "--label", "label", "--score", "b", "--prior", "0.02",
                "--no-intervals", "--at", "precision=1", "--at", "recall=0.5",
                "--json", str(target), "--html", str(page)])  # fmt: skip
    printed = capsys.readouterr().out
    assert code == 0
    assert "! b, precision=1: no threshold has a precision of 1" in printed
    assert "b, recall=0.5" in printed
    choices = json.loads(target.read_text())["models"]["b"]["choices"]
    assert choices["precision=1"]["unreachable"].startswith("no threshold has a precision of 1")
    assert choices["recall=0.5"]["measures"]["recall"]["value"] >= 0.5
    assert "no threshold has a precision of 1" in page.read_text(encoding="utf-8")
