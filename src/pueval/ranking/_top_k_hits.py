"""Labeled rows among the top k rows of a ranking, for every k.

Rows with the same score have no order. Inside a tie, a value is therefore the mean over all orders
of the tied rows, and results do not depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pueval._checks import check_counts
from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.ranking._hypergeometric import LogFactorials, hypergeometric_moments
from pueval.samples.threads import map_in_threads

# Probabilities more than this many standard deviations (plus this many rows) from the mean are
# below 1e-20 and ignored.
STANDARD_DEVIATIONS = 10.0
# Ranks handled at a time, so that temporary arrays stay small.
BLOCK = 65_536
# Table entries computed at a time when averaging over tied rows.
BATCH = 4_000_000


class TopKHits:
    """Numbers of labeled rows ("hits") among the top k = 1, 2, …, N rows of a ranking.

    Parameters
    ----------
    counts : Counts
        Rows with integer counts.
    """

    def __init__(self, counts: Counts) -> None:
        check_integer_counts(counts)
        self._tie_labeled, self._tie_size = _ties(counts)
        self._rows_above = np.cumsum(self._tie_size) - self._tie_size
        self._hits_above = np.cumsum(self._tie_labeled) - self._tie_labeled
        self.rows = int(self._tie_size.sum())
        self.labeled = int(self._tie_labeled.sum())
        self.factorials = LogFactorials(self.rows)

    def block(self, start: int) -> RankBlock:
        """Return the ranks from ``start`` + 1 on, at most `BLOCK` of them."""
        stop = min(start + BLOCK, self.rows)
        first, last = np.searchsorted(self._rows_above, [start, stop - 1], side="right") - 1
        ties = slice(first, last + 1)
        above, size = self._rows_above[ties], self._tie_size[ties]
        repeats = np.minimum(above + size, stop) - np.maximum(above, start)
        k = np.arange(start + 1, stop + 1)
        return RankBlock(
            self.rows,
            self.labeled,
            self.factorials,
            k,
            np.repeat(self._tie_labeled[ties], repeats),
            np.repeat(size, repeats),
            np.repeat(self._hits_above[ties], repeats),
            k - np.repeat(above, repeats),
        )

    def means(self, measures: Sequence[Callable[[RankBlock], Array]]) -> list[float]:
        """Average measures over k = 0, 1, …, N; at k = 0 every measure is 0."""

        def sums(start: int) -> list[float]:
            block = self.block(start)
            return [float(measure(block).sum()) for measure in measures]

        totals = np.sum(map_in_threads(sums, range(0, self.rows, BLOCK)), axis=0)
        means: list[float] = (totals / (self.rows + 1)).tolist()
        return means

    def mean(self, measure: Callable[[RankBlock], Array]) -> float:
        """Average one measure over k = 0, 1, …, N; at k = 0 it is 0."""
        return self.means([measure])[0]


@dataclass(frozen=True, eq=False)
class RankBlock:
    """Consecutive ranks k of a ranking.

    Attributes
    ----------
    rows, labeled : int
        Numbers of all rows and of the labeled rows of the ranking.
    factorials : LogFactorials
        Logarithms of factorials up to ``rows``.
    k : ndarray
        The ranks.
    tie_labeled, tie_size : ndarray
        Labeled rows and all rows in the tie of the k-th row.
    hits_above_tie : ndarray
        Labeled rows above this tie.
    k_in_tie : ndarray
        Rows of this tie among the top k.
    """

    rows: int
    labeled: int
    factorials: LogFactorials
    k: Array
    tie_labeled: Array
    tie_size: Array
    hits_above_tie: Array
    k_in_tie: Array

    @cached_property
    def _tie_moments(self) -> tuple[Array, Array]:
        """Mean and variance of the hits inside the tie."""
        return hypergeometric_moments(self.tie_size, self.tie_labeled, self.k_in_tie)

    @property
    def hits(self) -> Array:
        """Expected hits."""
        return self.hits_above_tie + self._tie_moments[0]

    @property
    def squared_hits(self) -> Array:
        """Expected squares of the hits."""
        return self.hits**2 + self._tie_moments[1]

    @cached_property
    def in_mixed_tie(self) -> Array:
        """Indices inside a tie of labeled and other rows, where hits depend on its order."""
        mixed = (self.tie_labeled > 0) & (self.tie_labeled < self.tie_size)
        return np.flatnonzero(mixed & (self.k_in_tie < self.tie_size))

    def expect(self, function: Callable[[Array, Array], Array]) -> Array:
        """Return the expectation of ``function(hits, k)`` over the orders of tied rows."""
        values = function(np.rint(self.hits), self.k)
        low, high = self._hits_in_tie_range(self.in_mixed_tie)
        for ranges, number, tie_hits in _concatenate_ranges(low, high):
            index = self.in_mixed_tie[ranges][number]
            probability = self._tie_pmf(tie_hits, index)
            terms = probability * function(self.hits_above_tie[index] + tie_hits, self.k[index])
            values[self.in_mixed_tie[ranges]] = _sum_by_range(terms, number, ranges)
        return values

    def _tie_pmf(self, hits: Array, index: Array) -> Array:
        """Return the probabilities of numbers of hits inside ties."""
        tie_size, labeled, k = self.tie_size[index], self.tie_labeled[index], self.k_in_tie[index]
        return self.factorials.pmf(hits, tie_size, labeled, k)

    def _hits_in_tie_range(self, index: Array) -> tuple[Array, Array]:
        """Return the smallest and largest possible hits inside a tie, improbable ones aside."""
        mean, variance = (moment[index] for moment in self._tie_moments)
        half_width = STANDARD_DEVIATIONS * np.sqrt(variance) + STANDARD_DEVIATIONS
        labeled, k_in_tie = self.tie_labeled[index], self.k_in_tie[index]
        least = np.maximum(k_in_tie - (self.tie_size[index] - labeled), 0)
        low = np.maximum(np.floor(mean - half_width).astype(np.int64), least)
        most = np.minimum(labeled, k_in_tie)
        return low, np.minimum(np.ceil(mean + half_width).astype(np.int64), most)

    def probability_of_fewer_hits(self) -> Array:
        """Return P(X_k < hits) for every k, where X_k are the hits of k random rows.

        Computed along the ranking. One more row lowers P(X ≤ m) by P(X = m) times the probability
        (t − m)/(N − k) that it is labeled; one more hit raises m and adds P(X = m + 1).
        """
        n, t, k, hits = self.rows, self.labeled, self.k, self.hits_above_tie
        before, half_width = self._random_hits(np.array([k[0] - 1, k[-1]]))
        most = hits[-1] + self.tie_labeled[-1]
        if hits[0] > before[1] + half_width.max() or most < before[0] - half_width.max():
            # No random sample comes near.
            return np.full(k.size, float(hits[0] > before[1]))
        pmf = self.factorials.pmf
        change = -pmf(hits - 1, n, t, k - 1) * (t - hits + 1) / (n - k + 1)
        ends = np.flatnonzero((self.k_in_tie == self.tie_size) & (self.tie_labeled > 0))
        last_hit = hits[ends] + self.tie_labeled[ends] - 1
        for ranges, number, hit in _concatenate_ranges(hits[ends], last_hit):
            terms = pmf(hit, n, t, k[ends[ranges]][number])
            change[ends[ranges]] += _sum_by_range(terms, number, ranges)
        least = max(int(before[0] - half_width[0]), 0)
        change[0] += pmf(np.arange(least, hits[0]), n, t, k[0] - 1).sum()
        values = np.cumsum(change)

        # Inside a mixed tie, add P(X = hits + i − 1) · P(at least i hits in the tie so far).
        mixed = self.in_mixed_tie
        if mixed.size:
            mean, half_width = self._random_hits(k[mixed])
            _, high = self._hits_in_tie_range(mixed)
            low = np.maximum(np.floor(mean - half_width).astype(np.int64) - hits[mixed] + 1, 1)
            low = np.where(mean + half_width < hits[mixed], high + 1, low)
            for ranges, number, tie_hits in _concatenate_ranges(low, high):
                index = mixed[ranges][number]
                at_least = _cumulate_from_end(self._tie_pmf(tie_hits, index), number)
                terms = pmf(hits[index] + tie_hits - 1, n, t, k[index]) * at_least
                values[mixed[ranges]] += _sum_by_range(terms, number, ranges)
        return values.clip(0.0, 1.0)

    def _random_hits(self, k: Array) -> tuple[Array, Array]:
        """Return the mean of the hits of k random rows, and how far from it hits can be."""
        mean, variance = hypergeometric_moments(self.rows, self.labeled, k)
        return mean, STANDARD_DEVIATIONS * np.sqrt(variance) + STANDARD_DEVIATIONS


def _ties(counts: Counts) -> tuple[Array, Array]:
    """Return the labeled rows and all rows of each tie, best first.

    All rows between two labeled scores count as one tie, since their order does not matter. Ties of
    labeled rows only are split.
    """
    score, cumulative = counts._cumulative_labeled
    above, at_or_above = counts._cumulative_background(score)
    labeled, size = np.zeros((2, 2 * score.size + 1), dtype=np.int64)
    labeled[1::2] = np.diff(cumulative, prepend=0)
    size[1::2] = labeled[1::2] + (at_or_above - above)
    size[::2] = np.r_[above, counts.n_unlabeled + counts.n_negative] - np.r_[0, at_or_above]
    all_labeled = (labeled == size) & (size > 0)
    repeats = np.where(all_labeled, size, size > 0)
    return (
        np.repeat(np.where(all_labeled, 1, labeled), repeats),
        np.repeat(np.where(all_labeled, 1, size), repeats),
    )


def _concatenate_ranges(low: Array, high: Array) -> Iterator[tuple[slice, Array, Array]]:
    """Concatenate the ranges low[i], …, high[i], a batch of ranges at a time.

    Yields the slice of ranges and, for each entry, the number of its range in the batch and its
    value.
    """
    width = np.maximum(high - low + 1, 0)
    start = 0
    while start < low.size:
        cumulative = np.cumsum(width[start:])
        stop = start + max(int(np.searchsorted(cumulative, BATCH, side="right")), 1)
        batch = width[start:stop]
        number = np.repeat(np.arange(batch.size), batch)
        offset = np.arange(number.size) - np.repeat(np.cumsum(batch) - batch, batch)
        yield slice(start, stop), number, low[start:stop][number] + offset
        start = stop


def _sum_by_range(values: Array, number: Array, ranges: slice) -> Array:
    return np.bincount(number, values, minlength=ranges.stop - ranges.start)


def _cumulate_from_end(values: Array, number: Array) -> Array:
    """Sum each value and those after it in its range."""
    from_end: Array = np.r_[np.cumsum(values[::-1])[::-1], 0.0]
    later_ranges: Array = from_end[np.searchsorted(number, number, side="right")]
    return from_end[:-1] - later_ranges


def check_integer_counts(counts: Counts) -> None:
    """Raise if rows have float weights: ranks count rows."""
    check_counts(counts)
    counts._check_nonempty()
    if not counts._has_integer_counts:
        raise InputError(
            "PULP and averages over all ranks count rows, but these rows have float weights. "
            "Omit the weights, or pass integers."
        )
