"""Poisson bootstrap: resamples of the rows of any data frame, drawn by its own engine.

How often a resample draws a row comes from a hash of the row's key, so it is the same on every
engine and in every partition. Engines have hash functions, but no two the same, and integers that
wrap around on overflow in one raise an error in another. So the hash uses what all have in common:
additions and multiplications of float64 numbers that stay integers below 2⁵³, where nothing is
rounded.

The key is split into two numbers modulo the prime p = 2²⁶ − 5. Ten rounds of a Feistel network mix
them; the round function is x³ modulo p, a permutation, since 3 does not divide p − 1 (as in the
cipher MiMC). Every resample then takes one more number from the two, with its own constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.bins import Binning, assemble_bins
from pueval.samples.sample import Samples
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns, check_column
from pueval.sources.expressions import bin_edge, plain_columns, row_table
from pueval.sources.frames import open_frame, query_frame
from pueval.sources.labels import LabelValues, missing_error

# Resamples drawn by one query. More would make expressions too long for some engines.
RESAMPLES_PER_QUERY = 25
PRIME = 2**26 - 5
HALF = 2.0**26
ROUNDS = 10
# Adding and subtracting it rounds to the nearest integer.
ROUNDER = 2.0**52 + 2.0**51

Frame = Any  # nw.LazyFrame


def draw_resamples(
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
    # Refuse rows that cannot be used.
    query_frame(frame, columns, labels=labels, bins=bins)
    lazy = open_frame(frame)
    schema = lazy.collect_schema()
    check_column(key, schema.names(), "key")
    if not schema[key].is_integer():
        raise InputError(
            f"key column {key!r} must hold integers, or engines would not agree on its hash; "
            f"got dtype {schema[key]}. Number the rows, or pass a column of integers."
        )
    lazy, plain, [plain_key] = plain_columns(lazy, columns, key)
    _check_key(lazy, plain_key, key)
    key_number = nw.col(plain_key).cast(nw.Float64)
    table = row_table(lazy, lazy.collect_schema(), plain, labels, key=key_number)
    table = table.with_columns(bin=bin_edge(nw.col("score"), bins))
    groups = ["code", "bin", *(["which"] if len(columns.scores) > 1 else [])]
    resamples: dict[str, list[tuple[Samples, Binning]]] = {name: [] for name in columns.scores}
    for start in range(0, n_resamples, RESAMPLES_PER_QUERY):
        numbers = range(start, min(start + RESAMPLES_PER_QUERY, n_resamples))
        weighted = add_weights(table, seed=seed, resamples=numbers, n_resamples=n_resamples).select(
            *groups, "score", *(f"w{r}" for r in numbers)
        )
        sums = {f"w{r}": nw.col(f"w{r}").sum() for r in numbers}
        sums |= {"low": nw.col("score").min(), "high": nw.col("score").max()}
        reduced = weighted.group_by(groups).agg(**sums).collect()
        lines = {name: reduced[name].to_numpy() for name in reduced.columns}
        which = lines.get("which", np.zeros(len(reduced)))
        for k, name in enumerate(columns.scores):
            part = {key: column[which == k] for key, column in lines.items()}
            groups_of_rows = part["code"] // 16, part["low"], part["high"]
            resamples[name] += [
                assemble_bins(*groups_of_rows, part[f"w{r}"].astype(np.int64), bins=bins)
                for r in numbers
            ]
    return resamples


def _check_key(lazy: nw.LazyFrame[Any], plain_key: str, key: str) -> None:
    column = nw.col(plain_key)
    null = nw.when(column.is_null()).then(nw.lit(1)).otherwise(nw.lit(0))
    large = nw.when((column > EXACT) | (column < -EXACT)).then(nw.lit(1)).otherwise(nw.lit(0))
    sums = lazy.select(null=null, large=large).select(nw.col("null").sum(), nw.col("large").sum())
    result = sums.collect()
    missing, too_large = (int(result[name].to_list()[0]) for name in ("null", "large"))
    if missing:
        raise missing_error(f"key (column {key!r})", missing)
    if too_large:
        raise InputError(
            f"keys must lie within ±2**53; got {too_large:,} beyond in column {key!r}. "
            "Number the rows."
        )


# ---------------------------------------------------------------------- Poisson weights by hash


def hash_constants(seed: int, n_resamples: int) -> tuple[Array, Array]:
    """Return the constants of the rounds, and those of each resample."""
    rng = np.random.default_rng([seed, 7])
    return rng.integers(0, PRIME, ROUNDS), rng.integers(0, PRIME, (n_resamples, 2))


def poisson_thresholds() -> list[int]:
    """Return the numbers below p at which a Poisson variable of mean 1 becomes 1, 2, 3, …."""
    thresholds, probability = [], 0.0
    for k in range(20):
        probability += math.exp(-1) / math.factorial(k)
        threshold = math.ceil(PRIME * probability)
        if threshold >= PRIME:
            break
        thresholds.append(threshold)
    return thresholds


def add_weights(frame: Frame, *, seed: int, resamples: Sequence[int], n_resamples: int) -> Frame:
    """Add a column ``w<r>`` for each of some resamples: how often it draws the row.

    The column ``key`` has float64 integers within ±2⁵³.
    """
    round_constants, resample_constants = hash_constants(seed, n_resamples)
    frame = frame.with_columns(h1=_floor(nw.col("key") * (1 / HALF)))
    frame = frame.with_columns(
        h0=nw.col("key") - nw.col("h1") * HALF, h1=nw.col("h1") + 4.0 * PRIME
    )
    frame = frame.with_columns(h0=_modulo(nw.col("h0")), h1=_modulo(nw.col("h1")))
    for k, constant in enumerate(round_constants.tolist()):
        source, target = ("h0", "h1") if k % 2 else ("h1", "h0")
        frame = _cubes(frame, {"t": nw.col(source) + float(constant)})
        frame = frame.with_columns((_modulo(nw.col(target) + nw.col("t"))).alias(target))
    first = {f"w{r}": nw.col("h0") + float(resample_constants[r, 0]) for r in resamples}
    frame = _cubes(frame, first)
    second = {
        f"w{r}": nw.col(f"w{r}") + nw.col("h1") + float(resample_constants[r, 1]) for r in resamples
    }
    frame = _cubes(frame, second)
    return frame.with_columns(**{f"w{r}": _poisson(nw.col(f"w{r}")) for r in resamples})


def _floor(x: nw.Expr) -> nw.Expr:
    """Round down, by arithmetic only."""
    nearest = (x + ROUNDER) - ROUNDER
    return nw.when(nearest > x).then(nearest - 1.0).otherwise(nearest)


def _modulo(x: nw.Expr) -> nw.Expr:
    """Reduce integers from 0 to 2⁵² modulo p."""
    rest = x - ((x * (1 / PRIME) + ROUNDER) - ROUNDER) * float(PRIME)
    return nw.when(rest < 0).then(rest + float(PRIME)).otherwise(rest)


def _cubes(frame: Frame, columns: dict[str, nw.Expr]) -> Frame:
    """Replace columns by the cubes of some expressions modulo p.

    Step by step: an expression that is used twice would be computed twice at every level.
    """
    frame = frame.with_columns(**columns)
    frame = frame.with_columns(**{name: _modulo(nw.col(name)) for name in columns})
    square = {f"{name}_": nw.col(name) * nw.col(name) for name in columns}
    frame = frame.with_columns(**square)
    frame = frame.with_columns(**{name: _modulo(nw.col(name)) for name in square})
    frame = frame.with_columns(**{name: nw.col(name) * nw.col(f"{name}_") for name in columns})
    return frame.with_columns(**{name: _modulo(nw.col(name)) for name in columns})


def _poisson(x: nw.Expr) -> nw.Expr:
    """Turn a number below p into a Poisson variable of mean 1."""
    draws: Any = nw.lit(0)
    for k, threshold in enumerate(poisson_thresholds(), 1):
        draws = nw.when(x >= float(threshold)).then(nw.lit(k)).otherwise(draws)
    return draws.cast(nw.Int64)  # type: ignore[no-any-return]
