"""Curves with fewer points that look the same."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array

# More points than this cannot be told apart on paper.
POINTS = 2000


def thin(x: Array, y: Array, points: int = POINTS) -> Array:
    """Choose points of a line so that it looks the same.

    The line is cut into parts of equal length, where a step in a direction counts in units of the
    line's extent in it; of each part the first, the lowest and the highest point stay.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        The points, in the order in which they are joined.
    points : int
        How many to keep, at most; at least 8.

    Returns
    -------
    ndarray of int
        Indices of the points that stay, ascending; the first and the last are among them.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 100_000)
    >>> kept = thin(x, x**2)
    >>> kept.size <= 2000, int(kept[0]), int(kept[-1])
    (True, 0, 99999)
    """
    if x.size <= points:
        return np.arange(x.size)
    way = np.zeros(x.size)
    for values in (x, y):
        extent = np.ptp(values)
        if extent > 0:
            way[1:] += np.abs(np.diff(values)) / extent
    way = np.cumsum(way)
    parts = max((points - 1) // 3, 1)
    part = (
        np.minimum((way / way[-1] * parts).astype(int), parts - 1) if way[-1] else way.astype(int)
    )
    start = np.flatnonzero(np.diff(part, prepend=-1))
    kept = [start, np.array([x.size - 1])]
    for lowest in (np.minimum, np.maximum):
        extreme = np.repeat(lowest.reduceat(y, start), np.diff(start, append=y.size))
        where = np.flatnonzero(y == extreme)
        kept.append(where[np.diff(part[where], prepend=-1) > 0])
    return np.unique(np.concatenate(kept))
