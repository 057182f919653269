"""A corrected curve, the band around it, and the naive curve: drawn alike in every display."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.displays._canvas import BAND, NAIVE_LINE, style
from pueval.displays._curve_thinning import thin
from pueval.displays._legend_text import entry
from pueval.text.numbers import format_level, format_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.lines import Line2D

    from pueval.evaluation.estimates import Estimate
    from pueval.uncertainty.bands import CurveBand


@dataclass(frozen=True, eq=False)
class Line:
    """Points of a curve, few enough to be drawn."""

    x: Array
    y: Array
    threshold: Array

    @classmethod
    def of(cls, x: Array, y: Array, threshold: Array) -> Line:
        """Thin a curve."""
        kept = thin(x, y)
        return cls(x[kept], y[kept], threshold[kept])


@dataclass(frozen=True)
class Drawn:
    """The artists of a pair of curves."""

    line: Line2D
    naive_line: Line2D | None
    band: FillBetweenPolyCollection | None


def draw_pair(
    ax: Axes,
    corrected: Line,
    naive: Line,
    band: CurveBand | None,
    *,
    name: str | None,
    area: tuple[str, Estimate],
    curve_kwargs: dict[str, Any] | None,
    naive_kwargs: dict[str, Any] | None,
    band_kwargs: dict[str, Any] | None,
    plot_naive: bool,
    **defaults: Any,
) -> Drawn:
    """Draw both curves, and the band if there is one.

    Parameters
    ----------
    ax : matplotlib Axes
        Where.
    corrected, naive : Line
        The curves.
    band : CurveBand or None
        Around the corrected one.
    name : str or None
        Of the classifier.
    area : tuple of str and Estimate
        What to say of the areas under both: its title and the estimate.
    curve_kwargs, naive_kwargs, band_kwargs : dict or None
        The user's keywords.
    plot_naive : bool
        Whether to draw the naive curve.
    **defaults
        Keywords of both curves.

    Returns
    -------
    Drawn
    """
    title, estimate = area
    said = str(estimate)
    label = entry(name, f"corrected, {title} {said}")
    looks = style("curve_kwargs", curve_kwargs, label=label, linewidth=2, zorder=3, **defaults)
    (line,) = ax.plot(corrected.x, corrected.y, **looks)
    filled = None
    if band is not None:
        words = "" if band.kind == "pointwise" else " for the whole curve"
        looks = style(
            "band_kwargs",
            band_kwargs,
            "PolyCollection",
            label=f"{format_level(band.level)} band{words}",
            color=line.get_color(),
            **BAND,
        )
        filled = ax.fill_between(band.x, band.low, band.high, **looks)
    naive_line = None
    if plot_naive:
        label = entry(name, f"naive, {title} {format_number(estimate.naive)}")
        looks = style("naive_kwargs", naive_kwargs, label=label, **NAIVE_LINE, **defaults)
        (naive_line,) = ax.plot(naive.x, naive.y, **looks)
    return Drawn(line, naive_line, filled)


def pair_frame(
    pandas: Any, corrected: Line, naive: Line, band: CurveBand | None, x: str, y: str
) -> pd.DataFrame:
    """Put the points of both curves and of the band below each other."""
    parts = [
        pandas.DataFrame(
            {
                "curve": kind,
                x: line.x,
                y: line.y,
                "low": np.nan,
                "high": np.nan,
                "threshold": line.threshold,
            }
        )
        for kind, line in (("corrected", corrected), ("naive", naive))
    ]
    if band is not None:
        columns = {"curve": "band", x: band.x, y: band.value, "low": band.low, "high": band.high}
        parts.append(pandas.DataFrame(columns | {"threshold": np.nan}))
    table: pd.DataFrame = pandas.concat(parts, ignore_index=True)
    return table
