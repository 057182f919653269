"""Time of the default estimator of the prior, relative to other tasks.

    python -m benchmarks.priors.cost

10,000 rows are compared with a logistic regression on the same score, 10 million rows with np.sort
of the scores.
"""

import time

import numpy as np
from sklearn.linear_model import LogisticRegression

from pueval import Counts, priors


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + 2.5 * positive
    return (positive & (rng.random(n) < 0.2)).astype(np.int64), score


def seconds(function, repeats=5):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    label, score = data(10_000)
    theirs = seconds(lambda: LogisticRegression().fit(score[:, None], label))
    ours = seconds(lambda: priors.estimate(label, score))
    print(f"10,000 rows: estimate / LogisticRegression fit      {ours / theirs:6.1f}   goal ≤ 10")
    label, score = data(10_000_000)
    sort = seconds(lambda: np.sort(score))
    ours = seconds(lambda: priors.estimate(label, score))
    ready = Counts.from_arrays(label, score)
    rest = seconds(lambda: priors.estimate(ready))
    print(f"10 million rows: Counts and estimate / np.sort      {ours / sort:6.2f}   goal ≤ 2")
    print(f"10 million rows: estimate from Counts / np.sort     {rest / sort:6.2f}")


if __name__ == "__main__":
    main()
