"""Legends: their text, their size, and a place where they cover no data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._checks import shorten
from pueval._typing import Array
from pueval.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

Corner = Literal["upper right", "upper left", "lower right", "best"]
# Longer names are cut, so that the legend leaves room for the plot.
LONGEST_NAME = 32
# Points; smaller type is illegible.
SMALLEST_FONT = 4.5


def check_name(name: object) -> None:
    """Raise an error unless ``name`` is a string or None."""
    if name is not None and not isinstance(name, str):
        raise InputError(f"name must be text, or None for no name; got {name!r}.")


def single_line(name: str, longest: int = LONGEST_NAME) -> str:
    r"""Shorten any text to a single line that matplotlib shows verbatim.

    Examples
    --------
    >>> single_line("a\nmodel"), single_line("x" * 50), single_line("from $5 to $9")
    ('a model', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…', 'from \\$5 to \\$9')
    """
    line = shorten(" ".join(name.split()), longest)
    # Matplotlib reads text between dollar signs as mathematics.
    return line.replace("$", r"\$")


def legend_entry(name: str | None, description: str) -> str:
    """Prefix a description with the model's name: ``"logistic: corrected, AUC 0.91"``."""
    text = description if name is None else f"{single_line(name)}: {description}"
    # Matplotlib hides labels that begin with an underscore; a zero-width space prevents that.
    return f"\u200b{text}" if text.startswith("_") else text


def place_legend(ax: Axes, loc: Corner, **keywords: Any) -> Legend:
    """Add a legend in a font small enough to fit the axes.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes with labeled artists.
    loc : str
        Corner of the axes; ``"best"`` lets matplotlib choose.
    **keywords
        Keywords of matplotlib's ``legend``.
    """
    options: dict[str, Any] = {"fontsize": "small", "framealpha": 0.85} | keywords
    legend = ax.legend(loc=loc, **options)
    # The layout is not final yet, so these sizes are approximate.
    ax.apply_aspect()
    available, width = 0.92 * ax.get_window_extent().width, legend.get_window_extent().width
    if width > available and legend.get_texts():
        size = float(legend.get_texts()[0].get_fontsize()) * available / width
        legend = ax.legend(loc=loc, **options | {"fontsize": max(size, SMALLEST_FONT)})
    return legend


def place_legend_above(ax: Axes, x: Array, y: Array, *, columns: int = 1) -> None:
    """Add a legend above the data in the upper left or right corner, and make room for it.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes with labeled artists; the upper limit of the y-axis is raised as far as needed.
    x, y : ndarray
        Points that the legend must not cover.
    columns : int, default 1
        Number of columns, if they fit.
    """
    if not ax.get_legend_handles_labels()[1]:
        return
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x, y = np.clip(x, left, right), np.where(np.isnan(y), bottom, y)
    in_columns = ax.legend(ncols=columns, fontsize="small").get_window_extent()
    if in_columns.width > 0.9 * ax.get_window_extent().width:
        columns = 1
    tops: dict[Corner, float] = {}
    corners: tuple[Corner, ...] = ("upper right", "upper left")
    for corner in corners:
        box = place_legend(ax, corner, ncols=columns).get_window_extent()
        frame = ax.get_window_extent()
        width = (1.1 * box.width / frame.width + 0.03) * (right - left)
        height = min(1.05 * box.height / frame.height + 0.03, 0.6)
        covered = x >= right - width if corner == "upper right" else x <= left + width
        peak = float(np.max(y[covered], initial=bottom))
        tops[corner] = max(top, bottom + (peak - bottom) / (1 - height))
    best = min(tops, key=lambda corner: tops[corner])
    place_legend(ax, best, ncols=columns)
    ax.set_ylim(bottom, tops[best])
