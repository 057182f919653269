"""Labels that were not drawn at random: bounds, their sharpness, and tipping points."""

import math

import numpy as np
import pytest
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


@pytest.mark.parametrize("bias", [1.0, 1.5, 4.0])
def test_auc_against_all_weights(rng, bias):
    """Every choice of weights 1 or Λ for six labeled rows; the extreme means are the bounds."""
    y = np.array([1] * 6 + [0] * 14)
    score = np.round(rng.normal(size=20) + y, 1)
    counts = Counts.from_arrays(y, score)
    ev = evaluate(counts, prior=0.1, level=None) if bias == 1 else None
    placement = np.array([((score < s).sum() + (score == s).sum() / 2) / 20 for s in score[y == 1]])
    weights = np.array(np.meshgrid(*[[1.0, bias]] * 6)).reshape(6, -1)
    means = weights.T @ placement / weights.sum(axis=0)
    prevalence = (6 + 0.1 * 14) / 20
    ends = np.array([means.min(), means.max()])
    expected = np.clip((ends - prevalence / 2) / (1 - prevalence), 0, 1)
    assert auc_bounds(counts, Mixture(0.1), bias) == pytest.approx(tuple(expected))
    if ev is not None:
        assert expected[0] == pytest.approx(ev["roc_auc"].value)


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
        with pytest.raises(InputError, match="labeling_bias must be a number that is at least 1"):
            ev.labeling_bias(bias)
    with pytest.raises(InputError, match="no tipping point of average_precision"):
        ev.tipping_point("average_precision", 0.5)
    with pytest.raises(InputError, match="labels as clean"):
        evaluate(ev.counts, prior=0.1, purity=0.95, level=None).labeling_bias(2)
    with pytest.raises(InputError, match="target='population'"):
        evaluate(ev.counts, prior=0.2, target="unlabeled", level=None).tipping_point("f1", 0.5)
