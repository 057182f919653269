"""Legal rates: within [0, 1], and rising together.

Corrected rates are noisy. Where few rows are left, the false positive rate can be negative, or
fall where it should rise; with noisy labels recall can fall, too. What a ROC curve can have are
rates in [0, 1] whose false positive rate at some recall is the lowest of all thresholds that reach
this recall. This is algorithm 1 of Jain et al. (2017), which lifts recall to its maximum at or left
of a false positive rate, read along the other axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.core.measures import MEASURES, ZERO
from pueval.core.rates import Rates

# How much of a slope is that of rates which may be illegal; by simulation of coverage
# (benchmarks/comparison.py and benchmarks/groups_coverage.py).
FREE_SLOPES = 0.5


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


def lowest_rates(rates: Rates) -> tuple[Array, Array]:
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
    return rising_together(np.clip(rates.tpr, 0, 1), np.clip(rates.fpr, 0, 1))


def rising_together(tpr: Array, fpr: Array) -> tuple[Array, Array, Array | None]:
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


def average_precision(rates: Rates) -> Array:
    """Sum of precision times gain of recall along legal rates; one number per line.

    A step counts with the precision at its end, as in scikit-learn, whose value it is where
    nothing is corrected.
    """
    legal = monotone_rates(rates)
    pieces = np.diff(legal.tpr, axis=-1, prepend=0) * MEASURES["precision"](legal)
    np.copyto(pieces, 0, where=np.isnan(pieces))
    area: Array = pieces.sum(axis=-1)
    return area


def average_precision_slope(rates: Rates) -> float:
    """Return the slope of the average precision in the prevalence, along legal rates."""
    steps = MonotoneSteps.of(rates, np.zeros(rates.tpr.size, dtype=np.intp))
    return float(np.sum(steps.by_prevalence()))


@dataclass(frozen=True, eq=False)
class MonotoneSteps:
    """How the average precision of many groups at once is made of single thresholds.

    Attributes
    ----------
    free : Rates
        As they are, legal or not; thresholds of a group are next to each other.
    group : ndarray
        Of each threshold, ascending.
    order : ndarray
        The thresholds of each group in the order of recall.
    lowest : ndarray
        In this order: which threshold has the lowest false positive rate of each and all that
        follow.
    """

    free: Rates
    group: Array
    order: Array
    lowest: Array

    @classmethod
    def of(cls, rates: Rates, group: Array) -> MonotoneSteps:
        """Make rates legal in every group."""
        order = np.lexsort((np.clip(rates.tpr, 0, 1), group))
        by_fpr = np.lexsort((np.clip(rates.fpr, 0, 1)[order], group))
        rank = np.empty(order.size, dtype=np.intp)
        rank[by_fpr] = np.arange(order.size)
        # Later groups have higher ranks, so that the lowest rank stays within the group.
        lowest = order[by_fpr[np.minimum.accumulate(rank[::-1])[::-1]]]
        return cls(rates, group, order, lowest)

    @cached_property
    def legal(self) -> Rates:
        """The legal rates, in the order of recall."""
        return self._taken(self.free)

    @cached_property
    def gain(self) -> Array:
        """Gain of recall, in the order of recall; the area is the sum of gains × precisions."""
        opens = np.diff(self.group, prepend=-1) != 0
        return self.legal.tpr - np.where(opens, 0.0, np.roll(self.legal.tpr, 1))

    @cached_property
    def precision(self) -> Array:
        """Precision, in the order of recall."""
        return self.precision_of(self.free)

    def precision_of(self, rates: Rates) -> Array:
        """Return the precision of other rates at the same thresholds, in the order of recall."""
        return np.nan_to_num(MEASURES["precision"](self._taken(rates)))

    def by_prevalence(self) -> Array:
        """Return how each part of the area changes with the prevalence, in the order of recall.

        Precision is π·tpr / (π·tpr + (1 − π)·fpr). Its slope in π is that of its log-odds,
        1/(π(1 − π)), times precision·(1 − precision).
        """
        spread = np.asarray(self.legal.prevalence * (1 - self.legal.prevalence))
        parts: Array = np.zeros(self.gain.shape)
        uneven = self.gain * self.precision * (1 - self.precision)
        np.divide(uneven, spread, out=parts, where=spread > 0)
        return parts

    def slopes(self) -> tuple[Array, Array]:
        """Return how the area changes with recall and with the false positive rate of each.

        Recall of a threshold ends one step, begins the next, and is part of the precision of its
        own; a false positive rate is part of the precision wherever it is the lowest, if it is
        not outside [0, 1]. But rates that are, or are not the lowest, are so by chance, and to
        hold them there makes light of chance; so a share, `FREE_SLOPES`, is taken from slopes for
        which every rate counts where it is.
        """
        legal = self.legal
        bend = np.zeros(legal.tpr.size)
        spread = np.asarray(legal.prevalence * (1 - legal.prevalence))
        np.divide(spread, legal.predicted**2, out=bend, where=legal.predicted > ZERO)
        closes = np.diff(self.group, append=-1) != 0
        # After the last of a group comes the end of the curve, whose precision is the prevalence.
        following = np.where(closes, legal.prevalence, np.roll(self.precision, -1))
        by_tpr = self.precision - following + self.gain * bend * legal.fpr
        by_fpr = -self.gain * bend * legal.tpr
        size = by_tpr.size
        return (
            np.bincount(self.order, by_tpr, size)
            * np.where(_inside(self.free.tpr), 1, FREE_SLOPES),
            FREE_SLOPES * np.bincount(self.order, by_fpr, size)
            + (1 - FREE_SLOPES) * np.bincount(self.lowest, by_fpr, size) * _inside(self.free.fpr),
        )

    def _taken(self, rates: Rates) -> Rates:
        """Put recall together with the lowest false positive rate, which is of some threshold."""
        tpr, fpr = np.clip(rates.tpr, 0, 1)[self.order], np.clip(rates.fpr, 0, 1)[self.lowest]
        prevalence = np.broadcast_to(rates.prevalence, rates.tpr.shape)[self.order]
        predicted = prevalence * tpr + (1 - prevalence) * fpr
        return Rates(np.empty(0), tpr, fpr, predicted, prevalence, rates.size)


def _inside(rate: Array) -> Array:
    return (rate >= 0) & (rate <= 1)
