"""Evaluate the bundled example: naive, corrected and true values."""

import csv
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from pueval import Counts, evaluate, priors
from pueval.estimates.measure_titles import TITLES

MODELS = ("boosting", "logistic")
SHOWN = (
    "roc_auc",
    "average_precision",
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "specificity",
    "f1",
    "matthews_corrcoef",
    "jaccard",
    "cohen_kappa",
)


def load(path=Path(__file__).parent / "spambase.csv"):
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def main():
    data = load()
    label, truth = data["label"], data["truth"]
    prior = truth[label == 0].mean()
    console = Console()
    console.print(
        f"\nTwo spam filters, evaluated on {len(label):,} e-mails. {int(label.sum())} are labeled "
        f"as spam.\nThe others are unlabeled; {prior:.1%} of them are spam: this is the prior.\n"
        "(UCI Spambase, CC BY 4.0. All scores are out-of-fold.)\n"
    )
    results = []
    for model in MODELS:
        ev = evaluate(label, data[model], prior=prior)
        true_counts = Counts.from_arrays(truth, data[model], unlabeled_label=None, negative_label=0)
        true = evaluate(true_counts, threshold=ev.threshold)
        results.append((ev, true))
        table = Table("Model: " + model, box=box.SIMPLE_HEAD, header_style="bold")
        table.add_column("naive", justify="right")
        table.add_column("corrected", justify="right", style="bold")
        table.add_column("truth", justify="right")
        for name in SHOWN:
            values = ev[name].naive, ev[name].value, true[name].value
            table.add_row(TITLES[name], *(f"{value:.3f}" for value in values))
        console.print(table)
    mean_error = {
        kind: np.mean([abs(getattr(ev[n], kind) - true[n].value) for ev, true in results
                       for n in SHOWN])
        for kind in ("naive", "value")
    }  # fmt: skip
    console.print(
        f"Mean absolute error: naive {mean_error['naive']:.3f}, "
        f"corrected {mean_error['value']:.3f}.\n"
    )
    estimate = priors.estimate(label, data["logistic"])
    low, high = estimate.prior_interval
    console.print(
        "If you do not know the prior, pueval estimates it. From the logistic model:\n"
        f"{estimate.prior:.1%} (95% confidence interval {low:.1%} to {high:.1%}).\n"
    )
    console.print("Now try your own file, with or without --prior:\n")
    console.print(
        "  .venv/bin/pueval evaluate scores.csv --label label --score model_a --prior 0.2\n",
        highlight=False,
    )


if __name__ == "__main__":
    main()
