"""Honest evaluation of binary classifiers when nobody ever labeled a negative."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pueval import conversions, metrics
from pueval.counts import Counts
from pueval.errors import (
    AssumptionWarning,
    BinnedScoresWarning,
    InputError,
    MissingPackageError,
    UndefinedMeasureWarning,
)
from pueval.evaluation import Evaluation
from pueval.evaluator import evaluate
from pueval.label_frequency import Moments, labeling_moments, labeling_variance
from pueval.mixture import Mixture
from pueval.operating_point import OperatingPoint
from pueval.resolution import Resolution, resolution
from pueval.results import Best, Contingency, Estimate
from pueval.sensitivity import (
    Bounds,
    BoundTables,
    PriorLimit,
    SensitivityGrid,
    TippingPoint,
    claesen_bounds,
    feasibility_pvalue,
    largest_prior,
)
from pueval.tally import tally
from pueval.uncertainty import CurveBand, Region, poisson_resamples

if TYPE_CHECKING:
    from pueval.comparing import (
        Comparison,
        Difference,
        Disagreement,
        Flip,
        PriorOrder,
        Rankings,
        Reign,
        compare,
    )
    from pueval.groups import (
        GroupDifferences,
        GroupEstimates,
        GroupEvaluation,
        MacroAverage,
        evaluate_by,
    )

__version__ = "0.1.0"

__all__ = [
    "AssumptionWarning",
    "Best",
    "BinnedScoresWarning",
    "BoundTables",
    "Bounds",
    "Comparison",
    "Contingency",
    "Counts",
    "CurveBand",
    "Difference",
    "Disagreement",
    "Estimate",
    "Evaluation",
    "Flip",
    "GroupDifferences",
    "GroupEstimates",
    "GroupEvaluation",
    "InputError",
    "MacroAverage",
    "MissingPackageError",
    "Mixture",
    "Moments",
    "OperatingPoint",
    "PriorLimit",
    "PriorOrder",
    "Rankings",
    "Region",
    "Reign",
    "Resolution",
    "SensitivityGrid",
    "TippingPoint",
    "UndefinedMeasureWarning",
    "claesen_bounds",
    "compare",
    "conversions",
    "evaluate",
    "evaluate_by",
    "feasibility_pvalue",
    "labeling_moments",
    "labeling_variance",
    "largest_prior",
    "metrics",
    "poisson_resamples",
    "resolution",
    "tally",
]

# Loaded when a name of theirs is first asked for: not everybody compares groups, or models.
_LATER = ("pueval.groups", "pueval.comparing")


# Modules that people use by their names.
_ROOMS = (
    "conversions",
    "displays",
    "model_selection",
    "priors",
    "ranking",
    "report",
    "scoring",
    "simulate",
)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    for room in _LATER if name in __all__ else ():
        loaded = import_module(room)
        if name in loaded.__all__:
            found = globals()[name] = getattr(loaded, name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
