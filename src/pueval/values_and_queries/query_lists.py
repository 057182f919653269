"""Lists of rows in the order of their scores: sums of gains over their first rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array
from pueval.families.rank_weights import discount_sum


@dataclass(frozen=True, eq=False)
class QueryLists:
    """Lists of rows in the order of their scores.

    Attributes
    ----------
    code : ndarray
        Number of the list of each row.
    weight : ndarray
        Weight of each row, above 0.
    row_weight : ndarray
        Weight that counts as one row of each list: 1, or Σ weight²/Σ weight of importance weights.
    rows : ndarray
        Number of rows of each list; with importance weights the effective number.
    in_top, discount : ndarray
        Share of each row that is among the first k, and its discount if it is: means over the
        orders of tied rows.
    k : int
        Number of first rows.
    """

    code: Array
    weight: Array
    row_weight: Array
    rows: Array
    in_top: Array
    discount: Array
    k: int

    @classmethod
    def of(cls, score: Array, code: Array, weight: Array, n_queries: int, k: int) -> QueryLists:
        """Find the places of all rows in their lists.

        Integer weights are frequency weights, others importance weights.
        """
        total = np.bincount(code, weight, n_queries)
        row_weight = np.ones(n_queries)
        if weight.dtype.kind == "f":
            row_weight = np.bincount(code, weight**2, n_queries) / total
        n_rows = weight / row_weight[code]
        order = np.lexsort((-score, code))
        code_sorted, score_sorted = code[order], score[order]
        new = np.ones(score.size, dtype=bool)
        new[1:] = (np.diff(code_sorted) != 0) | (np.diff(score_sorted) != 0)
        tie = np.cumsum(new) - 1
        size = np.bincount(tie, n_rows[order])
        rows = total / row_weight
        first_of_list = np.cumsum(rows) - rows
        before = np.maximum(np.cumsum(size) - size - first_of_list[code_sorted[new]], 0)
        share = np.clip((k - before) / size, 0, 1)
        start = np.minimum(before, k)
        discounts = (discount_sum(start + share * size) - discount_sum(start)) / size

        def by_row(of_tie: Array) -> Array:
            of_row: Array = np.empty(score.size)
            of_row[order] = of_tie[tie]
            return of_row

        return cls(code, weight, row_weight, rows, by_row(share), by_row(discounts), k)

    def weighted_sum(self, values: Array) -> Array:
        """Return the sum of weight·value over the rows of each list."""
        return np.bincount(self.code, self.weight * values, self.rows.size)

    def hits(self, gain: Array) -> Array:
        """Return the sum of weight·gain over the first rows of each list."""
        return self.weighted_sum(gain * self.in_top)

    def measures(self, gain: Array) -> dict[str, Array]:
        """Return the measures of each list; ``gain`` is the class of each row, or an estimate."""
        positives, hits = self.weighted_sum(gain), self.hits(gain)
        with np.errstate(divide="ignore", invalid="ignore"):
            recall = hits / positives
        return {
            "positives": positives / self.row_weight,
            "precision": hits / self.row_weight / np.minimum(self.rows, self.k),
            "recall": recall,
            "dcg": self.weighted_sum(gain * self.discount) / self.row_weight,
        }
