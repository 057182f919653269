"""Coverage of intervals for rows that belong together.

Scores have a random effect of the cluster; the class is that of the cluster, or of each row. Normal
scores served to develop the intervals, gamma scores to check them.
"""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import gamma, norm

from pueval import compare, evaluate, evaluate_by, priors

PREVALENCE, LABELED, SEPARATION = 0.4, 0.5, 1.5
# Fewer intervals than this say nothing about coverage.
LEAST_VALUES = 20
THRESHOLD = {"normal": 1.0, "gamma": 3.0}
# Gamma scores: their shape, and the scale of positives in the first and in the second model.
SHAPE, SCALES = 2.0, (2.5, 2.0)
PRIOR = PREVALENCE * (1 - LABELED) / (1 - PREVALENCE * LABELED)
# Ends the name of scores whose target are the unlabeled rows; all rows otherwise.
UNLABELED = ", target unlabeled"
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
    "width of F1, relative",
    "replications",
)
CLUSTER_TEXT = f"""Scores have a random effect of the cluster, which has the given share of their
variance (*correlation*). They are normal or have gamma distributions with a larger scale for
positives; normal scores served to develop the intervals, gamma scores to check them. *Target
unlabeled*: only the unlabeled rows are evaluated, otherwise all rows. *Label*: the class is
constant within a cluster, or varies. The number of rows of a cluster is Poisson plus 1; *rows* is
its mean. Prevalence {PREVALENCE:g}, half of the positives are labeled, the prior is known. The
AUC's coverage without `cluster=` is in the second column. Differences are those of two models, the
second with noise of its own, half of it shared within clusters. Groups are two random halves of the
clusters. *Width, relative* is the mean width of an interval divided by that without `cluster=`.
Samples with fewer than 10 clusters of labeled rows have no intervals and are left out; the last
column is the number of samples that remain."""
CLUSTER_REASONS = """
Where coverage differs from 95%:

- **AUC of 500 clusters of independent rows**, .91: it is the same without `cluster=`, and less than
  two standard errors below .95, with 80 samples.
- **Groups of 50 clusters of 2 rows, and of 20 clusters of 10 rows**: hardly any group, or one in
  five, has 10 clusters with labeled rows. So there is no number for the former, and fewer samples
  for the latter.
- **Average precision with 20 clusters of 10 rows, or with *target unlabeled***: with few labeled or
  unlabeled rows at the top, its intervals are wide enough for samples that look perfect by chance,
  also without clusters.
- **Classes constant within clusters**: the degrees of freedom count only clusters with labeled
  rows, two in five, although the others carry information, too. Intervals are rather wide.
- **Differences of average precisions and best F1s, gamma scores, 20 clusters of 10 rows**, .92:
  these differences are skewed, and 40 labeled rows in 17 clusters do not show it. The same holds
  for best F1s of 50 clusters, of which 20 have labeled rows: .91.
- **Independent rows with a needless `cluster=`** (correlation 0): intervals are a few percent wider
  with 20 clusters, and hardly wider with 200 or more.

The standard error of a coverage of .95 is 0.011 with 400 samples, and 0.024 with 80."""
# Times as many replications of settings with few clusters, which are the hardest.
FEW_CLUSTERS, MORE_REPLICATIONS = 50, 5


@dataclass(frozen=True)
class ClusterSetting:
    clusters: int
    rows: int
    correlation: float
    # "varying" or "constant" within clusters
    label: str
    # "normal" or "gamma", and UNLABELED if the unlabeled rows are the target
    scores: str = "normal"

    @property
    def distribution(self):
        return self.scores.removesuffix(UNLABELED)

    @property
    def target(self):
        return "unlabeled" if self.scores.endswith(UNLABELED) else "population"


