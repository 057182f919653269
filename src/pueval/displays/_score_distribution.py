"""Densities of scores: labeled, unlabeled, and the recovered positives and negatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from pueval.core.densities import Scale, ScoreDensities, score_densities
from pueval.displays._assumed import known_limits
from pueval.displays._canvas import (
    BAND,
    NEGATIVE,
    POSITIVE,
    QUIET,
    axes_for,
    despined,
    legend_above,
    style,
)
from pueval.displays._constructors import FromData
from pueval.displays._legend_text import check_name, entry
from pueval.errors import require
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

    from pueval.evaluation.evaluation import Evaluation

Recovered = Literal["positive", "negative"]


@dataclass(eq=False, kw_only=True, repr=False)
class ScoreDistributionDisplay(FromData):
    """Histograms of scores: labeled and unlabeled rows, and the positives and negatives behind.

    Counting unlabeled rows as negative takes the unlabeled density for that of the negatives. The
    recovered densities are what remains when the positives among the unlabeled rows are taken out.
    A recovered density that is clearly below 0 somewhere speaks against the prior, the purity or
    random labeling. Make one with `from_evaluation`, `from_predictions` or `from_estimator`; they
    draw it at once.

    Parameters
    ----------
    densities : ScoreDensities
        From `pueval.densities.score_densities`.
    prior : float
        Share of positives among the unlabeled rows, for the legend.
    prior_interval : tuple of float, optional
        Its limits, if it is not known exactly.
    threshold : float, optional
        A decision threshold to be marked, on the scale of the bins.
    level : float, optional
        Level of the limits of the recovered densities; None for no limits.
    name : str, optional
        Of the classifier, for the legend.

    Attributes
    ----------
    labeled_, unlabeled_, positive_, negative_ : matplotlib StepPatch
        The histograms.
    positive_band_, negative_band_ : matplotlib collection or None
        Limits of the recovered densities, in each bin by itself.
    threshold_ : matplotlib Line2D or None
        The decision threshold.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import ScoreDistributionDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> frame = ScoreDistributionDisplay.of(ev, bins=20).frame()
    >>> width = frame["right"] - frame["left"]
    >>> round(float((frame["negative"] * width).sum()), 9)
    1.0
    """

    densities: ScoreDensities
    prior: float
    prior_interval: tuple[float, float] | None = None
    threshold: float | None = None
    level: float | None = None
    name: str | None = None
    labeled_: StepPatch = field(init=False, repr=False)
    unlabeled_: StepPatch = field(init=False, repr=False)
    positive_: StepPatch = field(init=False, repr=False)
    negative_: StepPatch = field(init=False, repr=False)
    positive_band_: FillBetweenPolyCollection | None = field(init=False, repr=False)
    negative_band_: FillBetweenPolyCollection | None = field(init=False, repr=False)
    threshold_: Line2D | None = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_name(self.name)

    @classmethod
    def of(
        cls,
        ev: Evaluation,
        *,
        bins: int | None = None,
        scale: Scale = "score",
        name: str | None = None,
    ) -> ScoreDistributionDisplay:
        """Compute the data behind the picture; draw nothing.

        Parameters
        ----------
        ev : Evaluation
            Made by `pueval.evaluate`.
        bins : int, optional
            How many bins; by default 10 to 60, more for more labeled rows.
        scale : {"score", "rank"}
            ``"rank"`` replaces scores by the share of rows that score lower: for skewed scores.
        name : str, optional
            Of the classifier, for the legend.

        Returns
        -------
        ScoreDistributionDisplay
        """
        counts, threshold = ev.counts, ev.threshold
        if scale == "rank":
            there = counts.at(threshold)
            above = there.labeled + there.unlabeled + there.negative
            threshold = float(1 - above[0] / counts.n)
        return cls(
            densities=score_densities(counts, ev.mixture, bins=bins, scale=scale),
            prior=ev.mixture.prior,
            prior_interval=known_limits(ev).prior,
            threshold=threshold,
            level=None if ev.resampling is None else ev.resampling.level,
            name=name,
        )

    def frame(self) -> pd.DataFrame:
        """Return the data behind the picture.

        Returns
        -------
        pandas.DataFrame
            A row per bin: ``left``, ``right``, the densities ``labeled``, ``unlabeled``,
            ``positive``, ``negative``, and the limits ``positive_low`` … ``negative_high``.
        """
        pandas = require("pandas", extra="pandas", purpose="ScoreDistributionDisplay.frame()")
        found = self.densities
        columns = {"left": found.edges[:-1], "right": found.edges[1:]}
        for kind in ("labeled", "unlabeled", "positive", "negative"):
            columns[kind] = getattr(found, kind)
        for kind in get_args(Recovered):
            columns[f"{kind}_low"], columns[f"{kind}_high"] = found.interval(kind, self.level)
        table: pd.DataFrame = pandas.DataFrame(columns)
        return table

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_band: bool = True,
        plot_threshold: bool = True,
        labeled_kwargs: dict[str, Any] | None = None,
        unlabeled_kwargs: dict[str, Any] | None = None,
        positive_kwargs: dict[str, Any] | None = None,
        negative_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> ScoreDistributionDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        plot_band, plot_threshold : bool, default True
            Whether to draw the limits of the recovered densities, and the decision threshold.
        labeled_kwargs, unlabeled_kwargs, positive_kwargs, negative_kwargs : dict, optional
            Matplotlib keywords of the histograms (``Axes.stairs``).
        band_kwargs : dict, optional
            Matplotlib keywords of both bands.
        despine : bool, default False
            Whether to remove the upper and the right spine.

        Returns
        -------
        ScoreDistributionDisplay
            Itself, with its artists.
        """
        self.ax_, self.figure_ = axes_for(ax, type(self).__name__)
        ax, found = self.ax_, self.densities
        hidden = f"{self.prior:.1%} of them positive"
        if self.prior_interval is not None:
            hidden += " ({:.1%}–{:.1%})".format(*self.prior_interval)
        fills: dict[str, Any] = {"fill": True, "alpha": 0.25, "linewidth": 0}
        lines: dict[str, Any] = {"linewidth": 2, "zorder": 3}
        looks: tuple[tuple[str, Any, str, dict[str, Any]], ...] = (
            ("unlabeled", unlabeled_kwargs, f"unlabeled, {hidden}", {"color": QUIET, **fills}),
            ("labeled", labeled_kwargs, "labeled", {"color": POSITIVE, **fills}),
            ("negative", negative_kwargs, "negatives, corrected", {"color": NEGATIVE, **lines}),
            ("positive", positive_kwargs, "positives, corrected", {"color": POSITIVE, **lines}),
        )
        for kind, given, text, defaults in looks:
            label = entry(self.name, text)
            keywords = style(f"{kind}_kwargs", given, "Patch", label=label, **defaults)
            setattr(self, f"{kind}_", ax.stairs(getattr(found, kind), found.edges, **keywords))
        self.positive_band_ = self.negative_band_ = self.threshold_ = None
        tops = [found.labeled, found.unlabeled, found.positive, found.negative]
        if plot_band and self.level is not None:
            for recovered in get_args(Recovered):
                low, high = found.interval(recovered, self.level)
                keywords = style(
                    "band_kwargs",
                    band_kwargs,
                    "PolyCollection",
                    color=getattr(self, f"{recovered}_").get_edgecolor(),
                    label=f"{format_level(self.level)} limits" if recovered == "negative" else None,
                    **BAND,
                )
                # A step needs a last point at the right edge of the last bin.
                low, high = np.append(low, low[-1]), np.append(high, high[-1])
                band = ax.fill_between(found.edges, low, high, step="post", **keywords)
                setattr(self, f"{recovered}_band_", band)
                tops.append(high[:-1])
        left, right = found.edges[0], found.edges[-1]
        if plot_threshold and self.threshold is not None and left <= self.threshold <= right:
            self.threshold_ = ax.axvline(
                self.threshold, color="0.3", linestyle=":", linewidth=1.2, label="threshold"
            )
        if min(found.positive.min(), found.negative.min()) < 0:
            ax.axhline(0, color="0.5", linewidth=0.6, zorder=1)
        rank = found.scale == "rank"
        ax.set(
            xlabel="Rank (share of rows that score lower)" if rank else "Score", ylabel="Density"
        )
        ax.margins(x=0.01)
        despined(ax, despine=despine)
        x, y = np.repeat(found.edges, 2)[1:-1], np.repeat(np.max(tops, axis=0), 2)
        legend_above(ax, x, y)
        return self
