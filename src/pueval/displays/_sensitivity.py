"""A measure as a function of prior and purity, and the values that the data rule out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.measures import AREAS, find_measure
from pueval.core.mixture import cap_prior
from pueval.counts.counts import Counts
from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._legends import place_legend
from pueval.displays._mixture_intervals import EXACT, MixtureIntervals, mixture_intervals
from pueval.displays._styling import POSITIVE
from pueval.errors import InputError, require
from pueval.estimates.estimate import Estimate
from pueval.estimates.measure_titles import TITLES
from pueval.sensitivity.feasibility import largest_prior
from pueval.sensitivity.grid import LEAST_PRIOR, SHOWN_CONTRAST, SensitivityGrid
from pueval.text.numbers import format_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class SensitivityDisplay(ClassifierDisplay):
    """A measure over prior × purity, with the region that the data rule out.

    Colors and contour lines show the corrected measure for other priors and purities. In the gray
    region, the ranking rules out the prior and purity, or the corrected measure would be outside
    its range. Create a display with `from_evaluation`, `from_predictions` or `from_estimator`,
    which also draw it.

    Parameters
    ----------
    grid : SensitivityGrid
        Result of ``ev.sensitivity(measure)``.
    estimate : Estimate
        Estimate of the measure, for the legend.
    intervals : MixtureIntervals, optional
        Intervals of prior and purity, drawn as error bars.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    contour_ : matplotlib QuadContourSet
        Filled contours.
    lines_ : matplotlib QuadContourSet
        Contour lines with their values.
    infeasible_ : matplotlib QuadContourSet or None
        Region that the data rule out, if there is one.
    assumed_ : matplotlib ErrorbarContainer
        Prior and purity of the evaluation, with their intervals.
    naive_ : matplotlib Line2D
        Prior 0 and purity 1, which a naive evaluation assumes.
    colorbar_ : matplotlib Colorbar or None
        Color bar, if drawn.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    References
    ----------
    Jain, White and Radivojac (2017), figures 3 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import SensitivityDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> display = SensitivityDisplay.compute(ev, measure="roc_auc")    # draws nothing
    >>> bool(display.frame()["feasible"].all())
    False
    """

    grid: SensitivityGrid
    estimate: Estimate
    intervals: MixtureIntervals = EXACT

    @classmethod
    def compute(
        cls,
        ev: Evaluation,
        *,
        measure: str = "roc_auc",
        priors: Any = None,
        purities: Any = None,
        name: str | None = None,
    ) -> SensitivityDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        measure : str, default "roc_auc"
            Area under a curve, or measure at the threshold of the evaluation.
        priors, purities : array-like, optional
            Values on the axes; by default they include the assumed ones and extend slightly
            beyond what the data allow.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        SensitivityDisplay
        """
        estimate, intervals = ev[measure], mixture_intervals(ev)
        # Average precision is slow: each point of the grid needs a sum over all scores.
        n_priors, n_purities = (31, 21) if measure == "average_precision" else (121, 41)
        if priors is None:
            assumed = (ev.mixture.prior, *(intervals.prior or ()))
            priors = _default_priors(ev.counts, assumed, n_priors)
        if purities is None:
            assumed = (ev.mixture.purity, *(intervals.purity or ()))
            purities = _default_purities(ev.counts, assumed, n_purities)
        grid = ev.sensitivity(measure, priors=priors, purities=purities)
        return cls(grid=grid, estimate=estimate, intervals=intervals, name=name)

    @property
    def admissible(self) -> Array:
        """Whether the data allow each pair, and the measure is in its range."""
        low, high = self._range()
        value = self.grid.value
        with np.errstate(invalid="ignore"):
            inside: Array = (value >= low - 1e-9) & (value <= high + 1e-9)
        return inside & self.grid.feasible

    def _range(self) -> tuple[float, float]:
        if self.grid.measure in AREAS:
            return 0.0, 1.0
        measure = find_measure(self.grid.measure)
        return measure.low, measure.high

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per pair: ``prior``, ``purity``, ``value``, ``feasible``.
        """
        return self.grid.frame()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_colorbar: bool = True,
        levels: int | Any = 10,
        cmap: Any = "viridis",
        infeasible_color: Any = "0.82",
    ) -> SensitivityDisplay:
        """Draw the contours.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_colorbar : bool, default True
            Whether to draw a color bar.
        levels : int or array-like, default 10
            Approximate number of contour levels, or their values.
        cmap : str or Colormap, default "viridis"
            Colormap of the measure.
        infeasible_color : color, default "0.82"
            Color of the region that the data rule out.

        Returns
        -------
        SensitivityDisplay
            The display itself, with its artists.
        """
        ax, grid, admissible = self._use_axes(ax), self.grid, self.admissible
        title = TITLES.get(grid.measure) or find_measure(grid.measure).title
        value = np.clip(grid.value, *self._range())
        heights = _contour_levels(
            value[admissible] if admissible.any() else value, levels, self._range()
        )
        # The colors extend under the infeasible region, so that there is no gap at its edge.
        value = np.clip(value, heights[0], heights[-1])
        self.contour_ = ax.contourf(grid.prior, grid.purity, value, levels=heights, cmap=cmap)
        shown = np.ma.masked_where(~admissible, value) if admissible.any() else value
        options: dict[str, Any] = {"levels": heights[1:-1], "colors": "white", "linewidths": 0.7}
        self.lines_ = ax.contour(grid.prior, grid.purity, shown, **options)
        ax.clabel(self.lines_, fontsize="x-small", fmt=_number_format(heights))
        self.infeasible_ = None
        if not admissible.all():
            outside = np.where(admissible, 0.0, 1.0)
            options = {"levels": [0.5, 1.5], "colors": [infeasible_color], "hatches": ["//"]}
            self.infeasible_ = ax.contourf(grid.prior, grid.purity, outside, zorder=2.5, **options)
            self.infeasible_.set(edgecolor="0.72", linewidth=0)
        estimate, assumed = self.estimate, grid.assumed
        options = {"color": POSITIVE, "markeredgecolor": "white", "markersize": 9, "capsize": 4}
        self.assumed_ = ax.errorbar(
            [assumed.prior], [assumed.purity], fmt="o", clip_on=False, zorder=5, **options,
            xerr=_error_bar(assumed.prior, self.intervals.prior),
            yerr=_error_bar(assumed.purity, self.intervals.purity),
            label=self._label(f"corrected, {title} {estimate}"),
        )  # fmt: skip
        options = {"color": "0.35", "markerfacecolor": "white", "markersize": 8, "clip_on": False}
        label = self._label(f"naive, {title} {format_number(estimate.naive)}")
        (self.naive_,) = ax.plot([0.0], [1.0], "o", label=label, zorder=5, **options)
        self.colorbar_ = None
        if plot_colorbar:
            self.colorbar_ = self.figure_.colorbar(self.contour_, ax=ax, label=title)
        ax.set(
            xlabel="Prior (share of positives among the unlabeled)",
            ylabel="Purity (share of positives among the labeled)",
            xlim=(grid.prior[0], grid.prior[-1]),
            ylim=(grid.purity[0], grid.purity[-1]),
        )
        handles: list[Any] = [self.assumed_, self.naive_]
        if self.infeasible_ is not None:
            from matplotlib.patches import Patch

            label = "ruled out by the data"
            if np.any(self.grid.feasible & ~self.admissible):
                label += ", or measure out of range"
            options = {"facecolor": infeasible_color, "edgecolor": "0.72", "linewidth": 0}
            handles.append(Patch(hatch="//", label=label, **options))
        place_legend(ax, "lower right", handles=handles)
        return self


def _default_priors(counts: Counts, assumed: Sequence[float], points: int) -> Array:
    """Return priors from 0 to slightly above the largest that is feasible with clean labels."""
    counts._check_nonempty()
    largest = 1.0 if not counts.n_unlabeled else largest_prior(counts).prior
    end = max(1.15 * largest, 1.1 * max(assumed), LEAST_PRIOR)
    return np.linspace(0.0, cap_prior(end, contrast=SHOWN_CONTRAST), points)


def _default_purities(counts: Counts, assumed: Sequence[float], points: int) -> Array:
    """Return purities from slightly below the lowest that is feasible with any prior, up to 1."""
    feasible, infeasible = 1.0, 0.0
    for _ in range(8 if counts.n_unlabeled else 0):
        middle = (feasible + infeasible) / 2
        if largest_prior(counts, purity=middle).prior > 0:
            feasible = middle
        else:
            infeasible = middle
    lowest = min(1 - 1.4 * (1 - feasible), min(assumed) - 0.02, 0.98)
    return np.linspace(max(lowest, 0.05), 1.0, points)


def _contour_levels(values: Array, levels: int | Any, ends: tuple[float, float]) -> Array:
    """Return the requested levels, or round ones that enclose all values."""
    if not isinstance(levels, int):
        heights = np.unique(np.asarray(levels, dtype=np.float64))
        if heights.size < 2:
            raise InputError(f"levels must be a number, or at least two values; got {levels!r}.")
        return heights
    ticker = require("matplotlib.ticker", extra="plot", purpose="SensitivityDisplay.plot()")
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if high - low < 1e-6:
        low, high = low - 0.05, high + 0.05
    round_steps = ticker.MaxNLocator(max(levels, 1), steps=[1, 2, 2.5, 5, 10])
    return np.unique(np.clip(round_steps.tick_values(low, high), *ends))


def _error_bar(value: float, interval: tuple[float, float] | None) -> Any:
    if interval is None:
        return None
    return [[max(value - interval[0], 0.0)], [max(interval[1] - value, 0.0)]]


def _number_format(levels: Array) -> str:
    """Return a format with enough digits to distinguish neighboring levels."""
    step = float(np.min(np.diff(levels)))
    digits = 0
    while digits < 6 and abs(step * 10**digits - round(step * 10**digits)) > 1e-6:
        digits += 1
    return f"%.{digits}f"
