"""Speed and memory of pueval relative to NumPy, scikit-learn and SciPy.

Usage: python benchmarks/speed.py [rows]
"""

import gc
import subprocess
import sys
import time
import tracemalloc

import numpy as np
from scipy.stats import hypergeom
from sklearn.metrics import roc_auc_score

from pueval import Counts, claesen_bounds, evaluate, metrics

LABELED = 0.02


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.1
    score = rng.normal(size=n) + 1.5 * positive
    label = (positive & (rng.random(n) < LABELED / 0.1)).astype(np.int64)
    return label, score, positive[label == 0].mean()


def seconds(function, repeats=5):
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def everything(label, score, prior, level=None):
    ev = evaluate(label, score, prior=prior, level=level)
    return dict(ev), ev.roc(), ev.pr()  # computes all intervals


def bounds_by_rank(label, score, prior, resamples=2000):
    """Compute Claesen's bounds naively: a bootstrap band in a loop over ranks."""
    rng = np.random.default_rng(0)
    n_labeled, unlabeled = int(label.sum()), int((label == 0).sum())
    times_drawn = rng.multinomial(n_labeled, np.full(n_labeled, 1 / n_labeled), size=resamples)
    above = np.zeros(resamples)
    hidden, head, seen, tables = round(prior * unlabeled), 0, 0, []
    for one in label[np.argsort(-score)]:
        if one:
            above += times_drawn[:, seen]
            seen += 1
        else:
            head += 1
        limits = np.quantile(above / n_labeled, [0.025, 0.975])
        for limit, rounding in zip(limits, (np.floor, np.ceil), strict=True):
            theta, tail = rounding(limit * hidden), unlabeled - head
            hits = min(head, theta) if hidden - theta <= tail else hidden - tail
            tables.append((seen + hits, head - hits))
    return tables


def peak(function):
    gc.collect()
    tracemalloc.start()
    function()
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size


def interpreter(code, repeats=7):
    """Return the import time in a fresh interpreter in seconds, without its start-up."""

    def run(text):
        return min(
            seconds(lambda: subprocess.run([sys.executable, "-c", text], check=True), 1)
            for _ in range(repeats)
        )

    return run(code) - run("pass")


def line(what, ratio, goal):
    print(f"{what:<66} {ratio:>8.2f}   goal {goal}", flush=True)


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    label, score, prior = data(n)
    print(f"{n:,} rows, {label.mean():.1%} labeled; NumPy {np.__version__}\n")
    sort = seconds(lambda: np.sort(score), 11)
    counts = seconds(lambda: Counts.from_arrays(label, score))
    whole = seconds(lambda: everything(label, score, prior), 11)
    theirs = seconds(lambda: roc_auc_score(label, score), 1)
    line("Counts / np.sort", counts / sort, "–")
    line("Counts, all measures, both curves, AUC / np.sort", whole / sort, "≤ 1")
    line("sklearn roc_auc_score alone / all of pueval", theirs / whole, "≥ 5")
    limits = seconds(lambda: everything(label, score, prior, level=0.95), 3)
    line("the same with 2,000 resamples for 95% intervals / np.sort", limits / sort, "≤ 3")
    memory = peak(lambda: everything(label, score, prior))
    line("peak memory / size of the scores", memory / score.nbytes, "≤ 3")

    small, small_score, _ = data(100_000, seed=1)
    ours = seconds(lambda: metrics.pulp_score(small, small_score))
    hits = np.cumsum(small[np.argsort(-small_score)])
    ranks = np.arange(1, 100_001)
    slow = seconds(lambda: hypergeom.cdf(hits - 1, 100_000, small.sum(), ranks).sum(), 1)
    line("scipy hypergeom.cdf over all ranks / PULP, 100,000 rows", slow / ours, "≥ 300")
    small_counts = Counts.from_arrays(small, small_score)
    ours = seconds(lambda: claesen_bounds(small_counts, prior=0.08).roc_auc)
    slow = seconds(lambda: bounds_by_rank(small, small_score, 0.08), 1)
    line("loop over ranks / Claesen's bounds, 100,000 rows", slow / ours, "≥ 50")
    light = interpreter("import pueval") / interpreter("import numpy, scipy.special")
    line("import pueval / import numpy, scipy.special", light, "≤ 1.5")


if __name__ == "__main__":
    main()
