"""Audits: error and coverage by what is assumed about labeling, written to benchmarks/AUDIT.md.

python -m benchmarks.audit [replications] [population or number]

With a population, prints the rows of its uniform audits of 300 rows and writes no page. With a
number, keeps so many rows of the page, and continues after them; 60 are all.
"""

import os
import sys
import textwrap
import warnings
from dataclasses import dataclass
from itertools import islice, product
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import scipy.special
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from pueval import AssumptionWarning, Counts
from pueval.audit import plan
from pueval.audit_estimates.apply_audit import apply_audit
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.errors import InputError
from pueval.evaluation.evaluate import evaluate_counts

PAGE = Path(__file__).with_name("AUDIT.md")
MEASURES = ("roc_auc", "average_precision", "f1", "precision", "recall", "prevalence")
SHORT = ("AUC", "AP", "F1", "precision", "recall", "prevalence")
METHODS = ("no audit", "alone", "random", "score", "any", "smooth")
ROWS, RESAMPLES = 12_000, 400
POPULATIONS = {
    # name: (positives, negatives, prevalence). Gamma, "easy and hard" and the normal scores with
    # AUC .92 were used to choose the prior scales and the least weight of the design, the normal
    # ones with AUC .76 and .92 to choose the spread of the draws.
    "normal, AUC .76": (lambda g, n: g.normal(1, 1, n), lambda g, n: g.normal(0, 1, n), 0.2),
    "normal, AUC .92": (lambda g, n: g.normal(2, 1, n), lambda g, n: g.normal(0, 1, n), 0.1),
    "normal, AUC .98": (lambda g, n: g.normal(3, 1, n), lambda g, n: g.normal(0, 1, n), 0.02),
    "gamma, AUC .89": (lambda g, n: g.gamma(5, size=n), lambda g, n: g.gamma(2, size=n), 0.12),
    "easy and hard": (
        lambda g, n: np.where(g.random(n) < 0.5, g.normal(2.4, 1, n), g.normal(0.45, 1, n)),
        lambda g, n: g.normal(0, 1, n),
        0.3,
    ),
}
LABELINGS = ("random", "up", "down", "step", "hidden", "wrong labels")
DESIGNS = ("uniform", "focused", "planned")
# What planned audits are for.
PLANNED_MEASURES = ("roc_auc", "average_precision", "f1")


@dataclass(frozen=True)
class Case:
    population: str
    labeling: str
    design: str
    size: int


CASES = [
    *(Case(p, how, "uniform", 300) for p, how in product(POPULATIONS, LABELINGS)),
    *(Case("normal, AUC .92", how, d, 300) for d in DESIGNS[1:] for how in LABELINGS),
    *(Case("normal, AUC .92", how, "uniform", n) for n in (50, 100, 1000) for how in LABELINGS),
]


def draw(population, n, rng):
    positives, negatives, prevalence = POPULATIONS[population]
    positive = rng.random(n) < prevalence
    score = negatives(rng, n)
    score[positive] = positives(rng, int(positive.sum()))
    return positive, score


def label(positive, score, labeling, rng):
    place = (score - score[positive].mean()) / score[positive].std()
    hidden = rng.normal(size=score.size) + 0.8 * place
    propensity = {
        "up": scipy.special.expit(-1.15 + 1.2 * place),
        "down": scipy.special.expit(-1.15 - 1.2 * place),
        "step": np.where(place > 0, 0.5, 0.1),
        "hidden": np.where(hidden > 0, 0.5, 0.08),
    }.get(labeling, np.full(score.size, 0.3))
    labeled = positive & (rng.random(score.size) < propensity)
    if labeling == "wrong labels":
        # One label in ten is wrong.
        rate = labeled.sum() / 9 / (~positive).sum()
        labeled |= ~positive & (rng.random(score.size) < rate)
    return labeled


