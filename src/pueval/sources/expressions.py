"""Columns of a narwhals query that have the same meaning on every engine.

They turn labels into codes of kinds, columns into numbers with a code for what is wrong with them,
and scores into bins.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal

import narwhals.stable.v2 as nw

from pueval.errors import InputError
from pueval.samples.bins import HUGE, LOWEST, TINY, dropped_digits
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns
from pueval.sources.labels import UNKNOWN, LabelMatch, LabelValues

# What is wrong with a number: it is missing, infinite, or an integer that no float64 can hold
# (for weights: a negative number).
FINE, MISSING, INFINITE, UNFIT = range(4)


def plain_columns(
    lazy: nw.LazyFrame[Any], columns: Columns, *others: str
) -> tuple[nw.LazyFrame[Any], Columns, list[str]]:
    """Rename columns whose names Polars takes for patterns, such as ``^s.*$``."""
    names = [name for name, _ in columns.contents] + list(others)
    existing = set(lazy.collect_schema().names())
    unused = (name for k in itertools.count() if (name := f"column{k}") not in existing)
    is_polars = lazy.implementation is nw.Implementation.POLARS
    new = {
        name: next(unused)
        for name in dict.fromkeys(names)
        if is_polars and name.startswith("^") and name.endswith("$")
    }
    if not new:
        return lazy, columns, list(others)
    return lazy.rename(new), columns.renamed(new), [new.get(name, name) for name in others]


def row_table(
    lazy: nw.LazyFrame[Any],
    schema: Any,
    columns: Columns,
    labels: LabelValues,
    *,
    from_text: bool = False,
    **extra: nw.Expr,
) -> nw.LazyFrame[Any]:
    """Return a table with a row for each row and score column, under names of our own.

    Its column ``code`` is 16·kind + 4·(what is wrong with the score) + (what is wrong with the
    weight). With ``from_text``, labels match as in files.
    """
    selected = {"kind": _kind(columns.label, schema[columns.label], labels, from_text=from_text)}
    for k, name in enumerate(columns.scores):
        score, fault = _number(name, schema[name], "score")
        # The fault goes into the score itself, since unpivot moves one column only.
        mark = nw.when(fault == MISSING).then(nw.lit(math.inf)).otherwise(nw.lit(-math.inf))
        selected[f"score{k}"] = nw.when(fault == FINE).then(score).otherwise(mark)
    weight_fault: Any = nw.lit(FINE)
    if columns.sample_weight is not None:
        weight, fault = _number(columns.sample_weight, schema[columns.sample_weight], "weight")
        # Weights that are too large are found by their sum.
        fault = nw.when(fault == UNFIT).then(nw.lit(FINE)).otherwise(fault)
        negative = nw.when(weight < 0).then(nw.lit(UNFIT)).otherwise(fault)
        selected["weight"] = weight
        selected["unfit"] = nw.when(fault == MISSING).then(nw.lit(MISSING)).otherwise(negative)
        weight_fault = nw.col("unfit").cast(nw.Int64)
    selected |= {f"by{k}": nw.col(name) for k, name in enumerate(columns.by)} | extra
    if columns.cluster is not None:
        selected["cluster"] = nw.col(columns.cluster)
    table = lazy.select(**selected)
    if len(columns.scores) == 1:
        table = table.rename({"score0": "score"})
    else:
        scores = [f"score{k}" for k in range(len(columns.scores))]
        table = _unpivot(table, scores, [name for name in selected if name not in scores])
        which: Any = nw.lit(0)
        for k, name in enumerate(scores[1:], 1):
            which = nw.when(nw.col("name") == name).then(nw.lit(k)).otherwise(which)
        table = table.with_columns(which=which)
    score = nw.col("score")
    fault = nw.when(score < LOWEST).then(nw.lit(INFINITE)).otherwise(nw.lit(FINE))
    table = table.with_columns(
        fault=nw.when(score > -LOWEST).then(nw.lit(MISSING)).otherwise(fault)
    )
    code = nw.col("kind").cast(nw.Int64) * 16 + nw.col("fault").cast(nw.Int64) * 4 + weight_fault
    usable = (nw.col("fault") == FINE) & (nw.col("kind") < UNKNOWN)
    table = table.with_columns(code=code, score=nw.when(usable).then(score).otherwise(nw.lit(0.0)))
    return table if columns.sample_weight is None else _with_weights(table, usable)


def _with_weights(table: nw.LazyFrame[Any], usable: nw.Expr) -> nw.LazyFrame[Any]:
    """Add squared weights and whether weights are fractions; drop rows that weigh nothing."""
    fine = nw.col("unfit") == FINE
    weight = nw.when(fine).then(nw.col("weight")).otherwise(nw.lit(0.0))
    # Weights up to 2⁵¹ are integers if adding 2⁵² does not round them.
    is_integer = (weight + 2.0**52) - 2.0**52 == weight
    fractional = nw.when(is_integer).then(nw.lit(0)).otherwise(nw.lit(1))
    table = table.with_columns(weight=weight, square=weight * weight, fractional=fractional)
    # A row of weight zero must not make its bin wide.
    return table.filter(~((nw.col("weight") == 0) & usable & fine))


def _unpivot(table: nw.LazyFrame[Any], scores: list[str], index: list[str]) -> nw.LazyFrame[Any]:
    """Stack score columns: ``name`` holds their names, ``score`` their values."""
    if table.implementation is nw.Implementation.DUCKDB:
        # narwhals would ask DuckDB's default connection, which may not know this relation.
        native: Any = table.to_native()
        long = native.query("t", f"FROM t UNPIVOT (score FOR name IN ({', '.join(scores)}))")
        stacked: nw.LazyFrame[Any] = nw.from_native(long)
        return stacked
    return table.unpivot(on=scores, index=index, variable_name="name", value_name="score")


def label_conditions(
    name: str, dtype: nw.dtypes.DType, labels: LabelValues, *, from_text: bool
) -> list[tuple[int, nw.Expr]]:
    """Return the codes of labeled, unlabeled and negative rows, each with its condition.

    Kinds that no entry of the column can have are left out.
    """
    conditions = [
        (code, _label_condition(nw.col(name), dtype, match))
        for code, match in enumerate(labels.matches(from_text=from_text))
        if match is not None
    ]
    return [(code, condition) for code, condition in conditions if condition is not None]


def _label_condition(column: nw.Expr, dtype: nw.dtypes.DType, match: LabelMatch) -> nw.Expr | None:
    if not (isinstance(dtype, nw.Boolean) or dtype.is_numeric()):
        if isinstance(dtype, nw.Categorical | nw.Enum):
            column = column.cast(nw.String)
        return column.is_in(list(match.spellings)) if match.spellings else None
    kind: Literal["boolean", "integer", "float"] = "integer" if dtype.is_integer() else "float"
    value = match.value_in("boolean" if isinstance(dtype, nw.Boolean) else kind)
    return None if value is None else column == value


def _kind(name: str, dtype: nw.dtypes.DType, labels: LabelValues, *, from_text: bool) -> nw.Expr:
    """Return the code of each row's kind."""
    column = nw.col(name)
    missing = column.is_null()
    if dtype.is_float():
        missing = missing | column.is_nan()
    kind: Any = nw.lit(UNKNOWN)
    for code, condition in reversed(label_conditions(name, dtype, labels, from_text=from_text)):
        kind = nw.when(condition).then(nw.lit(code)).otherwise(kind)
    missing_code = labels.missing_code(from_text=from_text)
    return nw.when(missing).then(nw.lit(missing_code)).otherwise(kind)


