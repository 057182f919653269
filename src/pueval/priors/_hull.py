"""Distance of a mixture of kernel means from the convex hull of the rows.

The kernel matrix is factored by Cholesky's method with pivoting, so that the rows are points in
as few dimensions as the matrix has rank. With pᵢ the points minus the target, non-negative
least squares finds the v ≥ 0 that minimizes ‖Σvᵢpᵢ‖² + (Σvᵢ − 1)². For v = t·w with Σw = 1, the
best t leaves ‖Σwᵢpᵢ‖² / (1 + ‖Σwᵢpᵢ‖²), which increases with the distance: so v/Σv are the
weights of the projection onto the hull.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpstrf
from scipy.optimize import nnls

from pueval._typing import Array


@dataclass(frozen=True, eq=False)
class Hull:
    """The rows as points whose inner products are the kernel, and their two means."""

    points: Array
    labeled: Array
    unlabeled: Array

    @classmethod
    def of(cls, kernel: Array, n_labeled: int) -> Hull:
        """Factor a kernel matrix whose first rows are the labeled ones."""
        factor, pivot, rank, _ = dpstrf(kernel, lower=1, tol=1e-7)
        points = np.empty((len(kernel), rank))
        points[pivot - 1] = np.tril(factor)[:, :rank]
        return cls(points, points[:n_labeled].mean(axis=0), points[n_labeled:].mean(axis=0))

    def away(self, multiple: float) -> Array:
        """Return λF + (1 − λ)H minus its projection onto the hull of the points."""
        target = multiple * self.unlabeled + (1 - multiple) * self.labeled
        system = np.vstack([(self.points - target).T, np.ones(len(self.points))])
        goal = np.zeros(len(system))
        goal[-1] = 1
        weight, _ = nnls(system, goal, maxiter=30 * len(self.points))
        projection: Array = (weight / weight.sum()) @ self.points
        return target - projection

    def distance(self, multiple: float) -> float:
        """Return the distance d(λ) of λF + (1 − λ)H from the hull."""
        return float(np.linalg.norm(self.away(multiple)))

    def slope(self, multiple: float) -> float:
        """Return the derivative of the distance."""
        if multiple <= 1:
            return 0.0
        away = self.away(multiple)
        distance = np.linalg.norm(away)
        # Closer than rounding errors are: the point is in the hull, where d is flat.
        if distance < 1e-7:
            return 0.0
        return float((self.unlabeled - self.labeled) @ away / distance)
