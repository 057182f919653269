"""Estimates of the prior by several methods, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from pueval.displays._display import Display
from pueval.displays._styling import GRAY, NEGATIVE, POSITIVE
from pueval.sensitivity.grid import LEAST_PRIOR
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from pueval.priors import PriorEstimate


@dataclass(eq=False, kw_only=True, repr=False)
class PriorEstimateDisplay(Display):
    """Priors estimated by several methods, and the largest prior that the data allow.

    ``estimate.plot()`` creates one.

    Parameters
    ----------
    priors : mapping of str to float
        Estimated prior by method; the first is the one in use.
    intervals : mapping of str to (tuple of float or None)
        Confidence interval by method; None for a method without one.
    prior_upper : float
        Largest prior that the data allow.
    level : float
        Confidence level of the intervals.

    Attributes
    ----------
    points_ : dict of str to matplotlib Line2D
        Estimates by method.
    prior_upper_line_ : matplotlib Line2D
        Largest prior that the data allow.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> from pueval.displays import PriorEstimateDisplay
    >>> display = PriorEstimateDisplay(
    ...     priors={"consensus": 0.21, "tilt": 0.2},
    ...     intervals={"consensus": (0.18, 0.24), "tilt": None},
    ...     prior_upper=0.3,
    ...     level=0.95,
    ... )
    >>> display.frame()
          method  prior   low  high
    0  consensus   0.21  0.18  0.24
    1       tilt   0.20   NaN   NaN
    """

    priors: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float] | None]
    prior_upper: float
    level: float

    @classmethod
    def from_estimate(
        cls, estimate: PriorEstimate, *, ax: Axes | None = None
    ) -> PriorEstimateDisplay:
        """Plot an estimate of the prior.

        Parameters
        ----------
        estimate : PriorEstimate
            Result of `pueval.priors.estimate`.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PriorEstimateDisplay
            The display, with its artists.
        """
        members = {key: value for key, value in estimate.members.items() if key != estimate.method}
        display = cls(
            priors={estimate.method: estimate.prior}
            | {name: member.prior for name, member in members.items()},
            intervals={estimate.method: estimate.prior_interval}
            | {name: member.prior_interval for name, member in members.items()},
            prior_upper=estimate.prior_upper,
            level=estimate.level,
        )
        return display.plot(ax)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per method: ``method``, ``prior``, and the interval ``low`` and ``high``.
        """
        intervals = (self.intervals[method] or (nan, nan) for method in self.priors)
        low, high = zip(*intervals, strict=True)
        columns = {"method": [*self.priors], "prior": [*self.priors.values()]}
        return self._data_frame(columns | {"low": low, "high": high})

    def plot(self, ax: Axes | None = None) -> PriorEstimateDisplay:
        """Draw every method's estimate with its interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PriorEstimateDisplay
            The display itself, with its artists.
        """
        ax = self._use_axes(ax, figsize=(6.4, 2.8))
        self.points_: dict[str, Line2D] = {}
        for row, (method, prior) in enumerate(self.priors.items()):
            color, interval = GRAY if row else NEGATIVE, self.intervals[method]
            if interval is not None:
                ax.plot(interval, [row, row], color=color, lw=2, solid_capstyle="butt")
            (self.points_[method],) = ax.plot(
                [prior], [row], "o", color=color, markersize=7 if row else 9
            )
        highest = max(self.prior_upper, *(max(pair or (0.0,)) for pair in self.intervals.values()))
        self.prior_upper_line_ = ax.axvline(self.prior_upper, color=POSITIVE, ls="--", lw=1.2)
        ax.annotate(
            "largest prior\nthe data allow", (self.prior_upper, 1), (-4, -4), color=POSITIVE,
            xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="right", va="top", fontsize=8,
        )  # fmt: skip
        ax.set(
            yticks=range(len(self.priors)),
            yticklabels=[method.replace("_", " ") for method in self.priors],
            xlim=(0, min(1.0, 1.15 * max(highest, LEAST_PRIOR))),
            ylim=(len(self.priors) - 0.4, -1.2),
            xlabel=f"Prior ({format_level(self.level)} CI)",
        )
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return self
