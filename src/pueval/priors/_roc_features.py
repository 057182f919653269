"""The ROC curve of labeled against unlabeled rows as numbers for `RocNetwork`.

All of them depend on the ranks of the scores only, not on their values.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from pueval._typing import Array

# Shares of one kind of rows, from one end of the ranking, dense near the end.
TAIL = np.array([0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.17, 0.23, 0.3, 0.4, 0.5, 0.6, 0.7])
BOTH_ENDS = np.concatenate([TAIL[:-2], 1 - TAIL[-3::-1]])
# How many standard errors the shares are moved before their ratio is taken.
MARGINS = (0.5, 1.0, 2.0, 3.0)
# The slopes are those of the curve in this many steps of equal length along it.
STEPS = 200


def roc_features(labeled: Array, unlabeled: Array) -> Array:
    """Describe the curve by tail ratios, slopes, limits, its area and the numbers of rows.

    Parameters
    ----------
    labeled, unlabeled : ndarray
        Rows of each kind at each distinct score, in descending order of the scores.

    Returns
    -------
    ndarray
    """
    n_labeled, n_unlabeled = float(labeled.sum()), float(unlabeled.sum())
    of_labeled = np.concatenate([[0.0], np.cumsum(labeled) / n_labeled])
    of_unlabeled = np.concatenate([[0.0], np.cumsum(unlabeled) / n_unlabeled])
    # The unlabeled share at a labeled share, and the labeled share at an unlabeled share.
    at_labeled = _look_up(of_labeled, of_unlabeled, BOTH_ENDS)
    at_unlabeled = _look_up(of_unlabeled, of_labeled, BOTH_ENDS)
    top = _look_up(of_labeled, of_unlabeled, TAIL) / TAIL
    bottom = (1 - _look_up(of_unlabeled, of_labeled, 1 - TAIL)) / TAIL
    area = np.sum(np.diff(of_unlabeled) * (of_labeled[1:] + of_labeled[:-1])) / 2
    top_limits = _ratio_limits(of_labeled[1:], of_unlabeled[1:], n_labeled, n_unlabeled)
    bottom_limits = _ratio_limits(
        1 - of_unlabeled[-2::-1], 1 - of_labeled[-2::-1], n_unlabeled, n_labeled
    )
    return np.concatenate(
        [
            _probit(at_labeled, n_unlabeled),
            _probit(at_unlabeled, n_labeled),
            top / (1 + top),
            bottom / (1 + bottom),
            _slopes(of_labeled, of_unlabeled),
            top_limits,
            bottom_limits,
            _probit(np.array([area]), min(n_labeled, n_unlabeled)),
            np.log([n_labeled, n_unlabeled]),
        ]
    )


def _look_up(along: Array, other: Array, wanted: Array) -> Array:
    """Shares of the other kind at wanted shares of one kind.

    The curve is taken through the middles of its steps in the direction of ``along``.
    """
    steps = np.flatnonzero(np.diff(along) > 0)
    middle = (along[steps] + along[steps + 1]) / 2
    value = (other[steps] + other[steps + 1]) / 2
    found: Array = np.interp(
        wanted, np.concatenate([[0.0], middle, [1.0]]), np.concatenate([[0.0], value, [1.0]])
    )
    return found


def _probit(share: Array, rows: float) -> Array:
    quantile: Array = ndtri(np.clip(share, 0.5 / rows, 1 - 0.5 / rows))
    return quantile


def _slopes(of_labeled: Array, of_unlabeled: Array) -> Array:
    """Share of the unlabeled kind along the convex minorant, both kinds weighing the same."""
    length = (of_labeled + of_unlabeled) / 2
    edges = np.linspace(0, 1, STEPS + 1)
    share = np.diff(np.interp(edges, length, of_unlabeled)) * STEPS / 2
    rising = isotonic_regression(share).x
    middles = (edges[1:] + edges[:-1]) / 2
    slopes: Array = np.interp(BOTH_ENDS, middles, rising)
    return slopes


def _ratio_limits(inner: Array, outer: Array, n_inner: float, n_outer: float) -> Array:
    """Smallest ratio outer/inner of tail shares, moved by several standard errors, and where."""
    inner_error = np.sqrt((inner * (1 - inner) + 0.25 / n_inner) / n_inner)
    outer_error = np.sqrt((outer * (1 - outer) + 0.25 / n_outer) / n_outer)
    limits = []
    for margin in MARGINS:
        low = inner - margin * inner_error
        high = outer + margin * outer_error
        ratio = high / np.maximum(low, 1e-9)
        best = int(np.argmin(ratio))
        limits += [min(ratio[best], 1.0), inner[best]]
    return np.array(limits)
