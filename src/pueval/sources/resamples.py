"""Resamples of the rows of any data frame, drawn by its own engine."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from pueval.errors import InputError
from pueval.samples.bins import Binning, assemble
from pueval.samples.sample import Samples
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns, check_column
from pueval.sources.expressions import bin_of, label_matches
from pueval.sources.hashing import add_weights
from pueval.sources.labels import LabelValues, missing_error
from pueval.sources.queries import open_frame, prepare, read_query

# Resamples drawn by one query. More of them make expressions longer than engines like.
AT_ONCE = 25


def read_resamples(
    frame: Any,
    columns: Columns,
    key: str,
    *,
    labels: LabelValues,
    bins: int,
    n_resamples: int,
    seed: int,
) -> dict[str, list[tuple[Samples, Binning]]]:
    """Count the rows of resamples of a frame, for each score column."""
    # The rows as they are, to refuse those that cannot be used.
    read_query(frame, columns, labels=labels, bins=bins)
    lazy = open_frame(frame)
    schema = lazy.collect_schema()
    check_column(key, schema.names(), "key")
    if not schema[key].is_integer():
        raise InputError(
            f"key column {key!r} must hold whole numbers, or engines would not agree on its hash; "
            f"got dtype {schema[key]}. Number the rows, or give a column of integers."
        )
    _check_key(lazy, key)
    matches = label_matches(columns.label, schema[columns.label], labels, as_text=False)
    number = nw.col(key).cast(nw.Float64)
    table = prepare(lazy, schema, columns, matches, key=number)
    table = table.with_columns(bin=bin_of(nw.col("score"), bins))
    groups = ["code", "bin", *(["which"] if len(columns.scores) > 1 else [])]
    found: dict[str, list[tuple[Samples, Binning]]] = {name: [] for name in columns.scores}
    for start in range(0, n_resamples, AT_ONCE):
        drawn = range(start, min(start + AT_ONCE, n_resamples))
        weighted = add_weights(
            table, "key", seed=seed, resamples=drawn, n_resamples=n_resamples
        ).select(*groups, "score", *(f"w{r}" for r in drawn))
        reduced = (
            weighted.group_by(groups)
            .agg(
                low=nw.col("score").min(),
                high=nw.col("score").max(),
                **{f"w{r}": nw.col(f"w{r}").sum() for r in drawn},
            )
            .collect()
        )
        lines = {name: reduced[name].to_numpy() for name in reduced.columns}
        which = lines.get("which", np.zeros(len(reduced)))
        for k, name in enumerate(columns.scores):
            mine = which == k
            for r in drawn:
                found[name].append(
                    assemble(
                        lines["code"][mine] // 16,
                        lines["low"][mine],
                        lines["high"][mine],
                        lines[f"w{r}"][mine].astype(np.int64),
                        bins=bins,
                    )
                )
    return found


def _check_key(lazy: nw.LazyFrame[Any], key: str) -> None:
    column = nw.col(key)
    lost = nw.when(column.is_null()).then(nw.lit(1)).otherwise(nw.lit(0))
    beyond = nw.when((column > EXACT) | (column < -EXACT)).then(nw.lit(1)).otherwise(nw.lit(0))
    counted = lazy.select(lost=lost, beyond=beyond).select(
        nw.col("lost").sum(), nw.col("beyond").sum()
    )
    found = counted.collect()
    missed, far = (int(found[name].to_list()[0]) for name in ("lost", "beyond"))
    if missed:
        raise missing_error(f"key (column {key!r})", missed)
    if far:
        raise InputError(
            f"keys must lie within ±2**53; got {far:,} beyond in column {key!r}. Number the rows."
        )
