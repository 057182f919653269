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
    one_column,
)
from pueval.sources.cluster_lines import ClusterLines
from pueval.sources.group_codes import encode_groups
from pueval.sources.labels import LabelValues


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
    check_same_order({"y": y, "cluster": cluster})
    kind = label_kinds(y, labels)
    weight = None
    if sample_weight is not None:
        weight = as_weights(one_column(sample_weight, "sample_weight"))
    clusters = Clusters.read(cluster, kind, weight)
    if clusters.are_single_rows:
        return None
    scores = as_scores(one_column(score, "score"))
    rows = used_rows(scores, weight)
    represented = None
    if propensity is not None:
        labeled = clusters.kind == 0
        inverse = used_rows(np.asarray(one_column(propensity, "propensity")), weight)
        represented = np.zeros(rows.size)
        represented[labeled] = 1 / inverse[labeled].astype(np.float64)
        if clusters.weight is not None:
            represented *= clusters.weight
    # Rows stay as they are if the caller changes the scores.
    return clusters.with_score(rows.copy() if rows is score else rows, represented)


def clusters_of_lines(lines: ClusterLines) -> ClusterRows | None:
    """Return the clusters of counted rows; None if every row is a cluster of its own."""
    if lines.numbers is None:
        clusters = Clusters.read(lines.cluster, lines.kind, lines.weight)
        single = clusters.are_single_rows
    else:
        assert lines.weight is not None  # noqa: S101 - lines count rows
        n_clusters, n_labeled_clusters, single = lines.numbers
        code = encode_groups(lines.cluster, lines.kind.size, "cluster").code
        clusters = Clusters.of_groups(
            merge_clusters(code, int(code.max()) + 1).group,
            lines.kind,
            lines.weight,
            n_clusters=n_clusters,
            n_labeled_clusters=n_labeled_clusters,
        )
    return None if single else clusters.with_score(used_rows(lines.score, lines.weight))
