"""Files with the results of an audit: the id of each checked row, its class, its probability."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import list_examples
from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.column_profiles import column_names
from pueval.sources.columns import check_column
from pueval.sources.duckdb_columns import label_condition
from pueval.sources.duckdb_tables import connect_to, select_columns
from pueval.sources.labels import LabelMatch
from pueval.sources.paths import DataLocation, locate
from pueval.sources.row_ids import ROW_NUMBER

PROBABILITY = "probability"


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """The rows of an audit file that were checked.

    Attributes
    ----------
    file : str
        Name of the file.
    ids : tuple of str
        Ids of the rows.
    positive : ndarray of bool
        Whether each row turned out to be positive.
    probability : ndarray or None
        Probability with which each row was chosen, if the file has it.
    """

    file: str
    ids: tuple[str, ...]
    positive: Array
    probability: Array | None


def read_checked_rows(
    path: str | os.PathLike[str],
    *,
    row_id: str | None,
    truth: str = "truth",
    probability: str | None = None,
) -> CheckedRows:
    """Read an audit file; rows without a truth were not checked and are left out.

    Parameters
    ----------
    path : str or path
        CSV, Parquet or Arrow file.
    row_id : str or None
        Column with the ids; None for the column "row" with the numbers of rows.
    truth : str
        Column with 1 (positive), 0 (negative) or nothing (not checked).
    probability : str, optional
        Column with the probability with which each row was chosen. By default, the column
        "probability", if there is one.
    """
    location = locate(path)
    names = column_names(location, row_id or ROW_NUMBER)
    if row_id is None and ROW_NUMBER not in names:
        raise InputError(
            f"{location.text} has no column {ROW_NUMBER!r} with the numbers of rows. Name the "
            f"column with their ids (--id). The columns are {', '.join(map(repr, names))}."
        )
    row_id = row_id or ROW_NUMBER
    if probability is None and PROBABILITY in names:
        probability = PROBABILITY
    requested = {"id": (row_id, "id"), "truth": (truth, "truth")}
    if probability is not None:
        requested["q"] = (probability, "probability")
    for name, content in requested.values():
        try:
            check_column(name, names, content)
        except InputError as error:
            raise InputError(f"{location.text}: {error}") from None
    cells = _fetch_checked_rows(location, requested)
    text = location.text
    if not cells:
        raise InputError(
            f"{text} has no checked row: the column {truth!r} is empty. Fill in 1 for positive and "
            "0 for negative rows."
        )
    _refuse(
        [row[1] for row in cells if row[2] is None],
        f"the column {truth!r} of {text} must hold 1 (positive), 0 (negative) or nothing (not "
        "checked)",
    )
    if without := sum(row[0] is None for row in cells):
        raise InputError(f"{without:,} checked rows of {text} have no id (column {row_id!r}).")
    repeated = [name for name, times in Counter(row[0] for row in cells).items() if times > 1]
    if repeated:
        ids = (
            "1 checked id occurs" if len(repeated) == 1 else f"{len(repeated):,} checked ids occur"
        )
        raise InputError(f"{ids} more than once in {text}: {list_examples(repeated)}.")
    chosen = None
    if probability is not None:
        _refuse(
            [row[3] or "nothing" for row in cells if row[4] is None or not 0 < row[4] <= 1],
            f"the column {probability!r} of {text}, the probability with which each row was "
            "chosen, must be above 0 and at most 1, with a decimal point",
        )
        chosen = np.array([row[4] for row in cells], np.float64)
    return CheckedRows(
        text, tuple(row[0] for row in cells), np.array([row[2] == 1 for row in cells]), chosen
    )


def _fetch_checked_rows(
    location: DataLocation, requested: dict[str, tuple[str, str]]
) -> list[tuple[Any, ...]]:
    """Return the id of each row, its truth as text and as 1, 0 or None, and its probability."""
    with connect_to(location) as connection:
        # As text, so that all kinds of files mean the same.
        rows = select_columns(connection, location, requested).select(
            ", ".join(f"nullif(trim(CAST({name} AS VARCHAR)), '') AS {name}" for name in requested)
        )
        is_class = [
            label_condition("truth", "VARCHAR", LabelMatch.from_text(value)) for value in (1, 0)
        ]
        # NaN is how data frames write an empty cell.
        table = rows.filter("truth IS NOT NULL AND lower(truth) <> 'nan'").select(
            f"id, truth, CASE WHEN {is_class[0]} THEN 1 WHEN {is_class[1]} THEN 0 END AS t"
            + (", q, TRY_CAST(q AS DOUBLE) AS p" if "q" in requested else "")
        )
        cells: list[tuple[Any, ...]] = table.fetchall()
    return cells


def _refuse(values: Sequence[str], rule: str) -> None:
    """Raise an error that shows values that break a rule, if there are any."""
    if values:
        rows = "1 row" if len(values) == 1 else f"{len(values):,} rows"
        raise InputError(f"{rule}; got {list_examples(values)} in {rows}.")
