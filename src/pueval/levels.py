"""Confidence levels: how far normal limits are away."""

from __future__ import annotations

from scipy.special import ndtri


def normal_reach(level: float) -> float:
    """Return how many standard errors the limits of a normal number are away.

    Examples
    --------
    >>> round(normal_reach(0.95), 2)
    1.96
    """
    return float(ndtri(0.5 + level / 2))
