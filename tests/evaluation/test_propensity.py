"""Labels that were not drawn with equal chances, but with known ones."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from pueval import AssumptionWarning, Counts, InputError, claesen_bounds, evaluate, priors
from pueval.model_selection._out_of_fold import average_counts
from tests.conftest import draw


def quiet(*rows, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return evaluate(*rows, **given)


def test_equal_chances_are_random_labels(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    score = np.round(score, 1)
    weighted = evaluate(labeled, score, propensity=np.full(3000, 0.4), threshold=0.8)
    plain = evaluate(labeled, score, label_frequency=0.4, threshold=0.8)
    assert weighted.mixture.prior == pytest.approx(plain.mixture.prior)
    for name in weighted:
        assert weighted[name].value == pytest.approx(plain[name].value, nan_ok=True), name
        assert weighted[name].naive == pytest.approx(plain[name].naive, nan_ok=True), name
    assert weighted.roc().area == pytest.approx(plain.roc().area)
    assert weighted.best("f1").value == pytest.approx(plain.best("f1").value)


def test_by_hand():
    """Two labeled rows stand for 2 and 4 positives of ten rows."""
    y = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    score = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    chance = [0.5, 9, 9, 0.25, np.nan, -1, 0, 0, 0, 0]
    ev = quiet(y, score, propensity=chance, threshold=7.5, level=None)
    assert ev.counts.n_represented == pytest.approx(6)
    assert ev.prevalence == pytest.approx(0.6)
    assert ev.mixture.prior == pytest.approx(0.5)
    assert ev["recall"].value == pytest.approx(2 / 6)
    assert ev["precision"].value == pytest.approx(2 / 3)
    assert ev.table.false_positive == pytest.approx(1)


def test_the_curve_rests_on_all_labeled_rows_above(rng):
    """Where several labeled scores follow each other, all of them count just above the next."""
    y = np.r_[[1, 1, 1], rng.random(60) < 0.3].astype(int)
    score = np.r_[[9, 8, 7], rng.integers(0, 6, 60)]
    counts = Counts.from_arrays(y, score, propensity=rng.uniform(0.2, 1, 63))
    corners = counts._roc_corners()
    where = np.flatnonzero(np.diff(corners.labeled)) + 1
    steps = counts._split_ties(corners, where)
    order = np.argsort(score)[::-1]
    for labeled, stands_for in zip(steps.labeled, steps.represented_positives, strict=True):
        rows = order[y[order] == 1][: int(labeled)]
        known = (
            counts._inverse_propensity_sample().cumulative_counts(np.array([score[rows].min()]))[1]
            if rows.size
            else [0]
        )
        assert stands_for == pytest.approx(known[0])


def test_unbiased_where_plain_estimates_are_not():
    """Labels favor high scores: plain estimates err, weighted ones do not."""
    rng = np.random.default_rng(8)
    truth, plain, weighted = [], [], []
    for _ in range(60):
        positive = rng.random(3000) < 0.3
        score = rng.normal(size=3000) + 1.5 * positive
        propensity = 0.1 + 0.7 * expit(2 * (score - 1.5))
        labeled = positive & (rng.random(3000) < propensity)
        truth.append(
            (
                roc_auc_score(positive, score),
                average_precision_score(positive, score),
                f1_score(positive, score >= 1),
                positive.mean(),
            )
        )
        for found, given in (
            (plain, {"prevalence": positive.mean()}),
            (weighted, {"propensity": propensity}),
        ):
            ev = quiet(labeled, score, threshold=1.0, level=None, **given)
            values = [ev[name].value for name in ("roc_auc", "average_precision", "f1")]
            found.append((*values, ev.prevalence))
    error = np.mean(np.array(weighted) - truth, axis=0)
    noise = np.std(np.array(weighted) - truth, axis=0) / np.sqrt(60)
    assert np.all(np.abs(error) < 4 * noise + 1e-3)
    assert np.all(np.abs(np.mean(np.array(plain) - truth, axis=0))[:3] > 0.03)


def test_known_up_to_a_factor(rng):
    """With a prior, only the proportions of the propensities matter."""
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    chance = rng.uniform(0.2, 0.8, 2000)
    one, other = (
        evaluate(labeled, score, propensity=c, prior=0.2, threshold=0.8)
        for c in (chance, chance / 3)
    )
    for name in one:
        assert one[name].value == pytest.approx(other[name].value, nan_ok=True)
        assert one[name].low == pytest.approx(other[name].low, nan_ok=True)
    assert not one.assumptions.from_propensity


def test_counts_keep_them(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    chance = rng.uniform(0.2, 0.8, 2000)
    whole = Counts.from_arrays(labeled, score, propensity=chance)
    parts = [
        Counts.from_arrays(labeled[k::3], score[k::3], propensity=chance[k::3]) for k in range(3)
    ]
    assert sum(parts) == whole
    assert whole != Counts.from_arrays(labeled, score)
    assert whole.n_represented == pytest.approx(np.sum(1 / chance[labeled]))
    thin = whole._thinned(50)
    assert thin.n_represented == pytest.approx(whole.n_represented)
    doubled = Counts.from_arrays(labeled, score, propensity=chance, sample_weight=np.full(2000, 2))
    assert doubled.n_represented == pytest.approx(2 * whole.n_represented)
    assert "(from the propensities)" in repr(evaluate(whole, level=None))


def test_only_those_of_labeled_rows_matter(rng):
    _, score, labeled = draw(rng, 500, prevalence=0.3, label_frequency=0.4)
    known = evaluate(labeled, score, propensity=np.full(500, 0.4), level=None)
    for chance in (
        np.where(labeled, 0.4, np.nan),
        np.ma.masked_array(np.full(500, 0.4), ~labeled),
        [0.4 if one else None for one in labeled],
    ):
        assert evaluate(labeled, score, propensity=chance, level=None).mixture == known.mixture


def test_the_most_positives_that_one_more_labeled_row_could_represent():
    """1/propensity, but no more than there are rows with a propensity that small."""
    y = np.repeat([1, 0], [4, 26])
    score = np.arange(30.0)

    def most(labeled, unlabeled, n_positive=None, **given):
        chance = np.concatenate([labeled, unlabeled])
        counts = Counts.from_arrays(y, score, propensity=chance, **given)
        return counts._most_represented(counts.n_represented if n_positive is None else n_positive)

    half = np.full(4, 0.5)
    assert most(half, np.full(26, np.nan)) == pytest.approx(2)
    assert most(half, np.full(26, 0.1)) == pytest.approx(10)
    assert most(half, np.full(26, 0.01)) == pytest.approx(26)
    assert most(half, np.repeat([0.01, 0.2], [3, 23])) == pytest.approx(5)
    assert most(half, np.repeat([0.01, 0.2, 0, -1, 7], [7, 5, 5, 5, 4])) == pytest.approx(7)
    assert most([0.5, 0.5, 0.5, 0.01], np.full(26, np.nan)) == pytest.approx(100)
    # Known up to a factor: the labeled rows represent eight positives, not 16.
    assert most(half / 2, np.full(26, 0.05), n_positive=8) == pytest.approx(10)
    twice = most(half, np.full(26, 0.01), sample_weight=np.full(30, 2))
    assert twice == pytest.approx(52)
    parts = [
        Counts.from_arrays(y[k::2], score[k::2], propensity=np.r_[half, np.full(26, 0.01)][k::2])
        for k in (0, 1)
    ]
    assert sum(parts)._most_represented(8.0) == pytest.approx(26)


def test_positives_that_are_hardly_ever_labeled():
    """No labeled row shows them, so only the propensities of unlabeled rows can."""
    rng = np.random.default_rng(3)
    held, wide = [], []
    for seed in range(40):
        positive = rng.random(1900) < 0.25
        score = rng.normal(size=1900) + 1.5 * positive
        chance = 0.01 + 0.79 * expit(3 * (score - 1.5))
        labeled = positive & (rng.random(1900) < chance)
        given = {"threshold": 1.0, "n_resamples": 200, "seed": seed}
        with pytest.warns(AssumptionWarning, match="reduce the effective number of labeled rows"):
            ev = evaluate(labeled, score, propensity=chance, **given)
        held.append(ev["roc_auc"].low <= norm.cdf(1.5 / np.sqrt(2)) <= ev["roc_auc"].high)
        wide.append(ev["roc_auc"].low == 0 and ev["roc_auc"].high == 1)
    assert np.mean(held) > 0.9
    assert not np.any(wide)


def test_where_no_positive_can_hide(rng):
    """Known negatives are no hidden positives."""
    y, score = np.repeat([1, 2], [20, 60]), rng.normal(size=80)
    sure = evaluate(y, score, negative_label=2, propensity=np.ones(80), level=None)
    assert sure.prevalence == 0.25
    with pytest.raises(InputError, match="represent 40 positives, but only 20 rows"):
        evaluate(y, score, negative_label=2, propensity=np.full(80, 0.5))
    y[20:30] = 0
    with pytest.raises(InputError, match="represent 40 positives, but only 30 rows"):
        evaluate(y, score, negative_label=2, propensity=np.full(80, 0.5))


def test_batches_with_and_without(rng):
    """Rows without propensities are not taken for rows that are labeled for sure."""
    _, score, labeled = draw(rng, 500, prevalence=0.3, label_frequency=0.4)
    plain = Counts.from_arrays(labeled, score)
    known = Counts.from_arrays(labeled, score, propensity=np.full(500, 0.8))
    unlabeled = Counts.from_arrays(np.zeros(500), score)
    for pair in ((plain, known), (known, plain)):
        with pytest.raises(InputError, match="with propensities to labeled rows without"):
            sum(pair)
    for whole in (known + unlabeled, unlabeled + known):
        assert whole.n_represented == pytest.approx(labeled.sum() / 0.8)


def test_bad_input(rng):
    _, score, labeled = draw(rng, 500, prevalence=0.3, label_frequency=0.4)
    good = np.full(500, 0.4)
    for bad in (0.0, -0.1, 1.1, np.nan, np.inf):
        with pytest.raises(InputError, match=r"propensity must be in \(0, 1\]"):
            evaluate(labeled, score, propensity=np.where(labeled, bad, 0.5))
    with pytest.raises(InputError, match="must have the same length; got 500 and 499"):
        evaluate(labeled, score, propensity=good[1:])
    with pytest.raises(InputError, match="propensity must hold numbers"):
        evaluate(labeled, score, propensity=np.full(500, "x"))
    with pytest.raises(InputError, match="propensities need clean labels"):
        evaluate(labeled, score, propensity=good, purity=0.9)
    with pytest.raises(InputError, match="propensities need target='population'"):
        evaluate(labeled, score, propensity=good, target="unlabeled")
    with pytest.raises(InputError, match="represent .* positives, but only 500 rows"):
        evaluate(labeled, score, propensity=np.full(500, 0.01))
    counts = Counts.from_arrays(labeled, score, propensity=good)
    with pytest.raises(InputError, match="assumes that labeled rows are a random sample"):
        claesen_bounds(counts, prior=0.2)
    with pytest.raises(InputError, match="estimating the prior assumes that labeled rows"):
        priors.estimate(counts)
    ev = evaluate(counts, level=None)
    for method, given in (("labeling_bias", (2,)), ("sensitivity", ("f1",))):
        with pytest.raises(InputError, match="assumes that labeled rows are a random sample"):
            getattr(ev, method)(*given)
    with pytest.raises(InputError, match="are for arrays"):
        evaluate(counts, propensity=good)


@pytest.fixture
def favored(rng):
    """Labels that favor high scores, with propensities that differ among equal scores, too."""
    positive = rng.random(3000) < 0.3
    score = rng.normal(size=3000) + 1.5 * positive
    chance = (0.1 + 0.6 * expit(2 * (score - 1.5))) * rng.uniform(0.5, 1.3, 3000)
    return positive & (rng.random(3000) < chance), score, chance


NAMES = ("roc_auc", "average_precision", "f1", "recall", "precision")


def errors(*rows, **given):
    ev = quiet(*rows, threshold=1.0, **given)
    return np.array([ev[name].standard_error for name in NAMES])


def test_standard_errors_are_those_of_rows_drawn_again(favored, rng):
    """Against the slow bootstrap of rows; with float weights, too."""
    labeled, score, chance = favored
    for weight in (None, rng.uniform(0.5, 20, 3000)):
        values = []
        for _ in range(300):
            rows = rng.integers(0, 3000, 3000)
            again = quiet(
                labeled[rows],
                score[rows],
                propensity=chance[rows],
                sample_weight=None if weight is None else weight[rows],
                threshold=1.0,
                level=None,
            )
            values.append([again[name].value for name in NAMES])
        found = errors(labeled, score, propensity=chance, sample_weight=weight)
        np.testing.assert_allclose(found, np.std(values, axis=0), rtol=0.2)


def test_standard_errors_do_not_depend_on_how_rows_were_counted(favored):
    labeled, score, chance = favored
    twice = np.tile(np.arange(3000), 2)
    repeated = errors(labeled[twice], score[twice], propensity=chance[twice])
    counted = errors(labeled, score, propensity=chance, sample_weight=np.full(3000, 2))
    np.testing.assert_allclose(counted, repeated, rtol=1e-6)
    plain = errors(labeled, score, propensity=chance)
    for unit in (0.1, 2.0, 1000.0):
        heavy = errors(labeled, score, propensity=chance, sample_weight=np.full(3000, unit))
        np.testing.assert_allclose(heavy, plain, rtol=1e-6)
    counts = Counts.from_arrays(labeled, score, propensity=chance)
    np.testing.assert_allclose(errors(average_counts([counts] * 3)), plain, rtol=1e-6)
    thin = counts._thinned(200, keep=[1.0])
    many = {"n_resamples": 6000}
    np.testing.assert_allclose(errors(thin, **many), errors(counts, **many), rtol=0.05)


def test_hardly_any_labeled_row(rng):
    """No draw is without a labeled row, as no data are."""
    y, score = np.arange(40) < 2, rng.normal(size=40)
    ev = quiet(y, score, propensity=np.full(40, 0.4))
    assert 0 <= ev["recall"].low <= ev["recall"].value <= ev["recall"].high <= 1
    assert np.all(np.isfinite(ev.roc_band().high))


def test_naive_numbers_know_nothing_of_propensities(rng):
    y = rng.random(2000) < 0.2
    score, propensity = rng.normal(size=2000) + y, rng.uniform(0.2, 1, 2000)
    for prior in (0.0, 0.1):
        plain = evaluate(y, score, prior=prior, threshold=0.5, level=None)
        weighed = evaluate(y, score, prior=prior, threshold=0.5, level=None, propensity=propensity)
        for name in ("recall", "f1", "roc_auc", "average_precision"):
            assert weighed[name].naive == plain[name].naive
            assert weighed[name].value != plain[name].value


def test_a_label_frequency_does_not_replace_propensities(rng):
    """With both, propensities are known up to a factor, and stay what labels are weighed by."""
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    chance = rng.uniform(0.2, 0.6, 2000)
    by_frequency = quiet(labeled, score, label_frequency=0.4, propensity=chance, threshold=1.0)
    prior = by_frequency.mixture.prior
    by_prior = quiet(labeled, score, prior=prior, propensity=chance, threshold=1.0)
    assert by_frequency["f1"] == by_prior["f1"]


def test_clipped_values_question_the_propensities(rng):
    _, score, labeled = draw(rng, 500, prevalence=0.3, label_frequency=0.4)
    ev = quiet(labeled, score, propensity=np.full(500, 0.2), level=None)
    (warning,) = (text for text in ev.warnings if "were clipped" in text)
    assert warning.endswith("or the propensities.")
