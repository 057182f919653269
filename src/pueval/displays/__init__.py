"""Plots in the style of scikit-learn: create one with ``from_…``, draw it with ``plot``.

Most displays show the naive and the corrected values together. ``plot(ax)`` returns the display
itself, with ``figure_`` and ``ax_`` (or ``axes_``) set, and ``frame()`` returns the plotted data.
Matplotlib (``pip install "pueval[plot]"``) is needed only for drawing.
"""

from pueval.displays._audit_plan import AuditPlanDisplay
from pueval.displays._boyce import BoyceDisplay
from pueval.displays._cost_curve_plot import CostCurveDisplay
from pueval.displays._decision_curve_plot import DecisionCurveDisplay
from pueval.displays._delay import DelayDisplay
from pueval.displays._gains import GainsDisplay
from pueval.displays._group_curves import GroupCurvesDisplay
from pueval.displays._measure_by_threshold import MeasureByThresholdDisplay
from pueval.displays._model_comparison import ComparisonDisplay
from pueval.displays._over_time import OverTimeDisplay
from pueval.displays._overview import OverviewDisplay
from pueval.displays._precision_recall import PrecisionRecallDisplay
from pueval.displays._prior_estimate import PriorEstimateDisplay
from pueval.displays._prior_likelihood import PriorLikelihoodDisplay
from pueval.displays._propensity import PropensityDisplay
from pueval.displays._rank_cdf import RankCdfDisplay
from pueval.displays._reliability_diagram import CalibrationDisplay
from pueval.displays._roc import RocCurveDisplay
from pueval.displays._score_distribution import ScoreDistributionDisplay
from pueval.displays._sensitivity import SensitivityDisplay

__all__ = [
    "AuditPlanDisplay",
    "BoyceDisplay",
    "CalibrationDisplay",
    "ComparisonDisplay",
    "CostCurveDisplay",
    "DecisionCurveDisplay",
    "DelayDisplay",
    "GainsDisplay",
    "GroupCurvesDisplay",
    "MeasureByThresholdDisplay",
    "OverTimeDisplay",
    "OverviewDisplay",
    "PrecisionRecallDisplay",
    "PriorEstimateDisplay",
    "PriorLikelihoodDisplay",
    "PropensityDisplay",
    "RankCdfDisplay",
    "RocCurveDisplay",
    "ScoreDistributionDisplay",
    "SensitivityDisplay",
]
