"""Forecast half-widths by the number of checked rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.displays._display import Display
from pueval.displays._styling import GRAY, draw_line, remove_spines
from pueval.estimates.measure_titles import measure_title
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.audit import ForecastCurve, Plan


@dataclass(eq=False, kw_only=True, repr=False)
class AuditPlanDisplay(Display):
    """Forecast half-width of each interval by the number of rows to check.

    Dots are forecasts, and lines the curves through them. For a first plan, these hold if labels
    are random, and bands show the range over labels that favor low or high scores. Create a
    display with `from_plan`, which also draws it.

    Parameters
    ----------
    curve : ForecastCurve
        Result of ``plan.curve()``.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        A curve for each measure.
    dots_ : list of matplotlib Line2D
        The forecasts.
    bands_ : list of matplotlib PolyCollection
        The range over labelings for each measure; empty if an earlier audit shows how labels came
        about.
    budget_line_ : matplotlib Line2D
        Vertical line at the budget of the plan.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.audit import ForecastCurve
    >>> from pueval.displays import AuditPlanDisplay
    >>> curve = ForecastCurve(
    ...     np.array([100, 400]), {"f1": np.array([0.06, 0.03])}, planned=200, level=0.95
    ... )
    >>> AuditPlanDisplay(curve=curve).plot().ax_.get_xlabel()
    'Rows to check'
    """

    curve: ForecastCurve

    @classmethod
    def from_plan(
        cls,
        plan: Plan,
        *,
        budgets: Sequence[int] | None = None,
        n_simulations: int = 8,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> AuditPlanDisplay:
        """Forecast the half-widths of a plan and draw them.

        Parameters
        ----------
        plan : Plan
            Result of `pueval.audit.plan`.
        budgets, n_simulations : optional
            As for `Plan.curve`.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        AuditPlanDisplay
        """
        return cls(curve=plan.curve(budgets, n_simulations=n_simulations)).plot(ax, **plot_options)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per budget: ``budget``, the half-width of each measure, and for a first plan
            the narrowest and widest ones over labelings.
        """
        return self._data_frame(dict(self.curve._columns()))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        curve_kwargs: dict[str, Any] | None = None,
        despine: bool = True,
    ) -> AuditPlanDisplay:
        """Draw the forecasts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        curve_kwargs : dict, optional
            Matplotlib keywords for the curves.
        despine : bool, default True
            Whether to remove the top and right spines.

        Returns
        -------
        AuditPlanDisplay
            The display itself, with its artists.
        """
        ax, curve = self._use_axes(ax, figsize=(6.4, 3.6)), self.curve
        budgets = np.unique(
            np.geomspace(curve.budget[0], curve.budget[-1], 100).round().astype(int)
        )
        fitted = [curve.at(int(budget)) for budget in budgets]
        ranges = [curve.range_at(int(budget)) for budget in budgets] if curve.widest else []
        self.lines_, self.dots_, self.bands_ = [], [], []
        for name, half_width in curve.half_width.items():
            values = [widths[name] for widths in fitted]
            title = measure_title(name)
            options = {"label": title[:1].upper() + title[1:], "linewidth": 2}
            line = draw_line(ax, budgets, values, "curve_kwargs", curve_kwargs, **options)
            (dots,) = ax.plot(curve.budget, half_width, "o", color=line.get_color())
            self.lines_.append(line)
            self.dots_.append(dots)
            if ranges:
                low, high = np.transpose([widths[name] for widths in ranges])
                color = line.get_color()
                self.bands_.append(
                    ax.fill_between(budgets, low, high, color=color, alpha=0.15, lw=0)
                )
        if ranges:
            ax.fill_between([], [], color=GRAY, alpha=0.3, lw=0, label="range over labelings")
        label = f"plan: {curve.planned:,} rows"
        self.budget_line_ = ax.axvline(curve.planned, color=GRAY, ls="--", lw=1.2, label=label)
        ax.set(
            xlabel="Rows to check",
            ylabel=f"Half-width of {format_level(curve.level)} CI",
            xlim=(0, None),
            ylim=(0, None),
        )
        ax.legend(frameon=False)
        remove_spines(ax, despine=despine)
        return self
