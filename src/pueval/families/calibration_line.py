"""Calibration of predicted probabilities: observed shares in bins, and the calibration line.

In a bin of scores, the share of positives is prevalence·γ/θ, where γ is the share of the positives
and θ the share of all rows that fall into the bin. Slope and intercept are those of a logistic
regression of the true class on x = logit(score): they maximize

    prevalence·E(a + b·x | positive) − E log(1 + exp(a + b·x)),

which needs labels only for the mean of x over the positives (Elkan and Noto's weighting in one
line). A calibrated classifier has intercept a = 0 and slope b = 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array, Target
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_steps, corrected_and_naive_rates
from pueval.counts.counts import Counts
from pueval.families.mean_measures import probabilities_inside
from pueval.families.score_means import Means, ScoreMeans

# Newton's method has converged if a step is smaller than this.
CONVERGED = 1e-12
MOST_STEPS = 50
# Largest step of slope and intercept: far from the solution, longer ones overshoot.
LARGEST_STEP = 2.0
# Over all rows, no further step is needed after one this small: each squares the error.
LAST_STEP = 1e-7
# With a smaller mean of p·(1 − p), classes are separated: steps are rounding errors.
LEAST_CURVATURE = 1e-12
# Bounds of cells of the score in which log-odds hardly differ, descending.
CELLS = np.append(1 / (1 + np.exp(np.linspace(-20, 20, 801))), -np.inf)


def logits(score: Array) -> Array:
    """Return the log-odds of probabilities; 0 and 1 are moved inside, as for the log loss."""
    x: Array = scipy.special.logit(probabilities_inside(score))
    return x


def quantile_edges(counts: Counts, target: Target, n_bins: int) -> Array:
    """Return the inner edges of bins with about equally many rows of the target, ascending.

    A bin has the scores above an edge, up to and including the next one, as in scikit-learn.
    """
    rows = counts._target_rows(target)
    position = np.arange(1, n_bins) / n_bins * (rows.n_rows - 1)
    rank = np.floor(position)
    low, high = (
        rows.quantiles(rows.row_weight * each).astype(np.float64)
        for each in (rank, np.minimum(rank + 1, rows.n_rows - 1))
    )
    return np.unique(low + (position - rank) * (high - low))


class CalibrationBins(NamedTuple):
    """Bins of the score, the highest scores first.

    Attributes
    ----------
    threshold : ndarray
        Lower ends; the last one is −inf.
    score : ndarray
        Mean score of the rows of the target.
    observed : ndarray
        Share of positives, not clipped; NaN in an empty bin.
    rows : ndarray
        Share of the rows of the target.
    naive : ndarray
        Share of labeled rows.
    """

    threshold: Array
    score: Array
    observed: Array
    rows: Array
    naive: Array


def calibration_bins(
    counts: Counts, mixture: Mixture, target: Target, edges: Array
) -> CalibrationBins:
    """Return score and share of positives between ascending inner edges."""
    threshold = np.append(np.nextafter(edges, np.inf)[::-1], -np.inf)
    corrected, naive = corrected_and_naive_rates(counts, counts.at(threshold), mixture, target)
    means = ScoreMeans(counts, lambda s: s.astype(np.float64)[None, :], threshold)
    score = means.kinds[1].cell[0] if target == "unlabeled" else means.pooled_cells[0]
    rows = bin_shares(corrected)[1]
    return CalibrationBins(
        threshold, score, observed_shares(corrected), rows, observed_shares(naive)
    )


def bin_shares(rates: Rates) -> tuple[Array, Array]:
    """Return the shares of the positives and of all rows in bins, the highest scores first.

    ``rates`` are those at the lower ends of the bins, in descending order.
    """
    return np.diff(rates.tpr, prepend=0), np.diff(rates.predicted, prepend=0)


def observed_shares(rates: Rates) -> Array:
    """Return the share of positives in bins, the highest scores first; NaN in an empty one."""
    positives, rows = bin_shares(rates)
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Array = np.where(rows > 0, rates.prevalence * positives / rows, np.nan)
    return share


def debiased_distance(distance: Array, error: Array) -> Array:
    """Return |μ| for which |N(μ, error²)| has the given mean; 0 if that is too small for any μ.

    The absolute value of a noisy difference is too large on average: by error·√(2/π) where the
    true difference is 0. The mean is error·√(2/π)·exp(−μ²/2error²) + μ·erf(μ/(error·√2)), which
    increases with μ.

    Examples
    --------
    >>> debiased_distance(np.array([0.01, 0.1]), np.array([0.05, 0.0]))
    array([0. , 0.1])
    """
    size, error = np.abs(distance), np.maximum(error, 1e-200)
    low, high = np.zeros_like(size), size.copy()
    for _ in range(60):
        middle = (low + high) / 2
        ratio = np.minimum(middle / error, 40.0)  # beyond, the mean is μ
        mean = error * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2)
        mean += middle * scipy.special.erf(ratio / math.sqrt(2))
        too_large = mean > size
        low, high = np.where(too_large, low, middle), np.where(too_large, middle, high)
    return np.where(size <= error * math.sqrt(2 / math.pi), 0.0, high)


def solve_logistic(
    x: Array,
    rows: Array,
    positive_share: Array,
    positive_mean: Array,
    start: tuple[float, float] = (0.0, 1.0),
) -> tuple[Array, Array]:
    """Return intercept and slope for rows in cells; NaN where there is no solution.

    Parameters
    ----------
    x : ndarray of shape (cells,)
        Log-odds of the score in each cell.
    rows : ndarray of shape (…, cells)
        Share of all rows in each cell.
    positive_share : ndarray of shape (…)
        Prevalence.
    positive_mean : ndarray of shape (…)
        Mean of x over the positives.
    start : tuple of float
        Intercept and slope to start from.
    """
    a, b = (np.full_like(positive_share, each) for each in start)
    moved, rise = np.zeros((2, *a.shape)), np.zeros_like(a)
    for _ in range(MOST_STEPS):
        p = scipy.special.expit(a[..., None] + b[..., None] * x)
        mass = rows * p
        gradient = (
            positive_share - mass.sum(axis=-1),
            positive_share * positive_mean - mass @ x,
        )
        curvature = mass * (1 - p)
        newton = _newton_step(
            gradient, (curvature.sum(axis=-1), curvature @ x, curvature @ (x * x))
        )
        # Where the likelihood now falls along the last step, and half as fast as it rose at its
        # start or faster, that step was too long: go back half of it.
        too_far = gradient[0] * moved[0] + gradient[1] * moved[1] < -rise / 2
        moved = np.where(too_far, moved / 2, newton)
        rise = np.where(too_far, rise / 2, gradient[0] * newton[0] + gradient[1] * newton[1])
        step = np.where(too_far, -moved, moved)
        a, b = a + step[0], b + step[1]
        if not np.nanmax(np.abs(step), initial=0.0) > CONVERGED**0.5:
            break
    diverged = ~(np.maximum(np.abs(step[0]), np.abs(step[1])) <= CONVERGED**0.5)
    return np.where(diverged, np.nan, a), np.where(diverged, np.nan, b)


def cell_lines(
    log_odds: ScoreMeans, rates: Rates, means: Means, start: tuple[float, float] = (0.0, 1.0)
) -> Array:
    """Return intercepts and slopes if all rows of a cell have the same score, of shape (2, …).

    Parameters
    ----------
    log_odds : ScoreMeans
        Log-odds in the cells.
    rates : Rates
        Rates at the lower ends of the cells, with a line per resample or without.
    means : Means
        Corrected means of the log-odds.
    start : tuple of float
        Intercept and slope to start from.
    """
    positive_mean = means.positive[..., 0]
    share = np.broadcast_to(np.asarray(means.prevalence), positive_mean.shape)
    rows = np.diff(rates.predicted, prepend=0, axis=-1)
    rows = np.broadcast_to(rows, (*positive_mean.shape, rows.shape[-1]))
    x = log_odds.pooled_cells[0]
    return np.stack(solve_logistic(x, rows, share, positive_mean, start))


def calibration_line(counts: Counts, mixture: Mixture, target: Target) -> tuple[float, float]:
    """Return intercept and slope of the calibration line, from every row.

    Each step over all rows takes long, so Newton's method starts from the line of `CELLS`, which is
    so close that one or two steps suffice.
    """
    a, b = _line_of_cells(counts, mixture, target)
    if not (math.isfinite(a) and math.isfinite(b)):
        a, b = 0.0, 1.0
    for _ in range(MOST_STEPS):

        def functions(score: Array, a: float = a, b: float = b) -> Array:
            x = logits(score)
            p = scipy.special.expit(a + b * x)
            curvature = p * (1 - p)
            return np.stack([x, p, p * x, curvature, curvature * x, curvature * x * x])

        means = ScoreMeans(counts, functions).corrected(mixture, target)
        share = float(means.prevalence)
        gradient = (
            share - means.everybody[1],
            share * means.positive[0] - means.everybody[2],
        )
        step = _newton_step(gradient, tuple(means.everybody[3:]))
        a, b = float(a + step[0]), float(b + step[1])
        if not max(abs(step[0]), abs(step[1])) > LAST_STEP:
            return (a, b) if means.everybody[3] > LEAST_CURVATURE else (math.nan, math.nan)
    return math.nan, math.nan


def _line_of_cells(counts: Counts, mixture: Mixture, target: Target) -> tuple[float, float]:
    """Return nearly the calibration line, from mean and variance of the log-odds in `CELLS`."""

    def functions(score: Array) -> Array:
        x = logits(score)
        return np.stack([x, x * x])

    log_odds = ScoreMeans(counts, functions, CELLS)
    means = log_odds.corrected(mixture, target)
    rates = correct_steps(counts, counts.at(CELLS), mixture, target)
    mean, square = log_odds.kinds[1].cell if target == "unlabeled" else log_odds.pooled_cells
    # Two points with half of the rows each have the mean and the variance of the cell.
    spread = np.sqrt(np.maximum(square - mean**2, 0))
    points = np.concatenate([mean - spread, mean + spread])
    rows = np.tile(np.diff(rates.predicted, prepend=0) / 2, 2)
    a, b = solve_logistic(points, rows, np.asarray(means.prevalence), means.positive[0])
    return float(a), float(b)


def _newton_step(gradient: tuple[Array, Array], hessian: tuple[Array, ...]) -> tuple[Array, Array]:
    """Solve a symmetric system of two equations; steps are at most `LARGEST_STEP` long."""
    (g, h), (aa, ab, bb) = gradient, hessian
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = aa * bb - ab * ab
        step = (bb * g - ab * h) / determinant, (aa * h - ab * g) / determinant
        length = np.maximum(np.abs(step[0]), np.abs(step[1]))
        factor = np.minimum(1.0, LARGEST_STEP / np.maximum(length, np.finfo(float).tiny))
        return step[0] * factor, step[1] * factor
