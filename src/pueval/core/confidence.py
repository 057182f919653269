"""The normal quantile that belongs to a confidence level."""

from __future__ import annotations

import scipy  # loads its submodules when they are first used, which keeps `import pueval` light


def normal_quantile(level: float) -> float:
    """Return the half-width, in standard errors, of a two-sided normal confidence interval.

    Examples
    --------
    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    return float(scipy.special.ndtri(0.5 + level / 2))
