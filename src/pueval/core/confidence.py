"""Normal quantiles of confidence levels, and confidence bounds of a proportion."""

from __future__ import annotations

import numpy as np
import scipy  # loads its submodules when they are first used, which keeps `import pueval` light

from pueval._typing import Array


def normal_quantile(level: float) -> float:
    """Return the half-width, in standard errors, of a two-sided normal confidence interval.

    Examples
    --------
    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    return float(scipy.special.ndtri(0.5 + level / 2))


def proportion_lower_bound(successes: Array, n: float, error: float | Array) -> Array:
    """Return Clopper and Pearson's lower bound of a proportion; 0 without successes."""
    with np.errstate(invalid="ignore"):
        bound = scipy.special.betaincinv(successes, n - successes + 1, error)
    return np.where(successes <= 0, 0.0, bound)


def proportion_upper_bound(successes: Array, n: float, error: float | Array) -> Array:
    """Return Clopper and Pearson's upper bound of a proportion; 1 without failures."""
    with np.errstate(invalid="ignore"):
        bound = scipy.special.betaincinv(successes + 1, n - successes, 1 - error)
    return np.where(successes >= n, 1.0, bound)
