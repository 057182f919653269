"""ROC curves: corrected with a confidence band, and naive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pueval.displays._curve_pair import CurvePairDisplay
from pueval.displays._legends import Corner
from pueval.estimates.estimate import Estimate
from pueval.uncertainty.bands import BandKind

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class RocCurveDisplay(CurvePairDisplay):
    """Corrected and naive ROC curves, with a confidence band for the corrected one.

    Create a display with `from_evaluation`, `from_predictions` or `from_estimator`, which also
    draw it.

    Parameters
    ----------
    corrected, naive : CurvePoints
        Points of the curves, thinned for drawing.
    roc_auc : Estimate
        Area under the curve.
    band : CurveBand, optional
        Confidence band of the corrected curve.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, naive_line_ : matplotlib Line2D
        Curves; ``naive_line_`` is None if it is not drawn.
    band_ : matplotlib collection or None
        Confidence band.
    chance_level_ : matplotlib Line2D or None
        Diagonal of a random ranking.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

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
    >>> display = RocCurveDisplay.compute(ev)    # draws nothing
    >>> sorted(set(display.frame()["curve"]))
    ['band', 'corrected', 'naive']
    >>> display = RocCurveDisplay.from_evaluation(ev, name="normal")
    >>> display.line_.get_label()
    'normal: corrected, AUC 0.926 (0.908–0.944)'
    """

    roc_auc: Estimate

    area: ClassVar[tuple[str, str]] = ("roc_auc", "AUC")
    columns: ClassVar[tuple[str, str]] = ("fpr", "tpr")
    axis_labels: ClassVar[tuple[str, str]] = ("False positive rate", "True positive rate")
    legend_corner: ClassVar[Corner] = "lower right"

    @classmethod
    def _data(cls, ev: Evaluation, band: BandKind) -> dict[str, Any]:
        return {
            "corrected": cls._points(ev.roc()),
            "naive": cls._points(ev.roc(naive=True)),
            "roc_auc": ev["roc_auc"],
            "band": None if ev.resampling is None else ev.roc_band(band),
        }

    def _chance_level(self) -> tuple[tuple[float, float], float]:
        return (0.0, 1.0), 0.5
