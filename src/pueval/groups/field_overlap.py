"""Covariance of a measure of a family in a group with that of all rows, which contain the group.

The rows of the group are resampled, all others stay as they are, and both estimates are made anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_shares
from pueval.evaluation.evaluation import Evaluation
from pueval.families.calibration_measures import CalibrationMeasure, error_bins
from pueval.families.field_measures import find_field_measure
from pueval.families.presence_family import BoyceMeasure, find_threshold_measure
from pueval.families.score_means import ScoreMeans, correct_means
from pueval.families.top_measure import TopMeasure
from pueval.samples.steps import find_cells
from pueval.uncertainty.top_intervals import top_thresholds


def overlap_covariance(
    name: str, group: Evaluation, overall: Evaluation, error: float, overall_error: float
) -> float:
    """Return the covariance of the estimates of a group and of all rows.

    The standard errors of both come from other resamples. So the resamples here say how much the
    rows of the group move the difference of both estimates, and that of all rows, relative to the
    group's own. The other rows move it at least as much as they would if all rows were alike: of a
    group with nearly all rows, the rest is the difference of two noisy numbers.
    """
    of_difference, of_all_rows = _relative_variances(name, group, overall)
    if not error > 0:
        return 0.0 if error == 0 else math.nan
    sizes = (ev.counts._labeled.effective_size for ev in (overall, group))
    all_labeled, labeled = sizes
    least = max(1 - labeled / all_labeled, 0.0) * overall_error**2
    of_others = max(overall_error**2 - of_all_rows * error**2, least)
    difference = of_difference * error**2 + of_others
    return (overall_error**2 + error**2 - difference) / 2


def _relative_variances(name: str, group: Evaluation, overall: Evaluation) -> tuple[float, float]:
    """Return the variances that the rows of a group cause, divided by that of its estimate.

    Those of the difference of the group from all rows, and of all rows.
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
        return math.nan, math.nan
    own_value, all_value = (np.ravel(value)[defined] for value in values)
    variance = float(np.var(own_value))
    if not variance > 0:
        return 0.0, 0.0
    return float(np.var(own_value - all_value)) / variance, float(np.var(all_value)) / variance


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
        self._measure = find_field_measure(name)
        counts, target = ev.counts, ev.target
        self.thresholds = np.array([ev.threshold])
        if isinstance(self._measure, BoyceMeasure):
            self.thresholds = self._measure.thresholds(counts, target)
        elif isinstance(self._measure, TopMeasure):
            rows = () if self._measure.rows is None else [self._measure.rows(ev._rates[0].n_rows)]
            self.thresholds = top_thresholds(counts, target, rows)
        elif isinstance(self._measure, CalibrationMeasure):
            self.thresholds = error_bins(counts, ev.mixture, target).threshold[:-1]
        elif self._measure is None:
            self._at_threshold = find_threshold_measure(name, counts, target)

    def __call__(self, threshold: Array, shares: Shares) -> Array:
        """Return a value for each line of shares at descending thresholds."""
        counts, target, mixture = self._ev.counts, self._ev.target, self._ev.mixture
        measure = self._measure
        if isinstance(measure, BoyceMeasure):
            return measure(counts, target, shares.part(find_cells(threshold, self.thresholds)))
        if measure is None:
            at = shares.part(find_cells(threshold, self.thresholds))
            return self._of_rates(self._at_threshold, self.thresholds, at, mixture)
        if isinstance(measure, TopMeasure):
            return self._of_rates(measure, threshold, shares, mixture)
        if isinstance(measure, CalibrationMeasure):
            return np.ravel(measure.of_lines(counts, threshold, shares, mixture, target))
        means = ScoreMeans(counts, measure.functions, threshold).of_cells(shares)
        return np.ravel(measure(correct_means(counts, means, mixture, target)))

    def _of_rates(
        self, measure: Callable[..., Array], threshold: Array, shares: Shares, mixture: Mixture
    ) -> Array:
        ev = self._ev
        return np.ravel(measure(correct_shares(ev.counts, threshold, shares, mixture, ev.target)))
