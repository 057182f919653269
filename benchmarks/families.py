"""Time of the families of measures, as multiples of np.sort on the scores, within one run.

python -m benchmarks.families [rows] [repeats]

2% of the rows are labeled, and scores are probabilities. "evaluate" counts the rows and evaluates
the default table without intervals; the lines below are what families add to it, without and with
95% intervals. np.sort uses one core. Processor time adds up all cores, so it hardly depends on what
else the machine does.
"""

import sys
import time

import numpy as np

from pueval import evaluate
from pueval.families.field_measures import FAMILIES


def timed(function):
    """Return the elapsed time and the processor time of a function, and its result."""
    start = np.array([time.perf_counter(), time.process_time()])
    result = function()
    return np.array([time.perf_counter(), time.process_time()]) - start, result


def main(n_rows, repeats):
    rng = np.random.default_rng(0)
    positive = rng.random(n_rows) < 0.1
    score = 1 / (1 + np.exp(2 - rng.normal(size=n_rows) - 2 * positive))
    y = positive & (rng.random(n_rows) < 0.2)
    times = {}

    def add(name, seconds):
        times.setdefault(name, []).append(seconds)

    for _ in range(repeats):
        add("np.sort", timed(lambda: np.sort(score))[0])
        for level, title in ((None, "without intervals"), (0.95, "with intervals")):
            seconds, ev = timed(lambda level=level: evaluate(y, score, prevalence=0.1, level=level))
            add(f"evaluate, {title}", seconds)
            total = np.zeros(2)
            for family in FAMILIES:
                seconds, _ = timed(lambda ev=ev, family=family: ev.family(family))
                add(f"{family}, {title}", seconds)
                total += seconds
            add(f"all families, {title}", total)
    medians = {name: np.median(values, axis=0) for name, values in times.items()}
    unit = medians.pop("np.sort")
    print(f"{n_rows:,} rows, median of {repeats}; np.sort took {unit[0]:.2f} s, of which the")
    print(f"processor worked {unit[1]:.2f} s.\n")
    print("| × np.sort | elapsed | processor time |\n|---|---:|---:|")
    for name, (elapsed, processor) in medians.items():
        print(f"| {name} | {elapsed / unit[0]:.2f} | {processor / unit[1]:.2f} |")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000,
        int(sys.argv[2]) if len(sys.argv) > 2 else 3,
    )
