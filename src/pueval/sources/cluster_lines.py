"""Rows, or lines that count rows, with the clusters they belong to."""

from __future__ import annotations

from typing import Any, NamedTuple

from pueval._typing import Array

# Groups into which clusters are merged, if there are more of them.
MOST_GROUPS = 1000


class ClusterNumbers(NamedTuple):
    """Number of clusters, and of those with labeled rows; whether each of them is one row."""

    n_clusters: int
    n_labeled_clusters: int
    are_single_rows: bool


class ClusterLines(NamedTuple):
    """Rows, or lines that count rows, with the name or the group of their cluster.

    ``kind`` is 0 for labeled, 1 for unlabeled and 2 for known negative rows. ``weight`` is the
    weight of each row, or of the rows of a line. ``numbers`` are those of the rows behind lines.
    """

    kind: Array
    score: Array
    cluster: Any
    weight: Array | None
    numbers: ClusterNumbers | None = None
