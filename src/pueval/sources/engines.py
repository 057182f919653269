"""Files read by Polars, Dask or Spark, in this process or on a running cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from narwhals.exceptions import NarwhalsError

from pueval.errors import InputError, require
from pueval.samples.bins import Bins
from pueval.sources.columns import Columns, Tallies, check_column, check_unique
from pueval.sources.frames import query_frame
from pueval.sources.labels import MISSING_WORDS, LabelValues
from pueval.sources.paths import (
    DataLocation,
    csv_header,
    locate,
    needs_folder_columns,
    unreadable_error,
)

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
    location = locate(path, remote=True)
    if location.format not in FORMATS[engine]:
        raise InputError(
            f"the engine {engine} reads {' and '.join(FORMATS[engine])} files; got format "
            f"{location.format} ({location.text}). Use the engine duckdb."
        )
    open_with = {"polars": _polars, "dask": _dask, "spark": _spark}
    is_text = location.format == "csv"
    with open_with[engine](location, columns, address) as frame:
        try:
            return query_frame(
                frame, columns, labels=labels, bins=bins, untyped_labels=True, from_text=is_text
            )
        except NarwhalsError as error:
            raise unreadable_error(location.text, error) from None


def _split(columns: Columns) -> tuple[list[str], list[str]]:
    """Return the columns of numbers, and those of text: labels and groups."""
    numbers = columns.numbers
    text = [name for name in (columns.label, *columns.by) if name not in numbers]
    return list(dict.fromkeys(numbers)), list(dict.fromkeys(text))


def _csv_delimiter(location: DataLocation, columns: Columns) -> str:
    """Read the delimiter from the first file, and check that the columns exist."""
    if "://" in location.files[0]:
        return ","
    delimiter, header = csv_header(location.files[0], columns.label)
    for name, content in columns.contents:
        check_unique(name, header, location.files[0])
        check_column(name, header, content)
    return delimiter


@contextmanager
def _polars(location: DataLocation, columns: Columns, address: str | None) -> Iterator[Any]:
    polars = require("polars", extra="polars", purpose="the engine polars")
    if address is not None:
        raise InputError("Polars runs in this process and has no address. Leave it out.")
    files = list(location.files)
    numbers, text = _split(columns)
    try:
        if location.format == "arrow":
            yield polars.scan_ipc(files, hive_partitioning=location.folder is not None)
        elif location.format == "parquet":
            hive = location.folder is not None and needs_folder_columns(location, [*numbers, *text])
            yield polars.scan_parquet(files, hive_partitioning=hive)
        else:
            # As text first: a type guessed from the first lines may not fit the rest.
            frame = polars.scan_csv(
                files,
                separator=_csv_delimiter(location, columns),
                infer_schema=False,
                null_values=MISSING_WORDS,
                glob=False,
            )
            stripped = polars.col(numbers).str.strip_chars()
            yield frame.select(*text, stripped.cast(polars.Float64, strict=False))
    except polars.exceptions.PolarsError as error:
        raise unreadable_error(location.text, error) from None


@contextmanager
def _dask(location: DataLocation, columns: Columns, address: str | None) -> Iterator[Any]:
    frames = require("dask.dataframe", extra="dask", purpose="the engine dask")
    client = None
    if address is not None:
        distributed = require("distributed", extra="dask", purpose="a Dask cluster")
        try:
            client = distributed.Client(address, timeout="10s")
        except (OSError, ValueError, TimeoutError) as error:
            raise _no_cluster("Dask scheduler", address, error) from None
    try:
        if location.format == "parquet":
            yield frames.read_parquet(location.folder or list(location.files))
        else:
            yield _dask_csv(frames, location, columns)
    except (OSError, ValueError, TypeError) as error:  # ArrowTypeError is a TypeError
        if isinstance(error, InputError):
            raise
        raise unreadable_error(location.text, error) from None
    finally:
        if client is not None:
            client.close()


def _dask_csv(frames: Any, location: DataLocation, columns: Columns) -> Any:
    numbers, text = _split(columns)
    compressed = any(file.endswith(".gz") for file in location.files)
    frame = frames.read_csv(
        list(location.files),
        sep=_csv_delimiter(location, columns),
        usecols=[*text, *numbers],
        dtype=str,
        na_values=MISSING_WORDS,
        **({"blocksize": None} if compressed else {}),
    )
    for name in numbers:
        # to_numeric declares integers, whatever the text holds.
        frame[name] = frames.to_numeric(frame[name].str.strip(), errors="coerce").astype(float)
    return frame


@contextmanager
def _spark(location: DataLocation, columns: Columns, address: str | None) -> Iterator[Any]:
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
    except (*failures, RuntimeError) as error:
        raise _no_cluster("Spark master", address or "local[*]", error) from None
    try:
        reader = session.read
        if location.folder is not None:
            reader = reader.option("basePath", location.folder)
        if location.format == "parquet":
            yield reader.parquet(*location.files)
        else:
            delimiter = _csv_delimiter(location, columns)
            reader = reader.option("header", "true").option("sep", delimiter)
            # Otherwise columns of further files would be taken by position, not by name.
            reader = reader.option("enforceSchema", "false")
            # Otherwise surplus fields would be dropped, and those after a stray comma shifted.
            reader = reader.option("mode", "FAILFAST").option("columnPruning", "false")
            frame = reader.csv(list(location.files))
            numbers, text = _split(columns)
            cleaned = {name: _cleaned(functions, name) for name in (*text, *numbers)}
            yield frame.select(
                *(cleaned[name].alias(name) for name in text),
                *(functions.trim(cleaned[name]).try_cast("double").alias(name) for name in numbers),
            )
    except failures as error:
        raise _spark_error(location, error) from None
    finally:
        if running is None:
            session.stop()


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


def _cleaned(functions: Any, name: str) -> Any:
    """Return a text column with null in the place of words that mean missing."""
    column = functions.col("`" + name.replace("`", "``") + "`")
    return functions.when(~column.isin(*MISSING_WORDS), column)


def _no_cluster(what: str, address: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:200].rstrip(".")
    return InputError(f"no {what} answered at {address}: {reason}. Check the address.")
