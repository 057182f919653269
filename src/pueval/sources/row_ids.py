"""Rows by their ids: the names in a column, or the numbers of the rows of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError, require
from pueval.sources.columns import Columns
from pueval.sources.duckdb_tables import FileTable, open_table
from pueval.sources.labels import KIND_CODES, LabelValues
from pueval.sources.paths import DataLocation, locate
from pueval.sources.storage import is_counts_file

# The column with the numbers of rows, where rows have no ids.
ROW_NUMBER = "row"
# Ids that a message shows.
SHOWN = 5


@dataclass(frozen=True, eq=False)
class IdentifiedRows:
    """Columns of the rows with given ids, in their order; ``kind`` holds codes (`KIND_CODES`)."""

    kind: Array
    score: Array
    sample_weight: Array | None


@contextmanager
def open_identified_rows(
    path: str | os.PathLike[str], columns: Columns, labels: LabelValues
) -> Iterator[tuple[FileTable, Any]]:
    """Open a file; yield its table, and rows as codes and numbers with ids as text.

    Without a column of ids (``columns.row_id``), the rows of a single file are numbered from 1.
    """
    location = locate(path)
    if location.format == "parquet" and any(map(is_counts_file, location.files)):
        raise InputError(
            f"{location.text} holds saved counts, not rows. Pass the file with the rows."
        )
    if columns.row_id is None:
        _check_row_order(location)
    with open_table(location, columns, labels) as table:
        if columns.row_id is None:
            numbered = table.relation.select("*, row_number() OVER () AS id")
            rows = replace(table, relation=numbered, types=table.types | {"id": "BIGINT"})
        else:
            rows = table
        names = ["k", *(name for name in rows.types if name not in {"label", "id"})]
        text = "trim(CAST(id AS VARCHAR)) AS id"
        yield table, rows.numbers().select(f"{', '.join(names)}, {text}")


def _check_row_order(location: DataLocation) -> None:
    if location.format == "duckdb" or len(location.files) > 1:
        raise InputError(
            f"the rows of {location.text} have no fixed order, so they cannot be numbered. Name a "
            "column with a unique id of each row (--id)."
        )


def find_rows(
    path: str | os.PathLike[str], columns: Columns, labels: LabelValues, ids: Sequence[str]
) -> IdentifiedRows:
    """Find rows by id. Only these rows are collected.

    Refuses ids that no row has, or more than one.
    """
    arrow = require("pyarrow", extra="cli", purpose="reading files")
    with open_identified_rows(path, columns, labels) as (table, rows):
        wanted = arrow.table({"id": arrow.array(ids, arrow.string()), "n": np.arange(len(ids))})
        table.connection.register("wanted", wanted)
        names = ", ".join(f"data.{name}" for name in rows.columns if name != "id")
        found = rows.query(
            "data",
            f"SELECT wanted.n, {names} FROM data JOIN wanted USING (id)",  # noqa: S608
        ).fetchnumpy()
        order = np.ma.getdata(found.pop("n"))
        times = np.bincount(order, minlength=len(ids))
        where = "row number" if columns.row_id is None else f"id in column {columns.row_id!r}"
        if np.any(times == 0):
            unknown = [name for name, n in zip(ids, times, strict=True) if n == 0]
            raise InputError(
                f"{_ids(len(unknown))} no row of {path} has as {where}: {_show(unknown)}. "
                f"{_example(rows)}Spreadsheets may change ids, such as 007 to 7."
            )
        if np.any(times > 1):
            repeated = [name for name, n in zip(ids, times, strict=True) if n > 1]
            raise InputError(
                f"{_ids(len(repeated))} more than one row of {path} has as {where}: "
                f"{_show(repeated)}. Ids must be unique."
            )
        missing = any(np.ma.getmaskarray(column).any() for column in found.values())
        if missing or not np.isin(found["k"], KIND_CODES.values).all():
            raise table.problem()
    place = np.argsort(order)
    values = {name: np.ma.getdata(column)[place] for name, column in found.items()}
    return IdentifiedRows(values["k"], values["s0"].astype(np.float64), values.get("w"))


def _example(rows: Any) -> str:
    """Show an id of the file, so that differences in spelling are seen."""
    first = rows.limit(1).select("id").fetchall()
    return f"An id there is {first[0][0]!r}. " if first else ""


def _ids(number: int) -> str:
    return "1 audited id that" if number == 1 else f"{number:,} audited ids that"


def _show(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:SHOWN])) + (", …" if len(ids) > SHOWN else "")
