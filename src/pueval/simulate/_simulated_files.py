"""Simulated data as files, written by DuckDB: drawn rows, or a labeled file with new labels."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval._writing import atomic_path
from pueval.errors import InputError, require
from pueval.simulate._labeling import Labeling
from pueval.simulate._populations import SimulatedRows
from pueval.sources.columns import check_unique
from pueval.sources.csv_files import csv_header
from pueval.sources.duckdb_columns import label_condition
from pueval.sources.duckdb_connections import quoted, restricted_connection, text_literal
from pueval.sources.labels import LabelMatch
from pueval.sources.paths import SUFFIXES, file_not_found_error

PARQUET = {".parquet", ".pq"}
TRUTH = "true_class"
# A spreadsheet takes text that begins with one of these for a formula.
FORMULA_STARTS = ("=", "+", "@", "\t", "\r", "-")


def write_simulated_rows(
    path: str, rows: SimulatedRows, labeling: Labeling, *, truth: bool
) -> None:
    """Write the columns ``score`` and ``label``, and optionally ``true_class``."""
    columns = {"score": rows.score[labeling.rows], "label": labeling.label}
    if truth:
        columns[TRUTH] = labeling.truth.astype(np.int8)
    options = _copy_options(path)
    with atomic_path(path) as temporary, _connection(temporary) as connection:
        connection.register("labeling", columns)
        connection.execute(f"COPY labeling TO {text_literal(temporary)} ({options})")


def label_file(
    source: str,
    path: str,
    label_rows: Callable[[Array, dict[str, Array]], Labeling],
    *,
    class_column: str,
    positive: str,
    numbers: Sequence[str] = (),
    truth: bool,
) -> tuple[Labeling, list[str]]:
    """Copy a file with positive-unlabeled labels in place of its classes.

    ``label_rows`` takes the classes and the columns ``numbers``, and returns the labels. Also
    return the columns of a CSV file with text that spreadsheets take for formulas.
    """
    if not Path(source).is_file():
        raise file_not_found_error(source)
    if Path(path).exists() and Path(path).samefile(source):
        raise InputError(
            f"{path} is the labeled file itself. Choose another name, to keep its classes."
        )
    options = _copy_options(path)
    with atomic_path(path) as temporary, _connection(source, temporary) as connection:
        name = text_literal(glob.escape(source))
        if _is_parquet(source):
            table = f"read_parquet({name})"
        else:
            delimiter, header = csv_header(source, class_column)
            # DuckDB does not distinguish names that differ in case only, and renames one.
            for column in header:
                check_unique(column.lower(), [name.lower() for name in header], source)
            # As text, so that columns are written as they were read. DuckDB would guess the marks
            # of quotes and comments from the cells, and take apostrophes for quotes.
            marks = (
                f"header = true, all_varchar = true, delim = {text_literal(delimiter)}, "
                "quote = '\"', escape = '\"', comment = '', skip = 0"
            )
            table = f"read_csv({name}, {marks})"
        names = connection.sql(f"SELECT * FROM {table}").columns  # noqa: S608 - quoted
        for column in (class_column, *numbers):
            if column not in names:
                raise InputError(f"{source} has no column {column!r}; it has {', '.join(names)}.")
        for new_column in ("label", *([TRUTH] if truth else [])):
            if new_column in names and new_column != class_column:
                raise InputError(f"{source} already has a column {new_column!r}. Rename it first.")
        selected = [f"{_is_positive(class_column, positive)} AS c"]
        selected += [
            f"TRY_CAST(CAST({quoted(column)} AS VARCHAR) AS DOUBLE) AS n{k}"
            for k, column in enumerate(numbers)
        ]
        data = connection.sql(f"SELECT {', '.join(selected)} FROM {table}").fetchnumpy()  # noqa: S608
        classes = _without_missing(data["c"], class_column).astype(bool)
        columns = {name: _without_missing(data[f"n{k}"], name) for k, name in enumerate(numbers)}
        if not classes.any():
            raise InputError(
                f"no row of {source} has {positive!r} in column {class_column!r}. "
                "Pass the value of the positive class with --positive."
            )
        labeling = label_rows(classes, columns)
        label = np.full(classes.size, -1, dtype=np.int8)
        label[labeling.rows] = labeling.label
        connection.register("labeling", {"label": label, TRUTH: classes.astype(np.int8)})
        added = "m.label" + (f", m.{TRUTH}" if truth else "")
        query = (
            f"SELECT t.* EXCLUDE ({quoted(class_column)}), {added} "  # noqa: S608 - quoted
            f"FROM (SELECT * FROM {table}) t POSITIONAL JOIN labeling m WHERE m.label >= 0"
        )
        connection.execute(f"COPY ({query}) TO {text_literal(temporary)} ({options})")
        formulas = [] if _is_parquet(path) else _formula_columns(connection, table, class_column)
    return labeling, formulas


def _formula_columns(connection: Any, table: str, class_column: str) -> list[str]:
    """Return the columns that hold text, not numbers, that begins like a formula."""
    rows = connection.sql(f"SELECT * EXCLUDE ({quoted(class_column)}) FROM {table}")  # noqa: S608
    if not rows.columns:
        return []
    conditions = (
        f"bool_or(regexp_matches({text}, '^[=+@\\t\\r-]') AND TRY_CAST({text} AS DOUBLE) IS NULL)"
        for text in (f"CAST({quoted(name)} AS VARCHAR)" for name in rows.columns)
    )
    [found] = rows.aggregate(", ".join(conditions)).fetchall()
    return [
        name
        for name, has_formulas in zip(rows.columns, found, strict=True)
        if has_formulas or name[:1] in FORMULA_STARTS
    ]


@contextmanager
def _connection(*files: str) -> Iterator[Any]:
    duckdb = require("duckdb", extra="cli", purpose="writing files")
    with restricted_connection(files, purpose="writing files", keep_order=True) as connection:
        try:
            yield connection
        except duckdb.Error as error:
            reason = " ".join(str(error).split())[:300]
            raise InputError(f"the file could not be read or written: {reason}") from None


def _copy_options(path: str) -> str:
    """Return the options that write a file; refuse formats that cannot be written."""
    suffix = Path(path).suffix.lower()
    if suffix in SUFFIXES and not _is_parquet(path):
        raise InputError(
            f"cannot write {suffix} files. Choose a name that ends in .csv, .csv.gz or .parquet."
        )
    # The file is temporary already; DuckDB would write another one first.
    options = "USE_TMP_FILE false, "
    options += "FORMAT parquet" if _is_parquet(path) else "FORMAT csv, HEADER true"
    return options + (", COMPRESSION gzip" if suffix == ".gz" else "")


def _is_parquet(path: str) -> bool:
    return Path(path).suffix.lower() in PARQUET


def _without_missing(values: Array, column: str) -> Array:
    missing = int(np.ma.getmaskarray(values).sum())
    if missing:
        raise InputError(
            f"{missing:,} rows have no usable value in column {column!r}. Drop or fill them first."
        )
    return np.ma.getdata(values)


def _is_positive(column: str, value: str) -> str:
    """Return the SQL condition that a column holds the positive class; NULL where it is empty."""
    text = f"trim(CAST({quoted(column)} AS VARCHAR))"
    condition = label_condition(text, "VARCHAR", LabelMatch.from_text(value.strip()))
    return f"CASE WHEN nullif({text}, '') IS NOT NULL THEN coalesce({condition}, false) END"
