"""The quantiles that belong to a confidence level, and limits of a proportion."""

from __future__ import annotations

import math

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


def student_quantile(level: float, degrees_of_freedom: float) -> float:
    """Return the same for the t distribution, which is normal for infinite degrees of freedom.

    Examples
    --------
    >>> round(student_quantile(0.95, 19), 2)
    2.09
    """
    if math.isinf(degrees_of_freedom):
        return normal_quantile(level)
    return float(scipy.special.stdtrit(degrees_of_freedom, 0.5 + level / 2))


def proportion_limit(share: float | Array, n_rows: float | Array, critical_value: float) -> Array:
    """Return Wilson's (1927) upper limit of a share; the lower for a negative critical value.

    Examples
    --------
    >>> round(float(proportion_limit(0.0, 30, 1.96)), 3)
    0.114
    """
    square = critical_value**2 / n_rows
    margin = np.sqrt(square * share * (1 - share) + square**2 / 4)
    limit: Array = (share + square / 2 + np.copysign(margin, critical_value)) / (1 + square)
    return limit
