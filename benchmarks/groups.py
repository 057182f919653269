"""Speed of `evaluate_by`, relative to one evaluation and to a loop over groups.

    python benchmarks/groups.py [rows [groups]]

A loop over all groups would take minutes, so its time is extrapolated from some groups.
"""

import sys
import time
import warnings

import numpy as np

from pueval import AssumptionWarning, evaluate, evaluate_by

LOOPED = 100


def data(rows, groups, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.5
    score = rng.normal(size=rows) + 1.5 * positive
    labeled = positive & (rng.random(rows) < 0.6)
    return labeled.astype(np.int64), score, rng.integers(0, groups, rows)


def seconds(function, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def loop(label, score, by, groups, how):
    """Evaluate groups one by one, without `evaluate_by`."""
    order = np.argsort(by, kind="stable")
    ends = np.searchsorted(by[order], np.arange(groups + 1))
    for k in range(groups):
        mine = order[ends[k] : ends[k + 1]]
        evaluate(label[mine], score[mine], **how)


def line(what, ratio, goal):
    print(f"{what:<66} {ratio:>8.2f}   goal {goal}", flush=True)


def main():
    warnings.simplefilter("ignore", AssumptionWarning)  # small groups have clipped values
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    groups = int(float(sys.argv[2])) if len(sys.argv) > 2 else 10_000
    label, score, by = data(rows, groups)
    names = np.array([f"group {k}" for k in range(groups)])[by]
    found = evaluate_by(label, score, by, prior=0.2)
    print(f"{rows:,} rows in {groups:,} groups, {found.evaluated.sum():,} with estimates\n")
    few = by < LOOPED
    part = label[few], score[few], by[few]
    given = {"prior": 0.2, "threshold": 0.8}
    once, ours, slow = {}, {}, {}
    for level in (None, 0.95):
        how = {**given, "level": level}
        once[level] = seconds(lambda how=how: evaluate(label, score, **how))
        ours[level] = seconds(lambda how=how: evaluate_by(label, score, by, **how))
        slow[level] = seconds(lambda how=how: loop(*part, LOOPED, how), 1) * groups / LOOPED
    text = seconds(lambda: evaluate_by(label, score, names, **given))
    line("all groups / one evaluation, both with intervals", ours[0.95] / once[0.95], "≤ 5")
    line("all groups / one evaluation, both without intervals", ours[None] / once[None], "≤ 5")
    line("the same with text for names, with intervals", text / once[0.95], "≤ 7")
    line("loop over groups / all groups, with intervals", slow[0.95] / ours[0.95], "≥ 100")
    line("loop over groups / all groups, without intervals", slow[None] / ours[None], "≥ 20")
    for name in ("f1", "roc_auc"):
        took = seconds(lambda n=name: found.differences(n))
        line(f"differences of {name} from all rows / all groups", took / ours[0.95], "≤ 1.5")
    print(f"\nall groups with intervals: {ours[0.95]:.2f} s")


if __name__ == "__main__":
    main()
