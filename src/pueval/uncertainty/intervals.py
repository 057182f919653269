"""Confidence intervals of a number: normal, on the log scale, or percentiles of draws."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._checks import check_count, check_fraction, is_choice
from pueval._typing import Array, Target
from pueval.core.cluster_table import cluster_freedom
from pueval.core.confidence import student_quantile
from pueval.core.mixture import check_target
from pueval.counts.counts import Counts
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

    def reciprocal(self) -> Interval:
        """Return the interval of a positive number from this interval of its reciprocal."""
        low, high = (1 / end if end > 0 else math.inf for end in (self.high, self.low))
        return Interval(low, high, self.standard_error)


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
    degrees_of_freedom : float
        Degrees of freedom of standard errors, if they come from few clusters of rows.
    """

    level: float
    n_resamples: int
    seed: int
    variance: str = "sampling"
    degrees_of_freedom: float = math.inf

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
    def arguments(self) -> dict[str, Any]:
        """The options as arguments of functions; degrees of freedom follow from the rows."""
        return {name: value for name, value in vars(self).items() if name != "degrees_of_freedom"}

    @property
    def critical_value(self) -> float:
        """Quantile of the normal or t distribution: half the width of an interval in errors."""
        return student_quantile(self.level, self.degrees_of_freedom)

    @property
    def tail(self) -> float:
        """Share of bootstrap draws beyond each end of an interval.

        With few clusters it is smaller than (1 − level)/2, so that percentiles are as far out as
        the ends of a t interval are.
        """
        if math.isinf(self.degrees_of_freedom):
            return (1 - self.level) / 2
        return float(scipy.special.ndtr(-self.critical_value))

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
        ends = np.quantile(inside, [self.tail, 1 - self.tail], method="inverted_cdf")
        value = min(max(value, low), high)
        finite = math.isfinite(inside[0]) and math.isfinite(inside[-1])
        error = float(np.std(inside, ddof=1)) if finite else math.nan
        return Interval(min(float(ends[0]), value), max(float(ends[1]), value), error)


def check_options(
    target: Target,
    *,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    variance: str = "sampling",
) -> IntervalOptions | None:
    """Check the options of the intervals; return them, or None without intervals."""
    check_target(target)
    # Options are checked without a level, too: a wrong one is never ignored.
    options = IntervalOptions(0.95 if level is None else level, n_resamples, seed, variance)
    if variance == "labeling" and target != "population":
        raise InputError(
            "variance='labeling' needs target='population': labels must be drawn from the "
            f"positives among these rows; got target={target!r}."
        )
    return None if level is None else options


def clustered_options(
    counts: Counts, options: IntervalOptions | None, *, clusters_alone: bool = False
) -> tuple[IntervalOptions | None, tuple[str, ...]]:
    """Return the options for rows that belong together, and a warning if there are too few.

    Without enough clusters there are no intervals, and the options are None. ``clusters_alone``
    says that variances are those by clusters, even if rows look independent.
    """
    if counts._clusters is None or options is None:
        return options, ()
    clusters = counts._clusters.clusters
    if clusters.missing_reason is not None:
        return None, (clusters.missing_reason,)
    freedom = clusters.degrees_of_freedom if clusters_alone else cluster_freedom(counts)
    return replace(options, degrees_of_freedom=freedom), ()


def bootstrap_standard_error(draws: Array) -> float:
    """Return the standard deviation of bootstrap draws.

    Undefined draws (where nothing is predicted positive, say) are left out. If more than one in
    twenty is undefined, the result is NaN.
    """
    defined = draws[np.isfinite(draws)]
    return float(np.std(defined, ddof=1)) if defined.size > LEAST_DEFINED * draws.size else math.nan
