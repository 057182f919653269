"""Presence-only measures by name: what scorers, comparisons and groups compute them from.

Boyce indices are numbers of the ratio P/E at fixed scores (`BoyceMeasure`), minimal predicted area
and AUC ratio are numbers of the curve of recall by predicted area (`PresenceCurve`), and F_pb is a
measure at a threshold, which depends on the number of presences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from pueval._typing import Array, Target
from pueval.core.measures import Measure, clip, find_measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, Shares, correct_steps
from pueval.counts.counts import Counts
from pueval.families.presence_measures import (
    boyce_correlations,
    expected_ratio,
    f_pb_measure,
    interpolated_area,
    minimal_area,
    partial_area_ratio,
    presence_and_target_shares,
    presence_steps,
    presence_windows,
    window_shares,
)
from pueval.families.smoothed_ratio import presence_bins, smoothed_correlation, smoothed_log_ratio
from pueval.families.top_measure import TopMeasure
from pueval.samples.steps import Steps

# Defaults: share of the presences in the minimal predicted area, largest omission of the AUC ratio,
# and number of windows of the Boyce index.
AREA_SHARE = 0.9
OMISSION = 0.05
N_WINDOWS = 100
F_PB = "f_pb"


@dataclass(frozen=True)
class BoyceMeasure:
    """A Boyce index: a correlation of the ratio P/E with the score; it needs no prior or purity.

    Attributes
    ----------
    name, title : str
        Established name, and the name to show.
    thresholds : callable
        From `Counts` and target to the scores at which rows are counted.
    formula : callable
        From `Counts`, target, and the shares of the presences and of the target at or above these
        scores to the measure, one value per line.
    low, high : float
        Range of the true value.
    greater_is_better : bool
        Whether a higher value is better.
    """

    name: str
    title: str
    thresholds: Callable[[Counts, Target], Array]
    formula: Callable[[Counts, Target, Array, Array], Array]
    low: float = -1.0
    high: float = 1.0
    greater_is_better: bool = True

    def __call__(self, counts: Counts, target: Target, shares: Shares) -> Array:
        """Compute the measure of each line of shares at or above the thresholds."""
        return self.formula(counts, target, *presence_and_target_shares(counts, shares, target))

    def value(self, counts: Counts, target: Target) -> float:
        """Return the measure of the data."""
        steps = counts.at(self.thresholds(counts, target))
        return float(self(counts, target, Shares.of(counts, steps))[0])

    def clip(self, value: float) -> float:
        """Clip an estimate to the range of the measure; NaN stays NaN."""
        return clip(value, self.low, self.high)


def _window_thresholds(counts: Counts, target: Target) -> Array:
    return presence_windows(counts, target, n_windows=N_WINDOWS, window=None).thresholds


def _boyce(_counts: Counts, _target: Target, presences: Array, rows: Array) -> Array:
    n_windows = rows.shape[-1] // 2
    of_windows = (window_shares(np.atleast_2d(above), n_windows) for above in (presences, rows))
    return boyce_correlations(expected_ratio(*(np.maximum(share, 0) for share in of_windows)))


def _bin_thresholds(counts: Counts, _target: Target) -> Array:
    bins = presence_bins(counts)
    return np.empty(0) if bins is None else bins.threshold


def _smoothed_boyce(counts: Counts, target: Target, presences: Array, rows: Array) -> Array:
    bins, n_lines = presence_bins(counts), len(np.atleast_2d(rows))
    if bins is None:
        return np.full(n_lines, np.nan)
    numbers = bins.numbers_from_shares(counts, presences, rows, target)
    return smoothed_correlation(smoothed_log_ratio(*(np.maximum(each, 0) for each in numbers)))


@dataclass(frozen=True)
class PresenceCurve(TopMeasure):
    """A number of the curve of recall by predicted area.

    Attributes
    ----------
    exact : callable
        From recall and predicted area at `presence_steps` to the number; ``formula`` is for rates
        at other thresholds.
    jumps : bool
        Whether it jumps from one score to the next. Its intervals are then percentiles.
    """

    exact: Callable[[Array, Array], float] = field(kw_only=True)
    jumps: bool = False

    def value(
        self, counts: Counts, mixture: Mixture, target: Target, steps: Steps | None = None
    ) -> float:
        """Return the measure of the data, not clipped; ``steps`` are its `presence_steps`."""
        return self.at_rates(self.rates(counts, mixture, target, steps))

    def at_rates(self, rates: Rates) -> float:
        """Return the measure from the rates at the points of the curve, not clipped."""
        return self.exact(np.maximum.accumulate(rates.tpr), rates.predicted)

    @staticmethod
    def rates(
        counts: Counts, mixture: Mixture, target: Target, steps: Steps | None = None
    ) -> Rates:
        """Return the corrected rates at the points of the curve."""
        steps = presence_steps(counts) if steps is None else steps
        return correct_steps(counts, steps, mixture, target)

    def naive(self, counts: Counts, target: Target, shares: Shares) -> float:
        """Return the measure with labeled rows as the presences; ``shares`` are of the steps."""
        return self.exact(*presence_and_target_shares(counts, shares, target))


def minimal_predicted_area(share: float = AREA_SHARE) -> PresenceCurve:
    """Share of the target at or above the highest threshold that reaches a recall."""
    return PresenceCurve(
        "minimal_predicted_area",
        "Minimal predicted area",
        partial(_by_line, formula=partial(interpolated_area, share=share)),
        greater_is_better=False,
        needs_prior=False,
        exact=partial(_exact_area, share=share),
        jumps=True,
    )


def auc_ratio(omission: float = OMISSION) -> PresenceCurve:
    """Area under the curve where few presences are omitted, relative to the diagonal."""
    return PresenceCurve(
        "auc_ratio",
        "AUC ratio",
        partial(_by_line, formula=partial(partial_area_ratio, omission=omission)),
        high=2.0,
        needs_prior=False,
        exact=partial(_exact_ratio, omission=omission),
    )


def _exact_area(recall: Array, predicted: Array, share: float) -> float:
    return minimal_area(recall, predicted, share)[0]


def _exact_ratio(recall: Array, predicted: Array, omission: float) -> float:
    return float(partial_area_ratio(recall, predicted, omission)[0])


def _by_line(rates: Rates, formula: Callable[[Array, Array], Array]) -> Array:
    """Apply a formula of two-dimensional arrays to rates of any shape."""
    *lines, size = rates.tpr.shape
    predicted = rates.predicted.reshape(-1, size)
    return formula(rates.tpr.reshape(-1, size), predicted).reshape(lines)


def presences_per_row(counts: Counts, target: Target) -> float:
    """Return the number of presences per row of the target, for F_pb."""
    return counts.n_labeled / counts._target_size(target)


def find_threshold_measure(name: str, counts: Counts, target: Target) -> Measure:
    """Look up a measure at a threshold by name, also F_pb."""
    return f_pb_measure(presences_per_row(counts, target)) if name == F_PB else find_measure(name)


PresenceMeasure = BoyceMeasure | PresenceCurve
PRESENCE_MEASURES: dict[str, PresenceMeasure] = {
    measure.name: measure
    for measure in (
        BoyceMeasure("boyce_index", "Boyce index", _window_thresholds, _boyce),
        BoyceMeasure(
            "smoothed_boyce_index", "Boyce index, smoothed", _bin_thresholds, _smoothed_boyce
        ),
        minimal_predicted_area(),
        auc_ratio(),
    )
}
F_PB_MEASURE = f_pb_measure(math.nan)
