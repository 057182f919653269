"""Honest evaluation of binary classifiers from positive and unlabeled data."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from pueval import conversions, metrics
from pueval.core.label_errors import LabelErrors
from pueval.core.labeling_moments import Moments, labeling_moments, labeling_variance
from pueval.core.mixture import Mixture
from pueval.core.resolution import Resolution, resolution
from pueval.counts.counts import Counts
from pueval.counts.poisson import poisson_resamples
from pueval.counts.tally import tally
from pueval.errors import (
    AssumptionWarning,
    BinnedScoresWarning,
    InputError,
    MissingPackageError,
    UndefinedMeasureWarning,
)
from pueval.estimates.baselines import Baseline, Baselines
from pueval.estimates.bias_bounds import BiasBounds, MeasureBounds
from pueval.estimates.calibration import Calibration
from pueval.estimates.cluster_effects import ClusterEffects
from pueval.estimates.cost_curve import CostCurve
from pueval.estimates.decision_curve import DecisionCurve, NetBenefit
from pueval.estimates.estimate import Best, Contingency, Estimate, OperatingPoint
from pueval.estimates.expectation import Expectation
from pueval.estimates.gains_curve import GainsCurve
from pueval.estimates.local_posterior import EvidenceThresholds, LocalPosterior
from pueval.estimates.measure_family import MeasureFamily
from pueval.estimates.presence import Presence, RatioCurve
from pueval.estimates.top_rows import TopRows
from pueval.evaluation.evaluate import evaluate
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.expectation_of_rows import expectation
from pueval.sensitivity.bound_tables import BoundTables
from pueval.sensitivity.bounds import Bounds, claesen_bounds
from pueval.sensitivity.feasibility import LargestPrior, feasibility_pvalue, largest_prior
from pueval.sensitivity.grid import SensitivityGrid
from pueval.sensitivity.tipping_point import TippingPoint
from pueval.uncertainty.bands import CurveBand
from pueval.uncertainty.prior_region import Region
from pueval.values_and_queries.top_by_query import TopByQuery, top_by_query
from pueval.values_and_queries.value_recovered import ValueRecovered, value_recovered

if _TYPE_CHECKING:
    from pueval.comparison.compare import compare
    from pueval.comparison.comparison import Comparison
    from pueval.comparison.differences import Difference, Differences
    from pueval.comparison.order_by_prior import BestModelRange, OrderByPrior, RankReversal
    from pueval.comparison.rankings import Disagreement, Rankings
    from pueval.diagnosis.diagnosis import Diagnosis
    from pueval.diagnosis.doctor import doctor
    from pueval.groups.evaluate_by import evaluate_by
    from pueval.groups.group_differences import GroupDifferences
    from pueval.groups.group_estimates import GroupEstimates
    from pueval.groups.group_evaluation import GroupEvaluation
    from pueval.groups.macro_average import MacroAverage
    from pueval.groups.shrinkage import GroupShrinkage
    from pueval.over_time.evaluate_over_time import evaluate_over_time
    from pueval.over_time.time_evaluation import TimeEvaluation
    from pueval.over_time.window_results import Alarm, ChangeSequence, TimeChanges, TimeEstimates

__version__ = "0.1.0"

__all__ = [
    "Alarm",
    "AssumptionWarning",
    "Baseline",
    "Baselines",
    "Best",
    "BestModelRange",
    "BiasBounds",
    "BinnedScoresWarning",
    "BoundTables",
    "Bounds",
    "Calibration",
    "ChangeSequence",
    "ClusterEffects",
    "Comparison",
    "Contingency",
    "CostCurve",
    "Counts",
    "CurveBand",
    "DecisionCurve",
    "Diagnosis",
    "Difference",
    "Differences",
    "Disagreement",
    "Estimate",
    "Evaluation",
    "EvidenceThresholds",
    "Expectation",
    "GainsCurve",
    "GroupDifferences",
    "GroupEstimates",
    "GroupEvaluation",
    "GroupShrinkage",
    "InputError",
    "LabelErrors",
    "LargestPrior",
    "LocalPosterior",
    "MacroAverage",
    "MeasureBounds",
    "MeasureFamily",
    "MissingPackageError",
    "Mixture",
    "Moments",
    "NetBenefit",
    "OperatingPoint",
    "OrderByPrior",
    "Presence",
    "RankReversal",
    "Rankings",
    "RatioCurve",
    "Region",
    "Resolution",
    "SensitivityGrid",
    "TimeChanges",
    "TimeEstimates",
    "TimeEvaluation",
    "TippingPoint",
    "TopByQuery",
    "TopRows",
    "UndefinedMeasureWarning",
    "ValueRecovered",
    "claesen_bounds",
    "compare",
    "conversions",
    "doctor",
    "evaluate",
    "evaluate_by",
    "evaluate_over_time",
    "expectation",
    "feasibility_pvalue",
    "labeling_moments",
    "labeling_variance",
    "largest_prior",
    "metrics",
    "poisson_resamples",
    "resolution",
    "tally",
    "top_by_query",
    "value_recovered",
]

# Imported on first use: most programs compare neither models nor groups.
_LAZY_NAMES = {
    "Alarm": "over_time.window_results",
    "BestModelRange": "comparison.order_by_prior",
    "ChangeSequence": "over_time.window_results",
    "Comparison": "comparison.comparison",
    "Diagnosis": "diagnosis.diagnosis",
    "Difference": "comparison.differences",
    "Differences": "comparison.differences",
    "Disagreement": "comparison.rankings",
    "GroupDifferences": "groups.group_differences",
    "GroupEstimates": "groups.group_estimates",
    "GroupEvaluation": "groups.group_evaluation",
    "GroupShrinkage": "groups.shrinkage",
    "MacroAverage": "groups.macro_average",
    "OrderByPrior": "comparison.order_by_prior",
    "RankReversal": "comparison.order_by_prior",
    "Rankings": "comparison.rankings",
    "TimeChanges": "over_time.window_results",
    "TimeEstimates": "over_time.window_results",
    "TimeEvaluation": "over_time.time_evaluation",
    "compare": "comparison.compare",
    "doctor": "diagnosis.doctor",
    "evaluate_by": "groups.evaluate_by",
    "evaluate_over_time": "over_time.evaluate_over_time",
}

# Public subpackages, imported on first use as attributes of pueval.
_LAZY_PACKAGES = (
    "audit",
    "displays",
    "labeling",
    "model_selection",
    "priors",
    "ranking",
    "report",
    "scoring",
    "simulate",
    "torch",
)
# Left out of dir(), since tools look up everything it lists.
_NEEDS_EXTRA = "torch"


def __getattr__(name: str) -> object:
    if name in _LAZY_PACKAGES:
        return _import_module(f"{__name__}.{name}")
    if name in _LAZY_NAMES:
        value = getattr(_import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY_PACKAGES, "__version__"} - {_NEEDS_EXTRA})
