"""Features of the ROC curve of labeled positives against unlabeled rows, for the networks.

All features depend only on the ranks of the scores and on the numbers of rows.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from pueval._typing import Array

# Shares of one sample, counted from one end of the ranking; dense near the end.
TAIL = np.array([0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.17, 0.23, 0.3, 0.4, 0.5, 0.6, 0.7])
DEEP_TAIL = np.concatenate([[0.0003, 0.001, 0.003], TAIL])
BOTH_ENDS = np.concatenate([TAIL[:-2], 1 - TAIL[-3::-1]])
# Margins of error of the tail ratios, in standard errors.
MARGINS = (0.5, 1.0, 2.0, 3.0)
# Number of steps of equal length along the curve for its slopes.
STEPS = 200
# Ratios of tail shares below this are not distinguished.
SMALLEST_RATIO = 1e-5


def roc_features(labeled: Array, unlabeled: Array) -> Array:
    """Return tail shares, tail ratios with standard errors, slopes, area and sample sizes.

    Parameters
    ----------
    labeled, unlabeled : ndarray
        Numbers of rows at each distinct score, scores descending.

    Returns
    -------
    ndarray
    """
    n_labeled, n_unlabeled = float(labeled.sum()), float(unlabeled.sum())
    labeled_share = np.concatenate([[0.0], np.cumsum(labeled) / n_labeled])
    unlabeled_share = np.concatenate([[0.0], np.cumsum(unlabeled) / n_unlabeled])
    at_labeled = _curve_height(labeled_share, unlabeled_share, BOTH_ENDS)
    at_unlabeled = _curve_height(unlabeled_share, labeled_share, BOTH_ENDS)
    top = _curve_height(labeled_share, unlabeled_share, DEEP_TAIL)
    bottom = 1 - _curve_height(unlabeled_share, labeled_share, 1 - DEEP_TAIL)
    area = np.sum(np.diff(unlabeled_share) * (labeled_share[1:] + labeled_share[:-1])) / 2
    top_bounds = _ratio_bounds(labeled_share[1:], unlabeled_share[1:], n_labeled, n_unlabeled)
    bottom_bounds = _ratio_bounds(
        1 - unlabeled_share[-2::-1], 1 - labeled_share[-2::-1], n_unlabeled, n_labeled
    )
    return np.concatenate(
        [
            # At the start, where `lowest_scores_ratio` finds them.
            top_bounds,
            bottom_bounds,
            _probit(at_labeled, n_unlabeled),
            _probit(at_unlabeled, n_labeled),
            *_log_ratios(top, n_unlabeled, n_labeled),
            *_log_ratios(bottom, n_labeled, n_unlabeled),
            _slopes(labeled_share, unlabeled_share),
            _probit(np.array([area]), min(n_labeled, n_unlabeled)),
            np.log([n_labeled, n_unlabeled]),
        ]
    )


def lowest_scores_ratio(features: Array) -> float:
    """Return an upper bound of the smallest ratio of labeled to unlabeled shares of low scores.

    The bound is three standard errors above the observed ratio. It is small if labeled positives
    hardly ever have the lowest scores.
    """
    return float(features[3 * len(MARGINS) + MARGINS.index(3.0)])


def _curve_height(x: Array, y: Array, at: Array) -> Array:
    """Interpolate y at some values of x, through the midpoints of the steps in x."""
    steps = np.flatnonzero(np.diff(x) > 0)
    x_middle = (x[steps] + x[steps + 1]) / 2
    y_middle = (y[steps] + y[steps + 1]) / 2
    return np.interp(at, np.r_[0.0, x_middle, 1.0], np.r_[0.0, y_middle, 1.0])


def _probit(share: Array, n: float) -> Array:
    return np.asarray(ndtri(np.clip(share, 0.5 / n, 1 - 0.5 / n)))


def _log_ratios(numerator: Array, n_numerator: float, n_denominator: float) -> tuple[Array, Array]:
    """Return logs of the ratios of tail shares to `DEEP_TAIL`, and logs of standard errors."""
    rows, rows_of_denominator = n_numerator * numerator + 0.5, n_denominator * DEEP_TAIL + 0.5
    ratio = rows / n_numerator / (rows_of_denominator / n_denominator)
    return np.log(ratio), np.log(1 / rows + 1 / rows_of_denominator) / 2


def _slopes(labeled_share: Array, unlabeled_share: Array) -> Array:
    """Return the unlabeled share of the steps along the convex minorant, with equal weights."""
    length = (labeled_share + unlabeled_share) / 2
    edges = np.linspace(0, 1, STEPS + 1)
    share = np.diff(np.interp(edges, length, unlabeled_share)) * STEPS / 2
    rising = isotonic_regression(share).x
    middles = (edges[1:] + edges[:-1]) / 2
    return np.asarray(np.interp(BOTH_ENDS, middles, rising))


def _ratio_bounds(
    denominator: Array, numerator: Array, n_denominator: float, n_numerator: float
) -> Array:
    """Return upper bounds of the smallest ratio of tail shares, their logs and their places.

    The place is the log of the tail's share of the denominator.
    """
    denominator_error = _standard_error(denominator, n_denominator)
    numerator_error = _standard_error(numerator, n_numerator)
    bounds, places = [], []
    for margin in MARGINS:
        low = denominator - margin * denominator_error
        high = numerator + margin * numerator_error
        ratio = high / np.maximum(low, 1e-9)
        best = int(np.argmin(ratio))
        bounds.append(min(max(ratio[best], SMALLEST_RATIO), 1.0))
        places.append(denominator[best])
    return np.concatenate([bounds, np.log(bounds), np.log(np.maximum(places, SMALLEST_RATIO))])


def _standard_error(share: Array, n: float) -> Array:
    return np.asarray(np.sqrt((share * (1 - share) + 0.25 / n) / n))
