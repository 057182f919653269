"""Rows from CSV and Parquet files, read by DuckDB.

Column names, file names and label values are untrusted text: all of them are quoted.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pueval.errors import InputError, require
from pueval.samples import Array
from pueval.sources.arrays import Samples, read_arrays
from pueval.sources.frames import check_column
from pueval.sources.labels import LabelValues, missing

PARQUET = {".parquet", ".pq"}
# Text that stands for a missing value in a CSV file.
NULLS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]
NUMBERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
KINDS = LabelValues(1, 0, 2)


def read_files(
    path: str | os.PathLike[str],
    *,
    label: str,
    scores: Sequence[str],
    weight: str | None,
    labels: LabelValues,
) -> list[Samples]:
    """Read the samples of each score column, in one pass over the files."""
    duckdb = require("duckdb", extra="cli", purpose="reading files")
    files = _find(path)
    with duckdb.connect(config={"threads": os.cpu_count() or 1}) as connection:
        try:
            relation = _open(connection, files, label)
        except duckdb.Error as error:
            raise _unreadable(path, error) from None
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        wanted = [(label, "label"), *((score, "score") for score in scores)]
        if weight is not None:
            wanted.append((weight, "weight"))
        for name, what in wanted:
            check_column(name, relation.columns, what)
        columns = [f"{_kind(label, types[label], labels)} AS k"]
        columns += [f"{_number(s, types[s])} AS s{i}" for i, s in enumerate(scores)]
        if weight is not None:
            columns.append(f"{_weight(weight, types[weight])} AS w")
        try:
            data = relation.select(", ".join(columns)).fetchnumpy()
            if not len(data["k"]):
                raise InputError(f"{path} holds no rows, only a header.")
            _check(relation, data, label, types, labels, wanted[1:])
        except duckdb.Error as error:
            raise _unreadable(path, error) from None
    given = None if weight is None else _plain(data["w"])
    kind = _plain(data["k"])
    return [
        read_arrays(kind, _plain(data[f"s{i}"]), weight=given, labels=KINDS)
        for i in range(len(scores))
    ]


def _find(path: str | os.PathLike[str]) -> list[str]:
    """Return the files a path or pattern stands for, or say why there are none."""
    text = os.fspath(path)
    if Path(text).is_dir():
        raise InputError(
            f"{text} is a folder. Name its files with a pattern, such as {text}/*.parquet."
        )
    files = [text] if Path(text).is_file() else sorted(glob.glob(text, recursive=True))  # noqa: PTH207
    files = [file for file in files if Path(file).is_file()]
    if not files:
        what = "no file matches" if glob.has_magic(text) else "there is no file"
        raise InputError(f"{what} {text!r} (looked in {Path.cwd()}).")
    if all(Path(file).stat().st_size == 0 for file in files):
        raise InputError(f"{text} is empty.")
    kinds = {Path(file).suffix.lower() in PARQUET for file in files}
    if len(kinds) > 1:
        raise InputError(f"{text!r} matches both Parquet and other files. Read them apart.")
    return files


def _header(file: str, label: str) -> tuple[str, list[str]]:
    """Read delimiter and column names from the first line of a CSV file.

    The delimiter is the one that makes a column of the label. DuckDB would guess it from all
    lines, and guess another one if some lines are malformed.
    """
    opener: Any = gzip.open if file.lower().endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8-sig", errors="replace", newline="") as stream:
        header = stream.readline().rstrip("\r\n")
    columns = {mark: next(csv.reader([header], delimiter=mark), []) for mark in ",\t;|"}
    mark = max(columns, key=lambda mark: (label in columns[mark], len(columns[mark])))
    if len(set(columns[mark])) < len(columns[mark]):
        raise InputError(f"{file} has two columns of the same name in its header: {header[:200]}.")
    return mark, columns[mark]


def _open(connection: Any, files: list[str], label: str) -> Any:
    # DuckDB takes every name for a pattern, so brackets and stars in names are escaped.
    names = "[" + ", ".join(_text(glob.escape(file)) for file in files) + "]"
    if Path(files[0]).suffix.lower() in PARQUET:
        return connection.sql(f"SELECT * FROM read_parquet({names})")  # noqa: S608 - quoted
    delimiter, columns = _header(files[0], label)
    types = ", ".join(f"{_text(column)}: 'VARCHAR'" for column in columns)
    options = (
        f"header = true, auto_detect = false, columns = {{{types}}}, delim = {_text(delimiter)}, "
        f"quote = '\"', escape = '\"', nullstr = [{', '.join(map(_text, NULLS))}]"
    )
    return connection.sql(f"SELECT * FROM read_csv({names}, {options})")  # noqa: S608 - quoted


def _unreadable(path: Any, error: Exception) -> InputError:
    reason = " ".join(str(error).split()).split(" Possible fixes")[0][:300]
    return InputError(f"{path} could not be read as a table: {reason.rstrip('.')}.")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _is_number(kind: str) -> bool:
    return kind.startswith(NUMBERS)


def _number(name: str, kind: str) -> str:
    if kind == "FLOAT":
        return _quoted(name)
    return _cast(name, kind, "DOUBLE")


def _cast(name: str, kind: str, to: str) -> str:
    # A plain cast of a text column would be done by DuckDB's CSV reader, which stops at the
    # first value that is no number instead of counting them.
    return f"TRY_CAST({_quoted(name) if _is_number(kind) else f'trim({_quoted(name)})'} AS {to})"


def _weight(name: str, kind: str) -> str:
    whole = _is_number(kind) and not kind.startswith(("FLOAT", "DOUBLE", "DECIMAL"))
    return _cast(name, kind, "BIGINT" if whole else "DOUBLE")


def _matches(name: str, kind: str, value: Any) -> str:
    """Return the condition that a label is ``value``; 1, 1.0 and true are the same label."""
    column = _quoted(name)
    if isinstance(value, bool | np.bool_):
        value = int(value)
    text = str(value).strip()
    truth = {"true": 1.0, "false": 0.0}.get(text.lower())
    try:
        as_number = float(text) if truth is None else truth
    except ValueError:
        as_number = None
    if kind == "BOOLEAN":
        return f"CAST({column} AS DOUBLE) = {as_number!r}" if as_number in {0, 1} else "false"
    if _is_number(kind):
        return "false" if as_number is None else f"CAST({column} AS DOUBLE) = {as_number!r}"
    conditions = [f"CAST({column} AS VARCHAR) = {_text(value)}"]
    if as_number is not None:
        conditions.append(f"TRY_CAST({column} AS DOUBLE) = {as_number!r}")
        words = {1.0: "true", 0.0: "false"}
        if as_number in words:
            conditions.append(f"lower(CAST({column} AS VARCHAR)) = {_text(words[as_number])}")
    return "(" + " OR ".join(conditions) + ")"


def _kind(name: str, kind: str, labels: LabelValues) -> str:
    """Return the SQL that turns labels into 1 labeled, 0 unlabeled, 2 negative, 3 unknown."""
    cases = [
        f"WHEN {_matches(name, kind, value)} THEN {code}"
        for value, code in zip(labels.kinds, KINDS.kinds, strict=True)
        if value is not None
    ]
    empty = f"WHEN {_quoted(name)} IS NULL THEN -1"
    return f"CAST(CASE {empty} {' '.join(cases)} ELSE 3 END AS TINYINT)"


def _plain(values: Array) -> Array:
    return np.ma.getdata(values)


def _check(
    relation: Any,
    data: dict[str, Array],
    label: str,
    types: dict[str, str],
    labels: LabelValues,
    numbers: Sequence[tuple[str, str]],
) -> None:
    """Refuse missing or unknown labels and numbers that are none."""
    kind = _plain(data["k"])
    if (lost := int(np.count_nonzero(kind == -1))) > 0:
        raise missing(f"label (column {label!r})", lost)
    if (strange := int(np.count_nonzero(kind == 3))) > 0:
        code = _kind(label, types[label], labels)
        found = relation.filter(f"{code} = 3").select(_quoted(label)).distinct().limit(6)
        raise labels.unknown(sorted((row[0] for row in found.fetchall()), key=str), strange)
    for index, (name, what) in enumerate(numbers):
        values = data["w" if what == "weight" else f"s{index}"]
        lost = int(np.ma.getmaskarray(values).sum())
        if not lost:
            continue
        text = f"CAST({_quoted(name)} AS VARCHAR)"
        bad = relation.filter(f"{text} IS NOT NULL AND TRY_CAST({text} AS DOUBLE) IS NULL")
        [(other, example)] = bad.aggregate(f"count(*), any_value({text})").fetchall()
        if other:
            raise InputError(
                f"{what} column {name!r} must hold numbers only; "
                f"got {other:,} other values, for example {example!r}."
            )
        raise missing(f"{what} (column {name!r})", lost)
