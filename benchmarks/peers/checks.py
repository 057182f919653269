"""Single functions of other libraries beside pueval's, on rows with known truth.

Each check returns, for one draw of rows, a value per function: an error, whether a test raised an
alarm, or an error with whether the interval holds the truth and its width.
"""

import numpy as np
from scipy.stats import norm

from benchmarks.peers.scenarios import LABELED, POPULATION, PREVALENCE, SEPARATION, THRESHOLD

AUDITED = 200  # unlabeled rows whose class is checked
KERNEL_ROWS = 200  # its time grows with the third power
BINS = 10
# The threshold as a score of the population, of which `rows.score` is the probability.
CUT = SEPARATION / 2 - np.log(PREVALENCE / (1 - PREVALENCE)) / SEPARATION


def draw_audit(rows, rng):
    """Choose unlabeled rows at random; return their positions."""
    return rng.choice(np.flatnonzero(rows.label == 0), AUDITED, replace=False)


def random_labels(rows, rng):
    """Return which function says that labels are not random; the score is the only feature."""
    from pu_toolbox.preprocessing import scar_diagnostic
    from pulearn.propensity import scar_sanity_check

    from pueval import labeling

    feature = rows.score[:, None]
    chosen = draw_audit(rows, rng)
    audited = np.full(rows.label.size, np.nan)
    audited[chosen] = rows.positive[chosen]
    test = labeling.test_random(feature, rows.label, audited=audited, n_draws=199)
    check = scar_sanity_check(
        rows.label, s_proba=LABELED * rows.score, X=feature, warn_on_violation=False
    )
    known = rows.positive.astype(int)
    return {
        f"pueval, `labeling.test_random`, {AUDITED} rows audited": test.pvalue < 0.05,
        "pulearn, `scar_sanity_check`": check.violates_scar,
        "pu-toolbox, `scar_diagnostic`": scar_diagnostic(feature, rows.label)["status"]
        == "at_risk",
        "pu-toolbox, `scar_diagnostic`, all classes known": scar_diagnostic(
            feature, rows.label, y_true=known
        )["status"]
        == "at_risk",
    }


def specificity(rows, rng):
    """Return errors of the specificity."""
    from pulearn.metrics import pu_specificity_score

    from pueval.metrics import specificity_score

    truth = POPULATION.measure("specificity", threshold=CUT)
    predicted = (rows.score >= THRESHOLD).astype(int)
    # pulearn expects the probability of a label.
    options = {"threshold": LABELED * THRESHOLD}
    return {
        "pueval, `specificity_score`": abs(
            specificity_score(rows.label, predicted, prior=rows.prior, purity=rows.purity) - truth
        ),
        "pulearn, `pu_specificity_score`, label frequency known": abs(
            pu_specificity_score(rows.label, LABELED * rows.score, c_hat=LABELED, **options) - truth
        ),
        "pulearn, `pu_specificity_score`, label frequency estimated": abs(
            pu_specificity_score(rows.label, LABELED * rows.score, **options) - truth
        ),
    }


def roc_curve(rows, rng):
    """Return the mean distance of ROC curves from the true one, at 99 false positive rates."""
    import sklearn.metrics
    from pulearn.metrics import pu_roc_curve

    from pueval import evaluate

    fpr = np.linspace(0.01, 0.99, 99)
    truth = norm.sf(norm.isf(fpr) - SEPARATION)
    ours = evaluate(rows.label, rows.score, prior=rows.prior, purity=rows.purity, level=None).roc()
    theirs = pu_roc_curve(rows.label, rows.score, pi=rows.prior)
    naive = sklearn.metrics.roc_curve(rows.label, rows.score, drop_intermediate=False)
    curves = {
        "pueval, `ev.roc()`": (ours.fpr, ours.tpr),
        "pulearn, `pu_roc_curve`": (theirs.fpr, theirs.tpr),
        "scikit-learn, `roc_curve`": naive[:2],
    }
    return {
        name: float(np.mean(np.abs(np.interp(fpr, x, y) - truth)))
        for name, (x, y) in curves.items()
    }


