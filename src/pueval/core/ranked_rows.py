"""Rows in the order of their scores, from which measures of the top are computed exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pueval._typing import Target
from pueval.core.curves import correct_roc_from_corners
from pueval.core.mixture import NAIVE, Mixture
from pueval.core.rates import Rates, correct_steps, naive_rates
from pueval.core.top_measure import TopMeasure
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps


def single_kind_runs(counts: Counts, corners: Steps) -> Steps:
    """Add a step above every labeled score, so that each kind is spread evenly in every step.

    Between two of these steps all rows are tied, or none are labeled, or only labeled ones are.
    """
    return counts._split_ties(corners, np.flatnonzero(np.diff(corners.labeled)) + 1)


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
    predicted = prevalence * curve.tpr + (1 - prevalence) * curve.fpr
    size = counts.n if target == "population" else counts.n_unlabeled
    return Rates(curve.threshold, curve.tpr, curve.fpr, predicted, prevalence, size)


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows in the order of their scores, from which measures of the top are computed exactly."""

    counts: Counts
    corners: Steps
    target: Target
    _latest: dict[tuple[Mixture, bool], Rates] = field(default_factory=dict)

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
        key = mixture, along_roc
        if key not in self._latest:
            if along_roc:
                rates = roc_rates(self.counts, self.corners, mixture, self.target)
            else:
                rates = correct_steps(self.counts, self.cells, mixture, self.target)
            self._latest.clear()
            self._latest[key] = rates
            return rates
        return self._latest[key]

    @cached_property
    def _naive_rates(self) -> Rates:
        return naive_rates(self.counts, self.runs)

    @cached_property
    def _naive_roc_rates(self) -> Rates:
        return roc_rates(self.counts, self.corners, NAIVE, "population")
