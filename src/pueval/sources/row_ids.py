"""Rows by their ids: the names in a column, or the numbers of the rows of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from pueval._checks import list_examples
from pueval._typing import Array
from pueval.errors import InputError, require
from pueval.sources.columns import Columns
from pueval.sources.duckdb_tables import FileTable, open_table
from pueval.sources.files import FileRows, rows_from_numbers
from pueval.sources.labels import LabelValues
from pueval.sources.paths import DataLocation
from pueval.sources.storage import locate_rows

# The column with the numbers of rows, where rows have no ids.
ROW_NUMBER = "row"


@contextmanager
def open_identified_rows(
    path: str | os.PathLike[str], columns: Columns, labels: LabelValues
) -> Iterator[tuple[FileTable, Any]]:
    """Open a file; yield its table, and rows as codes and numbers with ids as text.

    Without a column of ids (``columns.row_id``), the rows of a single file are numbered from 1.
    """
    location = locate_rows(path)
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
) -> FileRows:
    """Find rows by id, in the order of the ids. Only these rows are collected.

    Refuses ids that no row has, or more than one.
    """
    with open_identified_rows(path, columns, labels) as (table, rows):
        found = _join_ids(table, rows, ids, "JOIN")
        number = np.ma.getdata(found.pop("n"))
        _check_found(path, columns, rows, ids, number)
        place = np.argsort(number)
        return rows_from_numbers(table, {name: found[name][place] for name in found})


def read_rows_and_find(
    path: str | os.PathLike[str], columns: Columns, labels: LabelValues, ids: Sequence[str]
) -> tuple[FileRows, Array]:
    """Read all rows as `pueval.sources.files.read_rows`, and find some of them by their ids.

    Returns the rows, and the position of each id. Refuses ids that no row has, or more than one.
    """
    with open_identified_rows(path, columns, labels) as (table, rows):
        numbered = rows.select("*, row_number() OVER () AS r")
        data = _join_ids(table, numbered, ids, "LEFT JOIN")
        # A join may change the order of the rows.
        order = np.argsort(np.ma.getdata(data.pop("r")))
        data = {name: data[name][order] for name in data}
        number = data.pop("n")
        wanted = np.flatnonzero(~np.ma.getmaskarray(number))
        number = np.ma.getdata(number)[wanted]
        _check_found(path, columns, rows, ids, number)
        position = np.empty(len(ids), np.intp)
        position[number] = wanted
        return rows_from_numbers(table, data), position


def _join_ids(table: FileTable, rows: Any, ids: Sequence[str], join: str) -> dict[str, Array]:
    """Return the columns of joined rows, with the number ``n`` of their id."""
    arrow = require("pyarrow", extra="cli", purpose="reading files")
    wanted = arrow.table({"id": arrow.array(ids, arrow.string()), "n": np.arange(len(ids))})
    table.connection.register("wanted", wanted)
    names = ", ".join(f"data.{name}" for name in rows.columns if name != "id")
    query = f"SELECT wanted.n, {names} FROM data {join} wanted USING (id)"  # noqa: S608
    columns: dict[str, Array] = rows.query("data", query).fetchnumpy()
    return columns


def _check_found(
    path: str | os.PathLike[str], columns: Columns, rows: Any, ids: Sequence[str], number: Array
) -> None:
    """Refuse ids that no row has, or more than one; ``number`` has the ids that were found."""
    times = np.bincount(number, minlength=len(ids))
    where = "the row numbers" if columns.row_id is None else f"column {columns.row_id!r}"
    if np.any(times == 0):
        unknown = [name for name, n in zip(ids, times, strict=True) if n == 0]
        are = "1 audited id is" if len(unknown) == 1 else f"{len(unknown):,} audited ids are"
        raise InputError(
            f"{are} not in {where} of {path}: {list_examples(unknown)}. "
            f"{_example(rows)}Spreadsheets may change ids, such as 007 to 7."
        )
    if np.any(times > 1):
        repeated = [name for name, n in zip(ids, times, strict=True) if n > 1]
        raise InputError(
            f"{where} of {path} has repeated ids, such as {list_examples(repeated)}. Ids must be "
            "unique."
        )


def _example(rows: Any) -> str:
    """Show an id of the file, so that differences in spelling are seen."""
    first = rows.limit(1).select("id").fetchall()
    return f"An id there is {first[0][0]!r}. " if first else ""
