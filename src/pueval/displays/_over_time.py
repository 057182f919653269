"""Measures over time: one panel each, with intervals, alarms and what they compare with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.displays._display import Display
from pueval.displays._styling import POSITIVE
from pueval.errors import InputError
from pueval.over_time.window_results import TimeEstimates, time_measure_title
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd

    from pueval.over_time.time_evaluation import TimeEvaluation


@dataclass(eq=False, kw_only=True, repr=False)
class OverTimeDisplay(Display):
    """Measures of every window of time, with confidence intervals and alarms.

    A window is drawn at its end, when its rows are known. ``times.plot()`` creates a display.

    Parameters
    ----------
    time : ndarray
        End of each window: dates or numbers.
    estimates : mapping of str to TimeEstimates
        Estimates of each measure, one panel each.
    alarm_times : mapping of str to tuple
        End of the first look with an alarm, and start of the clearest change then, for each
        measure that raised an alarm.
    level : float, optional
        Confidence level of the intervals; None without intervals.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Axes of the panels, one per measure.
    figure_ : matplotlib Figure
        Figure of the panels.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate_over_time
    >>> from pueval.displays import OverTimeDisplay
    >>> rng = np.random.default_rng(0)
    >>> time, positive = np.repeat(np.arange(6), 1000), rng.random(6000) < 0.3
    >>> labeled = positive & (rng.random(6000) < 0.5)
    >>> times = evaluate_over_time(labeled, rng.normal(2.0 * positive), time, every=1, prior=0.18)
    >>> display = OverTimeDisplay.from_times(times, measures=["roc_auc", "f1"])
    >>> [ax.get_ylabel() for ax in display.axes_]
    ['ROC AUC', 'F1']
    """

    time: Array
    estimates: Mapping[str, TimeEstimates]
    alarm_times: Mapping[str, tuple[Any, Any]]
    level: float | None = None

    @classmethod
    def from_times(
        cls, times: TimeEvaluation, *, measures: Any = None, ax: Any = None
    ) -> OverTimeDisplay:
        """Plot measures over time.

        Parameters
        ----------
        times : TimeEvaluation
            Result of `pueval.evaluate_over_time`.
        measures : str or list of str, optional
            Names of measures; by default the watched ones and the prevalence.
        ax : array-like of matplotlib Axes, optional
            Axes to draw on, one per measure; by default those of a new figure.

        Returns
        -------
        OverTimeDisplay
            The display, with its axes.
        """
        if measures is None:
            measures = dict.fromkeys((*times.watch, "prevalence"))
        names = [measures] if isinstance(measures, str) else [*measures]
        if not names:
            raise InputError("measures is empty; name at least one measure, or leave it out.")
        if not times.evaluated.any():
            raise InputError("no window has enough rows for an estimate; there is nothing to draw.")
        display = cls(
            time=times.end,
            estimates={name: times[name] for name in names},
            alarm_times=times._alarm_times(),
            level=times.level,
        )
        return display.plot(ax)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per window and measure: ``measure``, ``window``, ``end``, ``value``, ``low``,
            ``high``, ``naive``.
        """
        return self._data_frame(
            *(
                {
                    "measure": [name] * self.time.size,
                    "window": list(part.windows),
                    "end": self.time,
                    "value": part.value,
                    "low": part.low,
                    "high": part.high,
                    "naive": part.naive,
                }
                for name, part in self.estimates.items()
            )
        )

    def plot(self, ax: Any = None) -> OverTimeDisplay:
        """Draw one panel per measure.

        Parameters
        ----------
        ax : array-like of matplotlib Axes, optional
            Axes to draw on, one per measure; by default those of a new figure.

        Returns
        -------
        OverTimeDisplay
            The display itself, with its axes.
        """
        n_panels = len(self.estimates)
        if ax is None:
            _, ax = self._pyplot().subplots(
                n_panels, sharex=True, figsize=(7, 2 * n_panels + 0.6), layout="constrained"
            )
        self.axes_ = np.asarray(ax, dtype=object).ravel()
        if self.axes_.size != n_panels:
            raise InputError(f"ax must be {n_panels} matplotlib Axes; got {self.axes_.size}.")
        self.figure_ = self.axes_[0].figure
        label = "estimate" if self.level is None else f"estimate, {format_level(self.level)} CI"
        for panel, (name, part) in zip(self.axes_, self.estimates.items(), strict=True):
            margins = None
            if self.level is not None:
                # Intervals of clipped values and of average precision need not contain the value.
                margins = np.fmax([part.value - part.low, part.high - part.value], 0)
                margins[~np.isfinite(margins)] = 0.0
            panel.errorbar(
                self.time,
                part.value,
                yerr=margins,
                fmt="o-",
                markersize=3.5,
                linewidth=1,
                elinewidth=1,
                color="C0",
                label=label,
            )
            panel.set_ylabel(time_measure_title(name), parse_math=False)
            if name in self.alarm_times:
                seen, since = self.alarm_times[name]
                panel.axvspan(since, max(self.time), color=POSITIVE, alpha=0.12, linewidth=0)
                line = {"color": POSITIVE, "linewidth": 1.3}
                panel.axvline(seen, label=f"first alarm; change since {_date(since)}", **line)
            panel.legend(fontsize=8, frameon=False, loc="best")
        return self


def _date(moment: Any) -> str:
    """Return a time as text, without a time of day that is midnight."""
    return str(moment).removesuffix("T00:00:00.000000")
