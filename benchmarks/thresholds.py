"""Coverage of 95% intervals at chosen thresholds, with known and estimated prior.

    python benchmarks/thresholds.py [replications [processes]]

Writes benchmarks/THRESHOLDS.md. Scores are N(separation, 1) for positives and N(0, 1) for
negatives, with five unlabeled rows per labeled row. Each rule chooses a threshold on a sample, and
intervals of four measures are compared with their true values at this threshold. For comparison,
the table shows the coverage of ``ev.at(threshold)``, which ignores that the threshold was chosen,
and for the cost also the coverage of the smallest cost of any threshold.
"""

import sys
import warnings
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.stats import norm

from pueval import AssumptionWarning, Counts, InputError, evaluate
from pueval.core.measures import MEASURES, cost
from pueval.core.rates import Rates

GRID = [
    *product((0.05, 0.25), (1.0, 0.9), (100, 1000), (1.5,)),
    (0.25, 1.0, 100, 1.0),
    (0.25, 1.0, 100, 2.5),
]
ESTIMATED = [*product((0.05, 0.25), (1.0,), (1000,), (1.5, 2.5))]
NAMES = ("precision", "recall", "false_positive_rate", "f1")
COST = cost(1, 5)
RULES = {
    "precision=0.8": lambda ev: ev.threshold_for(precision=0.8),
    "recall=0.8": lambda ev: ev.threshold_for(recall=0.8),
    "fpr=0.05": lambda ev: ev.threshold_for(fpr=0.05),
    "top=all labeled": lambda ev: ev.threshold_for(top=ev.counts.n_labeled),
    "best=f1": lambda ev: ev.threshold_for(best="f1"),
    "cost=1:5": lambda ev: ev.threshold_for(cost=(1, 5)),
}


def truth(threshold, prevalence, separation):
    tau = np.atleast_1d(threshold)
    tpr, fpr = norm.sf(tau, separation), norm.sf(tau)
    return Rates(tau, tpr, fpr, prevalence * tpr + (1 - prevalence) * fpr, prevalence, 1.0)


def cell(arguments):
    prior, purity, n_labeled, separation, replications, known = arguments
    warnings.simplefilter("ignore", AssumptionWarning)
    rng = np.random.default_rng([int(1000 * x) for x in arguments[:4]])
    n_unlabeled = 5 * n_labeled
    prevalence = (purity * n_labeled + prior * n_unlabeled) / (n_labeled + n_unlabeled)
    best = COST(truth(np.linspace(-6, 6 + separation, 20_001), prevalence, separation)).min()
    found = []
    for seed in range(replications):
        # The number of labeled rows is random, with this mean.
        y = (rng.random(n_labeled + n_unlabeled) < 1 / 6).astype(int)
        share = np.where(y == 1, purity, prior)
        score = rng.normal(size=y.size) + separation * (rng.random(y.size) < share)
        given = {"threshold": 0.0}
        if known:
            given |= {"prior": prior, "purity": purity}
        ev = evaluate(Counts.from_arrays(y, score), n_resamples=250, seed=seed, **given)
        for rule, follow in RULES.items():
            try:
                choice = follow(ev)
            except InputError:  # no threshold of this sample has that precision
                continue
            there, point = truth(choice.threshold, prevalence, separation), ev.at(choice.threshold)
            for name in NAMES:
                true = MEASURES[name](there)[0]
                if np.isfinite(choice[name].low):
                    held = [choice[name].low <= true <= choice[name].high]
                    held.append(point[name].low <= true <= point[name].high)
                    found.append((rule, name, *held))
            if "cost" in choice:
                one, true = choice["cost"], COST(there)[0]
                found.append((rule, "cost", one.low <= true <= one.high, np.nan))
                found.append((rule, "least cost", one.low <= best <= one.high, np.nan))
    return found


def table(cells, replications):
    """Return one row per rule and measure."""
    lines = [
        "",
        "| chosen by | measure | mean | worst | mean, choice ignored | worst, choice ignored |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for rule in RULES:
        for name in (*NAMES, "cost", "least cost"):
            rows = [[r[2:] for r in one if r[:2] == (rule, name)] for one in cells]
            shares = [np.mean(r, axis=0) for r in rows if len(r) >= replications / 2]
            if shares:
                (mean, plain), (worst, plain_worst) = (
                    np.mean(shares, axis=0),
                    np.min(shares, axis=0),
                )
                text = " | ".join(
                    "–" if np.isnan(x) else f"{x:.3f}" for x in (mean, worst, plain, plain_worst)
                )
                lines.append(f"| {rule} | {name} | {text} |")
    return lines


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    with Pool(int(sys.argv[2]) if len(sys.argv) > 2 else None) as pool:
        known, estimated = (
            pool.map(cell, [(*where, replications, which) for where in grid], chunksize=1)
            for grid, which in ((GRID, True), (ESTIMATED, False))
        )
    lines = [
        f"# Coverage of 95% intervals at chosen thresholds, {replications:,} runs per setting",
        "",
        "Made by `python benchmarks/thresholds.py`. First the mean over the settings, then the",
        "worst setting (with a binomial standard error of",
        f"{np.sqrt(0.95 * 0.05 / replications):.3f}); last, the same for intervals that ignore",
        "the choice. A setting counts if it allowed the choice in half of its replications.",
        "",
        "## Prior and purity known",
        "",
        f"{len(GRID)} settings: prior .05 and .25, purity 1 and .9, 100 and 1,000 labeled rows,",
        "separation 1.5; and two with 1 and 2.5.",
        *table(known, replications),
        "",
        "## Prior estimated from the same rows",
        "",
        f"{len(ESTIMATED)} settings: prior .05 and .25, 1,000 labeled rows, separation 1.5, 2.5.",
        *table(estimated, replications),
    ]
    print("\n".join(lines))
    Path(__file__).with_name("THRESHOLDS.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
