"""Design-based estimates: right under any labeling, because the audit was a random sample.

The difference estimator adds to the positives that a model predicts among the unlabeled rows the
mean error of these predictions among the audited ones:

    Σ over unlabeled rows of λ·m  +  n_U · Σ over audited rows of weight·(truth − λ·m)

It is right for any m and λ, and precise where λ·m predicts well. λ minimizes the variance (PPI++ of
Angelopoulos, Duchi and Zrnic, 2023). With λ = 0 it is the audit alone (Hájek).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.audit_estimates.score_cells import ScoreCells

# Two pseudo-observations, one positive and one negative, with this weight of a row each: an audit
# that found no positive does not exclude them.
PSEUDO_WEIGHT = 1.0


def difference_estimate(
    cells: ScoreCells,
    rows: AuditedRows,
    predicted: Array,
    *,
    covered: float,
    alone: bool,
    n_draws: int,
    seed: int,
) -> tuple[Array, Array]:
    """Return the share of positives among unlabeled rows in each cell, and draws of it.

    Parameters
    ----------
    cells : ScoreCells
        All rows.
    rows : AuditedRows
        Audited unlabeled rows.
    predicted : ndarray of shape (k,)
        Share of positives that a model predicts in each cell.
    covered : float
        Share of the unlabeled rows that the audited ones are a sample of; the others keep the
        predictions.
    alone : bool
        Whether to leave the predictions out.
    n_draws, seed : int
        Number of draws of `drawn_weights`, and random seed.

    Returns
    -------
    share : ndarray of shape (k,)
        In [0, 1], adjusted so that the number of positives above a threshold never falls.
    draws : ndarray of shape (n_draws, k)
        Not adjusted.
    """
    cell, truth = cells.find(rows.score), rows.positive.astype(np.float64)
    factor = 0.0 if alone else _variance_minimizing_factor(truth, predicted[cell], rows.weight)
    n_covered, k = covered * cells.unlabeled.sum(), cells.lower.size
    base = factor * predicted
    weight = rows.weight / rows.weight.sum()
    found = np.bincount(cell, weights=weight * (truth - base[cell]), minlength=k)
    positives = cells.unlabeled * base + n_covered * found
    rng = np.random.default_rng([seed, 23])
    (place, truth), drawn = drawn_weights([cell, truth], weight, n_draws, rng)
    place = place.astype(np.intp)
    by_cell = sum_by_cell(place, drawn * (truth - base[place]), k)
    total = drawn.sum(axis=1)
    # Two pseudo-observations in random cells, with the weights of audited rows near them.
    pseudo = rng.gamma(PSEUDO_WEIGHT, size=(n_draws, 2))
    nearby = _weight_by_cell(cell, weight, k)
    line = np.arange(n_draws)
    guess = cells.unlabeled * np.maximum(predicted, 1e-12)
    for column, share, outcome in ((0, guess, 1.0), (1, cells.unlabeled, 0.0)):
        where = rng.choice(k, p=share / share.sum(), size=n_draws)
        extra = pseudo[:, column] * nearby[where]
        by_cell[line, where] += extra * (outcome - base[where])
        total += extra
    rows_in_cell = np.maximum(cells.unlabeled, 1e-12)
    draws = base + n_covered * by_cell / total[:, None] / rows_in_cell
    return _monotone_share(positives, cells.unlabeled), np.where(cells.unlabeled > 0, draws, 0.0)


def drawn_weights(
    columns: Sequence[Array], weight: Array, n_draws: int, rng: np.random.Generator
) -> tuple[list[Array], Array]:
    """Draw the weights of audited rows: the Bayesian bootstrap of Rubin (1981).

    Each weight is multiplied by an exponential random number. Rows that agree in the columns and in
    the weight are drawn together, by the gamma distribution of the sum.

    Returns
    -------
    columns : list of ndarray of shape (k,)
        Values of the groups of such rows.
    weight : ndarray of shape (n_draws, k)
        Drawn weights of the groups.
    """
    # Rounded, because rounding errors would make equal weights differ.
    table = np.column_stack([*columns, np.log(weight).round(9)])
    groups, number = np.unique(table, axis=0, return_counts=True)
    drawn = np.exp(groups[:, -1]) * rng.gamma(number, size=(n_draws, number.size))
    return [*groups.T[:-1]], drawn


def sum_by_cell(cell: Array, columns: Array, k: int) -> Array:
    """Sum the columns that belong to each of k cells."""
    total = np.zeros((len(columns), k))
    if not cell.size:
        return total
    order = np.argsort(cell, kind="stable")
    start = np.flatnonzero(np.diff(cell[order], prepend=-1))
    total[:, cell[order][start]] = np.add.reduceat(columns[:, order], start, axis=1)
    return total


def _weight_by_cell(cell: Array, weight: Array, k: int) -> Array:
    """Return the mean weight of audited rows in each cell, interpolated where there are none."""
    number = np.bincount(cell, minlength=k)
    filled = np.flatnonzero(number)
    mean = np.bincount(cell, weights=weight, minlength=k)[filled] / number[filled]
    # Weights can be 0, and differ by orders of magnitude.
    logarithm = np.log(np.maximum(mean, 1e-6 * mean.max()))
    interpolated: Array = np.exp(np.interp(np.arange(k), filled, logarithm))
    return interpolated


def difference_positives(
    unlabeled: Array,
    predicted: Array,
    cell: Array,
    positive: Array,
    weight: Array,
    *,
    covered: float,
) -> Array:
    """Return the positives among unlabeled rows in each cell, for resampled rows.

    Parameters
    ----------
    unlabeled : ndarray of shape (n_resamples, k)
        Unlabeled rows in each cell.
    predicted : ndarray of shape (k,)
        Share of positives that a model predicts in each cell.
    cell, positive : ndarray of shape (n,)
        Cells and classes of the audited rows.
    weight : ndarray of shape (n_resamples, n)
        Their weights.
    covered : float
        As in `difference_estimate`.

    Returns
    -------
    ndarray of shape (n_resamples, k)
    """
    factor = _variance_minimizing_factor(positive * 1.0, predicted[cell], weight.mean(axis=0))
    error = positive - factor * predicted[cell]
    share = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)
    found = sum_by_cell(cell, share * error, unlabeled.shape[1])
    positives: Array = covered * unlabeled.sum(axis=1, keepdims=True) * found
    positives += unlabeled * factor * predicted
    return positives


def _variance_minimizing_factor(truth: Array, prediction: Array, weight: Array) -> float:
    mean_truth, mean_prediction = (np.average(x, weights=weight) for x in (truth, prediction))
    squared = weight**2
    covariance = np.sum(squared * (truth - mean_truth) * (prediction - mean_prediction))
    variance = np.sum(squared * (prediction - mean_prediction) ** 2)
    return float(np.clip(covariance / variance, 0, 1)) if variance > 0 else 1.0


def _monotone_share(positives: Array, rows: Array) -> Array:
    """Return shares in [0, 1] whose cumulative numbers are closest to the given ones.

    Closest by least squares, weighted by the rows of the cells. What exceeds a share of 1 goes to
    neighboring cells, so that the number of positives is kept.
    """
    cumulative, weights = np.cumsum(positives), np.maximum(rows, 1e-9)
    rising = scipy.optimize.isotonic_regression(cumulative, weights=weights).x
    numbers = np.diff(np.clip(rising, 0, None), prepend=0)
    if np.any(numbers > rows * (1 + 1e-9)):
        filled = rows > 0
        sums, root = np.tri(rows.size)[:, filled], np.sqrt(weights)
        numbers[filled] = scipy.optimize.lsq_linear(
            root[:, None] * sums, root * cumulative, bounds=(0, rows[filled]), method="bvls"
        ).x
    share: Array = np.divide(numbers, rows, out=np.zeros(rows.size), where=rows > 0)
    return share.clip(0, 1)
