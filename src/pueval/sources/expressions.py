"""Expressions that mean the same on every engine: kinds of rows, numbers, bins of scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from pueval.errors import InputError
from pueval.samples.bins import HUGE, LOWEST, TINY, shift
from pueval.sources.arrays import EXACT
from pueval.sources.labels import UNKNOWN, LabelValues, as_number

# What is wrong with a number: it is missing, infinite, or an integer that no float64 can hold
# (a negative number, for weights).
FINE, MISSING, INFINITE, UNFIT = range(4)


def label_matches(
    name: str, kind: nw.dtypes.DType, labels: LabelValues, *, as_text: bool
) -> list[nw.Expr | None]:
    """Return the conditions that a label marks a labeled, an unlabeled and a negative row."""
    column = nw.col(name)
    if isinstance(kind, nw.Categorical | nw.Enum):
        column, kind = column.cast(nw.String), nw.String()
    found: list[nw.Expr | None] = []
    for value in labels.values:
        words, amount = _spellings(value, as_text=as_text)
        if value is None:
            found.append(None)
        elif isinstance(kind, nw.Boolean):
            found.append(column == bool(amount) if amount in {0, 1} else None)
        elif kind.is_numeric():
            if amount is None or not math.isfinite(amount):
                found.append(None)
            elif kind.is_integer():
                found.append(column == int(amount) if amount == int(amount) else None)
            else:
                found.append(column == amount)
        else:
            found.append(column.is_in(words) if words else None)
    return found


def _spellings(value: Any, *, as_text: bool) -> tuple[list[str], float | None]:
    """Return the texts and the number that a label value stands for."""
    if not as_text and isinstance(value, str):
        return [value], None
    amount = as_number(value)
    if amount is None:
        return [str(value)] if as_text else [], None
    if not as_text:
        return [], amount
    words = [str(value), f"{amount:g}", repr(amount)]
    if amount in {0, 1}:
        word = "true" if amount else "false"
        words += [word, word.title(), word.upper()]
    return list(dict.fromkeys(words)), amount


def kind_of(
    name: str, dtype: nw.dtypes.DType, matches: Sequence[nw.Expr | None], missing_is: int
) -> nw.Expr:
    """Give numbers to what rows are; a missing label matches nothing."""
    column = nw.col(name)
    lost = column.is_null()
    if dtype.is_float():
        lost = lost | column.is_nan()
    number: Any = nw.lit(UNKNOWN)
    for code, condition in reversed(list(enumerate(matches))):
        if condition is not None:
            number = nw.when(condition).then(nw.lit(code)).otherwise(number)
    return nw.when(lost).then(nw.lit(missing_is)).otherwise(number)


def number_of(name: str, kind: nw.dtypes.DType, what: str) -> tuple[nw.Expr, nw.Expr]:
    """Return a column as float64, and what is wrong with its values."""
    column = nw.col(name)
    if isinstance(kind, nw.Boolean):
        column = column.cast(nw.Int64)
    elif not kind.is_numeric():
        raise InputError(f"{what} column {name!r} must hold real numbers; got dtype {kind}.")
    as_float = column.cast(nw.Float64)
    lost = column.is_null()
    if kind.is_integer():
        wrong = nw.when((column > EXACT) | (column < -EXACT)).then(nw.lit(UNFIT))
        return as_float, nw.when(lost).then(nw.lit(MISSING)).otherwise(
            wrong.otherwise(nw.lit(FINE))
        )
    # Not is_nan: DuckDB takes it for false where the statistics of a Parquet file say that all
    # values lie between two numbers, though they leave NaN out of account. And NaN is above every
    # number for some engines, and below none for others; so is its negative, unlike that of inf.
    finite = as_float - as_float == 0
    above, below = as_float > -LOWEST, -1.0 * as_float > -LOWEST
    endless = nw.when((above & ~below) | (~above & below)).then(nw.lit(INFINITE))
    broken = endless.otherwise(nw.lit(MISSING))
    fit = nw.when(finite).then(nw.lit(FINE)).otherwise(broken)
    return as_float, nw.when(lost).then(nw.lit(MISSING)).otherwise(fit)


def bin_of(score: nw.Expr, bins: int) -> nw.Expr:
    """Return the lower edge of the bin of a finite score, by arithmetic that every engine has.

    ``c − (c − x)`` with c = (2^d + 1)·x rounds x to the nearest number that ends in d binary zeros
    (Veltkamp, 1968); where that is above x, the next such number below is wanted.

    References
    ----------
    Dekker (1971). A floating-point technique for extending the available precision. Numerische
    Mathematik 18. Boldo (2006). Pitfalls of a full floating-point proof. IJCAR.
    """
    digits = shift(bins)
    factor = 2.0**digits + 1

    def rounded(x: nw.Expr) -> nw.Expr:
        return x * factor - (x * factor - x)

    near = rounded(score)
    # 1.25 times the distance to the next number, but for the place of the leading digit.
    below = rounded(near - near.abs() * (1.25 * 2.0 ** (digits - 53)))
    edge = nw.when(near <= score).then(near).otherwise(below)
    edge = nw.when((score < TINY) & (score >= 0)).then(nw.lit(0.0)).otherwise(edge)
    edge = nw.when((score > -TINY) & (score < 0)).then(nw.lit(-TINY)).otherwise(edge)
    edge = nw.when(score >= HUGE).then(nw.lit(HUGE)).otherwise(edge)
    return nw.when(score < -HUGE).then(nw.lit(float(LOWEST))).otherwise(edge)
