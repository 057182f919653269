"""Histograms of scores, filled batch by batch, so that rows take no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.samples.bins import (
    HUGE,
    Binning,
    add_samples,
    assemble_bins,
    bin_numbers_and_range,
    lower_edges,
)
from pueval.samples.sample import EMPTY, Samples, SortedChunk, make_sample

# Bins in one array. Batches that span more of them are sorted instead.
MOST_SLOTS = 2**23
# Batches after which the range of wide bins is determined again.
SETTLE = 16


@dataclass(frozen=True, eq=False)
class RowKinds:
    """The kinds of the rows of a batch: 0 labeled, 1 unlabeled, 2 negative.

    Attributes
    ----------
    largest : int
        The most frequent kind.
    others : tuple of (int, ndarray)
        The other kinds, and the indices of their rows.
    """

    largest: int
    others: tuple[tuple[int, Array], ...]

    @classmethod
    def of(cls, y: Array, values: Sequence[Any]) -> RowKinds | None:
        """Find the kinds by the label values of the three; None if a row has another label."""
        nothing = np.zeros(0, dtype=bool)
        masks = [nothing if value is None else y == value for value in values]
        sizes = [int(np.count_nonzero(mask)) for mask in masks]
        if sum(sizes) != y.size:
            return None
        largest = int(np.argmax(sizes))
        rest = [code for code in range(3) if code != largest and sizes[code]]
        return cls(largest, tuple((code, np.flatnonzero(masks[code])) for code in rest))

    def rows_by_kind(self, size: int) -> Iterator[tuple[int, Array]]:
        """Yield each kind and the indices of its rows, in a batch of ``size`` rows."""
        codes = self.codes(size)
        for code in range(3):
            yield code, np.flatnonzero(codes == code)

    def codes(self, size: int) -> Array:
        """Return the kind of each row, in a batch of ``size`` rows."""
        codes = np.full(size, self.largest, dtype=np.int8)
        for code, rows in self.others:
            codes[rows] = code
        return codes


class Histogram:
    """The number of rows of each kind in each bin, and which bins hold a single score.

    Parameters
    ----------
    bins : int
        Number of bins per doubling of the score.
    weighted : bool
        Whether rows have importance weights.
    """

    def __init__(self, bins: int, *, weighted: bool = False) -> None:
        self.bins = bins
        self.weighted = weighted
        self._start = 0
        # Rows of each kind. For the most frequent kind of the first batch, rows of all kinds: the
        # others are subtracted at the end, which is faster than selecting its rows.
        self._count = np.zeros((3, 0), dtype=np.float64 if weighted else np.int64)
        self._square = np.zeros((3, 0))  # sums of squared weights
        self._frequent: int | None = None
        self._memory = np.empty(0, dtype=np.int64)
        self._value = np.empty(0)  # the first score seen in a bin
        self._narrow = np.empty(0, dtype=bool)  # whether no other one has been seen
        self._inner = (np.inf, np.inf)  # between these scores no bin is narrow
        self._batches = 0
        self._last = bin_numbers_and_range(np.array([HUGE]), bins)[1]
        self._beyond: tuple[Samples, Binning | None] = ((EMPTY, EMPTY, EMPTY), None)

    def add(self, kinds: RowKinds, score: Array, weight: Array | None = None) -> bool:
        """Add rows; if a score is not finite, add nothing and return False."""
        if not score.size:
            return True
        values = score.astype(np.float64, copy=False)
        if weight is not None:
            return self._add_weighted(kinds, values, weight)
        if self._memory.size < values.size:
            # Reused by all batches: the system hands out new memory slowly, page by page.
            self._memory = np.empty(values.size, dtype=np.int64)
        number, low, high = bin_numbers_and_range(values, self.bins, self._memory[: values.size])
        # Scores that are not finite would share a bin with the largest ones.
        surely_finite = -self._last < low and high < self._last
        if not (surely_finite or np.isfinite(values).all()):
            return False
        if not self._extend(low, high):
            self._add_beyond(kinds.codes(values.size), values, np.ones(values.size, dtype=np.int64))
            return True
        number -= self._start
        if self._frequent is None:
            self._frequent = kinds.largest
        self._count[self._frequent] += np.bincount(number, minlength=self._narrow.size)
        for code, rows in (
            kinds.others if kinds.largest == self._frequent else kinds.rows_by_kind(values.size)
        ):
            if code != self._frequent:
                np.add.at(self._count[code], number[rows], 1)
        self._compare(number, values)
        return True

    def _add_weighted(self, kinds: RowKinds, values: Array, weight: Array) -> bool:
        if not np.isfinite(values).all():
            return False
        # A row of weight zero must not make its bin wide.
        kept = np.flatnonzero(weight)
        codes, values, weight = kinds.codes(values.size)[kept], values[kept], weight[kept]
        if not values.size:
            return True
        number, low, high = bin_numbers_and_range(values, self.bins)
        if not self._extend(low, high):
            self._add_beyond(codes, values, weight)
            return True
        number -= self._start
        for code in range(3):
            rows = np.flatnonzero(codes == code)
            added = np.bincount(number[rows], weight[rows], minlength=self._narrow.size)
            self._count[code] += added.astype(self._count.dtype)
            if self.weighted:
                squares = np.square(weight[rows])
                self._square[code] += np.bincount(number[rows], squares, self._narrow.size)
        self._compare(number, values)
        return True

    def _extend(self, low: int, high: int) -> bool:
        """Extend the arrays to the bins from low to high; False if they would be too long."""
        size = self._narrow.size
        start, end = (self._start, self._start + size) if size else (low, low)
        if low >= start and high < end:
            return True
        start, end = min(start, low), max(end, high + 1)
        if end - start > MOST_SLOTS:
            return False
        # Spare room on either side; else a slowly growing range would be copied in every batch.
        room = min((end - start) // 4, (MOST_SLOTS - (end - start)) // 2)
        start, end = start - room, end + room
        at = slice(self._start - start, self._start - start + size)
        count = np.zeros((3, end - start), dtype=self._count.dtype)
        value = np.full(end - start, np.nan)
        narrow = np.ones(end - start, dtype=bool)
        if size:
            count[:, at], value[at], narrow[at] = self._count, self._value, self._narrow
        if self.weighted:
            square = np.zeros(count.shape)
            square[:, at] = self._square
            self._square = square
        self._start, self._count, self._value, self._narrow = start, count, value, narrow
        return True

    def _compare(self, number: Array, values: Array) -> None:
        """Find the bins that hold different scores.

        Soon most do. The others are at the ends, where rows are few, so only rows outside the
        inner range are compared.
        """
        outside = values < self._inner[0]
        outside |= values >= self._inner[1]
        rows = np.flatnonzero(outside)
        rows = rows[self._narrow[number[rows]]]
        where, score = number[rows], values[rows] + 0.0
        new = np.isnan(self._value[where])
        self._value[where[new]] = score[new]
        self._narrow[where[score != self._value[where]]] = False
        self._batches += 1
        if self._batches < SETTLE or self._batches % SETTLE == 0:
            self._find_inner()

    def _find_inner(self) -> None:
        """Find the range around the fullest bin in which all bins are wide; they remain so."""
        narrow = np.flatnonzero(self._narrow)
        fullest = int(np.argmax(self._count.sum(axis=0)))
        if self._narrow[fullest]:
            return
        after = int(np.searchsorted(narrow, fullest))
        first = narrow[after - 1] + 1 if after else 0
        end = narrow[after] if after < narrow.size else self._narrow.size
        low, high = lower_edges(np.array([first, end]) + self._start, self.bins)
        if high - low > self._inner[1] - self._inner[0] or self._inner[0] == np.inf:
            self._inner = (float(low), float(high))

    def _add_beyond(self, codes: Array, values: Array, count: Array) -> None:
        """Add rows that are too far from the others for the arrays."""
        square = np.square(count) if self.weighted else None
        batch = assemble_bins(codes, values, values, count, square, bins=self.bins)
        self._beyond = add_samples(*self._beyond, *batch)

    def result(self, *, integer_weights: bool = False) -> tuple[Samples, Binning]:
        """Return the samples and their binning.

        With ``integer_weights``, float weights turned out to be integers: frequency weights.
        """
        count = self._count
        if self._frequent is not None:
            count = count.copy()
            count[self._frequent] = 2 * count[self._frequent] - count.sum(axis=0)
        filled = np.flatnonzero(count.any(axis=0))
        wide = ~self._narrow[filled]
        edges = lower_edges(filled + self._start, self.bins)
        score = np.where(wide, edges, self._value[filled])
        labeled, unlabeled, negative = (
            make_sample(
                score.copy(), column[filled], self._square[code, filled] if self.weighted else None
            )
            for code, column in enumerate(count)
        )
        samples, binning = (labeled, unlabeled, negative), Binning(self.bins, score[wide])
        beyond_samples, beyond_binning = self._beyond
        if beyond_binning is not None:
            samples, total = add_samples(samples, binning, beyond_samples, beyond_binning)
            assert total is not None  # noqa: S101 - for the type checker: both are binned
            binning = total
        if integer_weights:
            labeled, unlabeled, negative = (s.map_chunks(_with_integer_counts) for s in samples)
            samples = (labeled, unlabeled, negative)
        return samples, binning


def _with_integer_counts(chunk: SortedChunk) -> SortedChunk:
    return SortedChunk(chunk.values, chunk.row_counts.astype(np.int64))
