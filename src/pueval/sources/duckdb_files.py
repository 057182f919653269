"""Files and databases as relations of DuckDB."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pueval.errors import InputError, require
from pueval.sources.columns import check_column
from pueval.sources.paths import DataLocation
from pueval.sources.sql import NULLS, file_names, quoted, text_literal

# How much of another library's words is passed on.
LONGEST = 300


def unreadable_error(path: str, error: Exception) -> InputError:
    """Return the error for files that are not what they should be."""
    said = " ".join(str(error).split())
    if re.search(r"unicode|utf-?8", said, re.IGNORECASE):
        line = re.search(r"Line: (\d+)", said)
        where = f" (line {line[1]})" if line else ""
        return InputError(f"{path} is not in UTF-8{where}. Save it as CSV UTF-8 first.")
    reason = re.split(r" Possible (?:fixes|Solution)| Original Line:", said)[0]
    if len(reason) > LONGEST:
        reason = reason[:LONGEST].rpartition(" ")[0] + " …"
    return InputError(f"{path} could not be read as a table: {reason.rstrip('.')}.")


def read_table(connection: Any, place: DataLocation, names: Sequence[str]) -> Any:
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
            raise unreadable_error(place.text, error) from None
        return connection.from_arrow(files)
    hive = "true" if folders_are_columns(place, names) else "false"
    return connection.sql(
        f"SELECT * FROM read_parquet({file_names(place.files)}, "  # noqa: S608 - quoted
        f"union_by_name = true, hive_partitioning = {hive})"
    )


def folders_are_columns(place: DataLocation, names: Sequence[str]) -> bool:
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
            raise unreadable_error(file, error) from None
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


def _database_table(connection: Any, place: DataLocation) -> Any:
    connection.execute(f"ATTACH {text_literal(place.files[0])} AS source (READ_ONLY)")
    name = str(place.table)
    there = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'source'"
    ).fetchall()
    for schema, table in there:
        if name in {f"{schema}.{table}", table}:
            return connection.table(f"source.{quoted(schema)}.{quoted(table)}")
    tables = ", ".join(repr(table) for _, table in there) or "none"
    raise InputError(f"there is no table {name!r} in {place.files[0]}. The tables are {tables}.")


def pick_columns(relation: Any, wanted: dict[str, tuple[str, str]]) -> Any:
    """Return the wanted columns, under our names."""
    for name, what in wanted.values():
        check_column(name, relation.columns, what)
    return relation.select(
        ", ".join(f"{quoted(name)} AS {ours}" for ours, (name, _) in wanted.items())
    )


def csv_header(file: str, label: str) -> tuple[str, tuple[str, ...]]:
    """Read delimiter and column names from the first line of a CSV file.

    The delimiter is the one that makes a column of the label. DuckDB would guess it from all
    lines, and guess another one if some lines are malformed.
    """
    opener: Any = gzip.open if file.lower().endswith(".gz") else open
    try:
        with opener(file, "rb") as stream:
            start = stream.read(4)
        with opener(file, "rt", encoding="utf-8-sig", errors="replace", newline="") as stream:
            header = stream.readline().rstrip("\r\n")
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable_error(file, error) from None
    if start == b"PK\x03\x04":
        raise InputError(f"{file} is a spreadsheet or another archive. Save it as CSV.")
    if start[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise InputError(
            f"{file} is encoded as UTF-16. Save it as UTF-8 (spreadsheets call it CSV UTF-8)."
        )
    if start.lstrip()[:1] in {b"[", b"{"}:
        raise InputError(
            f"{file} looks like JSON. Files are read as CSV, Parquet or Arrow, by the end of their "
            "names; convert it first."
        )
    try:
        columns = {mark: next(csv.reader([header], delimiter=mark), []) for mark in ",\t;|"}
    except csv.Error as error:
        raise InputError(f"the first line of {file} is no header of a CSV file: {error}.") from None
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


def read_csv_files(connection: Any, place: DataLocation, wanted: dict[str, tuple[str, str]]) -> Any:
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
                chosen.append(f"{text_literal(fixed[name])} AS {ours}")
                continue
            check_column(name, [*header, *fixed], what)
            check_unique(name, header, files[0])
            chosen.append(f"c{header.index(name)} AS {ours}")
        types = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(header)))
        options = (
            f"header = true, auto_detect = false, columns = {{{types}}}, delim = "
            f"{text_literal(delimiter)}, quote = '\"', escape = '\"', "
            f"nullstr = [{', '.join(map(text_literal, NULLS))}]"
        )
        source = f"read_csv({file_names(files)}, {options})"
        queries.append(f"SELECT {', '.join(chosen)} FROM {source}")  # noqa: S608 - quoted
    return connection.sql(" UNION ALL ".join(queries))
