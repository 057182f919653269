"""All methods on all data sets: where the correction works, and where it fails."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from papers.jain2017.experiment import LABELED
from papers.ramola2019.experiment import UNLABELED
from papers.report import Page, Run, main, number, table
from papers.scores import Networks, Scored, traditional_scores
from pueval import AssumptionWarning, Counts, claesen_bounds, evaluate, priors
from pueval.simulate import label_at_random, label_by_propensity

DATA = [*LABELED, *(name for name in UNLABELED if name not in LABELED)]
WAYS = {
    "random": "at random",
    "noisy": "one label in five is wrong",
    "high": "high scores labeled 3 times as often",
    "low": "low scores labeled 3 times as often",
}
INTRODUCTION = """# All methods, all data sets

There is one classifier per data set ({networks} networks trained on the true classes, scored out of bag), so its true performance is known. 20% of the positives are labeled in four ways: at random; at random with purity .8; and twice in violation of the assumptions, with positives above the median score three times, or one third, as likely to be labeled as those below. {repetitions} repetitions; mean absolute errors compared with the truth on the same rows.

Methods: **naive**: unlabeled rows as negatives; **known**: corrected with the true prior and purity (Jain, Ramola; Tabatabaei's F1 is the same number);
**estimated**: corrected with `priors.estimate` (purity also estimated); **Claesen**: bounds from the rank distribution, prior known; **sensitivity**: bounds if some
positives are up to four times as likely to be labeled as others, prior known (`ev.labeling_bias(4)`).
"""


def label(made: Scored, way: str, rng: np.random.Generator) -> Any:
    """Label a fifth of the positives."""
    if way == "random":
        return label_at_random(made.truth, label_frequency=0.2, seed=rng)
    if way == "noisy":
        return label_at_random(made.truth, label_frequency=0.2, purity=0.8, seed=rng)
    above = made.score > np.median(made.score[made.truth])
    likely = above if way == "high" else ~above
    return label_by_propensity(made.truth, np.where(likely, 0.3, 0.1), seed=rng)


def one(data: str, way: str, repetition: int, networks: Networks) -> dict[str, Any]:
    """Return the errors of all methods for one labeling."""
    made = traditional_scores(data, networks=networks, repetition=0)
    rng = np.random.default_rng([repetition, DATA.index(data), [*WAYS].index(way)])
    labeling = label(made, way, rng)
    counts = labeling.counts(made.score)
    auc = roc_auc_score(made.truth, made.score)
    precision = average_precision_score(made.truth, made.score)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        truth = evaluate(Counts.from_arrays(made.truth, made.score), prior=0.0, level=None)
        known = evaluate(counts, prior=labeling.prior, purity=labeling.purity, level=None)
        found = priors.estimate(counts, purity="estimate")
        identified = not math.isnan(found.prior)
        mixture = found.mixture() if identified else None
        guessed = evaluate(
            counts, prior=mixture.prior if mixture else 0.0, purity=mixture.purity if mixture else 1.0,
            level=None, threshold=known.threshold,
        )  # fmt: skip
        bounds = claesen_bounds(counts, prior=labeling.prior, band="bootstrap").roc_auc
        found_bounds = known.labeling_bias(4)["roc_auc"]
        sharp = (
            (found_bounds.low, found_bounds.high) if labeling.purity == 1 else (math.nan, math.nan)
        )
    f1 = truth.at(known.threshold)["f1"].value
    row: dict[str, Any] = {"data": data, "way": way, "auc": auc, "ap": precision, "f1": f1,
                           "identified": identified, "prior": found.prior - labeling.prior}  # fmt: skip
    for name, ev in (("known", known), ("estimated", guessed)):
        row |= {f"auc {name}": ev["roc_auc"].value - auc, f"ap {name}": ev["average_precision"].value - precision,
                f"f1 {name}": ev["f1"].value - f1}  # fmt: skip
    row |= {"auc naive": known["roc_auc"].naive - auc, "ap naive": known["average_precision"].naive - precision,
            "f1 naive": known["f1"].naive - f1,
            "claesen": bounds[0] <= auc <= bounds[1], "claesen width": bounds[1] - bounds[0],
            "sensitivity": sharp[0] - 1e-9 <= auc <= sharp[1] + 1e-9, "sensitivity width": sharp[1] - sharp[0]}  # fmt: skip
    return row


def make(page: Page, run: Run) -> None:
    """Make the page."""
    networks = Networks(100 if run.full else 30, 5)
    repetitions = run.times(5, 50)
    tasks = [(d, w, r, networks) for d in DATA for w in WAYS for r in range(repetitions)]
    frame = pd.DataFrame(run.each(one, tasks))
    page.add(INTRODUCTION.format(networks=networks.number, repetitions=repetitions))
    _summary(page, frame)
    for measure, title in (
        ("auc", "AUC"),
        ("ap", "average precision"),
        ("f1", "F1 at the threshold of the best MCC"),
    ):
        _by_data(page, frame, measure, title)
    _bounds(page, frame)
    _failures(page, frame)


def _errors(frame: pd.DataFrame) -> pd.DataFrame:
    columns = [f"{m} {k}" for m in ("auc", "ap", "f1") for k in ("naive", "known", "estimated")]
    return frame[columns].abs()


def _summary(page: Page, frame: pd.DataFrame) -> None:
    mean = _errors(frame).groupby(frame["way"]).mean()
    rows = [[title, *mean.loc[way]] for way, title in WAYS.items()]
    header = [f"{m}, {k}" for m in ("AUC", "AP", "F1") for k in ("naive", "known", "estimated")]
    page.add("## Mean absolute error over all data sets\n\n" + table(["labels", *header], rows))


def _by_data(page: Page, frame: pd.DataFrame, measure: str, title: str) -> None:
    mean = _errors(frame).groupby([frame["data"], frame["way"]]).mean()
    truth = frame.groupby("data")[measure].mean()
    rows = []
    for data in DATA:
        row: list[Any] = [data, truth[data]]
        for way in WAYS:
            cell = mean.loc[(data, way)]
            row.append(
                " / ".join(
                    number(cell[f"{measure} {kind}"]) for kind in ("naive", "known", "estimated")
                )
            )
        rows.append(row)
    page.add(
        f"## {title}: error, naive / known / estimated\n\n"
        + table(["data", "truth", *WAYS.values()], rows)
    )


def _bounds(page: Page, frame: pd.DataFrame) -> None:
    cells = frame.groupby(["data", "way"])[
        ["claesen", "claesen width", "sensitivity", "sensitivity width"]
    ].mean()
    rows = []
    for data in DATA:
        row = [data]
        for way in ("random", "high", "low"):
            cell = cells.loc[(data, way)]
            row += [
                f"{cell['claesen']:.0%} ({number(cell['claesen width'])})",
                f"{cell['sensitivity']:.0%} ({number(cell['sensitivity width'])})",
            ]
        rows.append(row)
    page.add(
        "## Bounds of the AUC: coverage (and width)\n\n"
        + table(
            [
                "data",
                *(
                    f"{w}: {b}"
                    for w in ("random", "high", "low")
                    for b in ("Claesen", "sensitivity")
                ),
            ],
            rows,
        )
    )


def _grouped(cells: pd.DataFrame) -> str:
    """Name data sets by labeling mechanism; give a count if there are many."""
    parts = []
    for way, title in WAYS.items():
        found = [data for data, one in cells.index if one == way]
        if found:
            named = (
                ", ".join(found) if len(found) <= 9 else f"{len(found)} of {len(DATA)} data sets"
            )
            parts.append(f"{named} ({title})")
    return "; ".join(parts)


def _failures(page: Page, frame: pd.DataFrame) -> None:
    """Describe where the correction does more harm than good."""
    mean = _errors(frame).groupby([frame["data"], frame["way"]]).mean()
    lines = []
    for kind in ("known", "estimated"):
        for measure, title in (("auc", "AUC"), ("ap", "average precision"), ("f1", "F1")):
            worse = mean[mean[f"{measure} {kind}"] > mean[f"{measure} naive"]]
            shown = _grouped(worse) or "nowhere"
            lines.append(f"- {title}, {kind}: {shown}")
    large = mean[mean["ap estimated"] > 0.1]
    large_text = _grouped(large) or "nowhere"
    contained = frame.groupby("way")[["claesen", "sensitivity"]].mean()
    page.add(
        "## Where the correction fails\n\nCorrected values are farther from the truth than naive ones for:\n\n"
        + "\n".join(lines)
        + f"\n\nAverage precision with estimated prior and purity is off by more than .1 on: {large_text}."
        + f"\n\nIf labels are not random, knowing the prior is not enough: Claesen's bounds contain the true AUC in {contained.loc['high', 'claesen']:.0%} and "
        f"{contained.loc['low', 'claesen']:.0%} of the repetitions with high and low scores favored (random: {contained.loc['random', 'claesen']:.0%}), while the sensitivity bounds, which allow labeling probabilities to differ by a factor of four, contain it in"
        f" {contained.loc['high', 'sensitivity']:.0%} and {contained.loc['low', 'sensitivity']:.0%}. "
        f"No prior could be estimated in {int((~frame['identified']).sum())} of {len(frame)} repetitions, where we use naive values."
    )


if __name__ == "__main__":
    main(__file__, make)
