"""Files and databases as tables of DuckDB.

Column names, file names and label values are untrusted text, so all of them are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pueval.errors import InputError, require
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns, check_column, check_unique
from pueval.sources.csv_files import check_file_end, csv_header
from pueval.sources.duckdb_columns import (
    INTEGERS,
    is_inexact,
    is_integer,
    is_nan,
    is_number,
    is_readable,
    kind_of,
    number_in_text,
    number_of,
)
from pueval.sources.duckdb_connections import (
    file_names,
    quoted,
    restricted_connection,
    text_literal,
)
from pueval.sources.labels import (
    MISSING_WORDS,
    NO_LABEL,
    UNKNOWN,
    LabelValues,
    inexact_scores_error,
    infinite_error,
    missing_error,
)
from pueval.sources.paths import (
    DataLocation,
    folder_columns,
    needs_folder_columns,
    parquet_headers,
    unreadable_error,
)

# Our name of a column → the user's name, and what the column holds.
RequestedColumns = dict[str, tuple[str, str]]


@dataclass(frozen=True)
class FileTable:
    """The requested columns of files or of a database, under names of our own.

    The names are ``label``, ``s0``, ``s1``, … for scores, ``w`` for weights, ``g0``, ``g1``, … for
    groups, ``c`` and ``d`` for clusters and ``id`` for the names of rows, so the user's names may
    be anything.
    """

    relation: Any
    columns: Columns
    labels: LabelValues
    types: dict[str, str]
    connection: Any

    def comparable_labels(self) -> LabelValues | None:
        """Return label values to compare the label column with as it is; None if it needs SQL."""
        dtype = self.types["label"]
        column: Literal["boolean", "integer", "float"] = "integer"
        if dtype in {"BOOLEAN", "FLOAT", "DOUBLE"}:
            column = "boolean" if dtype == "BOOLEAN" else "float"
        elif dtype not in INTEGERS:
            return None
        matches = self.labels.matches(from_text=True)
        values = [None if match is None else match.value_in(column) for match in matches]
        return LabelValues(*values) if values.count(None) == matches.count(None) else None

    def has_plain_numbers(self) -> bool:
        """Whether scores and weights are numbers that need no conversion."""
        types = {dtype for name, dtype in self.types.items() if name != "label"}
        return types <= {*INTEGERS, "FLOAT", "DOUBLE"}

    @property
    def has_text_weights(self) -> bool:
        """Whether weights are text; if all of them are integers, they are frequency weights."""
        return self.types.get("w") == "VARCHAR"

    def numbers(self, *, keep_labels: bool = False) -> Any:
        """Return the rows with labels as codes (column ``k``) and scores and weights as numbers.

        With ``keep_labels``, labels stay as they are, which saves the engine half of its time.
        """
        kind = "label" if keep_labels else kind_of(self.types["label"], self.labels)
        selected = [f"{kind} AS k"]
        for name, dtype in self.types.items():
            if name.startswith("g") and self.columns.periods is not None:
                number = self.columns.periods.duckdb_number(name, dtype)
                selected.append(f"{number} AS {name}")
            elif name.startswith("g") or name in {"id", "c", "d"}:
                selected.append(name)
            elif name != "label":
                selected.append(f"{number_of(name, dtype)} AS {name}")
        return self.relation.select(", ".join(selected))

    def problem(self) -> InputError:
        """Return the error that says which rows cannot be used, and how many."""
        table, columns = self.numbers(), self.columns
        missing, unknown = _count(table, f"k = {NO_LABEL}", f"k = {UNKNOWN}")
        if missing:
            rows_have = "1 row has" if missing == 1 else f"{missing:,} rows have"
            return InputError(
                f"{rows_have} no label (column {columns.label!r}). If a missing label "
                "means unlabeled, pass unlabeled_label=''. Otherwise drop or fill them first."
            )
        if unknown:
            rows = self.relation.filter(f"{kind_of(self.types['label'], self.labels)} = {UNKNOWN}")
            values = [row[0] for row in rows.select("label").distinct().limit(6).fetchall()]
            return self.labels.unrecognized_error(sorted(values, key=str), unknown)
        for ours, (name, content) in _number_columns(columns).items():
            if problem := self._number_problem(table, ours, name, content):
                return problem
        return InputError("some rows changed while they were read. Read them again.")

    def _number_problem(self, table: Any, ours: str, name: str, content: str) -> InputError | None:
        text = f"CAST({ours} AS VARCHAR)"
        not_number = f"{text} IS NOT NULL AND {number_in_text(text)} IS NULL"
        not_numbers = self.relation.filter(not_number)
        [(other, example)] = not_numbers.aggregate(f"count(*), any_value({text})").fetchall()
        if other:
            values = "1 other value" if other == 1 else f"{other:,} other values, for example"
            comma = re.fullmatch(r"[-+]?\d+,\d+", str(example).strip())
            hint = " Write decimals with a point." if comma else ""
            return InputError(
                f"{content} column {name!r} must hold numbers only; got {values} {example!r}.{hint}"
            )
        if self.types[ours] not in {"FLOAT", "DOUBLE", "BOOLEAN"}:
            # Compared as integers: as a float, 2**53 + 1 would be rounded to 2**53.
            limit = EXACT if is_integer(self.types[ours]) else EXACT - 1
            is_text = not is_number(self.types[ours])
            beyond = is_inexact(text) if is_text else f"{ours} > {limit} OR {ours} < -{limit}"
            [too_large] = _count(self.relation, beyond)
            given = f"{too_large:,} beyond in column {name!r}"
            if too_large and content == "score":
                return inexact_scores_error(given)
            if too_large:
                return InputError(
                    f"frequency weights must lie within ±2**53; got {given}. "
                    "Divide them by a common factor."
                )
        as_float = f"CAST({ours} AS DOUBLE)"
        is_missing = f"{ours} IS NULL OR {is_nan(as_float)}"
        missing, infinite, negative = _count(table, is_missing, f"isinf({as_float})", f"{ours} < 0")
        if missing:
            return missing_error(f"{content} (column {name!r})", missing)
        if infinite:
            return infinite_error(f"{content} (column {name!r})", infinite)
        if content == "weight" and negative:
            return InputError(f"weights must not be negative; got {negative:,} below zero.")
        return None


def _count(relation: Any, *conditions: str) -> tuple[int, ...]:
    """Return the number of rows that meet each condition."""
    counts = ", ".join(f"count(*) FILTER ({condition})" for condition in conditions)
    [row] = relation.aggregate(counts).fetchall()
    return tuple(row)


def _number_columns(columns: Columns) -> RequestedColumns:
    """Return the columns of scores and weights."""
    requested = {f"s{k}": (name, "score") for k, name in enumerate(columns.scores)}
    if columns.sample_weight is not None:
        requested["w"] = (columns.sample_weight, "weight")
    return requested


@contextmanager
def open_table(
    location: DataLocation, columns: Columns, labels: LabelValues
) -> Iterator[FileTable]:
    """Open files or a database as one table; rows are read only when queried."""
    requested = {"label": (columns.label, "label")} | _number_columns(columns)
    requested |= {f"g{k}": (name, "group") for k, name in enumerate(columns.by)}
    if columns.cluster is not None:
        requested["c"] = (columns.cluster, "cluster")
    if columns.second_cluster is not None:
        requested["d"] = (columns.second_cluster, "cluster")
    if columns.row_id is not None:
        requested["id"] = (columns.row_id, "id")
    with connect_to(location) as connection:
        relation = select_columns(connection, location, requested)
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        for ours, (name, content) in _number_columns(columns).items():
            if not is_readable(types[ours]):
                raise InputError(
                    f"{content} column {name!r} must hold numbers; got type {types[ours]}."
                )
        yield FileTable(relation, columns, labels, types, connection)


@contextmanager
def connect_to(location: DataLocation) -> Iterator[Any]:
    """Open a connection that can read some files only; name them in errors."""
    duckdb = require("duckdb", extra="cli", purpose="reading files")
    # A database may have a log beside it.
    log = [f"{location.files[0]}.wal"] if location.format == "duckdb" else []
    with restricted_connection([*location.files, *log]) as connection:
        try:
            yield connection
        except duckdb.Error as error:
            raise unreadable_error(location.text, error) from None


def select_columns(connection: Any, location: DataLocation, requested: RequestedColumns) -> Any:
    """Return columns of files or of a database; those of CSV files are text.

    The first column determines the delimiter of CSV files.
    """
    relation = _csv_relation if location.format == "csv" else _typed_relation
    return relation(connection, location, requested)


def _typed_relation(connection: Any, location: DataLocation, requested: RequestedColumns) -> Any:
    """Return the requested columns of Parquet or Arrow files or of a database's table."""
    if location.format == "parquet":
        return _parquet_relation(connection, location, requested)
    if location.format == "duckdb":
        relation = database_relation(connection, location)
        names = relation.columns
    else:
        dataset = require("pyarrow.dataset", extra="cli", purpose="reading Arrow files")
        try:
            files = dataset.dataset(
                list(location.files),
                format="ipc",
                partitioning="hive" if location.folder else None,
                partition_base_dir=location.folder,
            )
        except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise unreadable_error(location.text, error) from None
        relation, names = connection.from_arrow(files), files.schema.names
    for name, content in requested.values():
        check_column(name, names, content)
        check_unique(name, names, location.text)
    return relation.select(_selected(requested, names, relation.columns))


