"""A histogram of scores, filled batch by batch: rows cost time once, and no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.samples.bins import HUGE, Binning, add_binned, assemble, lower_edges, numbered
from pueval.samples.sample import EMPTY, Sample, Samples, SortedChunk, make_sample

# Bins that are kept in one array. Scores that span more of them are sorted, batch by batch.
MOST_SLOTS = 2**23
# After so many batches it is looked again where bins are narrow.
SETTLE = 16


@dataclass(frozen=True, eq=False)
class RowKinds:
    """Which rows of a batch are of which kind: 0 labeled, 1 unlabeled, 2 negative.

    Attributes
    ----------
    largest : int
        The kind that most rows are of.
    others : tuple of (int, ndarray)
        The other kinds, and the places of their rows.
    """

    largest: int
    others: tuple[tuple[int, Array], ...]

    @classmethod
    def of(cls, y: Array, values: Sequence[Any]) -> RowKinds | None:
        """Tell rows apart by the label values of the three kinds; None if one has no such label."""
        nothing = np.zeros(0, dtype=bool)
        masks = [nothing if value is None else y == value for value in values]
        found = [int(np.count_nonzero(mask)) for mask in masks]
        if sum(found) != y.size:
            return None
        largest = int(np.argmax(found))
        rest = [code for code in range(3) if code != largest and found[code]]
        return cls(largest, tuple((code, np.flatnonzero(masks[code])) for code in rest))

    def each(self, size: int) -> Iterator[tuple[int, Array]]:
        """Return every kind that there is, and the places of its rows."""
        codes = self.codes(size)
        for code in range(3):
            yield code, np.flatnonzero(codes == code)

    def codes(self, size: int) -> Array:
        """Return the kind of each row."""
        codes = np.full(size, self.largest, dtype=np.int8)
        for code, rows in self.others:
            codes[rows] = code
        return codes


class Histogram:
    """Rows of each kind in each bin, and which bins hold a single score.

    Parameters
    ----------
    bins : int
        Bins between a score and twice it.
    weighted : bool
        Whether rows come with float weights.
    """

    def __init__(self, bins: int, *, weighted: bool = False) -> None:
        self.bins = bins
        self.weighted = weighted
        self._start = 0
        # Rows of each kind; but of the kind that most rows of the first batch are of, all rows:
        # what belongs to the others is taken off at the end.
        self._count = np.zeros((3, 0), dtype=np.float64 if weighted else np.int64)
        self._square = np.zeros((3, 0))  # sums of squared weights
        self._most: int | None = None
        self._memory = np.empty(0, dtype=np.int64)
        self._value = np.empty(0)  # the first score seen in a bin
        self._narrow = np.empty(0, dtype=bool)  # whether no other one has been seen
        self._inner = (np.inf, np.inf)  # between these scores no bin is narrow
        self._batches = 0
        self._last = numbered(np.array([HUGE]), bins)[1]
        self._rest: tuple[Samples, Binning | None] = ((EMPTY, EMPTY, EMPTY), None)

    def add(self, kinds: RowKinds, score: Array, weight: Array | None = None) -> bool:
        """Count rows; say whether all scores are finite, without which nothing is counted."""
        if not score.size:
            return True
        values = score.astype(np.float64, copy=False)
        if weight is not None:
            return self._add_weighted(kinds, values, weight)
        if self._memory.size < values.size:
            # The same for all batches: new memory has to be made by the system, page by page.
            self._memory = np.empty(values.size, dtype=np.int64)
        number, low, high = numbered(values, self.bins, self._memory[: values.size])
        # Scores that are not finite share a bin with the largest ones.
        clear = -self._last < low and high < self._last
        if not (clear or np.isfinite(values).all()):
            return False
        if not self._reach(low, high):
            self._sort(kinds.codes(values.size), values, np.ones(values.size, dtype=np.int64))
            return True
        number -= self._start
        every = np.bincount(number, minlength=self._narrow.size)
        if self._most is None:
            self._most = kinds.largest
        self._count[self._most] += every
        for code, rows in kinds.others if kinds.largest == self._most else kinds.each(values.size):
            if code != self._most:
                np.add.at(self._count[code], number[rows], 1)
        self._compare(number, values)
        return True

    def _add_weighted(self, kinds: RowKinds, values: Array, weight: Array) -> bool:
        if not np.isfinite(values).all():
            return False
        # A row that counts no times must not make its bin look wide.
        drawn = np.flatnonzero(weight)
        codes, values, weight = kinds.codes(values.size)[drawn], values[drawn], weight[drawn]
        if not values.size:
            return True
        number, low, high = numbered(values, self.bins)
        if not self._reach(low, high):
            self._sort(codes, values, weight)
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

    def _reach(self, low: int, high: int) -> bool:
        """Make the arrays reach from one bin to another, unless they would become too long."""
        size = self._narrow.size
        start, end = (self._start, self._start + size) if size else (low, low)
        if low >= start and high < end:
            return True
        start, end = min(start, low), max(end, high + 1)
        if end - start > MOST_SLOTS:
            return False
        # Some room on either side, or a slowly growing range would be copied for every batch.
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
        """Find out which bins hold different scores.

        Soon most do. The others are at the ends, where rows are few: only rows beyond the inner
        ones need a look.
        """
        beyond = values < self._inner[0]
        beyond |= values >= self._inner[1]
        rows = np.flatnonzero(beyond)
        rows = rows[self._narrow[number[rows]]]
        where, score = number[rows], values[rows] + 0.0
        new = np.isnan(self._value[where])
        self._value[where[new]] = score[new]
        self._narrow[where[score != self._value[where]]] = False
        self._batches += 1
        if self._batches < SETTLE or self._batches % SETTLE == 0:
            self._find_inner()

    def _find_inner(self) -> None:
        """Find the bins around the fullest one that are all wide; they will always be."""
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

    def _sort(self, codes: Array, values: Array, count: Array) -> None:
        """Keep rows that the arrays do not reach."""
        square = np.square(count) if self.weighted else None
        batch = assemble(codes, values, values, count, square, bins=self.bins)
        self._rest = add_binned(*self._rest, *batch)

    def result(self, *, whole: bool = False) -> tuple[Samples, Binning]:
        """Return the samples, and how they are binned.

        With ``whole`` all weights were whole numbers, and count rows.
        """
        count = self._count
        if self._most is not None:
            count = count.copy()
            count[self._most] = 2 * count[self._most] - count.sum(axis=0)
        there = np.flatnonzero(count.any(axis=0))
        wide = ~self._narrow[there]
        edges = lower_edges(there + self._start, self.bins)
        score = np.where(wide, edges, self._value[there])
        labeled, unlabeled, negative = (
            make_sample(
                score.copy(), column[there], self._square[code, there] if self.weighted else None
            )
            for code, column in enumerate(count)
        )
        samples, binning = (labeled, unlabeled, negative), Binning(self.bins, score[wide])
        others, beyond = self._rest
        if beyond is not None:
            samples, added = add_binned(samples, binning, others, beyond)
            assert added is not None  # noqa: S101 - for the type checker: both are binned
            binning = added
        if whole:
            samples = tuple(_whole(kind) for kind in samples)  # type: ignore[assignment]
        return samples, binning


def _whole(kind: Sample) -> Sample:
    chunks = tuple(
        chunk if chunk.count is None else SortedChunk(chunk.values, chunk.count.astype(np.int64))
        for chunk in kind.chunks
    )
    return Sample(chunks)
