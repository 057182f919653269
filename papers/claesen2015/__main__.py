"""Figures 2 to 5, and tables 1 and 2 of appendix C, of Claesen et al. (2015)."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from papers.claesen2015.experiment import (
    convergence,
    covertype,
    mixed,
    normal_ranking,
    simulated,
)
from papers.report import KNOWN, NAIVE, OURS, TRUTH, Page, Run, main, number, table
from pueval import claesen_bounds, evaluate, largest_prior
from pueval.simulate import ranked, study

INTRODUCTION = """# Claesen, Davis, De Smet and De Moor (2015): bounds from rank distributions

*Assessing binary classifiers using only positive and unlabeled data*, arXiv:1504.06837.

The method assumes that unlabeled positives are ranked like the known ones, up to a 95% confidence band. Bounds of contingency tables, curves and areas follow from this band (`pueval.claesen_bounds`). The paper prints the four AUCs of figure 4, but no other numbers behind its figures, and not the rank distributions of its simulated rankings. We had only the text of the paper, without the cells of its tables 1 and 2, so we compare what the text says about them. We use beta distributions (`pueval.simulate.ranked`), for figure 4 normal ones, and check whether the bounds contain the truth.
"""


def figure_2(page: Page, run: Run) -> None:
    """Plot how bounds tighten with the number of known positives."""
    sizes = [100, 200, 500, 1000, 2000, 5000]
    repetitions = run.times(10, 200)
    frame = study(
        convergence, {"concentration": [2.0, 4.0], "labeled": sizes},
        replications=repetitions, n_jobs=run.jobs,
    )  # fmt: skip
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    for axis, (concentration, part) in zip(axes, frame.groupby("concentration"), strict=True):
        truth = ranked(concentration, prevalence=0.2).roc_auc
        axis.axhline(truth, color=TRUTH, linestyle=":", linewidth=1, label="true AUC")
        for name, color in (("high", OURS), ("low", NAIVE)):
            one = part.groupby("labeled")[f"bootstrap {name}"]
            axis.plot(sizes, one.mean(), color=color, marker="o", markersize=4,
                      label="upper bound" if name == "high" else "lower bound")  # fmt: skip
            axis.fill_between(sizes, one.min(), one.max(), color=color, alpha=0.2, linewidth=0)
        axis.set(xscale="log", xlabel="known positives", title=f"true AUC {truth:.3f}")
    axes[0].set_ylabel("AUC")
    axes[0].legend()
    figure.tight_layout()
    page.figure(
        figure, "figure2",
        f"Figure 2. Bounds of the AUC by number of known positives; 100,000 unlabeled rows, prior .2. Mean and range of {repetitions} repetitions (the paper: 200).",
    )  # fmt: skip
    bands = ("bootstrap", "clopper-pearson", "dkw")
    rows = []
    for (_, n), part in frame.groupby(["concentration", "labeled"]):
        row = [f"{n:,} (AUC {number(part['auc'].mean())})"]
        for band in bands:
            width = (part[f"{band} high"] - part[f"{band} low"]).mean()
            row += [
                width,
                f"{part[f'{band} inside'].mean():.0%}",
                f"{part[f'{band} share'].mean():.1%}",
            ]
        rows.append(row)
    page.add(
        "Width of the bounds of the AUC, share of repetitions in which they contain the true AUC, and share of the true ROC curve they contain, by band:\n\n"
        + table(
            [
                "known positives",
                *(f"{band}{what}" for band in bands for what in (": width", ", AUC", ", curve")),
            ],
            rows,
        )
    )
    whole = ", ".join(f"{frame[f'{band} whole'].mean():.0%} ({band})" for band in bands)
    page.add(
        f"The whole true curve lies between the bounds in {whole} of all repetitions. The paper's band (bootstrap) is too narrow at the ends of the ranking. There, all or none of the few known positives are above a rank, and resampling them changes nothing."
    )


def figure_3(page: Page) -> None:
    """Plot the curves for wrong priors."""
    ranking = simulated(
        ranked(3, prevalence=0.3),
        np.random.default_rng(0),
        labeled=2000,
        unlabeled=100_000,
        prior=0.3,
    )
    figure, axes = plt.subplots(1, 5, figsize=(13, 3), sharey=True)
    rows = []
    for axis, prior in zip(axes, (0.0, 0.15, 0.3, 0.375, 0.45), strict=True):
        bounds = claesen_bounds(ranking.counts, prior=prior, band="bootstrap")
        _band(axis, bounds, OURS, f"prior {prior:g}")
        tpr, fpr = ranking.true_rates(bounds.low.threshold)
        axis.plot(fpr, tpr, color=TRUTH, linestyle=":", label="truth")
        axis.set(title=f"assumed prior {prior:g}", xlabel="false positive rate", aspect="equal")
        low, high = bounds.roc_auc
        rows.append((f"{prior:g}", low, high, "yes" if low <= ranking.auc <= high else "no"))
    axes[0].set_ylabel("true positive rate")
    figure.tight_layout()
    page.figure(
        figure, "figure3",
        "Figure 3. Bounds of the ROC curve with a wrong prior: one simulated ranking, 2,000 known positives, 100,000 unlabeled rows, true prior .3. Too low a prior bounds "
        "performance from below, too high a prior from above (lemma 4).",
    )  # fmt: skip
    page.add(
        table(
            [
                "assumed prior",
                "lower bound",
                "upper bound",
                f"contains the true AUC {number(ranking.auc)}",
            ],
            rows,
        )
    )


def _band(axis: Any, bounds: Any, color: str, label: str, *, alpha: float = 0.3) -> None:
    grid = np.linspace(0, 1, 400)
    low = np.interp(grid, bounds.low.fpr, np.maximum.accumulate(bounds.low.tpr))
    high = np.interp(grid, bounds.high.fpr, np.maximum.accumulate(bounds.high.tpr))
    axis.fill_between(grid, low, high, color=color, alpha=alpha, linewidth=0, label=label)
    for edge in (low, high):
        axis.plot(grid, edge, color=color, linewidth=0.6)


# The four AUCs below figure 4 in percent, and the spread with which ours has the same values.
FIGURE_4 = {"model 1": (72.5, 75.5, 0.8), "model 2": (73.2, 74.7, 4.0)}


def figure_4(page: Page) -> None:
    """Plot two rankings that change places if the prior is wrong."""
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.5))
    grid = np.linspace(0, 0.15, 31)
    columns = []
    for (name, (naive, printed, spread)), color in zip(
        FIGURE_4.items(), (OURS, NAIVE), strict=True
    ):
        counts = normal_ranking(naive / 100, spread)
        evs = {prior: evaluate(counts, prior=prior, level=None) for prior in (0.0, *grid, 0.1)}
        for axis, prior in zip(axes, (0.0, 0.1), strict=False):
            curve = evs[prior].roc()
            axis.plot(curve.fpr, curve.tpr, color=color, label=name)
            axis.set(title=f"assumed prior {prior:g}", xlabel="false positive rate")
        direct = [evs[prior]["roc_auc"].value for prior in grid]
        clipped = [evs[prior].roc_area().value for prior in grid]
        axes[2].plot(grid, direct, color=color, linestyle="--", label=f"{name}, direct")
        axes[2].plot(grid, clipped, color=color, label=f"{name}, clipped curve")
        bounds = claesen_bounds(counts, prior=0.1, band="bootstrap").roc_auc
        values = (evs[0.1]["roc_auc"].value, evs[0.1].roc_area().value, *bounds)
        columns.append(
            [
                f"{naive:.1f}", f"{100 * evs[0.0]['roc_auc'].value:.1f}", f"{printed:.1f}",
                *(f"{100 * value:.1f}" for value in values),
                number(largest_prior(counts).prior, 2),
            ]
        )  # fmt: skip
    axes[0].set_ylabel("true positive rate")
    axes[0].legend()
    axes[2].set(title="area", xlabel="assumed prior", ylabel="AUC")
    axes[2].legend(fontsize=8)
    figure.tight_layout()
    page.figure(
        figure, "figure4",
        "Figure 4. Two rankings of 5,000 known positives and 45,000 unlabeled rows whose curves cross: ROC curves, clipped to the unit square, with two assumed priors, and the area by prior.",
    )  # fmt: skip
    titles = (
        "prior 0: paper", "ours", "prior .1: paper", "ours: equation 4 of Jain et al. (direct)",
        "area of the clipped curve", "lower bound, bootstrap", "upper bound, bootstrap",
        "largest prior the ranking allows",
    )  # fmt: skip
    page.add(
        "AUC in %:\n\n"
        + table(["", *FIGURE_4], list(zip(titles, *columns, strict=True)))
        + "\n\n"
        + ORDER
    )


ORDER = """The paper concludes that the order of models by AUC depends on the prior. Its own formulas say otherwise, as long as nothing is clipped. With the prior β and the naive AUC A, the area under the corrected curve is (A − β/2)/(1 − β): for 72.5 % and 73.2 % and a prior of .1 this is 75.0 % and 75.8 %. The derivative of the false positive rate in equation 15 (with the missing factor, see below), integrated over the curve, gives (A − ½)/(1 − β)². Segments of a curve move differently, but the area only depends on A, so the order cannot change.

