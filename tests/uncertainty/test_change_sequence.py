"""Confidence sequences of changes: against joint densities, and their false alarms."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from pueval.uncertainty.change_sequence import SHIFT_SCALE, change_intervals


def slow_evidence(value, variance, n_reference, look):
    """Return the best weighted likelihood ratio from joint densities of differences from x₁."""
    contrast = np.column_stack([-np.ones(look), np.eye(look)])
    differences = contrast @ value[: look + 1]
    noise = contrast @ np.diag(variance[: look + 1]) @ contrast.T
    shift_variance = SHIFT_SCALE**2 * variance[n_reference]
    ratios = {}
    for start in range(n_reference, look + 1):
        shifted = contrast @ (np.arange(look + 1) >= start)
        spread = noise + shift_variance * np.outer(shifted, shifted)
        ratio = multivariate_normal.pdf(differences, cov=spread)
        ratio /= multivariate_normal.pdf(differences, cov=noise)
        order = start - n_reference + 1
        ratios[start] = ratio / (order * (order + 1))
    return max(ratios.items(), key=lambda item: item[1])


@pytest.mark.parametrize("n_reference", [1, 3])
def test_evidence_is_a_ratio_of_joint_densities(n_reference):
    rng = np.random.default_rng(1)
    variance = rng.uniform(0.5, 2, 9)
    value = rng.normal(np.arange(9) >= 5, np.sqrt(variance))
    changes = change_intervals(value, variance, n_reference=n_reference, rate=0.05)
    for k, look in enumerate(range(n_reference, 9)):
        start, evidence = slow_evidence(value, variance, n_reference, look)
        assert changes.start[k] == start
        assert changes.evidence[k] == pytest.approx(evidence, rel=1e-9)


def test_the_interval_excludes_zero_where_the_evidence_reaches_one_over_the_rate():
    rng = np.random.default_rng(2)
    seen = set()
    for shift in np.linspace(0, 6, 200):
        value = rng.normal(size=8) + shift * (np.arange(8) >= 4)
        changes = change_intervals(value, np.full(8, 0.7), n_reference=2, rate=0.1)
        alarm = changes.evidence >= 1 / 0.1
        np.testing.assert_array_equal(changes.excludes_zero, alarm)
        seen |= {*alarm.tolist()}
        middle = (changes.low + changes.high) / 2
        np.testing.assert_allclose(middle, changes.value, atol=1e-12)
    assert seen == {True, False}


def test_intervals_are_of_differences_of_weighted_means():
    """Whatever the true values, all intervals contain what they estimate, in 95% of streams."""
    rng = np.random.default_rng(3)
    variance = rng.uniform(0.5, 2, 60)
    truth = np.cumsum(rng.normal(0, 0.3, 60))
    weight, misses = 1 / variance, 0
    for _ in range(300):
        value = rng.normal(truth, np.sqrt(variance))
        changes = change_intervals(value, variance, n_reference=5, rate=0.05)
        for look, start, low, high in zip(
            range(5, 60), changes.start, changes.low, changes.high, strict=True
        ):
            after = np.average(truth[start : look + 1], weights=weight[start : look + 1])
            change = after - np.average(truth[:start], weights=weight[:start])
            if not low <= change <= high:
                misses += 1
                break
    assert misses <= 0.05 * 300


def test_false_alarms_and_the_error_of_the_reference():
    """A reference with a large error raises no alarm, though later means differ from it."""
    rng = np.random.default_rng(4)
    ours = naive = 0
    for _ in range(200):
        value = rng.normal(size=201)
        variance = np.ones(201)
        value[0] *= 3
        variance[0] = 9
        changes = change_intervals(value, variance, rate=0.05)
        ours += changes.excludes_zero.any()
        mean = np.cumsum(value[1:]) / np.arange(1, 201)
        naive += np.any(np.abs(mean - value[0]) * np.sqrt(np.arange(1, 201)) > norm.ppf(0.975))
    assert ours <= 0.05 * 200
    assert naive > 150


def test_a_late_change_is_found_soon():
    value = np.zeros(300)
    value[250:] = 2.0
    changes = change_intervals(value, np.ones(300), n_reference=10, rate=0.05)
    first = int(np.argmax(changes.excludes_zero)) + 10
    assert 250 < first < 260
    assert changes.start[first - 10] == 250
