"""False alarms and detection delays of confidence sequences over time, and coverage of windows.

    python benchmarks/over_time.py [repetitions] [looks]

Writes benchmarks/OVER_TIME.md; 400 repetitions and 1,000 looks by default, on all cores. Every
setting is a stream of periods with normal scores, a known prevalence and random labeling.
"""

import sys
import warnings
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.stats import norm

from pueval import AssumptionWarning, evaluate_over_time

WATCHED = ("roc_auc", "average_precision", "precision", "f1", "prevalence")
PREVALENCE, LABEL_FREQUENCY, THRESHOLD = 0.3, 0.4, 1.0
# Periods before the change, and most periods after it.
BEFORE, AFTER = 50, 200


@dataclass(frozen=True)
class Setting:
    """A stream of periods: rows of each, separation of the classes, reference, change."""

    rows: int
    separation: float
    reference: int
    group_prior: str = "shared"
    window: int = 1
    changed: float | None = None

    @property
    def auc(self):
        return norm.cdf(self.separation / np.sqrt(2))


FALSE_ALARMS = [
    Setting(250, 1.5, 1),
    Setting(250, 1.5, 10),
    Setting(250, 3.0, 10),
    Setting(250, 1.5, 10, "label_frequency"),
    Setting(1000, 1.5, 1),
    Setting(1000, 1.5, 10),
    Setting(1000, 3.0, 10),
]
DELAYS = [
    Setting(rows, 1.5, 10, changed=changed)
    for rows in (250, 1000, 5000)
    for changed in (1.3, 1.0, 0.5)
]
COVERAGE = [
    Setting(rows, 1.5, 1, group_prior, window)
    for rows, window in ((250, 1), (250, 4), (1000, 1), (1000, 4))
    for group_prior in ("shared", "label_frequency")
]


def stream(setting, n_periods, seed):
    """Draw labels, scores and times; the separation changes after `BEFORE` periods."""
    rng = np.random.default_rng(seed)
    time = np.repeat(np.arange(n_periods), setting.rows)
    positive = rng.random(time.size) < PREVALENCE
    separation = np.full(time.size, setting.separation)
    if setting.changed is not None:
        separation[time >= BEFORE] = setting.changed
    labeled = positive & (rng.random(time.size) < LABEL_FREQUENCY)
    return labeled, rng.normal(separation * positive), time


def evaluate(setting, n_periods, seed, **options):
    warnings.simplefilter("ignore", AssumptionWarning)
    return evaluate_over_time(
        *stream(setting, n_periods, seed),
        every=1,
        prevalence=PREVALENCE,
        threshold=THRESHOLD,
        group_prior=setting.group_prior,
        window=setting.window,
        reference=setting.reference,
        n_resamples=2,
        **options,
    )


def false_alarms(setting, looks, seed):
    """Return whether each measure, watched alone at 5%, raises an alarm; and 95% intervals do."""
    # Five measures at 25% together are 5% each.
    times = evaluate(setting, setting.reference + looks, seed, watch=WATCHED, false_alarm_rate=0.25)
    alarms = [times.sequence(name).alarm.any() for name in WATCHED]
    first = times.names[int(np.argmax(times.evaluated))]
    changes = times.changes("roc_auc", reference=first)
    repeated = np.nanmax(np.abs(changes.value) / changes.standard_error) > norm.ppf(0.975)
    return [*alarms, repeated]


def delay(setting, looks, seed):
    """Return an alarm before the change, and the periods from the change to the first alarm."""
    del looks
    times = evaluate(setting, BEFORE + AFTER, seed)
    periods = np.array(times.sequence("roc_auc").windows)[times.sequence("roc_auc").alarm]
    early, late = periods[periods < BEFORE], periods[periods >= BEFORE]
    return [early.size > 0, late[0] - BEFORE + 1 if late.size else np.inf]


