"""Sampling intervals: DeLong's for the AUC, a bootstrap of Counts for everything else.

Rows are a sample: labeled, unlabeled and known negative ones are drawn again, each kind apart, with
prior and purity held fixed. What is drawn again are the counts of a few hundred cells between
thresholds, never rows, so that ten million rows cost what a few thousand do.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from pueval.counts import Counts, Steps
from pueval.errors import InputError
from pueval.measures import Measure
from pueval.mixture import Mixture, Target
from pueval.rates import Rates, rates_of_shares
from pueval.samples import Array

# Thresholds between which rows are drawn again. With fewer labeled scores than half of them
# nothing is lost; else every rate between two thresholds is within 1/128 of one of them.
CELLS = 256
# How much of the excess of a best value is in doubt; by simulation (benchmarks/coverage.py).
DOUBT = 1.5


@dataclass(frozen=True)
class Interval:
    """Confidence limits of a number, and its standard error; NaN where there are none."""

    low: float = math.nan
    high: float = math.nan
    standard_error: float = math.nan


@dataclass(frozen=True)
class Resampling:
    """How intervals are made.

    Attributes
    ----------
    level : float
        Confidence level.
    n_resamples : int
        How often the counts are drawn again.
    seed : int
        Of the random numbers; the same seed gives the same intervals.
    """

    level: float
    n_resamples: int
    seed: int

    def __post_init__(self) -> None:
        if not (isinstance(self.level, int | float | np.number) and 0 < self.level < 1):
            raise InputError(
                f"level must be a number in (0, 1), or None for no intervals; got {self.level!r}."
            )
        for name in ("n_resamples", "seed"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
                raise InputError(f"{name} must be a whole number of at least 0; got {number!r}.")
        if self.n_resamples < 2:
            raise InputError(
                f"n_resamples must be at least 2; got {self.n_resamples!r}. "
                "For no intervals use level=None."
            )

    def interval(self, value: float, error: float, low: float = 0.0, high: float = 1.0) -> Interval:
        """Return normal limits around a value that is not clipped; the limits are."""
        if not (math.isfinite(value) and math.isfinite(error)):
            return Interval()
        reach = float(ndtri(0.5 + self.level / 2)) * error
        return Interval(
            min(max(value - reach, low), high), min(max(value + reach, low), high), error
        )


def delong_standard_error(counts: Counts, corners: Steps) -> float:
    """Compute the standard error of the naive AUC from the variance of placement values.

    The placement of a labeled row is the share of the others that it outscores; that of another
    row the share of labeled rows that outscore it; ties count half. Exact for rows without
    weights; with weights the effective numbers of rows stand for the numbers. NaN for a single
    labeled row.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988).
    """
    if counts.effective[0] <= 1:
        return math.nan
    where = np.flatnonzero(corners.joint)
    steps = counts.unfold(corners, where) if where.size else corners
    labeled = np.diff(steps.labeled, prepend=0)
    reached = np.concatenate([[0], steps.labeled[:-1]])
    others = steps.unlabeled + steps.negative
    added = np.diff(others, prepend=0)
    total = counts.n_unlabeled + counts.n_negative
    placement = (total - others + np.where(steps.joint, added / 2, 0)) / total
    variance = _variance(placement, labeled) / (counts.effective[0] - 1)
    beaten = (reached + np.where(steps.joint, labeled / 2, 0)) / counts.n_labeled
    for cumulative, sample in zip(
        (steps.unlabeled, steps.negative), counts.samples()[1:], strict=True
    ):
        if sample.total:
            share = sample.total / total
            spread = _variance(beaten, np.diff(cumulative, prepend=0))
            variance += share**2 * spread / max(sample.effective - 1, 1)
    return math.sqrt(variance)


def _variance(values: Array, weight: Array) -> float:
    """Weighted variance, without a correction for the mean."""
    mean = np.average(values, weights=weight)
    return float(np.average((values - mean) ** 2, weights=weight))


@dataclass(frozen=True, eq=False)
class Resamples:
    """Corrected rates of many samples drawn again, at the same thresholds.

    Attributes
    ----------
    how : Resampling
        Level, number and seed.
    center : Rates
        Rates that the resamples lie around.
    drawn : Rates
        Rates with one line per resample.
    """

    how: Resampling
    center: Rates
    drawn: Rates

    def at(self, measure: Measure, threshold: float, value: float) -> Interval:
        """Interval of a measure at a fixed threshold."""
        column = int(np.flatnonzero(self.drawn.threshold == threshold)[0])
        rates = self.drawn
        one = Rates(
            rates.threshold[[column]],
            rates.tpr[:, column],
            rates.fpr[:, column],
            rates.predicted[:, column],
            rates.prevalence,
            rates.size,
        )
        return self.how.interval(value, _spread(measure(one)), measure.low, measure.high)

    def best(self, measure: Measure, value: float) -> Interval:
        """Interval of the best value over all thresholds.

        The best of many noisy values is too good on average. How much is seen from the resamples,
        whose best values are too good compared with that of what they are drawn from; it is taken
        off, and `DOUBT` times as much is added to the standard error, since it is known only
        roughly.
        """
        sign = 1.0 if measure.greater_is_better else -1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # lines without any defined value
            best, drawn = (
                sign * np.nanmax(sign * measure(rates), axis=-1)
                for rates in (self.center, self.drawn)
            )
        error = _spread(drawn)
        optimism = float(np.nanmean(drawn) - best)
        return self.how.interval(
            value - optimism, math.hypot(error, DOUBT * optimism), measure.low, measure.high
        )

    def average_precision(self, value: float) -> Interval:
        """Interval of the average precision."""
        return self.how.interval(value, _spread(_average_precision(self.drawn)))


def _average_precision(rates: Rates) -> Array:
    """Sum of precision at the end of each cell times the gain of recall in it."""
    precision = rates.prevalence * np.divide(
        rates.tpr, rates.predicted, out=np.zeros_like(rates.tpr), where=rates.predicted > 0
    )
    area: Array = np.sum(np.diff(rates.tpr, axis=-1) * precision[..., 1:], axis=-1)
    return area


def _spread(drawn: Array) -> float:
    """Return the standard deviation of resampled values.

    Resamples in which a measure is undefined (nothing is predicted positive, say) say nothing
    about it. If they are more than one in twenty, nothing can be said at all.
    """
    defined = drawn[np.isfinite(drawn)]
    return float(np.std(defined, ddof=1)) if defined.size > 0.95 * drawn.size else math.nan


def resample(
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    target: Target,
    *,
    threshold: float,
    how: Resampling,
) -> Resamples:
    """Draw the counts between thresholds again, each kind of rows apart."""
    thresholds = _thresholds(counts, corners, threshold)
    steps = counts.at(thresholds)
    rng = np.random.default_rng(how.seed)
    # One row more, spread like all rows: or no other row than those seen could ever be drawn.
    pooled = np.diff(steps.labeled + steps.unlabeled + steps.negative, prepend=0) / counts.n
    expected, drawn = [], []
    for cumulative, sample in zip(
        (steps.labeled, steps.unlabeled, steps.negative), counts.samples(), strict=True
    ):
        if not sample.total:
            expected.append(np.zeros(thresholds.size))
            drawn.append(np.zeros((1, thresholds.size)))
            continue
        size = max(round(sample.effective), 1)
        cells = size * np.diff(cumulative, prepend=0) / sample.total + pooled
        cells /= cells.sum()
        expected.append(np.cumsum(cells))
        again = rng.multinomial(size, cells, size=how.n_resamples)
        drawn.append(np.cumsum(again, axis=1) / size)
    center, around = (
        rates_of_shares(counts, thresholds, shares, mixture, target) for shares in (expected, drawn)
    )
    return Resamples(how, center, around)


def _thresholds(counts: Counts, corners: Steps, wanted: float) -> Array:
    """Thresholds that bound the cells: all corners, or about `CELLS` quantiles; and the wanted."""
    if 2 * corners.threshold.size <= CELLS:
        where = np.flatnonzero(np.diff(corners.labeled)) + 1
        base = counts.unfold(corners, where).threshold
    else:
        base = np.concatenate([counts.thinned(CELLS).score, corners.threshold[[-1]]])
    every = np.concatenate([base.astype(np.float64), [wanted, np.inf]])
    return np.unique(every)[::-1]
