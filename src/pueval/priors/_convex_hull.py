"""Distance of a mixture of two kernel means from the convex hull of the rows.

A pivoted Cholesky factorization of the kernel matrix represents the rows as points in as few
dimensions as the matrix has rank. With pᵢ the points minus the target, non-negative least squares
finds the v ≥ 0 that minimizes ‖Σvᵢpᵢ‖² + (Σvᵢ − 1)². For v = t·w with Σw = 1, the best t leaves
‖Σwᵢpᵢ‖² / (1 + ‖Σwᵢpᵢ‖²), which increases with the distance ‖Σwᵢpᵢ‖. So v/Σv are the weights of
the projection onto the hull.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpstrf
from scipy.optimize import nnls

from pueval._typing import Array

# A distance below the rounding error: the target is inside the hull.
INSIDE = 1e-7


@dataclass(frozen=True, eq=False)
class ConvexHull:
    """Rows as points whose inner products are the kernel, and the means of both samples."""

    points: Array
    labeled_mean: Array
    unlabeled_mean: Array

    @classmethod
    def from_kernel(cls, kernel: Array, n_labeled: int) -> ConvexHull:
        """Factor a kernel matrix whose first rows are the labeled positives."""
        factor, pivot, rank, _ = dpstrf(kernel, lower=1, tol=1e-7)
        points = np.empty((len(kernel), rank))
        points[pivot - 1] = np.tril(factor)[:, :rank]
        return cls(points, points[:n_labeled].mean(axis=0), points[n_labeled:].mean(axis=0))

    def residual(self, multiple: float) -> Array:
        """Return λF + (1 − λ)H minus its projection onto the hull of the points."""
        target = multiple * self.unlabeled_mean + (1 - multiple) * self.labeled_mean
        system = np.vstack([(self.points - target).T, np.ones(len(self.points))])
        right_side = np.zeros(len(system))
        right_side[-1] = 1
        weight, _ = nnls(system, right_side, maxiter=30 * len(self.points))
        projection: Array = (weight / weight.sum()) @ self.points
        return target - projection

    def distance(self, multiple: float) -> float:
        """Return the distance d(λ) of λF + (1 − λ)H from the hull."""
        return float(np.linalg.norm(self.residual(multiple)))

    def slope(self, multiple: float) -> float:
        """Return the derivative of the distance."""
        if multiple <= 1:
            return 0.0
        residual = self.residual(multiple)
        distance = np.linalg.norm(residual)
        if distance < INSIDE:
            return 0.0
        return float((self.unlabeled_mean - self.labeled_mean) @ residual / distance)
