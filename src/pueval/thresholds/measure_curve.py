"""A measure at many thresholds: corrected with limits, and naive."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pueval._typing import Array
from pueval.core.measures import Measure
from pueval.core.rates import Rates
from pueval.counts.counts import Counts
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.resampling import Resamples

# As many thresholds as a picture can show.
POINTS = 1000
# With a region of priors an interval takes a search; then limits are at every fourth cell only.
SPARSE = 4


@dataclass(frozen=True, eq=False)
class MeasureCurve:
    """A measure at many thresholds.

    Attributes
    ----------
    measure : str
        Its name.
    threshold : ndarray
        Descending, from +inf, where nothing is predicted positive.
    value : ndarray
        Corrected, clipped to the range of the measure; NaN where it is undefined.
    low, high : ndarray
        Confidence limits at each threshold by itself; NaN at most thresholds, since they are
        only known where rows were counted again.
    naive : ndarray
        With unlabeled rows counted as negative.
    """

    measure: str
    threshold: Array
    value: Array
    low: Array
    high: Array
    naive: Array


def curve_thresholds(counts: Counts, resamples: Resamples | None, *also: float) -> Array:
    """Choose thresholds for a curve: quantiles of the scores, and those that limits are known at.

    Parameters
    ----------
    counts : Counts
        The data.
    resamples : Resamples or None
        Counts drawn again, if there are any.
    *also : float
        Others that must be among them; NaN is left out.

    Returns
    -------
    ndarray
        Descending: +inf, the highest score, and so on to the lowest.
    """
    drawn = np.empty(0) if resamples is None else resamples.cells.threshold
    highest = max(chunk.values[-1] for kind in counts._samples for chunk in kind.chunks)
    more = [highest, *(one for one in also if not math.isnan(one))]
    return np.unique(np.concatenate([counts._thinned(POINTS).score, drawn, more, [np.inf]]))[::-1]


def measure_curve(
    measure: Measure, corrected: Rates, naive: Rates, resamples: Resamples | None
) -> MeasureCurve:
    """Evaluate a measure at every threshold of some rates.

    Parameters
    ----------
    measure : Measure
        The measure.
    corrected, naive : Rates
        At the same thresholds.
    resamples : Resamples or None
        Counts drawn again; without them there are no limits.

    Returns
    -------
    MeasureCurve
    """
    values = measure(corrected)
    known = np.empty(0)
    if resamples is not None:
        known = resamples.cells.threshold
        if resamples.region is not None:
            known = known[::SPARSE]
    limits = [
        resamples.at(measure, threshold)
        if resamples is not None and here and not math.isnan(value)
        else Interval()
        for threshold, value, here in zip(
            corrected.threshold, values, np.isin(corrected.threshold, known), strict=True
        )
    ]
    return MeasureCurve(
        measure.name,
        corrected.threshold,
        np.clip(values, measure.low, measure.high),
        np.array([one.low for one in limits]),
        np.array([one.high for one in limits]),
        measure(naive),
    )
