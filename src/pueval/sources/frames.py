"""Rows of data frames.

Frames in memory are sorted here. All others are counted where they live, by one group-by that
narwhals translates for Polars, DuckDB, Ibis, Dask, PySpark and others. Only the reduced table comes
back: a row for every group, kind of row and distinct score (or bin). The same query counts rows
that cannot be used, since a null label would otherwise pass silently for another kind.
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
from pueval.samples.bins import BinnedSamples, Bins, assemble_bins, bin_samples, resolve_bins
from pueval.samples.sample import make_sample
from pueval.sources.arrays import EXACT, EXACT_FLOAT32, check_total, read_arrays
from pueval.sources.columns import Columns, Tallies, check_column
from pueval.sources.expressions import (
    INFINITE,
    MISSING,
    UNFIT,
    bin_edge,
    label_conditions,
    row_table,
)
from pueval.sources.labels import (
    NO_LABEL,
    UNKNOWN,
    LabelValues,
    infinite_error,
    missing_error,
    missing_labels_error,
)

IN_MEMORY = {nw.Implementation.PANDAS, nw.Implementation.POLARS, nw.Implementation.PYARROW}


def read_frame(frame: Any, columns: Columns, *, labels: LabelValues, bins: Bins) -> BinnedSamples:
    """Read the label, score and weight columns of a data frame.

    Frames in the memory of this process are sorted, which is faster than grouping them.
    """
    try:
        data = nw.from_native(frame, eager_only=True, pass_through=True)
    except DuplicateError as error:
        raise _duplicate_columns_error(error) from None
    [score] = columns.scores
    if not (isinstance(data, nw.DataFrame) and data.implementation in IN_MEMORY):
        return query_frame(frame, columns, labels=labels, bins=bins)[()][score]
    arrays: dict[str, Any] = {"weight": None}
    for name, content in columns.contents:
        check_column(name, data.columns, content)
        column = data[name]
        missing = column.null_count()
        if missing and content == "label" and not labels.takes_missing:
            raise missing_labels_error(missing)
        if missing and content != "label":
            raise missing_error(content, missing)
        arrays[content] = column.to_numpy()
    samples = read_arrays(
        arrays["label"], arrays["score"], sample_weight=arrays["weight"], labels=labels
    )
    return bin_samples(samples, None, bins) if isinstance(bins, int) else (samples, None)


def open_frame(frame: Any) -> nw.LazyFrame[Any]:
    """Return any frame that narwhals supports as a lazy one."""
    try:
        data: Any = nw.from_native(frame)
    except TypeError:
        raise InputError(
            "frame must be a data frame (pandas, Polars, PyArrow, DuckDB, Ibis, Dask, PySpark, …); "
            f"got {type(frame).__module__}.{type(frame).__name__}. "
            "For arrays use Counts.from_arrays."
        ) from None
    except DuplicateError as error:
        raise _duplicate_columns_error(error) from None
    lazy: nw.LazyFrame[Any] = data.lazy()
    return lazy


def _duplicate_columns_error(error: DuplicateError) -> InputError:
    reason = " ".join(str(error).split())
    return InputError(f"every column of a frame needs a unique name. {reason}.")


def query_frame(
    frame: Any,
    columns: Columns,
    *,
    labels: LabelValues,
    bins: Bins,
    untyped_labels: bool = False,
    from_text: bool = False,
    explain: Callable[[], InputError] | None = None,
) -> Tallies:
    """Count the rows of a frame in its own engine.

    Parameters
    ----------
    frame : data frame
        Any frame that narwhals supports.
    columns : Columns
        Columns to read.
    labels : LabelValues
        Values of the label column.
    bins : int, "auto" or None
        As for `Counts.from_frame`.
    untyped_labels : bool
        Whether labels match as in files, where "1" also means the number 1 and true.
    from_text : bool
        Whether numbers were parsed from text. Then text that is not a number is null, and weights
        are frequency weights if all of them are integers.
    explain : callable, optional
        Returns the error for rows that cannot be used, if the frame does not show their original
        values.
    """
    labels.check_query()
    lazy = open_frame(frame)
    schema = lazy.collect_schema()
    for name, content in columns.contents:
        check_column(name, schema.names(), content)
    conditions = label_conditions(
        columns.label, schema[columns.label], labels, from_text=untyped_labels
    )
    missing_code = labels.missing_code(from_text=untyped_labels)
    table = row_table(lazy, schema, columns, conditions, missing_code)
    n_rows = 0
    if bins == "auto":
        n_rows = int(lazy.select(n=nw.len()).collect()["n"].to_list()[0])
    used_bins = resolve_bins(bins, n_rows * len(columns.scores))
    reduced = _reduce(table, columns, used_bins)
    if not len(reduced["n"]):
        raise InputError("the frame has no rows. Pass at least one labeled and one other row.")
    code = reduced["code"]
    if explain is not None and np.any((code >= 16 * UNKNOWN) | (code % 16 > 0)):
        raise explain()
    _refuse_unusable(reduced, columns, labels, lazy, schema, conditions, from_text=from_text)
    frequency_weights = columns.sample_weight is not None and _has_frequency_weights(
        reduced, columns, schema[columns.sample_weight], from_text=from_text
    )
    return _tallies(
        reduced,
        columns,
        used_bins,
        automatic=bins == "auto",
        dtypes={name: schema[name] for name in columns.scores},
        frequency_weights=frequency_weights,
    )


def _has_frequency_weights(
    reduced: dict[str, Any], columns: Columns, dtype: nw.dtypes.DType, *, from_text: bool
) -> bool:
    """Whether weights count rows; refuse them if they do and are too large."""
    total = reduced["weight"].sum() / len(columns.scores)
    if isinstance(dtype, nw.Boolean) or dtype.is_integer():
        check_total(total)
        return True
    return from_text and total <= EXACT and not reduced["fractional"].any()


# ---------------------------------------------------------------------- the query


def _reduce(table: nw.LazyFrame[Any], columns: Columns, bins: int | None) -> dict[str, Any]:
    """Run the query; return its columns."""
    by = [f"by{k}" for k in range(len(columns.by))]
    keys = [*by, "code", *(["which"] if len(columns.scores) > 1 else [])]
    sums = {"n": nw.len()}
    if columns.sample_weight is not None:
        sums |= {"weight": nw.col("weight").sum(), "square": nw.col("square").sum()}
        sums |= {"fractional": nw.col("fractional").max()}
    if bins is None:
        keys.append("score")
    else:
        table = table.with_columns(bin=bin_edge(nw.col("score"), bins))
        keys.append("bin")
        sums |= {"low": nw.col("score").min(), "high": nw.col("score").max()}
    result = table.group_by(keys).agg(**sums).collect()
    reduced: dict[str, Any] = {}
    for name in result.columns:
        column = result[name]
        if name in by:
            reduced[name] = _group_values(column)
        else:
            integer = name in {"n", "code", "which", "fractional"}
            reduced[name] = column.to_numpy().astype(np.int64 if integer else np.float64)
    return reduced


def _group_values(column: nw.Series[Any]) -> list[Any]:
    """Return the values of a group column, None for those that are missing.

    NaN is missing, too: it does not equal itself, and would make a group of every row.
    """
    missing = column.is_null().to_list()
    return [
        None if is_null or (isinstance(value, float) and math.isnan(value)) else value
        for value, is_null in zip(column.to_list(), missing, strict=True)
    ]


def _refuse_unusable(
    reduced: dict[str, Any],
    columns: Columns,
    labels: LabelValues,
    lazy: nw.LazyFrame[Any],
    schema: Any,
    conditions: Sequence[nw.Expr | None],
    *,
    from_text: bool,
) -> None:
    """Refuse rows without a usable label, score or weight, with their number."""
    code, n = reduced["code"], reduced["n"]
    kind, score_fault, weight_fault = code // 16, code // 4 % 4, code % 4
    # Each row was counted once for every score column.
    if missing := int(n[kind == NO_LABEL].sum()) // len(columns.scores):
        raise missing_error(f"label (column {columns.label!r})", missing)
    if unknown := int(n[kind == UNKNOWN].sum()) // len(columns.scores):
        recognized: Any = nw.lit(value=False)
        for condition in conditions:
            if condition is not None:
                recognized = recognized | condition
        rows = lazy.filter(~recognized & ~nw.col(columns.label).is_null()).select(columns.label)
        values = rows.unique().head(6).collect()[columns.label].to_list()
        raise labels.unrecognized_error(sorted(values, key=str), unknown)
    which = reduced.get("which", np.zeros_like(n))
    for k, name in enumerate(columns.scores):
        rows_with = [int(n[(which == k) & (score_fault == fault)].sum()) for fault in range(4)]
        content = f"score (column {name!r})"
        if rows_with[MISSING]:
            not_number = f"score, or one that is not a number (column {name!r})"
            raise missing_error(not_number if from_text else content, rows_with[MISSING])
        if rows_with[INFINITE] and schema[name].is_integer():
            raise InputError(
                "integer scores must lie within ±2**53, or distinct scores become equal; got "
                f"{rows_with[INFINITE]:,} beyond in column {name!r}. Replace them by their ranks."
            )
        if rows_with[INFINITE]:
            raise infinite_error(content, rows_with[INFINITE])
    rows_with = [int(n[weight_fault == fault].sum()) // len(columns.scores) for fault in range(4)]
    if rows_with[MISSING] or rows_with[INFINITE]:
        content = "or infinite weight" + (", or one that is not a number" if from_text else "")
        raise missing_error(content, rows_with[MISSING] + rows_with[INFINITE])
    if rows_with[UNFIT]:
        raise InputError(f"weights must not be negative; got {rows_with[UNFIT]:,} below zero.")


# ---------------------------------------------------------------------- the reduced table


def _groups(reduced: dict[str, Any], columns: Columns) -> dict[tuple[Hashable, ...], Array]:
    """Return the lines of the reduced table that belong to each group, groups in order."""
    if not columns.by:
        return {(): np.arange(len(reduced["n"]))}
    values = list(zip(*(reduced[f"by{k}"] for k in range(len(columns.by))), strict=True))
    groups = sorted(set(values), key=lambda group: [(v is None, str(type(v)), v) for v in group])
    number = {group: k for k, group in enumerate(groups)}
    group_of_line = np.array([number[value] for value in values])
    order = np.argsort(group_of_line, kind="stable")
    ends = np.cumsum(np.bincount(group_of_line))[:-1]
    return dict(zip(groups, np.split(order, ends), strict=True))


def _tallies(
    reduced: dict[str, Any],
    columns: Columns,
    bins: int | None,
    *,
    automatic: bool,
    dtypes: dict[str, nw.dtypes.DType],
    frequency_weights: bool,
) -> Tallies:
    """Make samples of the reduced table."""
    which = reduced.get("which", np.zeros_like(reduced["n"]))
    tallies: Tallies = {}
    for group, lines in _groups(reduced, columns).items():
        tallies[group] = {}
        for k, name in enumerate(columns.scores):
            selected = lines[which[lines] == k]
            part = {key: reduced[key][selected] for key in reduced if not key.startswith("by")}
            if bins is None and _fits_float32(part["score"], dtypes[name]):
                part["score"] = part["score"].astype(np.float32)
            tallies[group][name] = _make_samples(
                part, bins, automatic=automatic, frequency_weights=frequency_weights
            )
    return tallies


def _fits_float32(score: Array, dtype: nw.dtypes.DType) -> bool:
    """Whether float32 holds scores of this type exactly, as `arrays.float_type` says of arrays."""
    if dtype.is_integer() or isinstance(dtype, nw.Boolean):
        return bool(np.all(np.abs(score) <= EXACT_FLOAT32))
    return isinstance(dtype, nw.Float32)


def _make_samples(
    part: dict[str, Array], bins: int | None, *, automatic: bool, frequency_weights: bool
) -> BinnedSamples:
    """Make the samples of one score column and group."""
    kind, count = part["code"] // 16, part["n"]
    square = None
    if "weight" in part:
        count = part["weight"].astype(np.int64) if frequency_weights else part["weight"]
        square = None if frequency_weights else part["square"]
    if bins is not None:
        samples, binning = assemble_bins(kind, part["low"], part["high"], count, square, bins=bins)
        # If no bin is wide, every score was kept.
        return samples, (None if automatic and not binning.wide.size else binning)
    by_kind = []
    for code in range(3):
        rows = kind == code
        values, times = part["score"][rows] + 0.0, count[rows]
        if square is None:
            by_kind.append(make_sample(values, None if np.all(times == 1) else times))
        else:
            by_kind.append(make_sample(values, times, square[rows]))
    return (by_kind[0], by_kind[1], by_kind[2]), None
