"""Changes of a measure between windows, which may have rows in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.core.sizes import divide_or_zero
from pueval.counts.counts import Counts
from pueval.over_time.time_windows import Span
from pueval.over_time.window_estimates import WindowEstimates, window_sizes
from pueval.over_time.window_results import TimeChanges


def common_squares(counts: Sequence[Counts], spans: Sequence[Span], reference: Array) -> Array:
    """Return the squared weights, by source, of the rows that windows and references share.

    ``counts`` are those of the periods, and ``reference`` is the index of the window that each
    window is compared with.
    """
    _, _, squares = window_sizes(counts)
    before = np.concatenate([np.zeros((squares.shape[0], 1)), np.cumsum(squares, axis=1)], axis=1)
    start, stop = np.array(spans).T
    first = np.maximum(start, start[reference])
    last = np.maximum(np.minimum(stop, stop[reference]), first)
    common: Array = before[:, last] - before[:, first]
    return common


def window_changes(
    measure: str,
    names: tuple[object, ...],
    estimates: WindowEstimates,
    reference: Array,
    common: Array,
    level: float,
) -> TimeChanges:
    """Compare windows with their references; −1 means no reference.

    A source of error with the standard errors a and b in both windows has the covariance r·a·b,
    where r = `common` / √(squares of the window · squares of the reference).
    """
    parts, shared, center = (
        content[measure] for content in (estimates.parts, estimates.shared, estimates.center)
    )
    squares = estimates.squares
    correlation = divide_or_zero(common, np.sqrt(squares * squares[:, reference]))
    other = parts[:, reference]
    variance = np.sum(parts**2 + other**2 - 2 * correlation * parts * other, axis=0)
    variance += np.sum((shared - shared[:, reference]) ** 2, axis=0)
    has_reference = reference >= 0
    error = np.where(has_reference, np.sqrt(np.maximum(variance, 0.0)), np.nan)
    value = np.where(has_reference, center - center[reference], np.nan)
    margin = normal_quantile(level) * error
    compared_with = tuple(names[k] if k >= 0 else None for k in reference.tolist())
    return TimeChanges(measure, names, compared_with, value, value - margin, value + margin, error)
