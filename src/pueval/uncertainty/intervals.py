"""Confidence intervals of a number: normal, on the log scale, or percentiles of draws."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pueval._checks import check_count, check_fraction, is_choice
from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.errors import InputError

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
        if not is_choice(self.variance, VARIANCES):
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