def choose_planned(score, labeled, size, threshold, rng):
    """Return which unlabeled rows a plan chooses, and their probabilities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        made = plan(labeled, score, budget=size, measure=PLANNED_MEASURES, threshold=threshold)
    chosen = np.zeros(score.size, bool)
    chosen[made.draw(int(rng.integers(2**31)))] = True
    return chosen, made.probabilities.copy()


def choose(score, labeled, case, threshold, rng):
    """Return which unlabeled rows are audited, and the probability of each row."""
    if case.design == "planned":
        return choose_planned(score, labeled, case.size, threshold, rng)
    rank = score.argsort().argsort() / score.size
    weight = np.ones(score.size) if case.design == "uniform" else 0.2 + 2.0 * (rank > 0.8)
    if case.design == "focused":
        weight += 6 * (rank > 0.95)
    probability = np.minimum(case.size * weight / weight[~labeled].sum(), 1.0)
    return ~labeled & (rng.random(score.size) < probability), probability


def audit(positive, score, labeled, case, threshold, rng):
    chosen, probability = choose(score, labeled, case, threshold, rng)
    if case.labeling == "wrong labels":
        among = np.flatnonzero(labeled)
        extra = rng.choice(among, min(100, among.size), replace=False)
        chosen[extra], probability[extra] = True, min(100 / among.size, 1.0)
    return AuditedRows(
        score[chosen],
        labeled[chosen],
        positive[chosen],
        1 / probability[chosen],
        has_probability=True,
    )


def measure(ev):
    """Return value, low and high of each measure."""
    numbers = []
    for name in MEASURES:
        if name == "prevalence":
            share = ev.counts.n_unlabeled / ev.counts.n
            labeled = ev.purity * ev.counts.n_labeled / ev.counts.n
            interval = ev.assumptions.prior_range or (ev.prior, ev.prior)
            numbers.append((ev.prevalence, *(labeled + share * end for end in interval)))
        else:
            estimate = ev[name]
            numbers.append((estimate.value, estimate.low, estimate.high))
    return numbers


def evaluate_all(counts, rows, threshold, seed):
    """Return the numbers of all methods."""
    found = {}
    options = {"threshold": threshold, "n_resamples": RESAMPLES, "seed": seed}
    for method in METHODS:
        try:
            if method == "no audit":
                found[method] = measure(evaluate_counts(counts, **options))
                continue
            applied = apply_audit(
                counts,
                rows,
                labeling="any" if method == "alone" else method,
                alone=method == "alone",
                n_draws=RESAMPLES,
                seed=seed,
            )
            found[method] = measure(evaluate_counts(applied.counts, **options))
        except InputError:
            found[method] = [(np.nan,) * 3] * len(MEASURES)
    return np.array([found[method] for method in METHODS])


def replicate(job):
    case, seed, threshold = job
    rng = np.random.default_rng([seed, 2022])
    positive, score = draw(case.population, ROWS, rng)
    labeled = label(positive, score, case.labeling, rng)
    rows = audit(positive, score, labeled, case, threshold, rng)
    return evaluate_all(Counts.from_arrays(labeled, score), rows, threshold, seed)


def truth_of(positive, score, threshold):
    predicted = score >= threshold
    hits = (predicted & positive).sum()
    return np.array(
        [
            roc_auc_score(positive, score),
            average_precision_score(positive, score),
            f1_score(positive, predicted),
            hits / predicted.sum(),
            hits / positive.sum(),
            positive.mean(),
        ]
    )


def summarize(numbers, truth):
    """Return RMSE and coverage, methods by measures."""
    value, low, high = np.moveaxis(numbers, -1, 0)
    rmse = np.sqrt(np.nanmean((value - truth) ** 2, axis=0))
    return rmse, np.nanmean((low <= truth) & (truth <= high), axis=0)


def table_rows(names, results):
    """Return lines of the table, and what the summary needs."""
    lines, ratios, coverages = [], [], []
    for name, (rmse, coverage) in zip(names, results, strict=True):
        ratio = rmse / rmse[METHODS.index("alone")]
        shown = " | ".join(
            f"{np.nanmean(ratio[METHODS.index(m)]):.2f}" for m in METHODS if m != "alone"
        )
        default, any_ = (coverage[METHODS.index(m)] for m in ("smooth", "any"))
        lines.append(
            f"| {' | '.join(map(str, name))} | {shown} | {ratio[-1].max():.2f} | "
            f"{default.mean():.2f} ({default.min():.2f}) | {any_.mean():.2f} ({any_.min():.2f}) | "
            f"{coverage[0].mean():.2f} |"
        )
        print(lines[-1], flush=True)
        ratios.append(ratio)
        coverages.append(coverage)
    return lines, np.array(ratios), np.array(coverages)


HEAD = (
    " | no audit | random | score | any | **smooth** | largest | coverage of smooth | "
    "coverage of any | of no audit |"
)
TEXT = """# Audits

