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
from pueval.sources.group_codes import encode_groups

# With fewer clusters, of labeled or of other rows, there is no confidence interval.
LEAST_CLUSTERS = 10
# Rows that are counted at a time.
CHUNK = 1_000_000
# Bins in which scores are looked up.
GRID = 2**16
# Random seed of the merging, so that the same rows always have the same intervals.
MERGING_SEED = 20


class Partition(NamedTuple):
    """A division of the rows into groups that are independent, and its sign in a variance.

    ``group`` is the number of the group of each row, below ``n_groups``.
    """

    sign: int
    n_groups: int
    group: Array


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
    n_labeled_clusters, n_background_clusters : int
        Number of clusters with labeled rows, and with other rows, likewise; if clusters are
        merged, the latter is that of groups.
    """

    ways: int
    partitions: tuple[Partition, ...]
    kind: Array
    weight: Array | None
    n_clusters: int
    n_labeled_clusters: int
    n_background_clusters: int

    @classmethod
    def read(cls, cluster: Any, kind: Array, weight: Array | None) -> Clusters:
        """Read one column of clusters, or two in a list or tuple, for rows of these kinds.

        Rows of weight zero are left out: see `used`.
        """
        columns = [*cluster] if _has_two_columns(cluster) else [cluster]
        names = ["cluster"] if len(columns) == 1 else ["cluster[0]", "cluster[1]"]
        codes = [
            encode_groups(column, kind.size, name).code
            for column, name in zip(columns, names, strict=True)
        ]
        if weight is not None and not weight.all():
            used = weight > 0
            kind, weight, codes = kind[used], weight[used], [code[used] for code in codes]
            codes = [np.unique(code, return_inverse=True)[1] for code in codes]
        sizes = [int(code.max(initial=-1)) + 1 for code in codes]
        partitions = [
            merge_clusters(code, size, 1, way)
            for way, (code, size) in enumerate(zip(codes, sizes, strict=True))
        ]
        if len(codes) == 2:
            both = np.unique(codes[0].astype(np.int64) * sizes[1] + codes[1], return_inverse=True)
            partitions.append(merge_clusters(both[1], both[0].size, -1, 2))
        labeled = np.flatnonzero(kind == 0)
        seen = [
            _count_distinct(code[labeled], size) for code, size in zip(codes, sizes, strict=True)
        ]
        clusters = cls(
            len(codes), tuple(partitions), kind.astype(np.int8), weight, min(sizes), min(seen), 0
        )
        # Of merged clusters it is a lower bound, which is enough: there are many.
        background = (
            int(np.count_nonzero(sizes[1] + sizes[2]))
            for sizes in clusters.group_sizes[: len(codes)]
        )
        return replace(clusters, n_background_clusters=min(background))

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
        partition = Partition(1, used.size, code.astype(np.int32))
        clusters = cls(
            1, (partition,), kind.astype(np.int8), count, n_clusters, n_labeled_clusters, 0
        )
        sizes = clusters.group_sizes[0]
        n_background = int(np.count_nonzero(sizes[1] + sizes[2]))
        return replace(clusters, n_background_clusters=n_background)

    @property
    def are_single_rows(self) -> bool:
        """Whether every row is a cluster of its own, so that rows are independent."""
        single = self.n_clusters == self.kind.size
        return single and (self.weight is None or self.weight.dtype.kind == "f")

    @cached_property
    def group_sizes(self) -> tuple[Array, ...]:
        """Weight of labeled, unlabeled and negative rows (3 lines) by group, of each partition."""

        def count(start: int) -> list[Array]:
            rows = slice(start, start + CHUNK)
            weight = None if self.weight is None else self.weight[rows]
            return [
                np.bincount(
                    np.multiply(self.kind[rows], n_groups, dtype=np.int64) + group[rows],
                    weight,
                    3 * n_groups,
                ).reshape(3, n_groups)
                for _, n_groups, group in self.partitions
            ]

        parts = map_in_threads(count, range(0, max(self.kind.size, 1), CHUNK))
        return tuple(sum(tables, np.zeros(())) for tables in zip(*parts, strict=True))

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
                return (
                    f"there are no confidence intervals: only {number} clusters have {rows}, and "
                    f"fewer than {LEAST_CLUSTERS} do not show how much clusters vary."
                )
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
            partitions.append(Partition(sign, max(used.size, 1), code.astype(np.int32)))
            if sign > 0:
                kind = self.kind[rows]
                seen = [_count_distinct(code[of], used.size) for of in (kind == 0, kind != 0)]
                counts.append((used.size, *seen))
        weight = None if self.weight is None else self.weight[rows]
        return replace(
            self,
            partitions=tuple(partitions),
            kind=self.kind[rows],
            weight=weight,
            n_clusters=min(number for number, _, _ in counts),
            n_labeled_clusters=min(number for _, number, _ in counts),
            n_background_clusters=min(number for _, _, number in counts),
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

    def cells(self, thresholds: Array) -> list[Array]:
        """Count rows by kind, group and cell between descending thresholds, for each partition.

        Returns
        -------
        list of ndarray of shape (3, groups, cells)
            A fourth line has the represented positives, if propensities are known.
        """
        clusters, m = self.clusters, thresholds.size
        lookup = _ThresholdLookup.of(thresholds[::-1])
        n_groups = [partition.n_groups for partition in clusters.partitions]

        def count(start: int) -> list[Array]:
            rows = slice(start, start + CHUNK)
            place = lookup(self.score[rows])
            weight = None if clusters.weight is None else clusters.weight[rows]
            tables = []
            for _, size, group in clusters.partitions:
                key = np.multiply(clusters.kind[rows], size, dtype=np.int64)
                key += group[rows]
                key *= m
                key += m
                key -= place
                table = np.bincount(key, weight, 3 * size * m).reshape(3, size, m)
                if self.represented is not None:
                    key = group[rows] * np.int64(m) + (m - place)
                    positives = np.bincount(key, self.represented[rows], size * m)
                    table = np.concatenate([table, positives.reshape(1, size, m)])
                tables.append(table)
            return tables

        totals: list[Any] = [0] * len(n_groups)
        for tables in map_in_threads(count, range(0, self.score.size, CHUNK)):
            totals = [total + table for total, table in zip(totals, tables, strict=True)]
        return [np.asarray(total, np.float64) for total in totals]


class _ThresholdLookup(NamedTuple):
    """Finds how many ascending thresholds are at or below scores, faster than a binary search.

    Scores are mapped to the bins of an even grid. A bin without a threshold in it has one answer
    for all of its scores; only scores in other bins are searched for.
    """

    ascending: Array
    lowest: float
    scale: float
    number: Array
    searched: Array

    @classmethod
    def of(cls, thresholds: Array) -> _ThresholdLookup:
        """Divide the range of the finite thresholds into bins."""
        finite = thresholds[np.isfinite(thresholds)]
        lowest, width = (finite[0], finite[-1] - finite[0]) if finite.size else (0.0, 0.0)
        scale = (GRID - 2) / width if width > 0 else 1.0
        if not math.isfinite(scale * width):
            scale = 0.0
        empty = cls(finite, float(lowest), float(scale), np.empty(0), np.empty(0))
        per_bin = np.bincount(empty.bins(finite), minlength=GRID)
        return empty._replace(number=np.cumsum(per_bin), searched=per_bin > 0)

    def bins(self, score: Array) -> Array:
        """Return the bins of scores, which do not fall as scores rise."""
        with np.errstate(over="ignore"):
            place = (score.astype(np.float64) - self.lowest) * self.scale + 1
        return np.clip(place, 0, GRID - 1, out=place).astype(np.int32)

    def __call__(self, score: Array) -> Array:
        """Return the number of thresholds at or below each score."""
        bins = self.bins(score)
        place = self.number[bins]
        where = np.flatnonzero(self.searched[bins])
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


def merge_clusters(code: Array, n_clusters: int, sign: int = 1, way: int = 0) -> Partition:
    """Merge clusters at random, as many into each group."""
    if n_clusters <= MOST_GROUPS:
        return Partition(sign, n_clusters, code.astype(np.int32))
    order = np.random.default_rng([MERGING_SEED, way]).permutation(n_clusters)
    table, group = (order % MOST_GROUPS).astype(np.int32), np.empty(code.size, dtype=np.int32)

    def merge(start: int) -> None:
        rows = slice(start, start + CHUNK)
        np.take(table, code[rows], out=group[rows], mode="clip")

    map_in_threads(merge, range(0, code.size, CHUNK))
    return Partition(sign, MOST_GROUPS, group)


def _count_distinct(code: Array, size: int) -> int:
    seen = np.zeros(size, dtype=bool)
    seen[code] = True
    return int(np.count_nonzero(seen))
