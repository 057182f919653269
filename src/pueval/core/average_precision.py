"""Average precision along monotone rates, and its derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.core.measures import MEASURES, ZERO
from pueval.core.rates import Rates, monotone_rates, predicted_share, within_unit
from pueval.core.sizes import divide_or_zero

# Weight of the derivatives without the constraint that rates are monotone. Tuned for coverage
# by simulation (tests/coverage and benchmarks/groups_coverage.py). The bootstrap has a
# constant for the same purpose, tuned separately: `pueval.uncertainty.measure_intervals`,
# UNCONSTRAINED_VARIANCE.
UNCONSTRAINED_WEIGHT = 0.5


def average_precision(rates: Rates) -> Array:
    """Sum precision times gain of recall along monotone rates; one value per line.

    Each step uses the precision at its end. Without a correction this is scikit-learn's value.
    """
    monotone = monotone_rates(rates)
    terms = np.diff(monotone.tpr, axis=-1, prepend=0) * MEASURES["precision"](monotone)
    np.copyto(terms, 0, where=np.isnan(terms))
    area: Array = terms.sum(axis=-1)
    return area


def precision_or(rates: Rates, default: float) -> Array:
    """Return the precision, not clipped; ``default`` where nothing is predicted positive."""
    return np.where(rates.predicted > ZERO, MEASURES["precision"](rates), default)


def unconstrained_average_precision(rates: Rates) -> Array:
    """Return the average precision along rates that may fall or leave [0, 1].

    It leaves [0, 1] by at most 1: where hardly any row is predicted positive, it can be anything.
    """
    gains = np.diff(rates.tpr, axis=-1) * precision_or(rates, 0.0)[..., 1:]
    return np.asarray(np.clip(np.sum(gains, axis=-1), -1.0, 2.0))


def average_precision_slope(rates: Rates) -> float:
    """Return the derivative of the average precision with respect to the prevalence."""
    terms = AveragePrecisionTerms.of(rates, np.zeros(rates.tpr.size, dtype=np.intp))
    return float(np.sum(terms.prevalence_slopes()))


@dataclass(frozen=True, eq=False)
class AveragePrecisionTerms:
    """Terms of the average precision at each threshold, for many groups at once.

    Attributes
    ----------
    rates : Rates
        Rates before they become monotone; the thresholds of a group are adjacent.
    group : ndarray
        Group of each threshold, ascending.
    order : ndarray
        Thresholds of each group sorted by recall.
    envelope : ndarray
        For each threshold in this order, the threshold with the smallest false positive rate among
        it and all later ones.
    """

    rates: Rates
    group: Array
    order: Array
    envelope: Array

    @classmethod
    def of(cls, rates: Rates, group: Array) -> AveragePrecisionTerms:
        """Sort the thresholds of each group and find its lower envelope."""
        order = np.lexsort((np.clip(rates.tpr, 0, 1), group))
        by_fpr = np.lexsort((np.clip(rates.fpr, 0, 1)[order], group))
        rank = np.empty(order.size, dtype=np.intp)
        rank[by_fpr] = np.arange(order.size)
        # Later groups have higher ranks, so the smallest rank stays within the group.
        envelope = order[by_fpr[np.minimum.accumulate(rank[::-1])[::-1]]]
        return cls(rates, group, order, envelope)

    @cached_property
    def monotone(self) -> Rates:
        """Monotone rates, sorted by recall."""
        return self._monotone_at(self.rates)

    @cached_property
    def recall_gain(self) -> Array:
        """Gain of recall at each threshold, sorted by recall."""
        is_first = np.diff(self.group, prepend=-1) != 0
        return self.monotone.tpr - np.where(is_first, 0.0, np.roll(self.monotone.tpr, 1))

    @cached_property
    def precision(self) -> Array:
        """Precision at each threshold, sorted by recall."""
        return self.precision_of(self.rates)

    def precision_of(self, rates: Rates) -> Array:
        """Return the precision of other rates at the same thresholds, sorted by recall."""
        return np.nan_to_num(MEASURES["precision"](self._monotone_at(rates)))

    def prevalence_slopes(self) -> Array:
        """Return the derivative of each term with respect to the prevalence, sorted by recall.

        Precision is π·tpr / (π·tpr + (1 − π)·fpr). The derivative of its log-odds in π is
        1/(π(1 − π)), so that of precision is precision·(1 − precision)/(π(1 − π)).
        """
        class_variance = self.monotone.prevalence * (1 - self.monotone.prevalence)
        precision_variance = self.recall_gain * self.precision * (1 - self.precision)
        return divide_or_zero(precision_variance, class_variance)

    def rate_slopes(self) -> tuple[Array, Array]:
        """Return the derivatives of the area with respect to each tpr and each fpr.

        The recall of a threshold ends one step, begins the next, and enters the precision of its
        own step. A false positive rate enters the precision of every step for which it is the
        envelope, if it lies in [0, 1]. Whether a rate lies in [0, 1] or on the envelope is itself
        random, and treating it as fixed understates the variance. So `UNCONSTRAINED_WEIGHT` is the
        weight of derivatives for which every rate enters its own step.
        """
        monotone = self.monotone
        precision_slope = np.zeros(monotone.tpr.size)
        class_variance = np.asarray(monotone.prevalence * (1 - monotone.prevalence))
        is_defined = monotone.predicted > ZERO
        np.divide(class_variance, monotone.predicted**2, out=precision_slope, where=is_defined)
        is_last = np.diff(self.group, append=-1) != 0
        # After the last threshold of a group the curve ends, where precision is the prevalence.
        next_precision = np.where(is_last, monotone.prevalence, np.roll(self.precision, -1))
        by_tpr = self.precision - next_precision + self.recall_gain * precision_slope * monotone.fpr
        by_fpr = -self.recall_gain * precision_slope * monotone.tpr
        size = by_tpr.size
        return (
            np.bincount(self.order, by_tpr, size)
            * np.where(within_unit(self.rates.tpr), 1, UNCONSTRAINED_WEIGHT),
            UNCONSTRAINED_WEIGHT * np.bincount(self.order, by_fpr, size)
            + (1 - UNCONSTRAINED_WEIGHT)
            * np.bincount(self.envelope, by_fpr, size)
            * within_unit(self.rates.fpr),
        )

    def _monotone_at(self, rates: Rates) -> Rates:
        """Return other rates at the same thresholds, sorted and on the same envelope."""
        tpr, fpr = np.clip(rates.tpr, 0, 1)[self.order], np.clip(rates.fpr, 0, 1)[self.envelope]
        prevalence = np.broadcast_to(rates.prevalence, rates.tpr.shape)[self.order]
        predicted = predicted_share(tpr, fpr, prevalence)
        return Rates(np.empty(0), tpr, fpr, predicted, prevalence, rates.size)
