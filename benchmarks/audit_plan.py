"""Planned audits against simple random samples of the same size, and forecasts against results.

python -m benchmarks.audit_plan [replications] [checked rows] [labeling]

Rows have normal scores with a distance of 2 between the classes, and 10% are positive. 30% of the
positives are labeled: at random, more often where they score high ("up") or low ("down"), or three
times as often above their median ("step"); without a labeling, all of these. Prints, for F1 at a
fixed threshold, the error, the coverage and the half-width of the interval for three designs: a
simple random sample, a plan with a floor of 1 (equal probabilities, drawn systematically down the
scores) and a plan. Then the errors relative to simple random samples, with their standard errors,
and, for the first replications, forecast half-widths beside those then seen: if labels are random,
and the narrowest and widest over labelings.

First it prints how much the choice of rows can reduce the standard error of F1 if it is estimated
by the audited rows, relative to a simple random sample: by Neyman's allocation for the true shares
of positives, and by the plan, which has to expect random labeling.
"""

import os
import sys
import warnings
from multiprocessing import Pool

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from pueval import AssumptionWarning, evaluate
from pueval.audit import plan

ROWS, PREVALENCE, SEPARATION, THRESHOLD = 20_000, 0.1, 2.0, 1.6
LABELINGS = ("random", "up", "down", "step")
DESIGNS = ("simple random", "equal, systematic", "planned")
FORECASTS = 20


def propensity(labeling, score):
    """Return the probability that a positive row is labeled."""
    z = score - SEPARATION
    return {
        "random": np.full(score.size, 0.3),
        "up": expit(-0.95 + z),
        "down": expit(-0.95 - z),
        "step": np.where(z > 0, 0.45, 0.15),
    }[labeling]


def evaluate_f1(y, score, truth, probability, seed):
    """Return the estimate of F1 after an audit, and the half-width of its interval."""
    ev = evaluate(
        y,
        score,
        threshold=THRESHOLD,
        audited=truth,
        audit_probability=probability,
        n_resamples=500,
        seed=seed,
    )
    return ev["f1"], (ev["f1"].high - ev["f1"].low) / 2


def replicate(job):
    """Return error, coverage and half-width for each design; and forecasts.

    Forecasts come with the half-width then seen: for the plan, if labels are random and as a range,
    and for a second plan that checks as many rows again.
    """
    seed, budget, labeling = job
    rng = np.random.default_rng(seed)
    positive = rng.random(ROWS) < PREVALENCE
    score = rng.normal(size=ROWS) + SEPARATION * positive
    y = positive & (rng.random(ROWS) < propensity(labeling, score))
    found = score >= THRESHOLD
    true = 2 * np.sum(positive & found) / (positive.sum() + found.sum())
    results, forecasts = [], [np.nan] * 6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        for design in DESIGNS:
            floor = 0.1 if design == "planned" else 1.0
            first = plan(y, score, budget=budget, threshold=THRESHOLD, floor=floor, seed=seed)
            rows = first.draw(seed)
            if design == "simple random":
                rows = rng.choice(np.flatnonzero(~y), budget, replace=False)
            truth = np.full(ROWS, np.nan)
            truth[rows] = positive[rows]
            f1, width = evaluate_f1(y, score, truth, first.probabilities, seed)
            results.append([f1.value - true, f1.low <= true <= f1.high, width])
        if seed < FORECASTS:
            options = {"threshold": THRESHOLD, "seed": seed, "audited": truth}
            second = plan(y, score, budget=budget, audit_probability=first.probabilities, **options)
            forecasts = [first.forecast()["f1"], *first.forecast_range()["f1"], width]
            forecasts += [second.forecast()["f1"]]
            rows = second.draw(seed)
            truth[rows] = positive[rows]
            forecasts += [evaluate_f1(y, score, truth, second.combined_probabilities, seed)[1]]
    return results, forecasts


