"""Features of each library, each with the public name that provides it.

The script imports each name in the environment of its library and stops if one is missing. No entry
means that we found no public function or parameter for the feature in the installed package.
"""

NANNYML_METRICS = "nannyml.performance_estimation.confidence_based.metrics"
FEATURES = {
    "AUC corrected for hidden positives": {
        "pueval": ["pueval.metrics:roc_auc_score"],
        "pulearn": ["pulearn.metrics:pu_roc_auc_score"],
        "semisup-metrics": ("bounds", ["semisup_metrics:roc_bounds"]),
    },
    "precision and F1 corrected": {
        "pueval": ["pueval.metrics:precision_score", "pueval.metrics:f1_score"],
        "pulearn": ["pulearn.metrics:pu_precision_score", "pulearn.metrics:pu_f1_score"],
        "pu-toolbox": ("precision", ["pu_toolbox.metrics:pu_estimated_precision"]),
    },
    "accuracy, MCC and others corrected": {
        "pueval": ["pueval.metrics:matthews_corrcoef"],
        "pulearn": ("specificity", ["pulearn.metrics:pu_specificity_score"]),
        "pu-toolbox": ("error rate", ["pu_toolbox.metrics:pu_zero_one_risk"]),
    },
    "ROC curve corrected": {
        "pueval": ["pueval.metrics:roc_curve"],
        "semisup-metrics": ("bounds", ["semisup_metrics:roc_bounds"]),
    },
    "precision-recall curve corrected": {
        "pueval": ["pueval.metrics:precision_recall_curve"],
        "pulearn": ["pulearn.metrics:pu_precision_recall_curve"],
        "semisup-metrics": ("bounds", ["semisup_metrics:pr_bounds"]),
    },
    "Brier score and log loss corrected": {
        "pueval": ["pueval.metrics:brier_score_loss", "pueval.metrics:log_loss"],
        "scikit-learn": ("naive", ["sklearn.metrics:brier_score_loss", "sklearn.metrics:log_loss"]),
        "pulearn": ("log loss (uPU and nnPU risk)", [
            "pulearn.metrics:pu_unbiased_risk", "pulearn.metrics:pu_non_negative_risk",
        ]),
        "pu-toolbox": ("naive, Brier score", ["pu_toolbox.metrics:brier_score"]),
    },
    "calibration (curve, slope) corrected": {
        "pueval": ["pueval.metrics:calibration_curve", "pueval:Evaluation.calibration"],
        "scikit-learn": ("naive, curve", ["sklearn.calibration:calibration_curve"]),
        "pulearn": ("rescales", ["pulearn.metrics:calibrate_posterior_p_y1"]),
        "pu-toolbox": ("naive, curve", [
            "pu_toolbox.metrics:calibration_bucket_stats",
            "pu_toolbox.metrics:expected_calibration_error",
        ]),
        "nannyml": ("naive, recalibrates", [
            "nannyml.calibration:IsotonicCalibrator", "nannyml.calibration:needs_calibration",
        ]),
    },
    "measures that need no prior": {
        "pueval": ("Lee–Liu, PULP, recall and lift of the top", [
            "pueval.metrics:lee_liu_score", "pueval.metrics:pulp_score",
            "pueval.metrics:recall_at_k", "pueval.metrics:enrichment_factor",
        ]),
        "scikit-learn": ("recall", ["sklearn.metrics:recall_score"]),
        "pulearn": ("Lee–Liu, recall", [
            "pulearn.metrics:lee_liu_score", "pulearn.metrics:pu_recall_score",
        ]),
        "pu-toolbox": ("recall", ["pu_toolbox.metrics:pu_recall"]),
        "confidenceinterval": ("recall", ["confidenceinterval:tpr_score"]),
        "nannyml": ("recall", ["nannyml:CBPE"]),
        "semisup-metrics": ("bounds of recall", ["semisup_metrics:bootstrap_ecdf_bounds"]),
    },
    "precision and recall of the k highest scores": {
        "pueval": [
            "pueval.metrics:precision_at_k", "pueval.metrics:recall_at_k", "pueval:Evaluation.top",
        ],
    },
    "BEDROC and enrichment factor corrected": {
        "pueval": ["pueval.metrics:bedroc_score", "pueval.metrics:enrichment_factor"],
    },
    "net benefit and decision curve corrected": {
        "pueval": ["pueval.metrics:net_benefit", "pueval:Evaluation.decision_curve"],
        "nannyml": ("naive, net benefit", [
            "nannyml:CBPE",  # metrics=["business_value"]
            f"{NANNYML_METRICS}:BinaryClassificationBusinessValue",
        ]),
    },
    "labels that may be wrong": {
        "pueval": ["pueval:Mixture", "pueval:LabelErrors"],
        "truescore": ("means", ["truescore:rogan_gladen_estimate"]),
        "ppi-python": ("means", ["ppi_py:ppi_mean_ci"]),
    },
    "labels that are not random": {
        "pueval": ["pueval:evaluate"],
        "pulearn": ("training", ["pulearn.propensity:compute_inverse_propensity_weights"]),
        "pu-toolbox": ("training", ["pu_toolbox:PUSBClassifier", "pu_toolbox:LBEClassifier"]),
    },
    "test whether labels are random": {
        "pueval": ("with p-value", ["pueval.labeling:test_random"]),
        "pulearn": ("fixed cutoffs", ["pulearn.propensity:scar_sanity_check"]),
        "pu-toolbox": ("fixed cutoff", ["pu_toolbox.preprocessing:scar_diagnostic"]),
    },
    "audit: some rows checked": {
        "pueval": ["pueval.audit:plan", "pueval:evaluate"],
        "pu-toolbox": ("rows to check", ["pu_toolbox:analyze_pu_uncertainty"]),
        "truescore": ("means, measures of the audited rows", [
            "truescore:ppi_estimate", "truescore:required_gold_labels", "truescore:judge_agreement",
        ]),
        "ppi-python": ("means, any estimator", ["ppi_py:ppi_mean_ci", "ppi_py:ppboot"]),
    },
    "clusters: rows that belong together": {
        "pueval": ["pueval:ClusterEffects"],
        "truescore": ("means", ["truescore:ppi_estimate"]),  # clusters=
    },
    "measures by group": {
        "pueval": ["pueval:evaluate_by"],
        "truescore": ("means", ["truescore:estimate_slices", "truescore:compare_slices"]),
    },
    "known negatives, too": {
        "pueval": ["pueval:Counts"],
        "pu-toolbox": ("training", ["pu_toolbox:PNUClassifier"]),
        "semisup-metrics": ["semisup_metrics:roc_bounds"],
    },
    "confidence intervals of the measures": {
        "pueval": ["pueval:evaluate"],
        "confidenceinterval": ("naive", ["confidenceinterval:roc_auc_score"]),
        "nannyml": ("naive", ["nannyml:CBPE"]),
        "semisup-metrics": ("bounds", ["semisup_metrics:bootstrap_ecdf_bounds"]),
    },
    "bounds from the ranks (Claesen)": {
        "pueval": ["pueval:claesen_bounds"],
        "semisup-metrics": ["semisup_metrics:roc_bounds"],
    },
    "prior estimated": {
        "pueval": ["pueval.priors:Consensus"],
        "pulearn": ["pulearn.priors:ScarEMPriorEstimator"],
        "pu-toolbox": ["pu_toolbox:KernelMeanPriorEstimator", "pu_toolbox:ReCPEEstimator"],
    },
    "confidence interval of the prior": {
        "pueval": ["pueval.priors:Consensus"],
        "pulearn": ["pulearn.priors.bootstrap:bootstrap_confidence_interval"],
    },
    "measures over a range of priors": {
        "pueval": ["pueval:evaluate"],
        "pulearn": ["pulearn.priors.sensitivity:analyze_prior_sensitivity"],
        "pu-toolbox": ["pu_toolbox:analyze_pu_sensitivity"],
    },
    "models compared": {
        "pueval": ("paired, with p-values", ["pueval:compare"]),
        "pu-toolbox": (
            "by means over folds", ["pu_toolbox.model_selection:PUModelComparator"],
        ),
        "truescore": ("means, after an audit", ["truescore:ppi_compare"]),
    },
    "scorers for scikit-learn's searches": {
        "pueval": ["pueval.scoring:make_scorer"],
        "pulearn": ["pulearn.metrics:make_pu_scorer"],
        "scikit-learn": ("naive", ["sklearn.metrics:make_scorer"]),
    },
    "rows counted in an engine (DuckDB, Polars, Dask, Spark)": {
        "pueval": ["pueval:Counts"],
    },
    "classifiers for such labels": {
        "pulearn": ["pulearn:ElkanotoPuClassifier", "pulearn:BaggingPuClassifier"],
        "pu-toolbox": ["pu_toolbox:NonNegativePUClassifier", "pu_toolbox:ElkanNotoClassifier"],
    },
    "measures over time, with alarms": {
        "pueval": ["pueval:evaluate_over_time"],
        "nannyml": ("naive", ["nannyml:CBPE"]),
        "truescore": ("means", ["truescore:confidence_sequence", "truescore:judge_drift"]),
    },
    "shift of features between data sets": {
        "pu-toolbox": ["pu_toolbox:PUShiftMonitor", "pu_toolbox:analyze_pu_shift"],
        "nannyml": ["nannyml:UnivariateDriftCalculator"],
    },
    "more than two classes": {
        "pueval": ("PULP", ["pueval.ranking:multiclass_pulp"]),
        "scikit-learn": ["sklearn.metrics:roc_auc_score"],
        "confidenceinterval": ["confidenceinterval:f1_score"],
        "nannyml": ["nannyml:CBPE"],
    },
}  # fmt: skip
