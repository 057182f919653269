"""Bounds of measures for labels that are not a random sample of the positives.

A labeling bias of Λ means that the probabilities of being labeled of any two positives differ by at
most a factor Λ; 1 is random labeling. `pueval.sensitivity.positive_shares` says which distributions
of the positives are then possible. The bounds are the extreme values of a measure over these
distributions. Where none is possible, because the rows contradict so small a bias, only the
estimate for random labeling remains; `BiasedLabeling.smallest_bias` says which bias is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import AREAS, MEASURES, Measure, clip, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_steps
from pueval.core.tilted_rates import (
    LabelingTilt,
    rates_from_recall,
    reference_prior,
    reference_share,
    tilted_rates,
)
from pueval.counts.counts import Counts
from pueval.errors import InputError, UnknownMeasureError
from pueval.samples.steps import Steps, find_cells
from pueval.sensitivity.grid import SCORES
from pueval.sensitivity.positive_shares import Limits, PositiveShares, smallest_bias

# A larger labeling bias amounts to no assumption at all.
LARGEST_BIAS = 1e6


def check_bias(bias: float) -> float:
    """Return a labeling bias as a float, or raise."""
    if not (isinstance(bias, int | float | np.number) and 1 <= bias < math.inf):
        raise InputError(
            f"bias must be a number of at least 1; got {bias!r}. "
            "1 means that all positives were equally likely to be labeled."
        )
    return float(bias)


class Bound(NamedTuple):
    """An end of the range of a measure, and the distribution of the positives that attains it.

    ``tilt`` is None for random labeling.
    """

    value: float
    tilt: LabelingTilt | None


@dataclass(frozen=True, eq=False)
class BiasedLabeling:
    """The data and assumptions that bounds for a labeling bias depend on.

    Attributes
    ----------
    counts : Counts
        The data.
    mixture : Mixture
        Prior and purity.
    target : {"population", "unlabeled"}
        Population to evaluate.
    threshold : float
        Threshold of the measures at a threshold.
    limits : {"observed", "confidence"}
        How the rows of a cell limit its positives: see `PositiveShares.of`.
    """

    counts: Counts
    mixture: Mixture
    target: Target
    threshold: float
    limits: Limits = "observed"
    _estimates: dict[str, float] = field(default_factory=dict, init=False)
    _extremes: dict[tuple[str, float, bool], LabelingTilt | None] = field(
        default_factory=dict, init=False
    )

    def bounds(self, name: str, bias: float) -> tuple[Bound, Bound]:
        """Bound a measure, clipped to its range; NaN if it is undefined for random labeling.

        Parameters
        ----------
        name : str
            ``"roc_auc"``, ``"average_precision"`` or a measure at the threshold.
        bias : float
            Labeling bias Λ.

        Returns
        -------
        tuple of Bound
            The lower and the upper bound.
        """
        ends = [self._bound(name, bias, largest=largest) for largest in (False, True)]
        return min(ends, key=lambda end: end.value), max(ends, key=lambda end: end.value)

    def bound(self, name: str, bias: float, *, upper: bool) -> float:
        """Return one of the two bounds; areas take half the time of both."""
        if name in AREAS:
            return self._bound(name, bias, largest=upper).value
        return self.bounds(name, bias)[upper].value

    def _bound(self, name: str, bias: float, *, largest: bool) -> Bound:
        """Return the bound where the area, or the recall at the threshold, is extreme."""
        measure = None if name in AREAS else _find_measure(name)
        low, high = (0.0, 1.0) if measure is None else (measure.low, measure.high)
        estimate = clip(self.estimate(name), low, high)
        if math.isnan(estimate):
            return Bound(estimate, None)
        tilt = self._extreme_tilt(name if measure is None else "recall", bias, largest=largest)
        if tilt is None:
            return Bound(estimate, None)
        end = self.value(name, tilt)
        # A measure is undefined at an end only if it is a ratio that tends to infinity.
        return Bound(high if math.isnan(end) else clip(end, low, high), tilt)

    def estimate(self, name: str) -> float:
        """Return a measure for random labeling; not clipped."""
        if name not in self._estimates:
            self._estimates[name] = self._estimate(name)
        return self._estimates[name]

    def _estimate(self, name: str) -> float:
        if name == "roc_auc":
            return direct_auc(self.counts, self._naive_auc, self.mixture)
        if name == "average_precision":
            rates = correct_steps(self.counts, self._corners, self.mixture, self.target)
            return float(average_precision(rates))
        steps = self.counts.at(self.threshold)
        rates = correct_steps(self.counts, steps, self.mixture, self.target)
        return float(_find_measure(name)(rates)[0])

    def value(self, name: str, tilt: LabelingTilt) -> float:
        """Return a measure for a distribution of the positives; not clipped."""
        if name == "roc_auc":
            return self._auc(tilt)
        if name == "average_precision":
            return self._average_precision(self.counts, self._corners, tilt)
        steps, tpr = self.counts.at(self.threshold), np.array([self._recall(tilt)])
        shares = Shares.of(self.counts, steps)
        rates = rates_from_recall(
            self.counts, steps.threshold, tpr, shares, self.mixture, self.target
        )
        return float(_find_measure(name)(rates)[0])

    def smallest_bias(self) -> float:
        """Return the smallest bias that the rows allow; inf if they allow none."""
        return smallest_bias(self._shares, LARGEST_BIAS)

    def _extreme_tilt(self, name: str, bias: float, *, largest: bool) -> LabelingTilt | None:
        """Return the distribution with the smallest or the largest value; None if impossible."""
        key = (name, bias, largest)
        if key not in self._extremes:
            shares, value = self._shares, self._auc
            if name == "recall":
                shares, value = self._split_shares, self._recall
            elif name == "average_precision":
                thinned = self.counts._thinned(SCORES)
                value = partial(self._average_precision, thinned, thinned._roc_corners())
            self._extremes[key] = shares.extreme(value, bias, largest=largest)
        return self._extremes[key]

    # ------------------------------------------------------------------ values of a distribution

    @cached_property
    def _shares(self) -> PositiveShares:
        return PositiveShares.of(self.counts, self.mixture, self.target, limits=self.limits)

    @cached_property
    def _split_shares(self) -> PositiveShares:
        return PositiveShares.of(
            self.counts, self.mixture, self.target, self.threshold, self.limits
        )

    def _recall(self, tilt: LabelingTilt) -> float:
        """Return the share of the positives at or above the threshold."""
        above = self._split_shares.lower >= self.threshold
        return float(np.sum((tilt.factor * self._split_shares.net)[above]))

    @cached_property
    def _corners(self) -> Steps:
        return self.counts._roc_corners()

    @cached_property
    def _naive_auc(self) -> float:
        return naive_auc(self.counts, self._corners)

    @cached_property
    def _placements(self) -> Array:
        """Placements of the labeled rows of each group, net of wrong labels, summed.

        The placement of a row is the share of the reference rows that it outscores; ties count
        half.
        """
        counts, shares = self.counts, self._shares
        score, cumulative = counts._cumulative_labeled
        rows = np.diff(cumulative, prepend=0)
        above, at_or_above = counts._cumulative_background(score)
        size = counts.n_unlabeled + counts.n_negative
        if self.target == "population":
            above, at_or_above = above + cumulative - rows, at_or_above + cumulative
            size = counts.n
        placement = 1 - (above + at_or_above) / (2 * size)
        group = find_cells(shares.lower, score)
        sums = np.bincount(group, rows * placement, shares.lower.size) / counts.n_labeled
        if shares.wrong_labels:
            steps = counts.at(shares.lower)
            share = reference_share(counts, Shares.of(counts, steps), self.target)
            share = np.append(share[:-1], 1.0)
            gain = np.diff(share, prepend=0)
            sums -= shares.wrong_labels * gain * (1 - share + gain / 2)
        return sums

    def _auc(self, tilt: LabelingTilt) -> float:
        """Return the AUC; v = prior/2 + (1 − prior)·AUC is the mean placement of the positives."""
        prior = float(reference_prior(self.counts, self.mixture, self.target))
        placement = float(np.sum(tilt.factor * self._placements))
        return (placement - prior / 2) / (1 - prior)

    def _average_precision(self, counts: Counts, corners: Steps, tilt: LabelingTilt) -> float:
        rates = tilted_rates(
            counts,
            corners.threshold,
            Shares.of(counts, corners),
            self.mixture,
            self.target,
            tilt.at(corners.threshold),
        )
        return float(average_precision(rates))


def _find_measure(name: str) -> Measure:
    try:
        return find_measure(name)
    except UnknownMeasureError:
        raise unknown_measure_error(name, [*AREAS, *MEASURES]) from None
