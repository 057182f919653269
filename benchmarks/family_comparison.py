"""Differences of two models by calibration, net benefit and the first rows: coverage and size.

python -m benchmarks.family_comparison [replications]

Writes benchmarks/FAMILY_COMPARISON.md.
"""

import os
import sys
import warnings
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from pueval import AssumptionWarning, compare

PAGE = Path(__file__).with_name("FAMILY_COMPARISON.md")
MEASURES = (
    "expected_calibration_error",
    "brier_score_loss",
    "net_benefit_at_0.2",
    "net_benefit_at_0.5",
    "precision_at_5%",
    "recall_at_5%",
    "average_precision_at_5%",
    "precision_at_50",
    "average_precision_at_50",
)
TEXT = """# Differences of two models: calibration, net benefit, first rows

`python -m benchmarks.family_comparison` writes this page. The probability p of being positive has a
Beta(2, 4) distribution, 40% of the positives are labeled at random, and the prevalence, 1/3, is
given. Model b says p, the true probability. Model a says p to a power, mixed with noise: with the
given chance, a row gets the p of another row instead. If both models have the same noise and the
power 1, they are equally good, and *rejected* is the size of the test at 5%. Other cells: coverage
of 95% intervals of the difference. {replications} replications per row.

| power | noise of a | noise of b | rows | {measures} |
|---:|---:|---:|---:|{rule}|
"""
# Power, noise of a, noise of b, rows.
SETTINGS = [
    (1.5, 0.0, 0.0, 4_000),
    (1.5, 0.0, 0.0, 20_000),
    (1.2, 0.0, 0.0, 4_000),
    (1.2, 0.3, 0.0, 4_000),
    (1.0, 0.3, 0.0, 20_000),
    (1.0, 0.3, 0.3, 4_000),
    (1.0, 0.3, 0.3, 20_000),
]
TRUTH_ROWS = 4_000_000


def draw(setting, n, rng):
    """Return true classes and the scores of both models."""
    power, *noises, _ = setting
    p = rng.beta(2, 4, size=n)
    scores = [np.where(rng.random(n) < noise, rng.beta(2, 4, size=n), p) for noise in noises]
    return rng.random(n) < p, scores[0] ** power, scores[1]


def truth(setting):
    """Return the true differences, from many rows with known classes."""
    positive, *scores = draw(setting, TRUTH_ROWS, np.random.default_rng(1))
    of_models = []
    for score in scores:
        order = np.argsort(-score)
        y, s = positive[order], score[order]
        # Bins with equally many rows; distances are far larger than the noise of so many rows,
        # or 0 where the score is the probability.
        bins = zip(np.array_split(y, 10), np.array_split(s, 10), strict=True)
        distances = [abs(part.mean() - of_score.mean()) for part, of_score in bins]
        first = [_first_rows(y, round(TRUTH_ROWS * share)) for share in (0.05, 50 / setting[-1])]
        benefits = [
            np.mean(y & (s >= risk)) - np.mean(~y & (s >= risk)) * risk / (1 - risk)
            for risk in (0.2, 0.5)
        ]
        of_models.append(
            [
                np.mean(distances),
                np.mean((s - y) ** 2),
                *benefits,
                *first[0],
                first[1][0],
                first[1][2],
            ]
        )
    return np.subtract(*of_models)


def _first_rows(y, k):
    """Return precision, recall and average precision of the first rows."""
    found = np.cumsum(y[:k])
    average = np.sum(found / np.arange(1, k + 1) * y[:k]) / min(k, y.sum())
    return found[-1] / k, found[-1] / y.sum(), average


def replicate(seed, setting):
    """Return low and high ends and p-values of the differences."""
    warnings.simplefilter("ignore", AssumptionWarning)
    rng = np.random.default_rng(seed)
    positive, *scores = draw(setting, setting[-1], rng)
    labeled = positive & (rng.random(positive.size) < 0.4)
    scores = dict(zip("ab", scores, strict=True))
    comparison = compare(labeled, scores, prevalence=1 / 3, threshold=0.5)
    found = [comparison.differences(measure)[0] for measure in MEASURES]
    return [(each.low, each.high, each.pvalue) for each in found]


def main(replications):
    lines = []
    with Pool() as pool:
        for setting in SETTINGS:
            work = partial(replicate, setting=setting)
            low, high, pvalue = np.array(pool.map(work, range(replications))).transpose(2, 0, 1)
            if setting[0] == 1 and setting[1] == setting[2]:
                cells = [f"rejected {share:.3f}" for share in np.mean(pvalue < 0.05, axis=0)]
            else:
                true = truth(setting)
                held = np.mean((low <= true) & (true <= high), axis=0)
                cells = [f"{share:.3f}" for share in held]
            lines.append("| " + " | ".join([*map(str, setting), *cells]) + " |")
            print(lines[-1], flush=True)
    head = TEXT.format(
        replications=replications, measures=" | ".join(MEASURES), rule="---:|" * len(MEASURES)
    )
    PAGE.write_text(head.replace("||\n", "|\n") + "\n".join(lines) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
