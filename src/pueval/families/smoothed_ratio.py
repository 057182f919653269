"""Smoothed predicted-to-expected ratio: a penalized logistic regression of presence on the score.

If presences have density γ(s) and the background θ(s), the log-odds that a row of both samples
together is a presence are log γ(s)/θ(s) plus a constant. So a logistic regression with a smooth
curve estimates the logarithm of the ratio P/E, without windows (Liu et al., 2024).

The curve is a P-spline (Eilers and Marx, 1996): cubic B-splines with a penalty on second
differences of their coefficients, whose weight minimizes Akaike's criterion.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array, Target
from pueval.core.rates import Shares
from pueval.counts.counts import Counts
from pueval.families.presence_measures import presence_and_target_shares
from pueval.samples.sample import score_range
from pueval.samples.threads import map_in_threads

# Bins of equal width in which rows are counted; much narrower than a spline can bend.
N_BINS = 200
# Coefficients of the spline, as in Liu et al. (2024).
N_COEFFICIENTS = 10
DEGREE = 3
# Weights of the penalty: from hardly smoothed to nearly a straight line of log-odds.
PENALTIES = 10.0 ** np.arange(-2, 6)
# Keeps coefficients finite if presences and background do not overlap.
RIDGE = 1e-6
MOST_STEPS = 30
# Newton's method squares the error with each step.
CONVERGED = 1e-6
# Largest step of a coefficient: far from the solution, longer ones overshoot.
LARGEST_STEP = 3.0
# Keeps weights of rows positive where fitted probabilities are 0 or 1.
LEAST_WEIGHT = 1e-12
# Resamples fitted at a time: their arrays stay in the cache, and products of matrices are too small
# to be divided among threads, which would wait for each other.
LINES = 36


class PresenceBins(NamedTuple):
    """Bins of equal width over the range of the scores: lower ends and middles, ascending."""

    threshold: Array
    score: Array

    def numbers(self, counts: Counts, shares: Shares, target: Target) -> tuple[Array, Array]:
        """Return the numbers of presences and of rows of the target in the bins.

        ``shares`` are those at or above ``threshold``. With importance weights, numbers add up to
        the effective sample sizes.
        """
        above = presence_and_target_shares(counts, shares, target)
        return self.numbers_from_shares(counts, *above, target)

    def numbers_from_shares(
        self, counts: Counts, presences: Array, rows: Array, target: Target
    ) -> tuple[Array, Array]:
        """Return these numbers from shares of the presences and of the target."""
        presence_sample, (labeled, background) = counts._labeled, counts.effective_sizes
        if counts.has_propensity:
            presence_sample = counts._inverse_propensity_sample()
        unlabeled = counts._unlabeled.effective_size
        sizes = (
            presence_sample.effective_size,
            unlabeled if target == "unlabeled" else labeled + background,
        )
        numbers = (
            -size * np.diff(share, append=0, axis=-1)
            for size, share in zip(sizes, (presences, rows), strict=True)
        )
        of_presences, of_rows = numbers
        return of_presences, of_rows


def presence_bins(counts: Counts) -> PresenceBins | None:
    """Return the bins; None if all scores are equal."""
    low, high = map(float, score_range(counts._samples))
    edges = np.linspace(low, high, N_BINS + 1)
    return PresenceBins(edges[:-1], (edges[:-1] + edges[1:]) / 2) if low < high else None


@cache
def _basis() -> Array:
    """Return the splines at the middles of the bins, with the range of the scores as [0, 1]."""
    step = 1 / (N_COEFFICIENTS - DEGREE)
    knots = step * np.arange(-DEGREE, N_COEFFICIENTS + 1)
    middle = (np.arange(N_BINS) + 0.5) / N_BINS
    basis: Array = scipy.interpolate.BSpline.design_matrix(middle, knots, DEGREE).toarray()
    return basis


@cache
def _overlaps() -> tuple[tuple[Array, Array], Array]:
    """Return which splines overlap, each with its next neighbors only, and their products."""
    first, second = np.nonzero(np.triu(np.tri(N_COEFFICIENTS, k=DEGREE)))
    basis = _basis()
    return (first, second), basis[:, first] * basis[:, second]


def smoothed_log_ratio(presences: Array, rows: Array) -> Array:
    """Return the logarithm of the smoothed ratio in every bin; one line per resample.

    Parameters
    ----------
    presences, rows : ndarray of shape (…, N_BINS)
        Numbers of presences and of background rows in the bins.

    Returns
    -------
    ndarray
        Logarithm of P/E: 0 where presences are as frequent as in the background.
    """
    presences, rows = np.atleast_2d(presences), np.atleast_2d(rows)
    difference = np.diff(np.eye(N_COEFFICIENTS), n=2, axis=0)
    # The straightest curve first, as a start for the others.
    penalties = [weight * (difference.T @ difference) for weight in PENALTIES[::-1]]
    # Resamples are near their mean, and start at its coefficients.
    mean = presences.mean(axis=0, keepdims=True), rows.mean(axis=0, keepdims=True)
    mean_coefficients, mean_fits = np.zeros((1, N_COEFFICIENTS)), []
    for penalty in penalties:
        mean_fits.append(_fit(*mean, penalty, mean_coefficients))
        mean_coefficients = mean_fits[-1][0]

    def best_curves(block: slice) -> Array:
        lines = presences[block], rows[block]
        best = np.full(len(lines[0]), np.inf)
        chosen = np.zeros((best.size, N_COEFFICIENTS))
        for penalty, mean_fit in zip(penalties, mean_fits, strict=True):
            coefficients, criterion = mean_fit
            if len(presences) > 1:
                start = coefficients.repeat(best.size, axis=0)
                coefficients, criterion = _fit(*lines, penalty, start)
            better = criterion < best
            best[better], chosen[better] = criterion[better], coefficients[better]
        curves: Array = chosen @ _basis().T
        return curves

    blocks = [slice(first, first + LINES) for first in range(0, len(presences), LINES)]
    curves = np.concatenate(map_in_threads(best_curves, blocks))
    with np.errstate(divide="ignore", invalid="ignore"):  # resamples without rows of a kind
        odds = presences.sum(axis=-1, keepdims=True) / rows.sum(axis=-1, keepdims=True)
        log_ratio: Array = curves - np.log(odds)
    return log_ratio


def _fit(presences: Array, rows: Array, penalty: Array, start: Array) -> tuple[Array, Array]:
    """Fit by Newton's method; return coefficients and Akaike's criterion of each line."""
    total = presences + rows
    basis, ((first, second), products) = _basis(), _overlaps()
    penalty = penalty + RIDGE * np.eye(N_COEFFICIENTS)
    coefficients = start.copy()
    information = np.zeros((len(total), N_COEFFICIENTS, N_COEFFICIENTS))
    for _ in range(MOST_STEPS):
        probability = scipy.special.expit(coefficients @ basis.T)
        expected = total * probability
        gradient = (presences - expected) @ basis - coefficients @ penalty
        variance = np.maximum(expected * (1 - probability), LEAST_WEIGHT)
        information[:, first, second] = information[:, second, first] = variance @ products
        step = np.linalg.solve(information + penalty, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        coefficients = coefficients + step * LARGEST_STEP / np.maximum(longest, LARGEST_STEP)
        if longest.max() < CONVERGED:
            break
    curve = coefficients @ basis.T
    # log(1 + exp(curve)), without overflow
    log_sum = np.maximum(curve, 0) + np.log1p(np.exp(-np.abs(curve)))
    log_likelihood = np.sum(presences * curve - total * log_sum, axis=-1)
    freedom = np.trace(np.linalg.solve(information + penalty, information), axis1=-2, axis2=-1)
    criterion: Array = 2 * (freedom - log_likelihood)
    return coefficients, criterion


def smoothed_correlation(log_ratio: Array) -> Array:
    """Return Spearman's correlation of the smoothed ratio with the score, one per line."""
    rank = scipy.stats.rankdata(np.round(log_ratio, 10), axis=-1)
    rank = rank - rank.mean(axis=-1, keepdims=True)
    score = np.arange(N_BINS) - (N_BINS - 1) / 2
    spread = np.sqrt(np.sum(rank**2, axis=-1) * np.sum(score**2))
    correlation: Array = np.full(len(rank), np.nan)
    np.divide(rank @ score, spread, out=correlation, where=spread > 0)
    return correlation
