"""Variances of differences of all pairs of estimates, from covariances and back."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array


def difference_variances(covariance: Array) -> Array:
    """Return the variance of the difference of each pair of estimates.

    Examples
    --------
    >>> difference_variances(np.array([[3.0, 2.0], [2.0, 5.0]]))
    array([[0., 4.],
           [4., 0.]])
    """
    variance = np.diag(covariance)
    variances: Array = np.add.outer(variance, variance) - 2 * covariance
    return variances


def covariance_of_differences(difference_variance: Array, variance: Array) -> Array:
    """Return the covariances of estimates whose variances and those of differences are known.

    Examples
    --------
    >>> covariance_of_differences(np.array([[0.0, 4.0], [4.0, 0.0]]), np.array([3.0, 5.0]))
    array([[3., 2.],
           [2., 5.]])
    """
    covariance: Array = (np.add.outer(variance, variance) - difference_variance) / 2
    return covariance
