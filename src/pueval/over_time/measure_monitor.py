"""Looks at a measure, one after another: which periods each takes, and how far it may vary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pueval._typing import Array
from pueval.core.sizes import divide_or_zero
from pueval.counts.counts import Counts
from pueval.over_time.time_windows import PeriodCounts, Span
from pueval.over_time.window_estimates import WindowEstimates, window_sizes
from pueval.over_time.window_results import ChangeSequence
from pueval.uncertainty.change_sequence import change_intervals


def look_spans(counts: Sequence[Counts], *, min_labeled: int, min_background: int) -> list[Span]:
    """Return the periods of each look: no period belongs to two of them.

    A look takes as many periods as it needs to have enough rows. This depends on the numbers of
    rows only, not on their scores. Periods at the end that are too few for a look are left out.
    """
    sizes, _, _ = window_sizes(counts)
    totals = np.array(sizes.by_kind, dtype=np.float64)
    squares = np.array(sizes.squared_weights)

    def enough(span: slice) -> bool:
        total, square = totals[:, span].sum(axis=1), squares[:, span].sum(axis=1)
        labeled, unlabeled, negative = divide_or_zero(total**2, square)
        return bool(labeled >= min_labeled and unlabeled + negative >= min_background)

    spans: list[Span] = []
    start = 0
    for stop in range(1, len(counts) + 1):
        if enough(slice(start, stop)):
            spans.append((start, stop))
            start = stop
    return spans


def look_variances(parts: Array, effective: Array) -> Array:
    """Return the variance of a measure at each look, if nothing has changed up to it.

    ``parts`` are the changes with one standard error of each source, and ``effective`` its
    effective numbers of rows: a line per source, a column per look.

    The variance of each source is that of a single row, divided by the effective number of rows. A
    row has the same variance at all looks if nothing changes, so it is the mean over all rows up
    to the look. Its own variance would make a look with a high value seem certain, and pull means
    with weights toward it.
    """
    rows = np.cumsum(effective, axis=1)
    of_row = divide_or_zero(np.cumsum(parts**2 * effective**2, axis=1), rows)
    variance: Array = np.sum(divide_or_zero(of_row, effective), axis=0)
    return variance


def change_sequence(
    measure: str,
    estimates: WindowEstimates,
    spans: Sequence[Span],
    periods: PeriodCounts,
    *,
    n_reference: int,
    false_alarm_rate: float,
) -> ChangeSequence:
    """Return the confidence sequence of the changes of a measure.

    ``estimates`` and ``spans`` are those of the looks. The reference has as many of them as contain
    the first ``n_reference`` periods. Its looks are as large as the others, so that what small
    samples do to an estimate cancels out.
    """
    parts = estimates.parts[measure]
    looks = np.flatnonzero(np.isfinite(estimates.center[measure]) & np.any(parts != 0, axis=0))
    used = [spans[k] for k in looks.tolist()]
    n_looks = sum(stop < n_reference for _, stop in used) + 1
    reference = periods.name((used[0][0], used[n_looks - 1][1])) if len(used) >= n_looks else None
    if len(used) <= n_looks:
        empty = np.zeros(0)
        return ChangeSequence(
            measure, (), reference, (), empty, empty, empty, empty > 0, false_alarm_rate
        )
    value = estimates.center[measure][looks]
    variance = look_variances(parts[:, looks], estimates.effective[:, looks])
    last = [periods.name((stop - 1, stop)) for _, stop in used]
    first = [periods.name((start, start + 1)) for start, _ in used]
    changes = change_intervals(value, variance, n_reference=n_looks, rate=false_alarm_rate)
    return ChangeSequence(
        measure,
        tuple(last[n_looks:]),
        reference,
        tuple(first[k] for k in changes.start.tolist()),
        changes.value,
        changes.low,
        changes.high,
        changes.excludes_zero,
        false_alarm_rate,
    )
