"""Size and power of paired tests of equal models, and coverage of paired intervals.

    python benchmarks/comparison.py [replications] [seed]

Writes benchmarks/COMPARISON.md. Both models score the same rows: scores are N(separation, 1) for
positives and N(0, 1) for negatives, correlated between the models. Each replication draws new rows.
Prior and purity are known. Thresholds are given, except in the last table, where each model uses
its own. Power and coverage use a quarter of the replications, the last table a tenth.
"""

import sys
import warnings
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from pueval import AssumptionWarning, compare
from pueval.core.measures import MEASURES
from pueval.core.rates import Rates

# Prior, purity, labeled rows, unlabeled rows, correlation, separation. First half of all
# combinations of two values each, balanced, with an AUC of .86; then good models, with an AUC of
# .993 or more, and few labels.
SETTINGS = [
    (0.1, 1.0, 100, 500, 0.8, 1.5),
    (0.1, 1.0, 500, 2500, 0.0, 1.5),
    (0.1, 0.9, 100, 500, 0.0, 1.5),
    (0.1, 0.9, 500, 2500, 0.8, 1.5),
    (0.4, 1.0, 100, 500, 0.0, 1.5),
    (0.4, 1.0, 500, 2500, 0.8, 1.5),
    (0.4, 0.9, 100, 500, 0.8, 1.5),
    (0.4, 0.9, 500, 2500, 0.0, 1.5),
    (0.1, 1.0, 75, 5000, 0.0, 3.5),
    (0.1, 1.0, 75, 5000, 0.8, 3.5),
    (0.3, 0.9, 75, 1500, 0.0, 3.5),
    (0.1, 1.0, 75, 5000, 0.0, 4.0),
]
COLUMNS = ("prior", "purity", "labeled", "unlabeled", "correlation", "separation")
AT = ("f1", "accuracy", "precision", "matthews_corrcoef")
OWN = (*AT, "recall")
BEST = ("best_f1", "best_accuracy", "best_balanced_accuracy", "best_matthews_corrcoef")
NAMES = ("roc_auc", "average_precision", *AT, *BEST)
LEVELS = (0.05, 0.01, 0.1)
# Difference of the separations of two models: for coverage, and for a test on these rows that
# finds it in about half of the cases, by labeled rows and correlation.
DIFFERENT = 0.4
POWER = {
    (100, 0.0): 0.5,
    (100, 0.8): 0.22,
    (500, 0.0): 0.22,
    (500, 0.8): 0.1,
    (75, 0.0): 1.0,
    (75, 0.8): 0.5,
}


def truth(prior, purity, n_labeled, n_unlabeled, separation, threshold):
    tau = np.linspace(-6, 6 + separation, 20_001)
    tpr, fpr = norm.sf(tau, separation), norm.sf(tau)
    prevalence = (purity * n_labeled + prior * n_unlabeled) / (n_labeled + n_unlabeled)
    predicted = prevalence * tpr + (1 - prevalence) * fpr
    rates = Rates(tau, tpr, fpr, predicted, prevalence, 1.0)
    precision = prevalence * tpr / predicted
    values = {
        "roc_auc": norm.cdf(separation / np.sqrt(2)),
        "average_precision": np.sum(-np.diff(tpr) * (precision[1:] + precision[:-1]) / 2),
    }
    for name in OWN:
        values[name] = float(np.interp(threshold, tau, MEASURES[name](rates)))
    for name in BEST:
        values[name] = float(np.nanmax(MEASURES[name.removeprefix("best_")](rates)))
    return values


def draw(rng, setting, separations):
    prior, purity, n_labeled, n_unlabeled, correlation, _ = setting
    # The number of labeled rows is random, with this mean.
    size = n_labeled + n_unlabeled
    y = (rng.random(size) < n_labeled / size).astype(int)
    positive = rng.random(y.size) < np.where(y == 1, purity, prior)
    shared = rng.normal(size=y.size) * np.sqrt(correlation)
    return y, {
        name: separation * positive + shared + rng.normal(size=y.size) * np.sqrt(1 - correlation)
        for name, separation in zip("ab", separations, strict=True)
    }


