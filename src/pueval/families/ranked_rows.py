"""Rows in the order of their scores, from which measures of the top are computed exactly."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pueval._typing import Array, Target
from pueval.core.curves import correct_roc_from_corners
from pueval.core.mixture import NAIVE, Mixture
from pueval.core.rates import Rates, correct_steps, naive_rates, predicted_share
from pueval.counts.counts import Counts
from pueval.families.roc_measures import fpr_noise
from pueval.families.top_measure import TopMeasure
from pueval.samples.steps import Steps


def single_kind_runs(counts: Counts, corners: Steps) -> Steps:
    """Add a step above every labeled score, so that each kind is spread evenly in every step.

    Between two of these steps all rows are tied, or none are labeled, or only labeled ones are.
    """
    rises = np.diff(corners.labeled, prepend=0) > 0
    rising = np.flatnonzero(rises)
    if counts._audit is not None:
        # Corners do not note ties then: positives and negatives of one score are spread evenly.
        return counts._split_ties(corners, rising)
    score = corners.threshold[rising].astype(np.float64)
    tied_unlabeled, tied_negative = counts._tied_background(corners)
    places = np.arange(rises.size) + np.cumsum(rises)
    new_places, before = places[rising] - 1, rising - 1

    def insert(column: Array, new: Array) -> Array:
        longer = np.empty(rises.size + rising.size, dtype=column.dtype)
        longer[places], longer[new_places] = column, new
        return longer

    positives = corners.represented_positives
    return Steps(
        insert(corners.threshold.astype(np.float64), np.nextafter(score, np.inf)),
        insert(corners.labeled, corners.labeled[before]),
        insert(corners.unlabeled, (corners.unlabeled - tied_unlabeled)[rising]),
        insert(corners.negative, (corners.negative - tied_negative)[rising]),
        insert(corners.tied, np.zeros(rising.size, dtype=bool)),
        None if positives is None else insert(positives, positives[before]),
    )


def _audited_cells(corners: Steps) -> Steps:
    """Return the steps between which the positives that an audit estimates are spread evenly."""
    assert corners.represented_positives is not None  # noqa: S101 - for the type checker
    kept = np.diff(corners.represented_positives, prepend=-1) > 0
    kept[-1] = True
    return corners.part(kept)


def roc_rates(counts: Counts, corners: Steps, mixture: Mixture, target: Target) -> Rates:
    """Return the rates at the points of the corrected ROC curve."""
    curve = correct_roc_from_corners(counts, corners, mixture, target)
    prevalence = mixture.prevalence(counts, target)
    predicted = predicted_share(curve.tpr, curve.fpr, prevalence)
    size, row_weight = counts._target_size(target), counts._row_weight(target)
    return Rates(curve.threshold, curve.tpr, curve.fpr, predicted, prevalence, size, row_weight)


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows in the order of their scores, from which measures of the top are computed exactly."""

    counts: Counts
    corners: Steps
    target: Target
    _latest: dict[bool, tuple[Mixture, Rates]] = field(default_factory=dict)

    @cached_property
    def runs(self) -> Steps:
        """Steps in which each kind of rows is spread evenly."""
        return single_kind_runs(self.counts, self.corners)

    @cached_property
    def cells(self) -> Steps:
        """Steps in which the positives are spread evenly."""
        return self.runs if self.counts._audit is None else _audited_cells(self.corners)

    def value(self, measure: TopMeasure, mixture: Mixture) -> float:
        """Return a measure, not clipped."""
        return float(measure(self.rates(mixture, along_roc=measure.along_roc)))

    def naive(self, measure: TopMeasure) -> float:
        """Return a measure with unlabeled rows counted as negatives."""
        return float(measure(self._naive_roc_rates if measure.along_roc else self._naive_rates))

    def rates(self, mixture: Mixture, *, along_roc: bool = False) -> Rates:
        """Return the corrected rates at all runs, or at the points of the ROC curve.

        Those for the last mixture are kept: many measures need them.
        """
        latest = self._latest.get(along_roc)
        if latest is not None and latest[0] == mixture:
            return latest[1]
        if along_roc:
            rates = roc_rates(self.counts, self.corners, mixture, self.target)
        else:
            rates = correct_steps(self.counts, self.cells, mixture, self.target)
            rates = replace(rates, fpr_noise=fpr_noise(self.counts, mixture))
        self._latest[along_roc] = mixture, rates
        return rates

    @cached_property
    def _naive_rates(self) -> Rates:
        naive = naive_rates(self.counts, self.runs)
        if False in self._latest:
            # With clean labels, the positives have the same ranks: only their number differs.
            naive.share_rank_sums(self._latest[False][1])
        return naive

    @cached_property
    def _naive_roc_rates(self) -> Rates:
        return roc_rates(self.counts, self.corners, NAIVE, "population")
