"""Predicted-to-expected ratio by score: what the Boyce index sums up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._styling import CHANCE, GRAY, draw_band, draw_line, remove_spines
from pueval.estimates.presence import Presence
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class BoyceDisplay(ClassifierDisplay):
    """Predicted-to-expected ratio P/E by score, in windows and smoothed.

    Above 1, presences are more frequent than in the background. A good species model has a ratio
    that rises with the score. Create a display with `from_evaluation`, `from_predictions` or
    `from_estimator`, which also draw it.

    Parameters
    ----------
    presence : Presence
        Result of ``ev.presence()``.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, smoothed_line_, chance_ : matplotlib Line2D
        Ratio in windows, smoothed ratio, and the ratio 1; ``smoothed_line_`` is None if it is not
        drawn.
    band_ : matplotlib collection or None
        Pointwise confidence intervals of the ratio in windows.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import BoyceDisplay
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.beta(3, 2, 100), rng.beta(2, 3, 2000)]
    >>> y = np.repeat([1, 0], [100, 2000])
    >>> ev = evaluate(y, score, prior=0.1, target="unlabeled")
    >>> display = BoyceDisplay.compute(ev, n_windows=50)    # draws nothing
    >>> display.frame().shape
    (50, 5)
    """

    presence: Presence

    @classmethod
    def compute(
        cls,
        ev: Evaluation,
        *,
        n_windows: int = 100,
        window: float | None = None,
        name: str | None = None,
    ) -> BoyceDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        n_windows : int, default 100
            Number of windows.
        window : float, optional
            Width of the windows; by default a tenth of the range of the background's scores.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        BoyceDisplay
        """
        return cls(presence=ev.presence(n_windows=n_windows, window=window), name=name)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per window: ``score``, ``ratio``, ``low``, ``high``, ``smoothed``.
        """
        return self.presence.curve.frame()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_smoothed: bool = True,
        plot_band: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
        smoothed_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> BoyceDisplay:
        """Draw the ratio by score.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_smoothed, plot_band : bool, default True
            Whether to draw the smoothed ratio and the confidence intervals.
        curve_kwargs, smoothed_kwargs, band_kwargs : dict, optional
            Matplotlib keywords for the ratio in windows, the smoothed ratio and the intervals.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        BoyceDisplay
            The display itself, with its artists.
        """
        ax, curve = self._use_axes(ax), self.presence.curve
        drawn = np.isfinite(curve.ratio)
        x, ratio = curve.score[drawn], curve.ratio[drawn]
        options: dict[str, Any] = {"label": self._label("in windows"), "linewidth": 2, "zorder": 3}
        self.line_ = draw_line(ax, x, ratio, "curve_kwargs", curve_kwargs, **options)
        self.band_ = self.smoothed_line_ = None
        has_interval = np.isfinite(curve.low) & np.isfinite(curve.high)
        if plot_band and has_interval.any():
            options = {
                "label": f"{format_level(self.presence.level or 0.95)} CI",
                "color": self.line_.get_color(),
            }
            low, high = curve.low[has_interval], curve.high[has_interval]
            self.band_ = draw_band(ax, curve.score[has_interval], low, high, band_kwargs, **options)
        if plot_smoothed:
            options = {"label": self._label("smoothed"), "color": GRAY, "linewidth": 1.5}
            self.smoothed_line_ = draw_line(
                ax, x, curve.smoothed[drawn], "smoothed_kwargs", smoothed_kwargs, **options
            )
        self.chance_ = ax.axhline(1, label="as in the background", **CHANCE)
        ax.set_title(f"Boyce index {self.presence['boyce_index']}", fontsize="medium")
        # The band is wide where there are few rows; it must not squeeze the curve.
        top = 2 * max(1.0, float(ratio.max(initial=0.0)))
        ax.set(xlabel="Score", ylabel="Presences / expected", ylim=(0, top))
        remove_spines(ax, despine=despine)
        ax.legend(loc="upper left", fontsize="small")
        return self
