"""How labels came about: estimators against simulated truth, written to benchmarks/LABELING.md.

PUEVAL_DATA=<folder of the data sets> python -m benchmarks.labeling [replications]
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one process per core

import sys
import warnings
from functools import lru_cache
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import scipy.stats
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

from pueval import AssumptionWarning, evaluate, labeling

PAGE = Path(__file__).with_name("LABELING.md")
WINDOW = 200  # days
DELAYS = {
    "gamma, mean 60 days": scipy.stats.gamma(2, scale=30),
    "lognormal, median 30 days": scipy.stats.lognorm(0.8, scale=30),
    "exponential, mean 100 days": scipy.stats.expon(scale=100),
}
TWO_SOURCES = [
    # positives, strata, probabilities of being found
    *((n, 1, *p) for n in (50, 200, 2000) for p in ((0.3, 0.3), (0.5, 0.2), (0.8, 0.6))),
    *((n, 5, *p) for n in (500, 2000) for p in ((0.3, 0.3), (0.5, 0.2), (0.8, 0.6))),
    # Not used to choose the intervals.
    *((n, 1, *p) for n in (120, 700) for p in ((0.4, 0.4), (0.6, 0.15))),
    *((1500, 8, *p) for p in ((0.4, 0.4), (0.6, 0.15))),
    # Sources that agree on almost all positives.
    *((n, 1, *p) for n in (200, 2000) for p in ((0.95, 0.95), (0.99, 0.9))),
]
DATA = ("bank", "concrete", "landsat", "pageblock", "spambase", "wine")
SEPARABLE = ("mushroom", "pendigit", "shuttle")
MOST_ROWS, LABEL_FREQUENCY, CHECKED, DRAWS = 4000, 0.3, 500, 199


# ------------------------------------------------------------------ late labels


def delay_replication(job):
    name, n, days, drift, seed = job
    rng = np.random.default_rng([1, seed, n, days])
    law = DELAYS[name]
    age = rng.integers(1, WINDOW + 1, n).astype(float) if days else WINDOW * rng.random(n)
    delay = law.rvs(n, random_state=rng) * np.exp(drift * (age / WINDOW - 0.5))
    delay = np.ceil(delay) if days else delay
    event = WINDOW - age
    label = np.where(delay <= age, event + delay, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        result = labeling.from_delay(event, label, as_of=WINDOW)
    inside = []
    for share in (0.25, 0.5, 0.75):
        at = law.ppf(share * law.cdf(result.horizon))
        at = np.floor(at) if days else at
        _, low, high = result.reported_within(at)
        inside.append(low <= law.cdf(at) / law.cdf(result.horizon) <= high)
    positive = result.usable & (delay <= result.horizon)
    truth = 1 - result.n_labeled / positive.sum()
    low, high = result.unreported_interval
    return *inside, low <= truth <= high, result.unreported - truth, result.trend_pvalue < 0.05


def delay_table(pool, replications):
    head = (
        "| delay | times | positives | F, first quarter | median | third quarter | "
        "not yet reported | bias | changing: p < .05 | constant: p < .05 |"
    )
    lines = [head, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for name in DELAYS:
        for n, days in ((100, False), (100, True), (500, False), (500, True), (5000, True)):
            jobs = [(name, n, days, 0.0, seed) for seed in range(replications)]
            values = np.mean(pool.map(delay_replication, jobs, chunksize=8), axis=0)
            jobs = [(name, n, days, 1.0, seed) for seed in range(replications // 2)]
            power = np.mean(pool.map(delay_replication, jobs, chunksize=8), axis=0)[-1]
            cells = " | ".join(f"{value:.3f}" for value in values[:4])
            lines.append(
                f"| {name} | {'days' if days else 'exact'} | {n:,} | {cells} | {values[4]:+.3f} | "
                f"{power:.2f} | {values[5]:.3f} |"
            )
            print(lines[-1], flush=True)
    return lines


# ------------------------------------------------------------------ two sources


def sources_replication(job):
    n, strata, p_a, p_b, seed = job
    rng = np.random.default_rng([2, seed, n, strata])
    rows = 10 * n
    positive = np.arange(rows) < n
    a, b = (positive & (rng.random(rows) < p) for p in (p_a, p_b))
    stratum = rng.integers(0, strata, rows)
    result = labeling.from_two_sources(a, b, strata=stratum if strata > 1 else None)
    low, high = result.positives_interval
    first, last = result.label_frequency_interval
    frequency = np.sum(a | b) / n
    return low <= n <= high, first <= frequency <= last, result.positives / n - 1


def sources_table(pool, replications):
    lines = [
        "| positives | strata | found by the first | by the second | coverage | bias |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for case in TWO_SOURCES:
        jobs = [(*case, seed) for seed in range(2 * replications)]
        values = np.mean(pool.map(sources_replication, jobs, chunksize=16), axis=0)
        n, strata, p_a, p_b = case
        lines.append(f"| {n:,} | {strata} | {p_a} | {p_b} | {values[0]:.3f} | {values[2]:+.3f} |")
        print(lines[-1], flush=True)
    return lines


# ------------------------------------------------------------------ random labels


@lru_cache
def data_of(name):
    """Return features, classes, and probabilities of the class by a boosted model."""
    table = pq.read_table(Path(os.environ["PUEVAL_DATA"]) / f"{name}.parquet")
    truth = table["y"].to_numpy().astype(bool)
    columns = [table[c].to_numpy() for c in table.column_names if c != "y"]
    X = np.column_stack(columns).astype(float)
    rows = np.random.default_rng(0).permutation(truth.size)[:MOST_ROWS]
    X, truth = X[rows], truth[rows]
    X = X[:, X.std(axis=0) > 0]
    model = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.05, random_state=0)
    probability = cross_val_predict(model, X, truth, method="predict_proba", cv=3)[:, 1]
    return X, truth, probability


def propensities(X, rng, *, biased):
    """Return random propensities, or logistic ones in the ranks of a random feature."""
    if not biased:
        return np.full(len(X), LABEL_FREQUENCY)
    feature = X[:, rng.integers(X.shape[1])]
    rank = (scipy.stats.rankdata(feature) - 0.5) / feature.size
    return expit(-1 + 4 * (rank - 0.5) * rng.choice([-1, 1]))


def check_rows(truth, labeled, rng):
    unlabeled = np.flatnonzero(~labeled)
    chosen = rng.choice(unlabeled, min(CHECKED, unlabeled.size // 2), replace=False)
    audited = np.full(truth.size, np.nan)
    audited[chosen] = truth[chosen]
    return audited


def random_replication(job):
    """Return the p-value of a test."""
    name, method, biased, seed = job
    rng = np.random.default_rng([3, seed, biased])
    X, truth, probability = data_of(name)
    drawn = rng.random(truth.size) < propensities(X, rng, biased=biased)
    options = {"n_draws": DRAWS, "seed": seed}
    if method == "audited":
        labeled = truth & drawn
        options["audited"] = check_rows(truth, labeled, rng)
        return labeling.test_random(X, labeled, **options).pvalue
    if method == "score":  # classes are drawn, so that the score says all about them
        labeled = (rng.random(truth.size) < probability) & drawn
        return labeling.test_random(X, labeled, score=probability, **options).pvalue
    if method == "model":  # real classes: the score says less than all
        return labeling.test_random(X, truth & drawn, score=probability, **options).pvalue
    # Separable classes: a classifier of labels, trained on half of the rows, finds positives in
    # the other half; as many as half of those that there are.
    labeled, order = truth & drawn, rng.permutation(truth.size)
    train, test = np.array_split(order, 2)
    model = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    score = model.fit(X[train], labeled[train]).predict_proba(X[test])[:, 1]
    number = int(labeled[train].sum() / LABEL_FREQUENCY / 2)
    top = test[np.argsort(-score)[:number]]
    options["audited"] = np.ones(top.size)
    if min(labeled[top].sum(), (~labeled[top]).sum()) < 10:  # refused
        return 1.0
    return labeling.test_random(X[top], labeled[top], **options).pvalue


def rejections(pool, name, method, biased, replications):
    jobs = [(name, method, biased, seed) for seed in range(replications)]
    return np.mean(np.array(pool.map(random_replication, jobs, chunksize=4)) <= 0.05)


def random_table(pool, replications):
    head = (
        "| data | rows | features | audit: random | biased | score: random | biased "
        "| boosted score: random |"
    )
    lines = [head, "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for name in DATA:
        X, _, _ = data_of(name)
        cells = [
            f"{rejections(pool, name, method, biased, number):.3f}"
            for method, biased, number in (
                ("audited", False, 2 * replications),
                ("audited", True, replications // 2),
                ("score", False, 2 * replications),
                ("score", True, replications // 2),
                ("model", False, replications // 2),
            )
        ]
        lines.append(f"| {name} | {X.shape[0]:,} | {X.shape[1]} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def separable_table(pool, replications):
    lines = ["| data | random | biased |", "|---|---:|---:|"]
    for name in SEPARABLE:
        cells = [
            f"{rejections(pool, name, 'top', biased, max(replications // 5, 2)):.2f}"
            for biased in (False, True)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


# ------------------------------------------------------------------ propensities


def propensity_replication(job):
    given, n, seed = job
    rng = np.random.default_rng([4, seed, n])
    drivers = rng.normal(size=(n, 2))
    classes = rng.normal(size=(n, 2)) + 0.4 * drivers
    positive = rng.random(n) < expit(-1 + 1.5 * classes[:, 0] - classes[:, 1])
    labeled = positive & (rng.random(n) < expit(-0.8 + 1.2 * drivers[:, 0]))
    X = np.hstack([drivers, classes])
    evidence = [2, 3] if given == "class_features" else check_rows(positive, labeled, rng)
    model = labeling.propensity_model(X, labeled, labeling_features=[0, 1], **{given: evidence})
    low, high = model.label_frequency_interval
    frequency = labeled.sum() / positive.sum()
    score = classes[:, 0] - 0.7 * classes[:, 1] + 0.5 * drivers[:, 0]
    truth = roc_auc_score(positive, score)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        known = evaluate(labeled, score, prevalence=positive.mean(), level=None)
        corrected = evaluate(labeled, score, propensity=model.propensity, level=None)
    return (
        low <= frequency <= high,
        model.label_frequency - frequency,
        (known["roc_auc"].value - truth) ** 2,
        (corrected["roc_auc"].value - truth) ** 2,
    )


def propensity_table(pool, replications):
    head = (
        "| known | rows | coverage of the label frequency | bias | error of the AUC, as if random "
        "| with propensities |"
    )
    lines = [head, "|---|---:|---:|---:|---:|---:|"]
    for given, title in (("class_features", "class features"), ("audited", "500 checked rows")):
        for n in (2000, 10_000):
            jobs = [(given, n, seed) for seed in range(replications // 2)]
            values = np.mean(pool.map(propensity_replication, jobs, chunksize=4), axis=0)
            errors = np.sqrt(values[2:])
            lines.append(
                f"| {title} | {n:,} | {values[0]:.3f} | {values[1]:+.3f} | {errors[0]:.3f} | "
                f"{errors[1]:.3f} |"
            )
            print(lines[-1], flush=True)
    return lines


# ------------------------------------------------------------------ page

INTRODUCTION = """# How labels came about

