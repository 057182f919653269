"""Audited alarms where labels are random and scores say little about the prior.

python -m benchmarks.audit_alarms [replications] [share]

Normal scores with an AUC of .76; 20% of the rows are positive, and 30% of the positives are
labeled, at random. 100 unlabeled rows are checked, all of them alarms: among the given share of the
rows with the highest scores; by default 0.2, as many as there are positives. F1 is at the threshold
that predicts as many positives as there are. Prints the root mean squared errors and the coverage
of average precision, prevalence, F1 and AUC without an audit, and with one: with labels known to be
random, and by default. Also prints a limit for average precision with labels known to be random.
"""

import os
import sys
import warnings
from multiprocessing import Pool

import numpy as np

from benchmarks.audit import draw, measure, truth_of
from pueval import AssumptionWarning, Counts
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.evaluation.evaluate import evaluate_audited, evaluate_counts

POPULATION, ROWS, AUDITED, LABELED = "normal, AUC .76", 12_000, 100, 0.3
MEASURES = {"average precision": 1, "prevalence": 5, "F1": 2, "AUC": 0}
METHODS = ("no audit", "random", "smooth")


def replicate(job):
    seed, threshold, alarm_threshold = job
    rng = np.random.default_rng([seed, 2024])
    positive, score = draw(POPULATION, ROWS, rng)
    labeled = positive & (rng.random(ROWS) < LABELED)
    alarms = np.flatnonzero(~labeled & (score >= alarm_threshold))
    rows = rng.choice(alarms, AUDITED, replace=False)
    weight = np.full(AUDITED, alarms.size / AUDITED)
    audited = AuditedRows(
        score[rows], np.zeros(AUDITED, bool), positive[rows], weight, has_probability=True
    )
    counts = Counts.from_arrays(labeled, score)
    options = {"threshold": threshold, "n_resamples": 400, "seed": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        evaluations = [
            evaluate_counts(counts, **options),
            *(evaluate_audited(counts, audited, labeling=how, **options) for how in METHODS[1:]),
        ]
    return [measure(ev) for ev in evaluations]


def limit(positive, score, alarm_threshold):
    """Return the least standard error of the logarithm of the label frequency c, by alarms alone.

    Even if the labeled share of the rows is known at each score: m, the share of positives among
    unlabeled rows, is then proportional to (1 − c)/c, and a checked row has the information
    m/((1 − m)(1 − c)²). Average precision is proportional to 1/c.
    """
    alarms = score >= alarm_threshold
    edges = np.quantile(score[alarms], np.linspace(0, 1, 201)[1:-1])
    cell = np.searchsorted(edges, score[alarms])
    hidden = np.bincount(cell, positive[alarms]) * (1 - LABELED)
    negative = np.bincount(cell, ~positive[alarms])
    unlabeled = hidden + negative
    information = hidden / negative / (1 - LABELED) ** 2
    return 1 / np.sqrt(AUDITED * np.average(information, weights=unlabeled))


def main(replications, share):
    rng = np.random.default_rng(1)
    positive, score = draw(POPULATION, 2_000_000, rng)
    threshold, alarm_threshold = np.quantile(score, [1 - positive.mean(), 1 - share]).tolist()
    truth = truth_of(positive, score, threshold)
    with Pool() as pool:
        jobs = [(seed, threshold, alarm_threshold) for seed in range(replications)]
        numbers = np.array(pool.map(replicate, jobs, chunksize=4))
    value, low, high = np.moveaxis(numbers, -1, 0)
    error = np.sqrt(np.mean((value - truth) ** 2, axis=0))
    coverage = np.mean((low <= truth) & (truth <= high), axis=0)
    print(f"{AUDITED} audited alarms among {share:.0%} of the rows, {replications} replications:")
    print("error (coverage)\n")
    print("| | " + " | ".join(METHODS) + " | random : no audit |")
    print("|---|" + "---:|" * (len(METHODS) + 1))
    for name, k in MEASURES.items():
        cells = [f"{error[m, k]:.3f} ({coverage[m, k]:.2f})" for m in range(len(METHODS))]
        print(f"| {name} | {' | '.join(cells)} | {error[1, k] / error[0, k]:.2f} |")
    least = limit(positive, score, alarm_threshold)
    print(f"\nLimit for average precision: {least:.1%}, or {least * truth[1]:.3f}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 200,
        float(sys.argv[2]) if len(sys.argv) > 2 else 0.2,
    )
