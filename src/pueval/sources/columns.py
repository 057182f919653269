"""Columns, by name."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from pueval.errors import InputError
from pueval.samples.bins import BinnedSamples

Engine = Literal["duckdb", "polars", "dask", "spark"]
"""What can read files."""

Tallies = dict[tuple[Hashable, ...], dict[str, BinnedSamples]]
"""For each group (the values of its columns; empty without groups), the rows of each score."""

# What stands in a name for bytes that are no text.
UNREADABLE = "\ufffd"


@dataclass(frozen=True)
class Columns:
    """The columns to read: labels, scores, weights, and those whose values make groups."""

    label: str
    scores: tuple[str, ...]
    sample_weight: str | None = None
    by: tuple[str, ...] = ()

    @property
    def numeric(self) -> tuple[str, ...]:
        """Labels, scores and weights."""
        return (
            self.label,
            *self.scores,
            *(() if self.sample_weight is None else (self.sample_weight,)),
        )


def check_column(name: str, columns: Sequence[str], what: str) -> None:
    """Refuse a column that is not there, naming those that are."""
    if not isinstance(name, str):
        raise InputError(f"names of columns must be text; got {name!r} for the {what} column.")
    if name in columns:
        return
    near = [column for column in columns if column.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, columns, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    there = ", ".join(repr(column) for column in columns[:20])
    if len(columns) > 20:
        there += f", … ({len(columns)} in all)"
    if any(UNREADABLE in column for column in columns):
        there += " (not encoded as UTF-8; spreadsheets can save as CSV UTF-8)"
    raise InputError(f"there is no {what} column {name!r}.{hint} The columns are {there}.")
