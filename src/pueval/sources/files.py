"""Rows from CSV and Parquet files, read by DuckDB.

Column names, file names and label values are untrusted text: all of them are quoted.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pueval.errors import InputError, require
from pueval.samples import Array
from pueval.sources.arrays import EXACT, Samples, read_arrays
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


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of the files, row by row: 1 labeled, 0 unlabeled, 2 known negative (`KINDS`)."""

    kind: Array
    scores: list[Array]
    weight: Array | None
    by: Array | None


def read_files(
    path: str | os.PathLike[str],
    *,
    label: str,
    scores: Sequence[str],
    weight: str | None,
    labels: LabelValues,
) -> list[Samples]:
    """Read the samples of each score column, in one pass over the files."""
    rows = read_rows(path, label=label, scores=scores, weight=weight, labels=labels)
    return [
        read_arrays(rows.kind, score, weight=rows.weight, labels=KINDS) for score in rows.scores
    ]


def read_rows(
    path: str | os.PathLike[str],
    *,
    label: str,
    scores: Sequence[str],
    weight: str | None,
    labels: LabelValues,
    by: str | None = None,
) -> Rows:
    """Read labels, scores, weights and groups of all rows."""
    duckdb = require("duckdb", extra="cli", purpose="reading files")
    files = _find(path)
    # Columns get names of our own, so that theirs may be anything.
    wanted = {"label": (label, "label")}
    wanted |= {f"s{i}": (score, "score") for i, score in enumerate(scores)}
    if weight is not None:
        wanted["w"] = (weight, "weight")
    numbers = [*wanted][1:]
    if by is not None:
        wanted["g"] = (by, "group")
    with duckdb.connect(config={"threads": os.cpu_count() or 1}) as connection:
        try:
            relation = _open(connection, files, wanted)
            types = dict(zip(relation.columns, map(str, relation.types), strict=True))
            columns = [f"{_kind(types['label'], labels)} AS k"]
            columns += [f"{_number(name, types[name])} AS {name}" for name in numbers]
            columns += [] if by is None else ["g"]
            data = relation.select(", ".join(columns)).fetchnumpy()
            if not len(data["k"]):
                raise InputError(f"{path} holds no rows, only a header.")
            _check(relation, data, types, labels, {k: wanted[k] for k in ("label", *numbers)})
        except duckdb.Error as error:
            raise _unreadable(path, error) from None
    return Rows(
        _plain(data["k"]),
        [_plain(data[f"s{i}"]) for i in range(len(scores))],
        None if weight is None else _weights(_plain(data["w"]), types["w"]),
        None if by is None else _groups(data["g"], by),
    )


def _groups(values: Array, by: str) -> Array:
    """Return the names of groups; refuse missing ones."""
    lost = int(np.ma.getmaskarray(values).sum())
    if lost:
        words = ", ".join(word or "nothing" for word in NULLS)
        raise InputError(
            f"{lost:,} rows have no group (column {by!r}): in text files these words mean a "
            f"missing value: {words}. Drop the rows, or give them a group of their own."
        )
    return _plain(values)


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


def _header(file: str, label: str) -> tuple[str, tuple[str, ...]]:
    """Read delimiter and column names from the first line of a CSV file.

    The delimiter is the one that makes a column of the label. DuckDB would guess it from all
    lines, and guess another one if some lines are malformed.
    """
    opener: Any = gzip.open if file.lower().endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8-sig", errors="replace", newline="") as stream:
        header = stream.readline().rstrip("\r\n")
    columns = {mark: next(csv.reader([header], delimiter=mark), []) for mark in ",\t;|"}
    mark = max(columns, key=lambda mark: (label in columns[mark], len(columns[mark])))
    return mark, tuple(columns[mark])


def _open(connection: Any, files: list[str], wanted: dict[str, tuple[str, str]]) -> Any:
    """Return the wanted columns of all files, under our names."""
    if Path(files[0]).suffix.lower() in PARQUET:
        relation = connection.sql(
            f"SELECT * FROM read_parquet({_names(files)}, union_by_name = true)"  # noqa: S608
        )
        for name, what in wanted.values():
            check_column(name, relation.columns, what)
        return relation.select(
            ", ".join(f"{_quoted(name)} AS {ours}" for ours, (name, _) in wanted.items())
        )
    # Files may have their columns in different orders; those with the same header are one query.
    headers: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for file in files:
        if Path(file).stat().st_size:
            headers.setdefault(_header(file, wanted["label"][0]), []).append(file)
    queries = []
    for (delimiter, columns), alike in headers.items():
        chosen = []
        for ours, (name, what) in wanted.items():
            check_column(name, columns, what)
            if columns.count(name) > 1:
                raise InputError(f"{alike[0]} has more than one column {name!r}. Rename one.")
            chosen.append(f"c{columns.index(name)} AS {ours}")
        types = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(columns)))
        options = (
            f"header = true, auto_detect = false, columns = {{{types}}}, delim = "
            f"{_text(delimiter)}, quote = '\"', escape = '\"', "
            f"nullstr = [{', '.join(map(_text, NULLS))}]"
        )
        source = f"read_csv({_names(alike)}, {options})"
        queries.append(f"SELECT {', '.join(chosen)} FROM {source}")  # noqa: S608 - quoted
    return connection.sql(" UNION ALL ".join(queries))


