"""Time to plot large data, relative to the evaluation that is plotted.

Usage: python benchmarks/pictures.py [rows]
"""

import io
import sys
from time import perf_counter

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from pueval import evaluate
from pueval.displays import (
    ComparisonDisplay,
    MeasureByThresholdDisplay,
    PrecisionRecallDisplay,
    RankCdfDisplay,
    RocCurveDisplay,
    ScoreDistributionDisplay,
    SensitivityDisplay,
)

KINDS = (
    RocCurveDisplay,
    PrecisionRecallDisplay,
    ScoreDistributionDisplay,
    RankCdfDisplay,
    MeasureByThresholdDisplay,
    SensitivityDisplay,
    ComparisonDisplay,
)


def seconds(work):
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def drawn(make):
    display = make()
    display.figure_.savefig(io.BytesIO(), format="png")
    plt.close(display.figure_)


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.1
    score = rng.normal(size=n) + 2 * positive
    labeled = positive & (rng.random(n) < 0.2)
    drawn(lambda: evaluate(labeled[:1000], score[:1000], prior=0.05).plot())  # fonts and imports
    unit, ev = seconds(lambda: evaluate(labeled, score, prior=0.08 / 0.98))
    print(f"{n:,} rows; evaluate() took {unit:.2f} s. In units of it, drawing and saving included:")
    for kind in KINDS:
        took, _ = seconds(lambda kind=kind: drawn(lambda: kind.from_evaluation(ev)))
        print(f"{kind.__name__:28s} {took / unit:.2f}")
    for title, work in (
        ("ev.plot(), four panels", lambda: drawn(ev.plot)),
        ("notebook view", ev._repr_html_),
    ):
        took, result = seconds(work)
        size = f", {len(result) / 1000:.0f} kB" if result else ""
        print(f"{title:28s} {took / unit:.2f}{size}")


if __name__ == "__main__":
    main()
