"""Coverage of intervals for rows that belong together.

Scores are normal with a random effect of the cluster; the class is that of the cluster, or of each
row.
"""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import norm

from pueval import compare, evaluate, evaluate_by

PREVALENCE, LABELED, SEPARATION, THRESHOLD = 0.4, 0.5, 1.5, 1.0
PRIOR = PREVALENCE * (1 - LABELED) / (1 - PREVALENCE * LABELED)
# Standard deviation of what the second model adds to the scores of the first.
SECOND_NOISE = 0.7

CLUSTER_COLUMNS = (
    "AUC",
    "AUC, no cluster=",
    "AP",
    "F1",
    "best F1",
    "difference of AUCs",
    "difference of APs",
    "difference of F1s",
    "difference of best F1s",
    "AUC of groups",
    "F1 of groups",
    "width of AUC, relative",
)
CLUSTER_TEXT = f"""Normal scores with a random effect of the cluster, which has the given share of
their variance (*correlation*). *Class*: constant within a cluster, or varying. The number of rows
of a cluster is Poisson plus 1; *rows* is its mean. Prevalence {PREVALENCE:g}, half of the
positives are labeled, the prior is known. The AUC's coverage without `cluster=` is in the second
column. Differences are those of two models, the second with more noise, half of it shared within
clusters. Groups are two random halves of the clusters. The last column is the mean width of the
AUC's interval divided by that without `cluster=`. Samples with fewer than 10 clusters of labeled
rows have no intervals and are left out."""
CLUSTER_REASONS = """
Where coverage differs from 95%:

- **20 clusters of 50 rows with correlation .8**: so few clusters hardly show how much they differ,
  and the AUC of a group rests on half of them.
- **50 clusters of 2 rows**: hardly any group has 10 clusters with labeled rows, so its two columns
  rest on a few samples.
- **Average precision and best F1 with few clusters** are covered in more than 95%: t quantiles make
  up for the unknown variance, and their intervals are wide enough for samples that look perfect by
  chance.

The standard error of a coverage of .95 is 0.020."""


@dataclass(frozen=True)
class ClusterSetting:
    clusters: int
    rows: int
    correlation: float
    # "varying" or "constant" within clusters
    label: str


CLUSTER_GRID = [
    ClusterSetting(20, 10, 0.0, "varying"),
    ClusterSetting(20, 10, 0.5, "varying"),
    ClusterSetting(20, 50, 0.8, "varying"),
    ClusterSetting(50, 2, 0.5, "constant"),
    ClusterSetting(50, 10, 0.5, "constant"),
    ClusterSetting(50, 50, 0.8, "constant"),
    ClusterSetting(100, 10, 0.2, "varying"),
    ClusterSetting(100, 10, 0.5, "constant"),
    ClusterSetting(100, 50, 0.5, "constant"),
    ClusterSetting(200, 4, 0.0, "varying"),
    ClusterSetting(200, 10, 0.8, "varying"),
    ClusterSetting(200, 10, 0.2, "constant"),
    ClusterSetting(500, 2, 0.8, "constant"),
    ClusterSetting(500, 10, 0.0, "varying"),
    ClusterSetting(500, 10, 0.5, "constant"),
]


def draw_clusters(setting, rng):
    """Labels, scores of two models, and clusters."""
    size = rng.poisson(setting.rows - 1, setting.clusters) + 1
    cluster = np.repeat(np.arange(setting.clusters), size)
    n = cluster.size
    if setting.label == "constant":
        positive = (rng.random(setting.clusters) < PREVALENCE)[cluster]
    else:
        positive = rng.random(n) < PREVALENCE
    within, between = np.sqrt(1 - setting.correlation), np.sqrt(setting.correlation)
    score = between * rng.normal(size=setting.clusters)[cluster] + within * rng.normal(size=n)
    score += SEPARATION * positive
    shared, own = rng.normal(size=setting.clusters)[cluster], rng.normal(size=n)
    second = score + SECOND_NOISE * (shared + own) / np.sqrt(2)
    return positive & (rng.random(n) < LABELED), score, second, cluster


@cache
def true_values(noise):
    """AUC, average precision, F1 and best F1, for scores with more noise."""
    scale = np.sqrt(1 + noise**2)
    tau = np.linspace(-8, 10, 20_001)
    tpr, fpr = norm.sf((tau - SEPARATION) / scale), norm.sf(tau / scale)
    predicted = PREVALENCE * tpr + (1 - PREVALENCE) * fpr
    precision = PREVALENCE * tpr / predicted
    f1 = 2 * PREVALENCE * tpr / (PREVALENCE + predicted)
    return {
        "roc_auc": norm.cdf(SEPARATION / np.sqrt(2) / scale),
        "average_precision": np.sum(-np.diff(tpr) * (precision[1:] + precision[:-1]) / 2),
        "f1": np.interp(THRESHOLD, tau, f1),
        "best_f1": f1.max(),
    }


def holds(interval, truth):
    return interval.low <= truth <= interval.high


def measure_clusters(setting, replications, *, seed=0):
    """One number for each of CLUSTER_COLUMNS."""
    rng = np.random.default_rng([seed, setting.clusters, setting.rows, len(setting.label)])
    truth, second_truth = true_values(0.0), true_values(SECOND_NOISE)
    found = {name: [] for name in CLUSTER_COLUMNS}
    for _ in range(replications):
        y, score, second, cluster = draw_clusters(setting, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _measure_sample(y, score, second, cluster, truth, second_truth, found)
    return [np.mean(found[name]) if found[name] else np.nan for name in CLUSTER_COLUMNS]


def _measure_sample(y, score, second, cluster, truth, second_truth, found):
    options = {"prior": PRIOR, "threshold": THRESHOLD}
    ev = evaluate(y, score, cluster=cluster, **options)
    if ev.resampling is None:
        return
    plain = evaluate(y, score, **options)["roc_auc"]
    auc = ev["roc_auc"]
    found["AUC"].append(holds(auc, truth["roc_auc"]))
    found["AUC, no cluster="].append(holds(plain, truth["roc_auc"]))
    found["width of AUC, relative"].append((auc.high - auc.low) / (plain.high - plain.low))
    found["AP"].append(holds(ev["average_precision"], truth["average_precision"]))
    found["F1"].append(holds(ev["f1"], truth["f1"]))
    found["best F1"].append(holds(ev.best("f1"), truth["best_f1"]))
    models = compare(y, {"a": score, "b": second}, cluster=cluster, **options)
    for column, name in (
        ("difference of AUCs", "roc_auc"),
        ("difference of APs", "average_precision"),
        ("difference of F1s", "f1"),
        ("difference of best F1s", "best_f1"),
    ):
        [difference] = models.differences(name)
        found[column].append(holds(difference, truth[name] - second_truth[name]))
    groups = evaluate_by(y, score, cluster % 2, cluster=cluster, **options)
    for column, name in (("AUC of groups", "roc_auc"), ("F1 of groups", "f1")):
        estimates = groups[name]
        for low, high in zip(estimates.low, estimates.high, strict=True):
            if np.isfinite(low):
                found[column].append(low <= truth[name] <= high)
