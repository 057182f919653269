"""Axes to draw on, and the looks that all displays share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

Corner = Literal["upper right", "upper left", "lower right", "best"]
# Points; smaller letters nobody can read.
SMALLEST = 4.5
# Told apart by everyone, also by people who see few colors (Okabe and Ito, 2008).
POSITIVE, NEGATIVE, QUIET = "#d55e00", "#0072b2", "#7f7f7f"
NAIVE_LINE: dict[str, Any] = {"color": QUIET, "linestyle": "--", "linewidth": 1.3}
BAND: dict[str, Any] = {"alpha": 0.2, "linewidth": 0}
CHANCE: dict[str, Any] = {"color": "#b0b0b0", "linestyle": ":", "linewidth": 1.2}
_HOMES = {
    "Line2D": "matplotlib.lines",
    "PolyCollection": "matplotlib.collections",
    "Patch": "matplotlib.patches",
}


def axes_for(ax: Any, display: str) -> tuple[Axes, Figure]:
    """Return the axes to draw on and their figure; make both if none are given."""
    if ax is None:
        pyplot = require("matplotlib.pyplot", extra="plot", purpose=f"{display}.plot()")
        _, ax = pyplot.subplots(layout="constrained")
    elif not hasattr(ax, "plot") or not hasattr(ax, "figure"):
        raise InputError(f"ax must be matplotlib Axes, or None for new ones; got {ax!r}.")
    return ax, ax.figure


def style(argument: str, given: Any, artist: str = "Line2D", /, **defaults: Any) -> dict[str, Any]:
    """Put a user's keywords over the defaults, whatever aliases they use.

    Parameters
    ----------
    argument : str
        What the user calls them, for messages.
    given : dict or None
        The user's keywords.
    artist : {"Line2D", "PolyCollection", "Patch"}
        What they are for.
    **defaults
        Full names and values.
    """
    if given is None:
        return defaults
    if not isinstance(given, dict):
        raise InputError(f"{argument} must be a dict of matplotlib keywords; got {given!r}.")
    kind = getattr(require(_HOMES[artist], extra="plot", purpose="pueval.displays"), artist)
    cbook = require("matplotlib.cbook", extra="plot", purpose="pueval.displays")
    full: dict[str, Any] = cbook.normalize_kwargs(given, kind)
    if "facecolor" in full or "edgecolor" in full:
        defaults.pop("color", None)
    return defaults | full


def unit_square(ax: Axes, *, xlabel: str, ylabel: str) -> None:
    """Frame rates: both axes from 0 to 1, equally long."""
    ax.set(xlabel=xlabel, ylabel=ylabel, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")


def despined(ax: Axes, *, despine: bool) -> None:
    """Take the upper and the right spine away, if that is wanted."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(not despine)


def legend(ax: Axes, loc: Corner, **keywords: Any) -> Legend:
    """Set the legend, in letters small enough for it to fit.

    Parameters
    ----------
    ax : matplotlib Axes
        With something to say about.
    loc : str
        Where; ``"best"`` looks for an empty place.
    **keywords
        Of matplotlib's ``legend``.
    """
    looks: dict[str, Any] = {"fontsize": "small", "framealpha": 0.85} | keywords
    placed = ax.legend(loc=loc, **looks)
    # The layout is not final yet, so that sizes are known only roughly.
    ax.apply_aspect()
    room, width = 0.92 * ax.get_window_extent().width, placed.get_window_extent().width
    if width > room and placed.get_texts():
        size = float(placed.get_texts()[0].get_fontsize()) * room / width
        placed = ax.legend(loc=loc, **looks | {"fontsize": max(size, SMALLEST)})
    return placed


def legend_above(ax: Axes, x: Array, y: Array, *, columns: int = 1) -> None:
    """Set the legend above the data, at the left or the right, and make room for it there.

    Parameters
    ----------
    ax : matplotlib Axes
        Their upper limit is raised as far as needed.
    x, y : ndarray
        Points that the legend must not cover.
    columns : int, default 1
        Of the legend, if so many fit.
    """
    if not ax.get_legend_handles_labels()[1]:
        return
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    x, y = np.clip(x, left, right), np.where(np.isnan(y), low, y)
    side_by_side = ax.legend(ncols=columns, fontsize="small").get_window_extent()
    if side_by_side.width > 0.9 * ax.get_window_extent().width:
        columns = 1
    tops: dict[Corner, float] = {}
    corners: tuple[Corner, ...] = ("upper right", "upper left")
    for loc in corners:
        box = legend(ax, loc, ncols=columns).get_window_extent()
        frame = ax.get_window_extent()
        wide = (1.1 * box.width / frame.width + 0.03) * (right - left)
        tall = min(1.05 * box.height / frame.height + 0.03, 0.6)
        below = x >= right - wide if loc == "upper right" else x <= left + wide
        peak = float(np.max(y[below], initial=low))
        tops[loc] = max(high, low + (peak - low) / (1 - tall))
    best = min(tops, key=lambda side: tops[side])
    legend(ax, best, ncols=columns)
    ax.set_ylim(low, tops[best])
