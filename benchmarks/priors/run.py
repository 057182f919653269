"""Run estimators of the prior and the purity on all score sets and write the tables.

    python -m benchmarks.priors.run                   every estimator
    python -m benchmarks.priors.run Tilt RocNetwork   only these
    python -m benchmarks.priors.run --kinds real      only sets of this kind

For each of the three kinds of sets, there are tables for a purity known to be 1 (only sets with
purity 1) and for an unknown purity (all sets). Data sets at even positions of the sorted names are
for "choosing" among estimators, those at odd positions for "reporting".
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.priors import estimators, score_sets, tables
from benchmarks.priors.score_sets import ScoreSet
from benchmarks.priors.tables import Row
from pueval import Counts

KINDS = {
    "real": "Real data, scores of classifiers trained on the classes",
    "pu_trained": "Real data, scores of classifiers trained on the labels",
    "simulated": "Simulated scores",
}


def halves(names: Iterable[str]) -> dict[str, str]:
    """Return whether each data set is for choosing or for reporting."""
    return {
        name: "reporting" if position % 2 else "choosing"
        for position, name in enumerate(sorted(set(names)))
    }


def run(name: str, estimator: estimators.Estimator, kind: str, sets: list[ScoreSet]) -> list[Row]:
    """Return one row of results per set."""
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
            "wanted_prior": one.wanted_prior,
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


def compare(
    kind: str, chosen: dict[str, estimators.Estimator], *, purity_known: bool
) -> tuple[list[str], list[Row]]:
    """Return the tables and results of one kind of sets."""
    whats = ("prior",) if purity_known else ("prior", "purity")
    sets = score_sets.load(kind)
    if purity_known:
        sets = [one for one in sets if one.purity == 1]
    rows: list[Row] = []
    for name, estimator in chosen.items():
        print(f"{name}: {len(sets)} {kind} sets, {', '.join(whats)}", flush=True)
        rows += run(name, estimator, kind, sets)
    parts = tables.auc_parts() if kind == "simulated" else tables.PARTS | tables.auc_parts()
    text = [
        f"{len(sets)} sets.",
        tables.by_estimator(rows, whats),
        tables.by_part(rows, parts, whats),
        tables.by_value(rows, "data"),
    ]
    if not purity_known:
        text.append(tables.by_value(rows, "wanted_purity", "purity"))
    return text, rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Benchmark of prior estimators.")
    parser.add_argument("names", nargs="*", help="estimators; all if none is given")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--output", type=Path, default=score_sets.cache_folder() / "priors.md")
    arguments = parser.parse_args()
    texts: list[str] = []
    everything: list[Row] = []
    for kind in arguments.kinds:
        texts.append(f"## {KINDS[kind]}")
        for title, given, purity_known in (
            ("Purity known to be 1", estimators.PRIOR_ONLY, True),
            ("Prior and purity unknown", estimators.BOTH, False),
        ):
            wanted = arguments.names
            chosen = {k: v for k, v in given.items() if not wanted or k in wanted}
            if chosen:
                text, rows = compare(kind, chosen, purity_known=purity_known)
                texts += [f"### {title}", *text]
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
