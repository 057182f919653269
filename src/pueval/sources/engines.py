"""Files read by Polars, Dask or Spark, in this process or on a running cluster.

Polars and Dask would drop rows between stray quotes, and shift the fields of lines that are too
long. So DuckDB parses CSV files for them, and they count the rows.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from narwhals.exceptions import NarwhalsError

from pueval.errors import InputError, require
from pueval.samples.bins import Bins
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns, Tallies, check_column, check_unique
from pueval.sources.csv_files import csv_header
from pueval.sources.duckdb_tables import open_table
from pueval.sources.files import count_in_frame
from pueval.sources.frames import query_frame
from pueval.sources.labels import MISSING_WORDS, LabelValues
from pueval.sources.paths import (
    DataLocation,
    locate,
    needs_folder_columns,
    parquet_headers,
    unreadable_error,
)
from pueval.sources.periods import Periods

FORMATS = {
    "polars": ("csv", "parquet", "arrow"),
    "dask": ("csv", "parquet"),
    "spark": ("csv", "parquet"),
}


def read_with_engine(
    engine: str,
    path: str | os.PathLike[str],
    columns: Columns,
    *,
    labels: LabelValues,
    bins: Bins,
    address: str | None,
) -> Tallies:
    """Count the rows of files with an engine other than DuckDB."""
    if engine not in FORMATS:
        raise InputError(f"engine must be one of duckdb, {', '.join(FORMATS)}; got {engine!r}.")
    if engine == "polars" and address is not None:
        raise InputError("Polars runs in this process and has no address. Leave it out.")
    if columns.periods is not None and engine != "spark":
        raise InputError(
            f"the engine {engine} cannot divide rows by time. Use the engine duckdb or spark."
        )
    location = locate(path, remote=True)
    if location.format not in FORMATS[engine]:
        raise InputError(
            f"the engine {engine} reads {' and '.join(FORMATS[engine])} files; got format "
            f"{location.format} ({location.text}). Use the engine duckdb."
        )
    try:
        if engine == "spark":
            with _spark(location, columns, labels, address) as (frame, plain):
                is_text = location.format == "csv"
                tallies = _query(frame, plain, labels, bins, from_text=is_text)
            return {
                group: dict(zip(columns.scores, samples.values(), strict=True))
                for group, samples in tallies.items()
            }
        if location.format == "csv":
            return _read_csv(engine, location, columns, labels, bins, address)
        if engine == "polars":
            with _polars(location, columns) as frame:
                return _query(frame, columns, labels, bins)
        with _dask_cluster(location, address) as frames:
            return _query(_dask_parquet(frames, location, columns), columns, labels, bins)
    except NarwhalsError as error:
        raise unreadable_error(location.text, error) from None


def _query(
    frame: Any, columns: Columns, labels: LabelValues, bins: Bins, *, from_text: bool = False
) -> Tallies:
    return query_frame(
        frame, columns, labels=labels, bins=bins, untyped_labels=True, from_text=from_text
    )


def _is_remote(file: str) -> bool:
    return "://" in file


# ---------------------------------------------------------------------- Polars and Dask


def _read_csv(
    engine: str,
    location: DataLocation,
    columns: Columns,
    labels: LabelValues,
    bins: Bins,
    address: str | None,
) -> Tallies:
    """Count the rows of CSV files that DuckDB parses."""
    if _is_remote(location.files[0]):
        raise InputError(
            f"the engine {engine} reads CSV files of this machine only; got {location.text}. "
            "Copy the file, save it as Parquet, or use the engine spark."
        )
    with open_table(location, columns, labels) as table:
        if engine == "polars":
            polars = require("polars", extra="polars", purpose="the engine polars")
            frame = polars.from_arrow(table.numbers().to_arrow_table())
            return count_in_frame(table, frame, bins)
        with _dask_cluster(location, address) as frames:
            parts = [
                replace(location, files=(file,))
                for file in location.files
                if Path(file).stat().st_size
            ]
            meta = _as_pandas(table.numbers().limit(0))
            frame = frames.from_map(_read_part, parts, wanted=columns, labels=labels, meta=meta)
            return count_in_frame(table, frame, bins)


def _read_part(location: DataLocation, wanted: Columns, labels: LabelValues) -> Any:
    """Read one file, on a worker of the cluster."""
    with open_table(location, wanted, labels) as table:
        return _as_pandas(table.numbers())


def _as_pandas(relation: Any) -> Any:
    """Return rows as a frame of pandas whose columns have types of Arrow, which has nulls."""
    pandas = require("pandas", extra="dask", purpose="the engine dask")
    return relation.to_arrow_table().to_pandas(types_mapper=pandas.ArrowDtype)


@contextmanager
def _polars(location: DataLocation, columns: Columns) -> Iterator[Any]:
    polars = require("polars", extra="polars", purpose="the engine polars")
    files, is_local = list(location.files), not _is_remote(location.files[0])
    try:
        if location.format == "arrow":
            hive = location.folder is not None
            # Older versions know this option for Parquet files only.
            literal = {"glob": False} if is_local and any(map(glob.has_magic, files)) else {}
            yield polars.scan_ipc(files, hive_partitioning=hive, **literal)
        else:
            hive = is_local and location.folder is not None and _needs_folders(location, columns)
            yield polars.scan_parquet(files, hive_partitioning=hive, glob=not is_local)
    except polars.exceptions.PolarsError as error:
        raise unreadable_error(location.text, error) from None


@contextmanager
def _dask_cluster(location: DataLocation, address: str | None) -> Iterator[Any]:
    """Connect to a cluster, if there is an address; yield the module with Dask's frames."""
    frames = require("dask.dataframe", extra="dask", purpose="the engine dask")
    client = None
    if address is not None:
        distributed = require("distributed", extra="dask", purpose="a Dask cluster")
        try:
            client = distributed.Client(address, timeout="10s")
        except (OSError, ValueError, TimeoutError) as error:
            raise _no_cluster("Dask scheduler", address, error) from None
    try:
        yield frames
    except ModuleNotFoundError as error:
        raise InputError(
            f"the workers of the cluster need the package {error.name}. Install pueval[cli] there."
        ) from None
    except (OSError, ValueError, TypeError) as error:
        # ArrowTypeError is a TypeError
        if isinstance(error, InputError):
            raise
        raise unreadable_error(location.text, error) from None
    finally:
        if client is not None:
            client.close()


