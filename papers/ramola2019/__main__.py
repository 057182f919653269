"""Figures 1 and 2 of Ramola, Jain and Radivojac (2019)."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.ramola2019.experiment import MEASURES, PURITIES, UNLABELED, one
from papers.report import KNOWN, NAIVE, OTHER, OURS, Page, Run, main, number, signed, table
from papers.scores import Networks
from pueval import Mixture
from pueval.core.measures import find_measure
from pueval.core.rates import Rates, correct_pair
from pueval.simulate import Normal, Population

INTRODUCTION = """# Ramola, Jain and Radivojac (2019): accuracy, F and MCC

*Estimating classification accuracy in positive-unlabeled learning: characterization and correction strategies*, PSB 2019.
"""
KINDS = ("PU", "CR", "CA", "CE")
# Threshold and value of the maximum: traditional, then non-traditional.
PUBLISHED = {
    "accuracy": ((0.42, 0.86), (5.0, 0.90)),
    "balanced_accuracy": ((0.0, 0.84), (0.0, 0.67)),
    "f1": ((0.19, 0.77), (0.50, 0.30)),
    "matthews_corrcoef": ((0.29, 0.66), (0.29, 0.22)),
}


def figure_1(page: Page) -> None:
    """Plot the case study, computed exactly without simulation."""
    prior, purity, share = 0.25, 0.75, 0.1
    population = Population(Normal(1), Normal(-1), share * purity + (1 - share) * prior)
    threshold = np.arange(-5, 5.0001, 0.001)
    true = population.rates(threshold)
    labeled = purity * true.tpr + (1 - purity) * true.fpr
    unlabeled = prior * true.tpr + (1 - prior) * true.fpr
    naive = Rates(threshold, labeled, unlabeled, true.predicted, share, 1)
    tpr, fpr = correct_pair(labeled, unlabeled, Mixture(prior, purity), prior)
    corrected = Rates(threshold, tpr, fpr, true.predicted, population.prevalence, 1)
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True)
    rows, worst = [], 0.0
    for axis, (name, title) in zip(axes.flat, MEASURES.items(), strict=True):
        measure = find_measure(name)
        for k, (rates, color, label) in enumerate(
            ((true, KNOWN, "traditional"), (naive, NAIVE, "non-traditional"))
        ):
            values = measure(rates)
            best = int(np.nanargmax(values))
            axis.plot(threshold, values, color=color, label=label)
            axis.plot(threshold[best], values[best], "o", color=color)
            axis.axvline(threshold[best], color=color, linewidth=0.8, linestyle=":")
            at, value = PUBLISHED[name][k]
            rows.append(
                (
                    f"{title}, {label}",
                    f"{value:.2f} at {at:.2f}",
                    f"{values[best]:.2f} at {threshold[best]:.2f}",
                )
            )
        again = measure(corrected)
        axis.plot(
            threshold[::400],
            again[::400],
            "+",
            color=OURS,
            markersize=7,
            label="corrected by pueval",
        )
        good = np.isfinite(again) & np.isfinite(measure(true))
        worst = max(worst, float(np.max(np.abs(again[good] - measure(true)[good]))))
        axis.set(title=title, xlabel="threshold" if name in {"f1", "matthews_corrcoef"} else "")
    axes[0, 0].legend(fontsize=8.5)
    figure.tight_layout()
    page.add("## Figure 1: the case study, exactly")
    page.figure(
        figure, "figure1",
        "Figure 1. Four measures by threshold: normal scores around 1 and −1, prior 1/4, purity 3/4, labeled share 1/10. Dots: maxima. Crosses: corrected from the non-traditional rates"
        f" (largest difference from the truth {worst:.0e}).",
    )  # fmt: skip
    same = all(row[1] == row[2].replace("-0.00", "0.00") for row in rows)
    page.add(table(["best value and its threshold", "paper", "ours"], rows))
    page.add("All eight agree to the two printed digits." if same else "Not all of them agree.")


def figure_2(page: Page, run: Run) -> None:
    """Plot the errors of the maxima on real data."""
    networks = Networks(100 if run.full else 20, 7)
    repetitions = run.times(3, 50)
    tasks = [(d, p, r, networks) for r in range(repetitions) for d in UNLABELED for p in PURITIES]
    frame = pd.DataFrame(list(itertools.chain.from_iterable(run.each(one, tasks))))
    page.add(
        "## Figure 2: real data\n\n"
        f"Seven of the fourteen data sets of the paper ({', '.join(UNLABELED)}), {repetitions} repetitions, {networks.number} networks with seven hidden neurons "
        "(the paper: 50 and 100). In each run, we take the threshold with the best estimate and compare the estimate with the truth at that threshold. "
        "**PU**: naive. **CR**: corrected with true prior and purity. Corrected with estimated values: **CA** by AlphaMax (`pueval.priors.AlphaMaxN`), the estimator of the paper, which calls this column CE; **CE** by pueval's default (`pueval.priors.estimate`). The paper prints no numbers for this figure."
    )
    page.figure(
        _boxes(frame), "figure2",
        "Figure 2. Estimated minus true best value of four measures, seven data sets.",
    )  # fmt: skip
    cells = frame.assign(size=frame["error"].abs()).groupby(["measure", "kind"])
    mean, bias = cells["size"].mean(), cells["error"].mean()
    page.add(
        "Mean absolute error (and mean error):\n\n"
        + table(
            ["", *KINDS],
            [
                [
                    title,
                    *(f"{number(mean[name, kind])} ({signed(bias[name, kind])})" for kind in KINDS),
                ]
                for name, title in MEASURES.items()
            ],
        )
    )
    by_data = frame[frame["measure"] == "matthews_corrcoef"]
    by_data = by_data.assign(size=by_data["error"].abs()).groupby(["data", "kind"])["size"].mean()
    once = frame.drop_duplicates(["data", "wanted_purity", "repetition"])
    columns = ["alphamax_prior_error", "prior_error", "alphamax_purity_error", "purity_error"]
    wrong = once.groupby("data")[columns].agg(lambda v: v.abs().mean())
    page.add(
        "Mean absolute errors of the MCC and of the estimated prior and purity, by data set:\n\n"
        + table(
            ["", *KINDS, "prior: AlphaMax", "prior: pueval", "purity: AlphaMax", "purity: pueval"],
            [[d, *(by_data[d, k] for k in KINDS), *wrong.loc[d]] for d in UNLABELED],
        )
    )
    known = by_data.xs("CR", level="kind")
    signs = ", ".join(
        f"{title} {'over' if bias[name, 'PU'] > 0 else 'under'}" for name, title in MEASURES.items()
    )
    page.add(
        f"As in the paper, naive values are far off ({signs}estimated), the correction with known values removes most of the error, and with estimated values the mean error is in between. {_worse_than_naive(by_data)} "
        f"The correction is not exact: with known values, the mean absolute error of the MCC is {number(known.min())} to {number(known.max())} by data set (largest: {known.idxmax()}). "
        f"In {int((~once['identified']).sum())} of {len(once)} runs, no prior could be estimated. There, CE uses naive values."
    )
    page.add(
        f"As in the paper, training stops after 5,000 epochs at the latest. The stop by validation error came first in all runs; the longest training of a network took {once['epochs'].max()} epochs."
        if once["epochs"].max() < 5000
        else f"As in the paper, training stops after 5,000 epochs at the latest. This limit was reached in {int((once['epochs'] >= 5000).sum())} of {len(once)} runs."
    )


def _worse_than_naive(by_data: pd.Series) -> str:
    """Say on which data sets estimated values make the MCC worse than the naive one."""
    sentences = []
    for kind, title in (("CA", "AlphaMax"), ("CE", "pueval")):
        names = [d for d in UNLABELED if by_data[d, kind] > by_data[d, "PU"]]
        listed = f"larger than the naive one on {', '.join(names)}" if names else "never larger"
        sentences.append(f"With {title}, the mean absolute error of the MCC is {listed}.")
    return " ".join(sentences)


def _boxes(frame: pd.DataFrame) -> Any:
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.2), sharex=True)
    for axis, (name, title) in zip(axes.flat, MEASURES.items(), strict=True):
        for k, (kind, color) in enumerate(zip(KINDS, (NAIVE, KNOWN, OTHER, OURS), strict=True)):
            for j, purity in enumerate(PURITIES):
                part = frame[
                    (frame["measure"] == name)
                    & (frame["kind"] == kind)
                    & (frame["wanted_purity"] == purity)
                ]
                axis.boxplot(
                    part["error"], positions=[j + (k - 1.5) * 0.19], widths=0.15, patch_artist=True, showfliers=False,
                    boxprops={"facecolor": color, "alpha": 0.75, "linewidth": 0.7}, medianprops={"color": "black"},
                )  # fmt: skip
            axis.plot([], [], color=color, linewidth=6, alpha=0.75, label=kind)
        axis.axhline(0, color="gray", linewidth=0.8)
        axis.set_xticks(range(4), [f"{p:g}" for p in PURITIES])
        axis.set(title=title, ylabel="estimated − true")
        if name in {"f1", "matthews_corrcoef"}:
            axis.set_xlabel("purity")
    axes[0, 0].legend(ncols=4, loc="lower left", bbox_to_anchor=(0, 1.1))
    figure.tight_layout()
    return figure


def make(page: Page, run: Run) -> None:
    """Make the page."""
    page.add(INTRODUCTION)
    figure_1(page)
    figure_2(page, run)
    page.add(DIFFERENCES)


DIFFERENCES = """## Differences from the paper

- **Data**: abalone, anuran calls, protein structure, epileptic seizures, HIV-1 protease, smartphone activities and wilt are missing: they are not in our data folder, and there are no loaders for them here, although OpenML has most of them. Covertype is a 16% sample. For Parkinsons we use only the voice measures: subject, age, sex and test time identify the patient (AUC 1.0). The paper does not state which class is positive.
- **Table 1** defines the contingency table and four estimates. The table of equations (`docs/papers/equations.md`) has the function and the test of each.
- **Clipping**: best values are clipped to the range of the measure, as in the paper. The paper clips balanced accuracies to [½, 1]; a best value over all thresholds is never below ½.
- **Estimated values**: the paper states no parameters of AlphaMax. Ours: Scott's rule for the width of the bins, and scores on the scale of log-odds."""


if __name__ == "__main__":
    main(__file__, make)
