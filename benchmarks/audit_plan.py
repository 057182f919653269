"""Planned audits against simple random samples of the same size, and forecasts against results.

python -m benchmarks.audit_plan [replications] [checked rows] [labeling]

Rows have normal scores with a distance of 2 between the classes, and 10% are positive. 30% of the
positives are labeled: at random, more often where they score high ("up") or low ("down"), or three
times as often above their median ("step"). Prints, for F1 at a fixed threshold, the error, the
coverage and the half-width of the interval for both designs; the ratio of the errors; and, for
the first replications, forecast half-widths beside those then seen.
"""

import sys
import warnings

import numpy as np
from scipy.special import expit

from pueval import AssumptionWarning, evaluate
from pueval.audit import plan

ROWS, PREVALENCE, SEPARATION, THRESHOLD = 20_000, 0.1, 2.0, 1.6
FORECASTS = 10


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


def replicate(seed, budget, labeling):
    """Return error, coverage and half-width for a uniform and a planned audit; and forecasts.

    Forecasts are relative to the half-width then seen: for the plan, and for a second plan that
    checks as many rows again.
    """
    rng = np.random.default_rng(seed)
    positive = rng.random(ROWS) < PREVALENCE
    score = rng.normal(size=ROWS) + SEPARATION * positive
    y = positive & (rng.random(ROWS) < propensity(labeling, score))
    found = score >= THRESHOLD
    true = 2 * np.sum(positive & found) / (positive.sum() + found.sum())
    results, forecasts = [], [np.nan] * 4
    for floor in (1.0, 0.1):
        first = plan(y, score, budget=budget, threshold=THRESHOLD, floor=floor, seed=seed)
        truth = np.full(ROWS, np.nan)
        rows = first.draw(seed)
        truth[rows] = positive[rows]
        f1, width = evaluate_f1(y, score, truth, first.probabilities, seed)
        results.append([f1.value - true, f1.low <= true <= f1.high, width])
    if seed < FORECASTS:
        options = {"threshold": THRESHOLD, "seed": seed, "audited": truth}
        second = plan(y, score, budget=budget, audit_probability=first.probabilities, **options)
        forecasts = [first.forecast()["f1"], width, second.forecast()["f1"]]
        rows = second.draw(seed)
        truth[rows] = positive[rows]
        forecasts += [evaluate_f1(y, score, truth, second.combined_probabilities, seed)[1]]
    return results, forecasts


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    budget = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    labeling = sys.argv[3] if len(sys.argv) > 3 else "random"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        runs = [replicate(seed, budget, labeling) for seed in range(replications)]
    results = np.array([result for result, _ in runs], dtype=float)
    error = np.sqrt(np.mean(results[:, :, 0] ** 2, axis=0))
    coverage, width = (results[:, :, k].mean(axis=0) for k in (1, 2))
    first, first_seen, second, second_seen = np.nanmean([line for _, line in runs], axis=0)
    print(f"{labeling} labeling, {budget} checked rows, {replications} replications\n")
    print("| design | error of F1 | coverage | half-width |\n|---|---:|---:|---:|")
    for name, *cells in zip(("uniform", "planned"), error, coverage, width, strict=True):
        print(f"| {name} | {cells[0]:.4f} | {cells[1]:.2f} | {cells[2]:.4f} |")
    print(f"\nratio of errors {error[1] / error[0]:.2f}")
    print(f"half-width forecast {first:.4f}, seen {first_seen:.4f}: {first / first_seen:.2f}")
    print(f"second plan: {second:.4f}, seen {second_seen:.4f}: {second / second_seen:.2f}\n")


if __name__ == "__main__":
    main()
