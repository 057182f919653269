"""EstimateTable: base of results that map names of measures to estimates and print as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pueval.estimates.estimate import Estimate
from pueval.text.results import measure_frame
from pueval.text.tables import html_summary, text_table

if TYPE_CHECKING:
    import pandas as pd


class EstimateTable(Mapping[str, Estimate]):
    """Base of result dataclasses, which are made with ``@dataclass(eq=False, repr=False)``.

    A subclass writes `_headline`, `_table` and the methods of a mapping, and `_notes` if there are
    lines to print below the table.
    """

    # A mapping is equal by content and cannot be hashed; a result is neither.
    __eq__, __hash__ = object.__eq__, object.__hash__

    def _headline(self) -> str:
        """Return the key facts, in one line."""
        raise NotImplementedError

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of the table."""
        raise NotImplementedError

    def _notes(self) -> list[str]:
        """Return the lines below the table."""
        return []

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure and a column per field of `Estimate`.

        Returns
        -------
        pandas.DataFrame
        """
        return measure_frame(self, f"{type(self).__name__}.frame()")

    def __repr__(self) -> str:
        return "\n".join([self._headline(), text_table(*self._table()), *self._notes()])

    def _repr_html_(self) -> str:
        return html_summary(self._headline(), [self._table()], self._notes())