def allocation_limits(labeling, rows=200_000, budget=2000):
    """Return relative standard errors of F1: with the best probabilities, and with a plan's."""
    rng = np.random.default_rng(0)
    positive = rng.random(rows) < PREVALENCE
    score = rng.normal(size=rows) + SEPARATION * positive
    chance = propensity(labeling, score)
    y = positive & (rng.random(rows) < chance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        probability = plan(y, score, budget=budget, threshold=THRESHOLD).probabilities[~y]
    found = score >= THRESHOLD
    size = positive.sum() + found.sum()
    f1 = 2 * np.sum(positive & found) / size
    gradient = (2 * found - f1) / size
    densities = PREVALENCE * norm.pdf(score - SEPARATION), (1 - PREVALENCE) * norm.pdf(score)
    share = densities[0] / sum(densities)
    hidden = share * (1 - chance) / (1 - share * chance)
    variance = (gradient**2 * hidden * (1 - hidden))[~y]
    simple = variance.sum() * variance.size / budget
    best = np.sqrt(variance).sum() ** 2 / budget
    return np.sqrt(best / simple), np.sqrt(np.sum(variance / probability) / simple)


def ratio_and_error(error, reference):
    """Return a ratio of root mean squared errors, and its standard error (jackknife)."""

    def ratio(rows):
        return np.sqrt(np.mean(error[rows] ** 2) / np.mean(reference[rows] ** 2))

    every = np.arange(error.size)
    without = np.array([ratio(np.delete(every, k)) for k in every])
    return ratio(every), np.sqrt((error.size - 1) * np.mean((without - without.mean()) ** 2))


def show(labeling, budget, runs):
    results = np.array([result for result, _ in runs], dtype=float)
    error = np.sqrt(np.mean(results[:, :, 0] ** 2, axis=0))
    coverage, width = (results[:, :, k].mean(axis=0) for k in (1, 2))
    forecasts = np.array([line for _, line in runs[:FORECASTS]])
    first, low, high, first_seen, second, second_seen = forecasts.mean(axis=0)
    within = (0.85 * forecasts[:, 1] <= forecasts[:, 3]) & (
        forecasts[:, 3] <= 1.15 * forecasts[:, 2]
    )
    print(f"{labeling} labeling, {budget} checked rows, {len(runs)} replications\n")
    print("| design | error of F1 | relative | coverage | half-width |\n|---|---:|---:|---:|---:|")
    for k, name in enumerate(DESIGNS):
        ratio, spread = ratio_and_error(results[:, k, 0], results[:, 0, 0])
        print(
            f"| {name} | {error[k]:.4f} | {ratio:.2f} ± {spread:.2f} | {coverage[k]:.2f} | "
            f"{width[k]:.4f} |"
        )
    print(f"\nhalf-width forecast {first:.4f}, seen {first_seen:.4f}: {first / first_seen:.2f}")
    print(
        f"range of forecasts {low:.4f} to {high:.4f}: {low / first_seen:.2f} to "
        f"{high / first_seen:.2f}; {within.mean():.0%} of what is seen lies in it, within 15%"
    )
    print(f"second plan: {second:.4f}, seen {second_seen:.4f}: {second / second_seen:.2f}\n")


def main(replications, budget, labelings):
    print("| labeling | best allocation | plan |\n|---|---:|---:|")
    for labeling in labelings:
        best, planned = allocation_limits(labeling)
        print(f"| {labeling} | {best:.2f} | {planned:.2f} |", flush=True)
    print()
    with Pool(int(os.environ.get("PUEVAL_JOBS", os.cpu_count()))) as pool:
        for labeling in labelings:
            jobs = [(seed, budget, labeling) for seed in range(replications)]
            show(labeling, budget, pool.map(replicate, jobs, chunksize=1))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 100,
        int(sys.argv[2]) if len(sys.argv) > 2 else 200,
        sys.argv[3:4] or LABELINGS,
    )
