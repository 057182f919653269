"""Small multiples: the curve of each group in a panel of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._checks import check_choice, check_count
from pueval._typing import Array
from pueval.core.curves import correct_precision_recall, correct_roc_from_corners
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.displays._curve_pair import CurvePairDisplay
from pueval.displays._display import Display
from pueval.displays._precision_recall import PrecisionRecallDisplay
from pueval.displays._roc import RocCurveDisplay
from pueval.errors import InputError
from pueval.groups.group_estimates import printable_name

if TYPE_CHECKING:
    import pandas as pd

    from pueval.counts.counts import Counts
    from pueval.groups.group_evaluation import GroupEvaluation

CurveKind = Literal["roc", "pr"]
OVERALL_COLOR, GROUP_COLOR = "0.65", "C0"
# The displays that know the columns and axis labels of each kind.
CURVE_DISPLAYS: dict[str, type[CurvePairDisplay]] = {
    "roc": RocCurveDisplay,
    "pr": PrecisionRecallDisplay,
}


@dataclass(eq=False, kw_only=True, repr=False)
class GroupCurvesDisplay(Display):
    """Corrected ROC or precision-recall curves of groups, each with the curve of all rows.

    ``groups.plot()`` creates one.

    Parameters
    ----------
    curve : {"roc", "pr"}
        Kind of the curves.
    names : sequence
        Names of the groups, one per panel.
    curves : sequence of tuple of ndarray
        Coordinates (x, y) of each group's curve.
    overall : tuple of ndarray
        Coordinates (x, y) of the curve of all rows.
    areas : sequence of float
        Area under each group's curve.
    n_omitted : int, default 0
        Number of groups without a panel, mentioned in the legend.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Axes of the panels, one per group.
    figure_ : matplotlib Figure
        Figure of the panels.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate_by
    >>> from pueval.displays import GroupCurvesDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive, site = rng.random(2000) < 0.3, np.repeat(["Bern", "Oslo"], 1000)
    >>> labeled = positive & (rng.random(2000) < 0.5)
    >>> groups = evaluate_by(labeled, rng.normal(2.0 * positive), site, prior=0.18)
    >>> display = GroupCurvesDisplay.from_groups(groups)
    >>> [ax.get_title()[:4] for ax in display.axes_]
    ['Bern', 'Oslo']
    """

    curve: CurveKind
    names: Sequence[Any]
    curves: Sequence[tuple[Array, Array]]
    overall: tuple[Array, Array]
    areas: Sequence[float]
    n_omitted: int = 0

    @classmethod
    def from_groups(
        cls,
        groups: GroupEvaluation,
        *,
        curve: CurveKind = "roc",
        names: Any = None,
        most: int = 12,
        ax: Any = None,
        columns: int = 4,
    ) -> GroupCurvesDisplay:
        """Plot the curves of some or all groups.

        Parameters
        ----------
        groups : GroupEvaluation
            Result of `pueval.evaluate_by`.
        curve : {"roc", "pr"}
            ROC or precision-recall curves.
        names : list, optional
            Names of the groups to draw; by default those with the most labeled rows.
        most : int, default 12
            Number of groups to draw if ``names`` is not given.
        ax : array-like of matplotlib Axes, optional
            Axes to draw on, one per group; by default those of a new figure.
        columns : int, default 4
            Number of panels side by side.

        Returns
        -------
        GroupCurvesDisplay
            The display, with its axes.
        """
        check_choice("curve", curve, [*CURVE_DISPLAYS])
        check_count("most", most)
        selected = _select_groups(groups, names, most)
        overall, area = groups.overall, groups["roc_auc" if curve == "roc" else "average_precision"]

        def points(counts: Counts, prior: float) -> tuple[Array, Array]:
            mixture = Mixture(prior, overall.mixture.purity)
            return _curve_points(curve, counts, mixture, overall.target)

        display = cls(
            curve=curve,
            names=[groups.names[k] for k in selected],
            curves=[points(groups.counts(groups.names[k]), groups.prior[k]) for k in selected],
            overall=points(overall.counts, overall.mixture.prior),
            areas=[float(area.value[k]) for k in selected],
            n_omitted=0 if names else len(groups.names) - len(selected),
        )
        return display.plot(ax, columns=columns)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per point: ``group`` (None for the curve of all rows), and ``fpr`` and ``tpr``,
            or ``recall`` and ``precision``.
        """
        x_name, y_name = CURVE_DISPLAYS[self.curve].columns
        curves = zip((None, *self.names), (self.overall, *self.curves), strict=True)
        return self._data_frame(
            *({"group": [name] * x.size, x_name: x, y_name: y} for name, (x, y) in curves)
        )

    def plot(self, ax: Any = None, *, columns: int = 4) -> GroupCurvesDisplay:
        """Draw one panel per group.

        Parameters
        ----------
        ax : array-like of matplotlib Axes, optional
            Axes to draw on, one per group; by default those of a new figure.
        columns : int, default 4
            Number of panels side by side in a new figure.

        Returns
        -------
        GroupCurvesDisplay
            The display itself, with its axes.
        """
        if ax is None:
            check_count("columns", columns)
            columns = min(columns, len(self.names))
            rows = math.ceil(len(self.names) / columns)
            size = (2.4 * columns + 0.6, 2.5 * rows + 0.6)
            layout = {"sharex": True, "sharey": True, "squeeze": False, "layout": "constrained"}
            _, grid = self._pyplot().subplots(rows, columns, figsize=size, **layout)
            ax = grid.ravel()[: len(self.names)]
            for k, unused in enumerate(grid.ravel()[len(self.names) :], start=len(self.names)):
                unused.set_visible(False)
                ax[k - columns].tick_params(labelbottom=True)
        self.axes_ = np.asarray(ax, dtype=object).ravel()
        if self.axes_.size != len(self.names):
            raise InputError(
                f"ax must be {len(self.names)} matplotlib Axes; got {self.axes_.size}."
            )
        self.figure_ = self.axes_[0].figure
        for panel, name, points, area in zip(
            self.axes_, self.names, self.curves, self.areas, strict=True
        ):
            (overall,) = panel.plot(*self.overall, color=OVERALL_COLOR, linewidth=1)
            (group_line,) = panel.plot(*points, color=GROUP_COLOR, linewidth=1.5)
            # Names are data and may contain dollar signs.
            panel.set_title(f"{printable_name(name)}: {area:.2f}", fontsize=9, parse_math=False)
            panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
            panel.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        title = f"{self.n_omitted:,} more groups not shown" if self.n_omitted else None
        options: dict[str, Any] = {"fontsize": 8, "title_fontsize": 8, "frameon": False, "ncols": 2}
        handles, labels = [overall, group_line], ["all rows", "this group"]
        self.figure_.legend(handles, labels, title=title, loc="outside upper right", **options)
        xlabel, ylabel = CURVE_DISPLAYS[self.curve].axis_labels
        self.figure_.supxlabel(xlabel, fontsize=9)
        self.figure_.supylabel(ylabel, fontsize=9)
        return self


