"""Rows of files and databases as a table of DuckDB.

Column names, file names and label values are untrusted text: all of them are quoted.
"""

from __future__ import annotations

import csv
import glob
import gzip
import math
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pueval.errors import InputError, require
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns, check_column
from pueval.sources.labels import LabelValues, infinite, missing
from pueval.sources.paths import Place

# Text that stands for a missing value in a CSV file.
NULLS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]
NUMBERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
# Whole numbers that NumPy has, and those that may be too large for it.
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
LARGE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
# Types whose numbers need not be whole; text is read as DOUBLE.
FLOATS = {"FLOAT", "DOUBLE", "VARCHAR"}
# Not isnan(): DuckDB takes it for false where the statistics of a Parquet file leave NaN out.
NAN = "'nan'"
# Labels as kinds, and what they may be beside labeled, unlabeled and negative.
KINDS = LabelValues(0, 1, 2)
UNKNOWN, NO_LABEL = 3, 4


@dataclass(frozen=True)
class Rows:
    """The wanted columns of some files, under names of our own.

    ``label``, ``s0``, ``s1``, …, ``w`` and ``g0``, ``g1``, …: so theirs may be anything.
    """

    relation: Any
    columns: Columns
    labels: LabelValues
    types: dict[str, str]

    def plain_labels(self) -> tuple[bool, LabelValues]:
        """Return whether labels are numbers that can be compared as they are, and the values."""
        kind = self.types["label"]
        wanted = [_as_number(value) for value in self.labels.kinds if value is not None]
        if kind not in {*WHOLE, "FLOAT", "DOUBLE", "BOOLEAN"} or not all(
            number is not None and math.isfinite(number) for number in wanted
        ):
            return False, KINDS
        turn = {"BOOLEAN": bool, "FLOAT": float, "DOUBLE": float}.get(kind, int)
        here = [None if value is None else _as_number(value) for value in self.labels.kinds]
        # A value that the column cannot hold would become another one.
        if any(number is not None and turn(number) != number for number in here):
            return False, KINDS
        return True, LabelValues(*(None if number is None else turn(number) for number in here))

    def plain_numbers(self) -> bool:
        """Whether scores and weights are numbers that can be taken as they are."""
        return all(
            kind in {*WHOLE, "FLOAT", "DOUBLE"}
            for name, kind in self.types.items()
            if name != "label"
        )

    def numbers(self, *, plain: bool = False) -> Any:
        """Return the rows with labels as kinds (column ``k``) and everything else as numbers.

        With ``plain``, labels stay what they are, which saves the engine half of its work.
        """
        kind = "label" if plain else _kind(self.types["label"], self.labels)
        chosen = [f"{kind} AS k"]
        for name, kind in self.types.items():
            if name.startswith("g"):
                chosen.append(name)
            elif name != "label":
                chosen.append(f"{_number(name, kind)} AS {name}")
        return self.relation.select(", ".join(chosen))

    def problem(self) -> InputError:
        """Say which rows cannot be used, and how many."""
        table, columns = self.numbers(), self.columns
        [(lost, strange)] = table.aggregate(
            f"count(*) FILTER (k = {NO_LABEL}), count(*) FILTER (k = {UNKNOWN})"
        ).fetchall()
        if lost:
            return InputError(
                f"{lost:,} rows have no label (column {columns.label!r}). If that means unlabeled, "
                "say so: unlabeled_label='' (--unlabeled ''). Otherwise drop or fill them first."
            )
        if strange:
            found = self.relation.filter(f"{_kind(self.types['label'], self.labels)} = {UNKNOWN}")
            values = [row[0] for row in found.select("label").distinct().limit(6).fetchall()]
            return self.labels.unknown(sorted(values, key=str), strange)
        for ours, (name, what) in _wanted(columns).items():
            found = self._number_problem(table, ours, name, what)
            if found is not None:
                return found
        return InputError("some rows changed while they were read. Read them again.")

    def _number_problem(self, table: Any, ours: str, name: str, what: str) -> InputError | None:
        text = f"CAST({ours} AS VARCHAR)"
        bad = f"{text} IS NOT NULL AND TRY_CAST(trim({text}) AS DOUBLE) IS NULL"
        [(other, example)] = (
            self.relation.filter(bad).aggregate(f"count(*), any_value({text})").fetchall()
        )
        if other:
            return InputError(
                f"{what} column {name!r} must hold numbers only; "
                f"got {other:,} other values, for example {example!r}."
            )
        if self.types[ours] not in FLOATS and self.types[ours] != "BOOLEAN":
            # Compared as whole numbers: the first one beyond would be rounded to the last within.
            [(beyond,)] = self.relation.aggregate(
                f"count(*) FILTER ({ours} > {EXACT} OR {ours} < -{EXACT})"
            ).fetchall()
            if beyond:
                return _too_large(what, name, beyond)
        as_float = f"CAST({ours} AS DOUBLE)"
        [(lost, endless, below)] = table.aggregate(
            f"count(*) FILTER ({ours} IS NULL OR CAST({as_float} AS VARCHAR) = {NAN}), "
            f"count(*) FILTER (isinf({as_float})), "
            f"count(*) FILTER ({ours} < 0)"
        ).fetchall()
        if lost:
            return missing(f"{what} (column {name!r})", lost)
        if endless:
            return infinite(f"{what} (column {name!r})", endless)
        if what == "weight" and below:
            return InputError(f"weights must not be negative; got {below:,} below zero.")
        return None


