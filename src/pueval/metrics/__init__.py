"""Metrics with scikit-learn's names and argument order, corrected for unlabeled positives.

Each function takes positive-unlabeled labels where scikit-learn takes true ones, and keyword-only
``prior``, ``purity`` and ``target``. With ``prior=0``, results equal scikit-learn's. Metrics of
presence-only models need no prior.
"""

from pueval.metrics._boyce_metrics import boyce_index, smoothed_boyce_index
from pueval.metrics._calibration_metrics import (
    calibration_intercept,
    calibration_slope,
    expected_calibration_error,
)
from pueval.metrics._early_metrics import (
    aul,
    bedroc_score,
    enrichment_factor,
    logauc,
    rie,
    roc_enrichment,
)
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
from pueval.metrics._presence_metrics import auc_ratio, f_pb, minimal_predicted_area
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
from pueval.metrics._top_metrics import (
    average_precision_at_k,
    f_at_k,
    ndcg_score,
    precision_at_k,
    r_precision,
    recall_at_k,
)

__all__ = [
    "accuracy_score",
    "auc_ratio",
    "aul",
    "average_precision_at_k",
    "average_precision_score",
    "balanced_accuracy_score",
    "bedroc_score",
    "boyce_index",
    "brier_score_loss",
    "calibration_curve",
    "calibration_intercept",
    "calibration_slope",
    "class_likelihood_ratios",
    "cohen_kappa_score",
    "confusion_matrix",
    "d2_brier_score",
    "d2_log_loss_score",
    "delong_standard_error",
    "enrichment_factor",
    "expected_calibration_error",
    "f1_score",
    "f_at_k",
    "f_pb",
    "fbeta_score",
    "fowlkes_mallows_score",
    "geometric_mean_score",
    "informedness_score",
    "jaccard_score",
    "lee_liu_score",
    "lift_score",
    "log_loss",
    "logauc",
    "markedness_score",
    "matthews_corrcoef",
    "minimal_predicted_area",
    "ndcg_score",
    "negative_predictive_value_score",
    "net_benefit",
    "precision_at_k",
    "precision_recall_curve",
    "precision_score",
    "pseudo_f_score",
    "pulp_score",
    "r_precision",
    "recall_at_k",
    "recall_score",
    "rie",
    "roc_auc_score",
    "roc_curve",
    "roc_enrichment",
    "smoothed_boyce_index",
    "specificity_score",
]
