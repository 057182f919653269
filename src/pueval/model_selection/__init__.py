"""Cross-validation with positive-unlabeled labels: folds and out-of-fold evaluation."""

from pueval.model_selection._evaluate_cv import evaluate_cv
from pueval.model_selection._folds import PUStratifiedKFold
from pueval.model_selection._splits import Splits

__all__ = ["PUStratifiedKFold", "Splits", "evaluate_cv"]
