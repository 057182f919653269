"""Splits: the results of each repeat of a cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.text.numbers import format_number
from pueval.text.results import Result, plain_data
from pueval.text.tables import text_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Splits(Result):
    """Results of each repeat of a cross-validation; ``ev.splits`` of `evaluate_cv`.

    The intervals of an Evaluation describe the variation between samples of rows. The standard
    deviation between repeats describes the variation due to the random folds and to randomness in
    the training, for the same rows.

    Attributes
    ----------
    values, naive : dict of str to ndarray of shape (n_repeats,)
        Corrected and naive measures of each repeat, at the threshold of the evaluation.
        Corrected values are clipped to their range.
    prior, purity : ndarray of shape (n_repeats,)
        Given values, or estimates from the scores of each repeat.
    score : ndarray of shape (n_repeats, n)
        Out-of-fold scores of all rows (or ranks, with ``align="rank"``).
    fold : ndarray of shape (n_repeats, n)
        Number of the fold in which each row was tested, from 0.
    design_effect : float
        Factor by which folds that train on each other's rows increase the variance; 1 if it was
        not measured.
    """

    values: dict[str, Array]
    naive: dict[str, Array]
    prior: Array
    purity: Array
    score: Array
    fold: Array
    design_effect: float

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return len(self.score)

    @property
    def n_folds(self) -> int:
        """Number of folds per repeat."""
        return int(self.fold.max()) + 1

    @property
    def standard_deviation(self) -> dict[str, float]:
        """Standard deviation of each corrected measure between repeats; NaN for one repeat."""
        if self.n_repeats < 2:
            return dict.fromkeys(self.values, float("nan"))
        return {name: float(np.std(values, ddof=1)) for name, values in self.values.items()}

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per repeat and one column per corrected measure.

        Returns
        -------
        pandas.DataFrame
            The first two columns are prior and purity.
        """
        return super().frame().rename_axis("repeat")

    def to_dict(self) -> dict[str, Any]:
        """Return the measures of each repeat as plain numbers and lists, without the scores.

        Returns
        -------
        dict
        """
        numbers = ("n_repeats", "n_folds", "design_effect")
        measures = ("prior", "purity", "values", "naive", "standard_deviation")
        return {name: plain_data(getattr(self, name)) for name in (*numbers, *measures)}

    def _columns(self) -> dict[str, Array]:
        return {"prior": self.prior, "purity": self.purity} | self.values

    def _headline(self) -> str:
        repeats = f"{self.n_repeats} repeat" + ("s" if self.n_repeats > 1 else "")
        return f"Splits: {repeats} of {self.n_folds} folds"

    def _table(self) -> str:
        deviations = self.standard_deviation
        summaries = {
            name: (np.mean(values), deviations[name], np.min(values), np.max(values))
            for name, values in self.values.items()
        }
        rows = [[name, *map(format_number, summary)] for name, summary in summaries.items()]
        return text_table(["", "mean", "standard deviation", "lowest", "highest"], rows)
