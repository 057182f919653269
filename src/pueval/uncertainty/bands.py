"""Confidence bands of ROC and precision-recall curves, from the same draws as all intervals.

A pointwise band covers the true curve at each single place with the confidence level; a
simultaneous band covers the whole curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pueval._checks import check_choice
from pueval._typing import Array
from pueval.core.average_precision import precision_or
from pueval.core.confidence import normal_quantile, wilson_limit
from pueval.core.curves import PrecisionRecallCurve, RocCurve
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_steps
from pueval.text.numbers import format_level
from pueval.text.results import Result
from pueval.uncertainty.measure_intervals import Resamples

BandKind = Literal["pointwise", "simultaneous"]
# From places and the coordinates of a curve to its heights.
Interpolation = Callable[[Array, Array, Array], Array]
# Weight of the variance of precision that is not clipped to [0, 1] in pointwise bands. By chance
# precision can look perfect, and then clipped precision hardly varies. Chosen by simulation of
# coverage (tests/coverage).
UNCLIPPED_VARIANCE = 0.2
# Largest variance of a number in [0, 1].
LARGEST_VARIANCE = 0.25
# Places at which bands are given: evenly spaced, and denser at the left, where curves are steep.
PLACES = np.unique(np.round(np.r_[np.linspace(0, 0.1, 41), np.linspace(0, 1, 201)], 6))
PLACES.flags.writeable = False


@dataclass(frozen=True, eq=False, repr=False)
class CurveBand(Result):
    """A curve and its confidence band.

    Attributes
    ----------
    x : ndarray
        False positive rates of a ROC curve, or recalls of a precision-recall curve.
    value, low, high : ndarray
        True positive rates, or precisions, and the lower and upper edge of their band.
    level : float
        Confidence level.
    kind : {"pointwise", "simultaneous"}
        Whether the level holds at each place, or for the whole curve.
    """

    x: Array
    value: Array
    low: Array
    high: Array
    level: float
    kind: BandKind

    def _headline(self) -> str:
        return f"{format_level(self.level)} {self.kind} confidence band at {self.x.size} places"


def roc_band(curve: RocCurve, resamples: Resamples, kind: BandKind) -> CurveBand:
    """Return the band of a ROC curve: true positive rate by false positive rate."""
    _check_kind(kind)
    value = np.interp(PLACES, curve.fpr, curve.tpr)

    def heights(rates: Rates) -> Array:
        return _heights(PLACES, *_roc_coordinates(rates), np.interp)

    low, high = _union(
        _edges(heights, *scenario, resamples, values_are_shares=True)
        for scenario in resamples.prior.curve_scenarios(resamples.options.critical_value)
    )
    low = np.maximum.accumulate(low[0])
    high = np.minimum.accumulate(high[0][::-1])[::-1]
    if kind == "simultaneous":
        low, high = _union([(low, high), _simultaneous_roc(PLACES, resamples)])
    # The ends of a curve are known, but for the height of its start.
    low[0], low[-1], high[-1] = 0.0, 1.0, 1.0
    return _band(PLACES, value, low, high, resamples, kind)


def precision_recall_band(
    curve: PrecisionRecallCurve, resamples: Resamples, kind: BandKind
) -> CurveBand:
    """Return the band of a precision-recall curve: precision by recall, which is above 0."""
    _check_kind(kind)
    # With fewer than five labeled rows at or above a threshold, precision is mostly noise.
    least = min(5 / resamples.n_independent_labeled, 0.5)
    places = PLACES[least <= PLACES]
    value = _step_heights(places, curve.recall, curve.precision)

    def unclipped(rates: Rates) -> Array:
        return _heights(places, _monotone(rates.tpr), precision_or(rates, 1.0), _step_heights)

    def clipped(rates: Rates) -> Array:
        return np.clip(unclipped(rates), 0, 1)

    scenarios = [*resamples.prior.curve_scenarios(resamples.options.critical_value)]
    low, high = _union(
        _edges(clipped, *scenario, resamples, unclipped_of=unclipped) for scenario in scenarios
    )
    if kind == "simultaneous":
        together = (
            _edges(clipped, *scenario, resamples, simultaneous=True) for scenario in scenarios
        )
        low, high = _union([(low, high), _union(together)])
    # Draws have fewer thresholds than the curve; shift the band by what this changes.
    steps = resamples.counts.at(resamples.draws.threshold)
    coarse = correct_steps(resamples.counts, steps, resamples.mixture, resamples.target)
    shift = value - clipped(coarse)[0]
    return _band(places, value, low[0] + shift, high[0] + shift, resamples, kind)


def _step_heights(places: Array, x: Array, y: Array) -> Array:
    """Read a step curve: its height at the first point at or beyond each place."""
    heights: Array = y[np.minimum(np.searchsorted(x, places), x.size - 1)]
    return heights


def _roc_coordinates(rates: Rates) -> tuple[Array, Array]:
    return _monotone(rates.fpr), _monotone(rates.tpr)


def _monotone(values: Array) -> Array:
    """Clip rates to [0, 1] and make them non-decreasing as the threshold falls."""
    monotone: Array = np.maximum.accumulate(np.clip(values, 0, 1), axis=-1)
    return monotone


def _band(
    x: Array, value: Array, low: Array, high: Array, resamples: Resamples, kind: BandKind
) -> CurveBand:
    low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    return CurveBand(
        x, value, np.minimum(low, value), np.maximum(high, value), resamples.options.level, kind
    )


def _check_kind(kind: str) -> None:
    check_choice("kind", kind, ("pointwise", "simultaneous"))


def _heights(places: Array, x: Array, y: Array, interpolate: Interpolation) -> Array:
    """Return the heights of curves at some places, one line per curve."""
    x, y = np.broadcast_arrays(x, y)
    curves = zip(np.atleast_2d(x), np.atleast_2d(y), strict=True)
    return np.array([interpolate(places, *curve) for curve in curves])


def _simultaneous_roc(places: Array, resamples: Resamples) -> tuple[Array, Array]:
    """Return the edges of a simultaneous band of a ROC curve.

    Near its left end the curve is hardly known as a function of x. So both coordinates get
    simultaneous intervals at every threshold, and the band is the area that the rectangles between
    these intervals cover.
    """

    def both(rates: Rates) -> Array:
        return np.concatenate(np.broadcast_arrays(*_roc_coordinates(rates)), axis=-1)

    low, high = _union(
        _edges(both, *scenario, resamples, simultaneous=True)
        for scenario in resamples.prior.curve_scenarios(resamples.options.critical_value)
    )
    (x_low, y_low), (x_high, y_high) = np.split(low, 2), np.split(high, 2)
    # Between two thresholds both coordinates lie between their values at these thresholds.
    x_low, x_high = np.maximum.accumulate(x_low)[:-1], np.maximum.accumulate(x_high)[1:]
    y_low, y_high = np.minimum(y_low[1:], y_low[:-1]), np.maximum(y_high[1:], y_high[:-1])
    lowest, highest = np.ones(places.size), np.zeros(places.size)
    first = np.searchsorted(x_high, places, side="left")
    last = np.searchsorted(x_low, places, side="right")
    for k, (start, stop) in enumerate(zip(first, last, strict=True)):
        if start < stop:
            lowest[k], highest[k] = y_low[start:stop].min(), y_high[start:stop].max()
    return lowest, highest


def _edges(
    values_of: Callable[[Rates], Array],
    mixture: Mixture,
    sampling_share: float,
    resamples: Resamples,
    *,
    simultaneous: bool = False,
    values_are_shares: bool = False,
    unclipped_of: Callable[[Rates], Array] | None = None,
) -> tuple[Array, Array]:
    """Return the lower and upper edge around values, from the deviations of the resamples.

    ``sampling_share`` is the share of the sampling error that applies to the mixture.
    ``unclipped_of`` returns the values before they are clipped; their variance gets the weight
    `UNCLIPPED_VARIANCE`. Values that are shares of rows are never certain.
    """
    draws, counts = resamples.draws, resamples.counts
    steps = counts.at(draws.threshold)
    own_mixtures = resamples.mixture_draws if resamples.prior.confidence_region is None else None
    value = values_of(correct_steps(counts, steps, mixture, resamples.target))
    expected = values_of(resamples.rates_for(draws.expected, mixture))
    resampled_mixture = mixture if own_mixtures is None else own_mixtures
    resampled_rates = resamples.rates_for(draws.resampled, resampled_mixture)
    deviation = values_of(resampled_rates) - expected
    options, n_labeled = resamples.options, resamples.n_independent_labeled
    variance = deviation.var(axis=0, ddof=1)
    if unclipped_of is not None:
        unclipped = np.minimum(unclipped_of(resampled_rates).var(axis=0, ddof=1), LARGEST_VARIANCE)
        variance = (1 - UNCLIPPED_VARIANCE) * variance + UNCLIPPED_VARIANCE * unclipped
    # No rate is known better than to half a labeled row.
    error = np.maximum(np.sqrt(variance), 0.5 / n_labeled)
    critical_value = options.critical_value
    if simultaneous:
        largest = np.max(np.abs(deviation) / error, axis=1)
        # With few clusters, wider by as much as a t interval is.
        widening = critical_value / normal_quantile(options.level)
        critical_value = widening * float(np.quantile(largest, options.level))
    critical_value *= sampling_share
    low, high = value - critical_value * error, value + critical_value * error
    if own_mixtures is not None:
        # A varying prior makes curves vary asymmetrically, so both sides are measured separately.
        below, above = np.quantile(deviation, [options.tail, 1 - options.tail], axis=0)
        widening = critical_value / options.critical_value
        low = value + widening * np.minimum(below, -error / 10)
        high = value + widening * np.maximum(above, error / 10)
    if values_are_shares:
        # At the steep start of a curve both rates vary, as a share of fewer rows would.
        n_rows = np.clip(expected * (1 - expected) / error**2, 1.0, n_labeled)
        n_informative = n_labeled * _label_information(resamples)
        low = np.minimum(low, wilson_limit(value, n_informative, -critical_value))
        high = np.maximum(high, wilson_limit(value, n_rows, critical_value))
    return low, high


def _label_information(resamples: Resamples) -> float:
    """Return the change of the labeled share with the true positive rate, in (0, 1]."""
    background_prior = float(resamples.mixture.background_prior(resamples.counts))
    return (resamples.mixture.purity - background_prior) / (1 - background_prior)


def _union(edges: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the narrowest band that contains all bands."""
    low, high = zip(*edges, strict=True)
    return np.minimum.reduce(low), np.maximum.reduce(high)
