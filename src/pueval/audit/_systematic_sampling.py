"""Systematic sampling: a sample of fixed size with given probabilities."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array


def systematic_sample(probability: Array, rng: np.random.Generator) -> Array:
    """Choose items in their order, each as often as its expected number on average.

    Items occupy consecutive intervals whose lengths are their expected numbers; those at u, u + 1,
    u + 2, … are chosen, with u uniform in [0, 1) (Madow, 1949). An item is chosen with exactly its
    probability, and the size of the sample is the sum of all of them, rounded to an integer.

    Parameters
    ----------
    probability : ndarray
        Probability of each item; for a group of items, the sum of theirs.
    rng : numpy.random.Generator
        Random numbers.

    Returns
    -------
    ndarray of int
        Index of each chosen item, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> systematic_sample(np.array([0, 1, 0.5, 0.5]), np.random.default_rng(0))
    array([1, 3])
    """
    end = np.cumsum(probability, dtype=np.float64)
    size = round(float(end[-1]))
    # Without the rounding errors of the sum, exactly this many points lie below the end.
    end *= size / end[-1]
    points = rng.random() + np.arange(size)
    return np.searchsorted(end, points, side="right").clip(max=end.size - 1)
