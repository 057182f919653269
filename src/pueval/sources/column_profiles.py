"""Profiles of all columns of a file: values, missing entries, duplicates; computed by DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pueval.errors import InputError, require
from pueval.sources.columns import Columns
from pueval.sources.csv_files import csv_header
from pueval.sources.duckdb_columns import is_nan, is_readable, number_of
from pueval.sources.duckdb_tables import connect_to, database_relation, open_table
from pueval.sources.labels import LabelValues
from pueval.sources.paths import DataLocation, folder_columns, unreadable_error
from pueval.sources.storage import is_counts_file

# Columns with at most this many distinct values are listed with their values.
MOST_VALUES = 20
# More columns than these are not looked at, and duplicates of more rows are not counted.
MOST_COLUMNS, MOST_ROWS = 200, 50_000_000


@dataclass(frozen=True)
class ColumnProfile:
    """What a column holds.

    Attributes
    ----------
    name : str
        Name of the column.
    rows, missing : int
        Number of rows, and of those without a value.
    distinct : int
        Number of distinct values; approximate above 20.
    numeric, whole : bool
        Whether all values are numbers, and whether all numbers are whole.
    low, high : float or None
        Smallest and largest number.
    values : dict of str to int
        Number of rows of each value; empty for more than 20 values.
    first, last : str or None
        The day of the first and of the last time, if all values are dates or times.
    n_text : int
        Number of rows with a value that is no number.
    text : str or None
        One of these values.
    """

    name: str
    rows: int
    missing: int
    distinct: int
    numeric: bool
    whole: bool
    low: float | None
    high: float | None
    values: dict[str, int]
    first: str | None = None
    last: str | None = None
    n_text: int = 0
    text: str | None = None

    @property
    def mostly_numbers(self) -> bool:
        """Whether at least half of the values are numbers: others may stand for missing ones."""
        present = self.rows - self.missing
        return self.numeric or present >= 2 * self.n_text > 0


@dataclass(frozen=True)
class TableProfile:
    """The profiles of the columns of a table, and the number of rows that repeat another row."""

    rows: int
    columns: dict[str, ColumnProfile]
    n_columns: int
    duplicates: int | None


def profile_table(location: DataLocation) -> TableProfile:
    """Profile the columns of files or of a database's table, in a few passes over the rows."""
    names = column_names(location)
    used = names[:MOST_COLUMNS]
    with open_table(location, Columns(used[0], (), None, tuple(used)), LabelValues()) as table:
        rows, profiles = _profile(table.relation, table.types, used)
        if not rows:
            raise InputError(f"{location.text} has no rows, only a header.")
        duplicates = None
        if rows <= MOST_ROWS:
            columns = ", ".join(f"g{k}" for k in range(len(used)))
            [(distinct,)] = table.relation.aggregate(f"count(DISTINCT hash({columns}))").fetchall()
            duplicates = rows - distinct
    return TableProfile(rows, {p.name: p for p in profiles}, len(names), duplicates)


def column_names(location: DataLocation, known: str = "") -> list[str]:
    """Return the names of all columns; a known one determines the delimiter of CSV files."""
    if location.format == "csv":
        header = csv_header(location.files[0], known)[1]
        return [*header, *(name for name, _ in folder_columns(location.files[0], location.folder))]
    if location.format == "duckdb":
        with connect_to(location) as connection:
            return list(database_relation(connection, location).columns)
    if location.format == "parquet" and any(map(is_counts_file, location.files)):
        raise InputError(
            f"{location.text} holds saved counts, not rows. Run pueval evaluate {location.text}."
        )
    dataset = require("pyarrow.dataset", extra="cli", purpose="reading files")
    format_ = "ipc" if location.format == "arrow" else "parquet"
    try:
        return list(dataset.dataset(list(location.files), format=format_).schema.names)
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise unreadable_error(location.text, error) from None


