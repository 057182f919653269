"""Rank distributions of labeled and unlabeled rows, with the band of Claesen et al. (2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.cluster_table import share_effect
from pueval.core.rates import correct_steps
from pueval.core.thinned_curves import MOST_POINTS
from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._legends import place_legend_above
from pueval.displays._styling import (
    CHANCE,
    NAIVE_LINE,
    NEGATIVE,
    POSITIVE,
    draw_band,
    draw_line,
    remove_spines,
)
from pueval.errors import InputError
from pueval.sensitivity.rank_band import BandMethod, rank_band
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class RankCdfDisplay(ClassifierDisplay):
    """Cumulative rank distributions of labeled rows, unlabeled rows and negatives (corrected).

    The rank of a row is the share of all rows that score at least as high. The band around the
    labeled rows should contain the rank distribution of all positives. `pueval.claesen_bounds`
    assumes nothing else about the positives among the unlabeled rows. Create a display with
    `from_evaluation`, `from_predictions` or `from_estimator`, which also draw it.

    Parameters
    ----------
    rank : ndarray
        Share of all rows at or above each threshold, ascending from 0 to 1.
    labeled, unlabeled : ndarray
        Shares of the labeled rows, and of the unlabeled rows and known negatives, at or above each
        threshold: the naive positives and negatives.
    positive, negative : ndarray
        Corrected shares of positives and negatives, clipped to [0, 1].
    low, high : ndarray or None
        Confidence band of ``labeled``.
    level : float, optional
        Confidence level of the band.
    clean_labels : bool, default True
        Whether the labeled rows are a random sample of the positives, so that ``positive`` equals
        ``labeled``.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_, unlabeled_line_, positive_line_, negative_line_ : matplotlib Line2D
        Distributions; ``positive_line_`` is None for clean labels.
    band_ : matplotlib collection or None
        Confidence band.
    chance_level_ : matplotlib Line2D or None
        Diagonal of a random ranking.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

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
    >>> frame = RankCdfDisplay.compute(ev).frame()
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
    clean_labels: bool = True

    @classmethod
    def compute(
        cls, ev: Evaluation, *, band: BandMethod = "bootstrap", name: str | None = None
    ) -> RankCdfDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`. The band has the level of its intervals; there is no band
            if it has no intervals (``level=None``).
        band : {"bootstrap", "clopper-pearson", "dkw"}
            Method for the band, as in `pueval.claesen_bounds`. Weighted rows enter it with their
            effective sample size.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        RankCdfDisplay
        """
        counts = ev.counts
        scores = counts._thinned(MOST_POINTS // 2).score
        steps = counts.at(np.concatenate([[np.inf], scores]))
        share = steps.labeled / counts.n_labeled
        background = steps.unlabeled + steps.negative
        corrected = correct_steps(counts, steps, ev.mixture)
        low = high = level = None
        if ev.resampling is not None:
            level = ev.resampling.level
            n_labeled = max(round(counts.effective_sizes[0] / share_effect(counts)), 1)
            hidden = ev.mixture.prior * counts.n_unlabeled
            low, high = rank_band(
                share * n_labeled, n_labeled, hidden=hidden, level=level, method=band
            )
        elif band not in {"bootstrap", "clopper-pearson", "dkw"}:
            raise InputError(f"band must be 'bootstrap', 'clopper-pearson' or 'dkw'; got {band!r}.")
        return cls(
            rank=(steps.labeled + background) / counts.n,
            labeled=share,
            unlabeled=background / (counts.n_unlabeled + counts.n_negative),
            positive=np.clip(corrected.tpr, 0, 1),
            negative=np.clip(corrected.fpr, 0, 1),
            low=low,
            high=high,
            level=level,
            clean_labels=ev.mixture.purity == 1 and not counts.has_propensity,
            name=name,
        )

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per rank: ``rank``, ``labeled``, ``low``, ``high``, ``unlabeled``, ``positive``,
            ``negative``.
        """
        columns = ("rank", "labeled", "low", "high", "unlabeled", "positive", "negative")
        values = {name: getattr(self, name) for name in columns}
        return self._data_frame(
            {name: np.nan if column is None else column for name, column in values.items()}
        )

    def median(self) -> tuple[float, float, float]:
        """Return the median rank of the labeled rows and its confidence interval.

        Returns
        -------
        tuple of float
            Median, low, high; low and high are NaN without a band.
        """

        def median_of(shares: Array | None) -> float:
            if shares is None:
                return float("nan")
            return float(self.rank[min(int(np.searchsorted(shares, 0.5)), self.rank.size - 1)])

        # The upper edge of the band crosses one half at the lower end of the interval.
        return median_of(self.labeled), median_of(self.high), median_of(self.low)

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
        """Draw the distributions.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_band, plot_chance_level : bool, default True
            Whether to draw the band and the diagonal of a random ranking.
        curve_kwargs, unlabeled_kwargs, positive_kwargs, negative_kwargs : dict, optional
            Matplotlib keywords for the distributions of labeled rows, unlabeled rows, corrected
            positives and corrected negatives.
        band_kwargs, chance_level_kw : dict, optional
            Matplotlib keywords for the band and the diagonal.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        RankCdfDisplay
            The display itself, with its artists.
        """
        ax = self._use_axes(ax)
        median, low, high = self.median()
        interval = "" if self.low is None else f" ({low:.1%}–{high:.1%})"
        label = self._label(f"labeled, half in the top {median:.1%}{interval}")
        options: dict[str, Any] = {"label": label, "color": POSITIVE, "linewidth": 2, "zorder": 3}
        self.line_ = draw_line(ax, self.rank, self.labeled, "curve_kwargs", curve_kwargs, **options)
        self.band_ = self.positive_line_ = self.chance_level_ = None
        if plot_band and self.low is not None:
            options = {"color": self.line_.get_color()}
            options["label"] = f"{format_level(self.level or 0.95)} band"
            self.band_ = draw_band(ax, self.rank, self.low, self.high, band_kwargs, **options)
        if not self.clean_labels:
            options = {"color": POSITIVE, "linestyle": "-.", "linewidth": 1.5}
            options["label"] = self._label("positives, corrected")
            self.positive_line_ = draw_line(
                ax, self.rank, self.positive, "positive_kwargs", positive_kwargs, **options
            )
        options = {"label": self._label("unlabeled (naive negatives)"), **NAIVE_LINE}
        self.unlabeled_line_ = draw_line(
            ax, self.rank, self.unlabeled, "unlabeled_kwargs", unlabeled_kwargs, **options
        )
        options = {"color": NEGATIVE, "linewidth": 2, "label": self._label("negatives, corrected")}
        self.negative_line_ = draw_line(
            ax, self.rank, self.negative, "negative_kwargs", negative_kwargs, **options
        )
        if plot_chance_level:
            options = {"label": "random ranking", **CHANCE}
            self.chance_level_ = draw_line(
                ax, (0, 1), (0, 1), "chance_level_kw", chance_level_kw, **options
            )
        ax.set(
            xlabel="Rank (share of all rows)",
            ylabel="Share at or above this rank",
            xlim=(-0.01, 1.01),
            ylim=(-0.02, 1.02),
            yticks=np.arange(0, 1.1, 0.2),
        )
        remove_spines(ax, despine=despine)
        edge = np.fmax(self.positive, self.labeled if self.high is None else self.high)
        place_legend_above(ax, self.rank, edge, columns=2)
        return self
