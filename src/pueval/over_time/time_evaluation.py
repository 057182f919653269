"""TimeEvaluation: every measure in every window of time, changes between windows, and alarms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.measures import unknown_measure_error
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.group_estimates import frame_of_results
from pueval.over_time import time_text
from pueval.over_time.estimate_windows import estimate_windows
from pueval.over_time.measure_monitor import change_sequence, look_spans
from pueval.over_time.time_windows import PeriodCounts, Span
from pueval.over_time.window_changes import common_squares, window_changes
from pueval.over_time.window_estimates import (
    TIME_MEASURES,
    WindowEstimates,
    WindowOptions,
    time_measure_range,
)
from pueval.over_time.window_results import Alarm, ChangeSequence, TimeChanges, TimeEstimates

if TYPE_CHECKING:
    import pandas as pd

    from pueval.displays import OverTimeDisplay


@dataclass(frozen=True, eq=False, repr=False)
class TimeEvaluation(Mapping[str, TimeEstimates]):
    """Corrected performance in every window of time; made by `evaluate_over_time`.

    It is a mapping from measures, "prior" and "prevalence" to their estimates in all windows:
    ``times["roc_auc"]``. `alarms` says what changed.

    Attributes
    ----------
    names : tuple
        Names of the windows.
    overall : Evaluation
        Evaluation of all rows with complete labels together; every window uses its threshold.
    n_labeled, n_unlabeled, n_negative : ndarray
        Number of rows (or their total weight) in every window.
    notes : tuple of str
        Why a window has no estimates, or what is wrong with them; empty strings for other windows.
    watch : tuple of str
        Measures that can raise an alarm.
    false_alarm_rate : float
        Probability of any alarm of any watched measure at any look, if nothing changes.
    warnings : tuple of str
        Warnings about all rows together.
    """

    names: tuple[Any, ...]
    overall: Evaluation
    watch: tuple[str, ...]
    false_alarm_rate: float
    warnings: tuple[str, ...]
    _periods: PeriodCounts
    _spans: tuple[Span, ...]
    _estimates: WindowEstimates
    _options: WindowOptions
    _n_reference: int

    # ------------------------------------------------------------------ measures

    def __getitem__(self, measure: str) -> TimeEstimates:
        check_time_measure(measure)
        estimates = self._estimates
        unclipped = estimates.value[measure].copy()
        return TimeEstimates(
            measure,
            self.names,
            np.clip(unclipped, *time_measure_range(measure)),
            estimates.low[measure].copy(),
            estimates.high[measure].copy(),
            estimates.naive[measure].copy(),
            estimates.standard_error(measure),
            unclipped,
        )

    def __iter__(self) -> Iterator[str]:
        return iter(TIME_MEASURES)

    def __len__(self) -> int:
        return len(TIME_MEASURES)

    def __contains__(self, measure: object) -> bool:
        return measure in TIME_MEASURES

    # As a mapping it would be equal by content, and could not be hashed.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def notes(self) -> tuple[str, ...]:
        """Why windows have no estimates, or what is wrong with them."""
        return self._estimates.notes

    @property
    def n_labeled(self) -> Array:
        """Labeled rows of every window."""
        return self._estimates.sizes.n_labeled

    @property
    def n_unlabeled(self) -> Array:
        """Unlabeled rows of every window."""
        return self._estimates.sizes.n_unlabeled

    @property
    def n_negative(self) -> Array:
        """Known negative rows of every window."""
        return self._estimates.sizes.n_negative

    @property
    def start(self) -> Array:
        """Start of every window: dates, or numbers."""
        return np.array([self._periods.start(first) for first, _ in self._spans])

    @property
    def end(self) -> Array:
        """End of every window, which no longer belongs to it."""
        return np.array([self._periods.start(stop) for _, stop in self._spans])

    @property
    def level(self) -> float | None:
        """Confidence level of the intervals; None if there are none."""
        return self._options.level

    @property
    def evaluated(self) -> Array:
        """Whether each window has estimates."""
        return self._estimates.evaluated

    def counts(self, window: Any) -> Counts:
        """Return the Counts of one window.

        Parameters
        ----------
        window : object
            Name of the window.

        Returns
        -------
        Counts
        """
        return self._periods.total(self._spans[self._index(window)])

    # ------------------------------------------------------------------ changes

    def changes(self, measure: str, *, reference: Any = None) -> TimeChanges:
        """Compare every window with the one before it, or with one window.

        Parameters
        ----------
        measure : str
            Name of a measure, or "prior" or "prevalence".
        reference : object, optional
            Name of the window to compare with; by default the previous window with estimates.

        Returns
        -------
        TimeChanges
            Intervals allow for the rows that windows have in common, and for an estimated prior
            that moves all windows together.

        Notes
        -----
        The variance of a change is a² + b² − 2·r·a·b for each source of error, with a and b its
        standard errors in both windows and r = n/√(n_a·n_b) the correlation that n rows in common
        cause. This is exact to first order if the rows of both windows have the same distribution.
        """
        check_time_measure(measure)
        if self.level is None:
            raise _no_level_error("changes")
        if reference is None:
            compared_with = _previous(self.evaluated)
        else:
            k = self._index(reference)
            if not self.evaluated[k]:
                raise InputError(
                    f"window {reference!r} has no {measure} to compare with: {self.notes[k]}."
                )
            compared_with = np.full(len(self.names), k)
            compared_with[k] = -1
        common = common_squares(self._periods.counts, self._spans, compared_with)
        return window_changes(
            measure, self.names, self._estimates, compared_with, common, self.level
        )

    def sequence(self, measure: str) -> ChangeSequence:
        """Return the confidence sequence of the changes of a watched measure.

        Parameters
        ----------
        measure : str
            One of the measures in `watch`.

        Returns
        -------
        ChangeSequence
            One entry per look. Looks take the periods after the reference, each of them once, even
            if windows overlap; periods with too few rows are pooled with the following ones.
        """
        if self.level is None:
            raise _no_level_error("confidence sequences")
        if measure not in self.watch:
            raise InputError(
                f"{measure!r} is not watched. Pass watch={[*self.watch, measure]!r} to "
                "evaluate_over_time: the false alarm rate is divided among the watched measures."
            )
        return self._sequences[measure]

    @cached_property
    def _sequences(self) -> dict[str, ChangeSequence]:
        if self.level is None:
            return {}
        periods, options = self._periods, self._options
        complete = periods.counts[: periods.n_complete]
        spans = look_spans(
            complete,
            min_labeled=options.min_labeled,
            min_background=options.min_background,
        )
        if spans == [*self._spans]:
            estimates = self._estimates
        else:
            counts, names = [*map(periods.total, spans)], [*map(periods.name, spans)]
            estimates = estimate_windows(counts, names, options, {})
        rate = self.false_alarm_rate / len(self.watch)
        return {
            measure: change_sequence(
                measure,
                estimates,
                spans,
                periods,
                n_reference=self._n_reference,
                false_alarm_rate=rate,
            )
            for measure in self.watch
        }

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Watched measures that changed by more than chance: the first alarm of each."""
        alarms = []
        for measure, changes in self._sequences.items():
            for k in np.flatnonzero(changes.alarm)[:1].tolist():
                interval = (
                    float(column[k]) for column in (changes.value, changes.low, changes.high)
                )
                alarms.append(Alarm(measure, changes.windows[k], changes.since[k], *interval))
        return tuple(alarms)

    def _alarm_times(self) -> dict[str, tuple[Any, Any]]:
        """Return, for each alarm, the end of its look and the start of the clearest change."""
        periods = self._periods
        index = {periods.name((k, k + 1)): k for k in range(len(periods.counts))}
        return {
            alarm.measure: (
                periods.start(index[alarm.window] + 1),
                periods.start(index[alarm.since]),
            )
            for alarm in self.alarms
        }

    # ------------------------------------------------------------------ as data and pictures

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for every measure of every window.

        Returns
        -------
        pandas.DataFrame
            Indexed by window and measure, with the columns of `TimeEstimates` and the start, end,
            rows and note of the window. ``times["f1"].frame()`` has a single measure.
        """
        about_window: dict[str, Any] = {
            "start": self.start,
            "end": self.end,
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "n_negative": self.n_negative,
            "note": list(self.notes),
        }
        return frame_of_results(self, about_window, "TimeEvaluation.frame()")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Lists are in the order of ``windows``; undefined numbers are None.
        """
        return time_text.as_data(self)

    def plot(self, measures: Any = None) -> OverTimeDisplay:
        """Plot measures over time, one panel each, with intervals and alarms.

        Parameters
        ----------
        measures : list of str, optional
            Names of measures; by default the watched ones and the prevalence.

        Returns
        -------
        OverTimeDisplay
            Display with ``figure_``, ``axes_`` and ``frame()``.
        """
        from pueval.displays import OverTimeDisplay

        return OverTimeDisplay.from_times(self, measures=measures)

    def summary(self) -> str:
        """Return one line about data and assumptions.

        Returns
        -------
        str
        """
        return time_text.summary(self)

    def __repr__(self) -> str:
        return time_text.as_text(self)

    def _repr_html_(self) -> str:
        return time_text.as_html(self)

    def _index(self, window: Any) -> int:
        if window in self.names:
            return self.names.index(window)
        shown = [str(self.names[k]) for k in sorted({0, len(self.names) - 1})]
        raise InputError(
            f"there is no window {window!r}. The {len(self.names):,} windows are named like "
            f"{' and '.join(map(repr, shown))}."
        )


def check_time_measure(name: str) -> None:
    """Refuse a measure that windows do not have."""
    if name not in TIME_MEASURES:
        raise unknown_measure_error(name, [*TIME_MEASURES], any_beta=False)


def _previous(evaluated: Array) -> Array:
    """Return the index of the window before each one that has estimates; −1 if there is none."""
    index = np.where(evaluated, np.arange(evaluated.size), -1)
    latest = np.maximum.accumulate(index)
    return np.concatenate([[-1], latest[:-1]])


def _no_level_error(what: str) -> InputError:
    return InputError(
        f"{what} need confidence intervals, but level is None. Pass a level to "
        "evaluate_over_time, such as level=0.95."
    )
