"""DelayEstimate: how late labels come, and what that says about each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pueval._checks import check_number, check_same_length
from pueval._typing import Array
from pueval.sources.arrays import one_column
from pueval.text.numbers import (
    equation_of_pvalue,
    format_count,
    format_estimate,
    format_interval,
    format_number,
)
from pueval.text.results import Result, evenly_spaced, plain_dict
from pueval.text.tables import text_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pueval.displays import DelayDisplay

# Rows of the printed table.
SHOWN_DELAYS = 8


@dataclass(frozen=True, eq=False, repr=False)
class DelayEstimate(Result):
    """Distribution of the delay of labels, and the propensities that follow; from `from_delay`.

    Attributes
    ----------
    delay : ndarray
        Distinct delays, ascending; in days for dates.
    reported, low, high : ndarray
        Share of the positives that are labeled within each delay, relative to the horizon, with
        pointwise confidence intervals.
    n_labels : ndarray of int
        Number of labels with each delay.
    at_risk : ndarray of int
        Number of labeled rows that are old enough for each delay and have no longer one.
    y : ndarray of bool
        Labels for `pueval.evaluate`: rows in ``usable`` that were labeled within the horizon.
    propensity : ndarray
        Probability that the row, being positive, is labeled by now; NaN for rows not in ``usable``.
    usable : ndarray of bool
        Whether the row is old enough to say something. Younger ones have propensities near 0.
    hidden : float
        Estimated number of positives among the usable rows that are not yet reported.
    hidden_interval : tuple of float
        Its confidence interval.
    n_late : int
        Number of labels that came later than the horizon. They count as unlabeled.
    trend_pvalue : float
        p-value of the test that delays do not depend on the time of the event.
    unit : str
        "days" for dates; empty for numbers.
    level : float
        Confidence level of the intervals.
    """

    delay: Array
    reported: Array
    low: Array
    high: Array
    n_labels: Array
    at_risk: Array
    y: Array
    propensity: Array
    usable: Array
    hidden: float
    hidden_interval: tuple[float, float]
    n_late: int
    trend_pvalue: float
    unit: str
    level: float

    _share_hint: ClassVar[str] = (
        "Pass its propensities with its usable rows instead: evaluate(**delay.arguments(score))."
    )

    @property
    def horizon(self) -> float:
        """Longest delay in use; nothing is known about later labels."""
        return float(self.delay[-1])

    @property
    def naive(self) -> Array:
        """Share of the labels seen that came within each delay; too large for positives."""
        return np.asarray(np.cumsum(self.n_labels) / self.n_labels.sum())

    @property
    def n_labeled(self) -> int:
        """Number of labels in use."""
        return int(np.count_nonzero(self.y))

    @property
    def unreported(self) -> float:
        """Share of the positives among the usable rows that are not yet reported."""
        return self.hidden / (self.hidden + self.n_labeled)

    @property
    def unreported_interval(self) -> tuple[float, float]:
        """Confidence interval of the share of positives that are not yet reported."""
        low, high = (number / (number + self.n_labeled) for number in self.hidden_interval)
        return low, high

    def reported_within(self, delay: float) -> tuple[float, float, float]:
        """Return the share of positives that are labeled within a delay, with its interval.

        Parameters
        ----------
        delay : float
            Time since the event; in days for dates.

        Returns
        -------
        tuple of float
            Share, and lower and upper end of its confidence interval. Below the shortest delay seen
            and from the horizon on, the data give no interval, only 0 or 1.
        """
        index = int(np.searchsorted(self.delay, check_number("delay", delay), side="right")) - 1
        if index < 0:
            return 0.0, 0.0, 0.0
        return float(self.reported[index]), float(self.low[index]), float(self.high[index])

    def arguments(self, score: Any, **columns: Any) -> dict[str, Any]:
        """Return the usable rows, for ``evaluate(**delay.arguments(score))``.

        Rows that are not in ``usable`` must be left out of every column: they would count as
        unlabeled.

        Parameters
        ----------
        score : array-like
            Scores of all rows.
        **columns : array-like
            Other columns of all rows, such as ``cluster`` or ``sample_weight``.

        Returns
        -------
        dict
            ``y``, ``propensity``, ``score`` and the other columns.
        """
        given = {name: one_column(column, name) for name, column in columns.items()}
        given = {"score": one_column(score, "score")} | given
        for name, column in given.items():
            check_same_length("event_time", self.usable.size, name, column.size)
        given = {"y": self.y, "propensity": self.propensity} | given
        return {name: column[self.usable] for name, column in given.items()}

    def plot(self, ax: Axes | None = None) -> DelayDisplay:
        """Plot the share of positives that are labeled by delay, with its confidence band.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        DelayDisplay
            Display with ``figure_``, ``ax_`` and ``frame()``.
        """
        from pueval.displays import DelayDisplay

        return DelayDisplay.from_estimate(self, ax=ax)

    # ------------------------------------------------------------------ text

    def _columns(self) -> Mapping[str, Any]:
        names = ("delay", "reported", "low", "high", "n_labels", "at_risk")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution and what follows as plain data, without the rows.

        Returns
        -------
        dict
        """
        content = {
            **self._columns(),
            "horizon": self.horizon,
            "n_labeled": self.n_labeled,
            "n_late": self.n_late,
            "n_too_recent": self._n_too_recent,
            "hidden": self.hidden,
            "hidden_interval": self.hidden_interval,
            "unreported": self.unreported,
            "unreported_interval": self.unreported_interval,
            "trend_pvalue": self.trend_pvalue,
            "unit": self.unit,
            "level": self.level,
        }
        return plain_dict(content)

    @property
    def _n_too_recent(self) -> int:
        return int(np.count_nonzero(~self.usable))

    def _headline(self) -> str:
        return (
            f"Delays of {format_count(self.n_labeled)} labels among "
            f"{format_count(self.usable.sum())} rows, {100 * self.level:g}% confidence intervals"
        )

    def _table(self) -> str:
        unit = f" ({self.unit})" if self.unit else ""
        shown = evenly_spaced(self.delay.size, SHOWN_DELAYS)
        rows = [
            [
                f"{self.delay[k]:.4g}",
                format_number(self.reported[k]),
                format_interval(self.low[k], self.high[k]),
                format_count(self.at_risk[k]),
            ]
            for k in shown
        ]
        header = [f"delay{unit}", "reported", f"{100 * self.level:g}% CI", "rows at risk"]
        more = (
            [f"{shown.size} of {self.delay.size:,} delays; .frame() returns all"]
            if shown.size < self.delay.size
            else []
        )
        return "\n".join([text_table(header, rows), *more, *self._notes()])

    def _notes(self) -> list[str]:
        span = f"{self.horizon:.4g}{' ' + self.unit if self.unit else ''}"
        share = format_estimate(self.unreported, *self.unreported_interval)
        notes = [
            f"Positives not yet reported: {share}.",
            f"Relative to the longest delay in use, {span}: nothing is known about later labels.",
        ]
        if self.n_late:
            notes.append(
                f"{_count(self.n_late, 'label')} came later than that. .y counts them as unlabeled."
            )
        if self._n_too_recent:
            notes.append(
                f"{_count(self._n_too_recent, 'row')} too recent to say anything. "
                "Evaluate the rows in .usable."
            )
        if self.trend_pvalue < 0.05:
            notes.append(f"! {self._trend_warning()}")
        return notes

    def _trend_warning(self) -> str:
        return (
            "delays seem to depend on the time of the event "
            f"({equation_of_pvalue(self.trend_pvalue)}). If they do, no single distribution "
            "describes them, and the propensities are wrong. Use a period in which reporting did "
            "not change."
        )


def _count(number: int, noun: str) -> str:
    if noun == "row":
        return f"{number:,} {'row is' if number == 1 else 'rows are'}"
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
