"""Coverage of 95 % intervals, written to docs/understand/coverage.md.

python -m tests.coverage.tables [replications] [seed] [part of a title]

Only tables with that part in their title are made, if it is given, and printed instead.
"""

import sys
import textwrap
from functools import partial
from itertools import product
from multiprocessing import Pool

import numpy as np

from tests.coverage import default_threshold
from tests.coverage.biased_labels import (
    BIAS_COLUMNS,
    BIAS_GRID,
    BIAS_REASONS,
    BIAS_TEXT,
    measure_bias,
)
from tests.coverage.clusters import (
    CLUSTER_COLUMNS,
    CLUSTER_GRID,
    CLUSTER_PRIOR_COLUMNS,
    CLUSTER_PRIOR_GRID,
    CLUSTER_PRIOR_REASONS,
    CLUSTER_PRIOR_TEXT,
    CLUSTER_REASONS,
    CLUSTER_TEXT,
    measure_cluster_priors,
    measure_clusters,
)
from tests.coverage.cross_validation import CV_COLUMNS, CV_GRID, CV_REASONS, CV_TEXT, measure_cv
from tests.coverage.estimated_priors import (
    PRIOR_COLUMNS,
    PRIOR_GRID,
    PRIOR_REASONS,
    PRIOR_TEXT,
    measure_priors,
)
from tests.coverage.group_shrinkage import (
    GROUP_COLUMNS,
    GROUP_GRID,
    GROUP_REASONS,
    GROUP_TEXT,
    measure_groups,
)
from tests.coverage.probabilities import (
    PROBABILITY_COLUMNS,
    PROBABILITY_GRID,
    PROBABILITY_REASONS,
    PROBABILITY_TEXT,
    measure_probabilities,
)
from tests.coverage.section_tables import setting_table
from tests.coverage.simulation import (
    BANDS,
    NAMES,
    PURITY_UNKNOWN,
    START,
    Setting,
    coverage_and_width,
)
from tests.coverage.summary import END, PAGE, put_summary
from tests.coverage.summary import START as SUMMARY
from tests.coverage.top_of_the_list import (
    TOP_COLUMNS,
    TOP_GRID,
    TOP_REASONS,
    TOP_TEXT,
    measure_top,
)

GRID = [
    Setting(*each)
    for each in product((0.05, 0.25, 0.5), (1.0, 0.95, 0.75), (100, 1000), (1.0, 2.5))
]
BANDED = [Setting(*e) for e in product((0.05, 0.25, 0.5), (1.0, 0.75), (100, 1000), (1.0, 2.5))]
BANDED += [
    Setting(0.25, 1.0, labeled, separation) for labeled in (20, 3000) for separation in (1.0, 2.5)
]
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
        "extreme propensity",
    )
    for purity in ((1.0, 0.9) if known == "both estimated" else (1.0,))
    for labeled in (100, 1000)
    for separation in (1.0, 2.5)
]
UNCERTAIN_PURITY = [
    Setting(0.25, purity, labeled, separation, known)
    for known in PURITY_UNKNOWN
    for purity in ((1.0, 0.9) if known.endswith("estimated") else (0.95,))
    for labeled in (100, 1000)
    for separation in (1.5, 2.5)
]
SHORT = {
    "roc_auc": "AUC",
    "average_precision": "AP",
    "f1": "F1",
    "accuracy": "acc.",
    "balanced_accuracy": "bal. acc.",
    "matthews_corrcoef": "MCC",
}
INTRO = f"""# Coverage of the intervals

How often do 95% intervals contain the true value? `python -m tests.coverage.tables` simulates
samples with known truth and writes this page.

## Summary

Each number is the coverage of one interval in one setting. Numbers above 0.98 belong to
conservative intervals: wider than necessary, but not wrong. The sections discuss those below 0.92.
*Samples*: replications per setting.

{SUMMARY}
{END}

## Simulations

Unless a section says otherwise, scores are normal, and there are five unlabeled rows per labeled
row on average; the number of labeled rows is random. The threshold is half the separation plus .3.
The true AUC is .76 with separation 1 and .96 with separation 2.5. The mean width of the intervals
is in brackets or in a column of its own.
"""
REASONS = """
The numbers below .93:

- *roc area* of weak classifiers (separation 1) with 100 labeled rows, and noisy labels or a prior
  of .5: monotone rates are too favorable there
  ([two estimates](model.md#two-estimates-of-the-auc)). This is one of the reasons why the AUC is
  the direct estimate.
- Balanced accuracy and MCC at prior .05, 1,000 labeled rows and separation 1 (purities 1 and .95
  share their random numbers), and the AUC at prior .5, purity .75, 100 labeled rows and separation
  2.5, where labels carry little information. Among so many numbers, this is no more than chance.

For average precision with separation 2.5, coverage is above 95%: its intervals are wide enough for
samples that look perfect by chance (see [what the intervals cover](intervals.md))."""

