"""Cost curve: the least expected cost by the share of the positives in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pueval.displays._interval_curves import IntervalCurveDisplay
from pueval.displays._styling import CHANCE, remove_spines
from pueval.estimates.cost_curve import CostCurve

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class CostCurveDisplay(IntervalCurveDisplay):
    """Normalized expected cost of a classifier by probability cost, corrected and naive.

    The triangle is the cost of predicting all rows positive, or none. Create a display with
    `from_evaluation`, `from_predictions` or `from_estimator`, which also draw it.

    Parameters
    ----------
    curve : CostCurve
        Result of ``ev.cost_curve()``.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_, trivial_ : matplotlib Line2D
        Curves; ``naive_line_`` is None if it is not drawn.
    band_ : matplotlib collection or None
        Pointwise confidence intervals.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    References
    ----------
    Drummond and Holte (2006), Cost curves: an improved method for visualizing classifier
    performance.

    Examples
    --------
    >>> from pueval import Counts, evaluate
    >>> from pueval.displays import CostCurveDisplay
    >>> counts = Counts.from_table([3, 2, 1], labeled=[60, 30, 10], unlabeled=[100, 300, 500])
    >>> ev = evaluate(counts, prior=0.1, level=None)
    >>> display = CostCurveDisplay.compute(ev, probability_costs=[0.5])    # draws nothing
    >>> display.frame()["value"].round(3).tolist()
    [0.228]
    """

    curve: CostCurve

    @classmethod
    def compute(
        cls,
        ev: Evaluation,
        *,
        probability_costs: Iterable[float] | None = None,
        name: str | None = None,
    ) -> CostCurveDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        probability_costs : array-like, optional
            Shares of the positives in the cost; by default 0.02 to 0.98.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        CostCurveDisplay
        """
        return cls(curve=ev.cost_curve(probability_costs=probability_costs), name=name)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per probability cost.
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
    ) -> CostCurveDisplay:
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
        CostCurveDisplay
            The display itself, with its artists.
        """
        ax, curve = self._use_axes(ax), self.curve
        self._draw_curves(
            ax,
            curve.probability_cost,
            curve,
            plot_naive=plot_naive,
            plot_band=plot_band,
            curve_kwargs=curve_kwargs,
            naive_kwargs=naive_kwargs,
            band_kwargs=band_kwargs,
        )
        (self.trivial_,) = ax.plot([0, 0.5, 1], [0, 0.5, 0], label="all or none", **CHANCE)
        ax.set(xlabel="Probability cost", ylabel="Normalized expected cost", xlim=(0, 1))
        ax.set_ylim(0, 0.55)
        remove_spines(ax, despine=despine)
        ax.legend(loc="upper right")
        return self
