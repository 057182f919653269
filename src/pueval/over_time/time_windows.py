"""Rows counted by period of time, and windows: one or more periods in a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Integral
from operator import add
from typing import Any

import numpy as np

from pueval._checks import check_count, check_number, check_same_length
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.sources.arrays import (
    as_scores,
    as_weights,
    check_same_order,
    label_kinds,
    one_column,
)
from pueval.sources.labels import KIND_CODES, LabelValues
from pueval.sources.periods import Periods, read_length
from pueval.sources.propensities import propensity_column

# More periods than this are most likely a mistake in the length.
MOST_PERIODS = 100_000
# The periods from the first to before the last.
Span = tuple[int, int]


@dataclass(frozen=True, eq=False)
class PeriodCounts:
    """The Counts of every period from the first with rows to the last; some may be empty.

    Attributes
    ----------
    periods : Periods
        Division of time.
    first : int
        Number of the first period.
    counts : tuple of Counts
        Counts of each period.
    n_complete : int
        How many of the periods, from the first on, have all labels.
    """

    periods: Periods
    first: int
    counts: tuple[Counts, ...]
    n_complete: int

    def start(self, k: int) -> Any:
        """Return the start of the k-th period: numpy.datetime64, or a number."""
        return self.periods.start(self.first + k)

    def name(self, span: Span) -> Any:
        """Return the name of a window."""
        names = [self.periods.name(self.first + k) for k in (span[0], span[1] - 1)]
        return names[0] if span[1] - span[0] == 1 else f"{names[0]} to {names[1]}"

    def total(self, span: Span) -> Counts:
        """Return the Counts of a window."""
        return reduce(add, self.counts[span[0] : span[1]], Counts.empty())

    def windows(self, length: int) -> list[Span]:
        """Return all windows of so many periods, one for each period that ends one."""
        check_count("window", length)
        length = int(length)  # NumPy integers do not name months
        if length > len(self.counts):
            raise InputError(
                f"window must be at most the number of periods, {len(self.counts):,}; got "
                f"{length:,}."
            )
        return [(stop - length, stop) for stop in range(length, len(self.counts) + 1)]

    def reference_periods(self, reference: Any) -> int:
        """Return the number of first periods in the reference: given, or those before a time."""
        if isinstance(reference, bool) or not isinstance(reference, Integral):
            time = self.periods.read_moment(reference, "reference")
            number = self.periods.number(np.array([time]).astype(_time_type(self.periods)))[0]
            reference = int(number) - self.first
            if reference < 1:
                raise InputError(
                    "reference must be after the first period, which starts at "
                    f"{time_text(self.start(0))}; got {time_text(time)}."
                )
        check_count("reference", reference)
        return min(int(reference), len(self.counts))

    def with_label_delay(self, label_delay: Any, as_of: Any) -> PeriodCounts:
        """Mark the periods that end later than the delay before ``as_of``: they lack labels.

        ``as_of`` is a time or number, as `Periods.read_moment` returns it.
        """
        delay: Any
        if self.periods.is_numeric:
            delay = check_number("label_delay", label_delay)
        else:
            delay = np.timedelta64(read_length(label_delay, "label_delay"), "us")
        if delay < 0 * delay:
            raise InputError(f"label_delay must not be negative; got {label_delay!r}.")
        complete = [self.start(k + 1) <= as_of - delay for k in range(len(self.counts))]
        n_complete = complete.index(False) if False in complete else len(complete)
        if not n_complete:
            raise InputError(
                f"no period has all its labels: the first one ends at {time_text(self.start(1))}, "
                f"and labels are complete up to {time_text(as_of - delay)} (as_of less "
                "label_delay)."
            )
        return replace(self, n_complete=n_complete)


def time_text(time: Any) -> str:
    """Return a date, a date and time, or a number, without zeros at the end.

    Examples
    --------
    >>> time_text(np.datetime64("2026-03-31", "us"))
    '2026-03-31'
    >>> time_text(np.datetime64("2026-03-31T14:30", "us"))
    '2026-03-31T14:30:00'
    """
    if not isinstance(time, np.datetime64):
        return f"{time:g}"
    return str(time).removesuffix(".000000").removesuffix("T00:00:00")


def _time_type(periods: Periods) -> type[np.generic]:
    return np.float64 if periods.is_numeric else np.int64


def count_periods(
    y: Any,
    score: Any,
    time: Any,
    periods: Periods,
    *,
    sample_weight: Any,
    propensity: Any,
    labels: LabelValues,
) -> tuple[PeriodCounts, Any]:
    """Count rows by period; return the latest time, too."""
    # Checks all columns, with messages about all rows.
    Counts.from_arrays(
        y, score, sample_weight=sample_weight, propensity=propensity, **labels.arguments
    )._check_nonempty()
    check_same_order({"y": y, "time": time})
    times = periods.read_times(time)
    kind, scores = label_kinds(y, labels), as_scores(one_column(score, "score"))
    check_same_length("y", kind.size, "time", times.size)
    columns: dict[str, Any] = {"y": kind, "score": scores}
    if sample_weight is not None:
        columns["sample_weight"] = as_weights(one_column(sample_weight, "sample_weight"))
    if propensity is not None:
        columns["propensity"] = propensity_column(propensity)
    number = periods.number(times)
    order = np.argsort(number, kind="stable")
    present, starts = np.unique(number[order], return_index=True)
    by_number = {
        int(k): Counts.from_arrays(
            **{name: column[rows] for name, column in columns.items()}, **KIND_CODES.arguments
        )
        for k, rows in zip(present, np.split(order, starts[1:]), strict=True)
    }
    latest = times.max()
    moment = latest if periods.is_numeric else np.datetime64(int(latest), "us")
    return _fill_gaps(by_number, periods), moment


def add_periods(counts: Mapping[Any, Any], periods: Periods) -> PeriodCounts:
    """Add up Counts by period, given a mapping from times to Counts."""
    by_number: dict[int, Counts] = {}
    for time, part in counts.items():
        if not isinstance(part, Counts):
            raise InputError(
                f"a mapping must lead from times to Counts; got {type(part).__name__} for {time!r}."
            )
        part._refuse_clusters("an evaluation over time")
        if part._audit is not None:
            raise InputError(
                "Counts of an evaluation with an audit cannot be evaluated over time: their errors "
                f"depend on the audited rows; got them for {time!r}. Pass Counts of the rows."
            )
        [number] = periods.number(periods.read_times([time])).tolist()
        by_number[number] = by_number[number] + part if number in by_number else part
    if not by_number:
        raise InputError("the mapping from times to Counts is empty.")
    return _fill_gaps(by_number, periods)


def _fill_gaps(by_number: Mapping[int, Counts], periods: Periods) -> PeriodCounts:
    first, last = min(by_number), max(by_number)
    size = last - first + 1
    if size > MOST_PERIODS:
        raise InputError(
            f"every divides these times into {size:,} periods, more than {MOST_PERIODS:,}. Choose "
            "longer periods, and check the earliest and the latest time."
        )
    empty = Counts.empty()
    counts = tuple(by_number.get(number, empty) for number in range(first, last + 1))
    return PeriodCounts(periods, first, counts, size)
