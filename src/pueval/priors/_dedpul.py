"""Dedpul: the prior from the ratio of two kernel density estimates (DEDPUL)."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.signal import fftconvolve

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._estimator_bases import ScorePriorEstimator
from pueval.priors._labeled_unlabeled_counts import LabeledUnlabeledCounts, pooled_normal_scores

# Grid points for the densities; there are many per kernel width.
GRID_SIZE = 4_096
# Kernels are cut off at this many widths.
CUTOFF = 5.0
# The ratio is made monotone above this quantile of the unlabeled scores.
MONOTONE_ABOVE = 0.25
# Densities below this fraction of the largest one are rounding errors of the Fourier transform.
ROUNDING = 1e-12


class Dedpul(ScorePriorEstimator):
    """Estimate of the prior from a ratio of kernel densities (DEDPUL).

    1. Scores are replaced by normal quantiles of their ranks, where labeled positives and
       unlabeled rows have equal total weight. The prior is invariant under increasing
       transformations, so any score will do.
    2. Gaussian kernel densities g of the labeled positives and f of the unlabeled rows are
       computed on a grid, both with bandwidth ``bandwidth``·s·(1/n_L + 1/n_U)^(1/5), where s is
       the standard deviation of the labeled positives.
    3. The ratio r = g/f is made non-decreasing above the lower quartile of the unlabeled rows.
    4. For a candidate prior a, an unlabeled row is positive with probability min(a·r, 1). At the
       true prior, the mean m(a) of these probabilities over the density f is a itself. The
       estimate is the largest a in [0, 1] with a − m(a) ≤ ``tolerance``·√(1/n_L + 1/n_U).

    The original method averages over the unlabeled rows instead of their density. Noise then often
    makes 0 the only fixed point of m, and a second rule has to take over. When averaging over the
    density, with the same bandwidth for both samples, the mean of r is at least 1 wherever there
    are unlabeled rows nearby, and no second rule is needed. On simulated and real scores, the mean
    absolute error was within 0.003 of the best rule tried for rows, which fails for well-separated
    classes.

    The estimator assumes clean labels, random labeling, and scores that only positives reach. If
    negatives reach all scores, the estimate is too large in large samples. If labeled positives
    score below unlabeled rows, it is meaningless.

    Parameters
    ----------
    bandwidth : float, default 0.6
        Factor of the kernel bandwidth, above 0.
    tolerance : float, default 0.01
        Tolerated difference between prior and mean probability, in units of √(1/n_L + 1/n_U); at
        least 0. At 0, a single labeled positive above all unlabeled rows can decide the estimate.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        Always 1: the estimator assumes clean labels.
    prior_interval_, purity_interval_ : None

    References
    ----------
    Ivanov (2020), DEDPUL: Difference-of-estimated-densities-based positive-unlabeled learning.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import Dedpul
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> score = np.r_[np.linspace(0.5, 1, 500),                           # labeled
    ...               np.linspace(0.5, 1, 400), np.linspace(0, 0.5, 1600)]  # 20% positives
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
            raise InputError(f"tolerance must be a number of at least 0; got {tolerance!r}.")
        table = LabeledUnlabeledCounts.from_counts(counts)
        scale = float(np.sqrt(1 / table.n_labeled + 1 / table.n_unlabeled))
        ratio, density = _density_ratio(table, self.bandwidth * scale**0.4)
        upper = np.cumsum(density) > MONOTONE_ABOVE
        ratio[upper] = np.maximum.accumulate(ratio[upper])
        self.prior_ = _largest_prior(ratio, density, self.tolerance * scale)


def _density_ratio(table: LabeledUnlabeledCounts, relative_bandwidth: float) -> tuple[Array, Array]:
    """Return the density ratio on an ascending grid, and the unlabeled density."""
    labeled = table.labeled[::-1] / table.labeled.sum()
    unlabeled = table.unlabeled[::-1] / table.unlabeled.sum()
    normal_score = pooled_normal_scores(table.labeled[::-1], table.unlabeled[::-1])
    mean = np.sum(labeled * normal_score)
    deviation = np.sqrt(np.sum(labeled * (normal_score - mean) ** 2))
    # A minimum, for labeled positives that all have the same score.
    extent = normal_score[-1] - normal_score[0]
    bandwidth = max(relative_bandwidth * deviation, 8 * extent / GRID_SIZE)

    start = normal_score[0] - CUTOFF * bandwidth
    step = (extent + 2 * CUTOFF * bandwidth) / (GRID_SIZE - 1)
    position = (normal_score - start) / step
    numerator, denominator = (
        _kernel_density(position, share, bandwidth / step) for share in (labeled, unlabeled)
    )
    # Without unlabeled rows nearby, the ratio is undefined and also irrelevant.
    defined = denominator > ROUNDING * denominator.max()
    return numerator[defined] / denominator[defined], denominator[defined]


def _kernel_density(position: Array, share: Array, bandwidth: float) -> Array:
    """Return a kernel density with sum 1 on the grid; position and bandwidth in grid steps."""
    cell = position.astype(int)
    fraction = position - cell
    mass = np.bincount(cell, share * (1 - fraction), GRID_SIZE)
    mass += np.bincount(cell + 1, share * fraction, GRID_SIZE)
    radius = int(np.ceil(CUTOFF * bandwidth))
    kernel = np.exp(-0.5 * (np.arange(-radius, radius + 1) / bandwidth) ** 2)
    # The Fourier transform leaves rounding errors of either sign where there are no rows.
    density: Array = np.maximum(fftconvolve(mass, kernel)[radius : radius + GRID_SIZE], 0.0)
    density /= density.sum()
    return density


def _largest_prior(ratio: Array, density: Array, tolerance: float) -> float:
    """Return the largest prior in [0, 1] whose excess over m(a) is within the tolerance.

    The excess is convex, and 0 at 0, so the priors within the tolerance form an interval from 0.
    """

    def within_tolerance(prior: float) -> bool:
        mean = np.sum(density * np.minimum(prior * ratio, 1.0))
        return bool(prior - mean <= tolerance + ROUNDING)

    low, high = 0.0, 1.0
    if within_tolerance(high):
        return high
    for _ in range(50):
        middle = (low + high) / 2
        if within_tolerance(middle):
            low = middle
        else:
            high = middle
    return low
