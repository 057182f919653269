"""Sums over unknown positives, estimated from random labels (Horvitz and Thompson).

Let each positive be labeled with probability c, and each negative, by mistake, with probability d.
Then (label − d)/(c − d) has the mean 1 for a positive and 0 for a negative, and the sum of any
quantity z over the positives is estimated without bias by

    Σ z·(label − d)/(c − d)

over the labeled and unlabeled rows. With clean labels, d = 0 and this is Σ z/c over the labeled
rows (Horvitz and Thompson, 1952), where c may also differ by row. With purity p, prior α, and n_L
labeled rows that represent n₊ = p·n_L + α·n_U positives,

    c = p·n_L/n₊ and d = (1 − p)·n_L/(n_L + n_U − n₊),

and the estimate equals n₊ times the mean of z over the positives that follows from its means over
labeled and unlabeled rows, as rates follow from shares (`pueval.core.rates.correct_pair`).

The variance is that over labels, each drawn for itself, given the rows and their classes:

    Var = Σ c(1 − c)·a₁² over the positives + Σ d(1 − d)·a₀² over the negatives,

where a₁ and a₀ are what a label on a row changes. If c and d are known, a₁ = a₀ = z/(c − d). If
they follow from the number of labeled rows, so does the estimate:

- with n₊ known, both are proportional to n_L, and z is replaced by z − m, where m is the mean of z
  over the labeled rows;
- with c known, only d depends on n_L, and m = d·(n_L + n_U)/n_L times the mean of z over the
  negatives; it is 0 for clean labels.

Hidden positives, those that are not labeled, have the sum (1 − c) times that of all positives. A
label on a positive also removes it from them, so that

    a₁ = a₀ + z and a₀ = (1 − c)·(z − m)/(c − d) − b,

where b = p times the mean of z over the positives if n₊ is known, and 0 otherwise.

If few rows have most of the value, the sums of squares in the variance are the hardest to estimate
of all: where no row of high value happens to be labeled, both the estimate and its standard error
would be too small. But the values of unlabeled rows are known. So the share of positives is
estimated in cells of rows with similar values (`similar_rows`), and a row counts in the variance
with that of its cell. With propensities, it is the mean of (1 − c)/c² over the labeled rows of the
cell, as a share of all its rows. Coverage is in benchmarks/VALUES_AND_QUERIES.md.

If few of the labeled rows count in a sum, as above a high threshold, the estimate is skewed, and 0
if none of them counts. So its limits are Wilson's for the labeled share of Σ z, which is between 0
and 1, see `pueval.core.confidence.mean_limits`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import mean_limits

# Labeled rows in a cell of rows with similar values. Chosen by simulation of coverage.
CELL_ROWS = 10


@dataclass(frozen=True, eq=False)
class PositiveSums:
    """Estimates of sums over the positives among labeled and unlabeled rows.

    Attributes
    ----------
    labeled : ndarray of bool
        Which of the rows are labeled.
    weight, rows : ndarray
        Weight of each row, and the number of rows that it stands for: a frequency weight, or 1.
    label_frequency : float or ndarray
        Probability that each positive is labeled; its entries for unlabeled rows do not matter.
    wrong_label_frequency : float
        Probability that a negative is labeled.
    cell : ndarray of int
        Cells of similar rows, see `similar_rows`.
    known_number : bool
        Whether the number of positives is known, rather than the label frequency.
    hidden : bool
        Whether the sums are over the unlabeled positives only.
    """

    labeled: Array
    weight: Array
    rows: Array
    label_frequency: float | Array
    wrong_label_frequency: float
    cell: Array
    known_number: bool
    hidden: bool

    @cached_property
    def _positive(self) -> Array:
        """Estimate of the class of each row."""
        wrong = self.wrong_label_frequency
        estimate: Array = (self.labeled - wrong) / (self.label_frequency - wrong)
        return estimate

    @property
    def _factor(self) -> float | Array:
        """Share of the positives in the sums."""
        return 1 - self.label_frequency if self.hidden else 1.0

    @cached_property
    def _row_weight(self) -> Array:
        """Weight of each of the rows that a row stands for."""
        return _ratio(self.weight, self.rows)

    @cached_property
    def n_labeled(self) -> float:
        """Weight of the labeled rows."""
        return float(self.weight[self.labeled].sum())

    def effective_number(self, numbers: Array) -> float:
        """Return the effective number of labeled rows in a sum of numbers that are at least 0."""
        values = self.labeled * numbers
        squares = float((self.weight * self._row_weight) @ values**2)
        return float(self.weight @ values) ** 2 / max(squares, np.finfo(float).tiny)

    def total(self, numbers: Array) -> float:
        """Estimate the sum of numbers over the positives."""
        return float((self._factor * self.weight * self._positive) @ numbers)

    @property
    def are_certain(self) -> bool:
        """Whether the class of every row is known."""
        return bool(np.all(self.label_frequency == 1)) and not self.wrong_label_frequency

    def standard_error(self, numbers: Array) -> float:
        """Return the standard error of `total` over another choice of the labels."""
        c, d = self.label_frequency, self.wrong_label_frequency
        if isinstance(c, np.ndarray):
            variances = self._cell_means(self._positive * (1 - c) / c) * numbers**2
        else:
            of_label = (numbers - self._center(numbers)) / (c - d)
            of_wrong_label = of_label
            if self.hidden:
                of_wrong_label = (1 - c) * of_label - self._labeled_mean(numbers)
                of_label = of_wrong_label + numbers
            positive = np.clip(self._cell_means(self._positive), 0, 1)
            variances = positive * c * (1 - c) * of_label**2
            variances += (1 - positive) * d * (1 - d) * of_wrong_label**2
        n = float(self.rows[self.labeled].sum())
        variance = float((self.weight * self._row_weight) @ variances)
        return math.sqrt(variance * n / max(n - 1, 1))

    def limits(self, numbers: Array, critical_value: float) -> tuple[float, float]:
        """Return the limits of `total` for numbers that are at least 0."""
        found, error = self.total(numbers), self.standard_error(numbers)
        weighted = self.weight * numbers
        total = float(weighted.sum())
        is_known = self.are_certain or (error == 0 and bool(weighted[self.labeled].any()))
        if total == 0 or is_known:
            return found, found
        gain = (self._factor * self._positive)[self.weight > 0]
        n_rows = total**2 / float((self._row_weight * weighted) @ numbers)
        bounds = (min(float(gain.min()), 0.0), float(gain.max()))
        low, high = mean_limits(found / total, error / total, bounds, n_rows, critical_value)
        return low * total, high * total

    def _cell_means(self, numbers: Array) -> Array:
        """Return the mean over the cell of each row."""
        total = np.bincount(self.cell, self.rows * numbers)
        return _ratio(total, np.bincount(self.cell, self.rows))[self.cell]

    def _center(self, numbers: Array) -> float:
        """Return how much the estimate falls with every other labeled row."""
        if self.known_number:
            return float((self.weight * self.labeled) @ numbers) / self.n_labeled
        if not self.wrong_label_frequency:
            return 0.0
        negative = self.weight * (1 - self._positive)
        mean = float(negative @ numbers) / float(negative.sum())
        return mean * self.wrong_label_frequency * float(self.weight.sum()) / self.n_labeled

    def _labeled_mean(self, numbers: Array) -> float:
        """Return the mean over the positives times purity if n₊ is known, and 0 otherwise."""
        if not self.known_number:
            return 0.0
        positive = self.weight * self._positive
        return float((positive * self.label_frequency) @ numbers) / self.n_labeled


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Divide; 0 where the denominator is 0."""
    ratio: Array = np.zeros(numerator.size)
    return np.divide(numerator, denominator, out=ratio, where=denominator > 0)


def similar_rows(value: Array, above: Array, n_labeled: Array) -> Array:
    """Divide rows into cells, on the same side of a threshold and with similar values.

    Parameters
    ----------
    value : ndarray of shape (n,)
        Value of each row, times its importance weight. Rows of equal value are in the same cell.
    above : ndarray of bool, shape (n,)
        Whether each row is at or above the threshold.
    n_labeled : ndarray of shape (n,)
        Number of labeled rows that each row stands for. From the highest value on, a cell has about
        `CELL_ROWS` of them, the last one up to twice as many.

    Returns
    -------
    ndarray of int, shape (n,)
        Numbers of the cells; where many labeled rows have the same value, they skip some.
    """
    cells = np.empty(value.size, dtype=np.intp)
    n_cells = 0
    for side in (above, ~above):
        distinct, place = np.unique(-value[side], return_inverse=True)
        reached = np.cumsum(np.bincount(place, n_labeled[side], distinct.size))
        total = reached[-1] if distinct.size else 0
        cell = np.maximum(reached - 1, 0) // CELL_ROWS
        last = max(total // CELL_ROWS - 1, 0)
        cells[side] = n_cells + np.minimum(cell, last).astype(np.intp)[place]
        n_cells += int(last) + 1
    return cells
