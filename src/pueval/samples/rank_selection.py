"""Values of given ranks among several sorted columns, without merging them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pueval._typing import Array

if TYPE_CHECKING:
    from pueval.samples.sample import SortedChunk


def select_by_rank(chunks: Sequence[SortedChunk], rank: Array) -> Array:
    """Return the values of given ranks, from 0, among all values of several chunks without counts.

    Every m-th value of each chunk is a *pivot*. Of the pivots in ascending order, number j has at
    most j·m values below it, and at least (j + 1)·m − k·(m − 1) values not above it, with k chunks.
    So the value of rank r is not below pivot ⌊r/m⌋, and not above pivot ⌊(r + k·(m − 1))/m⌋. Fewer
    than 2·k·m values lie between these two; they are sorted. m balances this with sorting the
    pivots.
    """
    columns, k = [chunk.values for chunk in chunks], len(chunks)
    sizes = np.array([column.size for column in columns])[:, None]
    m = max(math.isqrt(int(sizes.sum()) // (2 * k * max(rank.size, 1))), 1)
    pivots = np.sort(np.concatenate([column[::m] for column in columns]))
    low = pivots[rank // m]
    last = (rank + k * (m - 1)) // m
    high = pivots[np.minimum(last, pivots.size - 1)]
    start = sizes - np.array([chunk.cumulative_counts(low)[0] for chunk in chunks])
    stop = sizes - np.array([chunk.cumulative_counts(high)[1] for chunk in chunks])
    stop = np.where(last < pivots.size, stop, sizes)  # beyond the last pivot, nothing is too high
    rows = np.maximum(stop - start, 0)
    place = rank - start.sum(axis=0)
    between = (place >= 0) & (place < rows.sum(axis=0))
    values: Array = np.where(place < 0, low, high)
    values[between] = _select_in_windows(
        columns, start[:, between], rows[:, between], place[between], values.dtype
    )
    return values


def _select_in_windows(
    columns: list[Array], start: Array, rows: Array, place: Array, dtype: np.dtype[np.floating]
) -> Array:
    """Return the value at a place, from 0, among the sorted values of a window of each column."""
    line = np.arange(place.size)
    window = np.full((place.size, int(rows.sum(axis=0).max(initial=0))), np.inf, dtype)
    used = np.zeros(place.size, dtype=np.intp)
    for column, first, size in zip(columns, start, rows, strict=True):
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        window[np.repeat(line, size), np.repeat(used, size) + within] = column[
            np.repeat(first, size) + within
        ]
        used += size
    window.sort(axis=1)
    selected: Array = window[line, place]
    return selected
