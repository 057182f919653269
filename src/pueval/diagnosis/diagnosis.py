"""Diagnosis: what a file holds, what can be known from it, what looks wrong, and what to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pueval.errors import Contradiction
from pueval.text.results import Result

# More columns of no role than these are printed in one line.
SHOWN_OTHERS = 5


@dataclass(frozen=True)
class ColumnRole:
    """What a column looks like.

    Attributes
    ----------
    name : str
        Name of the column.
    role : str
        "labels", "scores", "weights", "row ids", "clusters", "groups", "true classes",
        "constant" or "other".
    details : str
        What its values are.
    """

    name: str
    role: str
    details: str


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """What a file holds, and what to do with it; made by `doctor`.

    Attributes
    ----------
    source : str
        The file.
    rows, n_columns : int
        Number of rows and columns.
    columns : tuple of ColumnRole
        Name, role and details of each column.
    label : str or None
        Column that looks like labels.
    scores : tuple of str
        Columns that look like scores, and can be used.
    weight : str or None
        Column that looks like weights.
    labeled, unlabeled, negative : int
        Number of rows of each kind; 0 without labels.
    duplicates : int or None
        Number of rows that repeat another row; None if there are too many rows to tell.
    prior_interval : tuple of float, or None
        Confidence interval of the prior, estimated from the best scores; None if the prior cannot
        be estimated.
    knowledge : tuple of str
        What can be known from these rows.
    problems : tuple of str
        What looks wrong, and what to do.
    command : str
        The command to run next.
    """

    source: str
    rows: int
    n_columns: int
    columns: tuple[ColumnRole, ...]
    label: str | None
    scores: tuple[str, ...]
    weight: str | None
    labeled: int
    unlabeled: int
    negative: int
    duplicates: int | None
    prior_interval: tuple[float, float] | None
    knowledge: tuple[str, ...]
    problems: tuple[str, ...]
    command: str

    def _headline(self) -> str:
        columns = "1 column" if self.n_columns == 1 else f"{self.n_columns:,} columns"
        return f"{self.source}: {self.rows:,} rows, {columns}."

    def _columns(self) -> Mapping[str, Any]:
        """Return a row per column."""
        fields = ("name", "role", "details")
        return {field: [getattr(column, field) for column in self.columns] for field in fields}

    def _table(self) -> str:
        others = [column.name for column in self.columns if column.role == "other"]
        folded = others if len(others) > SHOWN_OTHERS else []
        shown = [column for column in self.columns if column.name not in folded]
        names = max((len(column.name) for column in shown), default=0)
        roles = max((len(column.role) for column in shown), default=0)
        lines = [
            f"  {column.name:<{names}}  {column.role:<{roles}}  {column.details}".rstrip()
            for column in shown
        ]
        if folded:
            lines.append(f"  and {len(folded)} others: {', '.join(folded[:SHOWN_OTHERS])}, …")
        lines += self.knowledge
        lines += [f"! {problem}" for problem in self.problems]
        blocked = any(isinstance(problem, Contradiction) for problem in self.problems)
        run = "Solve the problems above first. Then run:" if blocked else "Run next:"
        lines += [run, f"  {self.command}"]
        if self.unlabeled and not blocked:
            lines.append(
                "Add --target unlabeled if the labeled rows were collected separately "
                "(case-control)."
            )
        return "\n".join(lines)
