"""Columns of times that hold text: what to say about them."""

from __future__ import annotations

import os

from pueval.errors import InputError
from pueval.sources.duckdb_tables import connect_to, select_columns
from pueval.sources.paths import locate


def refuse_text_times(path: str | os.PathLike[str], column: str) -> None:
    """Raise an error if a column of times holds text that is neither a time nor a number.

    Parameters
    ----------
    path : str or path
        Files that DuckDB can read twice.
    column : str
        Name of the column.
    """
    location = locate(path)
    with connect_to(location) as connection:
        rows = select_columns(connection, location, {"t": (column, "time")})
        text = rows.select("nullif(trim(CAST(t AS VARCHAR)), '') AS t").filter(
            "TRY_CAST(t AS TIMESTAMP) IS NULL AND TRY_CAST(t AS DOUBLE) IS NULL"
        )
        [(n_rows, example)] = text.aggregate("count(t), min(t)").fetchall()
    if n_rows:
        raise InputError(
            f"column {column!r} holds text such as {example!r}, not dates, in {n_rows:,} "
            f"{'row' if n_rows == 1 else 'rows'}. Name a column of dates, times or numbers."
        )
