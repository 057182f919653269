"""Choice: a chosen threshold and what it achieves."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from pueval.errors import require
from pueval.levels import in_percent
from pueval.measures import unknown_measure
from pueval.results import Contingency, Estimate, measure_rows
from pueval.tables import html_table, plain_data, text_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """A chosen threshold and what it achieves; made by `Evaluation.threshold_for`.

    ``choice["recall"]`` is short for ``choice.measures["recall"]``. Values are those seen on the
    rows that the threshold was chosen on. Limits are corrected for the choice, so they need
    not lie evenly around the value, and the value may even lie outside: what they hold, at
    the level of the evaluation, is the true value of the measure **at the chosen threshold**.

    Attributes
    ----------
    rule : str
        What was asked for.
    threshold : float
        Scores at or above it are predicted positive; +inf if it is best to predict none.
    table, naive_table : Contingency
        Corrected (not clipped) and naive contingency table.
    measures : dict of str to Estimate
        Every measure of a contingency table, and ``"cost"`` if that was minimized.
    reached : float
        Share of the resamples in which the rule could be followed at all; NaN without intervals.
        A low one says that another sample might have no such threshold.
    level : float or None
        Confidence level of the limits.
    """

    rule: str
    threshold: float
    table: Contingency
    naive_table: Contingency
    measures: dict[str, Estimate]
    reached: float
    level: float | None

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.measures:
            raise unknown_measure(name, [*self.measures], any_beta=False)
        return self.measures[name]

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure, a column per field of `Estimate`.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose="Choice.frame()")
        frame: pd.DataFrame = pandas.DataFrame(
            [vars(one) for one in self.measures.values()],
            index=pandas.Index([*self.measures], name="measure"),
        )
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        content: dict[str, Any] = plain_data(
            {
                "rule": self.rule,
                "threshold": self.threshold,
                "level": self.level,
                "reached": self.reached,
                "table": vars(self.table),
                "naive_table": vars(self.naive_table),
                "measures": {name: vars(one) for name, one in self.measures.items()},
            }
        )
        return content

    def _table(self) -> tuple[list[str], list[list[str]]]:
        limits = None if self.level is None else f"{in_percent(self.level)} limits"
        return measure_rows(self.measures, limits)

    def summary(self) -> str:
        """Say in one line what was asked for and chosen.

        Returns
        -------
        str
        """
        return f"Threshold {self.threshold:.6g} for {self.rule}"

    def __repr__(self) -> str:
        return f"{self.summary()}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return f"<div><p>{escape(self.summary())}</p>{html_table(*self._table())}</div>"
