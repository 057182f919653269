"""ROC curves: naive, corrected, and the band around the corrected one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pueval.displays._canvas import CHANCE, axes_for, despined, legend, style, unit_square
from pueval.displays._constructors import FromData
from pueval.displays._legend_text import check_name
from pueval.displays._pairs import Line, draw_pair, pair_frame
from pueval.errors import require
from pueval.evaluation.estimates import Estimate
from pueval.uncertainty.bands import BandKind, CurveBand

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class RocCurveDisplay(FromData):
    """ROC curves, corrected and naive, with a band around the corrected one.

    Make one with `from_evaluation`, `from_predictions` or `from_estimator`; they draw it at once.

    Parameters
    ----------
    corrected, naive : Line
        Points of both curves, thinned to what can be drawn.
    roc_auc : Estimate
        Area under the curve.
    band : CurveBand, optional
        Limits of the corrected curve.
    name : str, optional
        Of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_ : matplotlib Line2D
        The curves; ``naive_line_`` is None if not drawn.
    band_ : matplotlib collection or None
        The band.
    chance_level_ : matplotlib Line2D or None
        The diagonal of a ranking at random.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    References
    ----------
    Jain, White and Radivojac (2017), section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import RocCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> display = RocCurveDisplay.of(ev)    # data only, nothing drawn
    >>> sorted(set(display.frame()["curve"]))
    ['band', 'corrected', 'naive']
    >>> display = RocCurveDisplay.from_evaluation(ev, name="normal")
    >>> display.line_.get_label()
    'normal: corrected, AUC 0.926 (0.908–0.944)'
    """

    corrected: Line
    naive: Line
    roc_auc: Estimate
    band: CurveBand | None = None
    name: str | None = None
    line_: Line2D = field(init=False, repr=False)
    naive_line_: Line2D | None = field(init=False, repr=False)
    band_: FillBetweenPolyCollection | None = field(init=False, repr=False)
    chance_level_: Line2D | None = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_name(self.name)

    @classmethod
    def of(
        cls, ev: Evaluation, *, band: BandKind = "pointwise", name: str | None = None
    ) -> RocCurveDisplay:
        """Compute the data behind the picture; draw nothing.

        Parameters
        ----------
        ev : Evaluation
            Made by `pueval.evaluate`; without limits (``level=None``) there is no band.
        band : {"pointwise", "simultaneous"}
            Whether the band holds at each place by itself, or for the whole curve.
        name : str, optional
            Of the classifier, for the legend.

        Returns
        -------
        RocCurveDisplay
        """
        corrected, naive = ev.roc(), ev.roc(naive=True)
        return cls(
            corrected=Line.of(corrected.fpr, corrected.tpr, corrected.threshold),
            naive=Line.of(naive.fpr, naive.tpr, naive.threshold),
            roc_auc=ev["roc_auc"],
            band=None if ev.resampling is None else ev.roc_band(band),
            name=name,
        )

    def frame(self) -> pd.DataFrame:
        """Return the data behind the picture.

        Returns
        -------
        pandas.DataFrame
            A row per point: ``curve`` ("corrected", "naive" or "band"), ``fpr``, ``tpr``,
            ``low`` and ``high`` (of the band), ``threshold`` (of the curves).
        """
        pandas = require("pandas", extra="pandas", purpose="RocCurveDisplay.frame()")
        return pair_frame(pandas, self.corrected, self.naive, self.band, "fpr", "tpr")

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_naive: bool = True,
        plot_band: bool = True,
        plot_chance_level: bool = False,
        curve_kwargs: dict[str, Any] | None = None,
        naive_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        chance_level_kw: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> RocCurveDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        plot_naive, plot_band : bool, default True
            Whether to draw the naive curve, and the band.
        plot_chance_level : bool, default False
            Whether to draw the diagonal of a ranking at random.
        curve_kwargs, naive_kwargs, band_kwargs, chance_level_kw : dict, optional
            Matplotlib keywords of the corrected curve, the naive curve, the band, and the line of
            chance.
        despine : bool, default False
            Whether to remove the upper and the right spine.

        Returns
        -------
        RocCurveDisplay
            Itself, with its artists.
        """
        self.ax_, self.figure_ = axes_for(ax, type(self).__name__)
        drawn = draw_pair(
            self.ax_,
            self.corrected,
            self.naive,
            self.band if plot_band else None,
            name=self.name,
            area=("AUC", self.roc_auc),
            curve_kwargs=curve_kwargs,
            naive_kwargs=naive_kwargs,
            band_kwargs=band_kwargs,
            plot_naive=plot_naive,
        )
        self.line_, self.naive_line_, self.band_ = drawn.line, drawn.naive_line, drawn.band
        self.chance_level_ = None
        if plot_chance_level:
            (self.chance_level_,) = self.ax_.plot(
                (0, 1),
                (0, 1),
                **style("chance_level_kw", chance_level_kw, label="chance, AUC 0.5", **CHANCE),
            )
        unit_square(self.ax_, xlabel="False positive rate", ylabel="True positive rate")
        despined(self.ax_, despine=despine)
        legend(self.ax_, "lower right")
        return self
