"""Four plots of an evaluation: ROC and PR curve, score distribution, measure by threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.displays._evaluation_display import EvaluationDisplay
from pueval.displays._legends import single_line
from pueval.displays._measure_by_threshold import MeasureByThresholdDisplay
from pueval.displays._precision_recall import PrecisionRecallDisplay
from pueval.displays._roc import RocCurveDisplay
from pueval.displays._score_distribution import ScoreDistributionDisplay
from pueval.errors import InputError, require

if TYPE_CHECKING:
    import pandas as pd

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class OverviewDisplay(EvaluationDisplay):
    """ROC curve, precision-recall curve, score distribution and a measure by threshold.

    ``ev.plot()`` creates one.

    Parameters
    ----------
    roc, pr, scores, thresholds
        Displays of the four panels.
    title : str, optional
        Title of the figure.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes, of shape (2, 2)
        Axes of the panels.
    figure_ : matplotlib Figure
        Figure of the panels.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> display = ev.plot()
    >>> display.axes_.shape
    (2, 2)
    """

    roc: RocCurveDisplay
    pr: PrecisionRecallDisplay
    scores: ScoreDistributionDisplay
    thresholds: MeasureByThresholdDisplay
    title: str | None = None

    @classmethod
    def compute(
        cls, ev: Evaluation, *, measure: str = "f1", title: str | None = None
    ) -> OverviewDisplay:
        """Compute the data of the plots without drawing them.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        measure : str, default "f1"
            Measure to draw by threshold.
        title : str, optional
            Title of the figure; by default none.

        Returns
        -------
        OverviewDisplay
        """
        return cls(
            roc=RocCurveDisplay.compute(ev),
            pr=PrecisionRecallDisplay.compute(ev),
            scores=ScoreDistributionDisplay.compute(ev),
            thresholds=MeasureByThresholdDisplay.compute(ev, measure=measure),
            title=title,
        )

    def frame(self) -> pd.DataFrame:
        """Return the plotted data of all panels.

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
        """Draw the four panels.

        Parameters
        ----------
        ax : array-like of four matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        despine : bool, default True
            Whether to remove the top and right spines.

        Returns
        -------
        OverviewDisplay
            The display itself, with its axes.
        """
        if ax is None:
            _, ax = self._pyplot().subplots(2, 2, figsize=(9.6, 8.8), layout="constrained")
        self.axes_ = np.asarray(ax, dtype=object)
        if self.axes_.size != 4:
            raise InputError(f"ax must be four matplotlib Axes; got {self.axes_.size}.")
        for name, panel in zip(_PANELS, self.axes_.flat, strict=True):
            getattr(self, name).plot(panel, despine=despine)
        self.figure_ = self.axes_.flat[0].figure
        if self.title is not None:
            self.figure_.suptitle(single_line(self.title, 100), fontsize="medium")
        return self


_PANELS = ("roc", "pr", "scores", "thresholds")