def _too_large(what: str, name: str, rows: int) -> InputError:
    """Return the error for whole numbers that floats cannot hold."""
    if what == "weight":
        return InputError(
            "whole-number weights must lie within ±2**53; got "
            f"{rows:,} beyond in column {name!r}. Divide them by a common factor."
        )
    return InputError(
        "integer scores must lie within ±2**53, or different scores become equal; got "
        f"{rows:,} beyond in column {name!r}. Replace them by their ranks."
    )


def _wanted(columns: Columns) -> dict[str, tuple[str, str]]:
    """Return our names of the columns of numbers, theirs, and what they are."""
    wanted = {f"s{k}": (name, "score") for k, name in enumerate(columns.scores)}
    return wanted if columns.weight is None else wanted | {"w": (columns.weight, "weight")}


@contextmanager
def opened(place: Place, columns: Columns, labels: LabelValues) -> Iterator[Rows]:
    """Open files or a database as one table; nothing is read before it is asked for."""
    duckdb = require("duckdb", extra="cli", purpose="reading files")
    wanted = {"label": (columns.label, "label")} | _wanted(columns)
    wanted |= {f"g{k}": (name, "group") for k, name in enumerate(columns.by)}
    with duckdb.connect(config={"threads": os.cpu_count() or 1}) as connection:
        connection.execute("SET preserve_insertion_order = false")
        try:
            if place.format == "csv":
                relation = _csv(connection, place, wanted)
            else:
                names = [name for name, _ in wanted.values()]
                relation = _chosen(_table(connection, place, names), wanted)
            types = dict(zip(relation.columns, map(str, relation.types), strict=True))
            for ours, (name, what) in _wanted(columns).items():
                if not _readable(types[ours]):
                    raise InputError(
                        f"{what} column {name!r} must hold numbers; got type {types[ours]}."
                    )
            yield Rows(relation, columns, labels, types)
        except duckdb.Error as error:
            raise unreadable(place.text, error) from None


def unreadable(path: str, error: Exception) -> InputError:
    """Return the error for files that are not what they should be."""
    reason = " ".join(str(error).split()).split(" Possible fixes")[0][:300]
    return InputError(f"{path} could not be read as a table: {reason.rstrip('.')}.")


# ---------------------------------------------------------------------- opening


