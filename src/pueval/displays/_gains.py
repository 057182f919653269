"""Cumulative gains or lift: what the first rows of the list hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._checks import check_choice
from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._styling import CHANCE, NAIVE_LINE, draw_band, draw_line, remove_spines
from pueval.estimates.gains_curve import GainsCurve
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.evaluation.evaluation import Evaluation

GainsKind = Literal["gains", "lift"]


@dataclass(eq=False, kw_only=True, repr=False)
class GainsDisplay(ClassifierDisplay):
    """Cumulative gains or lift, corrected with a confidence band, and naive.

    The curve lies between a random and a perfect ranking. With clean, random labels it needs no
    correction, but a perfect ranking does: it finds the positives in as many rows as there are
    positives, not labels. Create a display with `from_evaluation`, `from_predictions` or
    `from_estimator`, which also draw it.

    Parameters
    ----------
    gains : GainsCurve
        Result of ``ev.gains()``.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_, chance_level_ : matplotlib Line2D
        Curves, and the line of a random ranking; ``naive_line_`` is None if it is not drawn.
    perfect_, naive_perfect_ : matplotlib Line2D or None
        Perfect rankings of the positives, and of the labeled rows.
    band_ : matplotlib collection or None
        Pointwise confidence band.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import GainsDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> display = GainsDisplay.compute(ev)    # draws nothing
    >>> [*display.frame().columns]
    ['share', 'recall', 'low', 'high', 'naive', 'lift', 'perfect']
    """

    gains: GainsCurve

    @classmethod
    def compute(cls, ev: Evaluation, *, name: str | None = None) -> GainsDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        GainsDisplay
        """
        return cls(gains=ev.gains(), name=name)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per point: ``share``, ``recall``, ``low``, ``high``, ``naive``, ``lift``,
            ``perfect``.
        """
        return self.gains.frame()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: GainsKind = "gains",
        plot_naive: bool = True,
        plot_band: bool = True,
        plot_perfect: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
        naive_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> GainsDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        kind : {"gains", "lift"}, default "gains"
            Share of the positives among the first rows, or this share divided by that of the rows,
            with logarithmic axes.
        plot_naive, plot_band, plot_perfect : bool, default True
            Whether to draw the naive curve, the confidence band and perfect rankings.
        curve_kwargs, naive_kwargs, band_kwargs : dict, optional
            Matplotlib keywords for the corrected curve, the naive curve and the band.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        GainsDisplay
            The display itself, with its artists.
        """
        check_choice("kind", kind, ("gains", "lift"))
        ax, gains = self._use_axes(ax), self.gains
        share = gains.share
        scale = share if kind == "lift" else np.ones(share.size)

        def line(recall: Any, argument: str, keywords: Any, **defaults: Any) -> Any:
            y = np.asarray(recall) / scale
            if kind == "lift":
                return draw_line(ax, share, y, argument, keywords, **defaults)
            x, y = np.concatenate([[0.0], share]), np.concatenate([[0.0], y])
            return draw_line(ax, x, y, argument, keywords, **defaults)

        options: dict[str, Any] = {"label": self._label("corrected"), "linewidth": 2, "zorder": 3}
        self.line_ = line(gains.recall, "curve_kwargs", curve_kwargs, **options)
        self.band_ = self.naive_line_ = self.perfect_ = self.naive_perfect_ = None
        if plot_band and np.isfinite(gains.low).any():
            label = f"{format_level(gains.level or 0.95)} CI"
            color = self.line_.get_color()
            low, high = gains.low / scale, gains.high / scale
            self.band_ = draw_band(ax, share, low, high, band_kwargs, label=label, color=color)
        if plot_naive:
            options = {"label": self._label("naive"), "zorder": 4, **NAIVE_LINE}
            self.naive_line_ = line(gains.naive, "naive_kwargs", naive_kwargs, **options)
        if plot_perfect:
            options = {"color": self.line_.get_color(), "linewidth": 1.2, "linestyle": "-."}
            self.perfect_ = line(gains.perfect, "", None, label="perfect ranking", **options)
        if plot_perfect and plot_naive:
            perfect = np.minimum(share / gains.naive_prevalence, 1)
            options = NAIVE_LINE | {"linestyle": "-.", "linewidth": 1.2}
            label = "perfect for the labeled rows"
            self.naive_perfect_ = line(perfect, "", None, label=label, **options)
        self.chance_level_ = line(share, "", None, label="random ranking", **CHANCE)
        if kind == "lift":
            ax.set(xscale="log", yscale="log", xlabel="Share of the rows", ylabel="Lift")
            # In the first rows, a lift or its limit is often 0, which has no place on this axis.
            heights = np.concatenate([line.get_ydata() for line in ax.lines])
            heights = heights[heights > 0]
            ax.set_ylim(0.7 * heights.min(), 1.5 * heights.max())
        else:
            ax.set(xlabel="Share of the rows", ylabel="Share of the positives")
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        remove_spines(ax, despine=despine)
        ax.legend(loc="best" if kind == "lift" else "lower right", fontsize="small")
        return self
