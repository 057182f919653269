"""Regions of prior and purity, given or estimated, and the extremes of a measure over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from pueval._typing import Array, Range
from pueval.core.confidence import normal_quantile
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.errors import InputError
from pueval.text.results import Result

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate

# Points per side of the grid that `find_extremes` searches, if one or both shares vary, and how
# often the grid is refined around the best point.
POINTS_IF_ONE_VARIES, POINTS_IF_BOTH_VARY, REFINEMENTS = 17, 9, 5
# Points per side of the grid at which sampling errors are computed, beside the extremes.
NODES = 5
# Smallest purity − prior that is considered for an estimate. Closer to 0, a few extreme draws would
# dominate.
ESTIMATE_CONTRAST = 1e-3


@dataclass(frozen=True, repr=False)
class Region(Result):
    """All pairs of a prior and a purity within two intervals.

    Attributes
    ----------
    prior, purity : tuple of float
        Lower and upper end of each interval; the same number twice if it is known exactly.

    Examples
    --------
    >>> region = Region((0.1, 0.3), (1.0, 1.0))
    >>> region
    Region of prior 0.1 to 0.3 and purity 1
    >>> region.middle
    Mixture(prior=0.2, purity=1.0)
    """

    prior: Range
    purity: Range

    def __post_init__(self) -> None:
        for name, (low, high) in (("prior", self.prior), ("purity", self.purity)):
            if low > high:
                raise InputError(
                    f"{name} as an interval must have its lower end first; got ({low:g}, {high:g})."
                )
        for prior, purity in product(self.prior, self.purity):
            Mixture(prior, purity)

    def _headline(self) -> str:
        prior, purity = (
            f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
            for low, high in (self.prior, self.purity)
        )
        return f"Region of prior {prior} and purity {purity}"

    @property
    def middle(self) -> Mixture:
        """Mixture of the midpoints of both intervals."""
        return Mixture(sum(self.prior) / 2, sum(self.purity) / 2)

    def mesh(self, points: int) -> Mixtures:
        """Return a grid with ``points`` per side, edges included; one point if a share is known."""
        sides = [
            np.array([low]) if low == high else np.linspace(low, high, points)
            for low, high in (self.prior, self.purity)
        ]
        prior, purity = np.meshgrid(*sides, indexing="ij")
        return Mixtures(prior.ravel(), purity.ravel())

    def grid(self, points: int) -> list[Mixture]:
        """Return the points of `mesh` one by one."""
        mesh = self.mesh(points)
        return [mesh[k] for k in range(len(mesh))]

    @property
    def corners(self) -> list[Mixture]:
        """Mixtures at the ends of both intervals."""
        return self.grid(2)

    @property
    def nodes(self) -> list[Mixture]:
        """Mixtures all over the region, corners included."""
        return self.grid(NODES)

    @property
    def has_one_uncertain_share(self) -> bool:
        """Whether prior or purity is known exactly."""
        return self.prior[0] == self.prior[1] or self.purity[0] == self.purity[1]

    def between(self, mixture: Mixture, share: float) -> list[Mixture]:
        """Return the points at a share of the way from a mixture to each end of the intervals."""
        points = [
            Mixture(mixture.prior + share * (end - mixture.prior), mixture.purity)
            for end in self.prior
        ] + [
            Mixture(mixture.prior, mixture.purity + share * (end - mixture.purity))
            for end in self.purity
        ]
        return list(dict.fromkeys(points))

    def neighborhood(self, mixture: Mixture, points: int) -> Region:
        """Return the part of the region within one step of `mesh` around a mixture."""

        def part(interval: Range, middle: float) -> Range:
            step = (interval[1] - interval[0]) / (points - 1)
            return max(interval[0], middle - step), min(interval[1], middle + step)

        return Region(part(self.prior, mixture.prior), part(self.purity, mixture.purity))

    def widened(self, prior_error: Callable[[Mixture], float], critical_value: float) -> Region:
        """Return the region with the sampling error of the prior added at both ends.

        Parameters
        ----------
        prior_error : callable
            From a mixture to the standard error of its prior.
        critical_value : float
            Number of standard errors.

        Returns
        -------
        Region
        """
        purity = self.purity[0]
        low, high = (
            prior + sign * critical_value * prior_error(Mixture(prior, purity))
            for prior, sign in zip(self.prior, (-1, 1), strict=True)
        )
        return Region((max(low, 0.0), cap_prior(high, purity)), self.purity)


def confidence_region(estimate: PriorEstimate, level: float) -> Region:
    """Return the confidence intervals of an estimate, rescaled to another level."""
    scale = normal_quantile(level) / normal_quantile(estimate.level)

    def rescaled(center: float, interval: Range | None) -> Range:
        low, high = interval or (center, center)
        return max(center - scale * (center - low), 0.0), min(center + scale * (high - center), 1.0)

    prior = rescaled(estimate.prior, estimate.prior_interval)
    purity = rescaled(estimate.purity, estimate.purity_interval)
    contrast = min(ESTIMATE_CONTRAST, (estimate.purity - estimate.prior) / 2)
    purity = max(purity[0], estimate.prior + contrast), purity[1]
    return Region((prior[0], cap_prior(prior[1], purity[0], contrast)), purity)


def estimate_standard_error(estimate: PriorEstimate | None) -> float:
    """Return the standard error for which a symmetric interval is as wide as the estimate's."""
    if estimate is None or estimate.prior_interval is None:
        return 0.0
    low, high = estimate.prior_interval
    return (high - low) / 2 / normal_quantile(estimate.level)


def find_extremes(
    region: Region, function: Callable[[Mixtures], Array], *, as_column: bool = False
) -> list[Mixture]:
    """Find the mixtures of a region at which a function is smallest and largest.

    Accuracy, F and others need not be extreme at a corner, so a grid is searched and refined
    around its best point.

    Parameters
    ----------
    region : Region
        Where to search.
    function : callable
        From Mixtures to as many values; undefined values (NaN) are skipped.
    as_column : bool
        Whether the function needs the mixtures as a column, one per line.

    Returns
    -------
    list of Mixture
        At the minimum and at the maximum; empty if the function is undefined everywhere.

    Examples
    --------
    >>> low, high = find_extremes(Region((0.1, 0.5), (1.0, 1.0)), lambda m: (m.prior - 0.2) ** 2)
    >>> round(low.prior, 3), high.prior
    (0.2, 0.5)
    """
    extremes = []
    points = POINTS_IF_ONE_VARIES if region.has_one_uncertain_share else POINTS_IF_BOTH_VARY
    for sign in (1.0, -1.0):
        part, best = region, region.middle
        for _ in range(REFINEMENTS):
            mesh = part.mesh(points)
            mixtures = mesh
            if as_column:
                mixtures = Mixtures(mesh.prior[:, None], mesh.purity[:, None])
            values = sign * np.asarray(function(mixtures), dtype=np.float64)
            if np.isnan(values).all():
                return []
            best = mesh[int(np.nanargmin(values))]
            part = part.neighborhood(best, points)
        extremes.append(best)
    return extremes
