"""How often 95 % intervals hold the truth: prior and purity known, normal scores.

    python benchmarks/coverage.py [replications]

Writes benchmarks/COVERAGE.md. Positives are N(separation, 1), negatives N(0, 1); labeled and
unlabeled rows are drawn anew each time, five times as many unlabeled as labeled ones.
"""

import sys
import warnings
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.stats import norm

from pueval import AssumptionWarning, Counts, evaluate
from pueval.measures import MEASURES
from pueval.rates import Rates

PRIORS, PURITIES, LABELED, SEPARATIONS = (
    (0.05, 0.25, 0.5),
    (1.0, 0.95, 0.75),
    (100, 1000),
    (1.0, 2.5),
)
AT = ("f1", "accuracy", "balanced_accuracy", "matthews_corrcoef")
NAMES = ("roc_auc", "average_precision", *AT, *(f"best {name}" for name in AT))


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
    for name in AT:
        values[name] = float(np.interp(threshold, tau, MEASURES[name](rates)))
        values[f"best {name}"] = float(MEASURES[name](rates).max())
    return values


def cell(arguments):
    prior, purity, n_labeled, separation, replications = arguments
    warnings.simplefilter("ignore", AssumptionWarning)
    rng = np.random.default_rng([int(1000 * x) for x in arguments[:4]])
    n_unlabeled, threshold = 5 * n_labeled, separation / 2 + 0.3
    true = truth(prior, purity, n_labeled, n_unlabeled, separation, threshold)
    y = np.repeat([1, 0], [n_labeled, n_unlabeled])
    held = dict.fromkeys(NAMES, 0)
    for seed in range(replications):
        share = np.repeat([purity, prior], [n_labeled, n_unlabeled])
        score = rng.normal(size=y.size) + separation * (rng.random(y.size) < share)
        ev = evaluate(
            Counts.from_arrays(y, score),
            prior=prior,
            purity=purity,
            threshold=threshold,
            n_resamples=400,
            seed=seed,
        )
        for name in NAMES:
            found = ev.best(name[5:]) if name.startswith("best") else ev[name]
            held[name] += found.low <= true[name] <= found.high
    return [held[name] / replications for name in NAMES]


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    grid = list(product(PRIORS, PURITIES, LABELED, SEPARATIONS))
    lines = [
        f"# Coverage of 95 % intervals, {replications:,} replications a line",
        "",
        "Normal scores, prior and purity known, five unlabeled rows to a labeled one, threshold",
        "half the separation plus .3. Made by `python benchmarks/coverage.py`.",
        "",
        "| prior | purity | labeled | separation | " + " | ".join(NAMES) + " |",
        "|" + "---:|" * (4 + len(NAMES)),
    ]
    shares = []
    with Pool() as pool:
        jobs = pool.imap(cell, [(*where, replications) for where in grid])
        for where, row in zip(grid, jobs, strict=True):
            shares.append(row)
            text = " | ".join(f"{x:g}" for x in where)
            lines.append(f"| {text} | " + " | ".join(f"{x:.3f}" for x in row) + " |")
            print(lines[-1], flush=True)
    lines.append("| mean |||| " + " | ".join(f"{x:.3f}" for x in np.mean(shares, axis=0)) + " |")
    Path(__file__).with_name("COVERAGE.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
