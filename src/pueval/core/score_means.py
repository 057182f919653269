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
        """Read means from rates that were corrected in the place of shares."""
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
    jobs = [
        (chunk, cell, rows) for chunk in sample.chunks for cell, rows in _cells(chunk, thresholds)
    ]
    # Sums of w, wf, w², w²f and w²ff', with w = 1 for rows without weights.
    sums = np.zeros((thresholds.size, 2 + 2 * n_functions + n_functions**2))

    def add(job: tuple[SortedChunk, int, slice]) -> Array:
        chunk, _, rows = job
        values = functions(chunk.values[rows])
        if chunk.count is None:
            size, total = [float(values.shape[1])], values.sum(axis=1)
            return np.concatenate([size, total, size, total, (values @ values.T).ravel()])
        weight = chunk.count[rows]
        square = weight if chunk.square is None else chunk.square[rows]
        squared = values * square
        parts = [
            [weight.sum(dtype=np.float64)],
            values @ weight,
            [square.sum(dtype=np.float64)],
            squared.sum(axis=1),
            (squared @ values.T).ravel(),
        ]
        return np.concatenate(parts)

    for (_, cell, _), part in zip(jobs, map_in_threads(add, jobs), strict=True):
        sums[cell] += part
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


def _cells(chunk: SortedChunk, thresholds: Array) -> list[tuple[int, slice]]:
    """Return which values of a chunk lie in which cell, in short blocks."""
    start = np.searchsorted(chunk.values, thresholds)
    stop = np.append(chunk.values.size, start[:-1])
    return [
        (cell, slice(first, min(first + BLOCK, last)))
        for cell, (begin, last) in enumerate(zip(start.tolist(), stop.tolist(), strict=True))
        for first in range(begin, last, BLOCK)
    ]


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
        """The means in the place of shares."""
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
