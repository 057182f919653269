"""The scores of one kind of rows, sorted so that counting is a binary search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.samples.device_values import DeviceValues
from pueval.samples.rank_selection import select_by_rank
from pueval.samples.threads import map_in_threads

# With more chunks than this, small ones are merged, so that searching stays fast after many batches
# are added.
MOST_CHUNKS = 16
# A search for fewer thresholds than this is not worth a second thread.
THREADED_LOOKUP = 20_000
# Values that are compared at once, to find out whether they have few distinct ones.
BLOCK = 65_536
# Sums of weights closer than this share of the total count as equal.
ROUNDING = 1e-12
# Ranks that differ by less than a unit of this decimal are equal: they come from sums of weights.
RANK_DECIMALS = 6


def _as_type(thresholds: Array, dtype: np.dtype[Any]) -> tuple[Array, Array | bool]:
    """Round thresholds up to a dtype, so that the same values are at or above them.

    Also return which of them are exact.
    """
    if thresholds.dtype == dtype:
        return thresholds, True
    with np.errstate(over="ignore"):
        rounded = thresholds.astype(dtype)
    below = rounded < thresholds
    rounded[below] = np.nextafter(rounded[below], dtype.type(np.inf))
    return rounded, rounded == thresholds


@dataclass(frozen=True, eq=False)
class SortedChunk:
    """Ascending scores, and the number or weight of the rows at each.

    Attributes
    ----------
    values : ndarray
        Scores, ascending; they may repeat. Scores on a GPU are `DeviceValues`.
    count : ndarray or None
        Number of rows at each score, or sum of their weights; None if each value is one row.
    square : ndarray or None
        Sum of squared importance weights; None without importance weights.
    """

    values: Array
    count: Array | None = None
    square: Array | None = None

    @classmethod
    def of(
        cls, values: Array, count: Array | None = None, square: Array | None = None
    ) -> SortedChunk:
        """Sort values with their counts; takes ownership of ``values``."""
        if count is None:
            values.sort()
            return cls(values)
        order = np.argsort(values, kind="stable")
        return cls(values[order], count[order], None if square is None else square[order])

    @property
    def device_values(self) -> DeviceValues | None:
        """The scores, if they are on a GPU; else None."""
        values: Any = self.values
        return values if isinstance(values, DeviceValues) else None

    @cached_property
    def ends(self) -> tuple[Any, Any]:
        """The lowest and the highest score; from a GPU they are fetched only once."""
        return self.values[0], self.values[-1]

    def on_host(self) -> SortedChunk:
        """Return the chunk on the host; from a GPU, as distinct scores and their counts."""
        if self.device_values is None:
            return self
        return SortedChunk(*self.device_values.distinct_counts())

    @property
    def row_counts(self) -> Array:
        """Number or weight of the rows at each value."""
        return np.ones(self.values.size, dtype=np.int64) if self.count is None else self.count

    @property
    def squared_weights(self) -> Array:
        """Sum of squared weights of the rows at each value."""
        return self.row_counts if self.square is None else self.square

    @cached_property
    def cumulative(self) -> Array:
        """Weight of ``values[i:]`` for each i; only for chunks with counts."""
        assert self.count is not None  # noqa: S101 - for the type checker; callers have checked
        sums = np.zeros(self.count.size + 1, dtype=self.count.dtype)
        np.cumsum(self.count[::-1], out=sums[1:])
        return sums[::-1]

    @property
    def total(self) -> int | float:
        """Weight of all values."""
        return self.values.size if self.count is None else self.cumulative[0].item()

    def first_at_or_above(self, thresholds: Array) -> Array:
        """Place of the first value at or above each threshold."""
        typed_thresholds, _ = _as_type(thresholds, self.values.dtype)
        return np.searchsorted(self.values, typed_thresholds, side="left")

    def cumulative_counts(self, thresholds: Array) -> tuple[Array, Array]:
        """Weight above, and weight at or above, each threshold."""
        values = self.values
        typed_thresholds, exact = _as_type(thresholds, values.dtype)
        if self.device_values is not None:
            left, right = self.device_values.search_both_sides(typed_thresholds)
            at_or_above = values.size - left
            is_tied = (left < right) & exact
            return np.where(is_tied, values.size - right, at_or_above), at_or_above
        left = np.searchsorted(values, typed_thresholds, side="left")
        # Few thresholds equal a value; only those need a second search.
        tied = np.flatnonzero((values.take(left, mode="clip") == typed_thresholds) & exact)
        at_or_above = values.size - left if self.count is None else self.cumulative[left]
        if not tied.size:
            return at_or_above, at_or_above
        right = np.searchsorted(values, typed_thresholds[tied], side="right")
        above = at_or_above.copy()
        above[tied] = values.size - right if self.count is None else self.cumulative[right]
        return above, at_or_above

    def counts_between(self, thresholds: Array) -> Array:
        """Weight from each of some descending thresholds up to, but excluding, the one before.

        Summed interval by interval: differences of cumulative sums would lose small weights.
        """
        start = self.first_at_or_above(thresholds[::-1])
        rows = np.diff(start, append=self.values.size)
        if self.count is None:
            return rows[::-1]
        filled = np.flatnonzero(rows)
        weight = np.zeros(start.size, dtype=self.count.dtype)
        if filled.size:
            weight[filled] = np.add.reduceat(self.count, start[filled])
        return weight[::-1]

    def next_above(self, thresholds: Array) -> Array:
        """Lowest value above each threshold, or +inf."""
        typed_thresholds, exact = _as_type(thresholds, self.values.dtype)
        right = np.searchsorted(self.values, typed_thresholds, side="right")
        if not np.all(exact):
            right = np.where(
                exact, right, np.searchsorted(self.values, typed_thresholds, side="left")
            )
        lowest = self.values[np.minimum(right, self.values.size - 1)]
        lowest[right == self.values.size] = np.inf
        return lowest


@dataclass(frozen=True, eq=False)
class Sample:
    """The scores of all rows of one kind: labeled, unlabeled or known negative.

    Attributes
    ----------
    chunks : tuple of SortedChunk
        Sorted chunks, none of them empty.
    design_effect : float
        Factor that the squared weights contain because rows are not independent; see
        `pueval.counts.design_effect`.
    """

    chunks: tuple[SortedChunk, ...]
    design_effect: float = 1.0

    @cached_property
    def total(self) -> int | float:
        """Number of rows, or their total weight."""
        return sum(chunk.total for chunk in self.chunks)

    @property
    def has_importance_weights(self) -> bool:
        """Whether rows have importance weights whose squares are known."""
        return any(chunk.square is not None for chunk in self.chunks)

    @property
    def is_on_device(self) -> bool:
        """Whether scores are kept on a GPU."""
        return any(chunk.device_values is not None for chunk in self.chunks)

    @property
    def with_squared_weights(self) -> Sample:
        """The scores with squared weights instead of weights."""
        return self._squared if self.has_importance_weights else self

    @cached_property
    def _squared(self) -> Sample:
        return self.map_chunks(lambda chunk: SortedChunk(chunk.values, chunk.squared_weights))

    @property
    def effective_size(self) -> float:
        """Kish's effective sample size: (sum of weights)² / (sum of squared weights)."""
        squares = self.with_squared_weights.total
        return self.total**2 / squares if squares else 0.0

    @cached_property
    def row_weight(self) -> float:
        """Weight that counts as one row, Σw²/Σw; 1 without importance weights.

        Importance weights have no unit: multiplied by a constant, they say the same. So wherever a
        number of rows matters, such as a rank or a pseudo-observation, a row has this weight. The
        design effect is no part of it: it makes rows worth less, not heavier.
        """
        if not self.total:
            return 1.0
        return float(self.with_squared_weights.total / self.total / self.design_effect)

    @property
    def n_rows(self) -> int | float:
        """Number of rows; with importance weights Kish's effective number, (Σw)²/Σw²."""
        return rows_of_weight(self.total, self.row_weight)

    @property
    def has_integer_counts(self) -> bool:
        """Whether every count is an integer: no weights, or frequency weights."""
        return all(c.count is None or c.count.dtype.kind in "iu" for c in self.chunks)

    def cumulative_counts(self, thresholds: Array) -> tuple[Array, Array]:
        """Weight above, and weight at or above, each threshold."""

        def search(chunk: SortedChunk) -> tuple[Array, Array]:
            return chunk.cumulative_counts(thresholds)

        if thresholds.size < THREADED_LOOKUP:
            parts = [search(chunk) for chunk in self.chunks]
        else:
            parts = map_in_threads(search, self.chunks)
        if not parts:
            zero = np.zeros(thresholds.shape, dtype=np.int64)
            return zero, zero
        at_or_above = reduce(np.add, [part[1] for part in parts])
        if all(part[0] is part[1] for part in parts):
            return at_or_above, at_or_above
        return reduce(np.add, [part[0] for part in parts]), at_or_above

    def next_above(self, thresholds: Array) -> Array:
        """Lowest value above each threshold, or +inf."""
        lowest = np.full(thresholds.shape, np.inf)
        for chunk in self.chunks:
            lowest = np.minimum(lowest, chunk.next_above(thresholds))
        return lowest

    def distinct_if_few(self, most: int) -> Array | None:
        """Return the distinct values if there are at most ``most``, else None."""
        distinct = np.empty(0)
        for chunk in self.chunks:
            if chunk.device_values is not None:
                if chunk.device_values.count_distinct() > most:
                    return None
                distinct = np.union1d(distinct, chunk.device_values.distinct_counts()[0])
                continue
            for start in range(0, chunk.values.size, BLOCK):
                block = chunk.values[start : start + BLOCK]
                first = np.flatnonzero(block[1:] != block[:-1]) + 1
                if first.size < most:
                    distinct = np.union1d(distinct, block[np.r_[0, first]])
                if first.size >= most or distinct.size > most:
                    return None
        return distinct if distinct.size <= most else None

    def quantiles(self, below: Array) -> Array:
        """Return the lowest values that, with all lower ones, weigh more than ``below``.

        The result does not depend on how rows are divided into chunks or counted.
        """
        below = below + self.total * ROUNDING  # sums of weights are rounded
        if all(chunk.count is None for chunk in self.chunks):
            rank = np.minimum(below.astype(np.intp), self.total - 1)
            if len(self.chunks) == 1:
                return self.chunks[0].values[rank]
            return select_by_rank(self.chunks, rank)
        # Bisection over all floats, without merging the chunks.
        beyond = self.total - below
        low, high = (np.full(below.shape, key) for key in float_sort_keys(score_range([self])))
        while np.any(low < high):
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            enough = self.cumulative_counts(floats_from_sort_keys(middle))[0] < beyond
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return floats_from_sort_keys(low)

    def nearest_ranks(self, rank: Array) -> Array:
        """Round ranks to whole rows, half a row always to the same one, whatever unit weights have.

        Only ranks of importance weights can miss half a row by rounding.
        """
        return np.round(np.round(rank, RANK_DECIMALS) if self.has_importance_weights else rank)

    def scores_at_ranks(self, rank: Array) -> Array:
        """Return the distinct scores, ascending, of the rows at ranks; the highest score is first.

        Ranks count rows, as `n_rows` does. Those beyond the first or last row are moved there.
        """
        whole = np.unique(self.nearest_ranks(rank).clip(1, self.n_rows))
        scores = self.quantiles(self.total - self.row_weight * whole)
        return np.unique(scores.astype(np.float64))

    def distinct_cumulative(self) -> tuple[Array, Array]:
        """Return the distinct values, descending, and the weight at or above each.

        Zero is 0.0, whether it was that, −0.0 or both.
        """
        if not self.chunks:
            return np.empty(0), np.empty(0, dtype=np.int64)
        merged = self.merged().chunks[0].on_host()
        values = merged.values
        new = values[1:] != values[:-1]
        if merged.count is None and new.all():
            return values[::-1] + 0.0, np.arange(1, values.size + 1)
        first = np.flatnonzero(np.r_[True, new])[::-1]
        reached = values.size - first if merged.count is None else merged.cumulative[first]
        return values[first] + 0.0, reached

    def distinct_counts(self) -> tuple[Array, Array]:
        """Return the distinct values, descending, and the weight of each."""
        values, reached = self.distinct_cumulative()
        return values, np.diff(reached, prepend=reached.dtype.type(0))

    def counts_between(self, thresholds: Array) -> Array:
        """Weight from each of some descending thresholds up to, but excluding, the one before."""
        return reduce(
            np.add,
            [chunk.counts_between(thresholds) for chunk in self.chunks],
            np.zeros(thresholds.size, dtype=np.int64),
        )

    def merged(self) -> Sample:
        """Return the rows in one chunk."""
        if len(self.chunks) < 2:
            return self
        chunks = [chunk.on_host() for chunk in self.chunks]
        values = np.concatenate([c.values for c in chunks])
        if all(c.count is None for c in chunks):
            values.sort(kind="stable")  # merges ascending parts, which other sorts do not use
            return Sample((SortedChunk(values),))
        count, square = np.concatenate([c.row_counts for c in chunks]), None
        if self.has_importance_weights:
            square = np.concatenate([c.squared_weights for c in chunks])
        return Sample((SortedChunk.of(values, count, square),), self.design_effect)

    def scaled(self, factor: float) -> Sample:
        """Return the rows with all weights multiplied by a factor."""
        return self.map_chunks(
            lambda c: SortedChunk(c.values, factor * c.row_counts, factor**2 * c.squared_weights)
        )

    def map_chunks(self, function: Callable[[SortedChunk], SortedChunk]) -> Sample:
        """Return the sample of changed chunks."""
        return Sample(tuple(map(function, self.chunks)), self.design_effect)

    def __add__(self, other: Sample) -> Sample:
        chunks = self.chunks + other.chunks
        return Sample(
            chunks if len(chunks) <= MOST_CHUNKS else _merge_small_chunks(chunks),
            max(self.design_effect, other.design_effect),  # one of them may be empty
        )


