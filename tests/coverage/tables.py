"""Coverage of 95 % intervals, written to docs/understand/coverage.md.

python -m tests.coverage.tables [replications] [seed] [part of a title]

Only tables with that part in their title are made, if it is given, and printed instead.
"""

import sys
from functools import partial
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from tests.coverage.simulation import BANDS, NAMES, START, Setting, coverage

GRID = [
    Setting(*each)
    for each in product((0.05, 0.25, 0.5), (1.0, 0.95, 0.75), (100, 1000), (1.0, 2.5))
]
BANDED = [Setting(*e) for e in product((0.05, 0.25, 0.5), (1.0, 0.75), (100, 1000), (1.0, 2.5))]
ESTIMATED = [
    Setting(prior, 1.0, labeled, separation, "estimated")
    for prior, labeled, separation in product((0.05, 0.25), (100, 1000), (1.5, 2.5))
]
OTHERS = [
    Setting(0.25, purity, labeled, separation, known)
    for known in (
        "interval",
        "estimated",
        "both estimated",
        "labeling",
        "frequency",
        "prevalence",
        "chosen",
        "propensity",
    )
    for purity in ((1.0, 0.9) if known == "both estimated" else (1.0,))
    for labeled in (100, 1000)
    for separation in (1.0, 2.5)
]
SHORT = {
    "roc_auc": "AUC",
    "average_precision": "AP",
    "f1": "F1",
    "accuracy": "acc.",
    "balanced_accuracy": "bal. acc.",
    "matthews_corrcoef": "MCC",
}
PAGE = Path(__file__).parents[2] / "docs/understand/coverage.md"
INTRO = """# How often intervals hold the truth

Every table below was made by `python -m tests.coverage.tables`: normal scores, 95 % intervals, five
unlabeled rows to a labeled one on average (in each sample as many as chance wills), threshold half
the separation plus .3. Positives and negatives with separation 1 have a true AUC of .76, with
separation 2.5 of .96.
"""
REASONS = """
Below .93 are balanced accuracy and MCC at prior .05, 1,000 labeled rows and separation 1
(purities 1 and .95 share their random numbers), and the AUC at prior .5, purity .75, 100 labeled
rows and separation 2.5, where labels say little: not more than chance among so many numbers.

Average precision with separation 2.5 is held more often than in 95 %: its limits are wide enough
for samples that look perfect by chance (see [what the intervals mean](intervals.md))."""

BAND_REASONS = """
Where coverage is not near 95 %:

- **Pointwise ROC bands** reach at least as far as Wilson's limits of a share. For how many rows
  these are was chosen on eight of these settings.
- **Pointwise precision-recall bands** hold somewhat too much.
- **Simultaneous bands** hold too much: they are nowhere narrower than pointwise ones, and those of
  precision-recall curves are as wide as the worst place asks for, which is the start."""
OTHER_REASONS = """
Where coverage is not near 95 %:

- **An estimated prior** has limits that hold for any shape of the scores, and more than 95 %
  where the shape is simple, as here; so have all numbers that carry it.
- **Best accuracy with an estimated prior and separation 1**: over all priors in question it has
  a minimum, here close to the truth, and the lower limit stops there. Misses are small (a few
  thousandths, mostly).
- **A chosen threshold**: what the choice adds is known only roughly; limits are as much wider,
  and hold the value seen, too.
- **Propensities, "100 labeled"**: of those 600 rows some 66 are labeled, and the few that score
  low have large weights."""


def held(job):
    setting, replications, names, bands, seed = job
    return coverage(setting, replications, names=names, bands=bands, seed=seed)


def table(title, text, settings, replications, names, *, bands=(), seed=0):
    lines = [f"\n## {title}\n", f"{text} {replications:,} replications a line.\n"]
    columns = (*names, *bands)
    heads = " | ".join(map(short, columns))
    lines.append(f"| known | prior | purity | labeled | separation | {heads} |")
    lines.append("|---|" + "---:|" * (4 + len(columns)))
    rows = []
    with Pool() as pool:
        jobs = [(setting, replications, names, bool(bands), seed) for setting in settings]
        for setting, found in zip(settings, pool.imap(held, jobs), strict=True):
            row = [found[name] for name in columns]
            rows.append(row)
            where = (
                f"| {setting.known} | {setting.prior:g} | {setting.purity:g} | {setting.labeled} | "
                f"{setting.separation:g} | "
            )
            lines.append(where + " | ".join(f"{x:.3f}" for x in row) + " |")
            print(lines[-1], flush=True)  # noqa: T201
    mean = " | ".join(f"{x:.3f}" for x in np.mean(rows, axis=0))
    lines.append("| mean |||||" + f" {mean} |")
    lines.append("\n" + misses(settings, np.array(rows)))
    return lines


def short(name):
    """Name of a column: "best acc." for "best accuracy"."""
    return " ".join(SHORT.get(word, word) for word in name.split())


def misses(settings, rows):
    """Say how many numbers are outside .93 to .97, and with how many labeled rows."""
    few = np.array([setting.labeled < 1000 for setting in settings])
    low, high = rows < 0.93, rows > 0.97
    return (
        f"Of {rows.size} numbers, {low.sum()} are below .93, {low[few].sum()} of them with 100 "
        f"labeled rows, the lowest {rows.min():.3f}; {high.sum()} are above .97. The standard "
        "error of a coverage of .95 is .007 with 1,000 replications, .010 with 500 and .014 with "
        "250."
    )


def sections(replications, seed):
    """Return the title of every table, what makes it, and the words that follow."""
    quarter, half = max(replications // 4, 1), max(replications // 2, 1)
    known = (
        "Areas (AP: average precision), measures at the threshold, and best values over all "
        "thresholds."
    )
    bands = "Pointwise bands: share of places held. Simultaneous bands: share of curves held whole."
    start = " *roc start*: the pointwise band at a false positive rate of .01."
    others = (
        "An interval is 20 % below to 10 % above the truth, so its limits hold more than 95 %. "
        "*Frequency*: a label frequency is given; *prevalence*: a prevalence is, and 7 of 10 "
        "positives are labeled. *Chosen*: no threshold is given, and the truth is that at the "
        "threshold chosen."
    )
    with_estimates = (*BANDS, START)
    every = (
        ("Prior and purity known", known, GRID, replications, NAMES, (), REASONS),
        ("Bands of curves", bands, BANDED, quarter, (), BANDS, BAND_REASONS),
        ("Bands, prior estimated", bands + start, ESTIMATED, quarter, (), with_estimates, ""),
        (
            "Prior given as an interval, or estimated; labels drawn again; and more",
            others,
            OTHERS,
            half,
            NAMES,
            (),
            OTHER_REASONS,
        ),
    )
    for *what, drawn, reasons in every:
        yield what[0], partial(table, *what, bands=drawn, seed=seed), reasons


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    lines = []
    for title, make, reasons in sections(replications, seed):
        if part in title:
            lines += [*make(), reasons]
    if part:
        print("\n".join(lines))  # noqa: T201
        return
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join([INTRO, *lines]) + "\n")


if __name__ == "__main__":
    main()
