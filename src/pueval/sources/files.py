"""Rows from files and databases, by DuckDB or another engine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError, require
from pueval.samples.bins import BinnedSamples, Bins
from pueval.samples.threads import available_cores, map_in_threads
from pueval.sources.accumulate import Accumulator, combine
from pueval.sources.arrays import EXACT, check_total
from pueval.sources.columns import Columns, Tallies
from pueval.sources.duckdb_files import unreadable_error
from pueval.sources.duckdb_rows import Rows, open_rows
from pueval.sources.labels import KIND_CODES, LabelValues
from pueval.sources.paths import DataLocation, locate
from pueval.sources.row_groups import find_row_groups, read_batches
from pueval.sources.sql import FLOATS, NULLS, is_whole
from pueval.sources.storage import is_counts_file

# Rows that are looked at together: more would take more memory, fewer more time.
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
    """Count the rows of all score columns and groups, in one pass over the files."""
    labels.check_query()
    if engine != "duckdb":
        from pueval.sources.engines import read_with

        return read_with(
            engine, locate(path, remote=True), columns, labels=labels, bins=bins, address=address
        )
    if address is not None:
        raise InputError(
            "DuckDB runs in this process and has no address. Leave the address out, or choose "
            "the engine spark or dask."
        )
    place = locate(path)
    with open_rows(place, columns, labels) as rows:
        if columns.by:
            return _grouped(rows, bins)
        found = _stream(place, rows, bins)
    return {(): dict(zip(columns.scores, found, strict=True))}


def _stream(place: DataLocation, rows: Rows, bins: Bins) -> list[BinnedSamples]:
    """Read rows batch by batch; memory is needed for those kept only."""
    arrow = require("pyarrow", extra="cli", purpose="reading files")
    plain, labels = rows.plain_labels()
    n_scores = len(rows.columns.scores)
    # Parquet files and databases know their number of rows; to count those of others is to read.
    expected = 0
    if place.format in {"parquet", "duckdb"}:
        [(expected,)] = rows.relation.aggregate("count(*)").fetchall()
    accumulator = Accumulator(
        n_scores,
        labels,
        bins,
        expected=expected,
        # Weights that come as text are whole numbers if they all are.
        text_weights=rows.types.get("w") == "VARCHAR",
    )
    try:
        groups = None
        binned = accumulator.histogram_bins is not None
        if binned and plain and place.format == "parquet" and rows.plain_numbers():
            groups = find_row_groups(place.files, rows.columns.numeric)
        if groups is not None:
            accumulators = [accumulator.another() for _ in range(available_cores())]

            def work(one: Accumulator) -> bool:
                for batch in read_batches(groups, rows.columns.numeric):
                    if not _take(batch, rows, one):
                        return False
                    del batch
                return True

            usable = all(map_in_threads(work, accumulators))
        else:
            accumulators = [accumulator]
            reader = rows.numbers(plain=plain).to_arrow_reader(BATCH)
            # Closed at the end, or the connection would not take another query.
            with reader:
                usable = all(_take(batch.columns, rows, accumulator) for batch in reader)
    except (OSError, arrow.ArrowException) as error:
        raise unreadable_error(place.text, error) from None
    if not usable:
        raise rows.problem()
    filled = [one for one in accumulators if one.rows]
    if not filled:
        raise InputError(f"{place.text} holds no rows, only a header.")
    if is_whole(rows.types.get("w", "")):
        check_total(sum(one.sample_weight for one in filled))
    return combine([one.result() for one in filled], bins)


def _take(columns: list[Any], rows: Rows, accumulator: Accumulator) -> bool:
    """Hand labels, scores and weights on, unless something in them cannot be used."""
    if any(column.null_count for column in columns):
        return False
    y, *numbers = map(_as_numpy, columns)
    if not y.size:
        return True
    types = [kind for name, kind in rows.types.items() if name != "label"]
    for kind, values in zip(types, numbers, strict=True):
        # Whole numbers must be such that floats can hold them.
        if kind not in FLOATS and not -EXACT <= values.min() <= values.max() <= EXACT:
            return False
    sample_weight = None
    if rows.columns.sample_weight is not None:
        sample_weight = numbers.pop()
        if not (sample_weight.min() >= 0 and sample_weight.max() < np.inf):
            return False
        # One file may have whole weights where another has floats.
        sample_weight = sample_weight.astype(np.int64 if is_whole(rows.types["w"]) else np.float64)
    return accumulator.add(y, numbers, sample_weight)


def _as_numpy(column: Any) -> Array:
    """Return an Arrow array that misses no value; its own to_numpy() would import pandas."""
    if str(column.type).startswith(("int", "uint", "float", "double")):
        return np.from_dlpack(column)
    found: Array = column.to_numpy(zero_copy_only=False)
    return found


def _grouped(rows: Rows, bins: Bins) -> Tallies:
    """Count groups by a query: they may be many, and each has its own scores."""
    from pueval.sources.queries import read_query

    ours = Columns(
        "k",
        tuple(f"s{k}" for k in range(len(rows.columns.scores))),
        None if rows.columns.sample_weight is None else "w",
        tuple(f"g{k}" for k in range(len(rows.columns.by))),
    )
    tallies = read_query(
        rows.numbers(),
        ours,
        labels=KIND_CODES,
        bins=bins,
        from_text=rows.types.get("w") == "VARCHAR",
        explain=rows.problem,
    )
    return {
        group: dict(zip(rows.columns.scores, found.values(), strict=True))
        for group, found in tallies.items()
    }


@dataclass(frozen=True, eq=False)
class FileRows:
    """Columns of files; ``kind`` has the values of `KIND_CODES`."""

    kind: Array
    scores: list[Array]
    sample_weight: Array | None
    by: Array | None


def read_rows(path: str | os.PathLike[str], columns: Columns, *, labels: LabelValues) -> FileRows:
    """Read labels, scores, weights and the first group column of all rows."""
    place = locate(path)
    if place.format == "parquet" and any(map(is_counts_file, place.files)):
        raise InputError(
            f"{place.text} holds saved counts, which have no rows any more. Give the file of rows."
        )
    with open_rows(place, columns, labels) as rows:
        data = rows.numbers().fetchnumpy()
        kind = np.ma.getdata(data["k"])
        if not kind.size:
            raise InputError(f"{place.text} holds no rows, only a header.")
        numbers = [name for name in rows.types if name[0] in "sw"]
        lost = any(np.ma.getmaskarray(data[name]).any() for name in numbers)
        if lost or not np.isin(kind, [v for v in KIND_CODES.values if v is not None]).all():
            raise rows.problem()
        text = rows.types.get("w") == "VARCHAR"
    sample_weight = np.ma.getdata(data["w"]) if "w" in data else None
    # Weights that come as text are whole numbers if they all are.
    if sample_weight is not None and text and np.all(sample_weight == np.floor(sample_weight)):
        sample_weight = (
            sample_weight.astype(np.int64)
            if np.all(np.abs(sample_weight) < EXACT)
            else sample_weight
        )
    return FileRows(
        kind,
        [np.ma.getdata(data[f"s{k}"]) for k in range(len(columns.scores))],
        sample_weight,
        _groups(data["g0"], columns.by[0]) if columns.by else None,
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
    return np.ma.getdata(values)
