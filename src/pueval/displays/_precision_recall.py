"""Precision-recall curves: corrected with a confidence band, and naive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pueval.displays._curve_pair import CurvePairDisplay
from pueval.estimates.estimate import Estimate
from pueval.uncertainty.bands import BandKind

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class PrecisionRecallDisplay(CurvePairDisplay):
    """Corrected and naive precision-recall curves, with a confidence band for the corrected one.

    Create a display with `from_evaluation`, `from_predictions` or `from_estimator`, which also
    draw it. Precision depends on the target of the evaluation: all rows or the unlabeled rows.

    Parameters
    ----------
    corrected, naive : CurvePoints
        Points of the curves, thinned for drawing.
    average_precision : Estimate
        Area under the curve.
    band : CurveBand, optional
        Confidence band of the corrected curve.
    prevalence : float
        Share of positives in the target, which is the precision of a random ranking.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_ : matplotlib Line2D
        Curves; ``naive_line_`` is None if it is not drawn.
    band_ : matplotlib collection or None
        Confidence band.
    chance_level_ : matplotlib Line2D or None
        Precision of a random ranking.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    References
    ----------
    Jain, White and Radivojac (2017), section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import PrecisionRecallDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> display = PrecisionRecallDisplay.compute(ev)    # draws nothing
    >>> sorted(set(display.frame()["curve"]))
    ['band', 'corrected', 'naive']
    >>> display = PrecisionRecallDisplay.from_evaluation(ev, name="normal")
    >>> display.line_.get_label()
    'normal: corrected, AP 0.868 (0.813–0.922)'
    """

    average_precision: Estimate
    prevalence: float

    area: ClassVar[tuple[str, str]] = ("average_precision", "AP")
    columns: ClassVar[tuple[str, str]] = ("recall", "precision")
    axis_labels: ClassVar[tuple[str, str]] = ("Recall", "Precision")
    drawstyle: ClassVar[str] = "steps-pre"

    @classmethod
    def _data(cls, ev: Evaluation, band: BandKind) -> dict[str, Any]:
        return {
            "corrected": cls._points(ev.pr()),
            "naive": cls._points(ev.pr(naive=True)),
            "average_precision": ev["average_precision"],
            "band": None if ev.resampling is None else ev.pr_band(band),
            "prevalence": ev.prevalence,
        }

    def _chance_level(self) -> tuple[tuple[float, float], float]:
        return (self.prevalence, self.prevalence), self.prevalence
