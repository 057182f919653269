"""Monotone rates: true and false positive rates in [0, 1] that increase together.

Corrected rates are noisy. Where few rows remain, the false positive rate can be negative or fall as
the threshold is lowered; with noisy labels recall can fall, too. A ROC curve needs rates in [0, 1],
and at each recall the smallest false positive rate of all thresholds that reach this recall. This
is algorithm 1 of Jain et al. (2017) read along the other axis: the paper raises recall to its
maximum at or left of each false positive rate.
"""

from __future__ import annotations

import numpy as np

from pueval._typing import Array
from pueval.core.rates import Rates


def monotone_rates(rates: Rates) -> Rates:
    """Return monotone rates, sorted by recall.

    Rates may have one line per resample; each line becomes monotone separately.
    """
    tpr, fpr, order = _monotone(rates)
    if tpr is rates.tpr:
        return rates
    threshold = rates.threshold
    if order is not None:
        threshold = np.take_along_axis(np.broadcast_to(threshold, tpr.shape), order, axis=-1)
    predicted = rates.prevalence * tpr + (1 - rates.prevalence) * fpr
    return Rates(threshold, tpr, fpr, predicted, rates.prevalence, rates.size)


def monotone_rates_by_threshold(rates: Rates) -> tuple[Array, Array]:
    """Return monotone true and false positive rates in the order of the thresholds."""
    tpr, fpr, order = _monotone(rates)
    if order is None:
        return tpr, fpr
    inverse = np.argsort(order, axis=-1)
    return np.take_along_axis(tpr, inverse, axis=-1), np.take_along_axis(fpr, inverse, axis=-1)


def _monotone(rates: Rates) -> tuple[Array, Array, Array | None]:
    """Return monotone rates sorted by recall, and the sorting order if it changed.

    Rates that are monotone already are returned as they are.
    """
    if all(_is_sorted(rate) and _is_within_unit(rate) for rate in (rates.tpr, rates.fpr)):
        return rates.tpr, rates.fpr, None
    return lower_envelope(np.clip(rates.tpr, 0, 1), np.clip(rates.fpr, 0, 1))


def lower_envelope(tpr: Array, fpr: Array) -> tuple[Array, Array, Array | None]:
    """Give each recall the smallest false positive rate of all points that reach it.

    Returns both rates sorted by recall, and the sorting order if it changed.
    """
    order = None
    if not _is_sorted(tpr):
        order = np.argsort(tpr, axis=-1, kind="stable")
        tpr, fpr = (np.take_along_axis(column, order, axis=-1) for column in (tpr, fpr))
    if not _is_sorted(fpr):
        fpr = np.minimum.accumulate(fpr[..., ::-1], axis=-1)[..., ::-1]
    return tpr, fpr, order


def _is_sorted(rate: Array) -> bool:
    return not np.any(rate[..., 1:] < rate[..., :-1])


def _is_within_unit(ascending: Array) -> bool:
    return bool(np.all(ascending[..., 0] >= 0) and np.all(ascending[..., -1] <= 1))
