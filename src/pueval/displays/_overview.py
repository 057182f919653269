"""Four pictures of one evaluation: both curves, the scores behind them, and the threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.displays._constructors import FromData
from pueval.displays._legend_text import short
from pueval.displays._measure_by_threshold import MeasureByThresholdDisplay
from pueval.displays._precision_recall import PrecisionRecallDisplay
from pueval.displays._roc import RocCurveDisplay
from pueval.displays._score_distribution import ScoreDistributionDisplay
from pueval.errors import InputError, require

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class OverviewDisplay(FromData):
    """ROC and precision-recall curves, score distributions and a measure by threshold.

    ``ev.plot()`` makes one.

    Parameters
    ----------
    roc, pr, scores, thresholds
        The four displays.
    title : str, optional
        Above all of them.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes, of shape (2, 2)
        Where they were drawn.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> display = ev.plot()
    >>> display.ax_.shape
    (2, 2)
    """

    roc: RocCurveDisplay
    pr: PrecisionRecallDisplay
    scores: ScoreDistributionDisplay
    thresholds: MeasureByThresholdDisplay
    title: str | None = None
    ax_: Any = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def of(
        cls, ev: Evaluation, *, measure: str = "f1", title: str | None = None
    ) -> OverviewDisplay:
        """Compute the data behind the pictures; draw nothing.

        Parameters
        ----------
        ev : Evaluation
            Made by `pueval.evaluate`.
        measure : str, default "f1"
            The measure that is drawn by threshold.
        title : str, optional
            Above all four; by default none.

        Returns
        -------
        OverviewDisplay
        """
        return cls(
            roc=RocCurveDisplay.of(ev),
            pr=PrecisionRecallDisplay.of(ev),
            scores=ScoreDistributionDisplay.of(ev),
            thresholds=MeasureByThresholdDisplay.of(ev, measure=measure),
            title=title,
        )

    def frame(self) -> pd.DataFrame:
        """Return the data behind the pictures, below each other.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``panel`` ("roc", "pr", "scores", "thresholds") and row.
        """
        pandas = require("pandas", extra="pandas", purpose="OverviewDisplay.frame()")
        panels = {name: getattr(self, name).frame() for name in _PANELS}
        table: pd.DataFrame = pandas.concat(panels, names=["panel", "row"])
        return table

    def plot(self, ax: Any = None, *, despine: bool = True) -> OverviewDisplay:
        """Draw the pictures.

        Parameters
        ----------
        ax : array-like of four matplotlib Axes, optional
            Where to draw; by default in a new figure.
        despine : bool, default True
            Whether to remove the upper and the right spines.

        Returns
        -------
        OverviewDisplay
            Itself, with its axes.
        """
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="OverviewDisplay.plot()")
        if ax is None:
            _, ax = pyplot.subplots(2, 2, figsize=(9.6, 8.8), layout="constrained")
        self.ax_ = np.asarray(ax, dtype=object)
        if self.ax_.size != 4:
            raise InputError(f"ax must be four matplotlib Axes; got {self.ax_.size}.")
        for name, one in zip(_PANELS, self.ax_.flat, strict=True):
            getattr(self, name).plot(one, despine=despine)
        self.figure_ = self.ax_.flat[0].figure
        if self.title is not None:
            self.figure_.suptitle(short(self.title, 100), fontsize="medium")
        return self


_PANELS = ("roc", "pr", "scores", "thresholds")
