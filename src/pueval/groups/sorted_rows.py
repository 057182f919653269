"""Rows of many groups, sorted by group and score in one pass, on all cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.samples.sample import EMPTY, make_sample, make_weighted_sample

# Rows and groups of a block. Blocks are sorted apart, each by one thread; codes of so few groups
# are sorted by counting.
BLOCK_ROWS = 250_000
BLOCK_GROUPS = 60_000


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of neighboring groups, sorted by group, and by descending score within.

    Attributes
    ----------
    first : int
        The code of its first group.
    n_groups : int
        How many groups it has.
    group : ndarray
        Group of each row, counted from ``first``.
    score : ndarray
        Descending within a group.
    kind : ndarray
        0 labeled, 1 unlabeled, 2 known negative.
    sample_weight : ndarray or None
        Weights of the rows.
    """

    first: int
    n_groups: int
    group: Array
    score: Array
    kind: Array
    sample_weight: Array | None

    @cached_property
    def starts(self) -> Array:
        """First row of each group, and the number of rows at the end."""
        return np.searchsorted(self.group, np.arange(self.n_groups + 1))

    def sums(self, kind: int, values: Array | None = None) -> Array:
        """Sum over the rows of one kind, by group: weights, or some other values."""
        mine = self.kind == kind
        if values is None:
            values = self.sample_weight
        if values is None:
            return np.bincount(self.group[mine], minlength=self.n_groups)
        total = np.bincount(self.group[mine], values[mine], minlength=self.n_groups)
        return total if values.dtype.kind == "f" else np.round(total).astype(np.int64)

    @property
    def weighted(self) -> bool:
        """Whether rows have float weights."""
        return self.sample_weight is not None and self.sample_weight.dtype.kind == "f"

    @property
    def squared(self) -> Block:
        """The same rows with their squared weights; as they are if every row counts once."""
        return self._squared if self.weighted else self

    @cached_property
    def _squared(self) -> Block:
        assert self.sample_weight is not None  # noqa: S101 - for the type checker; there are weights
        return replace(self, sample_weight=np.square(self.sample_weight))

    def beyond(self, threshold: float) -> tuple[Array, Array, Array]:
        """Weight of the rows of each kind at or above a threshold, by group."""
        # As an array: a Python float would be rounded to the type of the scores.
        rows = self.score >= np.array([threshold])
        ones = (
            rows.astype(np.int64)
            if self.sample_weight is None
            else np.where(rows, self.sample_weight, 0)
        )
        return self.sums(0, ones), self.sums(1, ones), self.sums(2, ones)

    def part(self, groups: Array) -> Block:
        """Return the rows of some groups, given in ascending order, which are numbered anew."""
        if groups.size == self.n_groups:
            return self
        number = np.full(self.n_groups, -1)
        number[groups] = np.arange(groups.size)
        rows = number[self.group] >= 0
        sample_weight = None if self.sample_weight is None else self.sample_weight[rows]
        return Block(
            self.first,
            groups.size,
            number[self.group[rows]],
            self.score[rows],
            self.kind[rows],
            sample_weight,
        )

    def counts(self, group: int) -> Counts:
        """Return the Counts of one group."""
        rows = slice(self.starts[group], self.starts[group + 1])
        score, kind = self.score[rows], self.kind[rows]
        sample_weight = None if self.sample_weight is None else self.sample_weight[rows]
        samples = []
        for one in range(3):
            mine = kind == one
            if not mine.any():
                samples.append(EMPTY)
            elif sample_weight is None:
                samples.append(make_sample(score[mine]))
            else:
                samples.append(make_weighted_sample(score[mine], sample_weight[mine]))
        return Counts(*samples)


def divide(code: Array, n_groups: int) -> list[tuple[int, int, Array]]:
    """Divide groups into blocks; return first group, number of groups and rows of each."""
    size = np.bincount(code, minlength=n_groups)
    edges = list(_edges(size))
    if len(edges) == 1:
        return [(0, n_groups, np.arange(code.size))]
    of_group = np.repeat(
        np.arange(len(edges), dtype=np.uint16 if len(edges) < 2**16 else np.int64),
        [last - first for first, last in edges],
    )
    # Few different small numbers: sorted by counting.
    order = np.argsort(of_group[code], kind="stable")
    ends = np.cumsum([size[first:last].sum() for first, last in edges])
    return [
        (first, last - first, rows)
        for (first, last), rows in zip(edges, np.split(order, ends[:-1]), strict=True)
    ]


def _edges(size: Array) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups with about `BLOCK_ROWS` rows together."""
    first, rows = 0, 0
    for group, count in enumerate(size.tolist()):
        if group > first and (rows + count > BLOCK_ROWS or group - first >= BLOCK_GROUPS):
            yield first, group
            first, rows = group, 0
        rows += count
    yield first, size.size


def sort_block(
    first: int,
    n_groups: int,
    rows: Array,
    code: Array,
    score: Array,
    kind: Array,
    sample_weight: Array | None,
) -> Block:
    """Sort the rows of one block."""
    group = (code[rows] - first).astype(np.uint16)
    mine = score[rows]
    by_score = np.argsort(-mine)
    order = by_score[np.argsort(group[by_score], kind="stable")]
    rows = rows[order]
    return Block(
        first,
        n_groups,
        group[order].astype(np.intp),
        mine[order],
        kind[rows],
        None if sample_weight is None else sample_weight[rows],
    )
