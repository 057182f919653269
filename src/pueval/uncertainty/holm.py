"""Holm's adjustment of p-values for multiple comparisons."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array


def holm(pvalues: Array, n_more: int = 0) -> Array:
    """Adjust p-values for multiple comparisons, controlling the familywise error rate.

    The smallest of m p-values is multiplied by m, the next by m − 1, and so on; none becomes
    smaller than the one before.

    Parameters
    ----------
    pvalues : ndarray
        NaN where undefined; undefined p-values do not count.
    n_more : int
        Number of further hypotheses that are not tested. They count as if their p-values were 1,
        so the tested ones may have been selected after looking at the data.

    Returns
    -------
    ndarray

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    >>> holm(np.array([0.01]), n_more=2)
    array([0.03])
    """
    adjusted = np.full(pvalues.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(pvalues))
    order = defined[np.argsort(pvalues[defined], kind="stable")]
    factors = n_more + np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order] * factors), 1.0)
    return adjusted
