"""Confidence levels: how they are shown, and how far normal limits are away."""

from __future__ import annotations

import scipy  # loads its submodules when they are first used, which keeps `import pueval` light


def normal_quantile(level: float) -> float:
    """Return how many standard errors the limits of a normal number are away.

    Examples
    --------
    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    return float(scipy.special.ndtri(0.5 + level / 2))


def percent(level: float) -> str:
    """Show a level, with as many digits as it has.

    Examples
    --------
    >>> percent(0.95), percent(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:g}%"