def _selected(
    requested: RequestedColumns, names: Sequence[str], duckdb_names: Sequence[str]
) -> str:
    """Return the SQL that selects requested columns by their places; null where there is none.

    DuckDB does not distinguish names that differ in case only. It renames the columns ``a``, ``A``
    and ``A_1`` to ``a``, ``A_1`` and ``A_1_1``.
    """
    folders = duckdb_names[len(names) :]
    places = dict(zip([*names, *folders], duckdb_names, strict=True))
    return ", ".join(
        f"{quoted(places[name]) if name in places else 'NULL'} AS {ours}"
        for ours, (name, _) in requested.items()
    )


def _parquet_relation(connection: Any, location: DataLocation, requested: RequestedColumns) -> Any:
    """Return the requested columns of Parquet files; those with the same header share a query."""
    files_by_header = parquet_headers(location)
    wanted = [name for name, _ in requested.values()]
    hive = needs_folder_columns(location, wanted, files_by_header)
    queries, all_names = [], []
    for header, files in files_by_header.items():
        source = (
            f"read_parquet({file_names(files)}, hive_partitioning = {str(hive).lower()}, "
            "union_by_name = true)"
        )
        columns = connection.sql(f"SELECT * FROM {source}").columns  # noqa: S608 - quoted
        all_names += [*header, *columns[len(header) :]]  # the rest are names of folders
        queries.append(f"SELECT {_selected(requested, header, columns)} FROM {source}")  # noqa: S608
    for name, content in requested.values():
        check_column(name, list(dict.fromkeys(all_names)), content)
    return connection.sql(" UNION ALL ".join(queries))


