"""Groups: the same evaluation for every segment of the data, in one pass."""

from pueval.groups.estimates import GroupDifferences, GroupEstimates, MacroAverage
from pueval.groups.evaluation import GroupEvaluation
from pueval.groups.evaluator import evaluate_by

__all__ = [
    "GroupDifferences",
    "GroupEstimates",
    "GroupEvaluation",
    "MacroAverage",
    "evaluate_by",
]
