"""Clusters of rows that are given as arrays, or counted by an engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval.counts.clusters import ClusterRows, Clusters, merge_clusters, used_rows
from pueval.sources.arrays import (
    as_scores,
    as_weights,
    check_same_order,
    label_kinds,
    owned_column,
)
from pueval.sources.cluster_lines import ClusterLines
from pueval.sources.group_codes import number_groups
from pueval.sources.labels import LabelValues
from pueval.sources.propensities import labeled_propensities


def read_clusters(
    y: Any,
    score: Any,
    cluster: Any,
    labels: LabelValues,
    *,
    sample_weight: Any = None,
    propensity: Any = None,
) -> ClusterRows | None:
    """Read which rows belong together; None if every row is a cluster of its own.

    All other arguments have been checked already.
    """
    columns = {"cluster": cluster}
    if isinstance(cluster, list | tuple) and len(cluster) == 2:
        columns = {f"cluster[{k}]": column for k, column in enumerate(cluster)}
    check_same_order({"y": y} | columns)
    kind = label_kinds(y, labels)
    weight = None
    if sample_weight is not None:
        weight = owned_column(sample_weight, "sample_weight", as_weights)
    clusters = Clusters.read(cluster, kind, weight)
    if clusters.are_single_rows:
        return None
    scores = used_rows(owned_column(score, "score", as_scores), weight)
    represented = None
    if propensity is not None:
        labeled = kind == 0
        represented = np.zeros(kind.size)
        represented[labeled] = 1 / labeled_propensities(propensity, labeled)
        represented = used_rows(represented, weight)
        if clusters.weight is not None:
            represented *= clusters.weight
    return clusters.with_score(scores, represented)


def clusters_of_lines(lines: ClusterLines) -> ClusterRows | None:
    """Return the clusters of counted rows; None if every row is a cluster of its own."""
    if lines.numbers is None:
        clusters = Clusters.read(lines.cluster, lines.kind, lines.weight)
        single = clusters.are_single_rows
    else:
        assert lines.weight is not None  # noqa: S101 - lines count rows
        n_clusters, n_labeled_clusters, single = lines.numbers
        groups = number_groups(lines.cluster, lines.kind.size, "cluster")
        clusters = Clusters.of_groups(
            merge_clusters(*groups).group,
            lines.kind,
            lines.weight,
            n_clusters=n_clusters,
            n_labeled_clusters=n_labeled_clusters,
        )
    return None if single else clusters.with_score(used_rows(lines.score, lines.weight))