def _dask_parquet(frames: Any, location: DataLocation, columns: Columns) -> Any:
    if _is_remote(location.files[0]):
        return frames.read_parquet(location.files[0])
    # Dask would take names for patterns, and names of folders for columns.
    options = {} if _needs_folders(location, columns) else {"dataset": {"partitioning": None}}
    return frames.read_parquet([glob.escape(file) for file in location.files], **options)


def _needs_folders(location: DataLocation, columns: Columns) -> bool:
    """Whether names of folders are columns; refuse files that lack a column."""
    names = [name for name, _ in columns.contents]
    headers = parquet_headers(location)
    if needs_folder_columns(location, names, headers):
        return True
    for header, files in headers.items():
        for name, content in columns.contents:
            if name not in header:
                raise InputError(f"{files[0]} has no {content} column {name!r}.")
    return False


# ---------------------------------------------------------------------- Spark


# Characters with a meaning in the patterns of Hadoop.
SPARK_PATTERN = re.compile(r"[\\{}\[\]*?]")
# A number as text; Java would also take 1d and 1f for numbers.
NUMBER = r"(?i)[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)"
SPACE = r"^[\s\u00a0]+|[\s\u00a0]+$"
CSV_OPTIONS = {
    "header": "true",
    # Otherwise columns of further files would be taken by position, not by name.
    "enforceSchema": "false",
    # Otherwise surplus fields would be dropped, and those after a stray comma shifted.
    "mode": "FAILFAST",
    "columnPruning": "false",
    # Otherwise a line break inside quotes would begin a new row.
    "multiLine": "true",
    "escape": '"',
    "unescapedQuoteHandling": "RAISE_ERROR",
}


@contextmanager
def _spark(
    location: DataLocation, columns: Columns, labels: LabelValues, address: str | None
) -> Iterator[tuple[Any, Columns]]:
    """Yield the requested columns, and their names, in which dots and backticks are replaced."""
    sql, functions, errors, java = (
        require(package, extra="spark", purpose="the engine spark")
        for package in ("pyspark.sql", "pyspark.sql.functions", "pyspark.errors", "py4j.protocol")
    )
    failures = (errors.PySparkException, java.Py4JError)
    try:
        # A session of the caller, perhaps of another thread, must not be stopped here.
        running = sql.SparkSession.active()
    except failures:
        running = None
    try:
        session = running if running is not None and address is None else _session(sql, address)
        reader = _separate_session(session, location, columns.periods).read
    except (*failures, RuntimeError) as error:
        raise _no_cluster("Spark master", address or "local[*]", error) from None
    files = [_spark_name(file) for file in location.files]
    try:
        plain = columns.renamed(_plain_names(columns))
        if location.format == "csv":
            frame = reader.options(**CSV_OPTIONS, sep=_csv_delimiter(location, columns)).csv(files)
            yield _spark_numbers(functions, frame, columns, labels), plain
        else:
            # Names of folders would hide columns of the same name.
            if location.folder is not None and _needs_folders(location, columns):
                reader = reader.option("basePath", location.folder)
            yield _spark_columns(functions, reader.parquet(*files), columns), plain
    except failures as error:
        raise _spark_error(location, error) from None
    finally:
        if running is None:
            session.stop()


