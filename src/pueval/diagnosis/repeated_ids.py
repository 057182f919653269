"""Columns of ids that repeat: what they say about rows that belong together."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pueval.core.cluster_table import TABLE_CELLS, ClusterTable
from pueval.counts.clusters import LEAST_CLUSTERS
from pueval.counts.counts import Counts
from pueval.diagnosis.column_roles import DISTINCT_SHARE, named_like_ids
from pueval.errors import InputError
from pueval.sources.column_profiles import MOST_COLUMNS, MOST_VALUES, column_names
from pueval.sources.columns import Columns
from pueval.sources.duckdb_tables import connect_to, select_columns
from pueval.sources.files import read_files
from pueval.sources.labels import LabelValues
from pueval.sources.paths import DataLocation, locate
from pueval.sources.standard_input import STANDARD_INPUT

# Rows from the beginning of a file in which ids are counted, and most columns of ids.
SAMPLE_ROWS, MOST_IDS = 10_000, 8
# Rows that show which columns hold text.
TEXT_ROWS = 100
# Files with more rows are not read again to find out what clusters change: by doctor, and below an
# evaluation, which is faster.
MOST_COUNTED_ROWS, MOST_REREAD_ROWS = 5_000_000, 200_000
# Clusters that make the standard error larger by a smaller factor are no problem.
NOTABLE_FACTOR = 1.1


def find_repeated_ids(
    path: str | os.PathLike[str],
    columns: Columns,
    others: Collection[str] = (),
    *,
    labels: LabelValues | None = None,
    over_time: bool = False,
) -> str | None:
    """Say which column of ids repeats in a file, and what clusters change; None if nothing.

    Ids are whole numbers or text in columns with such a name, or text in other columns, as in
    `pueval.doctor`. They are counted in the first rows of the first file. Of several columns it is
    the one with the fewest ids: the largest units; columns with the name of ids go first. Ids that
    change next to nothing are left out. That is found out for files of at most `MOST_REREAD_ROWS`
    rows.

    Parameters
    ----------
    path : str or path
        Files, as for `Counts.from_file`.
    columns : Columns
        Columns of labels, scores and weights.
    others : collection of str
        More columns that are used already.
    labels : LabelValues, optional
        Labels of the rows. Without them, the text does not say what clusters change.
    over_time : bool
        Whether rows were divided into windows of time, which cannot be combined with clusters.
    """
    if os.fspath(path) == STANDARD_INPUT:
        return None
    known = {*(name for name, _ in columns.contents), *others}
    try:
        whole = locate(path)
        location = replace(whole, files=whole.files[:1])
        names = column_names(location, columns.label)
        names = [name for name in names if name not in known and names.count(name) == 1]
        names = _likely_ids(location, names[:MOST_COLUMNS])
        if not names:
            return None
        n_rows, columns_of_ids = _count_values(location, names)
        repeated = {
            name: column.distinct
            for name, column in zip(names, columns_of_ids, strict=True)
            if column.repeats(n_rows) and column.holds_ids(name)
        }
        reread = labels is not None and bool(repeated) and _is_small(whole, columns.label)
    except InputError:
        # The rows were evaluated already; this is a hint and nothing else.
        return None
    first = "first " if n_rows == SAMPLE_ROWS else ""
    for name in sorted(repeated, key=lambda key: (not named_like_ids(key), repeated[key])):
        rows = f"the {first}{n_rows:,}"
        text = describe_repeats(name, f"{repeated[name]:,}", rows, over_time=over_time)
        factor = None
        if labels is not None and reread:
            with contextlib.suppress(InputError):  # such as a missing id below the first rows
                factor = error_factor(path, replace(columns, cluster=name), labels)
        if factor is None:
            return f"Column {text}: the intervals above treat rows as independent."
        if factor > NOTABLE_FACTOR:
            return f"Column {text}: {describe_factor(factor, columns.scores[0])}"
    return None


def describe_repeats(name: str, distinct: str, rows: str, *, over_time: bool = False) -> str:
    """Say that the ids in a column repeat, and which option clusters need."""
    option = shlex.join(["--cluster", name])
    if over_time:
        option += " and --by with a column of months, instead of --over"
    return (
        f"{name!r} repeats: {distinct} values in {rows} rows. If rows with the same value belong "
        f"together, pass {option}"
    )


def describe_factor(factor: float, score: str) -> str:
    """Say what clusters do to the standard error of the AUC."""
    return f"the standard error of the AUC of {score} would be about {factor:.1f} times as large."


class _ColumnValues(NamedTuple):
    """Numbers of values in a column: all, distinct ones, numbers, other than whole ones, times."""

    present: int
    distinct: int
    numbers: int
    fractions: int
    times: int

    def repeats(self, n_rows: int) -> bool:
        """Whether there are several values, which repeat, and none is missing."""
        return self.present == n_rows and LEAST_CLUSTERS <= self.distinct < DISTINCT_SHARE * n_rows

    def holds_ids(self, name: str) -> bool:
        """Whether the values can be ids. Dates repeat, too, but are none."""
        if self.times == self.present:
            return False
        if named_like_ids(name):
            return not self.fractions
        return 2 * self.numbers < self.present and self.distinct > MOST_VALUES


def _likely_ids(location: DataLocation, names: list[str]) -> list[str]:
    """Return the columns with names of ids, and then those of text."""
    likely = [name for name in names if named_like_ids(name)]
    others = [name for name in names if name not in likely]
    if others and len(likely) < MOST_IDS:
        with connect_to(location) as connection:
            rows = _first_rows(connection, location, others, TEXT_ROWS).fetchall()
        likely += [
            name
            for name, values in zip(others, zip(*rows, strict=True), strict=False)
            if 2 * sum(map(_is_number, values)) < len(values)
        ]
    return likely[:MOST_IDS]


def _first_rows(connection: Any, location: DataLocation, names: list[str], most_rows: int) -> Any:
    """Return columns as text t0, t1, …, of the rows at the beginning of a file."""
    requested = {f"g{k}": (name, "id") for k, name in enumerate(names)}
    rows = select_columns(connection, location, requested).limit(most_rows)
    return rows.select(", ".join(f"CAST(g{k} AS VARCHAR) AS t{k}" for k in range(len(names))))


def _is_number(value: str | None) -> bool:
    """Whether a value is a number; a missing one is no text, either."""
    try:
        float(value or 0)
    except ValueError:
        return False
    return True


def _count_values(location: DataLocation, names: list[str]) -> tuple[int, list[_ColumnValues]]:
    """Return the number of rows at the beginning of a file, and what the columns hold there."""
    counts = ", ".join(
        f"count(t{k}), count(DISTINCT t{k}), count(TRY_CAST(t{k} AS DOUBLE)), "
        f"count(*) FILTER (TRY_CAST(t{k} AS DOUBLE) <> floor(TRY_CAST(t{k} AS DOUBLE))), "
        f"count(TRY_CAST(t{k} AS TIMESTAMP))"
        for k in range(len(names))
    )
    with connect_to(location) as connection:
        rows = _first_rows(connection, location, names, SAMPLE_ROWS)
        [(n_rows, *cells)] = rows.aggregate(f"count(*), {counts}").fetchall()
    return n_rows, [_ColumnValues(*cells[5 * k : 5 * k + 5]) for k in range(len(names))]


def _is_small(location: DataLocation, label: str) -> bool:
    """Whether all files together have few enough rows to be read again; no more are counted."""
    with connect_to(location) as connection:
        rows = select_columns(connection, location, {"label": (label, "label")})
        [(n_rows,)] = rows.limit(MOST_REREAD_ROWS + 1).aggregate("count(*)").fetchall()
    return bool(n_rows <= MOST_REREAD_ROWS)


def error_factor(
    path: str | os.PathLike[str], columns: Columns, labels: LabelValues
) -> float | None:
    """Return the standard error of the naive AUC with clusters, divided by that without.

    It is that of the first score. None if there are too few clusters, or each is a single row.
    """
    columns = replace(columns, scores=columns.scores[:1])
    [rows] = read_files(path, columns, labels=labels)[()].values()
    counts = Counts._from_rows(rows, None)
    if counts._clusters is None or counts._clusters.clusters.missing_reason is not None:
        return None
    thresholds = counts._thinned(TABLE_CELLS).score.astype(np.float64)
    return math.sqrt(ClusterTable.of(counts, thresholds).auc_effect)
