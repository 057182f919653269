"""A measure at many thresholds: corrected, with confidence intervals, and naive."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pueval._typing import Array
from pueval.core.measures import Measure
from pueval.core.rates import Rates
from pueval.counts.counts import Counts
from pueval.text.results import Result
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples

# As many thresholds as a plot can show.
POINTS = 1000
# With a region of priors each interval needs a search, so only every fourth cell gets one.
STRIDE_IN_REGION = 4


@dataclass(frozen=True, eq=False, repr=False)
class MeasureCurve(Result):
    """A measure at many thresholds.

    Attributes
    ----------
    measure : str
        Name of the measure.
    threshold : ndarray
        Descending, from +inf, where nothing is predicted positive.
    value : ndarray
        Corrected values, clipped to the range of the measure; NaN where undefined.
    low, high : ndarray
        Pointwise confidence intervals; NaN at most thresholds, because they are known only at the
        thresholds between which rows were resampled.
    naive : ndarray
        Values with unlabeled rows counted as negative.
    """

    measure: str
    threshold: Array
    value: Array
    low: Array
    high: Array
    naive: Array

    def _headline(self) -> str:
        n_intervals = np.count_nonzero(~np.isnan(self.low))
        intervals = f", confidence intervals at {n_intervals:,} of them" if n_intervals else ""
        return f"{self.measure} at {self.threshold.size:,} thresholds{intervals}"


def curve_thresholds(counts: Counts, resamples: Resamples | None, *required: float) -> Array:
    """Choose thresholds for a curve: quantiles of the scores, and those with intervals.

    Parameters
    ----------
    counts : Counts
        The data.
    resamples : Resamples or None
        Resampled counts, if there are any.
    *required : float
        Further thresholds to include; NaN is ignored.

    Returns
    -------
    ndarray
        Descending, from +inf and the highest score to the lowest.
    """
    drawn = np.empty(0) if resamples is None else resamples.draws.threshold
    highest = max(chunk.values[-1] for kind in counts._samples for chunk in kind.chunks)
    more = [highest, *(threshold for threshold in required if not math.isnan(threshold))]
    return np.unique(np.concatenate([counts._thinned(POINTS).score, drawn, more, [np.inf]]))[::-1]


def measure_curve(
    measure: Measure, corrected: Rates, naive: Rates, resamples: Resamples | None
) -> MeasureCurve:
    """Evaluate a measure at all thresholds of the given rates.

    Parameters
    ----------
    measure : Measure
        The measure.
    corrected, naive : Rates
        At the same thresholds.
    resamples : Resamples or None
        Resampled counts; without them there are no intervals.

    Returns
    -------
    MeasureCurve
    """
    values = measure(corrected)
    intervals = [Interval()] * values.size
    if resamples is not None:
        drawn = resamples.draws.threshold
        if resamples.prior.given_region is not None:
            drawn = drawn[::STRIDE_IN_REGION]
        has_interval = np.isin(corrected.threshold, drawn) & ~np.isnan(values)
        for k in np.flatnonzero(has_interval):
            intervals[k] = resamples.interval_at(measure, corrected.threshold[k])
    return MeasureCurve(
        measure.name,
        corrected.threshold,
        np.clip(values, measure.low, measure.high),
        np.array([interval.low for interval in intervals]),
        np.array([interval.high for interval in intervals]),
        measure(naive),
    )
