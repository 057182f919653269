"""Cluster bootstrap: draws of whole clusters instead of rows.

Each group of clusters gets a random weight that is Poisson with mean 1, the same for all of its
rows. The numbers of labeled, unlabeled and negative rows vary together, as they do if clusters are
drawn. As far as rows look independent, a part of the draws is of single rows: the variance of all
draws is the mean of both variances.

Of few clusters with labeled rows, some draws have hardly any: see `normalized`.

Two-way clusters cannot be drawn in this way. There the numbers of rows above each threshold are
normal, with the covariance matrix V₁ + V₂ − V₁₂ of Cameron, Gelbach and Miller; negative
eigenvalues, which occur by chance, are set to 0, and the others are scaled to the same sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.core.cluster_table import ClusterTable
from pueval.core.sizes import divide_or_zero

# Smaller parts of a row in a drawn cell are none: they come from leverage constants near 1, and a
# precision above a threshold would divide by them.
LEAST_PART = 0.05


class DrawnClusters(NamedTuple):
    """Rows of drawn clusters.

    ``cells`` are the expected shares of each kind in the cells, and ``shares`` those of each draw,
    as shares of the expected number of rows. ``totals`` are the drawn numbers of rows of each kind,
    and ``represented`` the positives in each cell, if propensities are known.
    """

    cells: list[Array]
    shares: list[Array]
    totals: Array
    represented: Array | None


def draw_clusters(
    table: ClusterTable, pseudo_observation: Array, n_resamples: int, rng: np.random.Generator
) -> DrawnClusters:
    """Draw groups of clusters, and add a pseudo-observation to each kind of rows.

    The pseudo-observation is spread like all rows together. Its weight is that of one independent
    row: the design effect of its kind.
    """
    n_kinds = table.cells[0].shape[0]
    draw = _poisson_draws if len(table.cells) == 1 else _normal_draws
    drawn = draw(table, n_resamples, rng)
    totals = np.stack([drawn[kind].sum(axis=1) for kind in range(3)], axis=1)
    cells, shares = [], []
    represented = drawn[3] if n_kinds == 4 else None
    for kind in range(3):
        total, weight = table.total[kind], table.row_weights[kind] * table.kind_effects[kind]
        if not total:
            cells.append(np.zeros(pseudo_observation.size))
            shares.append(np.zeros((1, pseudo_observation.size)))
            continue
        extra = weight * _poisson_cells(pseudo_observation, n_resamples, rng)
        if kind == 0 and represented is not None:
            mean = table.cells[0][3].sum() / total
            represented = (represented + mean * extra) * (total / (total + weight))
        size = total + weight
        cells.append((total * table.share[kind] + weight * pseudo_observation) / size)
        shares.append((drawn[kind] + extra) / size)
    return DrawnClusters(cells, shares, totals, represented)


def normalized(share: Array, expected: Array) -> Array:
    """Return shares of each draw that add up to 1, where numbers of rows are fixed.

    Shares are divided by their total t if it is above 1. Otherwise they are multiplied by 2 − t,
    which is the same to first order, and the rest, (1 − t)², is spread like the data. So draws with
    hardly any rows do not divide by almost nothing. Cells without drawn rows stay empty: tiny
    shares in them would give any precision. Draws without rows are like the data.
    """
    total = share.sum(axis=1, keepdims=True)
    missing = np.maximum(1 - total, 0.0)
    divided = share * np.where(missing > 0, 1 + missing, 1 / np.maximum(total, 1.0))
    has_rows = (share != 0) | ~share.any(axis=1, keepdims=True)
    spread = has_rows * expected
    filled: Array = divided + missing**2 * divide_or_zero(spread, spread.sum(axis=1, keepdims=True))
    return filled


def _poisson_draws(table: ClusterTable, n_resamples: int, rng: np.random.Generator) -> Array:
    """Return the drawn rows by kind, draw and cell."""
    (cells,), (scale,) = table.cells, table.scales
    deviation = _poisson_deviations((n_resamples, cells.shape[1]), rng)
    drawn = np.zeros((cells.shape[0], n_resamples, cells.shape[2]))
    for kind, (of_kind, c) in enumerate(zip(cells, scale, strict=True)):
        rows = of_kind.sum(axis=0)
        if rows.any():
            noise = deviation @ (c[:, None] * of_kind).astype(np.float32)
            np.add(rows, noise, out=drawn[kind])
    of_rows = np.flatnonzero(rng.random(n_resamples) < table.independent_weight)
    for kind, squares in enumerate(table.squares):
        rows = cells[kind].sum(axis=0)
        row_weight = divide_or_zero(squares, rows)
        if of_rows.size:
            drawn[kind, of_rows] = row_weight * rng.poisson(
                divide_or_zero(rows, row_weight), size=(of_rows.size, rows.size)
            )
        np.copyto(drawn[kind], 0, where=np.abs(drawn[kind]) < LEAST_PART * row_weight)
    return drawn


def _poisson_deviations(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Return Poisson numbers with mean 1, less 1, from a table of 2**16 quantiles."""
    distribution = scipy.special.pdtr(np.arange(20), 1.0)
    quantiles = np.searchsorted(distribution, (np.arange(2**16) + 0.5) / 2**16)
    deviations: Array = (quantiles - 1).astype(np.float32)[
        rng.integers(0, 2**16, shape, dtype=np.uint16)
    ]
    return deviations


def _poisson_cells(share: Array, n_resamples: int, rng: np.random.Generator) -> Array:
    """Return Poisson numbers in cells, whose sum has mean 1, for each draw."""
    line = np.repeat(np.arange(n_resamples), rng.poisson(1.0, n_resamples))
    cell = np.searchsorted(np.cumsum(share) / share.sum(), rng.random(line.size), side="right")
    key = line * share.size + np.minimum(cell, share.size - 1)
    return np.bincount(key, minlength=n_resamples * share.size).reshape(n_resamples, share.size)


def _normal_draws(table: ClusterTable, n_resamples: int, rng: np.random.Generator) -> Array:
    """Return rows by kind, draw and cell that are normal with the covariance of two ways.

    The covariance is that of the rows above thresholds, on which measures depend. That of single
    cells has many more negative eigenvalues, and without them the former would be too large.
    """
    n_kinds, _, m = table.cells[0].shape
    covariance = np.zeros((n_kinds * m, n_kinds * m))
    for sign, scale, cells in zip(table.signs, table.scales, table.cells, strict=True):
        above = scale[:, :, None] * np.cumsum(cells, axis=2)
        rows = above.transpose(1, 0, 2).reshape(-1, n_kinds * m)
        covariance += sign * (rows.T @ rows)
    values, vectors = np.linalg.eigh(covariance)
    positive = np.maximum(values, 0.0)
    # Without negative eigenvalues the total variance would be too large.
    root = vectors * np.sqrt(positive * max(values.sum(), 0.0) / max(positive.sum(), 1e-300))
    above = (rng.standard_normal((n_resamples, n_kinds * m)) @ root.T).reshape(-1, n_kinds, m)
    noise = np.diff(above, axis=2, prepend=0.0).transpose(1, 0, 2)
    center = table.cells[0].sum(axis=1)
    drawn: Array = center[:, None, :] + noise
    return drawn
