"""Confidence bands of the rank distribution: the share of rows at or above a threshold."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
import scipy

from pueval._checks import check_choice
from pueval._typing import Array
from pueval.core.confidence import clopper_pearson_lower, clopper_pearson_upper
from pueval.samples.threads import map_in_threads

BandMethod = Literal["bootstrap", "clopper-pearson", "dkw"]


def rank_band(
    above: Array, total: float, *, hidden: float, level: float, method: BandMethod
) -> tuple[Array, Array]:
    """Compute a confidence band of the share of rows at or above thresholds.

    Parameters
    ----------
    above : ndarray
        Number of rows that score at or above each threshold.
    total : float
        Number of rows.
    hidden : float
        Number of other rows with the same rank distribution, which the band is for.
    level : float
        Confidence level.
    method : {"bootstrap", "clopper-pearson", "dkw"}
        ``"bootstrap"``: pointwise quantiles of the share in resampled rows, as in the paper. At
        one threshold that share is binomial, so its quantiles are computed without resampling.
        ``"clopper-pearson"``: exact pointwise intervals. ``"dkw"``: a simultaneous band for all
        thresholds (Dvoretzky, Kiefer and Wolfowitz). The first two cover the distribution that
        the rows come from. The last one also covers the sampling error of the hidden rows, by
        1/total + 1/hidden in place of 1/total.

    Returns
    -------
    low, high : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> low, high = rank_band(np.array([5]), 10, hidden=40, level=0.95, method="bootstrap")
    >>> float(low[0]), float(high[0])
    (0.2, 0.8)
    """
    check_choice("band", method, get_args(BandMethod))
    above, repeats = runs(above)
    share, tail = above / total, (1 - level) / 2
    if method == "dkw":
        inverse_size = 1 / total + (1 / hidden if hidden else 0)
        half_width = math.sqrt(math.log(2 / (1 - level)) / 2 * inverse_size)
        low, high = share - half_width, share + half_width
    elif method == "clopper-pearson":
        bounds = (clopper_pearson_lower, clopper_pearson_upper)
        low, high = map_in_threads(lambda bound: bound(above, total, tail), bounds)
    else:
        low, high = (_binomial_quantile(q, total, share) / total for q in (tail, 1 - tail))
    return np.repeat(np.clip(low, 0, 1), repeats), np.repeat(np.clip(high, 0, 1), repeats)


def runs(above: Array) -> tuple[Array, Array]:
    """Return the distinct values of neighbors, and how often each repeats.

    Thresholds with the same number of rows above have the same band, and quantiles are slow.

    Examples
    --------
    >>> import numpy as np
    >>> runs(np.array([0, 0, 0, 1, 2, 2]))
    (array([0, 1, 2]), array([3, 1, 2]))
    """
    first = np.flatnonzero(np.r_[True, above[1:] != above[:-1]])
    return above[first], np.diff(first, append=above.size)


def _binomial_quantile(q: float, n: float, share: Array) -> Array:
    """Return the smallest k with P(X ≤ k) ≥ q."""
    inside = np.clip(share, 1e-12, 1 - 1e-12)
    k = np.ceil(scipy.special.bdtrik(q, n, inside) - 1e-9)
    k = np.where((k > 0) & (scipy.special.bdtr(np.maximum(k - 1, 0), n, inside) >= q), k - 1, k)
    return np.where(share <= 0, 0.0, np.where(share >= 1, n, np.clip(k, 0, n)))


def hypergeometric_bounds(
    above: float, total: float, *, hidden: Array, level: float
) -> tuple[Array, Array]:
    """Bound the number of hidden rows at or above one threshold by exact tests.

    The known rows are a random sample of all rows of their class. If k of the N = total + hidden
    rows lie at or above the threshold, the number of known ones there is hypergeometric:

    X ~ Hypergeometric(N, k, total)

    The bounds hold the k that neither P(X ≤ above) nor P(X ≥ above) rejects at (1 − level)/2.
    Unlike the intervals of `rank_band`, they are about the hidden rows at hand, and not about the
    distribution that these come from. Their coverage is at least ``level`` for any numbers of rows.

    Parameters
    ----------
    above : float
        Number of known rows at or above the threshold.
    total : float
        Number of known rows.
    hidden : ndarray
        Number of hidden rows of the same class; several possible numbers.
    level : float
        Confidence level.

    Returns
    -------
    least, most : ndarray
        Numbers of hidden rows at or above the threshold.

    References
    ----------
    Buonaccorsi (1987), A note on confidence intervals for proportions in finite populations.

    Examples
    --------
    >>> import numpy as np
    >>> least, most = hypergeometric_bounds(5, 10, hidden=np.array([10]), level=0.95)
    >>> int(least[0]), int(most[0])
    (1, 9)
    """
    tail, hidden = (1 - level) / 2, np.asarray(hidden, dtype=np.int64)
    most = _most_above(round(above), round(total), hidden, tail)
    # The most hidden rows below the threshold leave the fewest above.
    least = hidden - _most_above(round(total - above), round(total), hidden, tail)
    return least, most


def _most_above(above: int, total: int, hidden: Array, tail: float) -> Array:
    """Return the largest number of hidden rows above that P(X ≤ above) does not reject."""
    accepted, rejected = np.zeros_like(hidden), hidden + 1
    while np.any(rejected - accepted > 1):
        middle = (accepted + rejected) // 2
        probability = scipy.stats.hypergeom.cdf(above, total + hidden, above + middle, total)
        accepts = probability >= tail
        accepted, rejected = (
            np.where(accepts, middle, accepted),
            np.where(accepts, rejected, middle),
        )
    return accepted
