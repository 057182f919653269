"""Files read by Polars, Dask or Spark, here or on a running cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from narwhals.exceptions import NarwhalsError

from pueval.errors import InputError, require
from pueval.samples.bins import Bins
from pueval.sources.columns import Columns, Tallies, check_column
from pueval.sources.duckdb_files import (
    check_unique,
    csv_header,
    folders_are_columns,
    unreadable_error,
)
from pueval.sources.labels import LabelValues
from pueval.sources.paths import DataLocation
from pueval.sources.queries import read_query
from pueval.sources.sql import NULLS

FORMATS = {
    "polars": ("csv", "parquet", "arrow"),
    "dask": ("csv", "parquet"),
    "spark": ("csv", "parquet"),
}


def read_with(
    engine: str,
    place: DataLocation,
    columns: Columns,
    *,
    labels: LabelValues,
    bins: Bins,
    address: str | None,
) -> Tallies:
    """Count the rows of files by another engine than DuckDB."""
    if engine not in FORMATS:
        raise InputError(f"engine must be one of duckdb, {', '.join(FORMATS)}; got {engine!r}.")
    if place.format not in FORMATS[engine]:
        raise InputError(
            f"{engine} reads {' and '.join(FORMATS[engine])} files here; got a place of format "
            f"{place.format} ({place.text}). Use the engine duckdb."
        )
    openers = {"polars": _polars, "dask": _dask, "spark": _spark}
    with openers[engine](place, columns, address) as frame:
        try:
            return read_query(
                frame,
                columns,
                labels=labels,
                bins=bins,
                as_text=True,
                from_text=place.format == "csv",
            )
        except NarwhalsError as error:
            raise unreadable_error(place.text, error) from None


def _split(columns: Columns) -> tuple[list[str], list[str]]:
    """Return the columns that hold numbers, and the others."""
    numbers = [*columns.scores, *([columns.sample_weight] if columns.sample_weight else [])]
    others = [name for name in (columns.label, *columns.by) if name not in numbers]
    return list(dict.fromkeys(numbers)), list(dict.fromkeys(others))


def _names(columns: Columns) -> list[str]:
    numbers, others = _split(columns)
    return [*numbers, *others]


def _csv_delimiter(place: DataLocation, columns: Columns) -> str:
    """Read the delimiter from the first file, and check that the columns are there."""
    if "://" in place.files[0]:
        return ","
    mark, header = csv_header(place.files[0], columns.label)
    numbers, others = _split(columns)
    for name in (*others, *numbers):
        check_unique(name, header, place.files[0])
        what = "label" if name == columns.label else "score" if name in columns.scores else "other"
        check_column(name, header, what)
    return mark


@contextmanager
def _polars(place: DataLocation, columns: Columns, address: str | None) -> Iterator[Any]:
    polars = require("polars", extra="polars", purpose="the engine polars")
    if address is not None:
        raise InputError("Polars runs in this process and has no address. Leave it out.")
    files = list(place.files)
    try:
        if place.format == "arrow":
            yield polars.scan_ipc(files, hive_partitioning=place.folder is not None)
        elif place.format == "parquet":
            hive = place.folder is not None and folders_are_columns(place, _names(columns))
            yield polars.scan_parquet(files, hive_partitioning=hive)
        else:
            # As text first: a type that was guessed from the first lines may not fit the others.
            frame = polars.scan_csv(
                files,
                separator=_csv_delimiter(place, columns),
                infer_schema=False,
                null_values=NULLS,
                glob=False,
            )
            numbers, others = _split(columns)
            text = polars.col(numbers).str.strip_chars()
            yield frame.select(*others, text.cast(polars.Float64, strict=False))
    except polars.exceptions.PolarsError as error:
        raise unreadable_error(place.text, error) from None


@contextmanager
def _dask(place: DataLocation, columns: Columns, address: str | None) -> Iterator[Any]:
    frames = require("dask.dataframe", extra="dask", purpose="the engine dask")
    client = None
    if address is not None:
        distributed = require("distributed", extra="dask", purpose="a Dask cluster")
        try:
            client = distributed.Client(address, timeout="10s")
        except (OSError, ValueError, TimeoutError) as error:
            raise _no_cluster("Dask scheduler", address, error) from None
    try:
        if place.format == "parquet":
            yield frames.read_parquet(place.folder or list(place.files))
        else:
            yield _dask_csv(frames, place, columns)
    except (OSError, ValueError, TypeError) as error:  # ArrowTypeError is a TypeError
        if isinstance(error, InputError):
            raise
        raise unreadable_error(place.text, error) from None
    finally:
        if client is not None:
            client.close()


def _dask_csv(frames: Any, place: DataLocation, columns: Columns) -> Any:
    numbers, others = _split(columns)
    packed = any(file.endswith(".gz") for file in place.files)
    frame = frames.read_csv(
        list(place.files),
        sep=_csv_delimiter(place, columns),
        usecols=[*others, *numbers],
        dtype=str,
        na_values=NULLS,
        **({"blocksize": None} if packed else {}),
    )
    for name in numbers:
        # to_numeric says that there will be integers, whatever comes.
        frame[name] = frames.to_numeric(frame[name].str.strip(), errors="coerce").astype(float)
    return frame


@contextmanager
def _spark(place: DataLocation, columns: Columns, address: str | None) -> Iterator[Any]:
    sql = require("pyspark.sql", extra="spark", purpose="the engine spark")
    errors = require("pyspark.errors", extra="spark", purpose="the engine spark")
    java = require("py4j.protocol", extra="spark", purpose="the engine spark")
    failures = (errors.PySparkException, java.Py4JError)
    try:
        # Also the session of another thread: it is not ours to stop.
        running = sql.SparkSession.active()
    except failures:
        running = None
    try:
        session = running if running is not None and address is None else _session(sql, address)
    except (*failures, RuntimeError) as error:
        raise _no_cluster("Spark master", address or "local[*]", error) from None
    try:
        reader = session.read
        if place.folder is not None:
            reader = reader.option("basePath", place.folder)
        if place.format == "parquet":
            yield reader.parquet(*place.files)
        else:
            reader = reader.option("header", "true").option("sep", _csv_delimiter(place, columns))
            # Or columns of further files would be taken by their places, whatever their names.
            reader = reader.option("enforceSchema", "false")
            # Or fields too many would be dropped, and those that follow a loose comma shifted.
            reader = reader.option("mode", "FAILFAST").option("columnPruning", "false")
            frame = reader.csv(list(place.files))
            numbers, others = _split(columns)
            functions = require("pyspark.sql.functions", extra="spark", purpose="the engine spark")
            filled = {name: _filled(functions, name) for name in (*others, *numbers)}
            yield frame.select(
                *(filled[name].alias(name) for name in others),
                *(functions.trim(filled[name]).try_cast("double").alias(name) for name in numbers),
            )
    except failures as error:
        raise _spark_error(place, error) from None
    finally:
        if running is None:
            session.stop()


def _spark_error(place: DataLocation, error: Exception) -> InputError:
    """Return the error for files that Spark cannot read, without the trace of the Java machine."""
    _, found, line = str(error).partition("Malformed CSV record: ")
    if not found:
        return unreadable_error(place.text, error)
    line = line.splitlines()[0].split(" SQLSTATE")[0]
    return InputError(
        f"{place.text} could not be read as a table: a line has another number of fields than the "
        f"header: {line[:200]!r}. Put quotes around text that holds the delimiter."
    )


def _session(sql: Any, address: str | None) -> Any:
    builder = sql.SparkSession.builder.appName("pueval")
    if address is not None and address.startswith("sc://"):
        return builder.remote(address).getOrCreate()
    return builder.master(address or "local[*]").getOrCreate()


def _filled(functions: Any, name: str) -> Any:
    """Return a text column with null for every word that means missing."""
    column = functions.col("`" + name.replace("`", "``") + "`")
    return functions.when(~column.isin(*NULLS), column)


def _no_cluster(what: str, address: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:200].rstrip(".")
    return InputError(f"no {what} answered at {address}: {reason}. Check the address.")