def log_loss(rows, rng):
    """Return errors of the log loss of the unlabeled rows; pulearn calls it a risk."""
    import sklearn.metrics
    from pulearn.metrics import pu_non_negative_risk, pu_unbiased_risk

    from pueval.metrics import log_loss

    hidden = rows.label == 0
    truth = sklearn.metrics.log_loss(rows.positive[hidden], rows.score[hidden])
    prior = rows.positive[hidden].mean()
    ours = log_loss(rows.label, rows.score, prior=prior, purity=rows.purity, target="unlabeled")
    return {
        "pueval, `log_loss`": abs(ours - truth),
        "pulearn, `pu_unbiased_risk`": abs(
            pu_unbiased_risk(rows.label, rows.score, pi=prior) - truth
        ),
        "pulearn, `pu_non_negative_risk`": abs(
            pu_non_negative_risk(rows.label, rows.score, pi=prior) - truth
        ),
    }


def lee_liu(rows, rng):
    """Return errors of the Lee–Liu score: recall² divided by the share predicted positive."""
    from pulearn.metrics import lee_liu_score as lee_liu_of_pulearn

    from pueval.metrics import lee_liu_score

    recall, fpr = norm.sf(CUT - SEPARATION), norm.sf(CUT)
    truth = recall**2 / (PREVALENCE * recall + (1 - PREVALENCE) * fpr)
    predicted = (rows.score >= THRESHOLD).astype(int)
    return {
        "pueval, `lee_liu_score`": abs(
            lee_liu_score(rows.label, rows.score, threshold=THRESHOLD) - truth
        ),
        "pulearn, `lee_liu_score`": abs(lee_liu_of_pulearn(rows.label, predicted) - truth),
    }


def calibration(rows, rng):
    """Return mean distances of calibration curves from the diagonal, on which the truth lies."""
    import sklearn.calibration
    from pu_toolbox.metrics import calibration_bucket_stats

    from pueval.metrics import calibration_curve

    known = {"prior": rows.prior, "purity": rows.purity}
    buckets = calibration_bucket_stats(rows.label, rows.score, n_bins=BINS)["buckets"]
    buckets = [one for one in buckets if one["n_samples"]]
    curves = {
        "pueval, `calibration_curve`": calibration_curve(
            rows.label, rows.score, n_bins=BINS, **known
        ),
        "pu-toolbox, `calibration_bucket_stats`": (
            np.array([one["accuracy"] for one in buckets]),
            np.array([one["confidence"] for one in buckets]),
        ),
        "scikit-learn, `calibration_curve`": sklearn.calibration.calibration_curve(
            rows.label, rows.score, n_bins=BINS
        ),
    }
    size = np.histogram(rows.score, BINS, (0, 1))[0]
    weight = size[size > 0]
    return {
        name: float(np.average(np.abs(observed - predicted), weights=weight))
        for name, (observed, predicted) in curves.items()
    }


def net_benefit(rows, rng):
    """Return errors of the net benefit at a risk threshold of one half."""
    from pueval.metrics import net_benefit

    recall, fpr = norm.sf(CUT - SEPARATION), norm.sf(CUT)
    truth = PREVALENCE * recall - (1 - PREVALENCE) * fpr
    known = {"prior": rows.prior, "purity": rows.purity}
    found = {
        "pueval, `net_benefit`": net_benefit(rows.label, rows.score, threshold=THRESHOLD, **known),
        "nannyml, business value": business_value(rows.label, rows.score),
        "nannyml, business value, true classes of a reference": business_value(
            rows.positive, rows.score
        ),
    }
    return {name: abs(value - truth) for name, value in found.items()}


def business_value(target, score):
    """Return the value per row if a false positive costs as much as a true positive brings."""
    import pandas as pd
    from nannyml import CBPE

    frame = pd.DataFrame(
        {"y": target.astype(int), "p": score, "predicted": (score >= THRESHOLD).astype(int)}
    )
    estimator = CBPE(
        problem_type="classification_binary", y_true="y", y_pred="predicted", y_pred_proba="p",
        metrics=["business_value"], business_value_matrix=[[0, -1], [0, 1]], chunk_number=1,
    )  # fmt: skip
    estimator.fit(frame)
    table = estimator.estimate(frame.drop(columns="y")).filter(period="analysis").to_df()
    return float(table["business_value"]["value"].iloc[0]) / len(frame)