BAND_REASONS = """
Where coverage differs from 95%:

- **Pointwise ROC bands** are at least as wide as Wilson's interval for a proportion. The number of
  rows that enters Wilson's interval was tuned on eight of these settings.
- **Simultaneous ROC bands** are conservative. They are nowhere narrower than pointwise bands, and
  allow for errors of both rates at every threshold.
- **Simultaneous precision-recall bands** are lowest, .88, at prior .5, purity .75, 100 labeled rows
  and separation 2.5, where labels carry little information. The next ones, .916 and more, are
  within three standard errors of .95. With 20 labeled rows, bands are wide: so few rows hardly
  determine the curve.
- **Precision-recall bands with separation 2.5** are wide enough for samples that look perfect by
  chance, like intervals of the average precision."""
ESTIMATED_BAND_REASONS = """
The interval of an estimated prior is valid for all shapes of score distributions. Bands include
this uncertainty, so they are wider than these shapes need."""
OTHER_REASONS = """
Where coverage differs from 95%:

- **Estimated prior**: its interval is valid for all shapes of score distributions and conservative
  for simple shapes like these. So are all intervals that include its uncertainty.
- **Best accuracy with an estimated prior and separation 1**: as a function of the prior, it has a
  minimum, here close to the true value, and the interval ends there. Misses are small, mostly a few
  thousandths.
- **Average precision with separation 2.5**: as in the first table. With a given prevalence, 1,000
  labeled rows and separation 1, coverage is 92%, three standard errors below 95%. One of 440
  numbers can be this low by chance.
- **Prior given as an interval**: intervals are valid for all priors in it.
- **Propensities, "100 labeled"**: about 66 of the 600 rows are labeled, and the few low-scoring
  ones have large weights.
- **Extreme propensities**, from .01 to .8: intervals allow for positives that are hardly ever
  labeled and may be missing among the labeled rows, so they are wide. With "100 labeled" rows,
  pueval warns that the effective number of labeled rows is small."""

PURITY_REASONS = """
Where coverage differs from 95% by more than chance:

- **Purity interval**: the true purity is at its end, so an interval misses on one side only.
- **Purity estimated**: while clean labels are plausible (p of at least .2), the purity is close to
  the end of its range. Intervals then add its uncertainty as if it were independent of the rows,
  and are conservative.
- **Purity estimated, labels clean, prevalence known**: no estimate of the purity exceeds the true
  purity, 1, so estimates of measures are too high. In 80 other samples with 1,000 labeled rows, all
  five misses of the AUC were on that side."""


def held(job):
    setting, replications, names, bands, seed = job
    return coverage_and_width(setting, replications, names=names, bands=bands, seed=seed)


def table(title, text, settings, replications, names, *, bands=(), seed=0):
    lines = [f"\n## {title}\n", filled(f"{text} {replications:,} replications per row.") + "\n"]
    columns = (*names, *bands)
    heads = " | ".join(map(short, columns))
    lines.append(f"| known | prior | purity | labeled | separation | {heads} |")
    lines.append("|---|" + "---:|" * (4 + len(columns)))
    rows, mean_widths = [], []
    with Pool() as pool:
        jobs = [(setting, replications, names, bool(bands), seed) for setting in settings]
        for setting, (shares, widths) in zip(settings, pool.imap(held, jobs), strict=True):
            rows.append([shares[name] for name in columns])
            mean_widths.append([widths[name] for name in columns])
            where = (
                f"| {setting.known} | {setting.prior:g} | {setting.purity:g} | {setting.labeled} | "
                f"{setting.separation:g} | "
            )
            lines.append(where + cells(rows[-1], mean_widths[-1]) + " |")
            print(lines[-1], flush=True)  # noqa: T201
    mean = cells(np.mean(rows, axis=0), np.mean(mean_widths, axis=0))
    lines.append(f"| mean ||||| {mean} |")
    lines.append("\n" + misses(settings, np.array(rows), replications))
    return lines


def cells(shares, widths):
    """Coverage, and the mean width in brackets."""
    pairs = zip(shares, widths, strict=True)
    return " | ".join(f"{share:.3f} ({width:.2f})" for share, width in pairs)


def short(name):
    """Name of a column: "best acc." for "best accuracy"."""
    return " ".join(SHORT.get(word, word) for word in name.split())


def misses(settings, rows, replications):
    """Count the numbers outside .93 to .97."""
    error = np.sqrt(0.95 * 0.05 / replications)
    few = np.array([setting.labeled < 1000 for setting in settings])
    low, high = rows < 0.93, rows > 0.97
    return filled(
        f"Below .93: {low.sum()} of {rows.size} numbers ({low[few].sum()} with 100 labeled rows). "
        f"Above .97: {high.sum()}. Lowest: {rows.min():.3f}. The standard error of a coverage of "
        f".95 is {error:.3f}."
    )


def filled(text):
    return textwrap.fill(text, 100)


