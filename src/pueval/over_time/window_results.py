"""Results with one entry per window or look: estimates, changes, confidence sequences, alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pueval._typing import Array
from pueval.estimates.measure_titles import measure_title
from pueval.groups.group_estimates import EstimateArrays, GroupResult
from pueval.text.numbers import format_interval, format_level, format_number
from pueval.text.results import Result


def time_measure_title(measure: str) -> str:
    """Return the title of a measure, of the prior or of the prevalence."""
    return measure.capitalize() if measure in {"prior", "prevalence"} else measure_title(measure)


class WindowResult(GroupResult):
    """Base of results with one entry per window, which have ``measure`` and ``windows``."""

    windows: tuple[Any, ...]

    _entry = "window"

    @property
    def _printed_names(self) -> Sequence[Any]:
        return self.windows

    @property
    def _title(self) -> str:
        return time_measure_title(self.measure)


@dataclass(frozen=True, eq=False, repr=False)
class TimeEstimates(WindowResult, EstimateArrays):
    """One measure of every window: arrays in the order of the windows.

    Attributes
    ----------
    measure : str
        Name of the measure, or "prior" or "prevalence".
    windows : tuple
        Names of the windows.
    value : ndarray
        Corrected values, clipped to the range of the measure; NaN where the measure is undefined
        or the window has a note instead of numbers.
    low, high : ndarray
        Confidence intervals, each on its own; NaN if there are none.
    naive : ndarray
        Values with unlabeled rows counted as negative.
    standard_error : ndarray
        Standard errors of the corrected values before they are clipped.
    unclipped : ndarray
        Corrected values before they are clipped.
    """

    measure: str
    windows: tuple[Any, ...]
    value: Array
    low: Array
    high: Array
    naive: Array
    standard_error: Array
    unclipped: Array


@dataclass(frozen=True, eq=False, repr=False)
class TimeChanges(WindowResult):
    """The change of a measure to every window from another one.

    Attributes
    ----------
    measure : str
        Name of the measure.
    windows : tuple
        Names of the windows.
    reference : tuple
        Name of the window that each is compared with; None for a window that has none.
    value : ndarray
        Value of the window less that of its reference, both before they are clipped.
    low, high : ndarray
        Confidence intervals, which allow for rows that both windows have. Each holds on its own;
        for many looks use the confidence sequence of `TimeEvaluation.sequence`.
    standard_error : ndarray
        Standard errors.
    """

    measure: str
    windows: tuple[Any, ...]
    reference: tuple[Any, ...]
    value: Array
    low: Array
    high: Array
    standard_error: Array

    def _headline(self) -> str:
        return f"Changes of {super()._headline()}"

    def _columns(self) -> dict[str, Any]:
        return {"reference": self.reference, **super()._columns()}


@dataclass(frozen=True, eq=False, repr=False)
class ChangeSequence(WindowResult):
    """The clearest change of a measure at every look, with a confidence sequence.

    Attributes
    ----------
    measure : str
        Name of the measure.
    windows : tuple
        Last period of each look. Periods with too few rows are pooled with the following ones.
    reference : object
        Name of the reference; None if there are too few rows for one.
    since : tuple
        First period after the clearest change, at each look.
    value : ndarray
        Mean of the measure from there on, less its mean before.
    low, high : ndarray
        Confidence sequence: these intervals hold at all looks together with probability 1 −
        ``false_alarm_rate``, however many looks there will be.
    alarm : ndarray of bool
        Whether the interval excludes no change.
    false_alarm_rate : float
        Probability of any alarm at any look of this measure, if nothing changes.
    """

    measure: str
    windows: tuple[Any, ...]
    reference: Any
    since: tuple[Any, ...]
    value: Array
    low: Array
    high: Array
    alarm: Array
    false_alarm_rate: float

    def _headline(self) -> str:
        n_looks, text = len(self.windows), self._title
        if self.reference is None:
            return f"{text}: no look, as there are too few rows for a reference"
        text += f" since {self.reference}: {n_looks:,} look{'s' * (n_looks != 1)}, "
        n_alarms = int(self.alarm.sum())
        text += f"{n_alarms:,} with an alarm" if n_alarms else "no alarm"
        return f"{text} (false alarms: {format_level(self.false_alarm_rate)})"

    def _columns(self) -> dict[str, Any]:
        return {"since": self.since, **super()._columns()}


@dataclass(frozen=True, repr=False)
class Alarm(Result):
    """A measure changed by more than chance.

    Attributes
    ----------
    measure : str
        Name of the measure.
    window : object
        Period of the first look with an alarm.
    since : object
        First period after the clearest change, at that look.
    value : float
        Mean of the measure since then, less its mean before.
    low, high : float
        Its interval of the confidence sequence.
    """

    measure: str
    window: Any
    since: Any
    value: float
    low: float
    high: float

    def _headline(self) -> str:
        title = time_measure_title(self.measure)
        change = f"{format_number(self.value)} ({format_interval(self.low, self.high)})"
        return f"{title} changed by {change} since {self.since}; first seen in {self.window}"
