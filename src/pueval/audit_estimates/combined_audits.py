"""Weights of rows that were checked in one of several audits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pueval._typing import Array


def combined_weights(audits: Sequence[tuple[Array, Array]], labeled: Array) -> Array:
    """Return one weight for each row that was checked in any of several independent audits.

    Audit a chose row i with the probability q_ai, so its rows with the weights 1/q_ai estimate
    shares of positives (Hájek); so does every mean of the audits' estimates. Each audit counts in
    proportion to its effective number of rows n_a (Kish), and a row in several audits gets the sum:

    w_i ∝ Σ_a n_a / q_ai / Σ_j 1/q_aj

    Simple random samples get the weights of one sample of all their rows. If only some rows of a
    list in random order were checked, their probabilities are too large by one factor, which
    cancels. Labeled and unlabeled rows are estimated apart, so each have their own n_a.

    Parameters
    ----------
    audits : sequence of (index, probability)
        The rows of each audit, as indices into ``labeled``, and their probabilities.
    labeled : ndarray of bool
        Whether each row is labeled.

    Returns
    -------
    ndarray
        Of a single audit, 1/probability.

    References
    ----------
    Skinner and Rao (1996). Estimation in dual frame surveys with complex designs. Journal of the
    American Statistical Association 91.

    Examples
    --------
    >>> first, second = np.arange(3), np.arange(3, 4)
    >>> audits = [(first, np.full(3, 0.03)), (second, np.full(1, 0.01))]
    >>> combined_weights(audits, np.zeros(4, bool)).round(6)
    array([25., 25., 25., 25.])
    """
    weight = np.zeros(labeled.size)
    for kind in (False, True):
        parts = [
            (index[labeled[index] == kind], 1 / probability[labeled[index] == kind])
            for index, probability in audits
        ]
        parts = [(index, inverse) for index, inverse in parts if index.size]
        totals = np.array([inverse.sum() for _, inverse in parts])
        size = np.array([inverse.sum() ** 2 / np.sum(inverse**2) for _, inverse in parts])
        share = size / size.sum()
        for (index, inverse), part in zip(parts, share / totals, strict=True):
            weight[index] += np.sum(share * totals) * part * inverse
    return weight
