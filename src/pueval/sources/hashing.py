"""Poisson weights from a hash of a row's key: the same on every engine and in every partition.

Engines have hash functions, but no two the same, and integers that wrap around on overflow in one
raise an error in another. So the hash is made of what all have and do alike: additions and
multiplications of float64 numbers that stay whole and below 2⁵³, where nothing is ever rounded.

The key is cut into two numbers modulo the prime p = 2²⁶ − 5, which ten rounds of a Feistel network
mix; its round function is x³ modulo p, a permutation, since 3 does not divide p − 1 (as in the
cipher MiMC). Every resample then takes one more number from the two, with constants of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from pueval._typing import Array

PRIME = 2**26 - 5
HALF = 2.0**26
ROUNDS = 10
# Adding it rounds to the nearest whole number.
WHOLE = 2.0**52 + 2.0**51

Frame = Any  # nw.LazyFrame: what steps are added to


def constants(seed: int, n_resamples: int) -> tuple[Array, Array]:
    """Return the constants of the rounds, and those of each resample."""
    rng = np.random.default_rng([seed, 7])
    return rng.integers(0, PRIME, ROUNDS), rng.integers(0, PRIME, (n_resamples, 2))


def poisson_thresholds() -> list[int]:
    """Return the numbers below p at which a Poisson variable of mean 1 becomes 1, 2, 3, …."""
    found, reached = [], 0.0
    for k in range(20):
        reached += math.exp(-1) / math.factorial(k)
        threshold = math.ceil(PRIME * reached)
        if threshold >= PRIME:
            break
        found.append(threshold)
    return found


def add_weights(
    frame: Frame, key: str, *, seed: int, resamples: Sequence[int], n_resamples: int
) -> Frame:
    """Add a column ``w<r>`` for each wanted resample: how often it draws the row.

    ``key`` is a column of whole float64 numbers within ±2⁵³.
    """
    rounds, each = constants(seed, n_resamples)
    high = _floor(nw.col(key) * (1 / HALF))
    frame = frame.with_columns(h1=high)
    frame = frame.with_columns(h0=nw.col(key) - nw.col("h1") * HALF, h1=nw.col("h1") + 4.0 * PRIME)
    frame = frame.with_columns(h0=_modulo(nw.col("h0")), h1=_modulo(nw.col("h1")))
    for k, constant in enumerate(rounds.tolist()):
        here, other = ("h0", "h1") if k % 2 else ("h1", "h0")
        frame = _cubes(frame, {"t": nw.col(here) + float(constant)})
        frame = frame.with_columns((_modulo(nw.col(other) + nw.col("t"))).alias(other))
    first = {f"w{r}": nw.col("h0") + float(each[r, 0]) for r in resamples}
    frame = _cubes(frame, first)
    second = {f"w{r}": nw.col(f"w{r}") + nw.col("h1") + float(each[r, 1]) for r in resamples}
    frame = _cubes(frame, second)
    return frame.with_columns(**{f"w{r}": _poisson(nw.col(f"w{r}")) for r in resamples})


def _floor(x: nw.Expr) -> nw.Expr:
    """Round down, by arithmetic only."""
    near = (x + WHOLE) - WHOLE
    return nw.when(near > x).then(near - 1.0).otherwise(near)


def _modulo(x: nw.Expr) -> nw.Expr:
    """Reduce whole numbers from 0 to 2⁵² modulo p."""
    rest = x - ((x * (1 / PRIME) + WHOLE) - WHOLE) * float(PRIME)
    return nw.when(rest < 0).then(rest + float(PRIME)).otherwise(rest)


def _cubes(frame: Frame, columns: dict[str, nw.Expr]) -> Frame:
    """Replace columns by the cubes of some expressions modulo p.

    Step by step, since an expression that is used twice would be computed twice, and one of those
    twice again.
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
    sample_weight: Any = nw.lit(0)
    for k, threshold in enumerate(poisson_thresholds(), 1):
        sample_weight = nw.when(x >= float(threshold)).then(nw.lit(k)).otherwise(sample_weight)
    return sample_weight.cast(nw.Int64)  # type: ignore[no-any-return]
