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
    "labels that may be wrong": {"pueval": ["pueval:Mixture"]},
    "labels that are not random": {
        "pueval": ["pueval:evaluate"],
        "pulearn": ("training", ["pulearn.propensity:compute_inverse_propensity_weights"]),
        "pu-toolbox": ("training", ["pu_toolbox:PUSBClassifier", "pu_toolbox:LBEClassifier"]),
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
    "shift between data sets, monitoring": {
        "pu-toolbox": ["pu_toolbox:PUShiftMonitor"],
        "nannyml": ["nannyml:CBPE", "nannyml:UnivariateDriftCalculator"],
    },
    "more than two classes": {
        "scikit-learn": ["sklearn.metrics:roc_auc_score"],
        "confidenceinterval": ["confidenceinterval:f1_score"],
        "nannyml": ["nannyml:CBPE"],
    },
}  # fmt: skip
