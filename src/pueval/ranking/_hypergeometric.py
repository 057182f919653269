"""Hypergeometric distribution: the number of labeled rows in a random sample of rows."""

from __future__ import annotations

import numpy as np
import scipy

from pueval._typing import Array


class LogFactorials:
    """A table of ln 0!, ln 1!, …, ln n!."""

    def __init__(self, n: int) -> None:
        self._table = scipy.special.gammaln(np.arange(n + 1, dtype=np.float64) + 1)

    def pmf(self, k: Array, total: Array | int, marked: Array | int, drawn: Array | int) -> Array:
        """Return P(X = k) for k of ``marked`` rows in a sample of ``drawn`` of ``total`` rows."""
        k, total, marked, drawn = np.broadcast_arrays(k, total, marked, drawn)
        possible = (k >= 0) & (k <= marked) & (k <= drawn) & (drawn - k <= total - marked)
        k = np.where(possible, k, np.maximum(0, drawn - (total - marked)))
        log = self._table
        value = (
            (log[marked] - log[k] - log[marked - k])
            + (log[total - marked] - log[drawn - k] - log[total - marked - drawn + k])
            - (log[total] - log[drawn] - log[total - drawn])
        )
        return np.where(possible, np.exp(value), 0.0)


def hypergeometric_moments(
    total: Array | int, marked: Array | int, drawn: Array | int
) -> tuple[Array, Array]:
    """Return mean and variance of the number of marked rows in a sample of ``drawn`` rows."""
    total, marked, drawn = (np.asarray(a, dtype=np.float64) for a in (total, marked, drawn))
    share = marked / total
    mean = drawn * share
    variance = mean * (1 - share) * (total - drawn) / np.maximum(total - 1, 1)
    return mean, variance