`python -m benchmarks.audit` writes this page. {n:,} rows; about 30% of the positives are labeled:
at random, with a probability that rises (*up*) or falls with the score by a logistic curve, by a
*step* (.1 and .5) at the mean positive, or by a *hidden* feature that goes with the score. *Wrong
labels*: at random, and one in ten is wrong; 100 labeled rows are audited, too. Audits of unlabeled
rows are *uniform*, *focused* on the highest 5 and 20% of the scores, or *planned* for AUC, average
precision and F1 by `pueval.audit.plan`. {replications} replications per row.

Root mean squared errors are relative to those of the audit alone (Hájek's estimate, with labeled
rows counted as positive), averaged over AUC, average precision, F1, precision and recall at the
threshold that predicts as many positives as there are, and prevalence. *Largest*: that of the
measure for which the default, *smooth*, is worst. Coverage of 95% intervals: mean over these six
measures, and the lowest. `AUDIT_TEST.md` has the test of random labeling.
"""


def population_truth(population):
    """Return the threshold that predicts as many positives as there are, and the true measures."""
    positive, score = draw(population, 2_000_000, np.random.default_rng(1))
    threshold = float(np.quantile(score, 1 - positive.mean()))
    return threshold, truth_of(positive, score, threshold)


def measure_rows(cases, replications):
    """Yield the row of each case."""
    with Pool(int(os.environ.get("PUEVAL_JOBS", os.cpu_count()))) as pool:
        populations = [*dict.fromkeys(case.population for case in cases)]
        truths = dict(zip(populations, pool.map(population_truth, populations), strict=True))
        jobs = [(c, seed, truths[c.population][0]) for c in cases for seed in range(replications)]
        replicates = pool.imap(replicate, jobs)
        for case in cases:
            numbers = np.array(list(islice(replicates, replications)))
            name = (case.population, case.labeling, case.design, case.size)
            yield from table_rows([name], [summarize(numbers, truths[case.population][1])])[0]


def summarize_rows(lines, replications):
    """Return a sentence about the default, from the rows of the table."""
    cells = [line.strip("| ").split(" | ") for line in lines]
    default, largest = (np.array([float(row[k]) for row in cells]) for k in (8, 9))
    coverage = np.array([[float(n.strip("()")) for n in row[10].split()] for row in cells])
    main_cases = [
        k for k, c in enumerate(CASES) if c.labeling in LABELINGS[:3] and c.design == "uniform"
    ]
    outside = np.mean((coverage[:, 0] < 0.93) | (coverage[:, 0] > 0.97))
    return (
        f"Random and logistic labeling, uniform audits: the error of the default is "
        f"{default[main_cases].mean():.2f} times that of the audit alone on average; over all rows "
        f"the largest is {default.max():.2f}, and {largest.max():.2f} for a single measure. "
        f"Coverage of the default: mean {coverage[:, 0].mean():.3f}; the mean of {outside:.0%} of "
        f"the rows is outside .93 to .97, the lowest of all numbers is {coverage.min():.2f}. The "
        f"standard error of a coverage of .95 is {np.sqrt(0.95 * 0.05 / replications):.3f}."
    )


def by_labeling(lines):
    """Return a table of the default's mean error and coverage by labeling, over all rows."""
    cells = [line.strip("| ").split(" | ") for line in lines]
    table = ["| labeling | rows | error | coverage |", "|---|---:|---:|---:|"]
    for labeling in LABELINGS:
        mine = [row for row in cells if row[1] == labeling]
        error = np.mean([float(row[8]) for row in mine])
        coverage = np.mean([float(row[10].split()[0]) for row in mine])
        table.append(f"| {labeling} | {len(mine)} | {error:.2f} | {coverage:.3f} |")
    return table


def main(replications, which="0"):
    if which in POPULATIONS:
        list(measure_rows([Case(which, how, "uniform", 300) for how in LABELINGS], replications))
        return
    head = ["| population | labeling | audit | rows" + HEAD, "|---|---|---|---:|" + "---:|" * 9]
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    lines = lines[: int(which)]
    lines += measure_rows(CASES[len(lines) :], replications)
    text = TEXT.format(n=ROWS, replications=replications)
    summary = textwrap.fill(summarize_rows(lines, replications), 100)
    PAGE.write_text("\n".join([text, *head, *lines, "", summary, "", *by_labeling(lines)]) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, *sys.argv[2:3])
