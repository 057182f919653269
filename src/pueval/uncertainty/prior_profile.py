"""How an estimated prior widens the intervals of several estimates that share it.

A vector of estimates (differences of models, say) is known at the estimated prior and purity, and
at `POSITIONS` along the confidence interval of the prior and, if it was estimated, of the purity.
Standard errors are known at the estimate and at the ends of the confidence interval; between them
they are interpolated. The effects of prior and purity are treated as additive.

Let q be the distance of a prior from its estimate, as a share of the way to the end of its
confidence interval, and c the critical value. A value δ lies in the interval if
((estimate(q) − δ) / error(q))² + (c·q)² ≤ c² for some q. So the errors of rows and prior are
treated as independent, and the prior is profiled out: it is the one that fits δ best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.core.sizes import divide_or_zero
from pueval.uncertainty.uncertain_prior import remaining_share

# Positions between the lower (−1) and the upper (1) confidence limit at which estimates are known,
# beside the point estimate (0). The average precision needs this many: it has kinks where
# corrected rates leave their range.
POSITIONS = (-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0)
# Where the point estimate belongs among them.
CENTER = len(POSITIONS) // 2
ALL_POSITIONS = np.insert(np.array(POSITIONS), CENTER, 0.0)
# Points per side of the grid on which the ends of intervals are searched.
GRID = 41


class EstimateVector(NamedTuple):
    """Estimates and their standard errors."""

    value: Array
    error: Array


@dataclass(frozen=True, eq=False)
class PriorProfile:
    """Estimates along the confidence intervals of prior and purity.

    Attributes
    ----------
    center : EstimateVector
        At the point estimate.
    paths : sequence of sequence of EstimateVector
        At `POSITIONS`: along the prior, and along the purity if it is uncertain. Empty if both are
        known exactly.
    """

    center: EstimateVector
    paths: Sequence[Sequence[EstimateVector]]

    @classmethod
    def of(cls, center: EstimateVector, paths: Sequence[Sequence[EstimateVector]]) -> PriorProfile:
        """Fill in the standard errors that are NaN between the estimate and its limits.

        Their inverses are interpolated linearly, which is exact for the AUC. An undefined value is
        replaced by that at the point estimate.
        """

        def filled(q: float, estimate: EstimateVector, limit: EstimateVector) -> EstimateVector:
            limit_error = np.where(np.isnan(limit.error), center.error, limit.error)
            weighted = abs(q) * center.error + (1 - abs(q)) * limit_error
            error = divide_or_zero(center.error * limit_error, weighted)
            error = np.where(np.isnan(estimate.error), error, estimate.error)
            undefined = np.isnan(estimate.value)
            return EstimateVector(
                np.where(undefined, center.value, estimate.value),
                np.where(undefined, center.error, error),
            )

        return cls(
            center,
            [
                [
                    filled(q, estimate, path[-1 if q > 0 else 0])
                    for q, estimate in zip(POSITIONS, path, strict=True)
                ]
                for path in paths
            ],
        )

    def with_least_error(self, least: Array) -> PriorProfile:
        """Return the estimates with standard errors raised to at least ``least``."""

        def raised(estimate: EstimateVector) -> EstimateVector:
            return EstimateVector(estimate.value, np.maximum(estimate.error, least))

        paths = [[raised(estimate) for estimate in path] for path in self.paths]
        return PriorProfile(raised(self.center), paths)

    def interval(self, critical_value: float | Array) -> Array:
        """Return the lower and upper ends of the intervals, a line each.

        ``critical_value`` is that of all estimates, or has one for each.
        """
        line = np.linspace(-1, 1, GRID)
        grid = np.zeros((1, 1))
        if self.paths:
            mesh = np.meshgrid(*[line] * len(self.paths), indexing="ij")
            grid = np.stack([axis.ravel() for axis in mesh])
        squared_distance = np.sum(grid**2, axis=0)
        inside = squared_distance <= 1
        grid, squared_distance = grid[:, inside], squared_distance[inside]
        value, error = self.center.value[None], self.center.error[None]
        for q, path in zip(grid, self.paths, strict=False):
            index = np.searchsorted(line, q)
            value = value + _shifts(line, self.center.value, [at.value for at in path])[index]
            error = error + _shifts(line, self.center.error, [at.error for at in path])[index]
        margin = critical_value * np.maximum(error, 0) * remaining_share(squared_distance[:, None])
        return np.stack([(value - margin).min(axis=0), (value + margin).max(axis=0)])

    def standard_error(self, critical_value: float) -> Array:
        """Return standard errors that include the uncertainty of prior and purity."""
        squares = [
            ((path[-1].value - path[0].value) / (2 * critical_value)) ** 2 for path in self.paths
        ]
        error: Array = np.sqrt(self.center.error**2 + sum(squares))
        return error

    def z_score(self, critical_value: float) -> Array:
        """Return the z-scores of the hypothesis that the true values are zero.

        The square is the minimum over q of z(q)² + (c·q)², where z(q) is the ratio of estimate and
        standard error at q. If the prior scales both alike, as for the AUC, it is z(0)². NaN or
        infinite where the standard error is zero.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            z = self.center.value / self.center.error
            added_variance = np.zeros_like(z)
            for path in self.paths:
                along = [at.value / at.error for at in path]
                smallest = _smallest_statistic(z, along, critical_value)
                ratio = np.divide(z**2, smallest, out=np.ones_like(z), where=smallest > 0)
                added_variance += ratio - 1
            score: Array = z / np.sqrt(1 + added_variance)
        return score