def database_relation(connection: Any, location: DataLocation) -> Any:
    """Return the table of a database; refuse a name that it does not have."""
    connection.execute(f"ATTACH {text_literal(location.files[0])} AS source (READ_ONLY)")
    name = str(location.table)
    tables = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'source'"
    ).fetchall()
    for schema, table in tables:
        if name in {f"{schema}.{table}", table}:
            return connection.table(f"source.{quoted(schema)}.{quoted(table)}")
    names = ", ".join(repr(table) for _, table in tables) or "none"
    raise InputError(f"no table {name!r} in {location.files[0]}. Its tables: {names}.")


def _csv_relation(connection: Any, location: DataLocation, requested: RequestedColumns) -> Any:
    """Return the requested columns of CSV files, as text.

    Files may have their columns in different orders; files with the same header share a query.
    """
    files_by_header: dict[tuple[Any, ...], list[str]] = {}
    first = next(iter(requested.values()))[0]
    for file in location.files:
        if Path(file).stat().st_size:
            delimiter, header = csv_header(file, first)
            check_file_end(file)
            key = (delimiter, header, folder_columns(file, location.folder))
            files_by_header.setdefault(key, []).append(file)
    queries = []
    for (delimiter, header, folders), files in files_by_header.items():
        constants = dict(folders)
        selected = []
        for ours, (name, content) in requested.items():
            if name in constants and name not in header:
                selected.append(f"{text_literal(constants[name])} AS {ours}")
                continue
            check_column(name, [*header, *constants], content)
            check_unique(name, header, files[0])
            selected.append(f"c{header.index(name)} AS {ours}")
        types = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(header)))
        options = (
            f"header = true, auto_detect = false, columns = {{{types}}}, delim = "
            f"{text_literal(delimiter)}, quote = '\"', escape = '\"', "
            f"nullstr = [{', '.join(map(text_literal, MISSING_WORDS))}]"
        )
        source = f"read_csv({file_names(files)}, {options})"
        queries.append(f"SELECT {', '.join(selected)} FROM {source}")  # noqa: S608 - quoted
    return connection.sql(" UNION ALL ".join(queries))
