"""Time of `evaluate` with clusters, relative to `evaluate` without.

    python -m benchmarks.clusters [rows] [clusters] [repeats]

Both read the same arrays and look up the AUC, the average precision, F1 and best F1 with their
intervals, several times in turn. Fails if the ratio of the shortest times is above `LARGEST`.
"""

import sys
import time

import numpy as np

from pueval import evaluate

# Largest ratio that is allowed.
LARGEST = 2.0


def draw(n, n_clusters):
    """Draw labels, scores and clusters; 30% of the rows are positive."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, n_clusters, n)
    positive = rng.random(n) < 0.3
    effect = rng.normal(size=n_clusters)[cluster]
    score = effect + rng.normal(size=n) + 1.5 * positive
    return positive & (rng.random(n) < 0.1), score, cluster


def seconds(y, score, cluster):
    """Return the time of an evaluation and its most common numbers."""
    start = time.perf_counter()
    ev = evaluate(y, score, prior=0.28, threshold=1.0, cluster=cluster)
    for name in ("roc_auc", "average_precision", "f1"):
        ev[name]
    ev.best("f1")
    return time.perf_counter() - start


def main():
    n, n_clusters, repeats = (
        int(sys.argv[k]) if len(sys.argv) > k else default
        for k, default in ((1, 10_000_000), (2, 1_000_000), (3, 3))
    )
    y, score, cluster = draw(n, n_clusters)
    times = [(seconds(y, score, None), seconds(y, score, cluster)) for _ in range(repeats)]
    without, with_clusters = np.min(times, axis=0)
    ratio = with_clusters / without
    print(
        f"{n:,} rows, {n_clusters:,} clusters: {without:.2f} s without, {with_clusters:.2f} s "
        f"with clusters, ratio {ratio:.2f}"
    )
    if ratio > LARGEST:
        sys.exit(f"the ratio is above {LARGEST}")


if __name__ == "__main__":
    main()
