"""Quantiles for a confidence level, and limits of a proportion: Wilson, Clopper and Pearson."""

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
    """Return the half-width in standard errors of an interval from the t distribution.

    Examples
    --------
    >>> round(student_quantile(0.95, 19), 2)
    2.09
    """
    if math.isinf(degrees_of_freedom):
        return normal_quantile(level)
    return float(scipy.special.stdtrit(degrees_of_freedom, 0.5 + level / 2))


def wilson_limit(share: float | Array, n_rows: float | Array, critical_value: float) -> Array:
    """Return Wilson's (1927) upper limit of a share; the lower for a negative critical value.

    Examples
    --------
    >>> round(float(wilson_limit(0.0, 30, 1.96)), 3)
    0.114
    """
    square = critical_value**2 / n_rows
    margin = np.sqrt(square * share * (1 - share) + square**2 / 4)
    limit: Array = (share + square / 2 + np.copysign(margin, critical_value)) / (1 + square)
    return limit


def clopper_pearson_lower(successes: Array, n: float, error: float | Array) -> Array:
    """Return Clopper and Pearson's (1934) lower limit of a proportion; 0 without successes."""
    with np.errstate(invalid="ignore"):
        bound = scipy.special.betaincinv(successes, n - successes + 1, error)
    return np.where(successes <= 0, 0.0, bound)


def clopper_pearson_upper(successes: Array, n: float, error: float | Array) -> Array:
    """Return Clopper and Pearson's (1934) upper limit of a proportion; 1 without failures."""
    with np.errstate(invalid="ignore"):
        bound = scipy.special.betaincinv(successes + 1, n - successes, 1 - error)
    return np.where(successes >= n, 1.0, bound)


def mean_limits(
    mean: float,
    standard_error: float,
    bounds: tuple[float, float],
    n_rows: float,
    critical_value: float,
) -> tuple[float, float]:
    """Return limits of the mean of numbers between two bounds.

    They are Wilson's for a share of as many rows as have this standard error, or of ``n_rows`` if
    all numbers are at one of the bounds, up to rounding.

    Examples
    --------
    >>> [round(limit, 2) for limit in mean_limits(0.5, 0.5, (0, 5), 30, 1.96)]
    [0.08, 2.11]
    """
    least, width = bounds[0], bounds[1] - bounds[0]
    share = min(max((mean - least) / width, 0.0), 1.0)
    if 1e-9 < share < 1 - 1e-9 and standard_error > 0:
        n_rows = share * (1 - share) * (width / standard_error) ** 2
    low, high = (
        least + width * float(wilson_limit(share, n_rows, sign * critical_value))
        for sign in (-1, 1)
    )
    return low, high
