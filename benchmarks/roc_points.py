"""Direct and indirect AUC against the number of ROC points, which Jain et al. (2017) left open.

    python -m benchmarks.roc_points [replications [processes]]

writes benchmarks/ROC_POINTS.md (600 replications: about 10 CPU minutes). Scores are
N(separation, 1) for positives and N(0, 1) for negatives; points are thresholds at equally spaced
quantiles of all scores.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from pueval import AssumptionWarning, Counts, Mixture
from pueval.core.curves import correct_roc_from_corners, line_area, roc_area
from pueval.core.rates import Rates, correct_steps, within_unit
from pueval.priors import estimate
from pueval.simulate import study

if TYPE_CHECKING:
    import pandas as pd

PAGE = Path(__file__).parent / "ROC_POINTS.md"
POINTS = (5, 10, 20, 50, 100, 300)
# An estimated prior stays below the purity by this much.
LEAST_CONTRAST = 0.02
SETTINGS = [
    {"separation": d, "n_labeled": n, "prior": prior, "purity": purity}
    for d, n, (prior, purity) in product(
        (1.0, 2.0, 3.0), (30, 100, 1000), ((0.1, 1.0), (0.5, 1.0), (0.3, 0.8))
    )
]
ESTIMATES = {
    "direct": "direct",
    "printed": "indirect, algorithm 1 as printed",
    "moved": "indirect, points moved to the edge",
}
KNOWN = {True: "known", False: "estimated"}


def area_as_printed(rates: Rates) -> float:
    """Return the area of algorithm 1 of Jain et al. (2017): points outside are removed."""
    inside = within_unit(rates.tpr) & within_unit(rates.fpr)
    if not inside.any():
        return 0.5
    order = np.argsort(rates.fpr[inside], kind="stable")
    highest = np.maximum.accumulate(rates.tpr[inside][order])
    return float(line_area(rates.fpr[inside][order], highest))


def areas(counts: Counts, thresholds: np.ndarray, mixture: Mixture) -> dict[str, float]:
    """Return the three estimates from the points at some thresholds.

    The area under straight lines through corrected rates is the direct estimate from these points,
    since both corrections are linear.
    """
    rates = correct_steps(counts, counts.at(thresholds), mixture)
    return {
        "direct": float(np.clip(line_area(rates.fpr, rates.tpr), 0, 1)),
        "printed": area_as_printed(rates),
        "moved": float(roc_area(rates)),
    }


def replicate(
    rng: np.random.Generator, separation: float, n_labeled: int, prior: float, purity: float
) -> list[dict[str, object]]:
    """Return the errors of all estimates in one sample."""
    y = np.repeat([1, 0], [n_labeled, 10 * n_labeled])
    positive = rng.random(y.size) < np.where(y == 1, purity, prior)
    score = rng.normal(size=y.size) + separation * positive
    counts, truth = Counts.from_arrays(y, score), float(norm.cdf(separation / np.sqrt(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        estimated = estimate(counts, purity="estimate" if purity < 1 else 1.0)
    mixtures = {True: Mixture(prior, purity)}
    if not np.isnan(estimated.prior):  # it is, if labeled rows do not outscore the others
        close = min(estimated.prior, estimated.purity - LEAST_CONTRAST)
        mixtures[False] = Mixture(close, estimated.purity)
    ordered = np.sort(score)[::-1]
    rows: list[dict[str, object]] = []
    for known, mixture in mixtures.items():
        for k in (*POINTS, score.size):
            if k > score.size:
                continue
            at = np.unique(np.round(np.linspace(0, score.size - 1, k)).astype(int))
            for name, area in areas(counts, ordered[at], mixture).items():
                points = "all" if k == score.size else str(k)
                rows.append({"known": known, "points": points, "name": name, "error": area - truth})
        exact = correct_roc_from_corners(counts, counts._roc_corners(), mixture).area
        rows.append({"known": known, "points": "exact", "name": "moved", "error": exact - truth})
    return rows


def root_mean_square(errors: pd.Series) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.4f}".replace("0.", ".", 1)


def signed(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:+.4f}".replace("0.", ".", 1)


def table(frame: pd.DataFrame, by: list[str], heads: list[str]) -> list[str]:
    """Return root mean square errors by number of points, a line per group and estimate."""
    columns = [*map(str, POINTS), "all", "exact"]
    lines = [f"| {' | '.join(heads)} | estimate | {' | '.join(columns)} | bias, 10 | bias, all |"]
    lines.append("|---" * (len(heads) + 1) + "|---:" * (len(columns) + 2) + "|")
    for key, group in frame.groupby(by, sort=False):
        for name, title in ESTIMATES.items():
            rows = group[group["name"] == name].groupby("points")["error"]
            error, bias = rows.agg(root_mean_square), rows.mean()
            cells = [
                *(f"{value}" for value in key),
                title,
                *(number(error.get(column, np.nan)) for column in columns),
                *(signed(bias.get(column, np.nan)) for column in ("10", "all")),
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def wins(frame: pd.DataFrame) -> list[str]:
    """Return in how many settings an indirect estimate has the smaller error than the direct."""
    setting = ["separation", "n_labeled", "prior", "purity"]
    lines = ["| prior and purity | points | as printed | moved to the edge | settings |"]
    lines.append("|---|---:|---:|---:|---:|")
    for known, points in product((True, False), (*map(str, POINTS), "all")):
        part = frame[(frame["known"] == known) & (frame["points"] == points)]
        error = part.pivot_table("error", setting, "name", aggfunc=root_mean_square)
        full = frame[(frame["known"] == known) & (frame["points"] == "all")]
        direct = full[full["name"] == "direct"].groupby(setting)["error"].agg(root_mean_square)
        better = (error[["printed", "moved"]].lt(direct, axis=0)).sum()
        cells = (KNOWN[known], points, better["printed"], better["moved"], len(error))
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def main() -> None:
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    n_jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    frame = study(replicate, SETTINGS, replications=replications, n_jobs=n_jobs)
    n_known, n_estimated = (
        len(frame[(frame["known"] == known) & (frame["points"] == "exact")])
        for known in (True, False)
    )
    unidentified = f"{n_known - n_estimated:,} of {n_known:,}"
    frame["auc"] = norm.cdf(frame["separation"] / np.sqrt(2)).round(3)
    frame["how"] = frame["known"].map(KNOWN)
    frame["rows"] = frame["n_labeled"].map(lambda n: f"{n:,} + {10 * n:,}")
    frame["shares"] = [
        f"{a:g}, {b:g}" for a, b in zip(frame["prior"], frame["purity"], strict=True)
    ]
    text = [
        "# The indirect AUC by number of ROC points",
        "",
        f"`python -m benchmarks.roc_points {replications}` wrote this page:",
        f"{len(SETTINGS)} settings with {replications:,} replications each.",
        "",
        "Root mean square errors of estimates of the AUC by number of ROC points: thresholds at",
        "equally spaced quantiles of all scores, *all* scores, and *exact*: the curve of",
        "`ev.roc_area`, which also follows the steps between points. *Direct*: equation 4 of Jain",
        "et al. (2017) from the same points, clipped to [0, 1]. *As printed*: algorithm 1 of the",
        "paper removes points outside the unit square. *Moved*: pueval moves them to its edge.",
        "Rows are labeled + unlabeled; a prior or purity that is not known is estimated by",
        f"`pueval.priors.estimate`; {unidentified} samples in which it finds no prior are",
        "left out there.",
        "",
        "## All settings together",
        "",
        *table(frame, ["how"], ["prior and purity"]),
        "",
        "Number of settings in which an indirect estimate from these points has a smaller error",
        "than the direct estimate from all rows:",
        "",
        *wins(frame),
        "",
        "## By size",
        "",
        *table(frame, ["how", "rows"], ["prior and purity", "rows"]),
        "",
        "## By separation",
        "",
        *table(frame, ["how", "auc"], ["prior and purity", "AUC"]),
        "",
        "## By prior and purity",
        "",
        *table(frame, ["how", "shares"], ["prior and purity", "true values"]),
    ]
    PAGE.write_text("\n".join(text) + "\n")
    print("\n".join(text))


if __name__ == "__main__":
    main()
