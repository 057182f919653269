"""A histogram of scores, filled batch by batch: rows cost time once, and no memory."""

from __future__ import annotations

import numpy as np

from pueval.binning import (
    Binning,
    Samples,
    add_binned,
    assemble,
    keys,
    lower_edges,
)
from pueval.samples import EMPTY, Array, Chunk, Sample, sample

# Bins that are kept in one array. Scores that span more of them are sorted, batch by batch.
MOST_SLOTS = 2**23


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
        self.squares = [0.0, 0.0, 0.0]
        self._start = 0
        self._count = np.zeros((3, 0), dtype=np.float64 if weighted else np.int64)
        self._value = np.empty(0)  # the first score seen in a bin
        self._wide = np.empty(0, dtype=bool)
        self._rest: tuple[Samples, Binning | None] = ((EMPTY, EMPTY, EMPTY), None)

    def add(self, kind: Array, score: Array, weight: Array | None = None) -> None:
        """Count rows: kinds 0, 1, 2 for labeled, unlabeled, negative; finite scores."""
        if not score.size:
            return
        if weight is not None and not weight.all():
            # A row that counts no times must not make its bin look wide.
            rows = np.flatnonzero(weight)
            self.add(kind[rows], score[rows], weight[rows])
            return
        values = score.astype(np.float64, copy=False)
        if weight is not None and self.weighted:
            for code in range(3):
                self.squares[code] += float(np.square(weight[kind == code]).sum())
        number = keys(values, self.bins)
        low, high = int(number.min()), int(number.max())
        if not self._reach(low, high):
            self._sort(kind, values, weight)
            return
        number -= self._start
        self._tally(kind, number, weight)
        self._compare(number, values)

    def _reach(self, low: int, high: int) -> bool:
        """Make the arrays reach from one bin to another, unless they would become too long."""
        size = self._wide.size
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
        wide = np.zeros(end - start, dtype=bool)
        if size:
            count[:, at], value[at], wide[at] = self._count, self._value, self._wide
        self._start, self._count, self._value, self._wide = start, count, value, wide
        return True

    def _tally(self, kind: Array, number: Array, weight: Array | None) -> None:
        size = self._wide.size
        if weight is not None:
            for code in range(3):
                rows = np.flatnonzero(kind == code)
                if rows.size:
                    added = np.bincount(number[rows], weight[rows], minlength=size)
                    self._count[code] += added.astype(self._count.dtype)
            return
        # Most rows are of one kind: count all, and take off the others.
        every = np.bincount(number, minlength=size)
        found = np.bincount(kind, minlength=3)
        largest = int(np.argmax(found))
        for code in range(3):
            if code != largest and found[code]:
                part = np.bincount(number[np.flatnonzero(kind == code)], minlength=size)
                self._count[code] += part
                every -= part
        self._count[largest] += every

    def _compare(self, number: Array, values: Array) -> None:
        """Find out which bins hold different scores; soon most do, and need no look any more."""
        open_rows = np.flatnonzero(~self._wide[number])
        if not open_rows.size:
            return
        where, score = number[open_rows], values[open_rows] + 0.0
        new = np.isnan(self._value[where])
        self._value[where[new]] = score[new]
        self._wide[where[score != self._value[where]]] = True

    def _sort(self, kind: Array, values: Array, weight: Array | None) -> None:
        """Keep rows that the arrays do not reach."""
        count = np.ones(values.size, dtype=np.int64) if weight is None else weight
        batch = assemble(kind, values, values, count, squares=None, bins=self.bins)
        self._rest = add_binned(*self._rest, *batch)

    def result(self, *, whole: bool = False) -> tuple[Samples, Binning]:
        """Return the samples, and how they are binned.

        With ``whole`` all weights were whole numbers, and count rows.
        """
        there = np.flatnonzero(self._count.any(axis=0))
        wide = self._wide[there]
        edges = lower_edges(there + self._start, self.bins)
        score = np.where(wide, edges, self._value[there])
        kinds = tuple(sample(score.copy(), column[there]) for column in self._count)
        samples, binning = add_binned(
            (kinds[0], kinds[1], kinds[2]), Binning(self.bins, score[wide]), *self._rest
        )
        assert binning is not None  # noqa: S101 - for the type checker: the first one is binned
        if whole:
            samples = tuple(_whole(kind) for kind in samples)  # type: ignore[assignment]
        elif self.weighted:
            samples = tuple(  # type: ignore[assignment]
                Sample(kind.chunks, square)
                for kind, square in zip(samples, self.squares, strict=True)
            )
        return samples, binning


def _whole(kind: Sample) -> Sample:
    chunks = tuple(
        chunk if chunk.count is None else Chunk(chunk.values, chunk.count.astype(np.int64))
        for chunk in kind.chunks
    )
    return Sample(chunks, sum(chunk.total for chunk in chunks))