def _names(files: list[str]) -> str:
    # DuckDB takes every name for a pattern, so brackets and stars in names are escaped.
    return "[" + ", ".join(_text(glob.escape(file)) for file in files) + "]"


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
    """Return the SQL for a number; whole numbers and floats stay what they are."""
    if kind in {"FLOAT", "DOUBLE", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"}:
        return name
    if _is_number(kind) or kind == "BOOLEAN":
        return f"CAST({name} AS DOUBLE)"
    # A plain cast of a text column would be done by DuckDB's CSV reader, which stops at the
    # first value that is no number instead of counting them.
    return f"TRY_CAST(trim({name}) AS DOUBLE)"


def _weights(values: Array, kind: str) -> Array:
    """Take numbers in text for whole ones if they all are."""
    if kind == "VARCHAR" and np.all(values == np.floor(values)) and np.all(np.abs(values) < EXACT):
        return values.astype(np.int64)
    return values


def _matches(kind: str, value: Any) -> str:
    """Return the condition that a label is ``value``; 1, 1.0 and true are the same label."""
    if isinstance(value, bool | np.bool_):
        value = int(value)
    text = str(value).strip()
    truth = {"true": 1.0, "false": 0.0}.get(text.lower())
    try:
        as_number = float(text) if truth is None else truth
    except ValueError:
        as_number = None
    if kind == "BOOLEAN":
        return f"CAST(label AS DOUBLE) = {as_number!r}" if as_number in {0, 1} else "false"
    if _is_number(kind):
        unknown = as_number is None or as_number != as_number  # noqa: PLR0124 - NaN
        return "false" if unknown else f"CAST(label AS DOUBLE) = {as_number!r}"
    conditions = [f"CAST(label AS VARCHAR) = {_text(value)}"]
    if as_number is not None and as_number == as_number:  # noqa: PLR0124 - not NaN
        conditions.append(f"TRY_CAST(label AS DOUBLE) = {as_number!r}")
        words = {1.0: "true", 0.0: "false"}
        if as_number in words:
            conditions.append(f"lower(CAST(label AS VARCHAR)) = {_text(words[as_number])}")
    return "(" + " OR ".join(conditions) + ")"


def _kind(kind: str, labels: LabelValues) -> str:
    """Return the SQL that turns labels into 1 labeled, 0 unlabeled, 2 negative, 3 unknown.

    A missing label is none of them (−1), unless one of the values is itself a word for missing,
    such as the empty text.
    """
    missing_is, cases = -1, []
    for value, code in zip(labels.kinds, KINDS.kinds, strict=True):
        if value is None:
            continue
        if str(value) in NULLS:
            missing_is = code
        cases.append(f"WHEN {_matches(kind, value)} THEN {code}")
    empty = f"WHEN label IS NULL THEN {missing_is}"
    return f"CAST(CASE {empty} {' '.join(cases)} ELSE 3 END AS TINYINT)"


def _plain(values: Array) -> Array:
    return np.ma.getdata(values)


def _check(
    relation: Any,
    data: dict[str, Array],
    types: dict[str, str],
    labels: LabelValues,
    wanted: dict[str, tuple[str, str]],
) -> None:
    """Refuse missing or unknown labels and numbers that are none."""
    kind = _plain(data["k"])
    column = wanted["label"][0]
    if (lost := int(np.count_nonzero(kind == -1))) > 0:
        raise InputError(
            f"{lost:,} rows have no label (column {column!r}). If that means unlabeled, say so: "
            "unlabeled_label='' (--unlabeled ''). Otherwise drop or fill them first."
        )
    if (strange := int(np.count_nonzero(kind == 3))) > 0:
        found = relation.filter(f"{_kind(types['label'], labels)} = 3")
        found = found.select("label").distinct().limit(6)
        raise labels.unknown(sorted((row[0] for row in found.fetchall()), key=str), strange)
    for ours, (name, what) in [*wanted.items()][1:]:
        lost = int(np.ma.getmaskarray(data[ours]).sum())
        if not lost:
            continue
        text = f"CAST({ours} AS VARCHAR)"
        bad = relation.filter(f"{text} IS NOT NULL AND TRY_CAST(trim({text}) AS DOUBLE) IS NULL")
        [(other, example)] = bad.aggregate(f"count(*), any_value({text})").fetchall()
        if other:
            raise InputError(
                f"{what} column {name!r} must hold numbers only; "
                f"got {other:,} other values, for example {example!r}."
            )
        raise missing(f"{what} (column {name!r})", lost)