def _profile(
    relation: Any, types: dict[str, str], names: list[str]
) -> tuple[int, list[ColumnProfile]]:
    """Profile the columns g0, g1, … of a table."""
    numbers = [
        number_of(f"g{k}", types[f"g{k}"]) if is_readable(types[f"g{k}"]) else "NULL::DOUBLE"
        for k in range(len(names))
    ]
    # Numbers are long expressions: they are named first, so that each is planned once.
    named = ", ".join(f"g{k}, {number} AS m{k}" for k, number in enumerate(numbers))
    # NaN counts as missing.
    columns = ", ".join(
        f"CASE WHEN {is_nan(f'm{k}')} THEN NULL ELSE CAST(g{k} AS VARCHAR) END AS t{k}, "
        f"CASE WHEN isfinite(CAST(m{k} AS DOUBLE)) THEN CAST(m{k} AS DOUBLE) END AS n{k}"
        for k in range(len(names))
    )
    table = relation.select(named).select(columns)
    aggregates = ", ".join(
        f"count(t{k}), approx_count_distinct(t{k}), count(n{k}), "
        f"count(*) FILTER (n{k} = floor(n{k})), min(n{k}), max(n{k}), "
        f"min(t{k}) FILTER (n{k} IS NULL)"
        for k in range(len(names))
    )
    [(rows, *cells)] = table.aggregate(f"count(*), {aggregates}").fetchall()
    summaries = [cells[7 * k : 7 * k + 7] for k in range(len(names))]
    few = [k for k, (_, distinct, *_) in enumerate(summaries) if distinct <= 1.5 * MOST_VALUES]
    text = [k for k, (present, _, n_numbers, *_) in enumerate(summaries) if present > n_numbers]
    values, days = _value_counts(table, few), _days(table, text)
    profiles = []
    for k, (present, distinct, n_numbers, n_whole, low, high, other) in enumerate(summaries):
        counted, (first, last) = values.get(k, {}), days.get(k, (None, None))
        number = len(counted) if k in values else min(distinct, present)
        profiles.append(
            ColumnProfile(
                names[k],
                rows,
                rows - present,
                number,
                n_numbers == present > 0,
                n_whole == n_numbers > 0,
                low,
                high,
                counted if number <= MOST_VALUES else {},
                first,
                last,
                present - n_numbers,
                other,
            )
        )
    return rows, profiles


def _value_counts(table: Any, columns: list[int]) -> dict[int, dict[str, int]]:
    """Count the values of some columns in one pass, the most frequent ones first."""
    if not columns:
        return {}
    # One group-by of columns and values: a histogram of each column takes ten times as long.
    pairs = (", ".join(names) for names in (map(str, columns), (f"t{k}" for k in columns)))
    unpivoted = table.select("unnest([{}]) AS k, unnest([{}]) AS t".format(*pairs))
    counts: dict[int, dict[str, int]] = {k: {} for k in columns}
    for k, value, count in unpivoted.filter("t IS NOT NULL").aggregate("k, t, count(*)").fetchall():
        counts[k][value] = count
    return {
        k: dict(sorted(count.items(), key=lambda item: (-item[1], item[0])))
        for k, count in counts.items()
    }


def _days(table: Any, columns: list[int]) -> dict[int, tuple[str, str]]:
    """Return the first and last day of the columns that hold nothing but dates or times."""
    if not columns:
        return {}
    moments = [f"TRY_CAST(t{k} AS TIMESTAMP)" for k in columns]
    [cells] = table.aggregate(
        ", ".join(
            f"count({moment}) = count(t{k}), CAST(CAST(min({moment}) AS DATE) AS VARCHAR), "
            f"CAST(CAST(max({moment}) AS DATE) AS VARCHAR)"
            for k, moment in zip(columns, moments, strict=True)
        )
    ).fetchall()
    ends = zip(columns, cells[::3], cells[1::3], cells[2::3], strict=True)
    return {k: (first, last) for k, all_times, first, last in ends if all_times}
