"""Cells of the score: a few dozen groups of rows with similar scores, and smooth functions of them.

An audit has few rows, so what it says about the score is a smooth function. It is constant within a
cell, and a sum of a few basis functions across cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.samples.sample import EMPTY
from pueval.samples.steps import find_cells

# Cells: half of them bounded by quantiles of the labeled rows, half by those of the unlabeled rows.
CELLS = 60


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Rows in each cell.

    Attributes
    ----------
    lower : ndarray of shape (k,)
        Lower edges, descending. No score is below the last one.
    labeled, unlabeled : ndarray of shape (k,)
        Rows in each cell; in units of effective rows, if rows have importance weights.
    position : ndarray of shape (k,)
        Normal score of the mean rank in the cell. Labeled and unlabeled rows together have the same
        total weight in these ranks, so positions do not depend on how many rows are labeled.
    """

    lower: Array
    labeled: Array
    unlabeled: Array
    position: Array

    @classmethod
    def of(cls, counts: Counts) -> ScoreCells:
        """Divide labeled and unlabeled rows into cells."""
        cells = Counts(counts._labeled, counts._unlabeled, EMPTY)._thinned(CELLS)
        labeled, unlabeled = (np.asarray(rows, float) for rows in (cells.labeled, cells.unlabeled))
        rank = sum((np.cumsum(rows) - rows / 2) / rows.sum() for rows in (labeled, unlabeled)) / 2
        position = -scipy.special.ndtri(rank)
        labeled, unlabeled = (
            rows * (kind.effective_size / kind.total)
            for rows, kind in ((labeled, counts._labeled), (unlabeled, counts._unlabeled))
        )
        return cls(cells.score.astype(np.float64), labeled, unlabeled, position)

    def find(self, score: Array) -> Array:
        """Return the index of the cell of each score."""
        return find_cells(self.lower, score)

    def count(self, score: Array, weight: Array) -> Array:
        """Return the total weight of some rows in each cell."""
        return np.bincount(self.find(score), weights=weight, minlength=self.lower.size)

    @property
    def weight(self) -> Array:
        """Weight of each cell; labeled and unlabeled rows together have half of it each."""
        weight: Array = self.labeled / self.labeled.sum() + self.unlabeled / self.unlabeled.sum()
        return weight / 2

    def basis(self, length: float, power: float, number: int) -> Array:
        """Return basis functions of random curves without constant and slope.

        They are the leading eigenfunctions of the kernel exp(−(|x − y|/length)^power) of a Gaussian
        process over the positions, orthogonal to 1 and to the position. With independent standard
        normal coefficients, their sum is that process, less its linear part. Curves are smooth with
        power 2; with power 1 they can also have steps.

        Returns
        -------
        ndarray of shape (k, number)
            Fewer columns, if there are fewer cells.
        """
        x, root = self.position, np.sqrt(self.weight)
        kernel = np.exp(-((np.abs(x[:, None] - x) / length) ** power))
        linear = np.linalg.qr(np.column_stack([root, root * x]))[0]
        weighted = root[:, None] * kernel * root
        for _ in range(2):
            weighted = (weighted - linear @ (linear.T @ weighted)).T
        values, vectors = np.linalg.eigh(weighted)
        leading = np.argsort(values)[::-1][: min(number, max(x.size - 2, 0))]
        functions: Array = vectors[:, leading] * np.sqrt(np.maximum(values[leading], 0))
        return functions / root[:, None]