def _select_groups(groups: GroupEvaluation, names: Any, most: int) -> list[int]:
    """Return the indices of the groups to draw; reject groups without estimates."""
    if names is None:
        evaluated = np.flatnonzero(groups.evaluated)
        if not evaluated.size:
            raise InputError("no group has enough rows for an estimate; there is nothing to draw.")
        largest = evaluated[np.argsort(-groups.n_labeled[evaluated], kind="stable")[:most]]
        return sorted(int(k) for k in largest)
    indices = {name: k for k, name in enumerate(groups.names)}
    selected = []
    for name in names:
        groups.counts(name)  # raises an error if the group does not exist
        k = indices[name]
        if not groups.evaluated[k]:
            raise InputError(f"group {name!r} cannot be drawn: {groups.notes[k]}.")
        selected.append(k)
    if not selected:
        raise InputError("groups is empty; name at least one group, or leave it out.")
    return selected


def _curve_points(curve: str, counts: Counts, mixture: Mixture, target: Any) -> tuple[Array, Array]:
    corners = counts._roc_corners()
    if curve == "roc":
        line = correct_roc_from_corners(counts, corners, mixture, target)
        return line.fpr, line.tpr
    points = correct_precision_recall(correct_steps(counts, corners, mixture, target))
    return points.recall, points.precision
