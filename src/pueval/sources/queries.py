"""Rows from any data frame, counted where they live: one group-by that every engine runs.

narwhals turns the expressions below into those of Polars, DuckDB, Ibis, Dask, PySpark and others.
Only the reduced table comes back: a row for every group, kind of rows and distinct score (or bin).
Rows that cannot be used are counted by the same query, since a null label would otherwise pass
silently for something else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.bins import LOWEST, BinnedSamples, Bins, assemble, resolve_bins
from pueval.samples.sample import make_sample
from pueval.sources.arrays import EXACT, SMALL, check_total
from pueval.sources.columns import Columns, Tallies, check_column
from pueval.sources.expressions import (
    FINE,
    INFINITE,
    MISSING,
    UNFIT,
    bin_of,
    kind_of,
    label_matches,
    number_of,
)
from pueval.sources.labels import NO_LABEL, UNKNOWN, LabelValues, infinite_error, missing_error
from pueval.sources.sql import NULLS


def open_frame(frame: Any) -> nw.LazyFrame[Any]:
    """Return any frame that narwhals knows as a lazy one."""
    try:
        data: Any = nw.from_native(frame)
    except TypeError:
        raise InputError(
            "frame must be a data frame (pandas, Polars, PyArrow, DuckDB, Ibis, Dask, PySpark, …); "
            f"got {type(frame).__module__}.{type(frame).__name__}. "
            "For arrays use Counts.from_arrays."
        ) from None
    except DuplicateError as error:
        raise duplicate_columns_error(error) from None
    lazy: nw.LazyFrame[Any] = data.lazy()
    return lazy


def duplicate_columns_error(error: DuplicateError) -> InputError:
    """Return the error for frames in which a name stands for several columns."""
    reason = " ".join(str(error).split())
    return InputError(f"every column of a frame needs a name of its own. {reason}.")


def read_query(
    frame: Any,
    columns: Columns,
    *,
    labels: LabelValues,
    bins: Bins,
    as_text: bool = False,
    from_text: bool = False,
    explain: Callable[[], InputError] | None = None,
) -> Tallies:
    """Count the rows of a frame in its own engine.

    With ``as_text`` label values may be given as text, as on a command line: "1" then also means
    the number 1 and true. With ``from_text`` numbers were made from text: weights count rows if
    they all are whole, and what was no number is null. ``explain`` says what is wrong with rows
    that cannot be used, if the frame itself does not show what it was made from.
    """
    labels.check_query()
    lazy = open_frame(frame)
    schema = lazy.collect_schema()
    wanted = [(columns.label, "label"), *((name, "score") for name in columns.scores)]
    if columns.sample_weight is not None:
        wanted.append((columns.sample_weight, "weight"))
    wanted += [(name, "group") for name in columns.by]
    for name, what in wanted:
        check_column(name, schema.names(), what)
    matches = label_matches(columns.label, schema[columns.label], labels, as_text=as_text)
    # Where text is read, a value may itself be a word for missing, such as the empty text.
    missing_is = NO_LABEL
    for code, value in enumerate(labels.values):
        if as_text and value is not None and str(value) in NULLS:
            missing_is = code
    prepared = prepare(lazy, schema, columns, matches, missing_is)
    n_rows = 0
    if bins == "auto":
        n_rows = int(lazy.select(n=nw.len()).collect()["n"].to_list()[0])
    used = resolve_bins(bins, n_rows * len(columns.scores))
    reduced = _reduce(prepared, columns, used)
    if not len(reduced["n"]):
        raise InputError("the frame holds no rows. Give at least one labeled and one other row.")
    code = reduced["code"]
    if explain is not None and np.any((code >= 16 * UNKNOWN) | (code % 16 > 0)):
        raise explain()
    _refuse(reduced, columns, labels, lazy, schema, matches, from_text=from_text)
    return _tallies(
        reduced,
        columns,
        used,
        automatic=bins == "auto",
        kinds={name: schema[name] for name in columns.scores},
        whole=columns.sample_weight is not None
        and _whole_weights(reduced, columns, schema[columns.sample_weight], text=from_text),
    )


def _whole_weights(
    reduced: dict[str, Any], columns: Columns, kind: nw.dtypes.DType, *, text: bool
) -> bool:
    """Whether weights count rows; refuse those that would, but are too large."""
    total = reduced["weight"].sum() / len(columns.scores)
    if isinstance(kind, nw.Boolean) or kind.is_integer():
        check_total(total)
        return True
    return text and total <= EXACT and not reduced["ragged"].any()


def prepare(
    lazy: nw.LazyFrame[Any],
    schema: Any,
    columns: Columns,
    matches: Sequence[nw.Expr | None],
    missing_is: int = NO_LABEL,
    **extra: nw.Expr,
) -> nw.LazyFrame[Any]:
    """Give columns names and types of our own; one row for each row and score column.

    ``code`` is 16·kind + 4·(what is wrong with the score) + (what is wrong with the weight).
    """
    made = {"kind": kind_of(columns.label, schema[columns.label], matches, missing_is)}
    for k, name in enumerate(columns.scores):
        score, fit = number_of(name, schema[name], "score")
        # What is wrong goes into the score itself, for unpivot moves one column only.
        wrong = nw.when(fit == MISSING).then(nw.lit(math.inf)).otherwise(nw.lit(-math.inf))
        made[f"score{k}"] = nw.when(fit == FINE).then(score).otherwise(wrong)
    unfit: Any = nw.lit(FINE)
    if columns.sample_weight is not None:
        made["weight"], fit = number_of(
            columns.sample_weight, schema[columns.sample_weight], "weight"
        )
        # Too large ones are found by their sum.
        finite = nw.when(fit == UNFIT).then(nw.lit(FINE)).otherwise(fit)
        made["unfit"] = nw.when(made["weight"] < 0).then(nw.lit(UNFIT)).otherwise(finite)
        made["unfit"] = nw.when(fit == MISSING).then(nw.lit(MISSING)).otherwise(made["unfit"])
        unfit = nw.col("unfit").cast(nw.Int64)
    made |= {f"by{k}": nw.col(name) for k, name in enumerate(columns.by)} | extra
    table = lazy.select(**made)
    if len(columns.scores) == 1:
        table = table.rename({"score0": "score"})
    else:
        scores = [f"score{k}" for k in range(len(columns.scores))]
        table = _unpivot(table, scores, [name for name in made if name not in scores])
        which: Any = nw.lit(0)
        for k, name in enumerate(scores[1:], 1):
            which = nw.when(nw.col("name") == name).then(nw.lit(k)).otherwise(which)
        table = table.with_columns(which=which)
    score = nw.col("score")
    fit = nw.when(score < LOWEST).then(nw.lit(INFINITE)).otherwise(nw.lit(FINE))
    table = table.with_columns(fit=nw.when(score > -LOWEST).then(nw.lit(MISSING)).otherwise(fit))
    code = nw.col("kind").cast(nw.Int64) * 16 + nw.col("fit").cast(nw.Int64) * 4 + unfit
    usable = (nw.col("fit") == FINE) & (nw.col("kind") < UNKNOWN)
    table = table.with_columns(
        code=code,
        score=nw.when(usable).then(score).otherwise(nw.lit(0.0)),
    )
    if columns.sample_weight is not None:
        weight = nw.when(nw.col("unfit") == FINE).then(nw.col("weight")).otherwise(nw.lit(0.0))
        # Weights up to 2⁵¹ that adding 2⁵² does not round are whole.
        ragged = (
            nw.when((weight + 2.0**52) - 2.0**52 == weight).then(nw.lit(0)).otherwise(nw.lit(1))
        )
        table = table.with_columns(weight=weight, square=weight * weight, ragged=ragged)
        # A row that counts no times must not make its bin look wide.
        table = table.filter(~((nw.col("weight") == 0) & usable & (nw.col("unfit") == FINE)))
    return table


def _unpivot(table: nw.LazyFrame[Any], scores: list[str], index: list[str]) -> nw.LazyFrame[Any]:
    """Put score columns below each other: ``name`` says which, ``score`` holds the values."""
    if table.implementation is nw.Implementation.DUCKDB:
        # narwhals would ask DuckDB's default connection, which may not know this relation.
        native: Any = table.to_native()
        long = native.query("t", f"FROM t UNPIVOT (score FOR name IN ({', '.join(scores)}))")
        made: nw.LazyFrame[Any] = nw.from_native(long)
        return made
    return table.unpivot(on=scores, index=index, variable_name="name", value_name="score")


# ---------------------------------------------------------------------- the one query


def _reduce(table: nw.LazyFrame[Any], columns: Columns, bins: int | None) -> dict[str, Any]:
    """Run the query; return its columns."""
    by = [f"by{k}" for k in range(len(columns.by))]
    keys = [*by, "code", *(["which"] if len(columns.scores) > 1 else [])]
    wanted = {"n": nw.len()}
    if columns.sample_weight is not None:
        wanted |= {"weight": nw.col("weight").sum(), "square": nw.col("square").sum()}
        wanted |= {"ragged": nw.col("ragged").max()}
    if bins is None:
        keys.append("score")
    else:
        table = table.with_columns(bin=bin_of(nw.col("score"), bins))
        keys.append("bin")
        wanted |= {"low": nw.col("score").min(), "high": nw.col("score").max()}
    reduced = table.group_by(keys).agg(**wanted).collect()
    columns_found: dict[str, Any] = {}
    for name in reduced.columns:
        column = reduced[name]
        if name in by:
            columns_found[name] = _named(column)
        else:
            whole = name in {"n", "code", "which", "ragged"}
            columns_found[name] = column.to_numpy().astype(np.int64 if whole else np.float64)
    return columns_found


def _named(column: nw.Series[Any]) -> list[Any]:
    """Return the names of groups, None for all that are missing.

    NaN is missing, too: it is not equal to itself, and would be as many groups as lines.
    """
    lost = column.is_null().to_list()
    return [
        None if missed or (isinstance(value, float) and math.isnan(value)) else value
        for value, missed in zip(column.to_list(), lost, strict=True)
    ]


def _refuse(
    reduced: dict[str, Any],
    columns: Columns,
    labels: LabelValues,
    lazy: nw.LazyFrame[Any],
    schema: Any,
    matches: Sequence[nw.Expr | None],
    *,
    from_text: bool,
) -> None:
    """Refuse rows without a usable label, score or weight, with their number."""
    kind, fit, unfit = reduced["code"] // 16, reduced["code"] // 4 % 4, reduced["code"] % 4
    # Each row was counted once for every score column.
    rows = reduced["n"]
    if lost := int(rows[kind == NO_LABEL].sum()) // len(columns.scores):
        raise missing_error(f"label (column {columns.label!r})", lost)
    if strange := int(rows[kind == UNKNOWN].sum()) // len(columns.scores):
        known: Any = nw.lit(value=False)
        for condition in matches:
            if condition is not None:
                known = known | condition
        found = lazy.filter(~known & ~nw.col(columns.label).is_null()).select(columns.label)
        values = found.unique().head(6).collect()[columns.label].to_list()
        raise labels.unrecognized_error(sorted(values, key=str), strange)
    which = reduced.get("which", np.zeros_like(rows))
    for k, name in enumerate(columns.scores):
        counts = [int(rows[(which == k) & (fit == what)].sum()) for what in range(4)]
        what = f"score (column {name!r})"
        if counts[MISSING]:
            unknown = f"score, or one that is no number (column {name!r})" if from_text else what
            raise missing_error(unknown, counts[MISSING])
        if counts[INFINITE] and schema[name].is_integer():
            raise InputError(
                "integer scores must lie within ±2**53, or different scores become equal; got "
                f"{counts[INFINITE]:,} beyond in column {name!r}. Replace them by their ranks."
            )
        if counts[INFINITE]:
            raise infinite_error(what, counts[INFINITE])
    counts = [int(rows[unfit == what].sum()) // len(columns.scores) for what in range(4)]
    if counts[MISSING] or counts[INFINITE]:
        other = "or infinite weight" + (", or one that is no number" if from_text else "")
        raise missing_error(other, counts[MISSING] + counts[INFINITE])
    if counts[UNFIT]:
        raise InputError(f"weights must not be negative; got {counts[UNFIT]:,} below zero.")


# ---------------------------------------------------------------------- what came back


def _groups(reduced: dict[str, Any], columns: Columns) -> dict[tuple[Hashable, ...], Array]:
    """Return the lines of the reduced table that belong to each group, groups in order."""
    if not columns.by:
        return {(): np.arange(len(reduced["n"]))}
    values = list(zip(*(reduced[f"by{k}"] for k in range(len(columns.by))), strict=True))
    found = sorted(set(values), key=lambda group: [(v is None, str(type(v)), v) for v in group])
    number = {group: k for k, group in enumerate(found)}
    lines = np.array([number[value] for value in values])
    order = np.argsort(lines, kind="stable")
    ends = np.cumsum(np.bincount(lines))[:-1]
    return dict(zip(found, np.split(order, ends), strict=True))


def _tallies(
    reduced: dict[str, Any],
    columns: Columns,
    bins: int | None,
    *,
    automatic: bool,
    kinds: dict[str, nw.dtypes.DType],
    whole: bool,
) -> Tallies:
    """Make samples of the reduced table."""
    which = reduced.get("which", np.zeros_like(reduced["n"]))
    tallies: Tallies = {}
    for group, lines in _groups(reduced, columns).items():
        tallies[group] = {}
        for k, name in enumerate(columns.scores):
            mine = lines[which[lines] == k]
            part = {key: reduced[key][mine] for key in reduced if not key.startswith("by")}
            if bins is None and _is_small(part["score"], kinds[name]):
                part["score"] = part["score"].astype(np.float32)
            tallies[group][name] = _counted(part, bins, automatic=automatic, whole=whole)
    return tallies


def _is_small(score: Array, kind: nw.dtypes.DType) -> bool:
    """Whether scores of some type are exact as float32, as `float_type` says of arrays."""
    if kind.is_integer() or isinstance(kind, nw.Boolean):
        return bool(np.all(np.abs(score) <= SMALL))
    return isinstance(kind, nw.Float32)


def _counted(
    part: dict[str, Array], bins: int | None, *, automatic: bool, whole: bool
) -> BinnedSamples:
    """Make the samples of one score column and group."""
    kind, count = part["code"] // 16, part["n"]
    square = None
    if "weight" in part:
        count = part["weight"].astype(np.int64) if whole else part["weight"]
        square = None if whole else part["square"]
    if bins is not None:
        samples, binning = assemble(kind, part["low"], part["high"], count, square, bins=bins)
        # Nothing was lost: these are all the scores there are.
        return samples, (None if automatic and not binning.wide.size else binning)
    made = []
    for code in range(3):
        rows = kind == code
        values, times = part["score"][rows] + 0.0, count[rows]
        if square is None:
            made.append(make_sample(values, None if np.all(times == 1) else times))
        else:
            made.append(make_sample(values, times, square[rows]))
    return (made[0], made[1], made[2]), None
