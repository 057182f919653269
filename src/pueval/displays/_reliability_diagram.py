"""Reliability diagram: share of positives by score, and how many rows have these scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._styling import CHANCE, NAIVE_LINE, draw_band, draw_line, remove_spines, style
from pueval.estimates.calibration import Calibration
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class CalibrationDisplay(ClassifierDisplay):
    """Reliability diagram: the share of positives in bins of the score, corrected and naive.

    On the diagonal, scores are the probabilities they claim to be. Create a display with
    `from_evaluation`, `from_predictions` or `from_estimator`, which also draw it.

    Parameters
    ----------
    calibration : Calibration
        Result of ``ev.calibration()``.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_, diagonal_ : matplotlib Line2D
        Curves and diagonal; ``naive_line_`` is None if it is not drawn.
    band_ : matplotlib collection or None
        Confidence intervals of the bins.
    histogram_ : matplotlib BarContainer or None
        Share of rows in equally wide bins, at the bottom; their scale is not shown.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import CalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> score = 1 / (1 + np.exp(-rng.normal(2.0 * positive - 1.5)))
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), score, prevalence=0.3)
    >>> display = CalibrationDisplay.compute(ev, bins=5)    # draws nothing
    >>> display.frame().shape
    (5, 6)
    """

    calibration: Calibration

    @classmethod
    def compute(
        cls, ev: Evaluation, *, bins: int = 10, name: str | None = None
    ) -> CalibrationDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        bins : int, default 10
            Number of bins, 2 to 200, with about equally many rows.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        CalibrationDisplay
        """
        return cls(calibration=ev.calibration(bins=bins), name=name)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per bin: ``score``, ``observed``, ``low``, ``high``, ``naive``, ``rows``.
        """
        return self.calibration.frame()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_naive: bool = True,
        plot_band: bool = True,
        plot_histogram: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
        naive_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> CalibrationDisplay:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_naive, plot_band, plot_histogram : bool, default True
            Whether to draw the naive curve, the confidence intervals and how the rows are spread
            over the scores.
        curve_kwargs, naive_kwargs, band_kwargs : dict, optional
            Matplotlib keywords for the corrected curve, the naive curve and the intervals.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        CalibrationDisplay
            The display itself, with its artists.
        """
        ax, found = self._use_axes(ax), self.calibration
        label = self._label("corrected")
        options: dict[str, Any] = {"label": label, "linewidth": 2, "marker": "o", "zorder": 3}
        self.line_ = draw_line(
            ax, found.score, found.observed, "curve_kwargs", curve_kwargs, **options
        )
        self.band_ = self.naive_line_ = None
        has_interval = np.isfinite(found.low)
        if plot_band and has_interval.any():
            options = {
                "label": f"{format_level(found.level or 0.95)} CI",
                "color": self.line_.get_color(),
            }
            x, low, high = (column[has_interval] for column in (found.score, found.low, found.high))
            self.band_ = draw_band(ax, x, low, high, band_kwargs, **options)
        if plot_naive:
            options = {"label": self._label("naive"), "zorder": 2, **NAIVE_LINE}
            self.naive_line_ = draw_line(
                ax, found.score, found.naive, "naive_kwargs", naive_kwargs, **options
            )
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], label="calibrated", **CHANCE)
        self.histogram_ = self._plot_histogram(ax) if plot_histogram else None
        ax.set_title(f"Slope {found.slope}, intercept {found.intercept}", fontsize="medium")
        ax.set(xlabel="Score", ylabel="Share of positives", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        remove_spines(ax, despine=despine)
        ax.legend(loc="best", fontsize="small")
        return self

    def _plot_histogram(self, ax: Axes) -> BarContainer:
        """Draw how the rows are spread over the scores, a fifth as high as the axes."""
        edges, heights = self.calibration.edges, self.calibration.histogram
        options = style(
            "", None, "Patch", label="share of rows", color="#7f7f7f", alpha=0.25, linewidth=0
        )
        return ax.bar(
            edges[:-1],
            0.2 * heights / heights.max(),
            np.diff(edges),
            align="edge",
            zorder=0,
            **options,
        )
