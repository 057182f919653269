"""Rejection rates of paired tests of equal models, and coverage of paired intervals.

    python benchmarks/comparison.py [replications]

Writes benchmarks/COMPARISON.md. Both models score the same rows: scores are N(separation, 1) for
positives and N(0, 1) for negatives, correlated between the models. Each replication draws new rows,
five unlabeled per labeled row. Prior and purity are known. Thresholds are given, except in the last
table, where each model uses its own.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from pueval import AssumptionWarning, compare
from pueval.core.measures import MEASURES
from pueval.core.rates import Rates

# Prior, purity, labeled rows, correlation: half of all combinations, balanced.
SETTINGS = [
    (0.1, 1.0, 100, 0.8),
    (0.1, 1.0, 500, 0.0),
    (0.1, 0.9, 100, 0.0),
    (0.1, 0.9, 500, 0.8),
    (0.4, 1.0, 100, 0.0),
    (0.4, 1.0, 500, 0.8),
    (0.4, 0.9, 100, 0.8),
    (0.4, 0.9, 500, 0.0),
]
SEPARATIONS = {"equal": (1.5, 1.5), "different": (1.7, 1.3)}
AT = ("f1", "accuracy", "precision", "matthews_corrcoef")
OWN = (*AT, "recall")
BEST = ("best_f1", "best_accuracy", "best_balanced_accuracy", "best_matthews_corrcoef")
NAMES = ("roc_auc", "average_precision", *AT, *BEST)
# A difference that a test on these rows detects in about half of the cases.
POWER = {(100, 0.0): 0.5, (100, 0.8): 0.22, (500, 0.0): 0.22, (500, 0.8): 0.1}


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


def draw(rng, prior, purity, n_labeled, separations, correlation):
    # The number of labeled rows is random, with this mean.
    y = (rng.random(6 * n_labeled) < 1 / 6).astype(int)
    positive = rng.random(y.size) < np.where(y == 1, purity, prior)
    shared = rng.normal(size=y.size) * np.sqrt(correlation)
    return y, {
        name: separation * positive + shared + rng.normal(size=y.size) * np.sqrt(1 - correlation)
        for name, separation in zip("ab", separations, strict=True)
    }


def unpaired(comparison):
    """Return the p-value of a test that assumes independent AUCs."""
    first, second = (ev["roc_auc"] for ev in comparison.evaluations.values())
    error = np.hypot(first.standard_error, second.standard_error)
    return 2 * ndtr(-abs(comparison.differences("roc_auc")[0].value) / error)


def cell(prior, purity, n_labeled, correlation, separations, replications, names=NAMES):
    """Return the rejection rates (paired, unpaired) and the coverage of the intervals."""
    rng = np.random.default_rng([int(1000 * x) for x in (prior, purity, n_labeled, correlation)])
    thresholds = {name: s / 2 + 0.3 for name, s in zip("ab", separations, strict=True)}
    true = [
        truth(prior, purity, n_labeled, 5 * n_labeled, s, t)
        for s, t in zip(separations, thresholds.values(), strict=True)
    ]
    held, rejected, apart = dict.fromkeys(names, 0), 0, 0
    for _ in range(replications):
        y, scores = draw(rng, prior, purity, n_labeled, separations, correlation)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            found = compare(y, scores, prior=prior, purity=purity, threshold=thresholds)
        rejected += found.differences("roc_auc")[0].pvalue < 0.05
        apart += unpaired(found) < 0.05
        for name in names:
            [pair] = found.differences(name)
            held[name] += pair.low <= true[0][name] - true[1][name] <= pair.high
    return (
        rejected / replications,
        apart / replications,
        {name: count / replications for name, count in held.items()},
    )


def own_thresholds(prior, purity, n_labeled, correlation, separations, replications):
    """Return coverage of the difference at the chosen thresholds, and the share of p < .05."""
    rng = np.random.default_rng([int(1000 * x) for x in (prior, purity, n_labeled, correlation)])
    held, rejected = dict.fromkeys(OWN, 0), dict.fromkeys(OWN, 0)
    for _ in range(replications):
        y, scores = draw(rng, prior, purity, n_labeled, separations, correlation)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            found = compare(y, scores, prior=prior, purity=purity)
        chosen = [ev.threshold for ev in found.evaluations.values()]
        first, second = (
            truth(prior, purity, n_labeled, 5 * n_labeled, s, t)
            for s, t in zip(separations, chosen, strict=True)
        )
        for name in OWN:
            [pair] = found.differences(name)
            held[name] += pair.low <= first[name] - second[name] <= pair.high
            rejected[name] += pair.pvalue < 0.05
    return [count / replications for count in (*held.values(), *rejected.values())]


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    columns = ("prior", "purity", "labeled", "correlation")
    kinds = ("equal: paired", "unpaired", "different: paired", "unpaired")
    tests = [f"| {' | '.join(columns + kinds)} |", "|---" * 8 + "|"]
    limits = [f"| {' | '.join((*columns, 'models', *NAMES))} |"]
    limits.append("|---" * (5 + len(NAMES)) + "|")
    kinds_of_own = [f"{name}: {what}" for what in ("held", "p < .05") for name in OWN]
    own = [f"| {' | '.join((*columns, 'models', *kinds_of_own))} |"]
    own.append("|---" * (5 + len(kinds_of_own)) + "|")
    every = []
    for where in SETTINGS:
        shown = " | ".join(f"{value:g}" for value in where)
        shares = []
        for kind, separations in SEPARATIONS.items():
            paired, apart, held = cell(*where, separations, replications)
            if kind == "equal":
                shares += [paired, apart]
            every.append([*held.values()])
            chosen = own_thresholds(*where, separations, replications // 2)
            own.append(f"| {shown} | {kind} | " + " | ".join(f"{v:.3f}" for v in chosen) + " |")
            limits.append(
                f"| {shown} | {kind} | " + " | ".join(f"{v:.3f}" for v in held.values()) + " |"
            )
        gap = POWER[where[2:]]
        near = (1.5 + gap / 2, 1.5 - gap / 2)
        shares += cell(*where, near, replications, ("roc_auc",))[:2]
        tests.append(f"| {shown} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")
        print(tests[-1], flush=True)
        print(*limits[-2:], sep="\n", flush=True)
    means = " | ".join(f"{value:.3f}" for value in np.mean(every, axis=0))
    limits.append(f"| mean ||||| {means} |")
    text = (
        "# Paired tests and intervals\n\n"
        f"By `benchmarks/comparison.py`, {replications} replications per row.\n\n"
        "## Rejections of equal AUCs at 5 %\n\nPaired, and as if the models had been evaluated on "
        "different rows.\n\n" + "\n".join(tests) + "\n\n"
        "## Coverage of 95% intervals of differences\n\n"
        + "\n".join(limits)
        + "\n\n## Each model at its own threshold\n\n"
        f"The best for these rows; {replications // 2} replications per row. Coverage of "
        "the true difference at these thresholds, and share of significant differences. The true "
        "difference is rarely zero, even between equal models: thresholds differ by chance, and so "
        "does recall.\n\n" + "\n".join(own) + "\n"
    )
    Path(__file__).with_name("COMPARISON.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
