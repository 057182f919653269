"""Labels that were not drawn at random: bounds, their sharpness, and tipping points."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from pueval import Counts, InputError, Mixture, evaluate
from pueval.sensitivity.labeling_bias import auc_bounds, rate_bounds
from tests.conftest import draw


def biased(rng, n, bias, separation=1.5, *, high=True):
    """Labels that favor high (or low) scores: chances between .2/Λ and .2."""
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + separation * positive
    favored = (score > separation) == high
    chance = np.where(favored, 0.2, 0.2 / bias)
    labeled = positive & (rng.random(n) < chance)
    return positive, score, labeled


def test_rates():
    low, high = rate_bounds(np.array([0.0, 0.2, 1.0]), 4.0)
    np.testing.assert_allclose(low, [0, (0.25 / 4) / (1 + 0.25 / 4), 1])
    np.testing.assert_allclose(high, [0, 0.5, 1])


@pytest.mark.parametrize("prior", [0.0, 0.05, 0.1, 0.4])
@pytest.mark.parametrize("bias", [1.0, 1.5, 4.0])
def test_auc_against_all_weights(rng, prior, bias):
    """A linear program over all ways in which labeled rows can stand for the positives."""
    y = np.array([1] * 6 + [0] * 14)
    score = np.round(rng.normal(size=20) + y, 1)
    counts = Counts.from_arrays(y, score)
    placement = np.array([((score < s).sum() + (score == s).sum() / 2) / 20 for s in score[y == 1]])
    # Weights, and the least of them: at least 1, at most Λ times the least, as many as positives.
    positives = 6 + prior * 14
    unequal = np.vstack([
        np.c_[-np.eye(6), np.ones(6)],
        np.c_[np.eye(6), np.full(6, -bias)],
    ])  # fmt: skip
    ends = []
    for sign in (1, -1):
        found = linprog(
            np.r_[sign * placement / positives, 0], unequal, np.zeros(12),
            [[1] * 6 + [0]], [positives], [(1, None)] * 6 + [(0, None)],
        )  # fmt: skip
        ends.append(sign * found.fun)
    prevalence = positives / 20
    expected = np.clip((np.array(ends) - prevalence / 2) / (1 - prevalence), 0, 1)
    assert auc_bounds(counts, Mixture(prior), bias) == pytest.approx(tuple(expected))
    if bias == 1 or prior == 0:
        auc = evaluate(counts, prior=prior, level=None)["roc_auc"].value
        assert expected == pytest.approx([auc, auc])


@pytest.mark.parametrize("bias", [2.0, 50.0])
def test_recall_against_all_ways_to_hide_positives(bias):
    """Ten labeled rows, four others: count hidden positives on both sides in every way."""
    score = np.array([2] * 6 + [1] * 4 + [2] * 3 + [1] * 5 + [2, 1, 1])
    label = np.array([1] * 10 + [0] * 8 + [-1] * 3)
    for hidden in (0, 1, 3, 6):
        recalls = [
            (6 + above) / (10 + hidden)
            for above in range(4)
            if 0 <= hidden - above <= 5
            and 1 / bias <= (6 / (6 + above)) / (4 / (4 + hidden - above)) <= bias
        ]
        ev = evaluate(
            label, score, prior=hidden / 8, negative_label=-1, threshold=2, level=None
        )  # fmt: skip
        low, high = ev.labeling_bias(bias)["recall"]
        assert low <= min(recalls) + 1e-12
        assert high >= max(recalls) - 1e-12
        if bias == 50:  # where whole rows are no limit, these or the estimate are the bounds
            recalls.append(ev["recall"].value)
            assert (low, high) == pytest.approx((min(recalls), max(recalls)))


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_bounds_hold_the_estimate(rng):
    """Also where chance puts it outside of what the rows allow."""
    for _ in range(30):
        _, score, labeled = draw(rng, 60, prevalence=0.4, label_frequency=0.5)
        ev = evaluate(labeled, score, prior=0.3, threshold=1.5, level=None)
        for name, (low, high) in ev.labeling_bias(1.2).items():
            if not math.isnan(ev[name].value):
                assert low - 1e-9 <= ev[name].value <= high + 1e-9, name


# That such labels contradict the prior is noticed, as it should be.
@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("high", [True, False])
@pytest.mark.parametrize("bias", [1.5, 3.0])
def test_bounds_hold_the_truth_whenever_the_bias_is_large_enough(bias, high):
    rng = np.random.default_rng(2)
    positive, score, labeled = biased(rng, 100_000, bias, high=high)
    prior = positive[~labeled].mean()
    ev = evaluate(labeled, score, prior=prior, threshold=1.5, level=None)
    true = {
        "roc_auc": roc_auc_score(positive, score),
        "accuracy": accuracy_score(positive, score >= 1.5),
        "f1": f1_score(positive, score >= 1.5),
    }
    bounds = ev.labeling_bias(1.05 * bias)
    for name, value in true.items():
        low, high_end = bounds[name]
        assert low <= value <= high_end, name
    # The bias at this threshold is the whole factor, so the bound of f1 is nearly reached.
    exact = ev.labeling_bias(bias)["f1"]
    assert min(abs(exact[0] - true["f1"]), abs(exact[1] - true["f1"])) < 0.015
    # And random labeling is a wrong assumption here.
    assert abs(ev["f1"].value - true["f1"]) > 0.02


def test_no_bias_is_the_estimate(rng):
    _, score, labeled = draw(rng, 5000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prior=0.2, level=None)
    for name, (low, high) in ev.labeling_bias(1).items():
        if not math.isnan(ev[name].value):
            assert low == pytest.approx(ev[name].value)
            assert high == pytest.approx(ev[name].value)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_tipping_points(rng):
    _, score, labeled = draw(rng, 20_000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prior=0.2, level=None)
    for name, value in (("roc_auc", 0.8), ("f1", 0.5), ("roc_auc", 0.93)):
        point = ev.tipping_point(name, value)
        low, high = ev.labeling_bias(point.labeling_bias)[name]
        end = low if value < ev[name].value else high
        assert end == pytest.approx(value, abs=1e-6)
        again = evaluate(ev.counts, prior=point.prior, threshold=ev.threshold, level=None)
        assert again[name].value == pytest.approx(value, abs=1e-6)
    assert ev.tipping_point("roc_auc", ev["roc_auc"].value).labeling_bias == pytest.approx(1)
    assert math.isinf(ev.tipping_point("recall", 1.5).labeling_bias)
    assert math.isnan(ev.tipping_point("recall", 0.01).prior)  # no prior changes the recall


def test_bad_input(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prior=0.2, level=None)
    for bias in (0.5, 0, math.inf, math.nan, "2"):
        with pytest.raises(InputError, match="^bias must be a number of at least 1"):
            ev.labeling_bias(bias)
    with pytest.raises(InputError, match="no tipping point of average_precision"):
        ev.tipping_point("average_precision", 0.5)
    with pytest.raises(InputError, match="require clean labels"):
        evaluate(ev.counts, prior=0.1, purity=0.95, level=None).labeling_bias(2)
    with pytest.raises(InputError, match="target='population'"):
        evaluate(ev.counts, prior=0.2, target="unlabeled", level=None).tipping_point("f1", 0.5)