def _table(connection: Any, place: Place, names: Sequence[str]) -> Any:
    """Return all columns of Parquet or Arrow files or of a database's table."""
    if place.format == "duckdb":
        return _database_table(connection, place)
    if place.format == "arrow":
        dataset = require("pyarrow.dataset", extra="cli", purpose="reading Arrow files")
        hive = "hive" if place.folder else None
        try:
            files = dataset.dataset(
                list(place.files), format="ipc", partitioning=hive, partition_base_dir=place.folder
            )
        except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise unreadable(place.text, error) from None
        return connection.from_arrow(files)
    hive = "true" if folders_are_columns(place, names) else "false"
    return connection.sql(
        f"SELECT * FROM read_parquet({_names(place.files)}, "  # noqa: S608 - quoted
        f"union_by_name = true, hive_partitioning = {hive})"
    )


def folders_are_columns(place: Place, names: Sequence[str]) -> bool:
    """Whether some wanted columns of Parquet files are names of folders, such as ``day=3``.

    Engines take every folder of a path for a column, and prefer it to that of the file. So they
    are asked to only if a column is in no file.
    """
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading files")
    own: set[str] = set()
    for file in place.files:
        try:
            header = parquet.read_schema(file).names
        except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise unreadable(file, error) from None
        for name in names:
            check_unique(name, header, file)
        own.update(header)
    if own.issuperset(names):
        return False
    inside = {name for file in place.files for name, _ in _partition(file, place.folder)}
    every = {part.partition("=")[0] for file in place.files for part in Path(file).parts}
    for name in names:
        if name in own and name in every - inside:
            raise InputError(
                f"{place.text} holds a column {name!r} and lies in a folder of that name, which "
                "would be taken for it. Rename the folder."
            )
    return True


def _database_table(connection: Any, place: Place) -> Any:
    connection.execute(f"ATTACH {_text(place.files[0])} AS source (READ_ONLY)")
    name = str(place.table)
    there = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'source'"
    ).fetchall()
    for schema, table in there:
        if name in {f"{schema}.{table}", table}:
            return connection.table(f"source.{_quoted(schema)}.{_quoted(table)}")
    tables = ", ".join(repr(table) for _, table in there) or "none"
    raise InputError(f"there is no table {name!r} in {place.files[0]}. The tables are {tables}.")


def _chosen(relation: Any, wanted: dict[str, tuple[str, str]]) -> Any:
    """Return the wanted columns, under our names."""
    for name, what in wanted.values():
        check_column(name, relation.columns, what)
    return relation.select(
        ", ".join(f"{_quoted(name)} AS {ours}" for ours, (name, _) in wanted.items())
    )


def csv_header(file: str, label: str) -> tuple[str, tuple[str, ...]]:
    """Read delimiter and column names from the first line of a CSV file.

    The delimiter is the one that makes a column of the label. DuckDB would guess it from all
    lines, and guess another one if some lines are malformed.
    """
    opener: Any = gzip.open if file.lower().endswith(".gz") else open
    try:
        with opener(file, "rt", encoding="utf-8-sig", errors="replace", newline="") as stream:
            header = stream.readline().rstrip("\r\n")
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(file, error) from None
    columns = {mark: next(csv.reader([header], delimiter=mark), []) for mark in ",\t;|"}
    mark = max(columns, key=lambda mark: (label in columns[mark], len(columns[mark])))
    return mark, tuple(columns[mark])


def check_unique(name: str, header: Sequence[str], file: str) -> None:
    """Refuse a name that more than one column has."""
    if header.count(name) > 1:
        raise InputError(f"{file} has more than one column {name!r}. Rename one.")


def _partition(file: str, folder: str | None) -> tuple[tuple[str, str], ...]:
    """Return the columns that the folders of a file stand for, such as ``day=3``."""
    if folder is None:
        return ()
    inside = Path(file).relative_to(folder).parent.parts
    pairs = [part.partition("=") for part in inside]
    return tuple((name, value) for name, mark, value in pairs if mark)


