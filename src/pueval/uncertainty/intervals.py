"""Confidence intervals from a standard error or from draws; DeLong's standard error of the AUC."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import check_count, check_fraction
from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.sample import Sample
from pueval.samples.steps import Steps

VARIANCES = ("sampling", "labeling")
# Smallest share of draws in which a measure must be defined.
LEAST_DEFINED = 0.95


@dataclass(frozen=True)
class Interval:
    """Confidence interval of a number and its standard error; NaN where undefined."""

    low: float = math.nan
    high: float = math.nan
    standard_error: float = math.nan

    @classmethod
    def union(cls, intervals: Iterable[Interval]) -> Interval:
        """Return the smallest interval that contains all defined ones, with the first's error."""
        first, *others = intervals
        defined = [interval for interval in (first, *others) if not math.isnan(interval.low)]
        if not defined:
            return cls()
        low, high = min(part.low for part in defined), max(part.high for part in defined)
        return cls(low, high, first.standard_error)

    def exponential(self) -> Interval:
        """Return the interval of a number from this interval of its logarithm."""
        with np.errstate(over="ignore"):
            low, high = (float(end) for end in np.exp([self.low, self.high]))
        return Interval(low, high, self.standard_error * math.sqrt(low * high))


@dataclass(frozen=True)
class IntervalOptions:
    """Options of confidence intervals.

    Attributes
    ----------
    level : float
        Confidence level, in (0, 1).
    n_resamples : int
        Number of bootstrap resamples, at least 2.
    seed : int
        Random seed for the resampling.
    variance : {"sampling", "labeling"}
        What varies: the sample of rows, or the choice of labels for the same rows.
    """

    level: float
    n_resamples: int
    seed: int
    variance: str = "sampling"

    def __post_init__(self) -> None:
        try:
            check_fraction("level", self.level)
        except InputError as error:
            raise InputError(f"{error} For no intervals use level=None.") from None
        if self.variance not in VARIANCES:
            raise InputError(
                "variance must be 'sampling' (another sample of rows) or 'labeling' (these rows, "
                f"another random choice of labels); got {self.variance!r}."
            )
        for name in ("n_resamples", "seed"):
            check_count(name, getattr(self, name), least=0)
        if self.n_resamples < 2:
            raise InputError(
                f"n_resamples must be at least 2; got {self.n_resamples!r}. "
                "For no intervals use level=None."
            )

    @property
    def critical_value(self) -> float:
        """Normal quantile: half the width of an interval in standard errors."""
        return normal_quantile(self.level)

    def normal_interval(
        self, value: float, error: float, low: float = 0.0, high: float = 1.0
    ) -> Interval:
        """Return a normal interval around a value that is not clipped; its ends are clipped."""
        if not (math.isfinite(value) and math.isfinite(error)):
            return Interval()
        margin = self.critical_value * error
        return Interval(
            min(max(value - margin, low), high), min(max(value + margin, low), high), error
        )

    def ratio_interval(self, value: float, error: float, low: float, high: float) -> Interval:
        """Return the interval of a ratio: normal on the log scale, because ratios are skewed."""
        if not (math.isfinite(error) and 0 < value < math.inf):
            return self.normal_interval(value, error, low, high)
        factor = math.exp(self.critical_value * error / value)
        return Interval(max(value / factor, low), min(value * factor, high), error)

    def percentile_interval(
        self, value: float, draws: Array, low: float = 0.0, high: float = 1.0
    ) -> Interval:
        """Return the percentile interval of bootstrap draws, extended to the value if needed.

        For draws that are far from normal: ratios, and draws with a prior of their own. Draws may
        be infinite; the standard error is then NaN.
        """
        inside = np.sort(np.clip(draws[~np.isnan(draws)], low, high))
        if not math.isfinite(value) or inside.size <= LEAST_DEFINED * draws.size:
            return Interval()
        tail = (1 - self.level) / 2
        ends = np.quantile(inside, [tail, 1 - tail], method="inverted_cdf")
        value = min(max(value, low), high)
        finite = math.isfinite(inside[0]) and math.isfinite(inside[-1])
        error = float(np.std(inside, ddof=1)) if finite else math.nan
        return Interval(min(float(ends[0]), value), max(float(ends[1]), value), error)


def bootstrap_standard_error(draws: Array) -> float:
    """Return the standard deviation of bootstrap draws.

    Undefined draws (where nothing is predicted positive, say) are left out. If more than one in
    twenty is undefined, the result is NaN.
    """
    defined = draws[np.isfinite(draws)]
    return float(np.std(defined, ddof=1)) if defined.size > LEAST_DEFINED * draws.size else math.nan


def delong_standard_error(counts: Counts, corners: Steps) -> float:
    """Compute the standard error of the naive AUC from the variance of placement values.

    The placement of a labeled row is the share of the others that it outscores; that of another
    row the share of labeled rows that outscore it; ties count half. Rows with float weights add
    their squares to the variance. Each kind gets a pseudo-observation. NaN for one labeled row.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988).
    """
    if counts.effective_sizes[0] <= 1:
        return math.nan
    where = np.flatnonzero(corners.tied)
    steps = counts._split_ties(corners, where) if where.size else corners
    labeled = np.diff(steps.labeled, prepend=0)
    samples = counts._samples
    reached = np.concatenate([[0], steps.labeled[:-1]])
    others = steps.unlabeled + steps.negative
    added = np.diff(others, prepend=0)
    total = counts.n_unlabeled + counts.n_negative
    placement = (total - others + np.where(steps.tied, added / 2, 0)) / total
    variance = _variance_of_mean(placement, steps, steps.labeled, samples[0])
    beaten = (reached + np.where(steps.tied, labeled / 2, 0)) / counts.n_labeled
    for cumulative, sample in zip((steps.unlabeled, steps.negative), samples[1:], strict=True):
        if sample.total:
            share = sample.total / total
            variance += share**2 * _variance_of_mean(beaten, steps, cumulative, sample)
    return math.sqrt(variance)


def _variance_of_mean(values: Array, steps: Steps, reached: Array, sample: Sample) -> float:
    """Variance of the mean of values that the rows of one kind have at the thresholds of steps."""
    weight = np.diff(reached, prepend=0)
    square = weight
    if sample.has_importance_weights:
        # The threshold of a step just above a score is that of another kind, perhaps far above.
        there = np.maximum.accumulate(
            sample.with_squared_weights.cumulative_counts(steps.threshold)[1]
        )
        square = np.diff(there, prepend=0)
    mean = np.average(values, weights=weight)
    rows = sample.effective_size
    variance = float(np.sum(square * (values - mean) ** 2)) / sample.total**2 * rows
    return float(with_pseudo_observation(variance, (mean - 0.5) ** 2, rows))


def with_pseudo_observation(variance: Any, away: Any, rows: Any, together: Any = 1.0) -> Any:
    """Return the variance of a mean placement, with one row more that may stand anywhere.

    Where no row happened to be placed low, placements hardly vary, and a perfect ranking of five
    labeled rows would be known exactly. The row more has a placement spread evenly over [0, 1].

    Parameters
    ----------
    variance : float or ndarray
        Of the placements of rows, or their covariance by two models.
    away : float or ndarray
        Square of the distance of their mean from 1/2, or the product of two.
    rows : float or ndarray
        Their number.
    together : float or ndarray
        Correlation of the placements of that row by two models.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> round(with_pseudo_observation(0.0, 0.25, 5) ** 0.5, 3)
    0.099
    """
    return (rows * variance + rows / (rows + 1) * away + together / 12) / (rows + 1) / rows
