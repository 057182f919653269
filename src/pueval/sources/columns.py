"""The columns to read, by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from pueval.errors import InputError
from pueval.samples.bins import Binning
from pueval.samples.sample import Samples
from pueval.sources.cluster_lines import ClusterLines

if TYPE_CHECKING:
    from pueval.sources.periods import Periods

# What Python puts in the place of bytes that are not UTF-8.
REPLACEMENT = "\ufffd"
# Column names shown in a message, and numbers in their place.
SHOWN, SHOWN_NUMBERS = 20, 3

Engine = Literal["duckdb", "polars", "dask", "spark"]
"""What can read files."""
# A number as text.
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", re.IGNORECASE | re.ASCII)
ADD_HEADER = "Add a first line with names, such as label,score"


class CountedRows(NamedTuple):
    """The three samples, the binning of their scores, and the clusters of the rows, if any."""

    samples: Samples
    binning: Binning | None
    clusters: ClusterLines | None = None


Tallies = dict[tuple[Hashable, ...], dict[str, CountedRows]]
"""The rows of each group and score column; a group is the tuple of its columns' values."""


@dataclass(frozen=True)
class Columns:
    """The columns of labels, scores, weights, groups and clusters, and of the names of rows.

    With ``periods``, the group column holds times, and groups are the numbers of periods. Only
    `pueval.sources.files.read_rows` reads the ``second_cluster`` of two-way clusters.
    """

    label: str
    scores: tuple[str, ...]
    sample_weight: str | None = None
    by: tuple[str, ...] = ()
    row_id: str | None = None
    periods: Periods | None = None
    cluster: str | None = None
    second_cluster: str | None = None

    def __post_init__(self) -> None:
        """Refuse names that are not text, before any file is read."""
        for name, content in self.contents:
            _check_text(name, content)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Scores and weights."""
        return self.scores if self.sample_weight is None else (*self.scores, self.sample_weight)

    @property
    def contents(self) -> list[tuple[str, str]]:
        """Every column, and what it holds: a label, score, weight, group or cluster."""
        contents = [(self.label, "label"), *((name, "score") for name in self.scores)]
        if self.sample_weight is not None:
            contents.append((self.sample_weight, "weight"))
        contents += [(name, "group") for name in self.by]
        clusters = (self.cluster, self.second_cluster)
        return [*contents, *((name, "cluster") for name in clusters if name is not None)]

    def renamed(self, new: Mapping[str, str]) -> Columns:
        """Return the columns under other names; those that have none keep their own."""
        weight, cluster = self.sample_weight, self.cluster
        return Columns(
            new.get(self.label, self.label),
            tuple(new.get(name, name) for name in self.scores),
            None if weight is None else new.get(weight, weight),
            tuple(new.get(name, name) for name in self.by),
            periods=self.periods,
            cluster=None if cluster is None else new.get(cluster, cluster),
        )


def score_names(scores: str | Sequence[str]) -> tuple[str, ...]:
    """Return the distinct names of score columns; refuse an empty list."""
    names = (scores,) if isinstance(scores, str) else tuple(dict.fromkeys(scores))
    if not names:
        raise InputError("scores is empty. Name at least one column.")
    return names


def check_column(name: str, columns: Sequence[str], content: str) -> None:
    """Refuse a column that does not exist, and list those that do."""
    _check_text(name, content)
    if name in columns:
        return
    parts = [part.strip() for part in name.split(",")]
    if content == "score" and len(parts) > 1 and any(part in columns for part in parts):
        raise InputError(f"no {content} column {name!r}. Name each column separately: {parts}.")
    similar = [column for column in columns if column.lower() == name.lower()]
    similar = similar or difflib.get_close_matches(name, columns, n=1)
    hint = f" Did you mean {similar[0]!r}?" if similar else ""
    names = ", ".join(repr(column) for column in columns[:SHOWN])
    if len(columns) > SHOWN:
        names += f", … ({len(columns)} in all)"
    if any(REPLACEMENT in column for column in columns):
        names += " (not encoded as UTF-8; spreadsheets can save as CSV UTF-8)"
    if lacks_header(columns):
        names += f". All of them are numbers: the header line seems to be missing. {ADD_HEADER}"
    raise InputError(f"no {content} column {name!r}.{hint} The columns are {names}.")


def _check_text(name: object, content: str) -> None:
    if isinstance(name, str):
        return
    two_ways = content == "cluster" and isinstance(name, list | tuple)
    hint = " For two-way clusters, pass arrays instead of a file or frame." if two_ways else ""
    raise InputError(f"column names must be text; got {name!r} for the {content} column.{hint}")


def check_unique(name: str, columns: Sequence[str], file: str) -> None:
    """Refuse a name that several columns of a file have."""
    if columns.count(name) > 1 and lacks_header(columns):
        raise InputError(no_header_text(file, columns))
    if columns.count(name) > 1:
        raise InputError(f"{file} has more than one column {name!r}. Rename one.")


def lacks_header(columns: Sequence[str]) -> bool:
    """Whether all column names are numbers, so that they are rather the first row of a file.

    0, 1, 2, … are names: of columns that were saved without names of their own.
    """
    if [*columns] == [str(k) for k in range(len(columns))]:
        return False
    return all(NUMBER.fullmatch(column) for column in columns)


def no_header_text(file: str, columns: Sequence[str]) -> str:
    """Say that a file has no header, and what to do."""
    first = ", ".join(map(repr, columns[:SHOWN_NUMBERS]))
    return (
        f"{file} seems to have no header line: its first line holds only numbers ({first}"
        f"{', …' * (len(columns) > SHOWN_NUMBERS)}). {ADD_HEADER}."
    )
