"""Curves thinned to the points that matter in a plot or a file."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array

# Additional points are invisible in print.
MOST_POINTS = 2000


def thin_curve(x: Array, y: Array, points: int = MOST_POINTS) -> Array:
    """Choose points of a curve so that it looks the same.

    The curve is cut into segments of equal length, measured relative to its extent in either
    direction. The first, the lowest and the highest point of each segment are kept.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        Points, in the order in which they are joined.
    points : int
        Maximum number of points to keep; at least 8.

    Returns
    -------
    ndarray of int
        Ascending indices of the kept points, including the first and the last.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 100_000)
    >>> kept = thin_curve(x, x**2)
    >>> kept.size <= 2000, int(kept[0]), int(kept[-1])
    (True, 0, 99999)
    """
    if x.size <= points:
        return np.arange(x.size)
    length = np.zeros(x.size)
    for values in (x, y):
        extent = np.ptp(values)
        if extent > 0:
            length[1:] += np.abs(np.diff(values)) / extent
    length = np.cumsum(length)
    segments = max((points - 1) // 3, 1)
    share = length / length[-1] if length[-1] else length
    segment = np.minimum((share * segments).astype(int), segments - 1)
    start = np.flatnonzero(np.diff(segment, prepend=-1))
    kept = [start, np.array([x.size - 1])]
    for extremum in (np.minimum, np.maximum):
        extreme = np.repeat(extremum.reduceat(y, start), np.diff(start, append=y.size))
        where = np.flatnonzero(y == extreme)
        kept.append(where[np.diff(segment[where], prepend=-1) > 0])
    return np.unique(np.concatenate(kept))
