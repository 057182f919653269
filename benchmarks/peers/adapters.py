"""Adapters that call each library: measure → value, or measure → (value, low, high).

Each library gets the arguments it requires. If it has a single parameter for "the class prior",
both meanings are tried. Libraries without a correction get the labels as if they were the classes.
"""

import os
import warnings

import numpy as np

from benchmarks.peers.scenarios import THRESHOLD

os.environ.setdefault("NML_DISABLE_USAGE_LOGGING", "1")


def pueval(rows, level=0.95):
    known = {"prior": rows.prior} if rows.propensity is None else {"propensity": rows.propensity}
    return pueval_given(rows, level, purity=rows.purity, **known)


def pueval_prior(rows):
    """Call pueval without the true purity and propensities, as if labels were clean and random."""
    return pueval_given(rows, 0.95, prior=rows.prior)


def pueval_given(rows, level, **known):
    from pueval import evaluate

    ev = evaluate(
        rows.label, rows.score, target=rows.target, threshold=THRESHOLD, level=level, **known
    )
    names = ("roc_auc", "average_precision", "precision", "recall", "f1", "accuracy")
    if level is None:
        return {name: ev[name].value for name in names}
    return {name: (ev[name].value, ev[name].low, ev[name].high) for name in names}


def pueval_values(rows):
    return pueval(rows, level=None)


def pulearn(rows, pi=None):
    from pulearn import metrics

    pi = rows.prior if pi is None else pi
    predicted = (rows.score >= THRESHOLD).astype(int)
    return {
        "roc_auc": metrics.pu_roc_auc_score(rows.label, rows.score, pi=pi),
        "average_precision": metrics.pu_precision_recall_curve(
            rows.label, rows.score, pi=pi
        ).corrected_ap,
        "precision": metrics.pu_precision_score(rows.label, predicted, pi=pi),
        "recall": metrics.pu_recall_score(rows.label, predicted),
        "f1": metrics.pu_f1_score(rows.label, predicted, pi=pi),
    }


def pulearn_prevalence(rows):
    return pulearn(rows, pi=rows.prevalence)


def pu_toolbox(rows, pi=None):
    from pu_toolbox import metrics

    pi = rows.prior if pi is None else pi
    predicted = (rows.score >= THRESHOLD).astype(int)
    return {
        "precision": metrics.pu_estimated_precision(rows.label, predicted, pi),
        "recall": metrics.pu_recall(rows.label, predicted),
        "accuracy": 1 - metrics.pu_zero_one_risk(rows.label, predicted, pi),
    }


def pu_toolbox_prevalence(rows):
    return pu_toolbox(rows, pi=rows.prevalence)


def scikit_learn(rows):
    from sklearn import metrics

    predicted = rows.score >= THRESHOLD
    return {
        "roc_auc": metrics.roc_auc_score(rows.label, rows.score),
        "average_precision": metrics.average_precision_score(rows.label, rows.score),
        "precision": metrics.precision_score(rows.label, predicted),
        "recall": metrics.recall_score(rows.label, predicted),
        "f1": metrics.f1_score(rows.label, predicted),
        "accuracy": metrics.accuracy_score(rows.label, predicted),
    }


def confidenceinterval(rows):
    import confidenceinterval as ci

    label, predicted = rows.label.astype(int), (rows.score >= THRESHOLD).astype(int)
    found = {
        "roc_auc": ci.roc_auc_score(label, rows.score),
        "precision": ci.ppv_score(label, predicted),
        "recall": ci.tpr_score(label, predicted),
        "f1": ci.f1_score(label, predicted, average="binary"),
        "accuracy": ci.accuracy_score(label, predicted),
    }
    return {name: (value, low, high) for name, (value, (low, high)) in found.items()}


def nannyml(rows, target=None):
    import pandas as pd
    from nannyml import CBPE

    frame = pd.DataFrame(
        {
            "y": (rows.label if target is None else target).astype(int),
            "p": rows.score,
            "predicted": (rows.score >= THRESHOLD).astype(int),
        }
    )
    names = {
        "roc_auc": "roc_auc", "average_precision": "average_precision", "precision": "precision",
        "recall": "recall", "f1": "f1", "accuracy": "accuracy",
    }  # fmt: skip
    estimator = CBPE(
        problem_type="classification_binary", y_true="y", y_pred="predicted", y_pred_proba="p",
        metrics=list(names), chunk_number=1,
    )  # fmt: skip
    estimator.fit(frame)
    table = estimator.estimate(frame.drop(columns="y")).filter(period="analysis").to_df()
    found = {}
    for name, theirs in names.items():
        one = table[theirs].iloc[0]
        found[name] = (
            float(one["value"]),
            float(one["lower_confidence_boundary"]),
            float(one["upper_confidence_boundary"]),
        )
    return found


def nannyml_truth(rows):
    return nannyml(rows, target=rows.positive)


def semisup_metrics(rows):
    import semisup_metrics as semisup

    label = [True if one else None for one in rows.label]
    tables = semisup.get_contingency_tables(label, rows.score.tolist(), beta=rows.prior)
    found = {}
    for name, bounds in (("roc_auc", semisup.roc_bounds), ("average_precision", semisup.pr_bounds)):
        curves = bounds(None, None, tables=tables)
        low, high = sorted((semisup.auc(curves.lower), semisup.auc(curves.upper)))
        found[name] = ((low + high) / 2, low, high)
    return found


def pueval_bounds(rows):
    from pueval import Counts, claesen_bounds

    counts = Counts.from_arrays(rows.label, rows.score)
    bounds = claesen_bounds(counts, prior=rows.prior, target=rows.target)
    return {
        name: (np.mean(getattr(bounds, name)), *getattr(bounds, name))
        for name in ("roc_auc", "average_precision")
    }


def quiet(function, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(rows)
