"""Interval of the AUC if rows belong to clusters, of which there may be few.

It is centered at pairs of rows from different clusters. Few clusters have a skewed AUC, whose
standard error is the smaller the larger it is: for the naive AUC A of clusters that are alike,
nearly proportional to A(1 − A). On the scale of log(A/(1 − A)) the error is nearly constant. To
second order, an interval that is symmetric on this scale is one on the usual scale, of the same
width m on either side, that is moved toward 1/2 by m²(2A − 1)/(2A(1 − A)).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.core.cluster_table import ClusterTable
from pueval.counts.counts import Counts


class ClusteredAuc(NamedTuple):
    """What clusters do to the interval of the naive AUC, beside its standard error.

    ``excess`` is the part of the naive AUC that comes from pairs within clusters. ``row_share`` is
    the share of the rows in pairs, if each class has one pseudo-observation.
    """

    excess: float
    row_share: float

    @classmethod
    def of(cls, counts: Counts, table: ClusterTable) -> ClusteredAuc:
        """Return both for rows that are counted by cluster in the table.

        A pseudo-observation has the weight of one independent row.
        """
        share = 1.0
        for size in counts.effective_sizes:
            share *= size / (size + max(table.auc_effect, 0.0))
        return cls(table.auc_excess, share)


def clustered_auc_limits(
    center: Any, error: Any, contrast: Any, row_share: Any, critical_value: Any
) -> tuple[Array, Array]:
    """Return the limits of the corrected AUC, symmetric on the logit scale of the naive AUC.

    Pseudo-observations keep A(1 − A) above 0 for a perfect ranking. The interval contains the
    center.

    Parameters
    ----------
    center, error : float or ndarray
        Corrected AUC less its excess, not clipped, and its standard error.
    contrast : float or ndarray
        Share of positives among labeled rows minus that in the background.
    row_share : float or ndarray
        Share of the rows in pairs of rows and pseudo-observations.
    critical_value : float or ndarray
        Quantile of the t distribution.

    Returns
    -------
    low, high : ndarray

    Examples
    --------
    >>> low, high = clustered_auc_limits(0.9, 0.05, 1.0, 0.99, 1.96)
    >>> round(float(low), 3), round(float(high), 3)
    (0.761, 0.957)
    """
    naive = np.clip(0.5 + contrast * (np.asarray(center) - 0.5), 0.0, 1.0)
    inside = 0.5 + row_share * (naive - 0.5)
    margin = critical_value * contrast * error
    shift = margin**2 * (2 * naive - 1) / (2 * np.maximum(inside * (1 - inside), 1e-12))
    middle = naive - np.clip(shift, -margin, margin)
    low, high = (
        np.clip(0.5 + (end - 0.5) / contrast, 0.0, 1.0)
        for end in (middle - margin, middle + margin)
    )
    return low, high
