"""Regions of prior and purity, given or estimated, and the extremes of a measure over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pueval._typing import Array, Range
from pueval.core.confidence import normal_quantile
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.core.sizes import divide_or_zero
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

    The interval of the prior can depend on the purity, as it does if the prevalence is known: its
    ends are then linear functions of the purity.

    Attributes
    ----------
    prior, purity : tuple of float
        Lower and upper end of each interval; the same number twice if it is known exactly. For a
        prior that depends on the purity, the smallest and the largest prior of the region.
    prior_by_purity : tuple of tuple of float, or None
        Intervals of the prior at the lower and at the upper end of the purity; None if both are
        ``prior``.

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
    prior_by_purity: tuple[Range, Range] | None = None

    @classmethod
    def between_priors(cls, at_low: Range, at_high: Range, purity: Range) -> Region:
        """Return the region with given intervals of the prior at the two ends of the purity.

        Examples
        --------
        >>> Region.between_priors((0.375, 0.375), (0.25, 0.25), (0.75, 1.0)).middle
        Mixture(prior=0.3125, purity=0.875)
        """
        if at_low == at_high:
            return cls(at_low, purity)
        prior = min(at_low[0], at_high[0]), max(at_low[1], at_high[1])
        return cls(prior, purity, (at_low, at_high))

    def __post_init__(self) -> None:
        for name, (low, high) in (("prior", self.prior), ("purity", self.purity)):
            if low > high:
                raise InputError(
                    f"{name} as an interval must have its lower end first; got ({low:g}, {high:g})."
                )
        for interval, purity in zip(self._prior_ends, self.purity, strict=True):
            for prior in interval:
                Mixture(prior, purity)

    def _headline(self) -> str:
        prior, purity = (
            f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
            for low, high in (self.prior, self.purity)
        )
        return f"Region of prior {prior} and purity {purity}"

    @property
    def _prior_ends(self) -> tuple[Range, Range]:
        return self.prior_by_purity or (self.prior, self.prior)

    @property
    def _prior_varies(self) -> bool:
        """Whether there are several priors for some purity."""
        return any(low < high for low, high in self._prior_ends)

    def mixtures(self, position: Array, purity: Array) -> Mixtures:
        """Return the mixtures at purities and at positions in the interval of the prior.

        Position 0 is the lower end of the interval, 1 the upper end.
        """
        start, end = self.purity
        weight = divide_or_zero(purity - start, end - start)
        low, high = (
            at_start + weight * (at_end - at_start)
            for at_start, at_end in zip(*self._prior_ends, strict=True)
        )
        return Mixtures((1 - position) * low + position * high, purity)

    def mixture(self, position: float, purity: float) -> Mixture:
        """Return one of `mixtures`."""
        return self.mixtures(np.array([position]), np.array([purity]))[0]

    @property
    def middle(self) -> Mixture:
        """Mixture in the middle of both intervals."""
        return self.mixture(0.5, sum(self.purity) / 2)

    @property
    def best_fit(self) -> Mixture:
        """Mixture that the ranking allows most easily: the smallest prior, the largest purity."""
        return self.mixture(0.0, self.purity[1])

    @property
    def worst_fit(self) -> Mixture:
        """Mixture that the ranking contradicts first: the largest prior, the smallest purity."""
        return self.mixture(1.0, self.purity[0])

    def coordinates(
        self, points: int, position: Range = (0.0, 1.0), purity: Range | None = None
    ) -> tuple[Array, Array]:
        """Return positions and purities of a grid with ``points`` per side, edges included.

        ``position`` and ``purity`` restrict it to a part of the region. A share that is known
        has one point.
        """
        sides = [
            np.linspace(*position, points) if self._prior_varies else np.array([0.5]),
            _points_between(self.purity if purity is None else purity, points),
        ]
        positions, purities = np.meshgrid(*sides, indexing="ij")
        return positions.ravel(), purities.ravel()

    def grid(self, points: int) -> list[Mixture]:
        """Return the mixtures of a grid with ``points`` per side."""
        mesh = self.mixtures(*self.coordinates(points))
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
        """Whether the purity is known, or the prior if the purity were."""
        return not self._prior_varies or self.purity[0] == self.purity[1]

    def along_prior(self, mixture: Mixture, shares: Iterable[float]) -> list[Mixture]:
        """Return points between a mixture and the ends of the prior's interval at its purity.

        Shares of the way are negative toward the lower end. None if the prior is known.
        """
        if not self._prior_varies:
            return []
        ends = [self.mixture(position, mixture.purity).prior for position in (0.0, 1.0)]
        priors = (part_way(mixture.prior, ends, share) for share in shares)
        return [Mixture(prior, mixture.purity) for prior in priors]

    def along_purity(self, mixture: Mixture, shares: Iterable[float]) -> list[Mixture]:
        """Return points between a mixture and the ends of the purity's interval.

        The prior keeps its position in its own interval. None if the purity is known.
        """
        if self.purity[0] == self.purity[1]:
            return []
        low, high = (self.mixture(position, mixture.purity).prior for position in (0.0, 1.0))
        position = min(max((mixture.prior - low) / (high - low), 0.0), 1.0) if low < high else 0.5
        start = self.mixture(position, mixture.purity).prior
        points = []
        for share in shares:
            purity = part_way(mixture.purity, self.purity, share)
            shift = self.mixture(position, purity).prior - start
            points.append(Mixture(max(mixture.prior + shift, 0.0), purity))
        return points

    def between(self, mixture: Mixture, share: float) -> list[Mixture]:
        """Return the points at a share of the way from a mixture to each end of the intervals."""
        both = (-share, share)
        return list(
            dict.fromkeys([*self.along_prior(mixture, both), *self.along_purity(mixture, both)])
        )

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

        def widen(interval: Range, purity: float) -> Range:
            low, high = (
                prior + sign * critical_value * prior_error(Mixture(prior, purity))
                for prior, sign in zip(interval, (-1, 1), strict=True)
            )
            return max(low, 0.0), cap_prior(high, purity)

        at_low, at_high = map(widen, self._prior_ends, self.purity)
        return Region.between_priors(at_low, at_high, self.purity)


def part_way(center: float, ends: Sequence[float], share: float) -> float:
    """Return the value at a share of the way to an end: the lower one for a negative share."""
    low, high = ends
    return center + abs(share) * ((high if share > 0 else low) - center)


def _points_between(interval: Range, points: int) -> Array:
    low, high = interval
    return np.array([low]) if low == high else np.linspace(low, high, points)


def confidence_region(estimate: PriorEstimate, level: float) -> Region:
    """Return the confidence intervals of an estimate, rescaled to another level.

    Where the prior follows from a known share, it moves with the purity.
    """
    scale = normal_quantile(level) / normal_quantile(estimate.level)

    def rescaled(center: float, interval: Range | None) -> Range:
        low, high = interval or (center, center)
        return max(center - scale * (center - low), 0.0), min(center + scale * (high - center), 1.0)

    purity = rescaled(estimate.purity, estimate.purity_interval)
    if estimate.known_share is not None:
        contrast = min(ESTIMATE_CONTRAST, (estimate.purity - estimate.prior) / 2)
        # The contrast, too, is linear in the purity.
        lowest = estimate.purity - (estimate.purity - estimate.prior - contrast) / (
            1 - estimate.prior_slope
        )
        purity = max(purity[0], lowest), purity[1]
        at_low, at_high = (estimate.prior_at(end) for end in purity)
        return Region.between_priors((at_low, at_low), (at_high, at_high), purity)
    prior = rescaled(estimate.prior, estimate.prior_interval)
    return contrasting_region(estimate.mixture(), prior, purity)


def contrasting_region(center: Mixture, prior: Range, purity: Range) -> Region:
    """Return the part of two intervals around an estimate in which the prior is below the purity.

    Examples
    --------
    >>> contrasting_region(Mixture(0.5, 0.9), (0.3, 0.85), (0.8, 1.0))
    Region of prior 0.3 to 0.799 and purity 0.8 to 1
    """
    contrast = min(ESTIMATE_CONTRAST, (center.purity - center.prior) / 2)
    least = max(purity[0], center.prior + contrast)
    return Region((prior[0], cap_prior(prior[1], least, contrast)), (least, purity[1]))


class AuditedShares(NamedTuple):
    """Confidence intervals of prior and purity from an audit; they may overlap."""

    prior: Range
    purity: Range

    def region(self, mixture: Mixture) -> Region:
        """Return the part of both intervals in which the prior is below the purity."""
        return contrasting_region(mixture, self.prior, self.purity)


def estimate_standard_error(estimate: PriorEstimate | None) -> float:
    """Return the standard error of an estimated prior from the width of its interval.

    A prior that follows from a known share and the purity has no error of its own.
    """
    if estimate is None or estimate.prior_interval is None or estimate.known_share is not None:
        return 0.0
    low, high = estimate.prior_interval
    return (high - low) / 2 / normal_quantile(estimate.level)


def purity_standard_error(estimate: PriorEstimate | None) -> float:
    """Return the standard error of an estimated purity from its interval; 0 for a known purity."""
    if estimate is None or estimate.purity_interval is None:
        return 0.0
    low, high = estimate.purity_interval
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
        position, purity, best = (0.0, 1.0), region.purity, region.middle
        for _ in range(REFINEMENTS):
            positions, purities = region.coordinates(points, position, purity)
            mesh = region.mixtures(positions, purities)
            mixtures = mesh
            if as_column:
                mixtures = Mixtures(mesh.prior[:, None], mesh.purity[:, None])
            values = sign * np.asarray(function(mixtures), dtype=np.float64)
            if np.isnan(values).all():
                return []
            k = int(np.nanargmin(values))
            best = mesh[k]
            position = _neighborhood(position, float(positions[k]), points)
            purity = _neighborhood(purity, float(purities[k]), points)
        extremes.append(best)
    return extremes


def _neighborhood(interval: Range, value: float, points: int) -> Range:
    """Return the part of an interval within one step of its grid around a value."""
    step = (interval[1] - interval[0]) / (points - 1)
    return max(interval[0], value - step), min(interval[1], value + step)
