"""Metrics with scikit-learn's names and argument order, corrected for unlabeled positives.

Each function takes positive-unlabeled labels where scikit-learn takes true ones, and keyword-only
``prior``, ``purity`` and ``target``. With ``prior=0``, results equal scikit-learn's.
"""

from pueval.metrics._prediction_metrics import (
    accuracy_score,
    balanced_accuracy_score,
    class_likelihood_ratios,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    fbeta_score,
    fowlkes_mallows_score,
    geometric_mean_score,
    informedness_score,
    jaccard_score,
    lift_score,
    markedness_score,
    matthews_corrcoef,
    negative_predictive_value_score,
    precision_score,
    recall_score,
    specificity_score,
)
from pueval.metrics._probability_metrics import (
    brier_score_loss,
    calibration_curve,
    d2_brier_score,
    d2_log_loss_score,
    log_loss,
    net_benefit,
)
from pueval.metrics._score_metrics import (
    average_precision_score,
    delong_standard_error,
    lee_liu_score,
    precision_recall_curve,
    pseudo_f_score,
    pulp_score,
    roc_auc_score,
    roc_curve,
)

__all__ = [
    "accuracy_score",
    "average_precision_score",
    "balanced_accuracy_score",
    "brier_score_loss",
    "calibration_curve",
    "class_likelihood_ratios",
    "cohen_kappa_score",
    "confusion_matrix",
    "d2_brier_score",
    "d2_log_loss_score",
    "delong_standard_error",
    "f1_score",
    "fbeta_score",
    "fowlkes_mallows_score",
    "geometric_mean_score",
    "informedness_score",
    "jaccard_score",
    "lee_liu_score",
    "lift_score",
    "log_loss",
    "markedness_score",
    "matthews_corrcoef",
    "negative_predictive_value_score",
    "net_benefit",
    "precision_recall_curve",
    "precision_score",
    "pseudo_f_score",
    "pulp_score",
    "recall_score",
    "roc_auc_score",
    "roc_curve",
    "specificity_score",
]
