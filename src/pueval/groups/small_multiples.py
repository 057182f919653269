"""Small multiples: the curve of every group in a panel of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._checks import check_count
from pueval.core.curves import recover_precision_recall, recover_roc_from_corners
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.errors import InputError, require
from pueval.groups.group_text import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pueval.counts.counts import Counts
    from pueval.groups.group_evaluation import GroupEvaluation

CURVES = {"0.65": "all rows", "C0": "the group"}
LABELS = {
    "roc": ("false positive rate", "true positive rate"),
    "pr": ("recall", "precision"),
}


def small_multiples(
    groups: GroupEvaluation, curve: str, names: Any, most: int, columns: int
) -> Figure:
    """Draw the curves of some groups; the curve of all rows is in every panel."""
    if curve not in LABELS:
        raise InputError(f"curve must be 'roc' or 'pr'; got {curve!r}.")
    check_count("most", most)
    check_count("columns", columns)
    wanted = _wanted(groups, names, most)
    figures, artists = (
        require(f"matplotlib.{part}", extra="plot", purpose="GroupEvaluation.plot()")
        for part in ("figure", "lines")
    )
    lines = math.ceil(len(wanted) / columns)
    figure: Figure = figures.Figure(
        figsize=(2.4 * min(columns, len(wanted)) + 0.6, 2.5 * lines + 0.6), layout="constrained"
    )
    panels = figure.subplots(
        lines, min(columns, len(wanted)), sharex=True, sharey=True, squeeze=False
    ).ravel()
    overall = groups.overall
    background = _curve(curve, overall.counts, overall.mixture, overall.target)
    auc = groups["roc_auc" if curve == "roc" else "average_precision"]
    for panel, k in zip(panels, wanted, strict=False):
        mixture = Mixture(float(groups.prior[k]), overall.mixture.purity)
        own = _curve(curve, groups.counts(groups.names[k]), mixture, overall.target)
        for points, color, width in zip((background, own), CURVES, (1, 1.5), strict=True):
            panel.plot(*points, color=color, linewidth=width)
        # Names are data: no mathematics in them.
        panel.set_title(
            f"{shown(groups.names[k])}: {auc.value[k]:.2f}", fontsize=9, parse_math=False
        )
        panel.set_aspect("equal")
        panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    for panel in panels[len(wanted) :]:
        panel.set_visible(False)
    x, y = LABELS[curve]
    missing = len(groups.names) - len(wanted)
    title = f"{missing:,} of {len(groups.names):,} groups not shown"
    figure.legend(
        handles=[
            artists.Line2D([], [], color=color, label=label) for color, label in CURVES.items()
        ],
        title=title if missing and not names else None,
        loc="outside upper right",
        ncols=2,
        fontsize=8,
        title_fontsize=8,
        frameon=False,
    )
    figure.supxlabel(x, fontsize=9)
    figure.supylabel(y, fontsize=9)
    return figure


def _wanted(groups: GroupEvaluation, names: Any, most: int) -> list[int]:
    """Return the numbers of the groups to draw; refuse those without estimates."""
    if names is None:
        there = np.flatnonzero(groups.evaluated)
        if not there.size:
            raise InputError("no group has enough rows for an estimate; there is nothing to draw.")
        largest = there[np.argsort(-groups.n_labeled[there], kind="stable")[:most]]
        return sorted(int(k) for k in largest)
    places = {name: k for k, name in enumerate(groups.names)}
    wanted = []
    for name in names:
        groups.counts(name)  # says which group does not exist
        k = places[name]
        if not groups.evaluated[k]:
            raise InputError(f"group {name!r} cannot be drawn: {groups.notes[k]}.")
        wanted.append(k)
    if not wanted:
        raise InputError("groups is empty; name at least one, or leave it out.")
    return wanted


def _curve(curve: str, counts: Counts, mixture: Mixture, target: Any) -> tuple[Any, Any]:
    corners = counts._roc_corners()
    if curve == "roc":
        found = recover_roc_from_corners(counts, corners, mixture, target)
        return found.fpr, found.tpr
    points = recover_precision_recall(correct_steps(counts, corners, mixture, target))
    return points.recall, points.precision
