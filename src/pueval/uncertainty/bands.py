"""Bands around ROC and precision-recall curves, from the same draws as all intervals.

Pointwise bands hold the true curve at any one place with the level asked for; simultaneous ones
hold the whole curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pueval._typing import Array
from pueval.core.curves import PrecisionRecallCurve, RocCurve
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_steps
from pueval.errors import InputError, require
from pueval.uncertainty.resampling import Resamples, precision_where

if TYPE_CHECKING:
    import pandas as pd

BandKind = Literal["pointwise", "simultaneous"]
# From rates to the coordinates of a curve, one after the other along it.
Follow = Callable[[Rates], tuple[Array, Array]]
# Where bands are given: evenly, and more densely at the left, where curves are steep.
PLACES = np.unique(np.round(np.r_[np.linspace(0, 0.1, 41), np.linspace(0, 1, 201)], 6))
PLACES.flags.writeable = False
# How far to go towards the limits of an estimated prior and purity, as shares of the way.
WAY = (0.0, 0.4, 0.7, 0.9, 1.0)
# Points a side of the grid of priors and purities, where these are given as intervals.
NODES = 3


@dataclass(frozen=True, eq=False)
class CurveBand:
    """A curve with limits above and below.

    Attributes
    ----------
    x : ndarray
        False positive rates of a ROC curve, recalls of a precision-recall curve.
    value, low, high : ndarray
        True positive rates, or precisions, and their limits.
    level : float
        Confidence level.
    kind : {"pointwise", "simultaneous"}
        Whether the level holds for each place, or for all together.
    """

    x: Array
    value: Array
    low: Array
    high: Array
    level: float
    kind: BandKind

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per place.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose="CurveBand.frame()")
        names = ("x", "value", "low", "high")
        frame: pd.DataFrame = pandas.DataFrame({name: getattr(self, name) for name in names})
        return frame


def roc_band(curve: RocCurve, drawn: Resamples, kind: BandKind) -> CurveBand:
    """Band around a recovered ROC curve: true positive rate over false positive rate."""
    _check(kind)
    value = np.interp(PLACES, curve.fpr, curve.tpr)
    low, high = _limits(_roc, PLACES, drawn, share=True)
    low = np.maximum.accumulate(low)
    high = np.minimum.accumulate(high[::-1])[::-1]
    if kind == "simultaneous":
        low, high = _wider(low, high, *_covered(_roc, PLACES, drawn))
    # The ends of a curve are known: nothing is sure at the left, everything at the right.
    low[0], low[-1], high[-1] = 0.0, 1.0, 1.0
    return _band(PLACES, value, low, high, drawn, kind)


def precision_recall_band(
    curve: PrecisionRecallCurve, drawn: Resamples, kind: BandKind
) -> CurveBand:
    """Band around a precision-recall curve: precision over recall, which is above 0."""
    _check(kind)
    # Of recalls that few labeled rows tell about, the precision is anybody's guess.
    least = min(5 / max(drawn.counts.effective_sizes[0], 1.0), 0.5)
    places = PLACES[least <= PLACES]
    value = _reached(places, curve.recall, curve.precision)
    low, high = _limits(_precision_recall, places, drawn, read=_reached)
    # Draws know the curve at some thresholds only, and steps between these as a whole.
    steps = drawn.counts.at(drawn.cells.threshold)
    known = _precision_recall(correct_steps(drawn.counts, steps, drawn.mixture, drawn.target))
    missed = value - _reached(places, *known)
    low, high = low + missed, high + missed
    if kind == "simultaneous":
        low, high = _wider(low, high, *_covered(_precision_recall, places, drawn))
    return _band(places, value, low, high, drawn, kind)


def _reached(places: Array, x: Array, y: Array) -> Array:
    """Read a curve of steps: its height at the first point at or beyond each place."""
    found: Array = y[np.minimum(np.searchsorted(x, places), x.size - 1)]
    return found


def _wider(low: Array, high: Array, lowest: Array, highest: Array) -> tuple[Array, Array]:
    """Return limits that hold both: a band of all places is nowhere narrower than that of one."""
    return np.minimum(low, lowest), np.maximum(high, highest)


def _roc(rates: Rates) -> tuple[Array, Array]:
    return _rising(rates.fpr), _rising(rates.tpr)


def _precision_recall(rates: Rates) -> tuple[Array, Array]:
    # Precision is not clipped yet, or there would be no noise above 1.
    return _rising(rates.tpr), precision_where(rates, otherwise=1.0)


def _band(
    x: Array, value: Array, low: Array, high: Array, drawn: Resamples, kind: BandKind
) -> CurveBand:
    low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    return CurveBand(
        x, value, np.minimum(low, value), np.maximum(high, value), drawn.options.level, kind
    )


def _check(kind: str) -> None:
    if kind not in {"pointwise", "simultaneous"}:
        raise InputError(f"kind must be 'pointwise' or 'simultaneous'; got {kind!r}.")


def _rising(values: Array) -> Array:
    """Make rates legal: within [0, 1], and never falling as the threshold is lowered."""
    rising: Array = np.maximum.accumulate(np.clip(values, 0, 1), axis=-1)
    return rising


def _limits(
    follow: Follow,
    places: Array,
    drawn: Resamples,
    *,
    share: bool = False,
    read: Callable[[Array, Array, Array], Array] = np.interp,
) -> tuple[Array, Array]:
    """Limits at each place, for itself; heights that are a share of rows have limits of shares."""

    def heights(rates: Rates) -> Array:
        x, y = np.broadcast_arrays(*follow(rates))
        lines = zip(np.atleast_2d(x), np.atleast_2d(y), strict=True)
        return np.array([read(places, one, other) for one, other in lines])

    low, high = _union(
        _around(heights(value), heights(middle), heights(again), drawn, part, share=share)
        for part, value, middle, again in _scenarios(drawn)
    )
    return low[0], high[0]


def _covered(follow: Follow, places: Array, drawn: Resamples) -> tuple[Array, Array]:
    """Limits at all places together.

    Near the left end a curve is hardly known over its x. So both coordinates get limits at
    every threshold, which hold together, and what the rectangles between these limits cover is
    the band.
    """

    def both(rates: Rates) -> Array:
        return np.concatenate(np.broadcast_arrays(*follow(rates)), axis=-1)

    low, high = _union(
        _around(both(value), both(middle), both(again), drawn, part, together=True)
        for part, value, middle, again in _scenarios(drawn)
    )
    (x_low, y_low), (x_high, y_high) = np.split(low[0], 2), np.split(high[0], 2)
    # Between two thresholds both coordinates lie between their values at these.
    x_low, x_high = np.maximum.accumulate(x_low)[:-1], np.maximum.accumulate(x_high)[1:]
    y_low, y_high = np.minimum(y_low[1:], y_low[:-1]), np.maximum(y_high[1:], y_high[:-1])
    lowest, highest = np.ones(places.size), np.zeros(places.size)
    first = np.searchsorted(x_high, places, side="left")
    last = np.searchsorted(x_low, places, side="right")
    for k, (start, stop) in enumerate(zip(first, last, strict=True)):
        if start < stop:
            lowest[k], highest[k] = y_low[start:stop].min(), y_high[start:stop].max()
    return lowest, highest


def _scenarios(drawn: Resamples) -> Iterator[tuple[float, Rates, Rates, Rates]]:
    """Yield rates as they are, expected and drawn: as assumed, then for what else may be.

    Before each, how much of the reach of the limits counts there: all of it in a given region; on
    the way to the limits of an estimate, what that leaves.
    """
    cells = drawn.cells
    steps = drawn.counts.at(cells.threshold)

    def given(mixture: Mixture) -> tuple[Rates, Rates, Rates]:
        return (
            correct_steps(drawn.counts, steps, mixture, drawn.target),
            drawn.rates_for(cells.expected, mixture),
            drawn.rates_for(cells.drawn, mixture),
        )

    if drawn.estimated is not None:
        for share in WAY:
            for mixture in drawn.estimated.toward(drawn.mixture, share):
                yield math.sqrt(1 - share**2), *given(mixture)
        return
    here = correct_steps(drawn.counts, steps, drawn.mixture, drawn.target)
    yield 1.0, here, drawn.expected, drawn.varied
    if drawn.region is not None:
        grid = drawn.region.grid(NODES)
        for k in range(len(grid)):
            yield 1.0, *given(grid[k])


def _around(
    value: Array,
    middle: Array,
    again: Array,
    drawn: Resamples,
    part: float,
    *,
    together: bool = False,
    share: bool = False,
) -> tuple[Array, Array]:
    """Limits around values, from how far the draws are from their middle; a part of their reach."""
    away = again - middle
    level, tail = drawn.options.level, (1 - drawn.options.level) / 2
    rows = max(drawn.counts.effective_sizes[0], 1.0)
    # No rate is known better than by half a labeled row.
    error = np.maximum(away.std(axis=0, ddof=1), 0.5 / rows)
    usual = reach = drawn.options.reach
    if together:
        reach = float(np.quantile(np.max(np.abs(away) / error, axis=1), level))
    reach *= part
    low, high = value - reach * error, value + reach * error
    if drawn.uncertain is not None and drawn.estimated is None:
        # With an uncertain prior the curves lie unevenly; both sides are measured apart.
        below, above = np.quantile(away, [tail, 1 - tail], axis=0)
        wider = reach / usual
        low = value + wider * np.minimum(below, -error / 10)
        high = value + wider * np.maximum(above, error / 10)
    if share:
        # At the steep start of a curve both rates vary: as few rows would make a share vary so.
        few = np.clip(middle * (1 - middle) / error**2, 1.0, rows)
        low = np.minimum(low, _wilson(value, rows * _told(drawn), -reach))
        high = np.maximum(high, _wilson(value, few, reach))
    return low, high


def _wilson(share: Array, rows: float | Array, reach: float) -> Array:
    """Limit of a share of some rows by Wilson (1927); the lower one if ``reach`` is negative.

    If few rows tell about a share near 0 or 1, it is more often seen at the end than it is there.
    """
    square = reach**2 / rows
    away = np.sqrt(square * share * (1 - share) + square**2 / 4)
    limit: Array = (share + square / 2 + np.copysign(away, reach)) / (1 + square)
    return limit


def _told(drawn: Resamples) -> float:
    """How much a labeled row tells about the positives: the slope of their rate, inverted."""
    behind = float(drawn.mixture.background_prior(drawn.counts))
    return (drawn.mixture.purity - behind) / (1 - behind)


def _union(ends: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
    every = list(ends)
    low, high = (np.vstack([pair[k] for pair in every]) for k in (0, 1))
    return low.min(axis=0, keepdims=True), high.max(axis=0, keepdims=True)
