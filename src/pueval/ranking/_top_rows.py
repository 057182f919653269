"""Operating points: the top 1, 2, …, N rows of a ranking, and what is expected of each.

Rows with the same score have no order, so the value at an operating point inside a tie is the mean
over all orders of the tied rows: results never depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.ranking._hypergeometric import LogFactorials, spread

# Probabilities further than this from the mean, in standard deviations, are below 1e-20.
REACH = 10.0
# Table entries handled at a time where tied rows must be averaged over.
BATCH = 4_000_000


class TopRows:
    """The top 1, 2, …, N rows of a ranking, and how many of them are labeled.

    Parameters
    ----------
    counts : Counts
        Rows with whole-number counts.
    """

    def __init__(self, counts: Counts) -> None:
        check_countable(counts)
        labeled, size = _blocks(counts)
        self.rows = int(size.sum())
        self.labeled = int(labeled.sum())
        block = np.repeat(np.arange(size.size), size)
        self.block_labeled, self.block_size = labeled[block], size[block]
        before = np.cumsum(size) - size
        self.drawn = np.arange(1, self.rows + 1)
        #: Labeled rows above the tie, rows of the tie included, at each operating point.
        self.hits_before = (np.cumsum(labeled) - labeled)[block]
        self.taken = self.drawn - before[block]

    @cached_property
    def _spread(self) -> tuple[Array, Array]:
        return spread(self.block_size, self.block_labeled, self.taken)

    @property
    def hits(self) -> Array:
        """Mean number of labeled rows among the top rows."""
        return self.hits_before + self._spread[0]

    @property
    def squared_hits(self) -> Array:
        """Mean square of that number."""
        return self.hits**2 + self._spread[1]

    @cached_property
    def uncertain(self) -> Array:
        """Index of the operating points inside a tie of labeled and other rows."""
        mixed = (self.block_labeled > 0) & (self.block_labeled < self.block_size)
        return np.flatnonzero(mixed & (self.taken < self.block_size))

    @cached_property
    def factorials(self) -> LogFactorials:
        """Logarithms of factorials up to N."""
        return LogFactorials(self.rows)

    def mean(self, values: Array) -> float:
        """Average over all operating points; with none predicted positive every measure is 0."""
        return float(values.sum() / (self.rows + 1))

    def expect(self, function: Callable[[Array, Array], Array]) -> Array:
        """Mean of ``function(hits, drawn)`` over the orders of tied rows, at every point."""
        values = function(np.rint(self.hits), self.drawn)
        points = self.uncertain
        low, high = self._window(points)
        for rows, index, gained in _segments(low, high):
            where = points[rows][index]
            weight = self.factorials.pmf(
                gained, self.block_size[where], self.block_labeled[where], self.taken[where]
            )
            each = weight * function(self.hits_before[where] + gained, self.drawn[where])
            values[points[rows]] = np.bincount(index, each, minlength=rows.stop - rows.start)
        return values

    def _window(self, points: Array) -> tuple[Array, Array]:
        """Numbers of labeled rows that the top of a tie can hold, but for the impossible."""
        mean, variance = (part[points] for part in self._spread)
        reach = REACH * np.sqrt(variance) + REACH
        labeled, taken = self.block_labeled[points], self.taken[points]
        least = np.maximum(taken - (self.block_size[points] - labeled), 0)
        low = np.maximum(np.floor(mean - reach).astype(np.int64), least)
        high = np.minimum(np.ceil(mean + reach).astype(np.int64), np.minimum(labeled, taken))
        return low, high

    def by_chance(self) -> Array:
        """P(X_b < hits) at every operating point b: how far above chance the hits are.

        Walks along the ranking. Drawing one more row lowers P(X ≤ m) by P(X = m) times the
        chance (t − m)/(N − b) that it is labeled; one more hit raises m and adds P(X = m + 1).
        """
        n, t, b, k = self.rows, self.labeled, self.drawn, self.hits_before
        pmf = self.factorials.pmf
        change = -pmf(k - 1, n, t, b - 1) * (t - k + 1) / (n - b + 1)
        ends = np.flatnonzero((self.taken == self.block_size) & (self.block_labeled > 0))
        for rows, index, gained in _segments(k[ends], k[ends] + self.block_labeled[ends] - 1):
            each = pmf(gained, n, t, b[ends[rows]][index])
            change[ends[rows]] += np.bincount(index, each, minlength=rows.stop - rows.start)
        values = np.cumsum(change)

        # Inside a tie of both kinds: add P(X = k + i − 1) · P(at least i hits in the tie so far).
        points = self.uncertain
        if points.size:
            mean, variance = spread(n, t, b[points])
            reach = REACH * np.sqrt(variance) + REACH
            _, high = self._window(points)
            low = np.maximum(np.floor(mean - reach).astype(np.int64) - k[points] + 1, 1)
            low = np.where(mean + reach < k[points], high + 1, low)
            for rows, index, gained in _segments(low, high):
                where = points[rows][index]
                weight = pmf(
                    gained, self.block_size[where], self.block_labeled[where], self.taken[where]
                )
                each = pmf(k[where] + gained - 1, n, t, b[where]) * _from_end(weight, index)
                values[points[rows]] += np.bincount(index, each, minlength=rows.stop - rows.start)
        inside: Array = np.clip(values, 0.0, 1.0)
        return inside


def _blocks(counts: Counts) -> tuple[Array, Array]:
    """Labeled rows and all rows of each tie, best first; all-labeled ties taken apart."""
    labeled = counts.labeled.astype(np.int64)
    size = labeled + counts.unlabeled.astype(np.int64) + counts.negative.astype(np.int64)
    pure = labeled == size
    repeats = np.where(pure, size, 1)
    return np.repeat(np.where(pure, 1, labeled), repeats), np.repeat(
        np.where(pure, 1, size), repeats
    )


def _segments(low: Array, high: Array) -> Iterator[tuple[slice, Array, Array]]:
    """Lay the ranges low[i]…high[i] end to end, a batch of them at a time.

    Yields the slice of ranges, for each entry the number of its range, and the entry.
    """
    width = np.maximum(high - low + 1, 0)
    start = 0
    while start < low.size:
        reached = np.cumsum(width[start:])
        stop = start + max(int(np.searchsorted(reached, BATCH, side="right")), 1)
        part = width[start:stop]
        index = np.repeat(np.arange(part.size), part)
        offset = np.arange(index.size) - np.repeat(np.cumsum(part) - part, part)
        yield slice(start, stop), index, low[start:stop][index] + offset
        start = stop


def _from_end(values: Array, index: Array) -> Array:
    """Sum each value and those after it within its range."""
    after: Array = np.r_[np.cumsum(values[::-1])[::-1], 0.0]
    rest: Array = after[np.searchsorted(index, index, side="right")]
    return after[:-1] - rest


def check_countable(counts: Counts) -> None:
    """Refuse float weights: operating points are numbers of rows."""
    counts._check_nonempty()
    if not counts._has_integer_counts:
        raise InputError(
            "PULP and averages over all operating points count rows, and these have float "
            "weights. Leave the weights out, or give whole numbers."
        )
