"""Sums of what rows do to the estimates of several models: of products, and over clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from pueval._typing import Array
from pueval.comparison.paired_rows import PairedRows
from pueval.core.cluster_table import (
    label_count_effect,
    leverage_constants,
    prevalence_influences,
)
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.samples.threads import map_in_threads

# From a kind of rows and positions in ``PairedRows.scores`` to influences of these rows on some
# estimates, of shape (…, estimates, rows).
Influences = Callable[[int, Array], Array]


def sum_products(rows: PairedRows, influences: Influences, kind: int) -> Array:
    """Sum the products of influences on every two estimates over the rows of a kind."""
    places, weight = rows.positions[kind], rows.variance_weight
    variance_weight = None if weight is None else weight[rows.numbers[kind]]

    def products(part: slice) -> Array:
        values = influences(kind, places[part])
        weighted = values if variance_weight is None else values * variance_weight[part]
        product: Array = weighted @ np.swapaxes(values, -1, -2)
        return product

    return sum(map_in_threads(products, rows.chunks(kind)), np.zeros(()))


def cluster_sums(rows: PairedRows, influences: Influences, shape: tuple[int, ...]) -> Array:
    """Sum influences of rows within groups of clusters, one array by kind of rows.

    Parameters
    ----------
    rows : PairedRows
        Rows with clusters.
    influences : callable
        From a kind of rows and their positions to the influences of these rows, an array of
        ``shape`` with one more axis for the rows. Their mean over the rows of a kind is zero.
    shape : tuple of int
        Shape of the influences of one row.

    Returns
    -------
    ndarray of shape (3, *shape, groups)
        Sums of weighted influences, divided by the weight of the kind, times the leverage
        constants of `pueval.core.cluster_table`. Squares of their sums over kinds add up to
        variances.
    """
    assert rows.clusters is not None  # noqa: S101 - only called with clusters
    n_groups, n_values = rows.clusters.partitions[0].n_groups, int(np.prod(shape))
    constants = leverage_constants(rows.clusters.group_sizes[0])
    sums = np.zeros((3, n_values, n_groups))

    def add(kind: int, part: slice) -> Array:
        where = rows.positions[kind][part]
        group = rows.group_of(where)
        values = influences(kind, where).reshape(n_values, where.size)
        if rows.sample_weight is not None:
            values = values * rows.sample_weight[rows.numbers[kind]][part]
        return np.stack([np.bincount(group, value, n_groups) for value in values])

    for kind, total in enumerate(rows.weight_by_kind):
        if total:
            parts = map_in_threads(partial(add, kind), rows.chunks(kind))
            sums[kind] = sum(parts, np.zeros(())) * (constants[kind] / total)
    return sums.reshape(3, *shape, n_groups)


def prevalence_sums(rows: PairedRows, mixture: Mixture) -> Array:
    """Return what each group of clusters adds to the error of the prevalence."""
    assert rows.clusters is not None  # noqa: S101 - only called with clusters
    sizes = rows.clusters.group_sizes[0]
    constants = leverage_constants(sizes.sum(axis=0, keepdims=True))[0]
    sums: Array = constants * (prevalence_influences(mixture, rows.counts[0]) @ sizes)
    return sums


def prevalence_error(mixture: Mixture, counts: Counts) -> float:
    """Return the standard error of the prevalence, also if rows belong together."""
    error = mixture.prevalence_standard_error(counts)
    return error * float(np.sqrt(label_count_effect(counts)))
