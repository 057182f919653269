"""Rank distributions: how far up the ranking the labeled rows are, with Claesen's band."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.rates import correct_steps
from pueval.displays._canvas import (
    BAND,
    CHANCE,
    NAIVE_LINE,
    NEGATIVE,
    POSITIVE,
    axes_for,
    despined,
    legend_above,
    style,
)
from pueval.displays._constructors import FromData
from pueval.displays._curve_thinning import POINTS
from pueval.displays._legend_text import check_name, entry
from pueval.errors import InputError, require
from pueval.sensitivity.bounds import BandMethod, rank_band
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class RankCdfDisplay(FromData):
    """Rank distributions of labeled rows, unlabeled rows and recovered negatives.

    The rank of a row is the share of all rows that score at least as high. The band around the
    labeled rows is where the distribution of all positives is to be expected, and all that
    `pueval.claesen_bounds` assumes about the positives among the unlabeled rows. Make one with
    `from_evaluation`, `from_predictions` or `from_estimator`; they draw it at once.

    Parameters
    ----------
    rank : ndarray
        Share of all rows at or above each threshold, ascending from 0 to 1.
    labeled, unlabeled : ndarray
        Share of labeled and of unlabeled (and known negative) rows there: the naive positives
        and negatives.
    positive, negative : ndarray
        Recovered shares of positives and negatives, clipped to [0, 1]. With clean labels
        ``positive`` is ``labeled``.
    low, high : ndarray or None
        Confidence band of ``labeled``.
    level : float, optional
        Its level.
    clean : bool, default True
        Whether the labeled rows are a random draw from the positives, so that ``positive`` is
        ``labeled``.
    name : str, optional
        Of the classifier, for the legend.

    Attributes
    ----------
    line_, unlabeled_line_, positive_line_, negative_line_ : matplotlib Line2D
        The distributions; ``positive_line_`` is None for clean labels.
    band_ : matplotlib collection or None
        The confidence band.
    chance_level_ : matplotlib Line2D or None
        A ranking at random.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    References
    ----------
    Claesen, Davis, De Smet and De Moor (2015), figures 1 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import RankCdfDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> ev = evaluate(positive & (rng.random(5000) < 0.4), rng.normal(2.0 * positive), prior=0.2)
    >>> frame = RankCdfDisplay.of(ev).frame()
    >>> bool((frame["low"] <= frame["labeled"]).all())
    True
    """

    rank: Array
    labeled: Array
    unlabeled: Array
    positive: Array
    negative: Array
    low: Array | None = None
    high: Array | None = None
    level: float | None = None
    clean: bool = True
    name: str | None = None
    line_: Line2D = field(init=False, repr=False)
    unlabeled_line_: Line2D = field(init=False, repr=False)
    positive_line_: Line2D | None = field(init=False, repr=False)
    negative_line_: Line2D = field(init=False, repr=False)
    band_: FillBetweenPolyCollection | None = field(init=False, repr=False)
    chance_level_: Line2D | None = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_name(self.name)

    @classmethod
    def of(
        cls, ev: Evaluation, *, band: BandMethod = "bootstrap", name: str | None = None
    ) -> RankCdfDisplay:
        """Compute the data behind the picture; draw nothing.

        Parameters
        ----------
        ev : Evaluation
            Made by `pueval.evaluate`; the band has the level of its limits, and there is none if
            it has none.
        band : {"bootstrap", "clopper-pearson", "dkw"}
            How the band is made, as for `pueval.claesen_bounds`. For rows with weights, effective
            numbers of rows stand for numbers.
        name : str, optional
            Of the classifier, for the legend.

        Returns
        -------
        RankCdfDisplay
        """
        counts = ev.counts
        scores = counts._thinned(POINTS // 2).score
        steps = counts.at(np.concatenate([[np.inf], scores]))
        share = steps.labeled / counts.n_labeled
        others = steps.unlabeled + steps.negative
        corrected = correct_steps(counts, steps, ev.mixture)
        low = high = level = None
        if ev.resampling is not None:
            level = ev.resampling.level
            known = max(round(counts.effective_sizes[0]), 1)
            hidden = ev.mixture.prior * counts.n_unlabeled
            low, high = rank_band(share * known, known, hidden=hidden, level=level, method=band)
        elif band not in {"bootstrap", "clopper-pearson", "dkw"}:
            raise InputError(f"band must be 'bootstrap', 'clopper-pearson' or 'dkw'; got {band!r}.")
        return cls(
            rank=(steps.labeled + others) / counts.n,
            labeled=share,
            unlabeled=others / (counts.n_unlabeled + counts.n_negative),
            positive=np.clip(corrected.tpr, 0, 1),
            negative=np.clip(corrected.fpr, 0, 1),
            low=low,
            high=high,
            level=level,
            clean=ev.mixture.purity == 1 and not counts.has_propensity,
            name=name,
        )

    def frame(self) -> pd.DataFrame:
        """Return the data behind the picture.

        Returns
        -------
        pandas.DataFrame
            A row per rank: ``rank``, ``labeled``, ``low``, ``high``, ``unlabeled``, ``positive``,
            ``negative``.
        """
        pandas = require("pandas", extra="pandas", purpose="RankCdfDisplay.frame()")
        columns = ("rank", "labeled", "low", "high", "unlabeled", "positive", "negative")
        table: pd.DataFrame = pandas.DataFrame(
            {
                name: np.full(self.rank.size, np.nan) if values is None else values
                for name, values in ((name, getattr(self, name)) for name in columns)
            }
        )
        return table

    def median(self) -> tuple[float, float, float]:
        """Return the rank above which half of the labeled rows are, and its limits.

        Returns
        -------
        tuple of float
            Rank, low, high; the limits are NaN if there is no band.
        """

        def reached(shares: Array | None) -> float:
            if shares is None:
                return float("nan")
            return float(self.rank[min(int(np.searchsorted(shares, 0.5)), self.rank.size - 1)])

        # Where the upper edge of the band reaches one half is the lower limit of the rank.
        return reached(self.labeled), reached(self.high), reached(self.low)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_band: bool = True,
        plot_chance_level: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
        unlabeled_kwargs: dict[str, Any] | None = None,
        positive_kwargs: dict[str, Any] | None = None,
        negative_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        chance_level_kw: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> RankCdfDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        plot_band, plot_chance_level : bool, default True
            Whether to draw the band, and the diagonal of a ranking at random.
        curve_kwargs, unlabeled_kwargs, positive_kwargs, negative_kwargs : dict, optional
            Matplotlib keywords of the distributions of labeled rows, unlabeled rows, and recovered
            positives and negatives.
        band_kwargs, chance_level_kw : dict, optional
            Matplotlib keywords of the band and the diagonal.
        despine : bool, default False
            Whether to remove the upper and the right spine.

        Returns
        -------
        RankCdfDisplay
            Itself, with its artists.
        """
        self.ax_, self.figure_ = axes_for(ax, type(self).__name__)
        ax = self.ax_
        median, low, high = self.median()
        limits = "" if self.low is None else f" ({low:.1%}–{high:.1%})"
        label = entry(self.name, f"labeled, half in the top {median:.1%}{limits}")
        (self.line_,) = ax.plot(
            self.rank,
            self.labeled,
            **style(
                "curve_kwargs", curve_kwargs, label=label, color=POSITIVE, linewidth=2, zorder=3
            ),
        )
        self.band_ = self.positive_line_ = self.chance_level_ = None
        if plot_band and self.low is not None and self.high is not None:
            self.band_ = ax.fill_between(
                self.rank,
                self.low,
                self.high,
                **style(
                    "band_kwargs",
                    band_kwargs,
                    "PolyCollection",
                    label=f"{format_level(self.level or 0.95)} band",
                    color=self.line_.get_color(),
                    **BAND,
                ),
            )
        if not self.clean:
            (self.positive_line_,) = ax.plot(
                self.rank,
                self.positive,
                **style(
                    "positive_kwargs",
                    positive_kwargs,
                    label=entry(self.name, "positives, corrected"),
                    color=POSITIVE,
                    linestyle="-.",
                    linewidth=1.5,
                ),
            )
        (self.unlabeled_line_,) = ax.plot(
            self.rank,
            self.unlabeled,
            **style(
                "unlabeled_kwargs",
                unlabeled_kwargs,
                label=entry(self.name, "unlabeled (naive negatives)"),
                **NAIVE_LINE,
            ),
        )
        (self.negative_line_,) = ax.plot(
            self.rank,
            self.negative,
            **style(
                "negative_kwargs",
                negative_kwargs,
                label=entry(self.name, "negatives, corrected"),
                color=NEGATIVE,
                linewidth=2,
            ),
        )
        if plot_chance_level:
            (self.chance_level_,) = ax.plot(
                (0, 1),
                (0, 1),
                **style("chance_level_kw", chance_level_kw, label="random ranking", **CHANCE),
            )
        ax.set(
            xlabel="Rank (share of all rows)",
            ylabel="Share at or above the rank",
            xlim=(-0.01, 1.01),
            ylim=(-0.02, 1.02),
            yticks=np.arange(0, 1.1, 0.2),
        )
        despined(ax, despine=despine)
        edge = np.fmax(self.positive, self.labeled if self.high is None else self.high)
        legend_above(ax, self.rank, edge, columns=2)
        return self