def _csv(connection: Any, place: Place, wanted: dict[str, tuple[str, str]]) -> Any:
    """Return the wanted columns of CSV files, as text.

    Files may have their columns in different orders; those with the same header are one query.
    """
    alike: dict[tuple[Any, ...], list[str]] = {}
    for file in place.files:
        if Path(file).stat().st_size:
            key = (*csv_header(file, wanted["label"][0]), _partition(file, place.folder))
            alike.setdefault(key, []).append(file)
    queries = []
    for (delimiter, header, partition), files in alike.items():
        fixed = dict(partition)
        chosen = []
        for ours, (name, what) in wanted.items():
            if name in fixed and name not in header:
                chosen.append(f"{_text(fixed[name])} AS {ours}")
                continue
            check_column(name, [*header, *fixed], what)
            check_unique(name, header, files[0])
            chosen.append(f"c{header.index(name)} AS {ours}")
        types = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(header)))
        options = (
            f"header = true, auto_detect = false, columns = {{{types}}}, delim = "
            f"{_text(delimiter)}, quote = '\"', escape = '\"', "
            f"nullstr = [{', '.join(map(_text, NULLS))}]"
        )
        source = f"read_csv({_names(files)}, {options})"
        queries.append(f"SELECT {', '.join(chosen)} FROM {source}")  # noqa: S608 - quoted
    return connection.sql(" UNION ALL ".join(queries))


# ---------------------------------------------------------------------- SQL


def _names(files: tuple[str, ...] | list[str]) -> str:
    # DuckDB takes every name for a pattern, so brackets and stars in names are escaped.
    return "[" + ", ".join(_text(glob.escape(file)) for file in files) + "]"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _is_number(kind: str) -> bool:
    # Not a list of numbers, which is written INTEGER[].
    return kind in NUMBERS or (kind.startswith("DECIMAL(") and kind.endswith(")"))


def is_whole(kind: str) -> bool:
    """Whether a type holds whole numbers only."""
    return kind in WHOLE or kind in LARGE or kind == "BOOLEAN"


def _readable(kind: str) -> bool:
    """Whether a type can be read as a number; text is looked at value by value."""
    return _is_number(kind) or kind in {"BOOLEAN", "VARCHAR"} or kind.startswith("ENUM(")


def _number(name: str, kind: str) -> str:
    """Return the SQL for a number; whole numbers and floats stay what they are."""
    if kind in {*WHOLE, "FLOAT", "DOUBLE"}:
        return name
    if is_whole(kind):
        # As floats, two of them could become equal; null are those that are too large anyway.
        return f"TRY_CAST({name} AS BIGINT)"
    if _is_number(kind):
        return f"CAST({name} AS DOUBLE)"
    # A plain cast of a text column would be done by DuckDB's CSV reader, which stops at the
    # first value that is no number instead of counting them.
    return f"TRY_CAST(trim(CAST({name} AS VARCHAR)) AS DOUBLE)"


def _as_number(value: Any) -> float | None:
    """Return the number that a label value stands for."""
    text = str(value).strip()
    truth = {"true": 1.0, "false": 0.0}.get(text.lower())
    try:
        return float(text) if truth is None else truth
    except ValueError:
        return None


def _matches(kind: str, value: Any) -> str:
    """Return the condition that a label is ``value``; 1, 1.0 and true are the same label."""
    if isinstance(value, bool | np.bool_):
        value = int(value)
    as_number = _as_number(value)
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
    """Return the SQL that turns labels into 0 labeled, 1 unlabeled, 2 negative, 3 unknown.

    A missing label is none of them (4), unless one of the values is itself a word for missing,
    such as the empty text.
    """
    missing_is, cases = NO_LABEL, []
    for code, value in enumerate(labels.kinds):
        if value is None:
            continue
        if str(value) in NULLS:
            missing_is = code
        cases.append(f"WHEN {_matches(kind, value)} THEN {code}")
    empty = f"WHEN label IS NULL THEN {missing_is}"
    other = f"ELSE {UNKNOWN}"
    if kind in {"FLOAT", "DOUBLE"}:
        # What is left is NaN. DuckDB would take any question for it as answered by statistics.
        endless = "label = 'inf' OR label = '-inf'"
        other = f"WHEN label - label = 0 OR {endless} THEN {UNKNOWN} ELSE {missing_is}"
    return f"CAST(CASE {empty} {' '.join(cases)} {other} END AS TINYINT)"
