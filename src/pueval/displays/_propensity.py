"""Probability that a positive row is labeled, by score, as an audit found it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from pueval._checks import check_choice
from pueval.core.densities import Scale
from pueval.displays._audit_ticks import AuditedScores, draw_audited, make_room, places_on_scale
from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._legends import place_legend_above
from pueval.displays._styling import NEGATIVE, draw_band, remove_spines, style
from pueval.errors import InputError
from pueval.samples.sample import score_range
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection, LineCollection
    from matplotlib.lines import Line2D

    from pueval._typing import Array
    from pueval.estimates.audit import Audit
    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class PropensityDisplay(ClassifierDisplay):
    """Propensity by score: the probability that a positive row is labeled.

    A horizontal line means random labeling. Ticks below the plot are the audited rows. Create a
    display with `from_evaluation`, or with ``ev.audit.plot()``; both draw it.

    Parameters
    ----------
    score : ndarray
        Ascending scores, or ranks; the propensity is constant from each to the next.
    propensity, low, high : ndarray
        Propensity, and ends of its pointwise intervals.
    end : float
        Highest score or rank.
    highest : float
        Upper end of the intervals, without those of the extreme positives, for the y-axis.
    audited : AuditedScores
        Audited rows.
    level : float
        Confidence level of the intervals.
    scale : {"score", "rank"}
        Whether ``score`` holds scores or ranks.
    threshold : float, optional
        Decision threshold to mark, on the same scale.
    name : str, optional
        Name of the classifier, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Propensity.
    band_ : matplotlib collection
        Its intervals.
    audited_positive_, audited_negative_ : matplotlib LineCollection or None
        Ticks of the audited rows.
    threshold_ : matplotlib Line2D or None
        Decision threshold.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> from pueval.displays import PropensityDisplay
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.3
    >>> score = rng.normal(2.0 * positive)
    >>> labeled = positive & (rng.random(5000) < 0.4)
    >>> checked = ~labeled & (rng.random(5000) < 0.05)
    >>> ev = evaluate(labeled, score, audited=np.where(checked, positive, np.nan))
    >>> frame = PropensityDisplay.compute(ev).frame()
    >>> bool((frame["kind"] == "audited").sum() == checked.sum())
    True
    """

    score: Array
    propensity: Array
    low: Array
    high: Array
    end: float
    highest: float
    audited: AuditedScores
    level: float
    scale: Scale = "score"
    threshold: float | None = None
    line_: Line2D = field(init=False)
    band_: FillBetweenPolyCollection = field(init=False)
    audited_positive_: LineCollection | None = field(init=False)
    audited_negative_: LineCollection | None = field(init=False)
    threshold_: Line2D | None = field(init=False)

    @classmethod
    def compute(
        cls, ev: Evaluation, *, scale: Scale = "score", name: str | None = None
    ) -> PropensityDisplay:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate` with ``audited=``.
        scale : {"score", "rank"}
            ``"rank"`` replaces each score by the share of rows that score lower; use it for
            skewed scores.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        PropensityDisplay
        """
        if ev.audit is None:
            raise InputError(
                "the evaluation has no audit, so the propensity is not known. Pass audited= to "
                "evaluate."
            )
        return cls._of(ev.audit, threshold=ev.threshold, scale=scale, name=name)

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Axes | None = None) -> PropensityDisplay:
        """Plot the result of an audit, ``ev.audit``.

        Parameters
        ----------
        audit : Audit
            What an audit found.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PropensityDisplay
            The display, with its artists.
        """
        return cls._of(audit).plot(ax)

    @classmethod
    def _of(
        cls,
        audit: Audit,
        *,
        threshold: float | None = None,
        scale: Scale = "score",
        name: str | None = None,
    ) -> PropensityDisplay:
        check_choice("scale", scale, get_args(Scale))
        curve, counts = audit.propensity(), audit.counts
        if threshold is not None:
            threshold = float(places_on_scale(counts, np.array([threshold]), scale)[0])
        end = 1.0 if scale == "rank" else float(score_range(counts._samples)[1])
        return cls(
            score=places_on_scale(counts, curve.score[::-1], scale),
            propensity=curve.propensity[::-1],
            low=curve.low[::-1],
            high=curve.high[::-1],
            end=end,
            highest=curve._highest,
            audited=AuditedScores.of(audit, scale),
            level=audit.level,
            scale=scale,
            threshold=threshold,
            name=name,
        )

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            ``kind`` is ``"propensity"`` for the curve, with ``score`` (or rank), ``propensity``,
            ``low`` and ``high``; it is ``"audited"`` for an audited row, with ``score`` and
            ``positive``.
        """
        curve = {
            "kind": "propensity",
            "score": self.score,
            "propensity": self.propensity,
            "low": self.low,
            "high": self.high,
        }
        positive, negative = self.audited
        rows = {
            "kind": "audited",
            "score": np.concatenate([positive, negative]),
            "positive": np.repeat([1.0, 0.0], [positive.size, negative.size]),
        }
        return self._data_frame(curve, rows)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_audited: bool = True,
        plot_threshold: bool = True,
        line_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> PropensityDisplay:
        """Draw the propensity and the audited rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_audited, plot_threshold : bool, default True
            Whether to draw the audited rows and the decision threshold.
        line_kwargs, band_kwargs : dict, optional
            Matplotlib keywords for the line and for the band.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        PropensityDisplay
            The display itself, with its artists.
        """
        ax = self._use_axes(ax)
        x = np.append(self.score, self.end)
        y, low, high = (np.append(y, y[-1]) for y in (self.propensity, self.low, self.high))
        options = style(
            "line_kwargs",
            line_kwargs,
            color=NEGATIVE,
            linewidth=2,
            drawstyle="steps-post",
            label=self._label("propensity"),
        )
        (self.line_,) = ax.plot(x, y, **options)
        self.band_ = draw_band(
            ax,
            x,
            low,
            high,
            band_kwargs,
            color=self.line_.get_color(),
            step="post",
            label=f"{format_level(self.level)} CI",
        )
        ax.set(ylim=(0, min(1.05 * self.highest, 1.0)), ylabel="Propensity")
        ax.set_xlabel("Score" if self.scale == "score" else "Rank (share of rows that score lower)")
        ax.margins(x=0.01)
        self.threshold_ = self.audited_positive_ = self.audited_negative_ = None
        if plot_threshold and self.threshold is not None and x[0] <= self.threshold <= x[-1]:
            self.threshold_ = ax.axvline(
                self.threshold, color="0.3", linestyle=":", linewidth=1.2, label="threshold"
            )
        if plot_audited:
            self.audited_positive_, self.audited_negative_ = draw_audited(ax, self.audited)
        remove_spines(ax, despine=despine)
        place_legend_above(ax, np.repeat(x, 2)[1:], np.repeat(high, 2)[:-1])
        if plot_audited:
            make_room(ax)
            ax.axhline(0, color="0.5", linewidth=0.6, zorder=1)
        return self