def shift_along_path(center: Array, path: Sequence[Array], q: Array) -> Array:
    """Return how far estimates shift if prior or purity is at positions ``q``, a line for each.

    Beyond the ends of the confidence interval the last slope continues. Where some estimate is
    undefined, none moves any further.
    """
    positions = ALL_POSITIONS
    values = np.insert(np.asarray(path), CENTER, center, axis=0)
    defined = np.isfinite(values).all(axis=1)
    positions, values = positions[defined], values[defined]
    if positions.size < 2:
        return np.zeros((q.size, center.size))
    if not defined.all():
        q = np.clip(q, positions[0], positions[-1])
    shifted = np.array([np.interp(q, positions, column) for column in values.T]).T
    for end, neighbor in ((0, 1), (-1, -2)):
        beyond = q - positions[end]
        beyond = np.where(beyond * positions[end] > 0, beyond, 0.0)
        slope = (values[end] - values[neighbor]) / (positions[end] - positions[neighbor])
        shifted += np.outer(beyond, slope)
    return shifted - center


def _shifts(line: Array, center: Array, path: list[Array]) -> Array:
    """Return the differences to the center at all points of a line, linear between positions."""
    differences = np.insert(np.stack([at - center for at in path]), CENTER, 0.0, axis=0)
    left = np.searchsorted(ALL_POSITIONS, line, side="right") - 1
    left = np.clip(left, 0, ALL_POSITIONS.size - 2)
    width = ALL_POSITIONS[left + 1] - ALL_POSITIONS[left]
    weight = ((line - ALL_POSITIONS[left]) / width)[:, None]
    shifts: Array = (1 - weight) * differences[left] + weight * differences[left + 1]
    return shifts


def _smallest_statistic(z: Array, along: list[Array], critical_value: float) -> Array:
    """Return the minimum of z(q)² + (c·q)² along one path, whose ends continue as lines."""
    smallest = z**2
    for side in (range(CENTER - 1, -1, -1), range(CENTER, len(POSITIONS))):
        start, q = z, 0.0
        for k in side:
            rise, step = along[k] - start, critical_value * (POSITIONS[k] - q)
            # The point of this line segment that is closest to the origin.
            at = np.maximum(-(start * rise + critical_value * q * step) / (rise**2 + step**2), 0)
            if k not in {0, len(POSITIONS) - 1}:
                at = np.minimum(at, 1)
            statistic = (start + at * rise) ** 2 + (critical_value * q + at * step) ** 2
            smallest = np.fmin(smallest, statistic)
            start, q = along[k], POSITIONS[k]
    return smallest
