"""A measure by threshold: corrected and naive, with the best value of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.core.measures import find_measure
from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._legends import place_legend_above
from pueval.displays._styling import NAIVE_LINE, draw_band, draw_line, remove_spines
from pueval.errors import InputError
from pueval.estimates.estimate import Best
from pueval.text.numbers import format_estimate, format_level, format_number
from pueval.thresholds.measure_curve import MeasureCurve

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class MeasureByThresholdDisplay(ClassifierDisplay):
    """A corrected and a naive measure at every threshold, with the best value of each marked.

    The best threshold for balanced accuracy and for the Matthews correlation does not depend on
    the prior, so the corrected and the naive curve peak at the same threshold. This does not hold
    for accuracy and F1. Create a display with `from_evaluation`, `from_predictions` or
    `from_estimator`, which also draw it.

    Parameters
    ----------
    curve : MeasureCurve
        Result of ``ev.by_threshold(measure)``.
    best : Best
        Result of ``ev.best(measure)``.
    level : float, optional
        Confidence level of the intervals; None without intervals.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_ : matplotlib Line2D
        Curves; ``naive_line_`` is None if it is not drawn.
    band_ : matplotlib collection or None
        Pointwise confidence intervals.
    best_, naive_best_ : matplotlib Line2D or None
        Markers of the best values.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

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
    >>> display = MeasureByThresholdDisplay.compute(ev, measure="f1")    # draws nothing
    >>> float(display.frame()["corrected"].max()) == ev.best("f1").value
    True
    """

    curve: MeasureCurve
    best: Best
    level: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.curve.measure != self.best.measure:
            raise InputError(
                "curve and best must be of the same measure; "
                f"got {self.curve.measure!r} and {self.best.measure!r}."
            )

    @classmethod
    def compute(
        cls, ev: Evaluation, *, measure: str = "f1", name: str | None = None
    ) -> MeasureByThresholdDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        measure : str, default "f1"
            Measure with a threshold.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        MeasureByThresholdDisplay
        """
        curve, best = ev.by_threshold(measure), ev.best(measure)
        return cls(curve=curve, best=best, level=ev._level, name=name)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per threshold, descending: ``threshold``, ``corrected``, ``low``, ``high``,
            ``naive``.
        """
        return self.curve.frame().rename(columns={"value": "corrected"})

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
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_naive, plot_band, plot_best : bool, default True
            Whether to draw the naive curve, the confidence intervals and the best values (also
            in the legend).
        curve_kwargs, naive_kwargs, band_kwargs : dict, optional
            Matplotlib keywords for the corrected curve, the naive curve and the band.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        MeasureByThresholdDisplay
            The display itself, with its artists.
        """
        ax, curve, best = self._use_axes(ax), self.curve, self.best
        # Infinite thresholds, above all scores, are drawn just to the right of the highest one.
        finite = curve.threshold[np.isfinite(curve.threshold)]
        rightmost = float(finite[0] + 0.03 * (np.ptp(finite) or 1.0))

        def position(threshold: Any) -> Any:
            return np.minimum(threshold, rightmost)

        corrected, naive = "corrected", "naive"
        if plot_best:
            value = format_estimate(best.value, best.low, best.high, clipped=best.clipped)
            corrected += f", best {value} {_at_threshold(best.threshold)}"
            naive += f", best {format_number(best.naive)} {_at_threshold(best.naive_threshold)}"
        label = self._label(corrected)
        options: dict[str, Any] = {"label": label, "linewidth": 2, "zorder": 3}
        x = position(curve.threshold)
        self.line_ = draw_line(ax, x, curve.value, "curve_kwargs", curve_kwargs, **options)
        color = self.line_.get_color()
        self.band_ = self.naive_line_ = self.best_ = self.naive_best_ = None
        has_interval = np.isfinite(curve.low)
        if plot_band and has_interval.any():
            low, high = curve.low[has_interval], curve.high[has_interval]
            options = {"label": f"{format_level(self.level or 0.95)} CI", "color": color}
            self.band_ = draw_band(ax, x[has_interval], low, high, band_kwargs, **options)
        if plot_naive:
            options = {"label": self._label(naive), "zorder": 2, **NAIVE_LINE}
            self.naive_line_ = draw_line(
                ax, x, curve.naive, "naive_kwargs", naive_kwargs, **options
            )
        if plot_best:
            self.best_ = _mark_best(ax, position(best.threshold), best.value, color)
            if self.naive_line_ is not None:
                self.naive_best_ = _mark_best(
                    ax, position(best.naive_threshold), best.naive, self.naive_line_.get_color()
                )
        measure = find_measure(curve.measure)
        ax.set(xlabel="Threshold", ylabel=measure.title)
        if math.isfinite(measure.high):
            bottom = float(np.nanmin([*curve.value, *curve.naive, 0.0]))
            ax.set_yticks(np.arange(math.floor(bottom * 5) / 5, measure.high + 0.1, 0.2))
            ax.set_ylim(bottom - 0.02, measure.high + 0.02)
        remove_spines(ax, despine=despine)
        # Intervals of ratios may be infinite.
        high = np.where(np.isfinite(curve.high), curve.high, 0.0)
        edge = np.fmax(np.fmax(curve.value, curve.naive), high)
        place_legend_above(ax, x, edge)
        return self


def _at_threshold(threshold: float) -> str:
    return f"at {threshold:.3g}" if math.isfinite(threshold) else "above all scores"


def _mark_best(ax: Axes, threshold: float, value: float, color: Any) -> Line2D | None:
    """Mark a best value with a dot and a line down to its threshold."""
    if math.isnan(value):
        return None
    ax.vlines(threshold, min(0.0, value), value, color=color, linestyle=":", linewidth=1, zorder=1)
    (dot,) = ax.plot([threshold], [value], marker="o", markersize=6, color=color, zorder=4)
    return dot