def sections(replications, seed):
    """Return the title of each table, the function that makes it, and the text below it."""
    quarter, half = max(replications // 4, 1), max(replications // 2, 1)
    known = (
        "Areas (*roc area*: `ev.roc_area()`; AP: average precision), measures at the threshold, "
        "and best values over all thresholds."
    )
    bands = (
        "Pointwise bands: share of covered points. Simultaneous bands: share of curves covered as "
        "a whole."
    )
    start = " *roc start*: the pointwise band at a false positive rate of .01."
    others = (
        "*Interval*: the given prior ranges from 20% below to 10% above the truth, so coverage is "
        "above 95%. *Frequency*: a label frequency is given. *Prevalence*: a prevalence is given, "
        "and 7 of 10 positives are labeled. *Chosen*: no threshold is given, and the truth is the "
        "value at the chosen threshold."
    )
    purity = (
        "A prevalence or a label frequency (*frequency*) is given, and the prior follows from it "
        "and the purity. *Purity interval*: purities from .05 below to the truth are given, so "
        "coverage is above 95%. *Purity estimated*: by the tilt model."
    )
    with_estimates = (*BANDS, START)
    every = (
        ("Prior and purity known", known, GRID, replications, NAMES, (), REASONS),
        ("Bands of curves", bands, BANDED, quarter, (), BANDS, BAND_REASONS),
        (
            "Bands, prior estimated",
            bands + start,
            ESTIMATED,
            quarter,
            (),
            with_estimates,
            ESTIMATED_BAND_REASONS,
        ),
        (
            "Prior given as an interval or estimated, labels resampled, and more",
            others,
            OTHERS,
            half,
            NAMES,
            (),
            OTHER_REASONS,
        ),
        (
            "Prevalence or label frequency known, purity uncertain",
            purity,
            UNCERTAIN_PURITY,
            quarter,
            NAMES,
            (),
            PURITY_REASONS,
        ),
    )
    for *what, drawn, reasons in every:
        yield what[0], partial(table, *what, bands=drawn, seed=seed), reasons
    for each in default_threshold.SECTIONS:
        title, text, settings, measure, columns, reasons = each
        what = (title, text, settings, measure, half, columns)
        amount = "{:,} replications per row."
        yield title, partial(setting_table, *what, amount=amount, seed=seed), reasons
    title = "Estimated prior"
    estimated = (title, PRIOR_TEXT, PRIOR_GRID, measure_priors, quarter, PRIOR_COLUMNS)
    amount = "{:,} replications per row."
    yield title, partial(setting_table, *estimated, amount=amount, seed=seed), PRIOR_REASONS
    title = "Labeling bias"
    biased = (title, BIAS_TEXT, BIAS_GRID, measure_bias, quarter, BIAS_COLUMNS)
    yield title, partial(setting_table, *biased, amount=amount, seed=seed), BIAS_REASONS
    title = "Cross-validation"
    cross_validated = (title, CV_TEXT, CV_GRID, measure_cv, quarter, CV_COLUMNS)
    yield (
        title,
        partial(setting_table, *cross_validated, amount="{:,} replications per row.", seed=seed),
        CV_REASONS,
    )
    title = "Rows that belong together"
    clustered = (title, CLUSTER_TEXT, CLUSTER_GRID, measure_clusters, half, CLUSTER_COLUMNS)
    yield title, partial(setting_table, *clustered, amount="", seed=seed), CLUSTER_REASONS
    amount = "{:,} replications per row."
    title = "Rows that belong together, prior estimated"
    estimated = (
        title,
        CLUSTER_PRIOR_TEXT,
        CLUSTER_PRIOR_GRID,
        measure_cluster_priors,
        half,
        CLUSTER_PRIOR_COLUMNS,
    )
    yield title, partial(setting_table, *estimated, amount=amount, seed=seed), CLUSTER_PRIOR_REASONS
    title = "Predicted probabilities"
    probable = (
        title,
        PROBABILITY_TEXT,
        PROBABILITY_GRID,
        measure_probabilities,
        quarter,
        PROBABILITY_COLUMNS,
    )
    amount = "{:,} replications per row."
    yield title, partial(setting_table, *probable, amount=amount, seed=seed), PROBABILITY_REASONS
    title = "Top of the list"
    top = (title, TOP_TEXT, TOP_GRID, measure_top, quarter, TOP_COLUMNS)
    yield title, partial(setting_table, *top, amount=amount, seed=seed), TOP_REASONS
    title = "Many small groups, shrunken"
    shrunken = (title, GROUP_TEXT, GROUP_GRID, measure_groups, quarter, GROUP_COLUMNS)
    amount = "At least ten times {:,} groups per row."
    yield title, partial(setting_table, *shrunken, amount=amount, seed=seed), GROUP_REASONS


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
    PAGE.write_text(put_summary("\n".join([INTRO, *lines]) + "\n"))


if __name__ == "__main__":
    main()