The printed 75.5 % and 74.7 % do not fit this formula. They fit areas after clipping (equation 11). The paper states neither the rankings nor which bound it prints. Our two rankings have normal scores, those of the known positives with a standard deviation of 0.8 and 4 times that of the unlabeled rows. We chose these two numbers so that the *upper bounds* are the paper's; the naive AUCs are given. In model 2, many known positives score above almost all unlabeled rows. With prior .1, a tenth of the unlabeled rows would have to be ranked like them, and too few are. The corrected false positive rate is negative there, and is set to 0. This costs area in model 2 only, so the order changes, but at a prior that the second ranking rules out (`largest_prior`). There the assumptions contradict the data, and neither order means anything. Where no rate is clipped, the order does not depend on the prior."""


def figure_5(page: Page) -> None:
    """Plot rank distribution, ROC and precision-recall curves of covertype."""
    ranking = covertype()
    prior = ranking.prior
    bounds = claesen_bounds(ranking.counts, prior=prior, band="bootstrap")
    wide = claesen_bounds(ranking.counts, prior=(0.8 * prior, 1.2 * prior), band="bootstrap")
    naive = claesen_bounds(ranking.counts, prior=0.0, band="bootstrap")
    tpr, fpr = ranking.true_rates(bounds.low.threshold)
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.6))
    steps = ranking.counts.steps()
    rank = steps.labeled + steps.unlabeled
    hidden = ranking.positive & ~np.isin(np.arange(40_000), _labeled_rows())
    above = np.sort(ranking.score[hidden])
    latent = 1 - np.searchsorted(above, steps.threshold, side="left") / above.size
    from pueval.sensitivity.rank_band import rank_band

    low, high = rank_band(steps.labeled, 1000, hidden=19_000, level=0.95, method="bootstrap")
    axes[0].fill_between(rank, low, high, color=OURS, alpha=0.35, linewidth=0, label="95 % band")
    axes[0].plot(rank, latent, color=TRUTH, linewidth=1, label="unlabeled positives")
    axes[0].set(title="rank distribution", xlabel="rank", ylabel="share of positives above")
    axes[0].legend()
    _band(axes[1], wide, KNOWN, "0.8 to 1.2 times the prior", alpha=0.2)
    _band(axes[1], bounds, OURS, "prior known", alpha=0.45)
    axes[1].plot(
        naive.low.fpr, naive.low.tpr, color=NAIVE, linestyle="--", linewidth=1, label="naive"
    )
    axes[1].plot(fpr, tpr, color=TRUTH, linewidth=1, label="truth")
    axes[1].set(title="ROC", xlabel="false positive rate", ylabel="true positive rate")
    axes[1].legend(loc="lower right")
    precision = 20_000 * tpr / np.maximum(20_000 * tpr + 20_000 * fpr, 1)
    grid = np.linspace(0.01, 1, 400)
    for one, color, alpha in ((wide, KNOWN, 0.2), (bounds, OURS, 0.45)):
        curves = [np.interp(grid, side.tpr, side.precision) for side in (one.low, one.high)]
        axes[2].fill_between(grid, *curves, color=color, alpha=alpha, linewidth=0)
    axes[2].plot(
        naive.low.tpr[1:], naive.low.precision[1:], color=NAIVE, linestyle="--", linewidth=1
    )
    axes[2].plot(tpr[1:], precision[1:], color=TRUTH, linewidth=1)
    axes[2].set(title="precision and recall", xlabel="recall", ylabel="precision", ylim=(0, 1.03))
    figure.tight_layout()
    page.figure(
        figure, "figure5",
        "Figure 5. Covertype, 20,000 positives and 20,000 negatives, 1,000 labeled (prior .487), one draw as in the paper: rank distribution of the unlabeled positives with its "
        "band, and bounds of both curves.",
    )  # fmt: skip
    rows = []
    for name, one in (("prior known", bounds), ("0.8 to 1.2 times the prior", wide)):
        share, inside = ranking.contained(one)
        rows.append(
            (name, *one.roc_auc, *one.average_precision, "yes" if inside else "no", f"{share:.1%}")
        )
    dkw = claesen_bounds(ranking.counts, prior=prior, band="dkw")
    share, inside = ranking.contained(dkw)
    rows.append(("prior known, band for all ranks together (dkw)", *dkw.roc_auc, *dkw.average_precision,
                 "yes" if inside else "no", f"{share:.1%}"))  # fmt: skip
    page.add(
        table(
            [
                "",
                "AUC from",
                "to",
                "AUC-PR from",
                "to",
                f"true AUC {number(ranking.auc)} inside",
                "share of the curve inside",
            ],
            rows,
        )
    )


