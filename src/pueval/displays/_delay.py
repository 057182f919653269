"""Share of the positives that are labeled, by the time since the event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.displays._display import Display
from pueval.displays._styling import GRAY, NEGATIVE, draw_band, draw_line, remove_spines

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.labeling import DelayEstimate


@dataclass(eq=False, kw_only=True, repr=False)
class DelayDisplay(Display):
    """Share of the positives that are labeled within a delay, with its confidence band.

    A dashed line shows the shares that delays seem to have if nobody allows for labels that are
    still to come. Create a display with `from_estimate`, which also draws it.

    Parameters
    ----------
    estimate : DelayEstimate
        Result of `pueval.labeling.from_delay`.

    Attributes
    ----------
    line_, naive_line_ : matplotlib Line2D
        Estimated shares, and those of the observed delays.
    band_ : matplotlib FillBetweenPolyCollection
        Confidence band.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import labeling
    >>> from pueval.displays import DelayDisplay
    >>> day = np.arange(0, 100.0)
    >>> late = np.where(day + day % 30 <= 100, day + day % 30, np.nan)
    >>> delay = labeling.from_delay(day, late, as_of=100)
    >>> DelayDisplay.from_estimate(delay).ax_.get_ylabel()
    'Share of positives labeled'
    """

    estimate: DelayEstimate

    @classmethod
    def from_estimate(
        cls, estimate: DelayEstimate, *, ax: Axes | None = None, **plot_options: Any
    ) -> DelayDisplay:
        """Draw the distribution of the delay.

        Parameters
        ----------
        estimate : DelayEstimate
            Result of `pueval.labeling.from_delay`.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        DelayDisplay
        """
        return cls(estimate=estimate).plot(ax, **plot_options)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per delay: ``delay``, ``reported``, ``low``, ``high``, ``n_labels``,
            ``at_risk`` and ``naive``, the share of the labels seen that are no later.
        """
        return self._data_frame({**self.estimate._columns(), "naive": self.estimate.naive})

    def plot(
        self,
        ax: Axes | None = None,
        *,
        line_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        despine: bool = True,
    ) -> DelayDisplay:
        """Draw the shares by delay.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        line_kwargs, band_kwargs : dict, optional
            Matplotlib keywords for the line and for the band.
        despine : bool, default True
            Whether to remove the top and right spines.

        Returns
        -------
        DelayDisplay
            The display itself, with its artists.
        """
        ax, estimate = self._use_axes(ax, figsize=(6.4, 3.6)), self.estimate
        delay = np.r_[0.0, estimate.delay]

        def steps(values: Any) -> Any:
            return np.r_[0.0, values]

        options = {"drawstyle": "steps-post", "color": NEGATIVE, "linewidth": 2}
        self.line_ = draw_line(
            ax,
            delay,
            steps(estimate.reported),
            "line_kwargs",
            line_kwargs,
            label="all positives",
            **options,
        )
        self.band_ = draw_band(
            ax,
            delay,
            steps(estimate.low),
            steps(estimate.high),
            band_kwargs,
            color=self.line_.get_color(),
            step="post",
        )
        self.naive_line_ = draw_line(
            ax,
            delay,
            steps(estimate.naive),
            "line_kwargs",
            None,
            drawstyle="steps-post",
            color=GRAY,
            linestyle="--",
            linewidth=1.3,
            label="labels seen so far",
        )
        unit = f" ({estimate.unit})" if estimate.unit else ""
        ax.set(
            xlabel=f"Time since the event{unit}",
            ylabel="Share of positives labeled",
            xlim=(0, None),
            ylim=(0, 1.02),
        )
        ax.legend(frameon=False, loc="lower right")
        remove_spines(ax, despine=despine)
        return self
