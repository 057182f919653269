"""Labeled rows among the top k rows of a ranking, for every k.

Rows with the same score have no order. Inside a tie, a value is therefore the mean over all orders
of the tied rows, and results do not depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.ranking._hypergeometric import LogFactorials, hypergeometric_moments

# Probabilities more than this many standard deviations (plus this many rows) from the mean are
# below 1e-20 and ignored.
STANDARD_DEVIATIONS = 10.0
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
        labeled, size = _ties(counts)
        self.rows = int(size.sum())
        self.labeled = int(labeled.sum())
        self.k = np.arange(1, self.rows + 1)
        tie = np.repeat(np.arange(size.size), size)
        self.tie_labeled, self.tie_size = labeled[tie], size[tie]
        #: Labeled rows above the tie of the k-th row, and rows of the tie among the top k.
        self.hits_above_tie = (np.cumsum(labeled) - labeled)[tie]
        self.k_in_tie = self.k - (np.cumsum(size) - size)[tie]

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

    @cached_property
    def factorials(self) -> LogFactorials:
        """Logarithms of factorials up to N."""
        return LogFactorials(self.rows)

    def mean(self, values: Array) -> float:
        """Average over k = 0, 1, …, N; at k = 0 every measure is 0."""
        return float(values.sum() / (self.rows + 1))

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
        pmf = self.factorials.pmf
        change = -pmf(hits - 1, n, t, k - 1) * (t - hits + 1) / (n - k + 1)
        ends = np.flatnonzero((self.k_in_tie == self.tie_size) & (self.tie_labeled > 0))
        last_hit = hits[ends] + self.tie_labeled[ends] - 1
        for ranges, number, hit in _concatenate_ranges(hits[ends], last_hit):
            terms = pmf(hit, n, t, k[ends[ranges]][number])
            change[ends[ranges]] += _sum_by_range(terms, number, ranges)
        values = np.cumsum(change)

        # Inside a mixed tie, add P(X = hits + i − 1) · P(at least i hits in the tie so far).
        mixed = self.in_mixed_tie
        if mixed.size:
            mean, variance = hypergeometric_moments(n, t, k[mixed])
            half_width = STANDARD_DEVIATIONS * np.sqrt(variance) + STANDARD_DEVIATIONS
            _, high = self._hits_in_tie_range(mixed)
            low = np.maximum(np.floor(mean - half_width).astype(np.int64) - hits[mixed] + 1, 1)
            low = np.where(mean + half_width < hits[mixed], high + 1, low)
            for ranges, number, tie_hits in _concatenate_ranges(low, high):
                index = mixed[ranges][number]
                at_least = _cumulate_from_end(self._tie_pmf(tie_hits, index), number)
                terms = pmf(hits[index] + tie_hits - 1, n, t, k[index]) * at_least
                values[mixed[ranges]] += _sum_by_range(terms, number, ranges)
        return values.clip(0.0, 1.0)


def _ties(counts: Counts) -> tuple[Array, Array]:
    """Return the labeled rows and all rows of each tie, best first; split all-labeled ties."""
    labeled = counts.labeled.astype(np.int64)
    size = labeled + counts.unlabeled.astype(np.int64) + counts.negative.astype(np.int64)
    all_labeled = labeled == size
    repeats = np.where(all_labeled, size, 1)
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
    counts._check_nonempty()
    if not counts._has_integer_counts:
        raise InputError(
            "PULP and averages over all ranks count rows, but these rows have float weights. "
            "Omit the weights, or pass integers."
        )