def compare_draws(setting, separations, replications, seed, thresholds=None):
    """Yield comparisons of two models on new rows."""
    entropy = [seed, *(int(1000 * x) for x in (*setting, *separations))]
    rng = np.random.default_rng(entropy)
    for _ in range(replications):
        y, scores = draw(rng, setting, separations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            yield compare(y, scores, prior=setting[0], purity=setting[1], threshold=thresholds)


def thresholds_of(separations):
    return {name: s / 2 + 0.3 for name, s in zip("ab", separations, strict=True)}


def unpaired(comparison):
    """Return the p-value of a test that assumes independent AUCs."""
    first, second = (ev["roc_auc"] for ev in comparison.evaluations.values())
    error = np.hypot(first.standard_error, second.standard_error)
    return 2 * ndtr(-abs(comparison.differences("roc_auc")[0].value) / error)


def differences(setting, separations, replications, seed):
    """Return value, low, high and p-value by replication and measure, and unpaired p-values."""
    found, apart = [], []
    for each in compare_draws(setting, separations, replications, seed, thresholds_of(separations)):
        pairs = [each.differences(name)[0] for name in NAMES]
        found.append([(pair.value, pair.low, pair.high, pair.pvalue) for pair in pairs])
        apart.append(unpaired(each))
    return np.array(found), np.array(apart)


def sizes(setting, replications, seed):
    """Return rejection rates of equal models at each level, and standard deviations."""
    found, apart = differences(setting, (setting[-1],) * 2, replications, seed)
    rejected = [[*np.mean(found[:, :, 3] < level, axis=0)] for level in LEVELS]
    rejected[0].append(np.mean(apart < LEVELS[0]))
    return rejected, found[:, :, 0].std(axis=0)


def powers(setting, replications, seed, spread):
    """Return how often a difference is found, and how often with known standard errors."""
    gap = POWER[setting[2], setting[4]]
    separations = (setting[-1] + gap / 2, setting[-1] - gap / 2)
    found, apart = differences(setting, separations, replications, seed)
    rejected = np.mean(found[:, :, 3] < 0.05, axis=0)
    known = np.mean(np.abs(found[:, :, 0]) > norm.ppf(0.975) * spread, axis=0)
    return gap, np.mean(apart < 0.05), rejected, known


def coverage(setting, replications, seed):
    """Return how often intervals contain the difference of unequal models."""
    separations = (setting[-1] + DIFFERENT / 2, setting[-1] - DIFFERENT / 2)
    true = [
        truth(*setting[:4], s, t)
        for s, t in zip(separations, thresholds_of(separations).values(), strict=True)
    ]
    difference = np.array([true[0][name] - true[1][name] for name in NAMES])
    found, _ = differences(setting, separations, replications, seed)
    return np.mean((found[:, :, 1] <= difference) & (difference <= found[:, :, 2]), axis=0)


def own_thresholds(setting, separations, replications, seed):
    """Return coverage of the difference at the chosen thresholds, and the share of p < .05."""
    held, rejected = dict.fromkeys(OWN, 0), dict.fromkeys(OWN, 0)
    for each in compare_draws(setting, separations, replications, seed):
        chosen = [ev.threshold for ev in each.evaluations.values()]
        first, second = (
            truth(*setting[:4], s, t) for s, t in zip(separations, chosen, strict=True)
        )
        for name in OWN:
            [pair] = each.differences(name)
            held[name] += pair.low <= first[name] - second[name] <= pair.high
            rejected[name] += pair.pvalue < 0.05
    return [count / replications for count in (*held.values(), *rejected.values())]


def rows_of(setting, replications, seed):
    """Return the rows of all tables for one setting."""
    few, fewer = max(replications // 4, 1), max(replications // 10, 1)
    rejected, spread = sizes(setting, replications, seed)
    gap, apart, power, known = powers(setting, few, seed, spread)
    cells = [f"{a:.2f} of {b:.2f}" for a, b in zip(power, known, strict=True)]
    different = (setting[-1] + DIFFERENT / 2, setting[-1] - DIFFERENT / 2)
    own = {
        "equal": own_thresholds(setting, (setting[-1],) * 2, fewer, seed),
        "different": own_thresholds(setting, different, fewer, seed),
    }
    return {
        "size": [[f"{share:.3f}" for share in rejected[0]]],
        "levels": [
            [f"{low:.3f}, {high:.3f}" for low, high in zip(*rejected[1:], strict=True)],
        ],
        "power": [[f"{gap:g}", *cells, f"{apart:.2f}"]],
        "coverage": [[f"{share:.3f}" for share in coverage(setting, few, seed)]],
        "own": [[kind, *(f"{share:.3f}" for share in shares)] for kind, shares in own.items()],
    }


def table(header, settings, rows):
    lines = [f"| {' | '.join((*COLUMNS, *header))} |", "|---" * (len(COLUMNS) + len(header)) + "|"]
    for setting, of_setting in zip(settings, rows, strict=True):
        shown = " | ".join(f"{value:g}" for value in setting)
        lines += [f"| {shown} | {' | '.join(row)} |" for row in of_setting]
    return "\n".join(lines)


def page(replications, seed, settings, rows):
    """Return the page, from the rows of each setting."""
    few, fewer = max(replications // 4, 1), max(replications // 10, 1)
    tables = {name: [of_setting[name] for of_setting in rows] for name in rows[0]}
    kinds_of_own = [f"{name}: {what}" for what in ("held", "p < .05") for name in OWN]
    return f"""# Paired tests and intervals

By `benchmarks/comparison.py {replications} {seed}`.

## Rejections of equal models at 5%

{replications} replications per row: a test of exact size is between
{0.05 - 1.96 * np.sqrt(0.05 * 0.95 / replications):.3f} and
{0.05 + 1.96 * np.sqrt(0.05 * 0.95 / replications):.3f} in 95 of 100 cases. Last column: a test of
the AUC that assumes different rows. Where models hardly ever err (separations of 3.5 and more),
best values come from few errors, with short tails; their tests use quantiles of exchanges.

{table((*NAMES, "roc_auc, unpaired"), settings, tables["size"])}

## Rejections of equal models at 1% and at 10%

The same replications. Intervals at levels of 99% and 90% miss 0 as often.

{table(NAMES, settings, tables["levels"])}

## Power at 5%

Separations differ by the given gap; {few} replications per row. "0.49 of 0.51": the difference is
found in 49% of the samples, and in 51% if it is divided by the standard deviation of differences of
equal models over all samples above, which no test on one sample knows. Near 1 a test can find more
than that: average precisions vary the less the higher they are.

{table(("gap", *NAMES, "roc_auc, unpaired"), settings, tables["power"])}

## Coverage of 95% intervals of differences

Separations differ by {DIFFERENT}; {few} replications per row. With 75 labeled rows and separations
of 3.5 and more, samples in which both models look perfect are frequent, and intervals of
differences of average precision are too short: there, trust the test more than the interval.

{table(NAMES, settings, tables["coverage"])}

## Each model at its own threshold

The best for these rows; {fewer} replications per row. Coverage of the true difference at these
thresholds, and share of significant differences. The true difference is rarely zero, even between
equal models: thresholds differ by chance, and so does recall. With 75 labeled rows and nearly
perfect models, intervals are too short.

{table(("models", *kinds_of_own), settings, tables["own"])}
"""


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    rows = []
    with Pool() as pool:
        work = partial(rows_of, replications=replications, seed=seed)
        for setting, of_setting in zip(SETTINGS, pool.imap(work, SETTINGS), strict=True):
            rows.append(of_setting)
            print(setting, *of_setting.values(), sep="\n", flush=True)
    text = page(replications, seed, SETTINGS, rows)
    Path(__file__).with_name("COMPARISON.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