def _labeled_rows() -> np.ndarray:
    return np.random.default_rng(1).choice(20_000, 1000, replace=False)


def appendix(page: Page, run: Run) -> None:
    """Make tables 1 and 2, with known positives and known negatives."""
    shares = [0.05, 0.1, 0.2, 0.4, 0.8]
    others = [0.0, 0.2, 0.4, 0.6, 0.8]
    repetitions = run.times(10, 100)
    frame = study(
        mixed, {"known_positive": shares, "known_negative": others},
        replications=repetitions, n_jobs=run.jobs,
    )  # fmt: skip
    for title, start in (
        ("Table 1 (appendix C): bounds from known positives", "positives"),
        (
            "Table 2 (appendix C): bounds from known positives or known negatives, whichever are tighter",
            "tighter",
        ),
    ):
        part = frame[frame["start"] == start]
        mean = part.groupby(["known_positive", "known_negative", "factor"])[
            ["low", "high", "auc"]
        ].mean()
        rows = []
        for p in shares:
            for n in others:
                if start == "tighter" and n == 0:
                    continue
                cells = []
                for c in (0.8, 1.0, 1.2):
                    low, high, _ = mean.loc[(p, n, c)]
                    cells.append(f"{100 * low:.1f} to {100 * high:.1f}")
                right = part[
                    (part["known_positive"] == p)
                    & (part["known_negative"] == n)
                    & (part["factor"] == 1)
                ]
                inside = ((right["low"] <= right["auc"]) & (right["auc"] <= right["high"])).mean()
                rows.append(
                    (f"{p:.0%} of positives, {n:.0%} of negatives", *cells, f"{inside:.0%}")
                )
        page.add(
            f"## {title}\n\n2,000 positives, 10,000 negatives, true AUC {100 * frame['auc'].mean():.1f} %; bounds in %, means of {repetitions} repetitions (the paper does not state its number). The prior is 0.8, 1 or 1.2 times the true one.\n\n"
            + table(
                ["known", "prior × 0.8", "prior × 1", "prior × 1.2", "true AUC inside, prior × 1"],
                rows,
            )
        )
    right = frame[frame["factor"] == 1]
    inside = (
        ((right["low"] <= right["auc"]) & (right["auc"] <= right["high"]))
        .groupby(right["start"])
        .mean()
    )
    page.add(
        f"With the true prior, the bounds contain the true AUC in {inside['positives']:.0%} (table 1) and {inside['tighter']:.0%} (table 2) of all repetitions. Choosing the tighter of two bounds lowers the coverage."
    )
    width = frame[(frame["factor"] == 1) & (frame["start"] == "positives")]
    width = width.assign(width=100 * (width["high"] - width["low"]))
    few = width.groupby(["known_positive", "known_negative"])["width"].mean()
    page.add(
        "As in the paper, known positives tighten the bounds considerably (from "
        f"{few[(0.05, 0.0)]:.1f} to {few[(0.8, 0.0)]:.1f} points between 5 % and 80 % of them), known negatives hardly do (from {few[(0.1, 0.4)]:.1f} to "
        f"{few[(0.1, 0.8)]:.1f} points between 40 % and 80 % of them, at 10 % of the positives), unless the bounds start from the negatives (table 2)."
    )


