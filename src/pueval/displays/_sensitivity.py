"""How much a measure depends on prior and purity, and which of them the data allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.measures import AREAS, find_measure
from pueval.counts.counts import Counts
from pueval.displays._assumed import EXACT, Known, known_limits
from pueval.displays._canvas import POSITIVE, axes_for, legend
from pueval.displays._constructors import FromData
from pueval.displays._legend_text import check_name, entry
from pueval.errors import InputError, require
from pueval.evaluation.estimates import Estimate
from pueval.evaluation.measure_titles import TITLES
from pueval.sensitivity.feasibility import largest_prior
from pueval.sensitivity.grid import LEAST_PRIOR, SensitivityGrid
from pueval.text.numbers import format_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.container import ErrorbarContainer
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class SensitivityDisplay(FromData):
    """A measure over prior × purity, with the region that the data contradict.

    Colors and lines of equal height show what the corrected measure would be for other priors and
    purities; gray is where the ranking contradicts them, or where the corrected measure would leave
    its range. Make one with `from_evaluation`, `from_predictions` or `from_estimator`; they draw it
    at once.

    Parameters
    ----------
    grid : SensitivityGrid
        From ``ev.sensitivity(measure)``.
    estimate : Estimate
        The measure as evaluated, for the legend.
    limits : Known, optional
        Limits of prior and purity where they are not known exactly; drawn as whiskers.
    name : str, optional
        Of the classifier, for the legend.

    Attributes
    ----------
    contour_ : matplotlib QuadContourSet
        The colored areas.
    lines_ : matplotlib QuadContourSet
        Lines of equal height, with their values.
    infeasible_ : matplotlib QuadContourSet or None
        The region that the data contradict; None if there is none.
    own_ : matplotlib ErrorbarContainer
        Prior and purity of the evaluation, with their limits.
    naive_ : matplotlib Line2D
        Prior 0 and purity 1, where naive numbers belong.
    colorbar_ : matplotlib Colorbar or None
        If drawn.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

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
    >>> display = SensitivityDisplay.of(ev, measure="roc_auc")    # data only, nothing drawn
    >>> bool(display.frame()["feasible"].all())
    False
    """

    grid: SensitivityGrid
    estimate: Estimate
    limits: Known = EXACT
    name: str | None = None
    contour_: QuadContourSet = field(init=False, repr=False)
    lines_: QuadContourSet = field(init=False, repr=False)
    infeasible_: QuadContourSet | None = field(init=False, repr=False)
    own_: ErrorbarContainer = field(init=False, repr=False)
    naive_: Line2D = field(init=False, repr=False)
    colorbar_: Colorbar | None = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_name(self.name)

    @classmethod
    def of(
        cls,
        ev: Evaluation,
        *,
        measure: str = "roc_auc",
        priors: Any = None,
        purities: Any = None,
        name: str | None = None,
    ) -> SensitivityDisplay:
        """Compute the data behind the picture; draw nothing.

        Parameters
        ----------
        ev : Evaluation
            Made by `pueval.evaluate`.
        measure : str, default "roc_auc"
            An area, or a measure at the threshold of the evaluation.
        priors, purities : array-like, optional
            The axes; by default around what was assumed, and as far as the data allow.
        name : str, optional
            Of the classifier, for the legend.

        Returns
        -------
        SensitivityDisplay
        """
        estimate, limits = ev[measure], known_limits(ev)
        # Each point of the area under the precision-recall curve is a sum over all scores.
        across, down = (31, 21) if measure == "average_precision" else (121, 41)
        if priors is None:
            priors = _priors(ev.counts, (ev.mixture.prior, *(limits.prior or ())), across)
        if purities is None:
            purities = _purities(ev.counts, (ev.mixture.purity, *(limits.purity or ())), down)
        grid = ev.sensitivity(measure, priors=priors, purities=purities)
        return cls(grid=grid, estimate=estimate, limits=limits, name=name)

    @property
    def possible(self) -> Array:
        """Where the data allow prior and purity, and the measure stays in its range."""
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
        """Return the data behind the picture.

        Returns
        -------
        pandas.DataFrame
            A row per pair: ``prior``, ``purity``, ``value``, ``feasible``.
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
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        plot_colorbar : bool, default True
            Whether to draw a scale of the colors.
        levels : int or array-like, default 10
            How many lines of equal height, or their values.
        cmap : str or Colormap, default "viridis"
            Colors of the measure.
        infeasible_color : color, default "0.82"
            Of the region that the data contradict.

        Returns
        -------
        SensitivityDisplay
            Itself, with its artists.
        """
        self.ax_, self.figure_ = axes_for(ax, type(self).__name__)
        ax, grid, possible = self.ax_, self.grid, self.possible
        title = TITLES.get(grid.measure) or find_measure(grid.measure).title
        value = np.clip(grid.value, *self._range())
        heights = _heights(value[possible] if possible.any() else value, levels, self._range())
        # Colors go on below the region that the data contradict, so that its edge has no gaps.
        value = np.clip(value, heights[0], heights[-1])
        self.contour_ = ax.contourf(grid.prior, grid.purity, value, levels=heights, cmap=cmap)
        self.lines_ = ax.contour(
            grid.prior,
            grid.purity,
            np.ma.masked_where(~possible, value) if possible.any() else value,
            levels=heights[1:-1],
            colors="white",
            linewidths=0.7,
        )
        ax.clabel(self.lines_, fontsize="x-small", fmt=_digits(heights))
        self.infeasible_ = None
        if not possible.all():
            self.infeasible_ = ax.contourf(
                grid.prior,
                grid.purity,
                np.where(possible, 0.0, 1.0),
                levels=[0.5, 1.5],
                colors=[infeasible_color],
                hatches=["//"],
                zorder=2.5,
            )
            self.infeasible_.set(edgecolor="0.72", linewidth=0)
        estimate = self.estimate
        said = str(estimate)
        self.own_ = ax.errorbar(
            [grid.assumed.prior],
            [grid.assumed.purity],
            xerr=_reach(grid.assumed.prior, self.limits.prior),
            yerr=_reach(grid.assumed.purity, self.limits.purity),
            fmt="o",
            color=POSITIVE,
            markeredgecolor="white",
            markersize=9,
            capsize=4,
            clip_on=False,
            zorder=5,
            label=entry(self.name, f"corrected, {title} {said}"),
        )
        (self.naive_,) = ax.plot(
            [0.0],
            [1.0],
            marker="o",
            linestyle="none",
            color="0.35",
            markerfacecolor="white",
            markersize=8,
            clip_on=False,
            zorder=5,
            label=entry(self.name, f"naive, {title} {format_number(estimate.naive)}"),
        )
        self.colorbar_ = None
        if plot_colorbar:
            self.colorbar_ = self.figure_.colorbar(self.contour_, ax=ax, label=title)
        ax.set(
            xlabel="Prior (positives among unlabeled)",
            ylabel="Purity (positives among labeled)",
            xlim=(grid.prior[0], grid.prior[-1]),
            ylim=(grid.purity[0], grid.purity[-1]),
        )
        handles: list[Any] = [self.own_, self.naive_]
        if self.infeasible_ is not None:
            from matplotlib.patches import Patch

            words = "contradicts the data"
            if np.any(self.grid.feasible & ~self.possible):
                words += " or is beyond the measure's range"
            looks = {"facecolor": infeasible_color, "edgecolor": "0.72", "linewidth": 0}
            handles.append(Patch(hatch="//", label=words, **looks))
        legend(ax, "lower right", handles=handles)
        return self


def _priors(counts: Counts, shown: Sequence[float], points: int) -> Array:
    """Priors from 0 to somewhat above the largest that clean labels allow."""
    counts._check_nonempty()
    most = 1.0 if not counts.n_unlabeled else largest_prior(counts).prior
    return np.linspace(0.0, min(max(1.15 * most, 1.1 * max(shown), LEAST_PRIOR), 0.99), points)


def _purities(counts: Counts, shown: Sequence[float], points: int) -> Array:
    """Purities from somewhat below the lowest that any prior fits, up to 1."""
    fits, fails = 1.0, 0.0
    for _ in range(8 if counts.n_unlabeled else 0):
        middle = (fits + fails) / 2
        allowed = largest_prior(counts, purity=middle).prior > 0
        fits, fails = (middle, fails) if allowed else (fits, middle)
    lowest = min(1 - 1.4 * (1 - fits), min(shown) - 0.02, 0.98)
    return np.linspace(max(lowest, 0.05), 1.0, points)


def _heights(values: Array, levels: int | Any, ends: tuple[float, float]) -> Array:
    """Return round heights that hold all values, or those that were asked for."""
    if not isinstance(levels, int):
        heights = np.unique(np.asarray(levels, dtype=np.float64))
        if heights.size < 2:
            raise InputError(f"levels must be a number, or at least two heights; got {levels!r}.")
        return heights
    ticker = require("matplotlib.ticker", extra="plot", purpose="SensitivityDisplay.plot()")
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if high - low < 1e-6:
        low, high = low - 0.05, high + 0.05
    round_steps = ticker.MaxNLocator(max(levels, 1), steps=[1, 2, 2.5, 5, 10])
    found: Array = np.unique(np.clip(round_steps.tick_values(low, high), *ends))
    return found


def _reach(value: float, limits: tuple[float, float] | None) -> Any:
    if limits is None:
        return None
    return [[max(value - limits[0], 0.0)], [max(limits[1] - value, 0.0)]]


def _digits(levels: Array) -> str:
    """As many digits as tell neighboring levels apart."""
    step = float(np.min(np.diff(levels)))
    digits = 0
    while digits < 6 and abs(step * 10**digits - round(step * 10**digits)) > 1e-6:
        digits += 1
    return f"%.{digits}f"
