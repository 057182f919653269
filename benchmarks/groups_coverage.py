"""Coverage of 95% intervals of groups, by group size.

    python benchmarks/groups_coverage.py [groups]

Writes benchmarks/GROUPS_COVERAGE.md. Scores are normal, with known prior and purity. All groups in
a row of the table have the same number of rows, the same expected labeled share and the same
truth.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import norm

from pueval import AssumptionWarning, evaluate_by
from pueval.core.measures import MEASURES
from pueval.core.rates import Rates

NAMES = ("roc_auc", "average_precision", "precision", "recall", "f1", "matthews_corrcoef")
THRESHOLD = 0.8
# Prior, purity, labeled rows, unlabeled rows, separation, target.
SETTINGS = [
    (0.2, 1.0, 10, 10, 1.5, "population"),
    (0.2, 1.0, 10, 50, 1.5, "population"),
    (0.2, 1.0, 20, 20, 1.5, "population"),
    (0.2, 1.0, 20, 100, 1.5, "population"),
    (0.2, 1.0, 20, 100, 2.5, "population"),
    (0.2, 0.9, 20, 100, 1.5, "population"),
    (0.2, 1.0, 50, 250, 1.5, "population"),
    (0.05, 1.0, 50, 1000, 1.5, "population"),
    (0.2, 1.0, 50, 250, 1.5, "unlabeled"),
    (0.2, 0.9, 200, 1000, 1.5, "population"),
]


def truth(prior, purity, labeled, unlabeled, separation, target):
    tau = np.linspace(-6, 6 + separation, 40_001)
    tpr, fpr = norm.sf(tau, separation), norm.sf(tau)
    prevalence = prior
    if target == "population":
        prevalence = (purity * labeled + prior * unlabeled) / (labeled + unlabeled)
    predicted = prevalence * tpr + (1 - prevalence) * fpr
    rates = Rates(tau, tpr, fpr, predicted, prevalence, 1.0)
    precision = prevalence * tpr / predicted
    values = {
        "roc_auc": norm.cdf(separation / np.sqrt(2)),
        "average_precision": np.sum(-np.diff(tpr) * (precision[1:] + precision[:-1]) / 2),
    }
    for name in NAMES[2:]:
        values[name] = float(np.interp(THRESHOLD, tau, MEASURES[name](rates)))
    return values


def main():
    warnings.simplefilter("ignore", AssumptionWarning)
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    rng = np.random.default_rng(5)
    lines = [
        f"# Coverage of 95% intervals of groups, {size:,} groups per row",
        "",
        "Normal scores, prior and purity known, threshold .8. The last two columns: bias of the",
        "mean of the groups' average precisions, and of their macro average, which is adjusted for",
        "it. Made by `python benchmarks/groups_coverage.py`.",
        "",
        "| prior | purity | labeled | unlabeled | separation | target | "
        + " | ".join(NAMES)
        + " | mean AP − truth | macro AP − truth |",
        "|" + "---:|" * 5 + "---|" + "---:|" * (len(NAMES) + 2),
    ]
    for setting in SETTINGS:
        prior, purity, labeled, unlabeled, separation, target = setting
        # Expected numbers of rows; how many are labeled is random.
        y = (rng.random(size * (labeled + unlabeled)) < labeled / (labeled + unlabeled)).astype(int)
        by = np.repeat(np.arange(size), labeled + unlabeled)
        positive = rng.random(y.size) < np.where(y == 1, purity, prior)
        score = rng.normal(size=y.size) + separation * positive
        groups = evaluate_by(
            y,
            score,
            by,
            prior=prior,
            purity=purity,
            target=target,
            threshold=THRESHOLD,
            n_resamples=2,
            min_labeled=2,
            min_background=2,
        )
        true = truth(*setting)
        cells = [f"{one:g}" for one in setting[:-1]] + [target]
        for name in NAMES:
            one = groups[name]
            cells.append(f"{np.mean((one.low <= true[name]) & (true[name] <= one.high)):.3f}")
        name = "average_precision"
        raw = groups._estimates.value[name].mean()
        cells += [f"{raw - true[name]:+.3f}", f"{groups.macro(name).value - true[name]:+.3f}"]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    Path(__file__).with_name("GROUPS_COVERAGE.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