def coverage(setting, looks, seed):
    """Return whether intervals of the AUC and of its changes contain the truth; one per window."""
    del looks
    times = evaluate(setting, 12, seed)
    areas, changes = times["roc_auc"], times.changes("roc_auc")
    prevalence = times["prevalence"]
    return [
        np.mean((areas.low <= setting.auc) & (setting.auc <= areas.high)),
        np.mean((prevalence.low <= PREVALENCE) & (prevalence.high >= PREVALENCE)),
        np.nanmean(
            np.where(np.isfinite(changes.low), (changes.low <= 0) & (changes.high >= 0), np.nan)
        ),
    ]


def simulate(pool, measure, settings, looks, repetitions):
    """Yield each setting with its results, one line per repetition."""
    for k, setting in enumerate(settings):
        seeds = np.arange(repetitions) + 10**6 * k
        results = pool.map(partial(measure, setting, looks), seeds.tolist(), chunksize=1)
        yield setting, np.array(results, dtype=float)


def percent(share):
    return f"{100 * share:.1f}%"


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    looks = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    lines = [
        "# Evaluation over time",
        "",
        "Normal scores whose classes differ by the separation; prevalence .3, of whose positives a",
        "share of .4 is labeled at random, so 100 rows have 12 labeled ones on average; prevalence",
        f"and threshold known; rows are those of a period; {repetitions:,} repetitions. Made by",
        "`python benchmarks/over_time.py`.",
        "",
        f"## False alarms within {looks:,} looks",
        "",
        "Nothing changes. Share of streams with any alarm, each measure watched alone at a false",
        "alarm rate of 5%. Last column: streams in which a 95% interval of the change of the AUC",
        "from the first period excludes 0 at any look.",
        "",
        "| rows | separation | reference periods | group_prior | "
        + " | ".join(WATCHED)
        + " | 95% intervals |",
        "|---:|---:|---:|---|" + "---:|" * (len(WATCHED) + 1),
    ]

    def add(*cells):
        lines.append("| " + " | ".join(map(str, cells)) + " |")
        print(lines[-1], flush=True)

    with Pool() as pool:
        for setting, results in simulate(pool, false_alarms, FALSE_ALARMS, looks, repetitions):
            shares = map(percent, results.mean(axis=0))
            add(setting.rows, setting.separation, setting.reference, setting.group_prior, *shares)
        lines += [
            "",
            f"## Detection delay after a change at period {BEFORE}",
            "",
            "The AUC is watched alone at a false alarm rate of 5%, with a reference of 10 periods.",
            f"Delays are in periods, at most {AFTER}; 1 is an alarm in the first period after the",
            "change.",
            "",
            "| rows | AUC before | after | early alarm | median delay | 90% quantile | detected |",
            "|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for setting, (early, delays) in (
            (setting, results.T)
            for setting, results in simulate(pool, delay, DELAYS, looks, repetitions)
        ):
            after = replace(setting, separation=setting.changed).auc
            # Delays without an alarm are infinite, and larger than all others.
            middle, most = np.quantile(delays, (0.5, 0.9), method="higher")
            add(
                setting.rows,
                f"{setting.auc:.3f}",
                f"{after:.3f}",
                percent(early.mean()),
                f"{middle:.0f}" if np.isfinite(middle) else f"over {AFTER}",
                f"{most:.0f}" if np.isfinite(most) else f"over {AFTER}",
                percent(np.isfinite(delays).mean()),
            )
        lines += [
            "",
            "## Coverage of 95% intervals of windows",
            "",
            "Streams of 12 periods. Windows of 4 periods overlap by 3; changes are from one window",
            "to the next.",
            "",
            "| rows | periods per window | group_prior | AUC | prevalence | change of AUC |",
            "|---:|---:|---|---:|---:|---:|",
        ]
        for setting, results in simulate(pool, coverage, COVERAGE, looks, 4 * repetitions):
            shares = map(percent, results.mean(axis=0))
            add(setting.rows, setting.window, setting.group_prior, *shares)
    Path(__file__).with_name("OVER_TIME.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
