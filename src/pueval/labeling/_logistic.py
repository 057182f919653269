"""Logistic regression with an offset, by Newton's method."""

from __future__ import annotations

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.errors import InputError

# Newton's steps until convergence, and the largest change of a coefficient in one step.
MOST_STEPS, LONGEST_STEP = 100, 4.0


def fit_logistic(
    design: Array, y: Array, *, offset: Array | float = 0.0, penalty: Array | float = 1e-6
) -> Array:
    """Return the coefficients that maximize the penalized likelihood.

    Parameters
    ----------
    design : ndarray of shape (n, columns)
    y : ndarray of bool
    offset : ndarray or float
        Part of the linear predictor that is known.
    penalty : ndarray or float
        Half of it, times the squared coefficient, is subtracted from the log-likelihood.

    Returns
    -------
    ndarray
    """
    coefficients = np.zeros(design.shape[1])
    weight = np.broadcast_to(np.asarray(penalty, dtype=float), coefficients.shape)
    for _ in range(MOST_STEPS):
        share = scipy.special.expit(design @ coefficients + offset)
        gradient = design.T @ (y - share) - weight * coefficients
        step = np.linalg.solve(information(design, share) + np.diag(weight), gradient)
        largest = np.abs(step).max()
        coefficients = coefficients + step * min(1.0, LONGEST_STEP / max(largest, 1e-300))
        if largest < 1e-8:
            return np.asarray(coefficients)
    raise InputError(
        "the logistic regression did not converge. Leave out features that are nearly functions "
        "of others, or that separate the labels."
    )


def information(design: Array, share: Array) -> Array:
    """Return the information matrix of the coefficients at fitted shares."""
    return np.asarray((design * (share * (1 - share))[:, None]).T @ design)
