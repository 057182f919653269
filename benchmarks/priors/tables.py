"""Markdown tables of the results that `run` collects per estimator and score set."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

Row = dict
Condition = Callable[[Row], bool]

# Groups of sets with separate results. All of them are also in the other tables.
PARTS: dict[str, Condition] = {
    "all": lambda _row: True,
    "choosing half": lambda row: row["half"] == "choosing",
    "reporting half": lambda row: row["half"] == "reporting",
    "boosting and network, prior ≥ .1": lambda row: (
        row["classifier"] != "logistic" and row["wanted_prior"] >= 0.1
    ),
    "boosting": lambda row: row["classifier"] == "boosting",
    "logistic": lambda row: row["classifier"] == "logistic",
    "network": lambda row: row["classifier"] == "network",
    "fewer than 100 labeled": lambda row: row["n_labeled"] < 100,
    "100 to 499 labeled": lambda row: 100 <= row["n_labeled"] < 500,
    "500 or more labeled": lambda row: row["n_labeled"] >= 500,
}
# AUC of positives against negatives of a set.
AUC_EDGES = (0, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01)
# Columns of the tables of parts.
SHOWN = ("Consensus", "Tilt", "RocNetwork")


def column(rows: list[Row], name: str) -> np.ndarray:
    return np.array([row[name] for row in rows], dtype=float)


def error(rows: list[Row], what: str) -> str:
    return f"{np.abs(column(rows, f'{what}_error')).mean():.4f}" if rows else "–"


def coverage(rows: list[Row], what: str) -> str:
    """Return coverage and mean width."""
    covered = column(rows, f"{what}_covered")
    if np.isnan(covered).all():
        return "–"
    return f"{np.nanmean(covered):.3f} ({np.nanmean(column(rows, f'{what}_width')):.3f})"


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    text = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join(text + ["| " + " | ".join(line) + " |" for line in lines])


def by_estimator(rows: list[Row], whats: tuple[str, ...]) -> str:
    """Return one row per estimator, for sets of one kind."""
    heads = ["estimator"]
    for what in whats:
        heads += [f"{what}: error", "choosing", "reporting", "bias", "coverage (width)"]
    lines = []
    for name in dict.fromkeys(row["estimator"] for row in rows):
        own = [row for row in rows if row["estimator"] == name]
        line = [name]
        for what in whats:
            line += [
                error(own, what),
                error([row for row in own if row["half"] == "choosing"], what),
                error([row for row in own if row["half"] == "reporting"], what),
                f"{column(own, f'{what}_error').mean():+.3f}",
                coverage(own, what),
            ]
        lines.append([*line, f"{1000 * np.median(column(own, 'seconds')):.1f}"])
    return markdown([*heads, "ms"], lines)


def by_part(rows: list[Row], parts: dict[str, Condition], whats: tuple[str, ...]) -> str:
    """Return results of some estimators on groups of the sets of one kind."""
    heads = ["sets", "number"]
    for what in whats:
        heads += [f"{what}: {name}" for name in SHOWN] + [f"{SHOWN[0]} coverage (width)"]
    lines = []
    for title, condition in parts.items():
        chosen = [row for row in rows if condition(row)]
        own = {name: [row for row in chosen if row["estimator"] == name] for name in SHOWN}
        if not own[SHOWN[0]]:
            continue
        line = [title, str(len(own[SHOWN[0]]))]
        for what in whats:
            line += [error(own[name], what) for name in SHOWN] + [coverage(own[SHOWN[0]], what)]
        lines.append(line)
    return markdown(heads, lines)


def auc_parts() -> dict[str, Condition]:
    return {
        f"AUC {low:g} to {min(high, 1):g}": lambda row, low=low, high=high: low <= row["auc"] < high
        for low, high in pairwise(AUC_EDGES)
    }


def by_value(rows: list[Row], key: str, what: str = "prior") -> str:
    """Return the mean absolute error of each estimator for each value of a column."""
    names = list(dict.fromkeys(row["estimator"] for row in rows))
    lines = []
    for value in sorted({row[key] for row in rows}):
        same = [row for row in rows if row[key] == value]
        cells = [error([row for row in same if row["estimator"] == name], what) for name in names]
        lines.append([str(value), *cells])
    return markdown([key, *names], lines)
