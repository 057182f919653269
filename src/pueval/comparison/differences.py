"""Paired differences of models, with confidence intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from pueval._typing import Array
from pueval.comparison.paired_estimates import PairedEstimates
from pueval.core.confidence import student_quantile
from pueval.errors import require
from pueval.text.numbers import UNDEFINED, format_interval, format_number
from pueval.text.results import Result
from pueval.text.tables import text_table
from pueval.uncertainty.holm import holm
from pueval.uncertainty.prior_profile import EstimateVector, PriorProfile

if TYPE_CHECKING:
    import pandas as pd

# Smaller differences and standard errors are rounding errors.
ROUNDING = 1e-12
# Pairs compared at a time, so that temporary arrays stay small.
BLOCK = 4096
# Differences in a printed table.
SHOWN_DIFFERENCES = 36


@dataclass(frozen=True, repr=False)
class Difference(Result):
    """Measure of one model minus that of another, on the same rows.

    Attributes
    ----------
    first, second : str
        Names of the models.
    measure : str
        Name of the measure; ``best_<name>`` is its best value over all thresholds.
    value : float
        Value of the first model minus that of the second, before they are clipped.
    low, high : float
        Confidence interval; NaN if there is none.
    standard_error : float
        Standard error of the difference. It is smaller than for two independent samples if the
        models agree on which rows are easy.
    pvalue : float
        Two-sided p-value of the hypothesis that both models are equally good. It is below .05 if
        and only if 0 is outside the 95% interval. Intervals of differences of average precisions
        are a little wider than that, since they also hold for models that are not equally good.
    adjusted_pvalue : float
        Holm's p-value over all pairs of compared models for the same measure.
    """

    first: str
    second: str
    measure: str
    value: float
    low: float
    high: float
    standard_error: float
    pvalue: float
    adjusted_pvalue: float

    def _headline(self) -> str:
        text = f"{self.first} − {self.second}, {self.measure}: {format_number(self.value, 4)}"
        if not math.isnan(self.low):
            text += f" (confidence interval {format_interval(self.low, self.high)})"
        if not math.isnan(self.pvalue):
            text += f", p-value {format_pvalue(self.pvalue)}"
            text += f", adjusted {format_pvalue(self.adjusted_pvalue)}"
        return text


class Differences(tuple[Difference, ...]):
    """Paired differences of several models: a tuple that prints as a table."""

    __slots__ = ()

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per difference.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose="Differences.frame()")
        names = [field.name for field in fields(Difference)]
        return pandas.DataFrame([vars(difference) for difference in self], columns=names)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return {"differences": [difference.to_dict() for difference in self]}

    def __repr__(self) -> str:
        header = ["measure", "pair", "difference", "interval", "p-value", "adjusted"]
        rows = [[difference.measure, *difference_cells(difference)] for difference in self]
        return text_table(header, rows, most=SHOWN_DIFFERENCES, hint="; .frame() returns all")


def difference_cells(difference: Difference) -> list[str]:
    """Show pair, value, interval and p-values of a difference, for a table."""
    return [
        f"{difference.first} − {difference.second}",
        format_number(difference.value, 4),
        format_interval(difference.low, difference.high),
        format_pvalue(difference.pvalue),
        format_pvalue(difference.adjusted_pvalue),
    ]


def format_pvalue(value: float) -> str:
    """Show a p-value."""
    if math.isnan(value):
        return UNDEFINED
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def paired_differences(
    names: Sequence[str],
    measure: str,
    estimates: PairedEstimates,
    level: float | None,
    n_left_out: int = 0,
    freedom: float = math.inf,
) -> list[Difference]:
    """Compare all pairs of models by one measure.

    ``n_left_out`` is the number of pairs that could have been compared, too, and ``freedom`` the
    degrees of freedom of standard errors.
    """
    first, second = np.triu_indices(len(names), k=1)
    blocks = [
        _compare_pairs(estimates, first[start:stop], second[start:stop], level, freedom)
        for start, stop in pairwise([*range(0, first.size, BLOCK), first.size])
    ]
    value, low, high, error, pvalue = np.concatenate(blocks, axis=1)
    columns = np.stack([value, low, high, error, pvalue, holm(pvalue, n_left_out)], axis=1)
    return [
        Difference(names[a], names[b], measure, *numbers)
        for a, b, numbers in zip(first.tolist(), second.tolist(), columns.tolist(), strict=True)
    ]


def _compare_pairs(
    estimates: PairedEstimates, first: Array, second: Array, level: float | None, freedom: float
) -> Array:
    """Return value, interval, standard error and p-value of differences, a line each."""
    quantile = 0.0 if level is None else student_quantile(level, freedom)
    profile = difference_profile(estimates, first, second)
    profile = _raised(profile, estimates, first, second)
    difference = profile.center
    pvalue, interval = _test(estimates, first, second, quantile, freedom)
    for point in estimates.in_region:
        point_pvalue, (low, high) = _test(point, first, second, quantile, freedom)
        reversed_ = difference.value * (point.value[first] - point.value[second]) < 0
        pvalue = np.where(reversed_, 1.0, np.fmax(pvalue, point_pvalue))
        interval = np.stack([np.fmin(interval[0], low), np.fmax(interval[1], high)])
    # A nonzero difference without any standard error cannot be tested.
    testable = (difference.error > ROUNDING) | (np.abs(difference.value) <= ROUNDING)
    undefined = np.full(interval.shape, np.nan)
    low, high = undefined if level is None else np.where(testable, interval, np.nan)
    return np.stack([difference.value, low, high, profile.standard_error(quantile), pvalue])


def _test(
    estimates: PairedEstimates, first: Array, second: Array, quantile: float, freedom: float
) -> tuple[Array, Array]:
    """Return p-values and confidence intervals of differences."""
    largest = estimates.largest_difference
    if math.isinf(largest):
        return _test_ratios(estimates, first, second, quantile, freedom)
    profile = difference_profile(estimates, first, second)
    tails, critical = estimates.tails, np.full(first.size, quantile)
    if tails is not None:
        critical = tails.critical_values(quantile, first, second)
    if estimates.least_error is not None:
        critical = np.maximum(critical, quantile)
    interval = _raised(profile, estimates, first, second).interval(critical)
    interval = np.clip(interval, -largest, largest)
    statistic = profile.z_score(quantile)
    if tails is not None:
        statistic = tails.normal_scores(statistic, first, second)
    return _pvalues(profile, statistic, freedom), interval


def difference_profile(estimates: PairedEstimates, first: Array, second: Array) -> PriorProfile:
    """Return differences for the estimated prior and purity, and along their intervals."""

    def differences(point: PairedEstimates) -> EstimateVector:
        value = point.value[first] - point.value[second]
        return EstimateVector(value, _standard_error(point.covariance, first, second))

    paths = [[differences(point) for point in path] for path in estimates.along_intervals]
    return PriorProfile.of(differences(estimates), paths)


def _raised(
    profile: PriorProfile, estimates: PairedEstimates, first: Array, second: Array
) -> PriorProfile:
    """Return the differences with at least the errors that confidence intervals need."""
    if estimates.least_error is None:
        return profile
    return profile.with_least_error(estimates.least_error[first, second])


def _test_ratios(
    estimates: PairedEstimates, first: Array, second: Array, quantile: float, freedom: float
) -> tuple[Array, Array]:
    """Return p-values and confidence intervals of differences of ratios, which are skewed.

    Their logarithms are nearly normal. With m the geometric mean of two ratios and r the logarithm
    of their quotient, the difference is 2m·sinh(r/2). The p-value is that of r. The interval
    follows from those of r and of log m, which are treated as independent; it excludes 0 if and
    only if that of r does.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = estimates.logarithms()
        profile = difference_profile(logs, first, second)
        log_mean = (logs.value[first] + logs.value[second]) / 2
        variance = np.diag(logs.covariance)
        of_sum = variance[first] + variance[second] + 2 * logs.covariance[first, second]
        margin = quantile * np.sqrt(np.maximum(of_sum, 0)) / 2
        for points in logs.along_intervals:
            # The mean changes with prior and purity, too.
            moved = [(point.value[first] + point.value[second]) / 2 for point in points]
            change = np.fmax.reduce(np.abs(np.array(moved) - log_mean))
            margin = np.hypot(margin, np.where(np.isnan(change), 0.0, change))
        value = estimates.value[first] - estimates.value[second]
        interval = 2 * np.exp(log_mean) * np.sinh(profile.interval(quantile) / 2)
        # An end on the same side of 0 as the value also moves with log m.
        distance = np.hypot(np.log(interval / value), margin)
        inner = np.abs(interval) < np.abs(value)
        moved_end = value * np.exp(np.where(inner, -distance, distance))
        interval = np.where(interval * value > 0, moved_end, interval)
    return _pvalues(profile, profile.z_score(quantile), freedom), interval


def _standard_error(covariance: Array, first: Array, second: Array) -> Array:
    """Return the standard error of differences; zero where only rounding is left of it."""
    variance = np.diag(covariance)
    square = variance[first] + variance[second] - 2 * covariance[first, second]
    error = np.sqrt(np.maximum(square, 0))
    scale = np.sqrt(np.maximum(variance[first], variance[second]))
    return np.where(error <= 1e-7 * scale, 0.0, error)


def _pvalues(profile: PriorProfile, score: Array, freedom: float) -> Array:
    """Return two-sided p-values of z-scores.

    1 for equal models, NaN for a difference without an error.
    """
    value, error = profile.center
    statistic = -np.abs(score)
    normal = math.isinf(freedom)
    tail = scipy.special.ndtr(statistic) if normal else scipy.special.stdtr(freedom, statistic)
    pvalue: Array = 2 * tail
    without_error = np.where(np.abs(value) <= ROUNDING, 1.0, np.nan)
    return np.where(error <= ROUNDING, without_error, pvalue)