def audited_groups(rows, rng):
    """Return mean errors of the share of positives among the unlabeled rows of two groups."""
    from truescore import estimate_slices

    from pueval import evaluate_by

    group = (rng.random(rows.label.size) < np.where(rows.positive, 0.7, 0.3)).astype(int)
    unlabeled = np.flatnonzero(rows.label == 0)
    chosen = draw_audit(rows, rng)
    gold = rows.positive[chosen].astype(float)
    truth = [rows.positive[unlabeled][group[unlabeled] == one].mean() for one in (0, 1)]
    audited = np.full(rows.label.size, np.nan)
    audited[chosen] = gold
    ours = evaluate_by(
        rows.label, rows.score, group, audited=audited, target="unlabeled", level=None
    ).prior
    slices = estimate_slices(
        rows.score[unlabeled], gold, np.searchsorted(unlabeled, chosen), group[unlabeled]
    ).estimates
    theirs = [one.corrected.point for one in sorted(slices, key=lambda one: one.name)]
    return {
        "pueval, `evaluate_by(…, audited=…)`": float(np.mean(np.abs(ours - truth))),
        "truescore, `estimate_slices`": float(np.mean(np.abs(np.subtract(theirs, truth)))),
    }


def audited_prior(rows, rng):
    """Return error, coverage and width of the share of positives among the unlabeled rows."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
    from truescore import ppi_estimate

    from pueval import evaluate

    chosen = draw_audit(rows, rng)
    unlabeled = np.flatnonzero(rows.label == 0)
    truth = rows.positive[unlabeled].mean()
    gold = rows.positive[chosen].astype(float)
    rest = np.setdiff1d(unlabeled, chosen)
    parts = gold, rows.score[chosen], rows.score[rest]
    low, high = (float(np.ravel(end)[0]) for end in ppi_mean_ci(*parts, alpha=0.05))
    value = float(np.ravel(ppi_mean_pointestimate(*parts))[0])
    found = {"ppi-python, `ppi_mean_ci`": (value, low, high)}
    places = np.searchsorted(unlabeled, chosen)
    estimate = ppi_estimate(rows.score[unlabeled], gold, places)
    found["truescore, `ppi_estimate`"] = (
        estimate.point, estimate.low, estimate.high,
    )  # fmt: skip
    audited = np.full(rows.label.size, np.nan)
    audited[chosen] = gold
    ours = evaluate(rows.label, rows.score, audited=audited, target="unlabeled").audit.prior
    found["pueval, `evaluate(…, audited=…)`"] = (ours.value, ours.low, ours.high)
    return {
        name: (abs(value - truth), low <= truth <= high, high - low)
        for name, (value, low, high) in found.items()
    }


def audited_precision(rows, rng):
    """Return error, coverage and width of the precision among the unlabeled rows."""
    from truescore import judge_agreement

    from pueval import evaluate

    chosen = draw_audit(rows, rng)
    predicted = rows.score >= THRESHOLD
    truth = rows.positive[(rows.label == 0) & predicted].mean()
    audited = np.full(rows.label.size, np.nan)
    audited[chosen] = rows.positive[chosen]
    ours = evaluate(
        rows.label, rows.score, audited=audited, target="unlabeled", threshold=THRESHOLD
    )["precision"]
    theirs = judge_agreement(predicted[chosen], rows.positive[chosen]).precision
    found = {
        "pueval, `evaluate(…, audited=…)`": (ours.value, ours.low, ours.high),
        "truescore, `judge_agreement`": (theirs.point, theirs.low, theirs.high),
    }
    return {
        name: (abs(value - truth), low <= truth <= high, high - low)
        for name, (value, low, high) in found.items()
    }


def estimated_prior(rows, rng):
    """Return errors of the estimated prior; the score is the only feature."""
    from pu_toolbox import ClassPriorEstimator, KernelMeanPriorEstimator

    from pueval.priors import estimate

    truth = rows.positive[rows.label == 0].mean()
    feature = rows.score[:, None]
    kernel = KernelMeanPriorEstimator(max_samples_per_group=KERNEL_ROWS, random_state=0)
    return {
        "pueval, `priors.estimate`": abs(estimate(rows.label, rows.score).prior - truth),
        "pu-toolbox, `ClassPriorEstimator`": abs(
            ClassPriorEstimator().fit(feature, rows.label).estimate() - truth
        ),
        f"pu-toolbox, `KernelMeanPriorEstimator`, {KERNEL_ROWS} rows of each kind": abs(
            kernel.fit(feature, rows.label).estimate() - truth
        ),
    }


def both_labels_wrong(rows, rng):
    """Return errors of the prevalence; the error rates of the labels are those of an audit."""
    from ppi_py import ppi_mean_pointestimate
    from truescore import rogan_gladen_estimate

    from pueval import Counts, LabelErrors, evaluate

    draws = rng.random(rows.positive.size)
    label = np.where(rows.positive, draws < 0.6, draws < 0.05).astype(int)
    chosen = rng.choice(label.size, AUDITED, replace=False)
    gold = rows.positive[chosen].astype(int)
    missed, wrong = 1 - label[chosen][gold == 1].mean(), label[chosen][gold == 0].mean()
    counts = Counts.from_arrays(label, rows.score)
    ours = LabelErrors(missed, wrong).mixture(counts).prevalence(counts)
    audited = np.full(label.size, np.nan)
    audited[chosen] = gold
    by_audit = evaluate(label, rows.score, audited=audited, level=None).prevalence
    rest = np.setdiff1d(np.arange(label.size), chosen)
    parts = (part.astype(float) for part in (gold, label[chosen], label[rest]))
    return {
        "pueval, `LabelErrors`": abs(ours - rows.prevalence),
        "pueval, `evaluate(…, audited=…)`": abs(by_audit - rows.prevalence),
        "ppi-python, `ppi_mean_pointestimate`": abs(
            float(np.ravel(ppi_mean_pointestimate(*parts))[0]) - rows.prevalence
        ),
        "truescore, `rogan_gladen_estimate`": abs(
            rogan_gladen_estimate(label, gold, chosen).point - rows.prevalence
        ),
        "share of rows labeled 1": abs(label.mean() - rows.prevalence),
    }


def shifted_features(rows, rng):
    """Return which share of windows is called shifted; pueval has no such function."""
    from pu_toolbox import PUShiftMonitor

    feature, n = rows.score[:, None], rows.score.size // 2
    weight = np.where(rows.positive[n:], 4.0, 1.0)
    windows = {
        "same population": feature[n:],
        "positives four times as likely": feature[n + rng.choice(n, n, p=weight / weight.sum())],
    }
    monitor = PUShiftMonitor(feature[:n], rows.label[:n])
    found = {}
    for name, window in windows.items():
        _, report = monitor.update(window, window_id=name)
        found[f"pu-toolbox, `PUShiftMonitor`: {name}"] = report.severity != "low"
    return found


RANDOM, NOISY, FAVORED = (
    "labels at random", "15 % of the labels wrong", "high scores labeled more often",
)  # fmt: skip
# By environment, each check with the scenarios in which it is run.
CHECKS = {
    "common": {
        "labels called not random, share of draws": (random_labels, (RANDOM, FAVORED)),
        "specificity, mean absolute error": (specificity, (RANDOM, NOISY)),
        "ROC curve, mean absolute error": (roc_curve, (RANDOM, NOISY)),
        "log loss of the unlabeled rows, mean absolute error": (log_loss, (RANDOM, NOISY)),
        "calibration curve, mean absolute error": (calibration, (RANDOM, NOISY)),
        "Lee–Liu score, mean absolute error": (lee_liu, (RANDOM, NOISY)),
        "prior, mean absolute error": (estimated_prior, (RANDOM, FAVORED)),
        f"prevalence if both labels are wrong, {AUDITED} rows audited, mean absolute error": (
            both_labels_wrong, (RANDOM,),
        ),
        "features called shifted, share of draws": (shifted_features, (RANDOM,)),
        f"prior after {AUDITED} rows were audited: error, coverage, width": (
            audited_prior, (RANDOM, FAVORED),
        ),
        f"precision after {AUDITED} rows were audited: error, coverage, width": (
            audited_precision, (RANDOM, FAVORED),
        ),
        f"share of positives in two groups, {AUDITED} rows audited, mean absolute error": (
            audited_groups, (RANDOM, FAVORED),
        ),
    },
    "nannyml": {"net benefit, mean absolute error": (net_benefit, (RANDOM, NOISY))},
}  # fmt: skip
