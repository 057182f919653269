"""Rows from files and databases, by DuckDB or another engine."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError, require
from pueval.samples.threads import available_cores, map_in_threads
from pueval.sources.accumulate import Accumulator, combine
from pueval.sources.arrays import EXACT, check_total
from pueval.sources.bin_choice import Bins, Counted, Tallies
from pueval.sources.columns import Columns
from pueval.sources.duckdb_files import unreadable
from pueval.sources.duckdb_rows import KINDS, Rows, opened
from pueval.sources.labels import LabelValues
from pueval.sources.paths import Place, find
from pueval.sources.row_groups import find_row_groups, read_batches
from pueval.sources.sql import FLOATS, is_whole

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
            engine, find(path, remote=True), columns, labels=labels, bins=bins, address=address
        )
    if address is not None:
        raise InputError(
            "DuckDB runs in this process and has no address. Leave the address out, or choose "
            "the engine spark or dask."
        )
    place = find(path)
    with opened(place, columns, labels) as rows:
        if columns.by:
            return _grouped(rows, bins)
        found = _stream(place, rows, bins)
    return {(): dict(zip(columns.scores, found, strict=True))}


def _stream(place: Place, rows: Rows, bins: Bins) -> list[Counted]:
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
        if accumulator.pours and plain and place.format == "parquet" and rows.plain_numbers():
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
        raise unreadable(place.text, error) from None
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
        labels=KINDS,
        bins=bins,
        from_text=rows.types.get("w") == "VARCHAR",
        explain=rows.problem,
    )
    return {
        group: dict(zip(rows.columns.scores, found.values(), strict=True))
        for group, found in tallies.items()
    }
