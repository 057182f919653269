"""Covariance of a measure of a family in a group with that of all rows, which contain the group.

The rows of the group are resampled, all others stay as they are, and both estimates are made anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pueval._typing import Array
from pueval.core.field_measures import FIELD_MEASURES
from pueval.core.mixture import Mixture
from pueval.core.presence_family import RatioMeasure, find_threshold_measure
from pueval.core.rates import Shares, correct_shares
from pueval.core.score_means import ScoreMeans, correct_means
from pueval.core.top_measure import TopMeasure
from pueval.evaluation.evaluation import Evaluation
from pueval.uncertainty.top_intervals import top_thresholds


def overlap_slope(name: str, group: Evaluation, overall: Evaluation) -> float:
    """Return how much the estimate of all rows moves with that of a group, on average.

    Times the variance of the group, it is the covariance of both: as a slope, it fits standard
    errors from other resamples.
    """
    own, of_all = (_Statistic(name, ev) for ev in (group, overall))
    resamples = group._resample(np.union1d(own.thresholds, of_all.thresholds))
    assert resamples is not None  # noqa: S101 - differences need a level
    draws = resamples.draws
    drawn, expected = draws.resampled, draws.expected
    sizes = zip(group.counts._samples, overall.counts._samples, strict=True)
    weight = [part.total / all_rows.total if all_rows.total else 0.0 for part, all_rows in sizes]
    at_all = Shares.of(overall.counts, overall.counts.at(draws.threshold))
    kinds = zip(at_all[:3], weight, drawn[:3], expected[:3], strict=True)
    labeled, unlabeled, negative = (
        share + part * (resampled - mean) for share, part, resampled, mean in kinds
    )
    shift = _overall_shift(drawn.prevalence_shift, group, overall)
    moved = Shares(labeled, unlabeled, negative, prevalence_shift=shift)
    values = [own(draws.threshold, drawn), of_all(draws.threshold, moved)]
    defined = np.isfinite(values).all(axis=0)
    if defined.sum() < 2:
        return math.nan
    covariance = np.cov(np.array(values)[:, defined])
    return float(covariance[0, 1] / covariance[0, 0]) if covariance[0, 0] > 0 else 0.0


def _overall_shift(shift: Array | None, group: Evaluation, overall: Evaluation) -> Array | None:
    """Return what the prevalence of a group does to that of all rows, in standard errors.

    The prevalence of all rows is the mean of the prevalences of the groups.
    """
    if shift is None:
        return None
    error, overall_error = (
        float(ev.mixture.prevalence_standard_error(ev.counts)) for ev in (group, overall)
    )
    return shift * (error * group.counts.n / overall.counts.n / overall_error)


class _Statistic:
    """A measure as a function of the shares of rows at or above thresholds."""

    def __init__(self, name: str, ev: Evaluation) -> None:
        self._ev = ev
        self._measure = FIELD_MEASURES.get(name)
        counts, target = ev.counts, ev.target
        self.thresholds = np.array([ev.threshold])
        if isinstance(self._measure, RatioMeasure):
            self.thresholds = self._measure.thresholds(counts, target)
        elif isinstance(self._measure, TopMeasure):
            rows = () if self._measure.rows is None else [self._measure.rows(ev._rates[0].n_rows)]
            self.thresholds = top_thresholds(counts, target, rows)
        elif self._measure is None:
            self._at_threshold = find_threshold_measure(name, counts, target)

    def __call__(self, threshold: Array, shares: Shares) -> Array:
        """Return a value for each line of shares at descending thresholds."""
        counts, target, mixture = self._ev.counts, self._ev.target, self._ev.mixture
        measure = self._measure
        if isinstance(measure, RatioMeasure):
            return measure(counts, target, shares.part(self._columns(threshold)))
        if measure is None:
            at = shares.part(self._columns(threshold))
            return self._of_rates(self._at_threshold, self.thresholds, at, mixture)
        if isinstance(measure, TopMeasure):
            return self._of_rates(measure, threshold, shares, mixture)
        means = ScoreMeans(counts, measure.functions, threshold).of_cells(shares)
        return np.ravel(measure(correct_means(counts, means, mixture, target)))

    def _columns(self, threshold: Array) -> list[int]:
        place = np.searchsorted(-threshold, -self.thresholds)
        return [int(k) for k in np.minimum(place, threshold.size - 1)]

    def _of_rates(
        self, measure: Callable[..., Array], threshold: Array, shares: Shares, mixture: Mixture
    ) -> Array:
        ev = self._ev
        return np.ravel(measure(correct_shares(ev.counts, threshold, shares, mixture, ev.target)))
