"""Curves thinned to the points that a plot can show."""

from __future__ import annotations

from dataclasses import dataclass

from pueval._typing import Array
from pueval.core.thinned_curves import thin_curve


@dataclass(frozen=True, eq=False)
class CurvePoints:
    """Points of a curve, few enough to draw."""

    x: Array
    y: Array
    threshold: Array

    @classmethod
    def thinned(cls, x: Array, y: Array, threshold: Array) -> CurvePoints:
        """Thin a curve without changing its appearance."""
        kept = thin_curve(x, y)
        return cls(x[kept], y[kept], threshold[kept])
