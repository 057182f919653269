"""Average precision along monotone rates, and how it changes with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.core.measures import MEASURES, ZERO
from pueval.core.monotone import monotone_rates
from pueval.core.rates import Rates

# Weight of the slopes that ignore the constraints on rates. Chosen by simulation of coverage
# (benchmarks/comparison.py and benchmarks/groups_coverage.py).
UNCONSTRAINED_WEIGHT = 0.5


def average_precision(rates: Rates) -> Array:
    """Sum of precision times gain of recall along legal rates; one number per line.

    A step counts with the precision at its end, as in scikit-learn, whose value it is where
    nothing is corrected.
    """
    monotone = monotone_rates(rates)
    pieces = np.diff(monotone.tpr, axis=-1, prepend=0) * MEASURES["precision"](monotone)
    np.copyto(pieces, 0, where=np.isnan(pieces))
    area: Array = pieces.sum(axis=-1)
    return area


def average_precision_slope(rates: Rates) -> float:
    """Return the slope of the average precision in the prevalence, along legal rates."""
    steps = AveragePrecisionTerms.of(rates, np.zeros(rates.tpr.size, dtype=np.intp))
    return float(np.sum(steps.prevalence_slopes()))


@dataclass(frozen=True, eq=False)
class AveragePrecisionTerms:
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

    rates: Rates
    group: Array
    order: Array
    envelope: Array

    @classmethod
    def of(cls, rates: Rates, group: Array) -> AveragePrecisionTerms:
        """Make rates legal in every group."""
        order = np.lexsort((np.clip(rates.tpr, 0, 1), group))
        by_fpr = np.lexsort((np.clip(rates.fpr, 0, 1)[order], group))
        rank = np.empty(order.size, dtype=np.intp)
        rank[by_fpr] = np.arange(order.size)
        # Later groups have higher ranks, so that the lowest rank stays within the group.
        envelope = order[by_fpr[np.minimum.accumulate(rank[::-1])[::-1]]]
        return cls(rates, group, order, envelope)

    @cached_property
    def monotone(self) -> Rates:
        """The legal rates, in the order of recall."""
        return self._monotone_at(self.rates)

    @cached_property
    def recall_gain(self) -> Array:
        """Gain of recall, in the order of recall; the area is the sum of gains × precisions."""
        opens = np.diff(self.group, prepend=-1) != 0
        return self.monotone.tpr - np.where(opens, 0.0, np.roll(self.monotone.tpr, 1))

    @cached_property
    def precision(self) -> Array:
        """Precision, in the order of recall."""
        return self.precision_of(self.rates)

    def precision_of(self, rates: Rates) -> Array:
        """Return the precision of other rates at the same thresholds, in the order of recall."""
        return np.nan_to_num(MEASURES["precision"](self._monotone_at(rates)))

    def prevalence_slopes(self) -> Array:
        """Return how each part of the area changes with the prevalence, in the order of recall.

        Precision is π·tpr / (π·tpr + (1 − π)·fpr). Its slope in π is that of its log-odds,
        1/(π(1 − π)), times precision·(1 − precision).
        """
        spread = np.asarray(self.monotone.prevalence * (1 - self.monotone.prevalence))
        parts: Array = np.zeros(self.recall_gain.shape)
        uneven = self.recall_gain * self.precision * (1 - self.precision)
        np.divide(uneven, spread, out=parts, where=spread > 0)
        return parts

    def rate_slopes(self) -> tuple[Array, Array]:
        """Return how the area changes with recall and with the false positive rate of each.

        Recall of a threshold ends one step, begins the next, and is part of the precision of its
        own; a false positive rate is part of the precision wherever it is the lowest, if it is
        not outside [0, 1]. But rates that are, or are not the lowest, are so by chance, and to
        hold them there makes light of chance; so a share, `UNCONSTRAINED_WEIGHT`, is taken from
        slopes for which every rate counts where it is.
        """
        monotone = self.monotone
        bend = np.zeros(monotone.tpr.size)
        spread = np.asarray(monotone.prevalence * (1 - monotone.prevalence))
        np.divide(spread, monotone.predicted**2, out=bend, where=monotone.predicted > ZERO)
        closes = np.diff(self.group, append=-1) != 0
        # After the last of a group comes the end of the curve, whose precision is the prevalence.
        following = np.where(closes, monotone.prevalence, np.roll(self.precision, -1))
        by_tpr = self.precision - following + self.recall_gain * bend * monotone.fpr
        by_fpr = -self.recall_gain * bend * monotone.tpr
        size = by_tpr.size
        return (
            np.bincount(self.order, by_tpr, size)
            * np.where(_inside(self.rates.tpr), 1, UNCONSTRAINED_WEIGHT),
            UNCONSTRAINED_WEIGHT * np.bincount(self.order, by_fpr, size)
            + (1 - UNCONSTRAINED_WEIGHT)
            * np.bincount(self.envelope, by_fpr, size)
            * _inside(self.rates.fpr),
        )

    def _monotone_at(self, rates: Rates) -> Rates:
        """Put recall together with the lowest false positive rate, which is of some threshold."""
        tpr, fpr = np.clip(rates.tpr, 0, 1)[self.order], np.clip(rates.fpr, 0, 1)[self.envelope]
        prevalence = np.broadcast_to(rates.prevalence, rates.tpr.shape)[self.order]
        predicted = prevalence * tpr + (1 - prevalence) * fpr
        return Rates(np.empty(0), tpr, fpr, predicted, prevalence, rates.size)


def _inside(rate: Array) -> Array:
    return (rate >= 0) & (rate <= 1)
