"""DEDPUL: the prior from the ratio of two estimated densities."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.signal import fftconvolve
from scipy.special import ndtri

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._reduced import Reduced, reduced
from pueval.priors._score_estimator import ScorePriorEstimator

# Points at which the densities are computed; many for every width of the kernel.
GRID = 4_096
# Kernels are cut off at this many widths.
REACH = 5.0
# The ratio is made monotone above this quantile of the unlabeled scores.
MONOTONE_ABOVE = 0.25
# Densities below this fraction of the largest one are rounding errors of the transform.
ROUNDING = 1e-12


class Dedpul(ScorePriorEstimator):
    """Estimate of the prior from a ratio of kernel densities.

    1. Scores become normal quantiles of their ranks, with labeled and unlabeled rows of equal
       total weight. The prior does not change under increasing transforms, so that any score
       will do.
    2. Gaussian kernel densities g of the labeled and f of the unlabeled rows, with the same
       width for both: ``bandwidth``·s·(1/n_L + 1/n_U)^(1/5), where s is the standard deviation
       of the labeled rows. They are computed on a grid, so that the cost does not grow with
       the square of the number of rows.
    3. The ratio r = g/f, made non-decreasing above the lower quartile of the unlabeled rows.
    4. A positive share a gives an unlabeled row the probability min(a·r, 1) of being positive.
       At the true share their mean m(a), taken over the density f, is a itself. The estimate is
       the largest a in [0, 1] with a − m(a) ≤ ``tolerance``·√(1/n_L + 1/n_U).

    The paper averages over the unlabeled rows and not over their density. Then noise often leaves
    0 as the only fixed point of m, and another rule has to step in. Over the density, and with
    the same kernel width for both samples, the mean of r is at least 1 wherever unlabeled rows
    are near, and no other rule is needed. On simulated and real scores the mean absolute error
    was within 0.003 of the best rule tried for rows, which fails for well separated classes.

    It assumes clean labels that are a random draw from the positives, and scores that only
    positives reach. Where negatives reach all scores, the estimate is too large. It means nothing
    for scores that rank labeled rows below unlabeled ones.

    Parameters
    ----------
    bandwidth : float, default 0.6
        Factor of the kernel width.
    tolerance : float, default 0.01
        How far the mean probability may stay below the share, in units of
        √(1/n_L + 1/n_U). At 0, a single labeled row above all unlabeled ones could
        decide.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        1, since labels are taken as clean.
    prior_interval_, purity_interval_ : None

    References
    ----------
    Ivanov (2020), DEDPUL: Difference-of-estimated-densities-based positive-unlabeled learning.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._dedpul import Dedpul
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> score = np.r_[np.linspace(0.5, 1, 500),                           # labeled
    ...               np.linspace(0.5, 1, 400), np.linspace(0, 0.5, 1600)]  # 20 % positives
    >>> round(Dedpul().fit(score, y).prior_, 2)
    0.2
    """

    def __init__(self, bandwidth: float = 0.6, *, tolerance: float = 0.01) -> None:
        self.bandwidth = bandwidth
        self.tolerance = tolerance

    def _estimate(self, counts: Counts) -> None:
        bandwidth: object = self.bandwidth
        if not isinstance(bandwidth, Real) or not 0 < self.bandwidth < np.inf:
            raise InputError(f"bandwidth must be a number above 0; got {bandwidth!r}.")
        tolerance: object = self.tolerance
        if not isinstance(tolerance, Real) or not 0 <= self.tolerance < np.inf:
            raise InputError(f"tolerance must be a number that is not negative; got {tolerance!r}.")
        table = reduced(counts)
        doubt = float(np.sqrt(1 / table.n_labeled + 1 / table.n_unlabeled))
        ratio, weight = _density_ratio(table, self.bandwidth * doubt**0.4)
        rising = np.cumsum(weight) > MONOTONE_ABOVE
        ratio[rising] = np.maximum.accumulate(ratio[rising])
        self.prior_ = _largest_share(ratio, weight, self.tolerance * doubt)


def _density_ratio(table: Reduced, relative_width: float) -> tuple[Array, Array]:
    """Ratio of labeled to unlabeled density on a grid, ascending, and the unlabeled density."""
    labeled = table.labeled[::-1] / table.labeled.sum()
    unlabeled = table.unlabeled[::-1] / table.unlabeled.sum()
    both = (labeled + unlabeled) / 2
    position = ndtri(np.cumsum(both) - both / 2)
    center = np.sum(labeled * position)
    spread = np.sqrt(np.sum(labeled * (position - center) ** 2))
    # Labeled rows that all have the same score still need a kernel of some width.
    span = position[-1] - position[0]
    width = max(relative_width * spread, 8 * span / GRID)

    start = position[0] - REACH * width
    step = (span + 2 * REACH * width) / (GRID - 1)
    place = (position - start) / step
    top, bottom = (_smooth(place, share, width / step) for share in (labeled, unlabeled))
    # Where there are labeled rows but no unlabeled ones, no row can get a probability.
    known = bottom > ROUNDING * bottom.max()
    return top[known] / bottom[known], bottom[known]


def _smooth(place: Array, share: Array, width: float) -> Array:
    """Kernel density in the cells of a grid, with sum 1; places and width in cells."""
    cell = place.astype(int)
    right = place - cell
    mass = np.bincount(cell, share * (1 - right), GRID)
    mass += np.bincount(cell + 1, share * right, GRID)
    reach = int(np.ceil(REACH * width))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    # The transform leaves rounding errors of either sign where there are no rows.
    density: Array = np.maximum(fftconvolve(mass, kernel)[reach : reach + GRID], 0.0)
    density /= density.sum()
    return density


def _largest_share(ratio: Array, weight: Array, tolerance: float) -> float:
    """Largest share in [0, 1] that its mean probability falls short of by the tolerance.

    The shortfall is convex and 0 at 0, so the shares within the tolerance are an interval from 0.
    """

    def holds(share: float) -> bool:
        mean = np.sum(weight * np.minimum(share * ratio, 1.0))
        return bool(share - mean <= tolerance + ROUNDING)

    low, high = 0.0, 1.0
    if holds(high):
        return high
    for _ in range(50):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
