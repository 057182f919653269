"""Single functions of other libraries beside pueval's, on rows with known truth.

Each check returns, for one draw of rows, a value per function: an error, whether a test raised an
alarm, or an error with whether the interval holds the truth and its width.
"""

import numpy as np
from scipy.stats import norm

from benchmarks.peers.scenarios import LABELED, POPULATION, PREVALENCE, SEPARATION, THRESHOLD

AUDITED = 200  # unlabeled rows whose class is checked
KERNEL_ROWS = 200  # its time grows with the third power


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

    cut = SEPARATION / 2 - np.log(PREVALENCE / (1 - PREVALENCE)) / SEPARATION
    truth = POPULATION.measure("specificity", threshold=cut)
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
    from truescore import rogan_gladen_estimate

    from pueval import Counts, LabelErrors

    draws = rng.random(rows.positive.size)
    label = np.where(rows.positive, draws < 0.6, draws < 0.05).astype(int)
    chosen = rng.choice(label.size, AUDITED, replace=False)
    gold = rows.positive[chosen].astype(int)
    missed, wrong = 1 - label[chosen][gold == 1].mean(), label[chosen][gold == 0].mean()
    counts = Counts.from_arrays(label, rows.score)
    ours = LabelErrors(missed, wrong).mixture(counts).prevalence(counts)
    return {
        "pueval, `LabelErrors`": abs(ours - rows.prevalence),
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
# Each check with the scenarios in which it is run.
CHECKS = {
    "labels called not random, share of draws": (random_labels, (RANDOM, FAVORED)),
    "specificity, mean absolute error": (specificity, (RANDOM, NOISY)),
    "ROC curve, mean absolute error": (roc_curve, (RANDOM, NOISY)),
    "log loss of the unlabeled rows, mean absolute error": (log_loss, (RANDOM, NOISY)),
    "prior, mean absolute error": (estimated_prior, (RANDOM, FAVORED)),
    f"prevalence if both labels are wrong, {AUDITED} rows audited, mean absolute error": (
        both_labels_wrong, (RANDOM,),
    ),
    "features called shifted, share of draws": (shifted_features, (RANDOM,)),
    f"prior after {AUDITED} rows were audited: error, coverage, width": (
        audited_prior, (RANDOM, FAVORED),
    ),
}  # fmt: skip
