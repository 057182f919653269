"""Rows of data frames.

Frames in memory are sorted here. All others are counted where they live, by one group-by that
narwhals translates for Polars, DuckDB, Ibis, Dask, PySpark and others. Only the reduced table comes
back: a row for every group, kind of row and distinct score (or bin). The same query counts rows
that cannot be used, since a null label would otherwise pass silently for another kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.bins import BinnedSamples, Bins, assemble_bins, bin_samples, resolve_bins
from pueval.samples.sample import make_sample
from pueval.sources.arrays import (
    EXACT,
    EXACT_FLOAT32,
    as_scores,
    as_weights,
    check_total,
    label_kinds,
    one_column,
    read_arrays,
)
from pueval.sources.cluster_columns import count_clusters, hash_clusters
from pueval.sources.cluster_lines import MOST_GROUPS, ClusterLines, ClusterNumbers
from pueval.sources.columns import Columns, CountedRows, Tallies, check_column
from pueval.sources.expressions import (
    INFINITE,
    MISSING,
    UNFIT,
    bin_edge,
    label_conditions,
    plain_columns,
    row_table,
)
from pueval.sources.labels import (
    NO_LABEL,
    UNKNOWN,
    LabelValues,
    inexact_scores_error,
    infinite_error,
    missing_error,
    missing_labels_error,
)

IN_MEMORY = {nw.Implementation.PANDAS, nw.Implementation.POLARS, nw.Implementation.PYARROW}


def read_frame(frame: Any, columns: Columns, *, labels: LabelValues, bins: Bins) -> CountedRows:
    """Read the label, score, weight and cluster columns of a data frame.

    Frames in the memory of this process are sorted, which is faster than grouping them.
    """
    data = _wrap(frame)
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
    clusters = None
    if columns.cluster is not None:
        clusters = ClusterLines(
            label_kinds(arrays["label"], labels),
            as_scores(one_column(arrays["score"], "score")),
            arrays["cluster"],
            None if arrays["weight"] is None else as_weights(arrays["weight"]),
        )
    if isinstance(bins, int):
        return CountedRows(*bin_samples(samples, None, bins), clusters=clusters)
    return CountedRows(samples, None, clusters)


def open_frame(frame: Any) -> nw.LazyFrame[Any]:
    """Return any frame that narwhals supports as a lazy one."""
    data = _wrap(frame)
    if not isinstance(data, nw.DataFrame | nw.LazyFrame):
        raise InputError(
            "frame must be a data frame (pandas, Polars, PyArrow, DuckDB, Ibis, Dask, PySpark, …); "
            f"got {type(frame).__module__}.{type(frame).__name__}. "
            "For arrays use Counts.from_arrays."
        )
    return data.lazy()


def _wrap(frame: Any) -> Any:
    """Return a frame of narwhals; anything else as it is."""
    try:
        return nw.from_native(frame, pass_through=True)
    except DuplicateError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"every column of a frame needs a unique name. {reason}.") from None


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
    lazy, plain, _ = plain_columns(lazy, columns)
    table = row_table(lazy, lazy.collect_schema(), plain, labels, from_text=untyped_labels)
    numbers = None
    if columns.cluster is not None:
        once = replace(plain, scores=plain.scores[:1])
        rows = row_table(lazy, lazy.collect_schema(), once, labels, from_text=untyped_labels)
        numbers = count_clusters(rows, schema[columns.cluster], columns.cluster)
        if numbers.n_clusters > MOST_GROUPS:
            table = hash_clusters(table)
    n_rows = int(lazy.select(n=nw.len()).collect()["n"].to_list()[0]) if bins == "auto" else 0
    used_bins = resolve_bins(bins, n_rows * len(columns.scores))
    lines = _reduce(table, columns, used_bins)
    reduced = ReducedTable(lines, columns, schema, from_text, numbers)
    code = reduced.lines["code"]
    if not code.size:
        raise InputError(
            "the frame has no rows. Pass at least one labeled row and one unlabeled or known "
            "negative row."
        )
    if explain is not None and np.any((code >= 16 * UNKNOWN) | (code % 16 > 0)):
        raise explain()
    if missing := reduced.count(code // 16 == NO_LABEL):
        raise missing_error(f"label (column {columns.label!r})", missing)
    if unknown := reduced.count(code // 16 == UNKNOWN):
        conditions = label_conditions(
            plain.label, schema[columns.label], labels, from_text=untyped_labels
        )
        recognized = reduce(or_, (condition for _, condition in conditions), nw.lit(value=False))
        rows = lazy.filter(~recognized & ~nw.col(plain.label).is_null()).select(plain.label)
        values = rows.unique().head(6).collect()[plain.label].to_list()
        raise labels.unrecognized_error(sorted(values, key=str), unknown)
    reduced.refuse_unusable_numbers()
    return reduced.tallies(used_bins, automatic=bins == "auto")


def _reduce(table: nw.LazyFrame[Any], columns: Columns, bins: int | None) -> dict[str, Any]:
    """Run the query; return its columns."""
    by = [f"by{k}" for k in range(len(columns.by))]
    clustered = ["cluster"] * (columns.cluster is not None)
    keys = [*by, *clustered, "code", *(["which"] if len(columns.scores) > 1 else [])]
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
    integers = {"n", "code", "which", "fractional"}
    lines: dict[str, Any] = {
        name: result[name].to_numpy().astype(np.int64 if name in integers else np.float64)
        for name in result.columns
        if name not in {*by, *clustered}
    }
    lines |= {name: _group_values(result[name]) for name in by}
    return lines | {name: _cluster_values(result[name]) for name in clustered}


def _cluster_values(column: nw.Series[Any]) -> Array:
    """Return the names or groups of clusters; none is missing."""
    if column.dtype.is_integer():
        return np.asarray(column.to_numpy())
    names = np.empty(len(column), dtype=object)
    names[:] = column.to_list()
    return names


def _group_values(column: nw.Series[Any]) -> list[Any]:
    """Return the values of a group column, None for those that are missing.

    NaN is missing, too: it does not equal itself, and would make a group of every row.
    """
    missing = column.is_null().to_list()
    return [
        None if is_null or (isinstance(value, float) and math.isnan(value)) else value
        for value, is_null in zip(column.to_list(), missing, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class ReducedTable:
    """The result of the query, and the types of the frame's columns."""

    lines: dict[str, Any]
    columns: Columns
    schema: Any
    from_text: bool
    clusters: ClusterNumbers | None = None

    @property
    def which(self) -> Array:
        """Number of the score column of each line."""
        return np.asarray(self.lines.get("which", np.zeros_like(self.lines["n"])))

    def count(self, lines: Array) -> int:
        """Return the number of rows in some lines; each was counted for every score column."""
        return int(self.lines["n"][lines].sum()) // len(self.columns.scores)

    def refuse_unusable_numbers(self) -> None:
        """Refuse rows without a usable score or weight, with their number."""
        code, n = self.lines["code"], self.lines["n"]
        for k, name in enumerate(self.columns.scores):
            of_score = self.which == k
            missing, infinite = (
                int(n[of_score & (code // 4 % 4 == fault)].sum()) for fault in (MISSING, INFINITE)
            )
            content = f"score (column {name!r})"
            if missing:
                not_number = f"score, or one that is not a number (column {name!r})"
                raise missing_error(not_number if self.from_text else content, missing)
            if infinite and (self.schema[name].is_integer() or self.schema[name].is_decimal()):
                raise inexact_scores_error(f"{infinite:,} beyond in column {name!r}")
            if infinite:
                raise infinite_error(content, infinite)
        if missing := self.count((code % 4 == MISSING) | (code % 4 == INFINITE)):
            hint = ", or one that is not a number" if self.from_text else ""
            raise missing_error(f"or infinite weight{hint}", missing)
        if negative := self.count(code % 4 == UNFIT):
            raise InputError(f"weights must not be negative; got {negative:,} below zero.")

    def _has_frequency_weights(self) -> bool:
        """Whether weights count rows; refuse them if they do and are too large."""
        if self.columns.sample_weight is None:
            return False
        total = self.lines["weight"].sum() / len(self.columns.scores)
        dtype = self.schema[self.columns.sample_weight]
        if isinstance(dtype, nw.Boolean) or dtype.is_integer():
            check_total(total)
            return True
        return self.from_text and total <= EXACT and not self.lines["fractional"].any()

    def _groups(self) -> dict[tuple[Hashable, ...], Array]:
        """Return the lines that belong to each group, groups in order."""
        if not self.columns.by:
            return {(): np.arange(len(self.lines["n"]))}
        by = (self.lines[f"by{k}"] for k in range(len(self.columns.by)))
        values = list(zip(*by, strict=True))
        groups = sorted(set(values), key=lambda key: [(v is None, str(type(v)), v) for v in key])
        number = {group: k for k, group in enumerate(groups)}
        group_of_line = np.array([number[value] for value in values])
        order = np.argsort(group_of_line, kind="stable")
        ends = np.cumsum(np.bincount(group_of_line))[:-1]
        return dict(zip(groups, np.split(order, ends), strict=True))

    def tallies(self, bins: int | None, *, automatic: bool) -> Tallies:
        """Make samples of the lines; with ``automatic``, only wide bins make scores binned."""
        frequency_weights = self._has_frequency_weights()
        tallies: Tallies = {}
        for group, lines in self._groups().items():
            tallies[group] = {}
            for k, name in enumerate(self.columns.scores):
                of_score = lines[self.which[lines] == k]
                part = {key: self.lines[key][of_score] for key in self.lines if key[:2] != "by"}
                if bins is None and _fits_float32(part["score"], self.schema[name]):
                    part["score"] = part["score"].astype(np.float32)
                samples, binning = _make_samples(part, bins, frequency_weights=frequency_weights)
                if automatic and binning is not None and not binning.wide.size:
                    binning = None
                clusters = None
                if self.clusters is not None:
                    clusters = self._cluster_lines(part, frequency_weights=frequency_weights)
                tallies[group][name] = CountedRows(samples, binning, clusters)
        return tallies

    def _cluster_lines(self, part: dict[str, Array], *, frequency_weights: bool) -> ClusterLines:
        """Return the lines of one score column, with their clusters."""
        # All scores of a bin are on the same side of every threshold.
        score = part["low" if "low" in part else "score"] + 0.0
        weight = _line_weights(part, frequency_weights=frequency_weights)
        numbers = self.clusters
        if frequency_weights and numbers is not None:
            numbers = numbers._replace(are_single_rows=False)
        return ClusterLines(part["code"] // 16, score, part["cluster"], weight, numbers)


def _line_weights(part: dict[str, Array], *, frequency_weights: bool) -> Array:
    """Return the number of rows of each line, or the sum of their weights."""
    if "weight" not in part:
        return part["n"]
    return part["weight"].astype(np.int64) if frequency_weights else part["weight"]


def _fits_float32(score: Array, dtype: nw.dtypes.DType) -> bool:
    """Whether float32 holds scores of this type exactly, as `arrays.float_type` says of arrays."""
    if dtype.is_integer() or isinstance(dtype, nw.Boolean):
        return bool(np.all(np.abs(score) <= EXACT_FLOAT32))
    return isinstance(dtype, nw.Float32)


def _make_samples(
    part: dict[str, Array], bins: int | None, *, frequency_weights: bool
) -> BinnedSamples:
    """Make the samples of one score column and group."""
    kind, count = part["code"] // 16, _line_weights(part, frequency_weights=frequency_weights)
    square = None if frequency_weights else part.get("square")
    if bins is not None:
        return assemble_bins(kind, part["low"], part["high"], count, square, bins=bins)
    by_kind = []
    for code in range(3):
        rows = kind == code
        values, times = part["score"][rows] + 0.0, count[rows]
        if square is None:
            by_kind.append(make_sample(values, None if np.all(times == 1) else times))
        else:
            by_kind.append(make_sample(values, times, square[rows]))
    return (by_kind[0], by_kind[1], by_kind[2]), None
