"""Run estimators of the prior and the purity over all score sets and write the tables.

    python -m benchmarks.priors.run                   every estimator
    python -m benchmarks.priors.run Tilt RocNetwork   only these

Two tables are made: for purity known to be 1 (only the sets with purity 1), and for both unknown
(all sets). The data sets are cut in two by their position in the sorted names: those at even
positions are for "choosing" among estimators, those at odd positions for "reporting".
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.priors import estimators, score_sets
from benchmarks.priors.score_sets import ScoreSet
from pueval import Counts

KINDS = ("real", "simulated")
Row = dict


def halves(names: Iterable[str]) -> dict[str, str]:
    """Whether each data set is for choosing or for reporting."""
    return {
        name: "reporting" if position % 2 else "choosing"
        for position, name in enumerate(sorted(set(names)))
    }


def run(name: str, estimator: estimators.Estimator, kind: str, sets: list[ScoreSet]) -> list[Row]:
    """One row of figures for each set."""
    half = halves(one.data for one in score_sets.load(kind))
    rows = []
    for one in sets:
        counts = Counts.from_arrays(one.label, one.score)
        begin = time.perf_counter()
        answer = estimator(counts)
        seconds = time.perf_counter() - begin
        row = {
            "estimator": name,
            "kind": kind,
            "half": half[one.data],
            "data": one.data,
            "classifier": one.classifier,
            "n_labeled": one.n_labeled,
            "n_unlabeled": one.n_unlabeled,
            "auc": one.auc,
            "prior": one.prior,
            "purity": one.purity,
            "wanted_purity": one.wanted_purity,
            "seconds": seconds,
        }
        for what, truth in (("prior", one.prior), ("purity", one.purity)):
            row[f"{what}_error"] = getattr(answer, what) - truth
            low, high = getattr(answer, f"{what}_interval") or (np.nan, np.nan)
            row[f"{what}_covered"] = (
                np.nan if np.isnan(low) else float(low - 1e-9 <= truth <= high + 1e-9)
            )
            row[f"{what}_width"] = high - low
        rows.append(row)
    return rows


def column(rows: list[Row], name: str) -> np.ndarray:
    return np.array([row[name] for row in rows], dtype=float)


def mean_absolute(rows: list[Row], what: str) -> float:
    return float(np.abs(column(rows, f"{what}_error")).mean())


def coverage(rows: list[Row], what: str) -> str:
    """Share covered and mean width."""
    covered = column(rows, f"{what}_covered")
    if np.isnan(covered).all():
        return "–"
    return f"{np.nanmean(covered):.2f} ({np.nanmean(column(rows, f'{what}_width')):.2f})"


def table(rows: list[Row], whats: tuple[str, ...], half: str | None) -> str:
    """A Markdown table: a line for each estimator, columns for real and simulated sets."""
    columns: list[tuple[str, Callable[[list[Row]], str]]] = []
    for what in whats:
        columns += [
            (f"{what}: error", lambda rows, what=what: f"{mean_absolute(rows, what):.4f}"),
            ("bias", lambda rows, what=what: f"{column(rows, f'{what}_error').mean():+.3f}"),
            ("coverage (width)", lambda rows, what=what: coverage(rows, what)),
        ]
    columns.append(("ms", lambda rows: f"{1000 * np.median(column(rows, 'seconds')):.1f}"))
    heads = [f"{kind} {head}" for kind in KINDS for head, _ in columns]
    lines = [
        "| estimator | " + " | ".join(heads) + " |",
        "|---|" + "---:|" * len(heads),
    ]
    chosen = [row for row in rows if half in (None, row["half"])]
    for name in dict.fromkeys(row["estimator"] for row in rows):
        cells = []
        for kind in KINDS:
            own = [row for row in chosen if row["estimator"] == name and row["kind"] == kind]
            cells += [show(own) if own else "–" for _, show in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by(rows: list[Row], key: str, what: str = "prior") -> str:
    """Mean absolute error of each estimator for each value of one column."""
    names = list(dict.fromkeys(row["estimator"] for row in rows))
    lines = [f"| {key} | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for value in sorted({row[key] for row in rows}):
        cells = []
        for name in names:
            own = [row for row in rows if row["estimator"] == name and row[key] == value]
            cells.append(f"{mean_absolute(own, what):.3f}")
        lines.append(f"| {value} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by_separation(rows: list[Row], name: str = "Consensus") -> str:
    """Error, coverage and width of one estimator against how well the scores separate."""
    lines = [
        "| AUC | real sets | error | coverage (width) | simulated | error | coverage (width) |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    edges = (0, 0.7, 0.8, 0.9, 0.95, 1.01)
    for low, high in pairwise(edges):
        cells = []
        for kind in KINDS:
            own = [
                row
                for row in rows
                if row["estimator"] == name
                and row["kind"] == kind
                and low <= float(row["auc"]) < high
            ]
            cells += (
                [str(len(own)), f"{mean_absolute(own, 'prior'):.3f}", coverage(own, "prior")]
                if own
                else ["0", "–", "–"]
            )
        lines.append(f"| {low:g} to {min(high, 1):g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def compare(
    chosen: dict[str, estimators.Estimator], *, purity_known: bool, title: str
) -> tuple[str, list[Row]]:
    rows: list[Row] = []
    sizes = []
    for kind in KINDS:
        sets = score_sets.load(kind)
        if purity_known:
            sets = [one for one in sets if one.purity == 1]
        sizes.append(f"{len(sets)} {kind}")
        for name, estimator in chosen.items():
            print(f"{title}: {name}, {len(sets)} {kind} sets", flush=True)
            rows += run(name, estimator, kind, sets)
    whats = ("prior",) if purity_known else ("prior", "purity")
    text = [f"## {title}", f"{' and '.join(sizes)} sets."]
    for half in (None, "choosing", "reporting"):
        text += [f"### {half or 'all'} data sets", table(rows, whats, half)]
    text += [
        "### Consensus by the AUC of positives against negatives",
        by_separation(rows),
        "### by data set, error of the prior",
        by(rows, "data"),
    ]
    if not purity_known:
        text += ["### by purity, error of the purity", by(rows, "wanted_purity", "purity")]
    return "\n\n".join(text), rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Benchmark of prior estimators.")
    parser.add_argument("names", nargs="*", help="estimators; all if none is given")
    parser.add_argument("--output", type=Path, default=score_sets.cache_folder() / "priors.md")
    arguments = parser.parse_args()
    texts = ["# Estimators of the prior and the purity"]
    everything: list[Row] = []
    for title, given, purity_known in (
        ("Purity known to be 1", estimators.PRIOR_ONLY, True),
        ("Prior and purity unknown", estimators.BOTH, False),
    ):
        wanted = arguments.names
        chosen = {k: v for k, v in given.items() if not wanted or k in wanted}
        if chosen:
            text, rows = compare(chosen, purity_known=purity_known, title=title)
            texts.append(text)
            everything += [{"table": title, **row} for row in rows]
    report = "\n\n".join(texts) + "\n"
    print(report)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(report)
    if everything:
        with arguments.output.with_suffix(".csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(everything[0]))
            writer.writeheader()
            writer.writerows(everything)


if __name__ == "__main__":
    main()
