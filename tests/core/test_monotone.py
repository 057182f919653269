"""Legal rates and average precision against their definition written out."""

import numpy as np
import pytest

from pueval import Counts, Mixture, evaluate
from pueval.core.average_precision import AveragePrecisionTerms, average_precision
from pueval.core.rates import Rates, correct_steps, monotone_rates, monotone_rates_by_threshold
from pueval.simulate import binormal
from tests.conftest import draw


def slow_area(tpr, fpr, prevalence):
    """Recall by recall: the least false positive rate of all thresholds that reach it."""
    tpr, fpr = np.clip(tpr, 0, 1), np.clip(fpr, 0, 1)
    area, before = 0.0, 0.0
    for recall in sorted(set(tpr)):
        lowest = min(f for t, f in zip(tpr, fpr, strict=True) if t >= recall)
        hits = prevalence * recall
        if hits > 0:
            area += (recall - before) * hits / (hits + (1 - prevalence) * lowest)
        before = recall
    return area


def noisy(rng, shape, *, noise):
    """Rates from (0, 0) to (1, 1) that noise has put out of order and out of the square."""
    size = shape[-1]
    tpr = np.sort(rng.random(shape), axis=-1) ** 0.5 + noise * rng.normal(size=shape)
    fpr = np.sort(rng.random(shape), axis=-1) ** 3 + noise * rng.normal(size=shape)
    tpr[..., 0] = fpr[..., 0] = 0
    tpr[..., -1] = fpr[..., -1] = 1
    return Rates(np.arange(size, 0, -1.0), tpr, fpr, 0.3 * tpr + 0.7 * fpr, 0.3, 100)


@pytest.mark.parametrize("noise", [0.0, 0.03, 0.3])
def test_against_the_definition(rng, noise):
    for _ in range(30):
        found = noisy(rng, (40,), noise=noise)
        expected = slow_area(found.tpr, found.fpr, 0.3)
        assert average_precision(found) == pytest.approx(expected, abs=1e-12)
        assert 0 <= average_precision(found) <= 1


def test_monotone_rates_are_a_curve(rng):
    found = noisy(rng, (200,), noise=0.2)
    monotone = monotone_rates(found)
    for column in (monotone.tpr, monotone.fpr, monotone.predicted):
        assert np.all(np.diff(column) >= 0)
        assert 0 <= column.min() <= column.max() <= 1
    # A threshold keeps its recall, and never gets a higher false positive rate.
    tpr, fpr = monotone_rates_by_threshold(found)
    np.testing.assert_array_equal(tpr, np.clip(found.tpr, 0, 1))
    assert np.all(fpr <= np.clip(found.fpr, 0, 1))
    place = {t: k for k, t in enumerate(found.threshold)}
    back = [place[t] for t in monotone.threshold]
    np.testing.assert_array_equal(fpr[back], monotone.fpr)


def test_each_line_becomes_monotone_separately(rng):
    many = noisy(rng, (5, 60), noise=0.1)
    areas = average_precision(many)
    for k in range(5):
        one = Rates(many.threshold, many.tpr[k], many.fpr[k], many.predicted[k], 0.3, 100)
        assert areas[k] == average_precision(one)


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_groups_at_once(rng, noise):
    sizes = (1, 7, 30)
    parts = [noisy(rng, (size + 1,), noise=noise) for size in sizes]
    joined = [
        np.concatenate([getattr(part, name)[1:] for part in parts])
        for name in ("threshold", "tpr", "fpr", "predicted")
    ]
    group = np.repeat(np.arange(3), sizes)
    steps = AveragePrecisionTerms.of(Rates(*joined, 0.3, 100), group)
    areas = np.bincount(group, steps.recall_gain * steps.precision)
    assert areas == pytest.approx([float(average_precision(part)) for part in parts], abs=1e-12)


def test_the_curve_has_the_area(rng):
    for purity in (1.0, 0.8):
        _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.3)
        ev = evaluate(labeled, score, prior=0.2, purity=purity, level=None)
        curve = ev.pr()
        assert curve.area == pytest.approx(ev["average_precision"].value, abs=1e-12)
        assert (curve.recall[0], curve.precision[0]) == (0, 1)
        assert np.all(np.diff(curve.recall) >= 0)


def test_closer_than_rates_as_they_are(rng):
    """What monotone rates are for: good classifiers, few labels."""
    errors, truth = [], binormal(2.5, prevalence=175 / 550).average_precision
    for _ in range(60):
        labeled, hidden = rng.normal(2.5, 1, 50), rng.normal(2.5, 1, 125)
        score = np.r_[labeled, hidden, rng.normal(0, 1, 375)]
        label = np.arange(score.size) < 50
        counts = Counts.from_arrays(label, score)
        line = correct_steps(counts, counts._roc_corners(), Mixture(0.25))
        precision = line.prevalence * line.tpr[1:] / line.predicted[1:]
        unconstrained = np.sum(np.diff(line.tpr) * precision)
        errors.append([unconstrained - truth, float(average_precision(line)) - truth])
    unconstrained, monotone = np.abs(errors).mean(axis=0)
    assert monotone < 0.7 * unconstrained
    assert abs(np.mean(errors, axis=0)[1]) < 0.02
