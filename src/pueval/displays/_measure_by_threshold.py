"""A measure at every threshold: where corrected and naive are best."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.core.measures import find_measure
from pueval.displays._canvas import BAND, NAIVE_LINE, axes_for, despined, legend_above, style
from pueval.displays._constructors import FromData
from pueval.displays._legend_text import check_name, entry
from pueval.errors import InputError, require
from pueval.evaluation.estimates import Best
from pueval.text.numbers import format_estimate, format_level, format_number
from pueval.thresholds.measure_curve import MeasureCurve

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class MeasureByThresholdDisplay(FromData):
    """A measure at every threshold, corrected and naive, with the best of each marked.

    The best threshold of balanced accuracy and of the Matthews correlation does not depend on the
    prior, so both are best at the same place; accuracy and F are not. Make one with
    `from_evaluation`, `from_predictions` or `from_estimator`; they draw it at once.

    Parameters
    ----------
    curve : MeasureCurve
        From ``ev.by_threshold(measure)``.
    best : Best
        From ``ev.best(measure)``.
    level : float, optional
        Level of the limits; None if there are none.
    name : str, optional
        Of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_ : matplotlib Line2D
        The curves; ``naive_line_`` is None if not drawn.
    band_ : matplotlib collection or None
        Limits at each threshold by itself.
    best_, naive_best_ : matplotlib Line2D or None
        Marks of the best values.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    References
    ----------
    Ramola, Jain and Radivojac (2019), figure 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import MeasureByThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> display = MeasureByThresholdDisplay.of(ev, measure="f1")    # data only, nothing drawn
    >>> float(display.frame()["corrected"].max()) == ev.best("f1").value
    True
    """

    curve: MeasureCurve
    best: Best
    level: float | None = None
    name: str | None = None
    line_: Line2D = field(init=False, repr=False)
    naive_line_: Line2D | None = field(init=False, repr=False)
    band_: FillBetweenPolyCollection | None = field(init=False, repr=False)
    best_: Line2D | None = field(init=False, repr=False)
    naive_best_: Line2D | None = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.curve.measure != self.best.measure:
            raise InputError(
                "curve and best must belong to one measure; "
                f"got {self.curve.measure!r} and {self.best.measure!r}."
            )

    @classmethod
    def of(
        cls, ev: Evaluation, *, measure: str = "f1", name: str | None = None
    ) -> MeasureByThresholdDisplay:
        """Compute the data behind the picture; draw nothing.

        Parameters
        ----------
        ev : Evaluation
            Made by `pueval.evaluate`.
        measure : str, default "f1"
            A measure that belongs to a threshold.
        name : str, optional
            Of the classifier, for the legend.

        Returns
        -------
        MeasureByThresholdDisplay
        """
        level = None if ev.resampling is None else ev.resampling.level
        return cls(curve=ev.by_threshold(measure), best=ev.best(measure), level=level, name=name)

    def frame(self) -> pd.DataFrame:
        """Return the data behind the picture.

        Returns
        -------
        pandas.DataFrame
            A row per threshold, descending: ``threshold``, ``corrected``, ``low``, ``high``,
            ``naive``.
        """
        pandas = require("pandas", extra="pandas", purpose="MeasureByThresholdDisplay.frame()")
        curve = self.curve
        table: pd.DataFrame = pandas.DataFrame(
            {
                "threshold": curve.threshold,
                "corrected": curve.value,
                "low": curve.low,
                "high": curve.high,
                "naive": curve.naive,
            }
        )
        return table

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_naive: bool = True,
        plot_band: bool = True,
        plot_best: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
        naive_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> MeasureByThresholdDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        plot_naive, plot_band, plot_best : bool, default True
            Whether to draw the naive curve, the band of limits, and marks of the best values.
        curve_kwargs, naive_kwargs, band_kwargs : dict, optional
            Matplotlib keywords of the corrected curve, the naive curve and the band.
        despine : bool, default False
            Whether to remove the upper and the right spine.

        Returns
        -------
        MeasureByThresholdDisplay
            Itself, with its artists.
        """
        self.ax_, self.figure_ = axes_for(ax, type(self).__name__)
        ax, curve, best = self.ax_, self.curve, self.best
        # Nothing is predicted positive above the highest score: drawn just beyond it.
        finite = curve.threshold[np.isfinite(curve.threshold)]
        beyond = float(finite[0] + 0.03 * (np.ptp(finite) or 1.0))

        def place(threshold: Any) -> Any:
            return np.minimum(threshold, beyond)

        value = format_estimate(best.value, best.low, best.high, clipped=best.clipped)
        said = f"{value} {_where(best.threshold)}"
        label = entry(self.name, f"corrected, best {said}")
        (self.line_,) = ax.plot(
            place(curve.threshold),
            curve.value,
            **style("curve_kwargs", curve_kwargs, label=label, linewidth=2, zorder=3),
        )
        color = self.line_.get_color()
        self.band_ = self.naive_line_ = self.best_ = self.naive_best_ = None
        known = np.isfinite(curve.low)
        if plot_band and known.any():
            self.band_ = ax.fill_between(
                place(curve.threshold[known]),
                curve.low[known],
                curve.high[known],
                **style(
                    "band_kwargs",
                    band_kwargs,
                    "PolyCollection",
                    label=f"{format_level(self.level or 0.95)} limits",
                    color=color,
                    **BAND,
                ),
            )
        if plot_naive:
            said = f"{format_number(best.naive)} {_where(best.naive_threshold)}"
            label = entry(self.name, f"naive, best {said}")
            (self.naive_line_,) = ax.plot(
                place(curve.threshold),
                curve.naive,
                **style("naive_kwargs", naive_kwargs, label=label, zorder=2, **NAIVE_LINE),
            )
        if plot_best:
            self.best_ = _mark(ax, place(best.threshold), best.value, color)
            if self.naive_line_ is not None:
                self.naive_best_ = _mark(
                    ax, place(best.naive_threshold), best.naive, self.naive_line_.get_color()
                )
        measure = find_measure(curve.measure)
        ax.set(xlabel="Threshold", ylabel=measure.title)
        if math.isfinite(measure.high):
            low = float(np.nanmin([*curve.value, *curve.naive, 0.0]))
            ax.set_yticks(np.arange(math.floor(low * 5) / 5, measure.high + 0.1, 0.2))
            ax.set_ylim(low - 0.02, measure.high + 0.02)
        despined(ax, despine=despine)
        # Limits of ratios may be infinite, and reach out of the picture.
        high = np.where(np.isfinite(curve.high), curve.high, 0.0)
        edge = np.fmax(np.fmax(curve.value, curve.naive), high)
        legend_above(ax, place(curve.threshold), edge)
        return self


def _where(threshold: float) -> str:
    return f"at {threshold:.3g}" if math.isfinite(threshold) else "above all scores"


def _mark(ax: Axes, threshold: float, value: float, color: Any) -> Line2D | None:
    """Mark a best value by a dot and a line down to its threshold."""
    if math.isnan(value):
        return None
    ax.vlines(threshold, min(0.0, value), value, color=color, linestyle=":", linewidth=1, zorder=1)
    (dot,) = ax.plot([threshold], [value], marker="o", markersize=6, color=color, zorder=4)
    return dot
