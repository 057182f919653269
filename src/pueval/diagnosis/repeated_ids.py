"""Columns of ids that repeat: what they say about rows that belong together."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from pueval.core.cluster_table import TABLE_CELLS, ClusterTable
from pueval.counts.clusters import LEAST_CLUSTERS
from pueval.counts.counts import Counts
from pueval.diagnosis.column_roles import DISTINCT_SHARE, ID_NAMES
from pueval.errors import InputError
from pueval.sources.column_profiles import column_names
from pueval.sources.columns import Columns
from pueval.sources.duckdb_tables import connect_to, select_columns
from pueval.sources.files import read_files
from pueval.sources.labels import LabelValues
from pueval.sources.paths import locate
from pueval.sources.standard_input import STANDARD_INPUT

# Rows from the beginning of a file in which ids are counted, and most columns of ids.
SAMPLE_ROWS, MOST_IDS = 10_000, 8
# A file with more rows is not read again to find out what clusters change.
MOST_COUNTED_ROWS = 5_000_000


def find_repeated_ids(path: str | os.PathLike[str], known: Collection[str]) -> str | None:
    """Say which column of ids repeats in the first rows of a file; None if there is none.

    Only columns whose names look like ids are read, and only from the first file. Of several
    columns it is the one with the fewest ids: the largest units.

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
        names = [
            name
            for name in dict.fromkeys(column_names(location, next(iter(known), "")))
            if name not in known and ID_NAMES.search(name)
        ][:MOST_IDS]
        if not names:
            return None
        with connect_to(location) as connection:
            requested = {f"g{k}": (name, "id") for k, name in enumerate(names)}
            rows = select_columns(connection, location, requested).limit(SAMPLE_ROWS)
            counts = ", ".join(
                f"count(g{k}), count(DISTINCT g{k}), "
                f"count(TRY_CAST(CAST(g{k} AS VARCHAR) AS TIMESTAMP))"
                for k in range(len(names))
            )
            [(n_rows, *cells)] = rows.aggregate(f"count(*), {counts}").fetchall()
    except InputError:
        # The rows were evaluated already; this is a hint and nothing else.
        return None
    repeated = {
        name: distinct
        for name, present, distinct, n_times in zip(
            names, cells[::3], cells[1::3], cells[2::3], strict=True
        )
        # Dates repeat, too, but are no ids.
        if present == n_rows > n_times and LEAST_CLUSTERS <= distinct < DISTINCT_SHARE * n_rows
    }
    if not repeated:
        return None
    name = min(repeated, key=lambda key: repeated[key])
    first = "first " if n_rows == SAMPLE_ROWS else ""
    return (
        f"Column {name!r} repeats: {repeated[name]:,} values in the {first}{n_rows:,} rows. If "
        f"rows with the same value belong together, pass {shlex.join(['--cluster', name])}: the "
        "intervals above treat rows as independent."
    )


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
