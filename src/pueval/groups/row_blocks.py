"""Rows of many groups, sorted by group and score in blocks, on all cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pueval._progress import progress_bar
from pueval._typing import Array
from pueval.core.sizes import GroupSizes, divide_or_zero
from pueval.counts.clusters import Clusters
from pueval.counts.counts import Counts
from pueval.samples.sample import make_weighted_sample
from pueval.samples.threads import iterate_in_threads
from pueval.sources.arrays import as_scores, as_weights, check_same_order, label_kinds, one_column
from pueval.sources.group_codes import encode_groups
from pueval.sources.labels import LabelValues
from pueval.uncertainty.score_steps import ByKind, ScoreSteps

# Rows and groups of a block. Each block is sorted by one thread; codes of so few groups fit into
# 16 bits and are sorted by counting.
BLOCK_ROWS = 250_000
BLOCK_GROUPS = 60_000


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of neighboring groups, sorted by group, and by descending score within a group.

    Attributes
    ----------
    first : int
        Code of the first group.
    n_groups : int
        Number of groups.
    group : ndarray of int
        Group of each row, counted from ``first``.
    score : ndarray
        Scores, descending within a group.
    kind : ndarray
        0 for labeled, 1 for unlabeled, 2 for known negative rows.
    sample_weight : ndarray or None
        Weights of the rows.
    clusters : Clusters or None
        Clusters of all rows of the data, if rows belong together.
    row : ndarray or None
        Position of each row in these clusters.
    """

    first: int
    n_groups: int
    group: Array
    score: Array
    kind: Array
    sample_weight: Array | None
    clusters: Clusters | None = None
    row: Array | None = None

    @cached_property
    def starts(self) -> Array:
        """First row of each group, followed by the number of rows."""
        return np.searchsorted(self.group, np.arange(self.n_groups + 1))

    def steps(self) -> ScoreSteps:
        """Return the distinct scores of each group with their rows."""
        return ScoreSteps.of_rows(
            self.starts, self.group, self.score, self.kind, self.sample_weight
        )

    def sums(self, kind: int, values: Array | None = None) -> Array:
        """Add up weights, or other values, of the rows of one kind by group."""
        of_kind = self.kind == kind
        if values is None:
            values = self.sample_weight
        if values is None:
            return np.bincount(self.group[of_kind], minlength=self.n_groups)
        total = np.bincount(self.group[of_kind], values[of_kind], minlength=self.n_groups)
        return total if values.dtype.kind == "f" else np.round(total).astype(np.int64)

    @property
    def weighted(self) -> bool:
        """Whether rows have importance weights."""
        return self.sample_weight is not None and self.sample_weight.dtype.kind == "f"

    @cached_property
    def squared(self) -> RowBlock:
        """Rows with squared weights; without importance weights these rows themselves."""
        if self.sample_weight is None or not self.weighted:
            return self
        return replace(self, sample_weight=np.square(self.sample_weight))

    def reached(self, threshold: float) -> ByKind:
        """Return the weight of the rows of each kind at or above a threshold, by group."""
        # An array: NumPy would round a Python float to the type of the scores.
        rows = self.score >= np.array([threshold])
        weight = np.where(rows, 1 if self.sample_weight is None else self.sample_weight, 0)
        return tuple(self.sums(kind, weight) for kind in range(3))

    def part(self, groups: Array) -> RowBlock:
        """Return the rows of some groups, given in ascending order and numbered anew."""
        if groups.size == self.n_groups:
            return self
        number = np.full(self.n_groups, -1)
        number[groups] = np.arange(groups.size)
        rows = number[self.group] >= 0
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        group = number[self.group[rows]]
        row = None if self.row is None else self.row[rows]
        return RowBlock(
            self.first,
            groups.size,
            group,
            self.score[rows],
            self.kind[rows],
            weight,
            self.clusters,
            row,
        )

    def counts(self, group: int) -> Counts:
        """Return the Counts of one group."""
        rows = slice(self.starts[group], self.starts[group + 1])
        samples = []
        for kind in range(3):
            of_kind = self.kind[rows] == kind
            weight = None if self.sample_weight is None else self.sample_weight[rows][of_kind]
            samples.append(make_weighted_sample(self.score[rows][of_kind], weight))
        clusters = None
        if self.clusters is not None and self.row is not None:
            own = self.clusters.select(self.row[rows])
            clusters = None if own.are_single_rows else own.with_score(self.score[rows])
        return Counts(*samples, _clusters=clusters)


def group_counts(blocks: Sequence[RowBlock], group: int) -> Counts:
    """Return the Counts of one group, by its code."""
    first = [block.first for block in blocks]
    block = blocks[int(np.searchsorted(first, group, side="right")) - 1]
    return block.counts(group - block.first)


def read_row_blocks(
    y: Any,
    score: Any,
    by: Any,
    sample_weight: Any,
    labels: LabelValues,
    *,
    progress: bool | None,
    clusters: Clusters | None = None,
) -> tuple[list[RowBlock], list[Any]]:
    """Sort rows by group and score; labels, scores and weights have been checked.

    Returns the blocks and the names of the groups.
    """
    check_same_order({"y": y, "by": by})
    y, score = one_column(y, "y"), as_scores(one_column(score, "score"))
    if sample_weight is not None:
        sample_weight = as_weights(one_column(sample_weight, "sample_weight"))
    kind = label_kinds(y, labels)
    names, code = encode_groups(by, y.size)
    parts = split_into_blocks(code, len(names))

    def sort(part: tuple[int, int, Array]) -> RowBlock:
        first, n_groups, rows = part
        group = (code[rows] - first).astype(np.uint16)
        block_score = score[rows]
        by_score = np.argsort(-block_score)
        order = by_score[np.argsort(group[by_score], kind="stable")]
        rows, group = rows[order], group[order].astype(np.intp)
        weight = None if sample_weight is None else sample_weight[rows]
        kept = None if clusters is None else rows
        return RowBlock(
            first, n_groups, group, block_score[order], kind[rows], weight, clusters, kept
        )

    blocks = []
    with progress_bar("sorting", len(parts), show=progress) as advance:
        for block in iterate_in_threads(sort, parts):
            blocks.append(block)
            advance()
    return blocks, names


def group_sizes(blocks: list[RowBlock]) -> GroupSizes:
    """Return the sizes of all groups."""

    def sums(blocks: list[RowBlock]) -> ByKind:
        return tuple(np.concatenate([block.sums(kind) for block in blocks]) for kind in range(3))

    sizes = sums(blocks)
    squares = sums([block.squared for block in blocks]) if blocks[0].weighted else sizes
    labeled, unlabeled, negative = (
        size * divide_or_zero(size, square) for size, square in zip(sizes, squares, strict=True)
    )
    return GroupSizes(sizes[0], sizes[1], sizes[2], (labeled, unlabeled, negative))


def split_into_blocks(code: Array, n_groups: int) -> list[tuple[int, int, Array]]:
    """Divide groups into blocks; return first group, number of groups and rows of each."""
    size = np.bincount(code, minlength=n_groups)
    edges = list(_edges(size))
    if len(edges) == 1:
        return [(0, n_groups, np.arange(code.size))]
    block_of_group = np.repeat(
        np.arange(len(edges), dtype=np.uint16 if len(edges) < 2**16 else np.int64),
        [last - first for first, last in edges],
    )
    # Few distinct small numbers are sorted by counting.
    order = np.argsort(block_of_group[code], kind="stable")
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
