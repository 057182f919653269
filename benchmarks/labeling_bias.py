"""Labels that favor high scores: how often intervals and ranges hold the truth.

python -m benchmarks.labeling_bias [replications]

Positives above the middle of their scores are four times as likely to be labeled as the others.
Prints how often the confidence interval, which assumes random labeling, and the range for a
labeling bias of 4 hold the true AUC, average precision and recall.
"""

import sys
import warnings

import numpy as np
from scipy.stats import norm

from pueval import AssumptionWarning, evaluate
from pueval.estimates.bias_bounds import bound_measures

SEPARATION, PREVALENCE, ROWS, THRESHOLD, BIAS = 2.0, 0.3, 3000, 1.3, 4.0
NAMES = ("roc_auc", "average_precision", "recall")


def truth():
    """Return the true values."""
    tau = np.linspace(-6, 8, 20_001)
    tpr, fpr = norm.sf(tau, SEPARATION), norm.sf(tau)
    precision = PREVALENCE * tpr / (PREVALENCE * tpr + (1 - PREVALENCE) * fpr)
    area = np.sum(-np.diff(tpr) * (precision[1:] + precision[:-1]) / 2)
    return norm.cdf(SEPARATION / np.sqrt(2)), area, norm.sf(THRESHOLD, SEPARATION)


def replicate(seed):
    """Return, for each measure, whether the interval and the range hold the truth."""
    rng = np.random.default_rng(seed)
    positive = rng.random(ROWS) < PREVALENCE
    score = rng.normal(size=ROWS) + SEPARATION * positive
    labeled = positive & (rng.random(ROWS) < np.where(score > SEPARATION, 0.4, 0.4 / BIAS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(labeled, score, prevalence=PREVALENCE, threshold=THRESHOLD, seed=seed)
    bounds = bound_measures(ev._biased_labeling(), BIAS, ev._resamples, ev._choice_margins, NAMES)
    return [
        (
            ev[name].low <= true <= ev[name].high,
            bounds[name].interval_low <= true <= bounds[name].interval_high,
        )
        for name, true in zip(NAMES, truth(), strict=True)
    ]


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    shares = np.mean([replicate(seed) for seed in range(replications)], axis=0)
    print("| measure | confidence interval | range for a labeling bias of 4 |\n|---|---:|---:|")
    for name, (interval, wide) in zip(NAMES, shares, strict=True):
        print(f"| {name} | {interval:.3f} | {wide:.3f} |")


if __name__ == "__main__":
    main()
