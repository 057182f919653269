"""Time to compare models, relative to evaluating them one by one without intervals.

Usage: python benchmarks/compare.py [rows] [models]

Reports wall time and CPU time; CPU time does not depend on other running programs.
"""

import sys
import time
import tracemalloc
import warnings

import numpy as np

from pueval import AssumptionWarning, compare, evaluate


def data(n, models):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.2
    label = (positive & (rng.random(n) < 0.3)).astype(np.int64)
    hint = rng.normal(size=n) + 1.5 * positive
    scores = {f"m{k}": hint + (0.5 + k / 20) * rng.normal(size=n) for k in range(models)}
    return label, scores, positive[label == 0].mean()


def cost(function, repeats=5):
    """Return the smallest wall time and the smallest CPU time of several runs."""
    found = []
    for _ in range(repeats):
        clock, processor = time.perf_counter(), time.process_time()
        function()
        found.append((time.perf_counter() - clock, time.process_time() - processor))
    return np.min(found, axis=0)


def peak(function):
    tracemalloc.start()
    function()
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size


def one_by_one(label, scores, prior):
    for score in scores.values():
        evaluate(label, score, prior=prior, level=None)


def everything(comparison):
    return comparison.differences(), [dict(ev) for ev in comparison.evaluations.values()]


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    models = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    label, scores, prior = data(n, models)
    print(f"{models} models, {n:,} rows, {label.mean():.1%} labeled; NumPy {np.__version__}\n")
    base = cost(lambda: one_by_one(label, scores, prior))
    print(f"{'':<58} {'clock':>7} {'processors':>11}")
    print(f"{'one by one, no intervals: seconds':<58} {base[0]:>7.2f} {base[1]:>11.2f}")

    def line(what, function, goal="–"):
        ratio = cost(function) / base
        print(f"{what:<58} {ratio[0]:>7.2f} {ratio[1]:>11.2f}   goal {goal}", flush=True)

    line("compare, no intervals", lambda: compare(label, scores, prior=prior, level=None))
    line(
        "compare, every measure, all pairs, intervals and p-values",
        lambda: compare(label, scores, prior=prior).differences(),
        "≤ 5",
    )
    line(
        "the same, and every model's own intervals",
        lambda: everything(compare(label, scores, prior=prior)),
    )
    warnings.simplefilter("ignore", AssumptionWarning)  # labels are clean here
    line(
        "the same as if labels were noisy",
        lambda: compare(label, scores, prior=prior * 0.9, purity=0.95).differences(),
    )
    size = sum(score.nbytes for score in scores.values())
    memory = peak(lambda: compare(label, scores, prior=prior)) / size
    print(f"{'peak memory of compare / size of the scores':<58} {memory:>7.2f}")


if __name__ == "__main__":
    main()