`python -m benchmarks.labeling` writes this page, here with {n:,} replications: so many for delays;
twice as many for two sources and for tests of labels that are random; half as many for biased
labels, changing delays, boosted scores and propensities; a fifth for separable classes. The
standard error of a share of .95 or .05 is {error:.3f} for {n:,} replications. Intervals are 95%
confidence intervals.
"""
DELAY_TEXT = """## Late labels

Positives happen in a window of 200 days, and their labels come with a random delay. Coverage of the
share of positives labeled within a delay, at three quantiles of the delay, and of the share of
positives that are not yet reported, with its mean error. *Changing* delays are e times as long at
one end of the window as at the other; the last columns are how often the test of a trend rejects.
The form of the intervals, and which rows are old enough, were chosen on gamma delays; the other two
distributions were not used for that.
"""
SOURCES_TEXT = """## Two sources

Ten rows for each positive. Coverage of the number of positives (and of the label frequency), and
relative bias. The interval of one stratum is exact given the numbers found by each source. That for
several strata was chosen among four on probabilities as in the first rows; the last ten rows were
not used for that. In the last four, the sources agree on almost all positives.
"""
RANDOM_TEXT = """## Test of random labels

Real features, at most {rows:,} rows of each data set. How often p ≤ .05. *Random*: 30% of the
positives are labeled, at random. *Biased*: the logit of the propensity rises or falls by 4 over the
ranks of one feature, drawn at random. *Audit*: real classes; {checked} unlabeled rows are checked.
*Score*: classes are drawn from the probabilities of a boosted model, so that these scores say all
about the class. *Boosted score*: real classes and the same scores, which now say less than the
features do. The hypothesis is then wrong although labels are random, so that the test may reject
more often: give it features that do not drive the class. With 2,000 replications, two shares above
.06 are closer to .05: .058 for bank with a score (standard error .005), and .052 for pageblock with
an audit.
"""
SEPARABLE_TEXT = """\
Separable classes: a classifier is trained on the labels of half of the rows. In the other half, the
rows with the highest scores, half as many as there are positives, are taken as positive (`audited`
all 1). Fewer than 10 labeled rows among them count as not rejected.
"""
PROPENSITY_TEXT = """## Propensities from features

Two features drive labeling, two others, which go with them, the class. Errors of the AUC are root
mean squared errors, with the true prevalence if labels are taken as random.
"""


def main(replications):
    with Pool() as pool:
        parts = [
            INTRODUCTION.format(n=replications, error=np.sqrt(0.95 * 0.05 / replications)),
            DELAY_TEXT,
            *delay_table(pool, replications),
            "",
            SOURCES_TEXT,
            *sources_table(pool, replications),
            "",
            RANDOM_TEXT.format(rows=MOST_ROWS, checked=CHECKED),
            *random_table(pool, replications),
            "",
            SEPARABLE_TEXT,
            *separable_table(pool, replications),
            "",
            PROPENSITY_TEXT,
            *propensity_table(pool, replications),
        ]
    PAGE.write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