CLUSTER_KINDS = [(label, scores) for label in ("varying", "constant") for scores in THRESHOLD]
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
    ClusterSetting(20, 50, 0.8, "varying", "gamma"),
    ClusterSetting(20, 10, 0.5, "varying", "gamma"),
    ClusterSetting(50, 50, 0.8, "constant", "gamma"),
    ClusterSetting(20, 10, 0.5, "varying", "normal" + UNLABELED),
    ClusterSetting(100, 10, 0.2, "varying", "normal" + UNLABELED),
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
    effect = between * rng.normal(size=setting.clusters)[cluster] + within * rng.normal(size=n)
    shared, own = rng.normal(size=setting.clusters)[cluster], rng.normal(size=n)
    noisy = effect + SECOND_NOISE * (shared + own) / np.sqrt(2)
    if setting.distribution == "normal":
        score, second = effect + SEPARATION * positive, noisy + SEPARATION * positive
    else:
        noisy = noisy / np.sqrt(1 + SECOND_NOISE**2)
        score, second = (
            np.where(positive, scale, 1.0) * gamma.ppf(norm.cdf(latent), SHAPE)
            for latent, scale in zip((effect, noisy), SCALES, strict=True)
        )
    return positive & (rng.random(n) < LABELED), score, second, cluster


@cache
def true_values(scores, model, prevalence=PREVALENCE):
    """AUC, average precision, F1 and best F1 of the first or the second model."""
    if scores == "normal":
        scale = np.sqrt(1 + (0.0, SECOND_NOISE)[model] ** 2)
        tau = np.linspace(-8, 10, 20_001)
        tpr, fpr = norm.sf((tau - SEPARATION) / scale), norm.sf(tau / scale)
    else:
        tau = np.linspace(0, 60, 60_001)
        tpr, fpr = gamma.sf(tau / SCALES[model], SHAPE), gamma.sf(tau, SHAPE)
    predicted = prevalence * tpr + (1 - prevalence) * fpr
    precision = prevalence * tpr / predicted
    f1 = 2 * prevalence * tpr / (prevalence + predicted)
    return {
        "roc_auc": np.sum(-np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2),
        "average_precision": np.sum(-np.diff(tpr) * (precision[1:] + precision[:-1]) / 2),
        "f1": np.interp(THRESHOLD[scores], tau, f1),
        "best_f1": f1.max(),
    }


def holds(interval, truth):
    return interval.low <= truth <= interval.high


def measure_clusters(setting, replications, *, seed=0):
    """One number for each of CLUSTER_COLUMNS."""
    if setting.clusters <= FEW_CLUSTERS:
        replications *= MORE_REPLICATIONS
    return summarize([measure_sample(setting, number, seed) for number in range(replications)])


def summarize(samples):
    """One number for each of CLUSTER_COLUMNS, from what was found in samples."""
    samples = [sample for sample in samples if sample]
    means = []
    for name in CLUSTER_COLUMNS[:-1]:
        values = [value for sample in samples for value in sample[name]]
        means.append(np.mean(values) if len(values) >= LEAST_VALUES else np.nan)
    return [*means, len(samples)]