def make(page: Page, run: Run) -> None:
    """Make the page."""
    page.add(INTRODUCTION)
    page.add("## Figures")
    figure_2(page, run)
    figure_3(page)
    figure_4(page)
    figure_5(page)
    appendix(page, run)
    page.add(DIFFERENCES)


DIFFERENCES = """## Differences from the paper

- **Bootstrap**: at a given rank, the resampled share is binomial, so we compute its quantiles instead of resampling.
- **Coverage of the band**: the paper's band is pointwise, so about 5% of a curve may lie outside, and it ignores the sampling variation of the unlabeled positives. `band="dkw"` is simultaneous and includes both, but is wider.
- **Covertype**: we use a 16% sample of the rows, and gradient boosting on PU labels instead of the paper's ensemble of support vector machines.
- **Order of AUCs** (section 6.2, figure 4): without clipping, it does not depend on the prior. The paper's example needs clipping, and the second ranking rules out its prior. The paper states neither its rankings nor which of its bounds it prints; with ours, the four numbers are those of the upper bounds.
- **Equation 15** of the paper lacks a factor |U| in the denominator of the derivative of the false positive rate. No result here depends on it.
- **Figures 1 and 6 to 8** explain definitions and lemmas with drawings. They have no numbers; tests check the definitions and lemmas (`docs/papers/equations.md`), and figure 1 itself."""


if __name__ == "__main__":
    main(__file__, make)
