"""Many p-values at once: adjusted, so that all of them hold together."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array


def holm(pvalues: Array) -> Array:
    """Adjust p-values so that all of them hold together (Holm, 1979).

    The smallest of m is multiplied by m, the next by m − 1, and so on; none becomes smaller than
    the one before. Undefined ones are left out of the count.

    Parameters
    ----------
    pvalues : ndarray

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    adjusted = np.full(pvalues.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(pvalues))
    order = defined[np.argsort(pvalues[defined], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order] * factors), 1.0)
    return adjusted