def measure_sample(setting, number, seed=0):
    """Lists of what was found in one sample, by column; nothing without intervals.

    Each sample has random numbers of its own, so samples can be drawn in any order.
    """
    key = [
        seed,
        CLUSTER_KINDS.index((setting.label, setting.distribution)),
        round(100 * setting.correlation),
    ]
    rng = np.random.default_rng([*key, setting.clusters, setting.rows, number])
    y, score, second, cluster = draw_clusters(setting, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _measure_rows(setting, y, score, second, cluster)


def _measure_rows(setting, y, score, second, cluster):
    scores, target = setting.distribution, setting.target
    prevalence = PRIOR if target == "unlabeled" else PREVALENCE
    truth, second_truth = (true_values(scores, model, prevalence) for model in range(2))
    options = {"prior": PRIOR, "threshold": THRESHOLD[scores], "target": target}
    ev = evaluate(y, score, cluster=cluster, **options)
    if ev.resampling is None:
        return {}
    independent = evaluate(y, score, **options)
    plain, auc = independent["roc_auc"], ev["roc_auc"]
    found = {
        "AUC": [holds(auc, truth["roc_auc"])],
        "AUC, no cluster=": [holds(plain, truth["roc_auc"])],
        "AP": [holds(ev["average_precision"], truth["average_precision"])],
        "F1": [holds(ev["f1"], truth["f1"])],
        "best F1": [holds(ev.best("f1"), truth["best_f1"])],
        "width of AUC, relative": relative_widths(auc, plain),
        "width of F1, relative": relative_widths(ev["f1"], independent["f1"]),
    }
    models = compare(y, {"a": score, "b": second}, cluster=cluster, **options)
    for column, name in (
        ("difference of AUCs", "roc_auc"),
        ("difference of APs", "average_precision"),
        ("difference of F1s", "f1"),
        ("difference of best F1s", "best_f1"),
    ):
        [difference] = models.differences(name)
        found[column] = [holds(difference, truth[name] - second_truth[name])]
    groups = evaluate_by(y, score, cluster % 2, cluster=cluster, **options)
    for column, name in (("AUC of groups", "roc_auc"), ("F1 of groups", "f1")):
        estimates = groups[name]
        found[column] = [
            low <= truth[name] <= high
            for low, high in zip(estimates.low, estimates.high, strict=True)
            if np.isfinite(low)
        ]
    return found


def relative_widths(interval, other):
    """Return the relative width; none if the other interval is a single point, 1, by clipping."""
    width = other.high - other.low
    return [(interval.high - interval.low) / width] if width else []


# ---------------------------------------------------------------------- estimated priors

CLUSTER_PRIOR_COLUMNS = (
    "prior",
    "prior by tilt",
    "prior by tilt, no cluster=",
    "AUC",
    "AP",
    "F1",
    "best F1",
)
CLUSTER_PRIOR_TEXT = """The same populations, with an estimated prior: coverage of the interval of
the prior, and of the intervals of measures, which include its uncertainty. The model of *tilt* is
true for normal scores; without `prior by`, the prior is that of all methods together."""
CLUSTER_PRIOR_REASONS = """
Where coverage differs from 95%:

- **All methods together** (the default): the interval of the prior is valid for all shapes of score
  distributions, so it is wider than these populations need, and so are intervals of measures.
- **Tilt** also has wide intervals: the design effect of the prior is at least 1, and t quantiles
  for few clusters widen intervals further.

The standard error of a coverage of .95 is 0.020."""
CLUSTER_PRIOR_GRID = [
    ClusterSetting(20, 50, 0.5, "varying"),
    ClusterSetting(50, 50, 0.5, "constant"),
    ClusterSetting(100, 10, 0.8, "varying"),
]


def measure_cluster_priors(setting, replications, *, seed=0):
    """One number for each of CLUSTER_PRIOR_COLUMNS."""
    rng = np.random.default_rng([seed, setting.clusters, setting.rows, len(setting.label)])
    truth = true_values(setting.scores, 0)
    found = {name: [] for name in CLUSTER_PRIOR_COLUMNS}

    def add(name, interval, value):
        found[name].append(interval[0] <= value <= interval[1])

    for _ in range(replications):
        y, score, _, cluster = draw_clusters(setting, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimate = priors.estimate(y, score, cluster=cluster)
            if estimate.prior_interval is None:
                continue
            tilt = priors.estimate(y, score, method="tilt", cluster=cluster)
            plain = priors.estimate(y, score, method="tilt")
            ev = evaluate(
                y, score, prior=estimate, threshold=THRESHOLD[setting.scores], cluster=cluster
            )
        add("prior", estimate.prior_interval, PRIOR)
        add("prior by tilt", tilt.prior_interval, PRIOR)
        add("prior by tilt, no cluster=", plain.prior_interval, PRIOR)
        for column, name in (("AUC", "roc_auc"), ("AP", "average_precision"), ("F1", "f1")):
            add(column, (ev[name].low, ev[name].high), truth[name])
        best = ev.best("f1")
        add("best F1", (best.low, best.high), truth["best_f1"])
    return [np.mean(found[name]) for name in CLUSTER_PRIOR_COLUMNS]
