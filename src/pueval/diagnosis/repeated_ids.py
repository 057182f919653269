"""Columns of ids that repeat: what they say about rows that belong together."""

from __future__ import annotations

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
# A file with more rows is not read again to find out what clusters change.
MOST_COUNTED_ROWS = 5_000_000


def find_repeated_ids(path: str | os.PathLike[str], known: Collection[str]) -> str | None:
    """Say which column of ids repeats in the first rows of a file; None if there is none.

    Ids are whole numbers or text in columns with such a name, or text in other columns, as in
    `pueval.doctor`. Only the first file is read. Of several columns it is the one with the fewest
    ids: the largest units; columns with the name of ids go first.

    Parameters
    ----------
    path : str or path
        Files, as for `Counts.from_file`.
    known : collection of str
        Columns that are used already.
    """
    if os.fspath(path) == STANDARD_INPUT:
        return None
    try:
        location = locate(path)
        location = replace(location, files=location.files[:1])
        names = column_names(location, next(iter(known), ""))
        names = [name for name in names if name not in known and names.count(name) == 1]
        names = _likely_ids(location, names[:MOST_COLUMNS])
        if not names:
            return None
        n_rows, columns = _count_values(location, names)
    except InputError:
        # The rows were evaluated already; this is a hint and nothing else.
        return None
    repeated = {
        name: column.distinct
        for name, column in zip(names, columns, strict=True)
        if column.repeats(n_rows) and column.holds_ids(name)
    }
    if not repeated:
        return None
    name = min(repeated, key=lambda key: (not named_like_ids(key), repeated[key]))
    first = "first " if n_rows == SAMPLE_ROWS else ""
    return (
        f"Column {name!r} repeats: {repeated[name]:,} values in the {first}{n_rows:,} rows. If "
        f"rows with the same value belong together, pass {shlex.join(['--cluster', name])}: the "
        "intervals above treat rows as independent."
    )


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


def error_factor(
    path: str, label: str, score: str, cluster: str, labels: LabelValues
) -> float | None:
    """Return the standard error of the naive AUC with clusters, divided by that without.

    None if there are too few clusters.
    """
    columns = Columns(label, (score,), cluster=cluster)
    [rows] = read_files(path, columns, labels=labels)[()].values()
    counts = Counts._from_rows(rows, None)
    if counts._clusters is None or counts._clusters.clusters.missing_reason is not None:
        return None
    thresholds = counts._thinned(TABLE_CELLS).score.astype(np.float64)
    return math.sqrt(ClusterTable.of(counts, thresholds).auc_effect)
