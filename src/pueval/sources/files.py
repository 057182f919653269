"""Rows of files and databases: counted in one pass, or all rows with their columns."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError, require
from pueval.samples.bins import BinnedSamples, Bins
from pueval.samples.threads import available_cores, map_in_threads
from pueval.sources.arrays import EXACT, check_total
from pueval.sources.batches import BatchCollector, combine_results, list_row_groups, read_row_groups
from pueval.sources.columns import Columns, CountedRows, Tallies
from pueval.sources.duckdb_columns import FLOATS, is_integer
from pueval.sources.duckdb_tables import FileTable, open_table
from pueval.sources.group_codes import OrderedGroups, are_numbers, number_key, order_numbers
from pueval.sources.labels import KIND_CODES, MISSING_WORDS, LabelValues
from pueval.sources.paths import DataLocation, locate, unreadable_error
from pueval.sources.storage import locate_rows

# Rows of a batch: more would take more memory, fewer more time.
BATCH = 524_288


def read_files(
    path: str | os.PathLike[str],
    columns: Columns,
    *,
    labels: LabelValues,
    bins: Bins = "auto",
    engine: str = "duckdb",
    address: str | None = None,
) -> Tallies:
    """Count the rows of all score columns and groups, in one pass over the files.

    Text is sorted by its numbers if all groups of a column are numbers, as in CSV files.
    """
    labels.check_query()
    if engine != "duckdb":
        from pueval.sources.engines import read_with_engine

        return _order_groups(
            read_with_engine(engine, path, columns, labels=labels, bins=bins, address=address)
        )
    if address is not None:
        raise InputError(
            "DuckDB runs in this process and has no address. Leave the address out, or choose "
            "the engine spark or dask."
        )
    location = locate(path)
    with open_table(location, columns, labels) as table:
        if columns.by or columns.cluster is not None:
            # By a query: there may be many groups, each with scores of its own.
            return _order_groups(count_in_frame(table, table.numbers(), bins))
        samples = _count_rows(location, table, bins)
    counted = (CountedRows(*binned) for binned in samples)
    return {(): dict(zip(columns.scores, counted, strict=True))}


def _order_groups(tallies: Tallies) -> Tallies:
    """Sort groups by the numbers in columns of text that hold nothing else; missing ones last."""
    columns = zip(*tallies, strict=True)
    is_number = [are_numbers(v for v in column if v is not None) for column in columns]
    if not any(is_number):
        return tallies

    def key(group: tuple[Any, ...]) -> list[Any]:
        return [
            (value is None, number_key(value) if number and value is not None else value)
            for value, number in zip(group, is_number, strict=True)
        ]

    return {group: tallies[group] for group in sorted(tallies, key=key)}


def _count_rows(location: DataLocation, table: FileTable, bins: Bins) -> list[BinnedSamples]:
    """Count rows batch by batch; only rows that are kept take memory."""
    arrow = require("pyarrow", extra="cli", purpose="reading files")
    comparable = table.comparable_labels()
    # Parquet files and databases know their number of rows; other files would have to be read.
    expected_rows = 0
    if location.format in {"parquet", "duckdb"}:
        [(expected_rows,)] = table.relation.aggregate("count(*)").fetchall()
    labels, n_scores = comparable or KIND_CODES, len(table.columns.scores)
    collector = BatchCollector(n_scores, labels, bins, expected_rows, table.has_text_weights)
    binned = collector.histogram_bins is not None
    try:
        row_groups = None
        names = (table.columns.label, *table.columns.numbers)
        if location.format == "parquet" and binned and comparable and table.has_plain_numbers():
            row_groups = list_row_groups(location.files, names)
        if row_groups is not None:
            collectors = [replace(collector) for _ in range(available_cores())]

            def collect(thread_collector: BatchCollector) -> bool:
                for batch in read_row_groups(row_groups, names):
                    if not _add_batch(batch, table, thread_collector):
                        return False
                    del batch
                return True

            usable = all(map_in_threads(collect, collectors))
        else:
            collectors = [collector]
            reader = table.numbers(keep_labels=comparable is not None).to_arrow_reader(BATCH)
            # Closed at the end, or the connection would not take another query.
            with reader:
                usable = all(_add_batch(batch.columns, table, collector) for batch in reader)
    except (OSError, arrow.ArrowException) as error:
        raise unreadable_error(location.text, error) from None
    if not usable:
        raise table.problem()
    filled = [part for part in collectors if part.rows]
    if not filled:
        raise _no_rows_error(location)
    if is_integer(table.types.get("w", "")):
        check_total(sum(part.total_weight for part in filled))
    return combine_results([part.result() for part in filled], bins)


def _add_batch(columns: list[Any], table: FileTable, collector: BatchCollector) -> bool:
    """Add labels, scores and weights to a collector; return False if some cannot be used."""
    if any(column.null_count for column in columns):
        return False
    arrays = list(map(_as_numpy, columns))
    if not arrays[0].size:
        return True
    types = [dtype for name, dtype in table.types.items() if name != "label"]
    for dtype, values in zip(types, arrays[1:], strict=True):
        # Floats must be able to hold integers exactly. Decimals may have been rounded to the limit.
        limit = EXACT if is_integer(dtype) else EXACT - 1
        if dtype not in FLOATS and not -limit <= values.min() <= values.max() <= limit:
            return False
    if table.columns.sample_weight is not None:
        if not (arrays[-1].min() >= 0 and arrays[-1].max() < np.inf):
            return False
        # One file may have integer weights where another has floats.
        arrays[-1] = arrays[-1].astype(np.int64 if is_integer(table.types["w"]) else np.float64)
    return collector.add(arrays)


def _as_numpy(column: Any) -> Array:
    """Return an Arrow array without nulls; its own to_numpy() would import pandas."""
    if str(column.type).startswith(("int", "uint", "float", "double")):
        return np.from_dlpack(column)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def count_in_frame(table: FileTable, frame: Any, bins: Bins) -> Tallies:
    """Count the rows of a frame that holds `FileTable.numbers`, in the engine of the frame."""
    from pueval.sources.frames import query_frame

    ours = Columns(
        "k",
        tuple(f"s{k}" for k in range(len(table.columns.scores))),
        None if table.columns.sample_weight is None else "w",
        tuple(f"g{k}" for k in range(len(table.columns.by))),
        cluster=None if table.columns.cluster is None else "c",
    )
    try:
        tallies = query_frame(
            frame,
            ours,
            labels=KIND_CODES,
            bins=bins,
            from_text=table.has_text_weights,
            explain=table.problem,
        )
    except InputError as error:
        # The frame has a name of its own for the column.
        missing = "missing cluster (column {!r})".format
        message = str(error).replace(missing(ours.cluster), missing(table.columns.cluster))
        raise InputError(message) from None
    return {
        group: dict(zip(table.columns.scores, samples.values(), strict=True))
        for group, samples in tallies.items()
    }


@dataclass(frozen=True, eq=False)
class FileRows:
    """The columns of all rows; ``kind`` holds codes (`KIND_CODES`)."""

    kind: Array
    scores: list[Array]
    sample_weight: Array | None
    by: Array | OrderedGroups | None
    cluster: Array | None
    second_cluster: Array | None = None


def read_rows(path: str | os.PathLike[str], columns: Columns, *, labels: LabelValues) -> FileRows:
    """Read labels, scores, weights, clusters and the first group column of all rows.

    Models and groups are compared row by row, so Counts are not enough for them.
    """
    location = locate_rows(path)
    with open_table(location, columns, labels) as table:
        data = table.numbers().fetchnumpy()
        if not data["k"].size:
            raise _no_rows_error(location)
        return rows_from_numbers(table, data)


def rows_from_numbers(table: FileTable, data: dict[str, Array]) -> FileRows:
    """Return the columns of `FileTable.numbers` as rows; refuse values that cannot be used."""
    columns, kind = table.columns, np.ma.getdata(data["k"])
    numbers = [name for name in table.types if name[0] in "sw"]
    has_missing = any(np.ma.getmaskarray(data[name]).any() for name in numbers)
    if has_missing or not np.isin(kind, KIND_CODES.values).all():
        raise table.problem()
    sample_weight = np.ma.getdata(data["w"]) if "w" in data else None
    if sample_weight is not None and table.has_text_weights:
        is_integer_weight = sample_weight == np.floor(sample_weight)
        if np.all(is_integer_weight & (np.abs(sample_weight) < EXACT)):
            sample_weight = sample_weight.astype(np.int64)
    return FileRows(
        kind,
        [np.ma.getdata(data[f"s{k}"]) for k in range(len(columns.scores))],
        sample_weight,
        order_numbers(_groups(data["g0"], columns.by[0], "group")) if columns.by else None,
        *(
            None if name is None else _groups(data[ours], name, "cluster")
            for ours, name in (("c", columns.cluster), ("d", columns.second_cluster))
        ),
    )


def _groups(values: Array, by: str, content: str) -> Array:
    """Return the values of a column of groups or clusters; refuse missing ones."""
    if missing := int(np.ma.getmaskarray(values).sum()):
        words = ", ".join(word or "the empty text" for word in MISSING_WORDS)
        raise InputError(
            f"{missing:,} rows have no {content} (column {by!r}). In text files, these words mean "
            f"a missing value: {words}. Drop the rows, or give them a {content} of their own."
        )
    return np.ma.getdata(values)


def _no_rows_error(location: DataLocation) -> InputError:
    return InputError(f"{location.text} has no rows, only a header.")
