"""Legal rates: within [0, 1], and rising together.

Corrected rates are noisy. Where few rows are left, the false positive rate can be negative, or
fall where it should rise; with noisy labels recall can fall, too. What a ROC curve can have are
rates in [0, 1] whose false positive rate at some recall is the lowest of all thresholds that reach
this recall. This is algorithm 1 of Jain et al. (2017), which lifts recall to its maximum at or left
of a false positive rate, read along the other axis.
"""

from __future__ import annotations

import numpy as np

from pueval._typing import Array
from pueval.core.rates import Rates


def monotone_rates(rates: Rates) -> Rates:
    """Put thresholds in the order of recall, with the lowest rate of each and all that follow.

    Rates may have lines, one per resample; each is made legal for itself.
    """
    tpr, fpr, order = _legal(rates)
    if tpr is rates.tpr:
        return rates
    threshold = rates.threshold
    if order is not None:
        threshold = np.take_along_axis(np.broadcast_to(threshold, tpr.shape), order, axis=-1)
    predicted = rates.prevalence * tpr + (1 - rates.prevalence) * fpr
    return Rates(threshold, tpr, fpr, predicted, rates.prevalence, rates.size)


def monotone_rates_by_threshold(rates: Rates) -> tuple[Array, Array]:
    """Return legal recall and false positive rate, thresholds in the order they had."""
    tpr, fpr, order = _legal(rates)
    if order is None:
        return tpr, fpr
    back = np.argsort(order, axis=-1)
    return np.take_along_axis(tpr, back, axis=-1), np.take_along_axis(fpr, back, axis=-1)


def _legal(rates: Rates) -> tuple[Array, Array, Array | None]:
    """Return legal rates in the order of recall, and this order if it is another.

    Rates that are legal are returned as they are.
    """
    if all(_rises(rate) and _within_unit(rate) for rate in (rates.tpr, rates.fpr)):
        return rates.tpr, rates.fpr, None
    return lower_envelope(np.clip(rates.tpr, 0, 1), np.clip(rates.fpr, 0, 1))


def lower_envelope(tpr: Array, fpr: Array) -> tuple[Array, Array, Array | None]:
    """Give each recall the lowest false positive rate of all points that reach it.

    Returns both in the order of recall, and this order if it is another.
    """
    order = None
    if not _rises(tpr):
        order = np.argsort(tpr, axis=-1, kind="stable")
        tpr, fpr = (np.take_along_axis(column, order, axis=-1) for column in (tpr, fpr))
    if not _rises(fpr):
        fpr = np.minimum.accumulate(fpr[..., ::-1], axis=-1)[..., ::-1]
    return tpr, fpr, order


def _rises(rate: Array) -> bool:
    return not np.any(rate[..., 1:] < rate[..., :-1])


def _within_unit(rising: Array) -> bool:
    return bool(np.all(rising[..., 0] >= 0) and np.all(rising[..., -1] <= 1))
