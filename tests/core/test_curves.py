"""Recovered curves against algorithm 1 of Jain et al. (2017) written out."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import average_precision_score

from pueval import Counts, evaluate, metrics
from pueval.core.curves import correct_roc, correct_roc_from_corners, line_area, roc_area
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_steps
from pueval.core.roc_line import _clip_segments
from tests.conftest import draw


def algorithm_1(y, score, prior, purity, dense):
    """Area under the corrected rates along the way through all rows, sorted and made monotone.

    ``dense`` points on each piece of the way stand for all of its points. Points outside the unit
    square are moved to its edge; the paper drops them.
    """
    g, e = [0.0], [0.0]
    for value in np.unique(score)[::-1]:
        g.append(g[-1] + (y[score == value] == 1).sum() / (y == 1).sum())
        e.append(e[-1] + (y[score == value] == 0).sum() / (y == 0).sum())
    place = np.arange(len(g))
    fine = np.linspace(0, len(g) - 1, (len(g) - 1) * dense + 1)
    g, e = np.interp(fine, place, g), np.interp(fine, place, e)
    tpr = ((1 - prior) * g - (1 - purity) * e) / (purity - prior)
    fpr = (purity * e - prior * g) / (purity - prior)
    tpr, fpr = np.clip(tpr, 0, 1), np.clip(fpr, 0, 1)
    order = np.lexsort((np.arange(len(fpr)), fpr))
    fpr, tpr = np.r_[fpr[order], 1], np.maximum.accumulate(tpr[order])
    return np.sum(np.diff(fpr) * tpr)


@pytest.mark.parametrize(("prior", "purity"), [(0.0, 1.0), (0.2, 1.0), (0.2, 0.9), (0.4, 0.75)])
@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("seed", range(10))
def test_against_algorithm_1(prior, purity, decimals, seed):
    rng = np.random.default_rng(seed)
    _, score, labeled = draw(rng, 150, prevalence=0.5, label_frequency=0.4, purity=purity)
    score = np.round(score, decimals)
    dense = 4000 if decimals == 0 else 400
    slow = algorithm_1(labeled.astype(int), score, prior, purity, dense)
    counts = Counts.from_arrays(labeled, score)
    mixture = Mixture(prior, purity)
    fast = correct_roc_from_corners(counts, counts._roc_corners(), mixture)
    assert fast.area == pytest.approx(slow, abs=4e-4)
    # The table of all scores gives the same curve as the table of labeled scores.
    steps = counts.steps()
    full = correct_roc(steps, correct_steps(counts, steps, mixture))
    assert full.area == pytest.approx(fast.area, abs=1e-12)


def algorithm_1_as_printed(y, score, prior, purity):
    """Area and share of removed points: points outside the unit square are removed, not moved."""
    at = np.unique(score)[::-1]
    above = {k: (score[y == k, None] >= at).mean(axis=0) for k in (0, 1)}
    tpr = ((1 - prior) * above[1] - (1 - purity) * above[0]) / (purity - prior)
    fpr = (purity * above[0] - prior * above[1]) / (purity - prior)
    inside = (np.minimum(tpr, fpr) >= 0) & (np.maximum(tpr, fpr) <= 1)
    order = np.argsort(fpr[inside], kind="stable")
    highest = np.maximum.accumulate(tpr[inside][order])
    area = np.trapezoid(np.r_[0, highest, 1], np.r_[0, fpr[inside][order], 1])
    return area, 1 - inside.mean()


@pytest.mark.parametrize(
    ("n_labeled", "purity", "least", "most"),
    [(20, 0.75, 1.8, 2.2), (20, 1.0, 0.95, 1.05), (200, 0.75, 1.2, 1.5)],
)
def test_points_moved_to_the_edge_or_removed(n_labeled, purity, least, most):
    """Removing points, as algorithm 1 is printed, costs accuracy if labels are noisy."""
    prior, errors, removed = 0.5, [], []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        positive = np.r_[np.arange(n_labeled) < purity * n_labeled, np.arange(400) < prior * 400]
        y = np.repeat([1, 0], [n_labeled, 400])
        score = rng.normal(size=y.size) + 3 * positive
        counts = Counts.from_arrays(y, score)
        moved = correct_roc_from_corners(counts, counts._roc_corners(), Mixture(prior, purity))
        area, share = algorithm_1_as_printed(y, score, prior, purity)
        errors.append(np.array([area, moved.area]) - norm.cdf(3 / np.sqrt(2)))
        removed.append(share)
    printed, ours = np.sqrt(np.mean(np.square(errors), axis=0))
    assert least < printed / ours < most
    assert (np.mean(removed) > 0.4) == (purity < 1)
    # With more labels, few samples make the difference: those that lose the top of the curve.
    close = np.abs(np.diff(errors, axis=1)) < 0.01
    assert n_labeled == 20 or 0.95 < close.mean() < 1


def test_perfect_ranking_with_too_small_a_sample_above_the_square():
    """All labeled rows first: the way leaves the square at once and re-enters at tpr 1."""
    y = [1] * 5 + [0] * 95
    fpr, tpr, _ = metrics.roc_curve(y, range(100, 0, -1), prior=0.2)
    assert np.trapezoid(tpr, fpr) == pytest.approx(1.0)
    assert tpr[fpr == 0].max() == 1.0


def test_a_curve_that_leaves_the_square_at_its_upper_left_corner_keeps_its_points():
    """By chance all rates there have a recall above 1 and a negative false positive rate."""
    y = np.repeat([1, 0, 1, 0], [18, 5, 2, 75])
    counts, mixture = Counts.from_arrays(y, np.arange(100, 0, -1)), Mixture(0.3, 0.8)
    rates = correct_steps(counts, counts.at(np.array([83.0])), mixture)
    assert rates.tpr[0] > 1
    assert rates.fpr[0] < 0
    curve = correct_roc_from_corners(counts, counts._roc_corners(), mixture)
    assert curve.tpr[curve.fpr == 0].max() == 1
    assert curve.area == 1


@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_area_of_monotone_rates(rng, purity):
    """With all scores as thresholds and ties of all rows: against the curve itself."""
    _, score, labeled = draw(rng, 600, prevalence=0.5, label_frequency=0.4, purity=purity)
    counts = Counts.from_arrays(labeled, np.round(score))
    steps, mixture = counts.steps(), Mixture(0.2, purity)
    rates = correct_steps(counts, steps, mixture)
    exact = correct_roc_from_corners(counts, counts._roc_corners(), mixture).area
    assert roc_area(rates) == pytest.approx(exact, abs=0.01)
    direct = metrics.roc_auc_score(labeled, np.round(score), prior=0.2, purity=purity)
    assert line_area(rates.fpr, rates.tpr) == pytest.approx(direct, abs=1e-12)
    # Two points by hand: a triangle, and two trapezoids.
    area = 0.2 * 0.4 / 2 + 0.4 * (0.4 + 0.8) / 2 + 0.4 * (0.8 + 1) / 2
    assert line_area(np.array([0.2, 0.6]), np.array([0.4, 0.8])) == pytest.approx(area)
    # Unordered rates, one outside the square: the curve goes through (0, 0.5) and (0.2, 1).
    moved = Rates(np.arange(3.0), np.array([0.5, 0.4, 1.2]), np.array([-0.1, 0.3, 0.2]), 0, 0.5, 1)
    assert roc_area(moved) == pytest.approx(0.2 * (0.5 + 1) / 2 + 0.8)
    both = Rates(
        rates.threshold,
        *np.stack([[c, c] for c in (rates.tpr, rates.fpr, rates.predicted)]),
        rates.prevalence,
        rates.size,
    )
    assert roc_area(both) == pytest.approx([roc_area(rates)] * 2)


def test_indirect_and_direct_agree_on_large_samples(rng):
    positive, score, labeled = draw(rng, 200_000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prevalence=0.3)
    assert ev.roc().area == pytest.approx(ev["roc_auc"].value, abs=0.003)
    truth = average_precision_score(positive, score)
    assert ev["average_precision"].value == pytest.approx(truth, abs=0.015)


def test_cutting_segments():
    # From left of the square to its right, through the middle; and one that misses it.
    enter, leave = _clip_segments(
        np.array([-1.0, -1.0, 0.5]),
        np.array([0.5, 1.5, 0.5]),
        np.array([3.0, 0.5, 0.5]),
        np.array([0.5, 3.5, 2.5]),
    )
    np.testing.assert_allclose(enter[[0, 2]], [0.25, 0.0])
    np.testing.assert_allclose(leave[[0, 2]], [0.5, 0.25])
    assert enter[1] > leave[1]


def test_precision_recall_curve_is_eq_3(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    precision, recall, thresholds = metrics.precision_recall_curve(labeled, score, prior=0.2)
    assert (precision[-1], recall[-1]) == (1.0, 0.0)
    assert len(thresholds) == len(precision) - 1
    prevalence = (labeled.sum() + 0.2 * (~labeled).sum()) / len(score)
    for k in range(0, len(thresholds), 97):
        above = score >= thresholds[k]
        assert recall[k] == pytest.approx(labeled[above].sum() / labeled.sum())
        # Equation 3, but for false positive rates that some lower threshold falls below.
        lower = [score >= other for other in thresholds[: k + 1]]
        rates = [(each.mean() - prevalence * labeled[each].sum() / labeled.sum()) for each in lower]
        fp = max(min(rates), 0)
        assert precision[k] == pytest.approx(prevalence * recall[k] / (prevalence * recall[k] + fp))
