"""Paired comparison, by drawing again: the bootstrap of rows, size, power and coverage."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import norm

from pueval import AssumptionWarning, compare
from pueval.comparison.paired_estimates import BEST_VALUES
from tests.comparison.row_bootstrap import bootstrap_comparison
from tests.conftest import models, with_negatives

SETTINGS = {
    "clean": {"prior": 0.25},
    "noisy": {"prior": 0.2, "purity": 0.9},
    "unlabeled": {"prior": 0.25, "target": "unlabeled"},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_influence_and_bootstrap_agree(rng, setting):
    """For every measure that is nearly normal; 400 resamples know errors within about 4 %."""
    given = SETTINGS[setting]
    y, scores, positive = models(
        rng, 2500, decimals=2, noise=(0.5, 1.0), purity=given.get("purity", 1.0)
    )
    y = with_negatives(y, positive, rng)
    how = given | {"threshold": {"a": 0.9, "b": 0.7}, "negative_label": 2, "n_resamples": 400}
    fast, slow = (make(y, scores, **how) for make in (compare, bootstrap_comparison))
    for name in fast.measures:
        one, other = fast.differences(name)[0], slow.differences(name)[0]
        assert one.value == pytest.approx(other.value, abs=1e-12)
        if setting == "unlabeled" and name in {"average_precision", *BEST_VALUES}:
            continue  # few rows reach the top of the target: far from normal, and not compared
        if name in {"average_precision", *BEST_VALUES}:
            # By exchanges. Resamples repeat rows, which makes the best of many vary more than in
            # new samples: tests/comparison/test_exchanges.py has those.
            assert 0.8 < one.standard_error / other.standard_error < 1.2, name
            continue
        most, least = 1.13, 0.8 if "likelihood" in name else 0.88
        assert least < one.standard_error / other.standard_error < most, name


def test_bootstrap_is_reproducible(rng):
    y, scores, _ = models(rng, 200)
    how = {"prior": 0.2, "n_resamples": 20}
    first, again, other = (
        bootstrap_comparison(y, scores, seed=seed, **how).differences() for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_float_weights_against_rows_drawn_again(rng):
    y, scores, _ = models(rng, 2500, noise=(0.5, 1.0))
    weight = rng.gamma(1.0, size=y.size) * (1 + (scores["a"] > 1))
    how = {"sample_weight": weight, "prior": 0.2, "threshold": 0.8, "n_resamples": 500}
    fast, slow = (make(y, scores, **how) for make in (compare, bootstrap_comparison))
    for name in ("roc_auc", "average_precision", "f1", "accuracy", "precision"):
        ratio = fast.differences(name)[0].standard_error / slow.differences(name)[0].standard_error
        assert 0.88 < ratio < 1.13, name


@pytest.mark.thorough
def test_tests_have_their_size_and_more_power_than_unpaired_ones():
    """A short version of benchmarks/comparison.py."""
    rng = np.random.default_rng(5)
    rejected = np.zeros((2, 2))
    for row, gap in enumerate((0.0, 0.25)):
        for _ in range(250):
            y = np.repeat([1, 0], [100, 400])
            positive = rng.random(500) < np.where(y == 1, 1.0, 0.2)
            shared = rng.normal(size=500)
            scores = {
                name: (1.5 + move) * positive + 0.9 * shared + 0.45 * rng.normal(size=500)
                for name, move in (("a", gap / 2), ("b", -gap / 2))
            }
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AssumptionWarning)
                found = compare(y, scores, prior=0.2)
            one, other = (ev["roc_auc"].standard_error for ev in found.evaluations.values())
            [pair] = found.differences("roc_auc")
            unpaired = 2 * norm.sf(abs(pair.value) / math.hypot(one, other))
            rejected[row] += (pair.pvalue < 0.05, unpaired < 0.05)
    size, power = rejected / 250
    assert 0.02 < size[0] < 0.09
    assert power[0] > power[1] + 0.3


@pytest.mark.thorough
def test_limits_of_differences_hold_the_truth():
    rng = np.random.default_rng(8)
    names = ("f1", "lift", "positive_likelihood_ratio", "negative_likelihood_ratio", "best_f1")
    separations, at = (1.8, 1.3), 1.0
    prevalence = (150 + 0.3 * 600) / 750
    true = []
    for separation in separations:
        tau = np.linspace(-5, 7, 4001)
        tpr, fpr = norm.sf(tau - separation), norm.sf(tau)
        f1 = 2 * prevalence * tpr / (prevalence * (tpr + 1) + (1 - prevalence) * fpr)
        tpr, fpr = norm.sf(at - separation), norm.sf(at)
        lift = tpr / (prevalence * tpr + (1 - prevalence) * fpr)
        ratios = (lift, tpr / fpr, (1 - tpr) / (1 - fpr))
        true.append([np.interp(at, tau, f1), *ratios, f1.max()])
    held = np.zeros(len(names))
    for _ in range(200):
        y = np.repeat([1, 0], [150, 600])
        positive = rng.random(750) < np.where(y == 1, 1.0, 0.3)
        shared = rng.normal(size=750)
        scores = {
            name: separation * positive + 0.8 * shared + 0.6 * rng.normal(size=750)
            for name, separation in zip("ab", separations, strict=True)
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            found = compare(y, scores, prior=0.3, threshold=at)
        for k, name in enumerate(names):
            [pair] = found.differences(name)
            held[k] += pair.low <= true[0][k] - true[1][k] <= pair.high
    assert np.all(held / 200 > 0.9), held / 200
    assert np.all(held / 200 < 0.995), held / 200


def test_ratios_are_judged_by_one_standard():
    """Three times as large a likelihood ratio by the same three false positives is no chance."""
    y = np.repeat([1, 0], 400)
    scores = {
        name: 2.0 * np.r_[np.arange(400) < hits, np.arange(400) < 3]
        for name, hits in (("many", 360), ("few", 120))
    }
    comparison = compare(y, scores, prior=0.0, threshold=2.0)
    for name in ("positive_likelihood_ratio", "lift"):
        [found] = comparison.differences(name)
        assert (found.low > 0) == (found.pvalue < 0.05)
        assert found.low < found.value < found.high
        chance = comparison.best_probability(name)["many"]
        assert chance == pytest.approx(1 - found.pvalue / 2)
    assert comparison.differences("positive_likelihood_ratio")[0].pvalue < 1e-6


def test_probabilities_do_not_depend_on_the_level(rng):
    y, scores, _ = models(rng, 3000, noise=(0.5, 0.6, 0.7))
    given = {"label_frequency": 0.4, "threshold": 1.0}
    wide, narrow = (compare(y, scores, level=level, **given) for level in (0.95, 0.1))
    for name in ("accuracy", "f1"):
        one, two = (each.best_probability(name) for each in (wide, narrow))
        assert list(one.values()) == pytest.approx(list(two.values()), abs=0.015), name
