"""Results as short text, as a data frame and as plain data.

`Result` gives a dataclass all three. A result of arrays prints a header line and at most
`SHOWN_ROWS` rows; `Result.frame` and `Result.to_dict` have everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pueval._typing import Array
from pueval.errors import require
from pueval.text.numbers import format_count, format_number, format_threshold
from pueval.text.tables import text_table

if TYPE_CHECKING:
    import pandas as pd

# Rows of a printed table.
SHOWN_ROWS = 12
# Columns that are no measures, and how they print.
COLUMN_FORMATS = {"threshold": format_threshold} | dict.fromkeys(
    ("true_positive", "false_positive", "false_negative", "true_negative"), format_count
)


class Result:
    """Base of result dataclasses, which are made with ``@dataclass(repr=False)``.

    A subclass writes `_headline`. It overrides `_columns` where its fields are not the columns of
    its data frame, `_table` where these do not print well, and `to_dict` where its fields are not
    all there is to know.
    """

    # What to pass in its place, where a share such as the prior is wanted.
    _share_hint: ClassVar[str] = ""

    def _headline(self) -> str:
        """Return the key facts, in one line or a few."""
        raise NotImplementedError

    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of the data frame: the array fields, or else all fields."""
        values = _fields(self)
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return arrays or {name: [value] for name, value in values.items()}

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame: a row per entry of the arrays, or a single row.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose=f"{type(self).__name__}.frame()")
        return pandas.DataFrame(dict(self._columns()))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return plain_dict(_fields(self))

    def _table(self) -> str:
        """Return the table to print below the headline; empty for results without arrays."""
        columns = self._columns()
        has_arrays = any(isinstance(column, np.ndarray) for column in columns.values())
        return short_table(columns) if has_arrays else ""

    def __repr__(self) -> str:
        return f"{self._headline()}\n{self._table()}".rstrip()


def _fields(result: Any) -> dict[str, Any]:
    names = [field.name for field in fields(result) if not field.name.startswith("_")]
    return {name: getattr(result, name) for name in names}


def measure_frame(values: Mapping[str, Any], purpose: str) -> pd.DataFrame:
    """Return a pandas DataFrame with a row per measure and a column per field of its value."""
    pandas = require("pandas", extra="pandas", purpose=purpose)
    frame: pd.DataFrame = pandas.DataFrame(
        [vars(value) for value in values.values()],
        index=pandas.Index([*values], name="measure"),
    )
    return frame


def evenly_spaced(size: int, count: int) -> Array:
    """Return at most ``count`` indices below ``size``, first and last included."""
    return np.unique(np.linspace(0, size - 1, min(size, count)).round().astype(int))


def short_table(columns: Mapping[str, Any], *, rows: int = SHOWN_ROWS) -> str:
    """Show columns of equal length as text: all rows, or some, evenly spaced, and how many.

    Examples
    --------
    >>> threshold = np.r_[np.inf, np.arange(100, 0, -1)]
    >>> print(short_table({"threshold": threshold, "tpr": np.linspace(0, 1, 101)}, rows=3))
    threshold           tpr
    above all scores  0.000
    51                0.500
    1                 1.000
    3 of 101 rows; .frame() returns all
    """
    size = max((len(column) for column in columns.values()), default=0)
    header = [name.replace("_", " ") for name in columns]

    def cells(k: int) -> list[str]:
        return [_cell(name, column[k]) for name, column in columns.items()]

    return spaced_table(header, cells, size, rows=rows)


def spaced_table(
    header: list[str], cells: Callable[[int], list[str]], size: int, *, rows: int = SHOWN_ROWS
) -> str:
    """Show a table of ``size`` rows as `short_table` does; ``cells`` returns those of a row."""
    shown = evenly_spaced(size, rows)
    table = text_table(header, [cells(k) for k in shown.tolist()])
    if size <= rows:
        return table
    return f"{table}\n{shown.size} of {size:,} rows; .frame() returns all"


def _cell(name: str, value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return format_count(int(value))
    if isinstance(value, float | np.floating):
        return COLUMN_FORMATS.get(name, format_number)(float(value))
    return str(value)


def plain_dict(content: Mapping[Any, Any]) -> dict[Any, Any]:
    """Turn the values of a mapping into plain data."""
    return {key: plain_data(value) for key, value in content.items()}


def plain_data(value: Any) -> Any:
    """Turn results and arrays into dicts and lists, and numbers that JSON lacks into None."""
    if isinstance(value, Mapping):
        return plain_dict(value)
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain_data(item) for item in value.tolist()]
    if is_dataclass(value):
        return value.to_dict() if isinstance(value, Result) else plain_data(_fields(value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
