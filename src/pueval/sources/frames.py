"""Rows from an in-memory data frame: pandas, Polars, PyArrow, whatever narwhals knows."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from pueval.errors import InputError
from pueval.sources.arrays import Samples, read_arrays
from pueval.sources.labels import LabelValues, missing


def read_frame(
    frame: Any, *, label: str, score: str, weight: str | None, labels: LabelValues
) -> Samples:
    """Read the label, score and weight columns of a data frame."""
    try:
        data = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            "frame must be an in-memory data frame (pandas, Polars, PyArrow, …); "
            f"got {type(frame).__module__}.{type(frame).__name__}. "
            "Collect a lazy frame first; for arrays use Counts.from_arrays."
        ) from None
    columns: list[Any] = []
    for name, what in ((label, "label"), (score, "score"), (weight, "weight")):
        if name is None:
            columns.append(None)
            continue
        check_column(name, data.columns, what)
        column = data[name]
        lost = column.null_count()
        if lost:
            raise missing(what, lost)
        columns.append(column.to_numpy())
    return read_arrays(columns[0], columns[1], weight=columns[2], labels=labels)


def check_column(name: str, columns: Sequence[str], what: str) -> None:
    """Refuse a column that is not there, naming those that are."""
    if name in columns:
        return
    near = difflib.get_close_matches(name, columns, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    there = ", ".join(repr(column) for column in columns[:20])
    if len(columns) > 20:
        there += f", … ({len(columns)} in all)"
    raise InputError(f"there is no {what} column {name!r}.{hint} The columns are {there}.")
