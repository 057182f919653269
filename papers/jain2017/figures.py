"""Figures 1 to 4 of Jain et al. (2017)."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.report import KNOWN, NAIVE, OTHER, OURS
from pueval import Counts, Mixture
from pueval.core.curves import correct_roc_from_corners
from pueval.core.mixture import NAIVE as NO_CORRECTION

COLORS = {"PU": NAIVE, "IR": "#56B4E9", "DR": KNOWN, "IE": OURS, "DE": OTHER, "IA": "#E69F00",
          "DA": "#F0E442"}  # fmt: skip


def figure_1() -> tuple[Any, float, float]:
    """Plot a hand-worked example: three labeled and five unlabeled rows, one of them positive."""
    score = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    label = np.array([1, 0, 1, 0, 1, 0, 0, 0])
    truth = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), width_ratios=[0.9, 1, 1])
    axes[0].axis("off")
    cells = [[f"{s:.1f}", str(k) if k else "?", "positive" if t else "negative"]
             for s, k, t in zip(score, label, truth, strict=True)]  # fmt: skip
    shown = axes[0].table(cells, colLabels=["score", "label", "class"], loc="center")
    shown.set_fontsize(9)
    shown.scale(1, 1.15)
    areas = []
    for axis, labels, title in (
        (axes[1], label, "unlabeled as negative"),
        (axes[2], truth, "truth"),
    ):
        counts = Counts.from_arrays(labels, score)
        curve = correct_roc_from_corners(counts, counts._roc_corners(), NO_CORRECTION)
        areas.append(curve.area)
        axis.fill_between(curve.fpr, curve.tpr, color=OURS, alpha=0.15, linewidth=0)
        axis.plot(curve.fpr, curve.tpr, color=OURS, marker="o", markersize=3.5)
        axis.set(title=f"{title}: AUC = {curve.area:.3f}", xlabel="false positive rate",
                 ylabel="true positive rate", aspect="equal")  # fmt: skip
    figure.tight_layout()
    return figure, areas[0], areas[1]


def figure_2(frame: pd.DataFrame) -> Any:
    """Plot errors by purity, and by the error of purity − prior."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.4))
    for row, (kinds, what) in enumerate(
        ((["PU", "IR", "DR", "IA", "DA", "IE", "DE"], "AUC"), (["PU", "IR", "IA", "IE"], "AUC-PR"))
    ):
        columns = {kind: f"{'auc' if what == 'AUC' else 'ap'}_{kind}" for kind in kinds}
        box, line = axes[row]
        for k, (kind, column) in enumerate(columns.items()):
            for j, purity in enumerate((1.0, 0.95, 0.75)):
                values = frame.loc[frame["wanted_purity"] == purity, column]
                place = j + (k - (len(kinds) - 1) / 2) * 0.12
                box.boxplot(
                    values, positions=[place], widths=0.1, patch_artist=True, showfliers=False,
                    boxprops={"facecolor": COLORS[kind], "alpha": 0.75, "linewidth": 0.7},
                    medianprops={"color": "black"}, whiskerprops={"linewidth": 0.7},
                    capprops={"linewidth": 0.7},
                )  # fmt: skip
            box.plot([], [], color=COLORS[kind], linewidth=6, alpha=0.75, label=kind)
        box.axhline(0, color="gray", linewidth=0.8)
        box.set_xticks(range(3), ["1.00", "0.95", "0.75"])
        box.set(xlabel="purity", ylabel=f"estimated − true {what}", title=f"{what} by purity")
        box.legend(ncols=7, loc="lower center", bbox_to_anchor=(0.5, 1.08), handlelength=0.8)
        bins = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 1.0]
        for kind, column in columns.items():
            # The error of the estimates that the column uses; those of pueval where it uses none.
            wrong = frame["alphamax_error" if kind.endswith("A") else "contrast_error"].abs()
            group = pd.cut(wrong, bins, include_lowest=True, labels=False)
            means = frame.groupby(group)[column].agg(["mean", "sem"])
            line.errorbar(means.index, means["mean"], 2 * means["sem"].fillna(0), capsize=2,
                          color=COLORS[kind], marker="o", markersize=4, label=kind)  # fmt: skip
        line.axhline(0, color="gray", linewidth=0.8)
        line.set_xticks(range(6), ["to .01", ".01–.02", ".02–.05", ".05–.1", ".1–.2", "over .2"])
        line.set(xlabel="absolute error of estimated purity − prior",
                 ylabel=f"mean of estimated − true {what}", title=f"{what} by error of the estimates")  # fmt: skip
    figure.tight_layout()
    return figure


