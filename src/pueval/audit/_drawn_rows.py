"""Rows drawn by a plan inside the engine: files need not fit into memory."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import check_count
from pueval._typing import Array
from pueval.audit._plan_result import Plan
from pueval.audit._systematic_sampling import systematic_sample
from pueval.errors import InputError
from pueval.samples.steps import find_cells
from pueval.sources.columns import Columns
from pueval.sources.duckdb_connections import text_literal
from pueval.sources.labels import LabelValues
from pueval.sources.row_ids import find_rows, open_identified_rows

# Hashes have 64 bits.
HASHES = 2.0**64
# More rows of a stratum are collected than are needed: so many times the square root of the number
# of rows to draw, and so many rows.
SPARE_DEVIATIONS, SPARE_ROWS = 6.0, 10.0


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows to check, in random order.

    Attributes
    ----------
    ids : list of str
        Ids, or numbers of rows.
    score, probability : ndarray
        Scores, and the probability with which each row was chosen.
    checked : ndarray of bool
        Whether the row was checked before.
    """

    ids: list[str]
    score: Array
    probability: Array
    checked: Array


def draw_from_file(
    plan: Plan,
    path: str | os.PathLike[str],
    columns: Columns,
    labels: LabelValues,
    *,
    seed: int = 0,
    checked: Collection[str] = (),
) -> DrawnRows:
    """Draw the rows of a plan from a file; only about as many rows as drawn are collected.

    Each stratum h with N rows and probability q gets n rows, N·q on average, by systematic
    sampling. These are the n rows with the smallest hashes of seed and id: a simple random sample.
    So each row is drawn with exactly the probability q, and ``plan.budget`` rows in all.

    Rows that were checked before are drawn, too, independently with the same probabilities and in
    addition to the budget. So the sample is independent of the earlier ones.

    Parameters
    ----------
    plan : Plan
        A plan made from the Counts of this file.
    path, columns, labels
        The file, its columns and its label values.
    seed : int
        Random seed.
    checked : collection of str
        Ids of the rows that were checked before.

    Returns
    -------
    DrawnRows
    """
    check_count("seed", seed, least=0)
    strata = plan.to_dict()["strata"]
    lower, number, probability = (
        np.array(strata[name], np.float64) for name in ("lowest_score", "rows", "probability")
    )
    rng = np.random.default_rng([seed, 33, len(checked)])
    wanted = np.bincount(systematic_sample(number * probability, rng), minlength=lower.size)
    wanted = np.minimum(wanted, number).astype(np.int64)
    spare = SPARE_DEVIATIONS * np.sqrt(wanted) + SPARE_ROWS
    limit = np.maximum(probability, (wanted + spare) / np.maximum(number, 1)).clip(max=1.0)
    # Another stream of random numbers for every round, or rounds would not be independent.
    key = f"{seed} {len(checked)} "
    while True:
        ids, score, rank = _smallest_hashes(path, columns, labels, key, lower, limit)
        stratum = find_cells(lower, score)
        old = np.array([name in checked for name in ids], bool)
        drawn = old & (rank < probability[stratum])
        drawn[_smallest_of_strata(stratum, rank, ~old, wanted)] = True
        missing = np.bincount(stratum[drawn & ~old], minlength=lower.size) < wanted
        if not missing.any():
            break
        if np.all(limit[missing] >= 1):
            raise InputError(f"{os.fspath(path)} changed while it was read. Plan again.")
        limit[missing] = np.minimum(4 * limit[missing], 1.0)
    index = rng.permutation(np.flatnonzero(drawn))
    chosen = [ids[k] for k in index]
    if columns.row_id is not None:
        find_rows(path, columns, labels, chosen)
    return DrawnRows(chosen, score[index], probability[stratum[index]], old[index])


def _smallest_hashes(
    path: str | os.PathLike[str],
    columns: Columns,
    labels: LabelValues,
    key: str,
    lower: Array,
    limit: Array,
) -> tuple[list[str], Array, Array]:
    """Return id, score and hash, in [0, 1), of unlabeled rows whose hash is below a limit."""
    cases = " ".join(
        f"WHEN score >= {_double(edge)} THEN {_double(end)}"
        for edge, end in zip(lower[:-1], limit[:-1], strict=True)
    )
    below = f"CASE {cases} ELSE {_double(limit[-1])} END" if cases else _double(limit[-1])
    with open_identified_rows(path, columns, labels) as (_, rows):
        unlabeled = rows.filter("k = 1").select(
            "id, CAST(s0 AS DOUBLE) AS score, "
            f"CAST(hash(concat({text_literal(key)}, id)) AS DOUBLE) / {_double(HASHES)} AS rank"
        )
        # In this order, so that the same seed always draws the same rows.
        found = unlabeled.filter(f"rank < {below} OR id IS NULL").order("id").fetchall()
    if any(row[0] is None for row in found):
        raise InputError(
            f"some rows have no id (column {columns.row_id!r}). Give every row an id of its own."
        )
    ids, score, rank = zip(*found, strict=True) if found else ((), (), ())
    return list(ids), np.array(score, np.float64), np.array(rank, np.float64)


def _double(value: Any) -> str:
    """Return a number as SQL; without the cast, DuckDB would read a decimal."""
    return f"CAST({text_literal(repr(float(value)))} AS DOUBLE)"


def _smallest_of_strata(
    stratum: Array, rank: Array, usable: Array, wanted: Array
) -> Sequence[int] | Array:
    """Return the rows with the smallest ranks of each stratum, as many as wanted."""
    index = np.flatnonzero(usable)
    index = index[np.lexsort((rank[index], stratum[index]))]
    start = np.searchsorted(stratum[index], np.arange(wanted.size))
    place = np.arange(index.size) - start[stratum[index]]
    chosen: Array = index[place < wanted[stratum[index]]]
    return chosen
