"""Size of the tests of differences of presence-only measures, on two equally good models.

python -m benchmarks.presence_comparison [replications] [processes]

Two models score 2,000 rows, 30% of them positive, and share half of the variance of their errors.
Of the positives, some are labeled. Prints the share of p-values below .05, and in brackets the mean
standard error of the difference, divided by its standard deviation over the replications.
"""

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed

from pueval import compare
from pueval.families.field_measures import FAMILIES

MEASURES = FAMILIES["presence"]
N_ROWS, PREVALENCE = 2000, 0.3
# Labeled rows, distance of the classes in standard deviations, and target.
SETTINGS = (
    (30, 1.2, "population"),
    (100, 0.5, "population"),
    (100, 1.2, "population"),
    (100, 1.2, "unlabeled"),
    (100, 2.5, "population"),
    (400, 1.2, "population"),
)


def two_models(seed, n_labeled, distance):
    """Labels, and scores of two models whose errors are correlated."""
    rng = np.random.default_rng(seed)
    positive = rng.random(N_ROWS) < PREVALENCE
    common, *own = rng.normal(size=(3, N_ROWS))
    scores = {
        name: distance * positive + (common + part) / np.sqrt(2)
        for name, part in zip("ab", own, strict=True)
    }
    labeled = np.zeros(N_ROWS, bool)
    labeled[rng.choice(np.flatnonzero(positive), n_labeled, replace=False)] = True
    return labeled, scores


def difference_of(seed, n_labeled, distance, target):
    """Value, standard error and p-value of the difference, by measure."""
    warnings.simplefilter("ignore")
    labeled, scores = two_models(seed, n_labeled, distance)
    prior = (PREVALENCE * N_ROWS - n_labeled) / (N_ROWS - n_labeled)
    comparison = compare(labeled, scores, prior=prior, target=target, threshold=distance / 2)
    found = [comparison.differences(measure)[0] for measure in MEASURES]
    return [(each.value, each.standard_error, each.pvalue) for each in found]


def main(replications, processes):
    print(f"{replications:,} replications\n")
    print("| labeled | distance | target |", " | ".join(MEASURES), "|")
    print("|---:|---:|---|" + "---:|" * len(MEASURES))
    for setting in SETTINGS:
        jobs = (delayed(difference_of)(seed, *setting) for seed in range(replications))
        results = np.array(Parallel(n_jobs=processes)(jobs))
        cells = []
        for value, error, pvalue in results.transpose(1, 2, 0):
            ratio = np.sqrt(np.nanmean(error**2)) / np.nanstd(value)
            cells.append(f"{np.mean(pvalue < 0.05):.3f} ({ratio:.2f})")
        print("|", " | ".join([*map(str, setting), *cells]), "|", flush=True)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 1000,
        int(sys.argv[2]) if len(sys.argv) > 2 else 1,
    )
