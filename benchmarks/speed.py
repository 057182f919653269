"""Speed and memory as ratios within one run: pueval against NumPy, scikit-learn and SciPy.

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

from pueval import Counts, evaluate, metrics

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


def everything(label, score, prior):
    ev = evaluate(label, score, prior=prior)
    return ev, ev.roc(), ev.pr()


def peak(function):
    gc.collect()
    tracemalloc.start()
    function()
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size


def interpreter(code, repeats=7):
    """Seconds that a fresh interpreter needs for some imports, start-up taken off."""

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
    sort = seconds(lambda: np.sort(score))
    counts = seconds(lambda: Counts.from_arrays(label, score))
    whole = seconds(lambda: everything(label, score, prior))
    theirs = seconds(lambda: roc_auc_score(label, score), 1)
    line("Counts / np.sort", counts / sort, "–")
    line("Counts, all measures, both curves, AUC / np.sort", whole / sort, "≤ 1.5")
    line("sklearn roc_auc_score alone / all of pueval", theirs / whole, "≥ 3.5")
    memory = peak(lambda: everything(label, score, prior))
    line("peak memory / size of the scores", memory / score.nbytes, "≤ 4")

    small, small_score, _ = data(100_000, seed=1)
    ours = seconds(lambda: metrics.pulp_score(small, small_score))
    hits = np.cumsum(small[np.argsort(-small_score)])
    ranks = np.arange(1, 100_001)
    slow = seconds(lambda: hypergeom.cdf(hits - 1, 100_000, small.sum(), ranks).sum(), 1)
    line("scipy hypergeom.cdf over all ranks / PULP, 100,000 rows", slow / ours, "≥ 300")
    light = interpreter("import pueval") / interpreter("import numpy, scipy.special")
    line("import pueval / import numpy, scipy.special", light, "≤ 1.5")


if __name__ == "__main__":
    main()
