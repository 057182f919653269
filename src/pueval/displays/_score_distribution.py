"""Score densities of labeled and unlabeled rows, and of the positives and negatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from pueval.core.densities import Scale, ScoreDensities, score_densities
from pueval.displays._audit_ticks import AuditedScores, draw_audited, make_room, places_on_scale
from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._legends import place_legend_above
from pueval.displays._mixture_intervals import mixture_intervals
from pueval.displays._styling import GRAY, NEGATIVE, POSITIVE, draw_band, remove_spines, style
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection, LineCollection
    from matplotlib.patches import StepPatch

    from pueval.evaluation.evaluation import Evaluation

CorrectedClass = Literal["positive", "negative"]


@dataclass(eq=False, kw_only=True, repr=False)
class ScoreDistributionDisplay(ClassifierDisplay):
    """Histograms of scores: labeled and unlabeled rows, and the positives and negatives in them.

    A naive evaluation takes the density of the unlabeled rows for that of the negatives. The
    corrected densities separate the positives among the unlabeled rows from the negatives. A
    corrected density clearly below 0 is evidence against the prior, the purity or random labeling.
    After an audit, ticks below the histograms are the audited rows.
    Create a display with `from_evaluation`, `from_predictions` or `from_estimator`, which also
    draw it.

    Parameters
    ----------
    densities : ScoreDensities
        Densities of the four groups of rows.
    prior : float
        Share of positives among the unlabeled rows, for the legend.
    prior_interval : tuple of float, optional
        Interval of the prior, unless it is taken as exact.
    threshold : float, optional
        Decision threshold to mark, on the scale of the bins.
    level : float, optional
        Confidence level of the intervals of the corrected densities; None for no intervals.
    audited : AuditedScores, optional
        Audited rows, on the scale of the bins; None without an audit.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    labeled_, unlabeled_, positive_, negative_ : matplotlib StepPatch
        Histograms.
    positive_band_, negative_band_ : matplotlib collection or None
        Confidence intervals of the corrected densities in each bin.
    threshold_ : matplotlib Line2D or None
        Decision threshold.
    audited_positive_, audited_negative_ : matplotlib LineCollection or None
        Ticks of the audited rows.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import ScoreDistributionDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> frame = ScoreDistributionDisplay.compute(ev, bins=20).frame()
    >>> width = frame["right"] - frame["left"]
    >>> round(float((frame["negative"] * width).sum()), 9)
    1.0
    """

    densities: ScoreDensities
    prior: float
    prior_interval: tuple[float, float] | None = None
    threshold: float | None = None
    level: float | None = None
    audited: AuditedScores | None = None
    labeled_: StepPatch = field(init=False)
    unlabeled_: StepPatch = field(init=False)
    positive_: StepPatch = field(init=False)
    negative_: StepPatch = field(init=False)
    positive_band_: FillBetweenPolyCollection | None = field(init=False)
    negative_band_: FillBetweenPolyCollection | None = field(init=False)
    audited_positive_: LineCollection | None = field(init=False)
    audited_negative_: LineCollection | None = field(init=False)

    @classmethod
    def compute(
        cls,
        ev: Evaluation,
        *,
        bins: int | None = None,
        scale: Scale = "score",
        name: str | None = None,
    ) -> ScoreDistributionDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        bins : int, optional
            Number of bins; by default 10 to 60, depending on the number of labeled rows.
        scale : {"score", "rank"}
            ``"rank"`` replaces each score by the share of rows that score lower; use it for
            skewed scores.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        ScoreDistributionDisplay
        """
        counts, threshold = ev.counts, ev.threshold
        densities = score_densities(counts, ev.mixture, bins=bins, scale=scale)
        threshold = float(places_on_scale(counts, np.array([threshold]), scale)[0])
        return cls(
            densities=densities,
            prior=ev.mixture.prior,
            prior_interval=mixture_intervals(ev).prior,
            threshold=threshold,
            level=ev._level,
            audited=None if ev.audit is None else AuditedScores.of(ev.audit, scale),
            name=name,
        )

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per bin: ``left``, ``right``, the densities ``labeled``, ``unlabeled``,
            ``positive`` and ``negative``, and the intervals ``positive_low`` … ``negative_high``.
        """
        densities = self.densities
        columns = {"left": densities.edges[:-1], "right": densities.edges[1:]}
        for kind in ("labeled", "unlabeled", "positive", "negative"):
            columns[kind] = getattr(densities, kind)
        for kind in get_args(CorrectedClass):
            columns[f"{kind}_low"], columns[f"{kind}_high"] = densities.interval(kind, self.level)
        return self._data_frame(columns)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_band: bool = True,
        plot_threshold: bool = True,
        plot_audited: bool = True,
        labeled_kwargs: dict[str, Any] | None = None,
        unlabeled_kwargs: dict[str, Any] | None = None,
        positive_kwargs: dict[str, Any] | None = None,
        negative_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> ScoreDistributionDisplay:
        """Draw the histograms.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_band, plot_threshold, plot_audited : bool, default True
            Whether to draw the intervals of the corrected densities, the decision threshold and
            the audited rows.
        labeled_kwargs, unlabeled_kwargs, positive_kwargs, negative_kwargs : dict, optional
            Matplotlib keywords for the histograms (``Axes.stairs``).
        band_kwargs : dict, optional
            Matplotlib keywords for both bands.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        ScoreDistributionDisplay
            The display itself, with its artists.
        """
        ax, densities = self._use_axes(ax), self.densities
        composition = f"{self.prior:.1%} of them positive"
        if self.prior_interval is not None:
            composition += " ({:.1%}–{:.1%})".format(*self.prior_interval)
        fills: dict[str, Any] = {"fill": True, "alpha": 0.25, "linewidth": 0}
        lines: dict[str, Any] = {"linewidth": 2, "zorder": 3}
        histograms: tuple[tuple[str, Any, str, dict[str, Any]], ...] = (
            ("unlabeled", unlabeled_kwargs, f"unlabeled, {composition}", {"color": GRAY, **fills}),
            ("labeled", labeled_kwargs, "labeled", {"color": POSITIVE, **fills}),
            ("negative", negative_kwargs, "negatives, corrected", {"color": NEGATIVE, **lines}),
            ("positive", positive_kwargs, "positives, corrected", {"color": POSITIVE, **lines}),
        )
        for kind, user_keywords, text, defaults in histograms:
            defaults["label"] = self._label(text)
            keywords = style(f"{kind}_kwargs", user_keywords, "Patch", **defaults)
            histogram = ax.stairs(getattr(densities, kind), densities.edges, **keywords)
            setattr(self, f"{kind}_", histogram)
        self.positive_band_ = self.negative_band_ = self.threshold_ = None
        tops = [densities.labeled, densities.unlabeled, densities.positive, densities.negative]
        if plot_band and self.level is not None:
            for corrected_class in get_args(CorrectedClass):
                low, high = densities.interval(corrected_class, self.level)
                color = getattr(self, f"{corrected_class}_").get_edgecolor()
                # The last step needs a point at the right edge of the last bin.
                low, high = np.append(low, low[-1]), np.append(high, high[-1])
                options = {"color": color, "step": "post"}
                if corrected_class == "negative":
                    options["label"] = f"{format_level(self.level)} CI"
                band = draw_band(ax, densities.edges, low, high, band_kwargs, **options)
                setattr(self, f"{corrected_class}_band_", band)
                tops.append(high[:-1])
        left, right = densities.edges[0], densities.edges[-1]
        if plot_threshold and self.threshold is not None and left <= self.threshold <= right:
            self.threshold_ = ax.axvline(
                self.threshold, color="0.3", linestyle=":", linewidth=1.2, label="threshold"
            )
        if min(densities.positive.min(), densities.negative.min()) < 0:
            ax.axhline(0, color="0.5", linewidth=0.6, zorder=1)
        xlabels = {"score": "Score", "rank": "Rank (share of rows that score lower)"}
        ax.set(xlabel=xlabels[densities.scale], ylabel="Density")
        ax.margins(x=0.01)
        remove_spines(ax, despine=despine)
        self.audited_positive_ = self.audited_negative_ = None
        audited = self.audited if plot_audited else None
        if audited is not None:
            # The colors are those of the corrected densities; one entry is enough.
            ticks = draw_audited(ax, audited, ("audited rows", None))
            self.audited_positive_, self.audited_negative_ = ticks
        x, y = np.repeat(densities.edges, 2)[1:-1], np.repeat(np.max(tops, axis=0), 2)
        place_legend_above(ax, x, y)
        if audited is not None:
            make_room(ax)
        return self
