"""Base of displays of a corrected curve with pointwise intervals, and the naive curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pueval._typing import Array
from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._styling import NAIVE_LINE, draw_band, draw_line
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class IntervalCurve(Protocol):
    """Values of a curve, their intervals and the naive values; NaN without intervals."""

    @property
    def value(self) -> Array: ...
    @property
    def low(self) -> Array: ...
    @property
    def high(self) -> Array: ...
    @property
    def naive(self) -> Array: ...
    @property
    def level(self) -> float | None: ...


class IntervalCurveDisplay(ClassifierDisplay):
    """Draws corrected curve, band and naive curve in the same way in all such displays."""

    def _draw_curves(
        self,
        ax: Axes,
        x: Array,
        curve: IntervalCurve,
        *,
        plot_naive: bool,
        plot_band: bool,
        curve_kwargs: dict[str, Any] | None,
        naive_kwargs: dict[str, Any] | None,
        band_kwargs: dict[str, Any] | None,
    ) -> None:
        """Draw the curves; set ``line_``, ``band_`` and ``naive_line_``."""
        options: dict[str, Any] = {"label": self._label("corrected"), "linewidth": 2, "zorder": 3}
        self.line_ = draw_line(ax, x, curve.value, "curve_kwargs", curve_kwargs, **options)
        self.band_ = self.naive_line_ = None
        has_interval = np.isfinite(curve.low)
        if plot_band and has_interval.any():
            low, high = curve.low[has_interval], curve.high[has_interval]
            label = f"{format_level(curve.level or 0.95)} CI"
            options = {"label": label, "color": self.line_.get_color()}
            self.band_ = draw_band(ax, x[has_interval], low, high, band_kwargs, **options)
        if plot_naive:
            options = {"label": self._label("naive"), "zorder": 2, **NAIVE_LINE}
            self.naive_line_ = draw_line(
                ax, x, curve.naive, "naive_kwargs", naive_kwargs, **options
            )
