"""Region: prior and purity known only to lie within limits, and extremes of measures over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from pueval._typing import Array, Range
from pueval.core.mixture import Mixture, Mixtures
from pueval.errors import InputError

# Points a side of the grid that is searched, on a line and in a square, and how often it is made
# finer around the best one.
LINE, SQUARE, ROUNDS = 17, 9, 5
# Points a side of the grid at which sampling limits are looked at, beside the extremes.
NODES = 5


@dataclass(frozen=True)
class Region:
    """All pairs of a prior and a purity within given limits.

    Attributes
    ----------
    prior, purity : tuple of float
        Lower and upper limit; the same number twice where it is known exactly.

    Examples
    --------
    >>> region = Region((0.1, 0.3), (1.0, 1.0))
    >>> region.middle
    Mixture(prior=0.2, purity=1.0)
    """

    prior: Range
    purity: Range

    def __post_init__(self) -> None:
        for name, (low, high) in (("prior", self.prior), ("purity", self.purity)):
            if low > high:
                raise InputError(
                    f"{name} as an interval must have its lower limit first; got "
                    f"({low:g}, {high:g})."
                )
        for prior, purity in product(self.prior, self.purity):
            Mixture(prior, purity)

    @property
    def middle(self) -> Mixture:
        """Mixture of the middles of both intervals."""
        return Mixture(sum(self.prior) / 2, sum(self.purity) / 2)

    def grid(self, points: int) -> Mixtures:
        """Return a grid that has all edges, ``points`` a side; one side only if one is known."""
        sides = [
            np.array([low]) if low == high else np.linspace(low, high, points)
            for low, high in (self.prior, self.purity)
        ]
        prior, purity = np.meshgrid(*sides, indexing="ij")
        return Mixtures(prior.ravel(), purity.ravel())

    @property
    def corners(self) -> list[Mixture]:
        """Mixtures at the ends of both intervals."""
        return _each(self.grid(2))

    @property
    def nodes(self) -> list[Mixture]:
        """Mixtures all over the region, corners included."""
        return _each(self.grid(NODES))

    def toward(self, mixture: Mixture, share: float) -> list[Mixture]:
        """Return what lies a share of the way from a mixture to each of the limits."""
        found = [
            Mixture(mixture.prior + share * (end - mixture.prior), mixture.purity)
            for end in self.prior
        ] + [
            Mixture(mixture.prior, mixture.purity + share * (end - mixture.purity))
            for end in self.purity
        ]
        return list(dict.fromkeys(found))

    def near(self, mixture: Mixture, points: int) -> Region:
        """Return the part within one step of a grid from a mixture."""

        def part(limits: Range, middle: float) -> Range:
            step = (limits[1] - limits[0]) / (points - 1)
            return max(limits[0], middle - step), min(limits[1], middle + step)

        return Region(part(self.prior, mixture.prior), part(self.purity, mixture.purity))


def _each(mixtures: Mixtures) -> list[Mixture]:
    return [mixtures[k] for k in range(len(mixtures))]


def extremes(
    region: Region, function: Callable[[Mixtures], Array], *, column: bool = False
) -> list[Mixture]:
    """Find the mixtures of a region at which a function is least and greatest.

    Accuracy, F and others need not be extreme at a corner, so a grid is searched and made finer
    around its best point.

    Parameters
    ----------
    region : Region
        Where to look.
    function : callable
        From Mixtures to as many values; undefined ones (NaN) are passed over.
    column : bool
        Whether the function wants its mixtures as a column, one per line.

    Returns
    -------
    list of Mixture
        The least and the greatest; empty if the function is defined nowhere.

    Examples
    --------
    >>> low, high = extremes(Region((0.1, 0.5), (1.0, 1.0)), lambda m: (m.prior - 0.2) ** 2)
    >>> round(low.prior, 3), high.prior
    (0.2, 0.5)
    """
    found = []
    line = region.prior[0] == region.prior[1] or region.purity[0] == region.purity[1]
    points = LINE if line else SQUARE
    for sign in (1.0, -1.0):
        part, best = region, None
        for _ in range(ROUNDS):
            grid = part.grid(points)
            asked = Mixtures(grid.prior[:, None], grid.purity[:, None]) if column else grid
            values = sign * np.asarray(function(asked), dtype=np.float64)
            if np.isnan(values).all():
                return []
            best = grid[int(np.nanargmin(values))]
            part = part.near(best, points)
        assert best is not None  # noqa: S101 - there is at least one round
        found.append(best)
    return found
