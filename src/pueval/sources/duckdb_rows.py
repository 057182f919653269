"""Rows of files and databases as a table of DuckDB.

Column names, file names and label values are untrusted text: all of them are quoted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pueval.errors import InputError, require
from pueval.samples.threads import available_cores
from pueval.sources.arrays import EXACT
from pueval.sources.columns import Columns
from pueval.sources.duckdb_files import pick_columns, read_csv_files, read_table, unreadable_error
from pueval.sources.labels import (
    KIND_CODES,
    NO_LABEL,
    UNKNOWN,
    LabelValues,
    as_number,
    infinite_error,
    missing_error,
)
from pueval.sources.paths import DataLocation
from pueval.sources.sql import FLOATS, NAN, WHOLE, is_readable, kind_of, number_of


@dataclass(frozen=True)
class Rows:
    """The wanted columns of some files, under names of our own.

    ``label``, ``s0``, ``s1``, …, ``w`` and ``g0``, ``g1``, …: so theirs may be anything.
    """

    relation: Any
    columns: Columns
    labels: LabelValues
    types: dict[str, str]

    def plain_labels(self) -> tuple[bool, LabelValues]:
        """Return whether labels are numbers that can be compared as they are, and the values."""
        kind = self.types["label"]
        wanted = [as_number(value) for value in self.labels.values if value is not None]
        if kind not in {*WHOLE, "FLOAT", "DOUBLE", "BOOLEAN"} or not all(
            number is not None and math.isfinite(number) for number in wanted
        ):
            return False, KIND_CODES
        turn = {"BOOLEAN": bool, "FLOAT": float, "DOUBLE": float}.get(kind, int)
        here = [None if value is None else as_number(value) for value in self.labels.values]
        # A value that the column cannot hold would become another one.
        if any(number is not None and turn(number) != number for number in here):
            return False, KIND_CODES
        return True, LabelValues(*(None if number is None else turn(number) for number in here))

    def plain_numbers(self) -> bool:
        """Whether scores and weights are numbers that can be taken as they are."""
        return all(
            kind in {*WHOLE, "FLOAT", "DOUBLE"}
            for name, kind in self.types.items()
            if name != "label"
        )

    def numbers(self, *, plain: bool = False) -> Any:
        """Return the rows with labels as kinds (column ``k``) and everything else as numbers.

        With ``plain``, labels stay what they are, which saves the engine half of its work.
        """
        kind = "label" if plain else kind_of(self.types["label"], self.labels)
        chosen = [f"{kind} AS k"]
        for name, kind in self.types.items():
            if name.startswith("g"):
                chosen.append(name)
            elif name != "label":
                chosen.append(f"{number_of(name, kind)} AS {name}")
        return self.relation.select(", ".join(chosen))

    def problem(self) -> InputError:
        """Say which rows cannot be used, and how many."""
        table, columns = self.numbers(), self.columns
        [(lost, strange)] = table.aggregate(
            f"count(*) FILTER (k = {NO_LABEL}), count(*) FILTER (k = {UNKNOWN})"
        ).fetchall()
        if lost:
            return InputError(
                f"{lost:,} rows have no label (column {columns.label!r}). If that means unlabeled, "
                "say so: unlabeled_label=''. Otherwise drop or fill them first."
            )
        if strange:
            found = self.relation.filter(f"{kind_of(self.types['label'], self.labels)} = {UNKNOWN}")
            values = [row[0] for row in found.select("label").distinct().limit(6).fetchall()]
            return self.labels.unrecognized_error(sorted(values, key=str), strange)
        for ours, (name, what) in _wanted(columns).items():
            found = self._number_problem(table, ours, name, what)
            if found is not None:
                return found
        return InputError("some rows changed while they were read. Read them again.")

    def _number_problem(self, table: Any, ours: str, name: str, what: str) -> InputError | None:
        text = f"CAST({ours} AS VARCHAR)"
        bad = f"{text} IS NOT NULL AND TRY_CAST(trim({text}) AS DOUBLE) IS NULL"
        [(other, example)] = (
            self.relation.filter(bad).aggregate(f"count(*), any_value({text})").fetchall()
        )
        if other:
            values = "1 other value" if other == 1 else f"{other:,} other values, for example"
            comma = re.fullmatch(r"[-+]?\d+,\d+", str(example).strip())
            hint = " Write decimals with a point." if comma else ""
            return InputError(
                f"{what} column {name!r} must hold numbers only; got {values} {example!r}.{hint}"
            )
        if self.types[ours] not in FLOATS and self.types[ours] != "BOOLEAN":
            # Compared as whole numbers: the first one beyond would be rounded to the last within.
            [(beyond,)] = self.relation.aggregate(
                f"count(*) FILTER ({ours} > {EXACT} OR {ours} < -{EXACT})"
            ).fetchall()
            if beyond:
                return _too_large(what, name, beyond)
        as_float = f"CAST({ours} AS DOUBLE)"
        [(lost, endless, below)] = table.aggregate(
            f"count(*) FILTER ({ours} IS NULL OR CAST({as_float} AS VARCHAR) = {NAN}), "
            f"count(*) FILTER (isinf({as_float})), "
            f"count(*) FILTER ({ours} < 0)"
        ).fetchall()
        if lost:
            return missing_error(f"{what} (column {name!r})", lost)
        if endless:
            return infinite_error(f"{what} (column {name!r})", endless)
        if what == "weight" and below:
            return InputError(f"weights must not be negative; got {below:,} below zero.")
        return None


def _too_large(what: str, name: str, rows: int) -> InputError:
    """Return the error for whole numbers that floats cannot hold."""
    if what == "weight":
        return InputError(
            "whole-number weights must lie within ±2**53; got "
            f"{rows:,} beyond in column {name!r}. Divide them by a common factor."
        )
    return InputError(
        "integer scores must lie within ±2**53, or different scores become equal; got "
        f"{rows:,} beyond in column {name!r}. Replace them by their ranks."
    )


def _wanted(columns: Columns) -> dict[str, tuple[str, str]]:
    """Return our names of the columns of numbers, theirs, and what they are."""
    wanted = {f"s{k}": (name, "score") for k, name in enumerate(columns.scores)}
    return (
        wanted
        if columns.sample_weight is None
        else wanted | {"w": (columns.sample_weight, "weight")}
    )


@contextmanager
def open_rows(place: DataLocation, columns: Columns, labels: LabelValues) -> Iterator[Rows]:
    """Open files or a database as one table; nothing is read before it is asked for."""
    duckdb = require("duckdb", extra="cli", purpose="reading files")
    wanted = {"label": (columns.label, "label")} | _wanted(columns)
    wanted |= {f"g{k}": (name, "group") for k, name in enumerate(columns.by)}
    with duckdb.connect(config={"threads": available_cores()}) as connection:
        connection.execute("SET preserve_insertion_order = false")
        try:
            if place.format == "csv":
                relation = read_csv_files(connection, place, wanted)
            else:
                names = [name for name, _ in wanted.values()]
                relation = pick_columns(read_table(connection, place, names), wanted)
            types = dict(zip(relation.columns, map(str, relation.types), strict=True))
            for ours, (name, what) in _wanted(columns).items():
                if not is_readable(types[ours]):
                    raise InputError(
                        f"{what} column {name!r} must hold numbers; got type {types[ours]}."
                    )
            yield Rows(relation, columns, labels, types)
        except duckdb.Error as error:
            raise unreadable_error(place.text, error) from None