def _merge_small_chunks(chunks: tuple[SortedChunk, ...]) -> tuple[SortedChunk, ...]:
    """Merge the smallest chunks, until each of the others has twice the size of the next.

    A row is merged again only into a chunk half as large again. So adding batches one by one moves
    each row about as often as the number of batches can be halved.
    """
    by_size = sorted(chunks, key=lambda chunk: chunk.values.size, reverse=True)
    first, merged_size = len(by_size) - 1, by_size[-1].values.size
    while first and by_size[first - 1].values.size < 2 * merged_size:
        first -= 1
        merged_size += by_size[first].values.size
    return (*by_size[:first], *Sample(tuple(by_size[first:])).merged().chunks)


EMPTY = Sample(())
# The labeled rows, the unlabeled rows and the known negatives.
Samples = tuple[Sample, Sample, Sample]


def rows_of_weight(weight: float, row_weight: float) -> int | float:
    """Return the number of rows that have a total weight.

    It is rounded, so that equal weights of any unit give whole numbers.
    """
    return weight if row_weight == 1 else round(weight / row_weight, RANK_DECIMALS)


def score_range(samples: Iterable[Sample]) -> tuple[Any, Any]:
    """Return the lowest and the highest score of some samples, not all of them empty."""
    ends = [chunk.ends for sample in samples for chunk in sample.chunks]
    return min(lowest for lowest, _ in ends), max(highest for _, highest in ends)


def make_sample(values: Array, count: Array | None = None, square: Array | None = None) -> Sample:
    """Make a sample of unsorted values; takes ownership of ``values``.

    ``count`` is the number of rows at each value, or the sum of their importance weights; then
    ``square`` is the sum of squared weights.
    """
    if count is not None:
        kept = count != 0
        if not kept.all():
            values, count = values[kept], count[kept]
            square = None if square is None else square[kept]
    return Sample((SortedChunk.of(values, count, square),)) if values.size else EMPTY


def make_weighted_sample(values: Array, weight: Array | None) -> Sample:
    """Make a sample of rows: integers are frequency weights, floats importance weights."""
    square = np.square(weight) if weight is not None and weight.dtype.kind == "f" else None
    return make_sample(values, weight, square)


def float_sort_keys(values: Any) -> Array:
    """Return integers that sort in the order of floats."""
    bits = np.asarray(values, dtype=np.float64).view(np.int64)
    return bits ^ ((bits >> 63) & np.iinfo(np.int64).max)


def floats_from_sort_keys(keys: Array) -> Array:
    """Return the floats of keys made by `float_sort_keys`."""
    floats: Array = (keys ^ ((keys >> 63) & np.iinfo(np.int64).max)).view(np.float64)
    return floats
