"""All rows of files, one by one: for models and groups that are compared row by row."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns
from pueval.sources.duckdb_rows import KINDS, opened
from pueval.sources.labels import LabelValues
from pueval.sources.paths import find
from pueval.sources.sql import NULLS
from pueval.sources.storage import is_counts_file

__all__ = ["KINDS", "FileRows", "read_rows"]


@dataclass(frozen=True, eq=False)
class FileRows:
    """Columns of files; ``kind`` has the values of `KINDS`."""

    kind: Array
    scores: list[Array]
    sample_weight: Array | None
    by: Array | None


def read_rows(path: str | os.PathLike[str], columns: Columns, *, labels: LabelValues) -> FileRows:
    """Read labels, scores, weights and the first group column of all rows."""
    place = find(path)
    if place.format == "parquet" and any(map(is_counts_file, place.files)):
        raise InputError(
            f"{place.text} holds saved counts, which have no rows any more. Give the file of rows."
        )
    with opened(place, columns, labels) as rows:
        data = rows.numbers().fetchnumpy()
        kind = np.ma.getdata(data["k"])
        if not kind.size:
            raise InputError(f"{place.text} holds no rows, only a header.")
        numbers = [name for name in rows.types if name[0] in "sw"]
        lost = any(np.ma.getmaskarray(data[name]).any() for name in numbers)
        if lost or not np.isin(kind, [v for v in KINDS.kinds if v is not None]).all():
            raise rows.problem()
        text = rows.types.get("w") == "VARCHAR"
    sample_weight = np.ma.getdata(data["w"]) if "w" in data else None
    # Weights that come as text are whole numbers if they all are.
    if sample_weight is not None and text and np.all(sample_weight == np.floor(sample_weight)):
        sample_weight = (
            sample_weight.astype(np.int64)
            if np.all(np.abs(sample_weight) < EXACT)
            else sample_weight
        )
    return FileRows(
        kind,
        [np.ma.getdata(data[f"s{k}"]) for k in range(len(columns.scores))],
        sample_weight,
        _groups(data["g0"], columns.by[0]) if columns.by else None,
    )


def _groups(values: Array, by: str) -> Array:
    """Return the names of groups; refuse missing ones."""
    lost = int(np.ma.getmaskarray(values).sum())
    if lost:
        words = ", ".join(word or "nothing" for word in NULLS)
        raise InputError(
            f"{lost:,} rows have no group (column {by!r}): in text files these words mean a "
            f"missing value: {words}. Drop the rows, or give them a group of their own."
        )
    return np.ma.getdata(values)
