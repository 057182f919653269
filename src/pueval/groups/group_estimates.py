"""One measure of every group."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pueval._checks import shorten
from pueval._typing import Array
from pueval.core.measures import was_clipped
from pueval.errors import InputError, require
from pueval.evaluation.measure_titles import measure_title
from pueval.text.results import Result, plain_dict, short_table

if TYPE_CHECKING:
    import pandas as pd

# Longest name of a group in a table, and most names in a message.
LONGEST_NAME, SHOWN_GROUPS = 40, 10


class GroupResult(Result):
    """Base of results with one entry per group, which have ``measure`` and ``groups``."""

    measure: str
    groups: tuple[Any, ...]

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per group.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose=f"{type(self).__name__}.frame()")
        # Without tupleize_cols, pandas would split groups that are tuples into levels.
        index = pandas.Index(list(self.groups), name="group", tupleize_cols=False)
        return pandas.DataFrame(dict(self._columns()), index=index)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return plain_dict(vars(self) | {"groups": [json_name(name) for name in self.groups]})

    def _headline(self) -> str:
        n_groups = len(self.groups)
        return f"{measure_title(self.measure)} of {n_groups:,} group{'s' * (n_groups != 1)}"

    def _table(self) -> str:
        names = [printable_name(name) for name in self.groups]
        return short_table({"group": names, **self._columns()})


@dataclass(frozen=True, eq=False, repr=False)
class GroupEstimates(GroupResult):
    """One measure of every group: arrays in the order of the groups.

    Attributes
    ----------
    measure : str
        Name of the measure.
    groups : tuple
        Names of the groups.
    value : ndarray
        Corrected values, clipped to the range of the measure; NaN where the measure is undefined
        or the group too small.
    low, high : ndarray
        Confidence intervals; NaN if there are none. Average precision is too high on average if
        there are few labeled rows; its intervals are corrected for this excess.
    naive : ndarray
        Values with unlabeled rows counted as negative.
    standard_error : ndarray
        Standard errors of the corrected values before they are clipped.
    unclipped : ndarray
        Corrected values before they are clipped.
    """

    measure: str
    groups: tuple[Any, ...]
    value: Array
    low: Array
    high: Array
    naive: Array
    standard_error: Array
    unclipped: Array

    @property
    def clipped(self) -> Array:
        """Whether each value was outside the range of the measure."""
        clipped: Array = was_clipped(self.unclipped, self.value)
        return clipped


def printable_name(name: Any) -> str:
    """Return the name of a group as one short line without control characters."""
    text = str(name)
    if not text.isprintable():
        text = text.encode("unicode_escape").decode("ascii")
    return shorten(text, LONGEST_NAME)


def json_name(name: Any) -> Any:
    """Return the name of a group for JSON: text and numbers as they are, others as text."""
    return name if isinstance(name, str | bool | int | float) else str(name)


def find_group(group: Any, numbers: dict[Any, int]) -> int:
    """Return the number of a group by its name."""
    try:
        return numbers[group]
    except (KeyError, TypeError):
        near = difflib.get_close_matches(str(group), [str(name) for name in numbers], n=1)
        if near:
            hint = f"Did you mean {near[0]!r}?"
        else:
            shown = ", ".join(repr(name) for name in islice(numbers, SHOWN_GROUPS))
            more = f", … ({len(numbers):,} in all)" if len(numbers) > SHOWN_GROUPS else ""
            hint = f"The groups are {shown}{more}."
        raise InputError(f"there is no group {group!r}. {hint}") from None
