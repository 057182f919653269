"""Decision curve: net benefit by risk threshold, beside treating everybody and nobody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.displays._interval_curves import IntervalCurveDisplay
from pueval.displays._styling import CHANCE, POSITIVE, remove_spines
from pueval.estimates.decision_curve import DecisionCurve

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class DecisionCurveDisplay(IntervalCurveDisplay):
    """Net benefit of a classifier by risk threshold, corrected and naive.

    It is compared with treating everybody and treating nobody. A model is worth using at the risk
    thresholds where its curve is above both. Create a display with `from_evaluation`,
    `from_predictions` or `from_estimator`, which also draw it.

    Parameters
    ----------
    curve : DecisionCurve
        Result of ``ev.decision_curve()``.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_, treat_all_, treat_none_ : matplotlib Line2D
        Curves; ``naive_line_`` is None if it is not drawn.
    band_ : matplotlib collection or None
        Pointwise confidence intervals.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    References
    ----------
    Vickers and Elkin (2006), Decision curve analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import DecisionCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> score = 1 / (1 + np.exp(-rng.normal(2.0 * positive - 1.5)))
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), score, prevalence=0.3)
    >>> display = DecisionCurveDisplay.compute(ev, thresholds=[0.1, 0.3])    # draws nothing
    >>> display.frame()["threshold"].tolist()
    [0.1, 0.3]
    """

    curve: DecisionCurve

    @classmethod
    def compute(
        cls,
        ev: Evaluation,
        *,
        thresholds: Iterable[float] | None = None,
        standardized: bool = False,
        name: str | None = None,
    ) -> DecisionCurveDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        thresholds : array-like, optional
            Risk thresholds; by default 0.01 to 0.99.
        standardized : bool, default False
            Whether to divide net benefits by the prevalence.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        DecisionCurveDisplay
        """
        curve = ev.decision_curve(thresholds=thresholds, standardized=standardized)
        return cls(curve=curve, name=name)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per risk threshold.
        """
        return self.curve.frame()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_naive: bool = True,
        plot_band: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
        naive_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> DecisionCurveDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_naive, plot_band : bool, default True
            Whether to draw the naive curve and the confidence intervals.
        curve_kwargs, naive_kwargs, band_kwargs : dict, optional
            Matplotlib keywords for the corrected curve, the naive curve and the band.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        DecisionCurveDisplay
            The display itself, with its artists.
        """
        ax, curve = self._use_axes(ax), self.curve
        self._draw_curves(
            ax,
            curve.threshold,
            curve,
            plot_naive=plot_naive,
            plot_band=plot_band,
            curve_kwargs=curve_kwargs,
            naive_kwargs=naive_kwargs,
            band_kwargs=band_kwargs,
        )
        everybody: dict[str, Any] = {
            "color": POSITIVE,
            "linewidth": 1.3,
            "label": "treat all",
            "zorder": 1,
        }
        (self.treat_all_,) = ax.plot(curve.threshold, curve.treat_all, **everybody)
        self.treat_none_ = ax.axhline(0.0, label="treat none", **CHANCE)
        # Treating everybody has no lower limit, and nobody treats where the curves fall below 0.
        top = float(np.nanmax([*curve.value, *curve.treat_all, *curve.naive, 0.0]))
        if self.band_ is not None:
            top = max(top, float(np.nanmax(curve.high)))
        top = top or 1.0
        kind = "Standardized net benefit" if curve.standardized else "Net benefit"
        ax.set(xlabel="Risk threshold", ylabel=kind, xlim=(0, 1), ylim=(-0.25 * top, 1.05 * top))
        remove_spines(ax, despine=despine)
        ax.legend(loc="upper right")
        return self
