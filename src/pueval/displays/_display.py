"""Base of all displays: their axes, and their data as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pueval.errors import InputError, require

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Display:
    """Base of all displays.

    ``frame()`` returns the plotted data, and ``plot(ax, …)`` draws them. Drawing sets ``figure_``,
    ``ax_`` (or ``axes_``) and an attribute for each artist.
    """

    ax_: Axes
    figure_: Figure

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _use_axes(self, ax: Any, **figure_options: Any) -> Axes:
        """Draw on ``ax``, or on the axes of a new figure if it is None."""
        if ax is None:
            _, ax = self._pyplot().subplots(layout="constrained", **figure_options)
        elif not hasattr(ax, "plot") or not hasattr(ax, "figure"):
            raise InputError(f"ax must be matplotlib Axes, or None for a new figure; got {ax!r}.")
        self.ax_, self.figure_ = ax, ax.figure
        return self.ax_

    def _pyplot(self) -> Any:
        purpose = f"{type(self).__name__}.plot()"
        return require("matplotlib.pyplot", extra="plot", purpose=purpose)

    def _data_frame(self, *parts: Any) -> pd.DataFrame:
        """Return rows or columns as a data frame; several of them below each other."""
        purpose = f"{type(self).__name__}.frame()"
        pandas = require("pandas", extra="pandas", purpose=purpose)
        frames = [pandas.DataFrame(part) for part in parts]
        table: pd.DataFrame = pandas.concat(frames, ignore_index=True)
        return table