def recovered(true_prior: float, true_purity: float, auc: float, n: int = 201) -> np.ndarray:
    """Return the corrected AUC, not clipped, for all priors (columns) and purities (rows)."""
    contrast = true_purity - true_prior
    naive = contrast * auc + (1 - contrast) / 2
    prior, purity = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    found = np.full(prior.shape, np.nan)
    other = purity != prior
    found[other] = (naive - (1 - (purity - prior)[other]) / 2) / (purity - prior)[other]
    return found


def _heat(axis: Any, prior: float, purity: float, auc: float) -> Any:
    found = recovered(prior, purity, auc)
    error = np.where((found >= 0) & (found <= 1), np.abs(found - auc), np.nan)
    axis.set_facecolor("lightgray")
    shown = axis.imshow(
        error, origin="lower", extent=(0, 1, 0, 1), cmap="magma_r", vmin=0, vmax=1, aspect="equal"
    )
    axis.axvline(prior, color="black", linewidth=0.7, linestyle=":")
    axis.axhline(purity, color="black", linewidth=0.7, linestyle=":")
    return shown


def figure_3() -> Any:
    """Plot the error of the corrected AUC for wrong estimates, for 27 true values."""
    figure, axes = plt.subplots(3, 9, figsize=(15, 5.6), sharex=True, sharey=True)
    for row, auc in enumerate((0.65, 0.80, 0.95)):
        for column, (prior, purity) in enumerate(
            (a, b) for a in (0.05, 0.25, 0.50) for b in (0.75, 0.95, 1.00)
        ):
            axis = axes[row, column]
            shown = _heat(axis, prior, purity, auc)
            axis.set_title(f"AUC {auc:.2f}\nprior {prior:g}, purity {purity:g}", fontsize=7.5)
            axis.set_xticks([0, 1])
            axis.set_yticks([0, 1])
    figure.supxlabel("estimated prior")
    figure.supylabel("estimated purity")
    figure.tight_layout(rect=(0.01, 0, 0.94, 1))
    bar = figure.colorbar(shown, ax=axes, fraction=0.012, pad=0.01)
    bar.set_label("absolute error of the AUC")
    return figure


def figure_4() -> Any:
    """Plot one of the true values in detail."""
    prior, purity, auc = 0.25, 0.75, 0.90
    contrast = Mixture(prior, purity).purity - prior
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2))
    shown = _heat(axes[0], prior, purity, auc)
    axes[0].set(title="absolute error of the recovered AUC", xlabel="estimated prior",
                ylabel="estimated purity")  # fmt: skip
    figure.colorbar(shown, ax=axes[0], fraction=0.046)
    line = np.linspace(0, 1, 2)
    naive_gap = contrast * (2 * auc - 1)
    lines = axes[1]
    for offset, text, color in (
        (contrast, "recovered AUC = true AUC\n(purity − prior is right)", KNOWN),
        (naive_gap, "recovered AUC = 1", OURS),
        (-naive_gap, "recovered AUC = 0", OTHER),
    ):
        lines.plot(line, line + offset, color=color, label=text)
    lines.fill_between(line, line - naive_gap, line + naive_gap, color="lightgray", alpha=0.6,
                       linewidth=0, label="impossible: AUC outside [0, 1]")  # fmt: skip
    lines.plot([prior], [purity], "ko", markersize=5)
    lines.plot([0], [1], marker="o", linestyle="none", color=NAIVE, clip_on=False,
               label="recovered AUC = naive AUC")  # fmt: skip
    lines.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="estimated prior",
              ylabel="estimated purity", title="notable lines")  # fmt: skip
    lines.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize=8.5)
    figure.tight_layout()
    return figure
