"""Time that an audit adds to evaluate(), as a ratio within one run.

python -m benchmarks.audit_cost [rows] [repeats]

300 of the unlabeled rows are audited. Evaluations with and without the audit take turns, and look
up all measures. Prints the median times; the prior without an audit is given, or estimated.
"""

import sys
import time

import numpy as np

from pueval import evaluate

AUDITED = 300


def timed(**arguments):
    start = time.perf_counter()
    ev = evaluate(**arguments)
    for name in ev:
        _ = ev[name].low
    return time.perf_counter() - start


def main(n_rows, repeats):
    rng = np.random.default_rng(0)
    positive = rng.random(n_rows) < 0.1
    score = rng.normal(size=n_rows) + 2 * positive
    y = positive & (rng.random(n_rows) < 0.3)
    truth = np.full(n_rows, np.nan)
    rows = rng.choice(np.flatnonzero(~y), AUDITED, replace=False)
    truth[rows] = positive[rows]
    cases = {
        "prior given": {"prevalence": 0.1},
        "prior estimated": {},
        "audited": {"audited": truth},
        "audited, any labeling": {"audited": truth, "labeling": "any"},
    }
    times = {name: [] for name in cases}
    for _ in range(repeats):
        for name, options in cases.items():
            times[name].append(timed(y=y, score=score, **options))
    medians = {name: float(np.median(values)) for name, values in times.items()}
    print(f"{n_rows:,} rows, median of {repeats}\n")
    print("| | seconds | relative to a given prior | to an estimated one |")
    print("|---|---:|---:|---:|")
    for name, median in medians.items():
        ratios = [median / medians[base] for base in ("prior given", "prior estimated")]
        print(f"| {name} | {median:.2f} | {ratios[0]:.2f} | {ratios[1]:.2f} |")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000,
        int(sys.argv[2]) if len(sys.argv) > 2 else 3,
    )
