"""Uncertainty: how far another sample of rows, or another choice of labels, would differ.

What is drawn again are counts between thresholds (`draws`), never rows. From the draws follow
limits of measures (`resampling`, `intervals`) and of curves (`bands`), also where prior and purity
are known only within limits (`region`).
"""

from pueval.uncertainty.bands import CurveBand
from pueval.uncertainty.prior_region import Region

__all__ = ["CurveBand", "Region"]
