"""Features of each library, each with the public name that provides it.

The script imports each name in the environment of its library and stops if one is missing. No entry
means that we found no public function or parameter for the feature in the installed package.
"""

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
    "precision and recall of the k highest scores": {
        "pueval": ["pueval:Evaluation"],  # threshold_for(top=k)
    },
    "labels that may be wrong": {
        "pueval": ["pueval:Mixture", "pueval:LabelErrors"],
        "truescore": ("means", ["truescore:rogan_gladen_estimate"]),
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
        "truescore": ("means", ["truescore:ppi_estimate", "truescore:required_gold_labels"]),
        "ppi-python": ("means, any estimator", ["ppi_py:ppi_mean_ci", "ppi_py:ppboot"]),
    },
    "clusters: rows that belong together": {
        "pueval": ["pueval:ClusterEffects"],
        "truescore": ("means", ["truescore:ppi_estimate"]),  # clusters=
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
