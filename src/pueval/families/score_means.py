"""Means of functions of the score over the positives, the negatives and the whole target.

The mean of a function is unmixed like a share of rows above a threshold, which is the mean of an
indicator: labeled and unlabeled rows are mixtures of positives and negatives. So `correct_shares`
corrects means, too, and every measure that is a formula of such means needs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from pueval._typing import Array, Target
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Rates, Shares, correct_shares
from pueval.counts.counts import Counts
from pueval.samples.sample import Sample, SortedChunk
from pueval.samples.threads import map_in_threads

# From the scores of n rows to an array of shape (m, n), one line per function.
ScoreFunctions = Callable[[Array], Array]
# Values handled at a time, so that temporary arrays stay in the cache.
BLOCK = 32_768
# One cell that holds all scores.
ALL_SCORES = np.array([-np.inf])


class Means(NamedTuple):
    """Corrected means of functions of the score; the last axis is that of the functions.

    ``positive`` and ``negative`` are means over one class, ``everybody`` over the whole target;
    ``prevalence`` is the share of positives in it.
    """

    positive: Array
    negative: Array
    everybody: Array
    prevalence: float | Array

    @classmethod
    def of(cls, rates: Rates) -> Means:
        """Return the means that were corrected like shares of rows."""
        prevalence = rates.prevalence
        if isinstance(prevalence, np.ndarray) and prevalence.ndim:
            prevalence = prevalence[..., 0]
        return cls(rates.tpr, rates.fpr, rates.predicted, prevalence)


class CellMeans(NamedTuple):
    """Means of functions over the rows of one kind, and over those in each cell of the score.

    Attributes
    ----------
    total : ndarray of shape (m,)
        Means over all rows.
    cell : ndarray of shape (m, cells)
        Means over the rows of each cell; 0 in an empty one.
    weight : ndarray of shape (cells,)
        Weight of the rows of each cell.
    within : ndarray of shape (m, m)
        Covariance of ``total`` from the variation within cells, for independent rows.
    """

    total: Array
    cell: Array
    weight: Array
    within: Array


def cell_means(
    sample: Sample, thresholds: Array, functions: ScoreFunctions, n_functions: int
) -> CellMeans:
    """Return the means of functions in the cells between descending thresholds.

    The first cell has the scores at or above the first threshold, each other cell those at or above
    its own threshold and below the one before.
    """
    # Sums of w, wf, w², w²f and w²ff', with w = 1 for rows without weights.
    sums = np.zeros((thresholds.size, 2 + 2 * n_functions + n_functions**2))

    def sum_cells(block: _Block) -> Array:
        chunk, rows, _, bounds = block
        values = functions(chunk.values[rows])
        weights = None if chunk.count is None else chunk.count[rows]
        squares = weights if chunk.square is None else chunk.square[rows]
        parts, start = np.zeros((bounds.size, sums.shape[1])), 0
        for part, stop in zip(parts, bounds.tolist(), strict=True):
            value, cell, start = values[:, start:stop], slice(start, stop), stop
            if weights is None or squares is None:
                size, total = [float(value.shape[1])], value.sum(axis=1)
                columns = [size, total, size, total, _products(value, value)]
            else:
                weight, squared = weights[cell], value * squares[cell]
                columns = [
                    [weight.sum(dtype=np.float64)],
                    value @ weight,
                    [squares[cell].sum(dtype=np.float64)],
                    squared.sum(axis=1),
                    _products(squared, value),
                ]
            part[:] = np.concatenate(columns)
        return parts

    blocks = [block for chunk in sample.chunks for block in _blocks(chunk, thresholds)]
    for block, parts in zip(blocks, map_in_threads(sum_cells, blocks), strict=True):
        # Cells are numbered by descending score.
        sums[block.first - len(parts) + 1 : block.first + 1] += parts[::-1]
    weight, total = sums[:, 0], sums[:, 1 : n_functions + 1]
    mean = np.divide(total, weight[:, None], out=np.zeros_like(total), where=weight[:, None] > 0)
    square = sums[:, n_functions + 1]
    first = sums[:, n_functions + 2 : 2 * n_functions + 2]
    second = sums[:, 2 * n_functions + 2 :].reshape(-1, n_functions, n_functions)
    cross = np.einsum("ci,cj->cij", first, mean)
    products = np.einsum("c,ci,cj->cij", square, mean, mean)
    within = (second - cross - cross.transpose(0, 2, 1) + products).sum(axis=0)
    size = float(weight.sum()) or 1.0
    return CellMeans(total.sum(axis=0) / size, mean.T, weight, within / size**2)


class _Block(NamedTuple):
    """Successive rows of a chunk, and the cells in which they lie.

    Cell ``first`` has the rows of the block up to the first of ``bounds``, the cell before it the
    rows from there to the second, and so on.
    """

    chunk: SortedChunk
    rows: slice
    first: int
    bounds: Array


def _blocks(chunk: SortedChunk, thresholds: Array) -> list[_Block]:
    """Divide the rows of a chunk that lie in some cell into short blocks."""
    size = chunk.values.size
    # The first row of each cell, by ascending score.
    edges = chunk.first_at_or_above(thresholds)[::-1]
    start = np.arange(int(edges[0]), size, BLOCK)
    stop = np.minimum(start + BLOCK, size)
    low, high = np.searchsorted(edges, start, side="right"), np.searchsorted(edges, stop)
    columns = (each.tolist() for each in (start, stop, low, high))
    return [
        _Block(chunk, slice(a, b), thresholds.size - k, np.append(edges[k:m], b) - a)
        for a, b, k, m in zip(*columns, strict=True)
    ]


def _products(first: Array, second: Array) -> Array:
    """Return the sums of products of every two lines; BLAS would divide them among threads."""
    sums: Array = np.einsum("in,jn->ij", first, second).ravel()
    return sums


class ScoreMeans:
    """Means of functions of the score over labeled, unlabeled and known negative rows.

    Parameters
    ----------
    counts : Counts
        The data.
    functions : callable
        From scores to an array with one line per function.
    thresholds : ndarray, optional
        Bounds of cells, descending; one cell by default.
    """

    def __init__(
        self, counts: Counts, functions: ScoreFunctions, thresholds: Array = ALL_SCORES
    ) -> None:
        samples: list[Sample] = [*counts._samples]
        if counts.has_propensity:
            samples.append(counts._inverse_propensity_sample())
        n_functions = len(functions(counts._labeled.chunks[0].values[:1]))
        self.counts = counts
        self.kinds = [cell_means(sample, thresholds, functions, n_functions) for sample in samples]

    @property
    def shares(self) -> Shares:
        """The means as `Shares`, to correct them in the same way."""
        return Shares(*(kind.total for kind in self.kinds))

    @cached_property
    def pooled_cells(self) -> Array:
        """Means over all rows of each cell, of shape (m, cells)."""
        weight = reduce(np.add, [kind.weight for kind in self.kinds[:3]])
        total = reduce(np.add, [kind.cell * kind.weight for kind in self.kinds[:3]])
        pooled: Array = total / np.maximum(weight, np.finfo(float).tiny)
        return pooled

    def corrected(self, mixture: Mixture | Mixtures, target: Target) -> Means:
        """Return the corrected means."""
        return correct_means(self.counts, self.shares, mixture, target)

    def of_cells(
        self, shares: Shares, *, noise: Sequence[Array] | None = None, pooled: bool = False
    ) -> Shares:
        """Return the means if rows were spread over cells like the given shares.

        Parameters
        ----------
        shares : Shares
            Shares at or above the thresholds, with one line per resample or without.
        noise : sequence of ndarray, optional
            Standard normal numbers for each kind of rows, with one line per resample and one
            column per function: the variation within cells.
        pooled : bool, default False
            Whether the mean of a cell is that of all its rows, of any kind.
        """
        of_all = self.pooled_cells
        given: list[Any] = [*shares[:3]]
        if len(self.kinds) > 3:
            given.append(shares.positive)
        means = []
        for number, (kind, share) in enumerate(zip(self.kinds, given, strict=True)):
            # Draws may have rows in a cell where this kind has none.
            cell = of_all if pooled else np.where(kind.weight > 0, kind.cell, of_all)
            mean = np.diff(share, prepend=0, axis=-1) @ cell.T
            if noise is not None:
                # Labeled rows and the positives that they represent are the same rows.
                mean = mean + noise[number % 3] @ _root(kind.within)
            means.append(mean)
        return Shares(*means)._replace(prevalence_shift=shares.prevalence_shift)


def _root(covariance: Array) -> Array:
    """Return a symmetric matrix whose square is the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    root: Array = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return root


def correct_means(
    counts: Counts, means: Shares, mixture: Mixture | Mixtures, target: Target
) -> Means:
    """Correct means of functions over each kind of rows."""
    places = np.zeros(means.labeled.shape[-1])
    return Means.of(correct_shares(counts, places, means, mixture, target))