def _number(name: str, dtype: nw.dtypes.DType, content: str) -> tuple[nw.Expr, nw.Expr]:
    """Return a column as float64, and what is wrong with its values."""
    column = nw.col(name)
    if isinstance(dtype, nw.Boolean):
        column = column.cast(nw.Int64)
    elif not dtype.is_numeric():
        raise InputError(f"{content} column {name!r} must hold real numbers; got dtype {dtype}.")
    as_float = column.cast(nw.Float64)
    missing = column.is_null()
    if dtype.is_integer():
        unfit = nw.when((column > EXACT) | (column < -EXACT)).then(nw.lit(UNFIT))
        fault = unfit.otherwise(nw.lit(FINE))
    elif dtype.is_decimal():
        # Spark has no unsigned integers, and reads them as decimals.
        unfit = nw.when((as_float >= EXACT) | (as_float <= -EXACT)).then(nw.lit(UNFIT))
        fault = unfit.otherwise(nw.lit(FINE))
    else:
        # Not is_nan: DuckDB answers false where the statistics of a Parquet file say that all
        # values lie between two numbers, though they leave NaN out. NaN is above every number for
        # some engines and below none for others; so is its negative, unlike that of inf.
        finite = as_float - as_float == 0
        above, below = as_float > -LOWEST, -1.0 * as_float > -LOWEST
        infinite = nw.when((above & ~below) | (~above & below)).then(nw.lit(INFINITE))
        broken = infinite.otherwise(nw.lit(MISSING))
        fault = nw.when(finite).then(nw.lit(FINE)).otherwise(broken)
    return as_float, nw.when(missing).then(nw.lit(MISSING)).otherwise(fault)


def bin_edge(score: nw.Expr, bins: int) -> nw.Expr:
    """Return the lower edge of the bin of a finite score, by arithmetic that every engine has.

    ``c − (c − x)`` with c = (2^d + 1)·x rounds x to the nearest number that ends in d binary zeros
    (Veltkamp, 1968). Where that is above x, the edge is the next such number below.

    References
    ----------
    Dekker (1971). A floating-point technique for extending the available precision. Numerische
    Mathematik 18. Boldo (2006). Pitfalls of a full floating-point proof. IJCAR.
    """
    digits = dropped_digits(bins)
    factor = 2.0**digits + 1

    def rounded(x: nw.Expr) -> nw.Expr:
        return x * factor - (x * factor - x)

    nearest = rounded(score)
    # 1.25 times the distance to the next number, whatever the leading digit.
    below = rounded(nearest - nearest.abs() * (1.25 * 2.0 ** (digits - 53)))
    edge = nw.when(nearest <= score).then(nearest).otherwise(below)
    edge = nw.when((score < TINY) & (score >= 0)).then(nw.lit(0.0)).otherwise(edge)
    edge = nw.when((score > -TINY) & (score < 0)).then(nw.lit(-TINY)).otherwise(edge)
    edge = nw.when(score >= HUGE).then(nw.lit(HUGE)).otherwise(edge)
    return nw.when(score < -HUGE).then(nw.lit(float(LOWEST))).otherwise(edge)
