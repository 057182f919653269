"""Cross-validation with positive-unlabeled labels: folds, and a whole evaluation out of fold."""

from pueval.model_selection._evaluate_cv import evaluate_cv
from pueval.model_selection._folds import PUStratifiedKFold
from pueval.model_selection._splits import Splits

__all__ = ["PUStratifiedKFold", "Splits", "evaluate_cv"]
