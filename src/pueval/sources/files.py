"""Rows from files and databases, by DuckDB or another engine."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from pueval.errors import InputError, require
from pueval.sources.accumulate import Accumulator
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns
from pueval.sources.labels import LabelValues
from pueval.sources.limits import Bins, Tallies
from pueval.sources.paths import Place, find
from pueval.sources.tables import FLOATS, KINDS, Rows, opened, unreadable

# Rows that are looked at together: few enough for the cache of a processor.
BATCH = 262_144


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
        accumulator = _stream(place, rows, bins)
    if not accumulator.rows:
        raise InputError(f"{place.text} holds no rows, only a header.")
    return {(): dict(zip(columns.scores, accumulator.result(), strict=True))}


def _stream(place: Place, rows: Rows, bins: Bins) -> Accumulator:
    """Read rows batch by batch; memory is needed for those kept only."""
    arrow = require("pyarrow", extra="cli", purpose="reading files")
    scores = len(rows.columns.scores)
    # Weights that come as text are whole numbers if they all are.
    plain, labels = rows.plain_labels()
    text_weights = rows.types.get("w") == "VARCHAR"
    # Parquet files and databases know their number of rows; to count those of others is to read.
    expected = 0
    if place.format in {"parquet", "duckdb"}:
        [(expected,)] = rows.relation.aggregate("count(*)").fetchall()
    accumulator = Accumulator(scores, labels, bins, expected=expected, text_weights=text_weights)
    reader = rows.numbers(plain=plain).to_arrow_reader(BATCH)
    try:
        usable = all(_take(batch, rows, accumulator) for batch in reader)
    except arrow.ArrowException as error:
        raise unreadable(place.text, error) from None
    finally:
        # Or the connection would not take another query.
        reader.close()
    if not usable:
        raise rows.problem()
    return accumulator


def _take(batch: Any, rows: Rows, accumulator: Accumulator) -> bool:
    """Hand a batch on, unless something in it cannot be used."""
    if any(column.null_count for column in batch.columns):
        return False
    y, *numbers = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
    if not y.size:
        return True
    for name, values in zip(batch.schema.names[1:], numbers, strict=True):
        # Whole numbers must be such that floats can hold them.
        if rows.types[name] not in FLOATS and not -EXACT <= values.min() <= values.max() <= EXACT:
            return False
    scores = numbers[: len(rows.columns.scores)]
    weight = None
    if rows.columns.weight is not None:
        weight = numbers[-1]
        if not (weight.min() >= 0 and weight.max() < np.inf):
            return False
    return accumulator.add(y, scores, weight)


def _grouped(rows: Rows, bins: Bins) -> Tallies:
    """Count groups by a query: they may be many, and each has its own scores."""
    from pueval.sources.queries import read_query

    ours = Columns(
        "k",
        tuple(f"s{k}" for k in range(len(rows.columns.scores))),
        None if rows.columns.weight is None else "w",
        tuple(f"g{k}" for k in range(len(rows.columns.by))),
    )
    tallies = read_query(
        rows.numbers(),
        ours,
        labels=KINDS,
        bins=bins,
        as_text=rows.types.get("w") == "VARCHAR",
        explain=rows.problem,
    )
    return {
        group: dict(zip(rows.columns.scores, found.values(), strict=True))
        for group, found in tallies.items()
    }
