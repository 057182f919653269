"""One measure of every group."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pueval._checks import shorten
from pueval._typing import Array
from pueval.core.measures import was_clipped
from pueval.errors import InputError, require
from pueval.estimates.measure_titles import measure_title
from pueval.text.numbers import format_estimate
from pueval.text.results import Result, plain_dict, short_table

if TYPE_CHECKING:
    import pandas as pd

# Longest name of a group in a table, and most names in a message.
LONGEST_NAME, SHOWN_GROUPS = 40, 10


class GroupResult(Result):
    """Base of results with one entry per group, which have ``measure`` and ``groups``.

    Groups can be windows of time; see `pueval.over_time.window_results`.
    """

    measure: str
    groups: tuple[Any, ...]

    # What an entry is; its plural is the field with the names of the entries.
    _entry: ClassVar[str] = "group"

    @property
    def _names(self) -> tuple[Any, ...]:
        names: tuple[Any, ...] = getattr(self, f"{self._entry}s")
        return names

    @property
    def _printed_names(self) -> Sequence[Any]:
        return [printable_name(name) for name in self._names]

    @property
    def _title(self) -> str:
        return measure_title(self.measure)

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per entry.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose=f"{type(self).__name__}.frame()")
        # Without tupleize_cols, pandas would split groups that are tuples into levels.
        index = pandas.Index(list(self._names), name=self._entry, tupleize_cols=False)
        return pandas.DataFrame(dict(self._columns()), index=index)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        names = [json_name(name) for name in self._names]
        return plain_dict(vars(self) | {f"{self._entry}s": names})

    def _headline(self) -> str:
        number = len(self._names)
        return f"{self._title} of {number:,} {self._entry}{'s' * (number != 1)}"

    def _table(self) -> str:
        return short_table({self._entry: self._printed_names, **self._columns()})


class EstimateArrays(GroupResult):
    """Base of estimates of one measure in every group or window."""

    value: Array
    low: Array
    high: Array
    unclipped: Array

    @property
    def clipped(self) -> Array:
        """Whether each value was outside the range of the measure."""
        clipped: Array = was_clipped(self.unclipped, self.value)
        return clipped

    def _text(self, k: int) -> str:
        """Show the estimate of an entry, given by its number."""
        return format_estimate(self.value[k], self.low[k], self.high[k], clipped=self.clipped[k])


@dataclass(frozen=True, eq=False, repr=False)
class GroupEstimates(EstimateArrays):
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


def frame_of_results(
    results: Mapping[str, GroupResult], about_entries: dict[str, Any], purpose: str
) -> pd.DataFrame:
    """Return a pandas DataFrame with a row for every measure of every group or window.

    ``about_entries`` are columns that are the same for all measures.
    """
    pandas = require("pandas", extra="pandas", purpose=purpose)
    parts = [part.frame().assign(measure=name, **about_entries) for name, part in results.items()]
    frame: pd.DataFrame = pandas.concat(parts)
    order = np.argsort(np.tile(np.arange(len(parts[0])), len(parts)), kind="stable")
    return frame.iloc[order].set_index("measure", append=True)


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
