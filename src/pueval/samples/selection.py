"""Values by their rank: in several ascending columns, or by bisection over all floats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pueval._typing import Array


def select_by_rank(columns: list[Array], rank: Array) -> Array:
    """Return the values that have a rank, from 0, among those of several ascending columns.

    Of every column a window is left in which the value may be. As long as there are several, one of
    them is halved: of the values in the middle of the windows, the lowest is too low if fewer than
    ``rank`` values come before all middles, and otherwise the highest is too high.
    """
    sizes = np.array([column.size for column in columns])[:, None]
    start, stop = np.zeros((len(columns), rank.size), np.intp), np.repeat(sizes, rank.size, axis=1)
    active = np.arange(rank.size if len(columns) > 1 else 0)
    while active.size:
        low, high = start[:, active], stop[:, active]
        open_ = low < high
        middle = np.where(open_, (low + high) // 2, 0)
        value = np.array([column[at] for column, at in zip(columns, middle, strict=True)])
        enough = rank[active] <= low.sum(axis=0) + np.where(open_, middle - low, 0).sum(axis=0)
        lowest = np.where(open_, value, np.inf).argmin(axis=0)
        # Of equal values the last one is the highest, as the first one is the lowest.
        highest = len(columns) - 1 - np.where(open_, value, -np.inf)[::-1].argmax(axis=0)
        which = np.arange(active.size)
        stop[highest[enough], active[enough]] = middle[highest, which][enough]
        start[lowest[~enough], active[~enough]] = middle[lowest, which][~enough] + 1
        active = active[(start[:, active] < stop[:, active]).sum(axis=0) > 1]
    left = np.argmax(start < stop, axis=0)
    place = start[left, np.arange(rank.size)] + rank - start.sum(axis=0)
    found = np.empty(rank.size, dtype=np.result_type(*columns))
    for number, column in enumerate(columns):
        found[left == number] = column[place[left == number]]
    return found


def float_sort_keys(values: Any) -> Array:
    """Return whole numbers in the order of floats."""
    bits = np.asarray(values, dtype=np.float64).view(np.int64)
    return bits ^ ((bits >> 63) & np.iinfo(np.int64).max)


def floats_from_sort_keys(keys: Array) -> Array:
    """Return the floats that have these keys."""
    floats: Array = (keys ^ ((keys >> 63) & np.iinfo(np.int64).max)).view(np.float64)
    return floats
