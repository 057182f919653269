"""Clusters: rows that belong together, such as the visits of a patient or the purchases of a card.

Many clusters are merged at random into `MOST_GROUPS` groups. Clusters are independent, so the sums
over random groups of them are, too, and have the same variance in total. An estimate of a variance
from G groups has a relative error of about √(2/G), and everything that is computed from clusters
needs no more than the number of rows of each kind by group and score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.threads import map_in_threads
from pueval.sources.cluster_lines import MOST_GROUPS
from pueval.sources.group_codes import number_groups

# With fewer clusters, of labeled or of other rows, there is no confidence interval.
LEAST_CLUSTERS = 10
# Rows that are counted at a time.
CHUNK = 1_000_000
# Rows whose numbers are computed at a time: their arrays stay in the cache of a core.
BLOCK = 131_072
# Labeled, unlabeled and known negative rows.
KINDS = 3
# Bins in which scores are looked up.
GRID = 2**16
# Random seed of the merging, so that the same rows always have the same intervals.
MERGING_SEED = 20


class Partition(NamedTuple):
    """A division of the rows into groups that are independent, and its sign in a variance.

    ``group`` is the number of the group of each row, below ``n_groups``, in the smallest type that
    also holds the `lines`.
    """

    sign: int
    n_groups: int
    group: Array

    @classmethod
    def of(cls, sign: int, n_groups: int, group: Array) -> Partition:
        """Store the groups in the smallest type."""
        return cls(sign, n_groups, group.astype(_line_type(n_groups), copy=False))

    def lines(self, kind: Array, rows: slice) -> Array:
        """Return a number for the kind and group of some rows: kind · n_groups + group."""
        line = np.multiply(kind[rows], self.n_groups, dtype=self.group.dtype)
        line += self.group[rows]
        return line

    def keys(self, kind: Array, rows: slice, place: Array, n_cells: int) -> Array:
        """Return a number for the kind, group and cell of some rows: line · n_cells + place."""
        key = np.empty(place.size, dtype=np.intp)
        for first in range(0, place.size, BLOCK):
            block = key[first : first + BLOCK]
            start = rows.start + first
            line = self.lines(kind, slice(start, start + block.size))
            np.multiply(line, np.intp(n_cells), out=block, dtype=np.intp)
            block += place[first : first + BLOCK]
        return key


def _line_type(n_groups: int) -> type[np.signedinteger[Any]]:
    return np.int16 if KINDS * n_groups < 2**15 else np.int32


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which rows belong together.

    Attributes
    ----------
    ways : int
        1, or 2 if rows belong to two clusters each, such as a user and an item.
    partitions : tuple of Partition
        The groups. With two ways, a variance is that of the first, plus that of the second, minus
        that of rows that share both.
    kind : ndarray of int
        0 for labeled, 1 for unlabeled and 2 for known negative rows.
    weight : ndarray or None
        Weight of each row; integers are frequency weights.
    n_clusters : int
        Number of clusters; the smaller number, with two ways.
    n_labeled_clusters : int
        Number of clusters with labeled rows, likewise.
    """

    ways: int
    partitions: tuple[Partition, ...]
    kind: Array
    weight: Array | None
    n_clusters: int
    n_labeled_clusters: int

    @classmethod
    def read(cls, cluster: Any, kind: Array, weight: Array | None) -> Clusters:
        """Read one column of clusters, or two in a list or tuple, for rows of these kinds.

        Rows of weight zero are left out: see `used`.
        """
        columns = [*cluster] if _has_two_columns(cluster) else [cluster]
        names = ["cluster"] if len(columns) == 1 else ["cluster[0]", "cluster[1]"]
        codes = [
            number_groups(column, kind.size, name)
            for column, name in zip(columns, names, strict=True)
        ]
        if weight is not None and not weight.all():
            rows = weight > 0
            kind, weight = kind[rows], weight[rows]
            codes = [(code[rows], np.unique(code[rows])) for code, _ in codes]
        partitions = [merge_clusters(code, used, 1, way) for way, (code, used) in enumerate(codes)]
        if len(codes) == 2:
            (first, _), (second, used) = codes
            pairs = first.astype(np.int64) * (int(used.max(initial=-1)) + 1) + second
            both, code = np.unique(pairs, return_inverse=True)
            partitions.append(merge_clusters(code, np.arange(both.size), -1, 2))
        sizes = [used.size for _, used in codes]
        seen = [_count_labeled(code, used, kind) for code, used in codes]
        return cls(
            len(codes),
            tuple(partitions),
            kind.astype(np.int8, copy=False),
            weight,
            min(sizes),
            min(seen),
        )

    @classmethod
    def of_groups(
        cls, group: Array, kind: Array, count: Array, *, n_clusters: int, n_labeled_clusters: int
    ) -> Clusters:
        """Take rows that an engine has counted by group, kind and score.

        An engine needs one group-by, by hash(cluster) % `MOST_GROUPS`, label and score (or its
        bin), and two numbers of distinct clusters.

        Parameters
        ----------
        group : ndarray
            Number of the group, below `MOST_GROUPS`, one entry for each line of the table.
        kind : ndarray
            0 for labeled, 1 for unlabeled and 2 for known negative rows.
        count : ndarray
            Number of rows.
        n_clusters, n_labeled_clusters : int
            Number of clusters, and of those with labeled rows.

        Returns
        -------
        Clusters
            ``with_score`` adds the scores of the lines.
        """
        used, code = np.unique(group, return_inverse=True)
        partition = Partition.of(1, used.size, code)
        return cls(1, (partition,), kind.astype(np.int8), count, n_clusters, n_labeled_clusters)

    @property
    def are_single_rows(self) -> bool:
        """Whether every row is a cluster of its own, so that rows are independent."""
        single = self.n_clusters == self.kind.size
        return single and (self.weight is None or self.weight.dtype.kind == "f")

    @property
    def are_merged(self) -> bool:
        """Whether groups are several clusters each."""
        return self.partitions[0].n_groups < self.n_clusters

    @cached_property
    def group_sizes(self) -> tuple[Array, ...]:
        """Weight of labeled, unlabeled and negative rows (3 lines) by group, of each partition."""

        def count(start: int) -> list[Array]:
            rows = slice(start, start + BLOCK)
            weight = None if self.weight is None else self.weight[rows]
            return [
                np.bincount(
                    partition.lines(self.kind, rows), weight, KINDS * partition.n_groups
                ).reshape(KINDS, partition.n_groups)
                for partition in self.partitions
            ]

        parts = map_in_threads(count, range(0, max(self.kind.size, 1), BLOCK))
        return tuple(sum(tables, np.zeros(())) for tables in zip(*parts, strict=True))

    @property
    def n_background_clusters(self) -> int:
        """Number of clusters with rows that are not labeled; of groups, if clusters are merged.

        The latter is a lower bound, which is enough: there are many.
        """
        return min(
            int(np.count_nonzero(sizes[1] + sizes[2])) for sizes in self.group_sizes[: self.ways]
        )

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of a variance by clusters."""
        return clusters_freedom(self.group_sizes[: self.ways])

    @property
    def missing_reason(self) -> str | None:
        """Why there are no confidence intervals; None if there are."""
        for number, rows in (
            (self.n_labeled_clusters, "labeled rows"),
            (self.n_background_clusters, "unlabeled or known negative rows"),
        ):
            if number < LEAST_CLUSTERS:
                return f"there are no confidence intervals: {too_few_text(number, rows)}"
        return None

    def with_score(self, score: Array, represented: Array | None = None) -> ClusterRows:
        """Return the rows with their scores, in the order in which they were given.

        ``represented`` is the number of positives that each row represents, if propensities are
        known.
        """
        return ClusterRows(self, score, represented)

    def select(self, rows: Array) -> Clusters:
        """Return the clusters of some of the rows, given by their positions."""
        partitions, counts = [], []
        for sign, _, group in self.partitions:
            used, code = np.unique(group[rows], return_inverse=True)
            partitions.append(Partition.of(sign, max(used.size, 1), code))
            if sign > 0:
                n_labeled = _count_labeled(code, np.arange(used.size), self.kind[rows])
                counts.append((used.size, n_labeled))
        weight = None if self.weight is None else self.weight[rows]
        return replace(
            self,
            partitions=tuple(partitions),
            kind=self.kind[rows],
            weight=weight,
            n_clusters=min(number for number, _ in counts),
            n_labeled_clusters=min(number for _, number in counts),
        )


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Rows with a score that belong to clusters.

    Attributes
    ----------
    clusters : Clusters
        Which rows belong together.
    score : ndarray
        Score of each row.
    represented : ndarray or None
        Number of positives that each row represents, if propensities are known; 0 for rows that
        are not labeled.
    inflation : float
        Factor by which another dependence, such as that of folds, increases variances.
    """

    clusters: Clusters
    score: Array
    represented: Array | None = None
    inflation: float = 1.0
    # Tables of recent thresholds, which several intervals need.
    _recent: dict[bytes, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table out of pickles: the same can be made again."""
        return vars(self) | {"_recent": {}}

    def sorted_lines(self) -> list[Array]:
        """Return kind, score, weight and groups of the rows, in an order of their own."""
        clusters, size = self.clusters, self.score.size
        weight = np.ones(size) if clusters.weight is None else clusters.weight
        represented = np.zeros(size) if self.represented is None else self.represented
        group = np.stack([partition.group for partition in clusters.partitions])
        columns = [clusters.kind, self.score, weight, represented, *group]
        order = np.lexsort(columns)
        return [*(column[order] for column in columns[:4]), group[:, order]]

    def cells(self, thresholds: Array) -> list[Array]:
        """Count rows by kind, group and cell between descending thresholds, for each partition.

        Returns
        -------
        list of ndarray of shape (3, groups, cells)
            A fourth line has the represented positives, if propensities are known.
        """
        clusters, m = self.clusters, thresholds.size
        lookup = _ThresholdLookup.of(thresholds[::-1])

        def cell(start: int, stop: int) -> Array:
            """Return the number of each row's cell, block by block: small arrays stay in cache."""
            place = np.empty(stop - start, dtype=np.int32)
            for first in range(0, place.size, BLOCK):
                block = slice(first, first + BLOCK)
                np.subtract(m, lookup(self.score[start:stop][block]), out=place[block])
            return place

        def count(start: int) -> list[Array]:
            rows = slice(start, min(start + CHUNK, self.score.size))
            place = cell(rows.start, rows.stop)
            weight = None if clusters.weight is None else clusters.weight[rows]
            tables = []
            for partition in clusters.partitions:
                _, size, group = partition
                key = partition.keys(clusters.kind, rows, place, m)
                table = np.bincount(key, weight, KINDS * size * m)
                table = table.reshape(KINDS, size, m)
                if self.represented is not None:
                    key = group[rows] * np.intp(m) + place
                    positives = np.bincount(key, self.represented[rows], size * m)
                    table = np.concatenate([table, positives.reshape(1, size, m)])
                tables.append(table)
            return tables

        totals, *others = map_in_threads(count, range(0, max(self.score.size, 1), CHUNK))
        for tables in others:
            for total, table in zip(totals, tables, strict=True):
                np.add(total, table, out=total)
        return [np.asarray(total, np.float64) for total in totals]


class _ThresholdLookup(NamedTuple):
    """Finds how many ascending thresholds are at or below scores, faster than a binary search.

    Scores are mapped to the bins of an even grid. A bin without a threshold in it has one answer
    for all of its scores; only scores in other bins are searched for.
    """

    ascending: Array
    lowest: float
    scale: float
    number: Array  # -1 for bins whose scores are searched for

    @classmethod
    def of(cls, thresholds: Array) -> _ThresholdLookup:
        """Divide the range of the finite thresholds into bins."""
        finite = thresholds[np.isfinite(thresholds)]
        lowest, highest = map(float, (finite[0], finite[-1]) if finite.size else (0.0, 0.0))
        width = highest - lowest
        scale = (GRID - 2) / width if width > 0 else 1.0
        if not math.isfinite(scale * width):  # a single bin
            lowest = scale = 0.0
        empty = cls(finite, lowest, scale, np.empty(0))
        per_bin = np.bincount(empty.bins(finite), minlength=GRID)
        number = np.where(per_bin > 0, -1, np.cumsum(per_bin)).astype(np.int32)
        return empty._replace(number=number)

    def bins(self, score: Array) -> Array:
        """Return the bins of scores, which do not fall as scores rise."""
        with np.errstate(over="ignore"):
            place = np.subtract(score, self.lowest, dtype=np.float64)
            place *= self.scale
            place += 1
        return np.clip(place, 0, GRID - 1, out=place).astype(np.int32)

    def __call__(self, score: Array) -> Array:
        """Return the number of thresholds at or below each score."""
        # Faster than an index; all bins are within bounds.
        place = np.take(self.number, self.bins(score), mode="clip")
        where = np.flatnonzero(place < 0)
        place[where] = np.searchsorted(self.ascending, score[where], side="right")
        return place


def average_clusters(repeats: list[ClusterRows]) -> ClusterRows:
    """Return the rows of several scorings of the same rows, each with an equal part of the weight.

    A row, and so its cluster, has a score in each of the repeats.
    """
    first, n = repeats[0], len(repeats)
    clusters = first.clusters
    weight = np.ones(clusters.kind.size) if clusters.weight is None else clusters.weight
    represented = None
    if first.represented is not None:
        represented = np.tile(first.represented / n, n)
    tiled = replace(
        clusters,
        partitions=tuple(
            partition._replace(group=np.tile(partition.group, n))
            for partition in clusters.partitions
        ),
        kind=np.tile(clusters.kind, n),
        weight=np.tile(weight / n, n),
    )
    return ClusterRows(tiled, np.concatenate([rows.score for rows in repeats]), represented)


def describe_number(n_clusters: int) -> str:
    """Return a number of clusters in words: "1 cluster", "1,200 clusters"."""
    return f"{n_clusters:,} cluster" + ("" if n_clusters == 1 else "s")


def too_few_text(n_clusters: int, rows: str) -> str:
    """Say that too few clusters have some rows, such as "labeled rows"."""
    have = "has" if n_clusters == 1 else "have"
    return (
        f"only {describe_number(n_clusters)} {have} {rows}, and fewer than {LEAST_CLUSTERS} do not "
        "show how much clusters vary."
    )


def clusters_freedom(group_sizes: Sequence[Array]) -> float:
    """Return the degrees of freedom of a variance by clusters.

    The smaller one of those of labeled rows and of other rows. ``group_sizes`` has the numbers of
    rows by kind and group, for each way. With many clusters, it is that of the groups.
    """
    numbers = (
        size_freedom(size) for sizes in group_sizes for size in (sizes[0], sizes[1] + sizes[2])
    )
    return max(min(numbers), 1.0)


def size_freedom(size: Array) -> float:
    """Return the effective number of clusters of m rows, (Σm)² / Σm², less 1.

    Unequal clusters count less.
    """
    return float(size.sum() ** 2 / max(np.sum(size**2), 1e-300)) - 1


def used_rows(values: Array, weight: Array | None) -> Array:
    """Return the entries of the rows that have a weight above zero, as in `Clusters.read`."""
    return values if weight is None or weight.all() else values[weight > 0]


def _has_two_columns(cluster: Any) -> bool:
    """Whether the argument is a list or tuple of two columns."""
    if not isinstance(cluster, list | tuple) or not cluster:
        return False
    columns = [hasattr(part, "__len__") and not isinstance(part, str | bytes) for part in cluster]
    if not any(columns):
        return False
    if len(cluster) != 2 or not all(columns):
        raise InputError(
            "cluster must be one column, or a list of two columns for two-way clusters; got a "
            f"list of {len(cluster)} values that are not all names of clusters."
        )
    return True


def merge_clusters(code: Array, used: Array, sign: int = 1, way: int = 0) -> Partition:
    """Merge clusters at random, as many into each group, if there are many of them.

    ``code`` has the cluster of each row, and ``used`` the distinct codes.
    """
    n_groups, group_of_cluster = used.size, np.arange(used.size)
    if n_groups > MOST_GROUPS:
        order = np.random.default_rng([MERGING_SEED, way]).permutation(n_groups)
        n_groups, group_of_cluster = MOST_GROUPS, order % MOST_GROUPS
    # Small types: random access is faster in a smaller table.
    table = np.zeros(int(used.max(initial=-1)) + 1, dtype=_line_type(n_groups))
    table[used] = group_of_cluster
    group = np.empty(code.size, dtype=table.dtype)

    def merge(start: int) -> None:
        rows = slice(start, start + CHUNK)
        np.take(table, code[rows], out=group[rows], mode="clip")

    map_in_threads(merge, range(0, code.size, CHUNK))
    return Partition(sign, n_groups, group)


def _count_labeled(code: Array, used: Array, kind: Array) -> int:
    """Return the number of clusters with labeled rows; arguments as for `merge_clusters`."""
    seen = np.zeros(int(used.max(initial=-1)) + 1, dtype=bool)

    def mark(start: int) -> None:
        rows = slice(start, start + CHUNK)
        seen[code[rows][np.flatnonzero(kind[rows] == 0)]] = True

    map_in_threads(mark, range(0, code.size, CHUNK))
    return int(np.count_nonzero(seen))
