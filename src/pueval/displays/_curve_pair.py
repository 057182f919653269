"""What the ROC and precision-recall displays share: a corrected, banded and a naive curve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pueval.displays._curve_points import CurvePoints
from pueval.displays._evaluation_display import ClassifierDisplay
from pueval.displays._legends import Corner, place_legend
from pueval.displays._styling import CHANCE, NAIVE_LINE, draw_band, draw_line, remove_spines
from pueval.text.numbers import format_level, format_number
from pueval.uncertainty.bands import BandKind, CurveBand

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd
    from matplotlib.axes import Axes

    from pueval.core.curves import PrecisionRecallCurve, RocCurve
    from pueval.evaluation.evaluation import Evaluation


@dataclass(eq=False, kw_only=True, repr=False)
class CurvePairDisplay(ClassifierDisplay, ABC):
    """A corrected curve with its band, and the naive curve, in the unit square."""

    corrected: CurvePoints
    naive: CurvePoints
    band: CurveBand | None = None

    # Measure and short name of the area under the curve.
    area: ClassVar[tuple[str, str]]
    columns: ClassVar[tuple[str, str]]
    axis_labels: ClassVar[tuple[str, str]]
    drawstyle: ClassVar[str] = "default"
    legend_corner: ClassVar[Corner] = "best"

    @classmethod
    def compute(
        cls, ev: Evaluation, *, band: BandKind = "pointwise", name: str | None = None
    ) -> Self:
        """Compute the data of the plot without drawing it.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`. There is no band if it has no intervals (``level=None``).
        band : {"pointwise", "simultaneous"}
            Whether the band covers each point or the whole curve at the given level.
        name : str, optional
            Name of the classifier, for the legend.

        Returns
        -------
        display
            The display, not drawn yet.
        """
        return cls(name=name, **cls._data(ev, band))

    @classmethod
    @abstractmethod
    def _data(cls, ev: Evaluation, band: BandKind) -> dict[str, Any]:
        """Return the fields that an evaluation determines."""

    @classmethod
    def _points(cls, curve: RocCurve | PrecisionRecallCurve) -> CurvePoints:
        x, y = (getattr(curve, column) for column in cls.columns)
        return CurvePoints.thinned(x, y, curve.threshold)

    @abstractmethod
    def _chance_level(self) -> tuple[tuple[float, float], float]:
        """Return the ends of the curve of a random ranking, and the area under it."""

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per point: ``curve`` ("corrected", "naive" or "band"), the two coordinates
            (``fpr`` and ``tpr``, or ``recall`` and ``precision``), ``low`` and ``high`` of the
            band, and ``threshold`` of the curves.
        """
        x, y = self.columns
        parts: list[dict[str, Any]] = [
            {"curve": kind, x: points.x, y: points.y, "low": np.nan, "high": np.nan}
            | {"threshold": points.threshold}
            for kind, points in (("corrected", self.corrected), ("naive", self.naive))
        ]
        band = self.band
        if band is not None:
            data = {"curve": "band", x: band.x, y: band.value, "low": band.low, "high": band.high}
            parts.append(data | {"threshold": np.nan})
        return self._data_frame(*parts)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        plot_naive: bool = True,
        plot_band: bool = True,
        plot_chance_level: bool = False,
        curve_kwargs: dict[str, Any] | None = None,
        naive_kwargs: dict[str, Any] | None = None,
        band_kwargs: dict[str, Any] | None = None,
        chance_level_kw: dict[str, Any] | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        plot_naive, plot_band : bool, default True
            Whether to draw the naive curve and the band.
        plot_chance_level : bool, default False
            Whether to draw the curve of a random ranking.
        curve_kwargs, naive_kwargs, band_kwargs, chance_level_kw : dict, optional
            Matplotlib keywords for the corrected curve, the naive curve, the band and the chance
            level.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        display
            The display itself, with its artists.
        """
        measure, area = self.area
        ax, estimate = self._use_axes(ax), getattr(self, measure)
        shared: dict[str, Any] = {"drawstyle": self.drawstyle}
        label = self._label(f"corrected, {area} {estimate}")
        options = shared | {"label": label, "linewidth": 2, "zorder": 3}
        x, y = self.corrected.x, self.corrected.y
        self.line_ = draw_line(ax, x, y, "curve_kwargs", curve_kwargs, **options)
        self.band_ = self.naive_line_ = self.chance_level_ = None
        if plot_band and self.band is not None:
            kind = "" if self.band.kind == "pointwise" else f"{self.band.kind} "
            label = f"{format_level(self.band.level)} {kind}band"
            x, low, high = self.band.x, self.band.low, self.band.high
            color = self.line_.get_color()
            self.band_ = draw_band(ax, x, low, high, band_kwargs, label=label, color=color)
        if plot_naive:
            label = self._label(f"naive, {area} {format_number(estimate.naive)}")
            options = {"label": label, **NAIVE_LINE, **shared}
            x, y = self.naive.x, self.naive.y
            self.naive_line_ = draw_line(ax, x, y, "naive_kwargs", naive_kwargs, **options)
        if plot_chance_level:
            ends, chance_area = self._chance_level()
            options = {"label": f"chance, {area} {chance_area:.3g}", **CHANCE}
            self.chance_level_ = draw_line(
                ax, (0, 1), ends, "chance_level_kw", chance_level_kw, **options
            )
        xlabel, ylabel = self.axis_labels
        edges = (-0.01, 1.01)
        ax.set(xlabel=xlabel, ylabel=ylabel, aspect="equal", xlim=edges, ylim=edges)
        remove_spines(ax, despine=despine)
        place_legend(ax, self.legend_corner)
        return self
