"""Colors and line styles that all displays share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pueval.errors import InputError, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.lines import Line2D

# Distinguishable with any form of color blindness (Okabe and Ito, 2008).
POSITIVE, NEGATIVE, GRAY = "#d55e00", "#0072b2", "#7f7f7f"
NAIVE_LINE: dict[str, Any] = {"color": GRAY, "linestyle": "--", "linewidth": 1.3}
BAND: dict[str, Any] = {"alpha": 0.2, "linewidth": 0}
CHANCE: dict[str, Any] = {"color": "#b0b0b0", "linestyle": ":", "linewidth": 1.2}
_MODULES = {
    "Line2D": "matplotlib.lines",
    "PolyCollection": "matplotlib.collections",
    "Patch": "matplotlib.patches",
}


def style(
    argument: str, keywords: Any, artist: str = "Line2D", /, **defaults: Any
) -> dict[str, Any]:
    """Combine a user's matplotlib keywords with the defaults, resolving aliases.

    Parameters
    ----------
    argument : str
        Name of the argument, for error messages.
    keywords : dict or None
        The user's keywords.
    artist : {"Line2D", "PolyCollection", "Patch"}
        Artist that the keywords belong to.
    **defaults
        Defaults, by full keyword name.
    """
    if keywords is None:
        return defaults
    if not isinstance(keywords, dict):
        raise InputError(f"{argument} must be a dict of matplotlib keywords; got {keywords!r}.")
    kind = getattr(require(_MODULES[artist], extra="plot", purpose="pueval.displays"), artist)
    cbook = require("matplotlib.cbook", extra="plot", purpose="pueval.displays")
    full: dict[str, Any] = cbook.normalize_kwargs(keywords, kind)
    if "facecolor" in full or "edgecolor" in full:
        defaults.pop("color", None)
    return defaults | full


def draw_line(ax: Axes, x: Any, y: Any, argument: str, keywords: Any, /, **defaults: Any) -> Line2D:
    """Draw a line with the user's keywords over the defaults."""
    (line,) = ax.plot(x, y, **style(argument, keywords, **defaults))
    return line


def draw_band(
    ax: Axes, x: Any, low: Any, high: Any, keywords: Any, /, **defaults: Any
) -> FillBetweenPolyCollection:
    """Fill a confidence band with the user's ``band_kwargs`` over the defaults."""
    options = style("band_kwargs", keywords, "PolyCollection", **BAND, **defaults)
    return ax.fill_between(x, low, high, **options)


def remove_spines(ax: Axes, *, despine: bool) -> None:
    """Remove the top and right spines if ``despine`` is true."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(not despine)
