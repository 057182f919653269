"""The table of groups that a page can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class GroupTable:
    """A table of the measures of groups, as text.

    Attributes
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequence of str
        Cells; the first is the name of the group.
    notes : sequence of str
        Lines below the table.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