def _separate_session(session: Any, location: DataLocation, periods: Periods | None) -> Any:
    """Return a session that distinguishes the columns a and A; settings of the given one stay.

    It also has the time zone of the periods. Addresses may need settings of the given session, and
    older servers cannot make another one.
    """
    if _is_remote(location.files[0]) or ".connect." in type(session).__module__:
        _check_time_zone(session, periods)
        return session
    separate = session.newSession()
    separate.conf.set("spark.sql.caseSensitive", "true")
    if periods is not None:
        separate.conf.set("spark.sql.session.timeZone", periods.timezone)
    return separate


def _check_time_zone(session: Any, periods: Periods | None) -> None:
    """Refuse a session in whose time zone periods would start at other times."""
    zone = session.conf.get("spark.sql.session.timeZone")
    if periods is not None and zone not in {periods.timezone, f"Etc/{periods.timezone}"}:
        raise InputError(
            f"the Spark session has the time zone {zone}, not {periods.timezone}. Pass "
            f"timezone={zone!r}, or set spark.sql.session.timeZone."
        )


def _spark_name(file: str) -> str:
    """Return a file name for Spark, which takes every name for a pattern."""
    return file if _is_remote(file) else SPARK_PATTERN.sub(r"\\\g<0>", file)


def _csv_delimiter(location: DataLocation, columns: Columns) -> str:
    """Read the delimiter from the first file, and check that the columns exist."""
    if _is_remote(location.files[0]):
        return ","
    delimiter, header = csv_header(location.files[0], columns.label)
    for name, content in columns.contents:
        check_unique(name, header, location.files[0])
        check_column(name, header, content)
    return delimiter


def _plain_names(columns: Columns) -> dict[str, str]:
    """Return names of columns without dots and backticks, which Spark takes for syntax."""
    plain: dict[str, str] = {}
    for name, _ in columns.contents:
        unused = re.sub(r"[.`]", "_", name)
        while name not in plain and unused in plain.values():
            unused += "_"
        plain.setdefault(name, unused)
    return plain


def _spark_column(functions: Any, name: str) -> Any:
    return functions.col("`" + name.replace("`", "``") + "`")


def _spark_columns(functions: Any, frame: Any, columns: Columns) -> Any:
    """Return the requested columns, under plain names."""
    for name, content in columns.contents:
        check_column(name, frame.columns, content)
    selected = {name: _spark_column(functions, name) for name, _ in columns.contents}
    if columns.periods is not None:
        [time], types = columns.by, dict(frame.dtypes)
        selected[time] = columns.periods.spark_number(functions, selected[time], types[time])
    return _with_plain_names(frame, selected, columns)


def _with_plain_names(frame: Any, selected: dict[str, Any], columns: Columns) -> Any:
    plain = _plain_names(columns)
    return frame.select(*(column.alias(plain[name]) for name, column in selected.items()))


def _spark_numbers(functions: Any, frame: Any, columns: Columns, labels: LabelValues) -> Any:
    """Return the requested columns of text: labels as they were given, scores as numbers."""
    selected = {}
    for name, content in columns.contents:
        text = _spark_column(functions, name)
        text = functions.when(~text.isin(*MISSING_WORDS), text)
        trimmed = functions.regexp_replace(text, SPACE, "")
        number = functions.when(trimmed.rlike(f"^{NUMBER}$"), trimmed.try_cast("double"))
        integer = functions.abs(trimmed.try_cast("decimal(38, 0)"))
        is_exact = ~trimmed.rlike(r"^[+-]?\d+$") | (integer <= EXACT)
        number = functions.when(is_exact, number)
        if content in {"score", "weight"}:
            selected[name] = number
        elif name not in selected:
            selected[name] = text
        if content == "label":
            for match in labels.matches(from_text=True):
                if match is not None and match.number is not None:
                    # As in SQL: 1.0 and 1e0 are labels 1.
                    same = functions.coalesce(number == match.number, functions.lit(False))  # noqa: FBT003
                    label = functions.lit(match.spellings[0])
                    selected[name] = functions.when(same, label).otherwise(selected[name])
    if columns.periods is not None:
        [time] = columns.by
        selected[time] = columns.periods.spark_number(functions, selected[time], "string")
    return _with_plain_names(frame, selected, columns)


def _spark_error(location: DataLocation, error: Exception) -> InputError:
    """Return the error for files that Spark cannot read, without the Java stack trace."""
    _, malformed, line = str(error).partition("Malformed CSV record: ")
    if not malformed:
        return unreadable_error(location.text, error)
    line = line.splitlines()[0].split(" SQLSTATE")[0]
    return InputError(
        f"{location.text} could not be read as a table: a line has more or fewer fields than the "
        f"header: {line[:200]!r}. Put quotes around text that contains the delimiter."
    )


def _session(sql: Any, address: str | None) -> Any:
    builder = sql.SparkSession.builder.appName("pueval")
    if address is not None and address.startswith("sc://"):
        return builder.remote(address).getOrCreate()
    return builder.master(address or "local[*]").getOrCreate()


def _no_cluster(what: str, address: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:200].rstrip(".")
    return InputError(f"no {what} answered at {address}: {reason}. Check the address.")
