"""Sums over ranks: the positives among the first rows of a list, and means of weights of ranks.

A list is sorted by score, and ``rows`` of it are at or above each threshold. Tied rows can come in
any order, so between two thresholds the positives are spread evenly. A weight of ranks is given by
its cumulative sum over the ranks 1 … x; a fraction of a row has the same fraction of its weight, so
frequency weights equal repeated rows. With importance weights, ranks are sums of weights in units
of the weight of a row (`pueval.samples.sample.Sample.row_weight`), so that the number of all rows
is their effective number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.core.rates import Rates

# Ranks up to which the sum of discounts is tabulated; beyond, Euler and Maclaurin's formula is
# exact up to rounding.
TABULATED = 4096
# More numbers than this are interpolated, between nodes in equal ratios: up to 10¹⁶ rows.
MANY = 10_000
NODE_STEP = 1 / 1024
N_NODES = int((math.log(1e16) - math.log(TABULATED)) / NODE_STEP) + 2
# Rows closer than this share of all rows have the same rank.
ROUNDING = 1e-12
# Ranks handled at a time, so that temporary arrays stay in the cache.
BLOCK = 32_768


class Gains(NamedTuple):
    """Cumulative gains: the share of the positives among the first rows of the target.

    Arrays may have one line per resample.

    Attributes
    ----------
    tpr : ndarray
        Share of the positives at or above each threshold.
    rows : ndarray
        Rows of the target at or above each threshold, ascending from 0 to ``size``.
    prevalence : ndarray
        Share of positives in the target; one number, or one per line.
    size : float
        Number of rows in the target; with importance weights their effective number.
    sums : dict
        Means of weights by name, which measures of the same gains share.
    """

    tpr: Array
    rows: Array
    prevalence: Array
    size: float
    sums: dict[Hashable, Array]

    @classmethod
    def of(cls, rates: Rates) -> Gains:
        """Return the gains of rates."""
        sums = rates.rank_sums
        if "rows" not in sums:
            rows = np.clip(rates.predicted, 0, 1)
            # Noise of the prevalence can let the number of rows fall.
            np.maximum.accumulate(rows, axis=-1, out=rows)
            sums["rows"] = np.multiply(rows, rates.n_rows, out=rows)
        return cls(rates.tpr, sums["rows"], line_prevalence(rates), rates.n_rows, sums)

    @property
    def positives(self) -> Array:
        """Number of positives in the target."""
        return self.prevalence * self.size

    def at(self, rows: float | Array) -> Array:
        """Return the share of the positives among the first ``rows`` rows."""
        slack = ROUNDING * self.size
        return interpolate_lines(self.rows, self.tpr, np.asarray(rows), slack=slack)

    def mean_weight(self, name: Hashable, cumulative: Callable[[Array], Array]) -> Array:
        """Return the mean over the positives of a weight of their ranks.

        ``name`` identifies the weight, ``cumulative`` returns its sum over the first ranks. In a
        case-control design, labeled rows have no ranks of their own. One between two rows of
        the target gets the mean of the weights of both.
        """
        if name not in self.sums:
            starts = range(0, max(self.rows.shape[-1] - 1, 1), BLOCK)
            parts = [self._weighted_gain(cumulative, start) for start in starts]
            self.sums[name] = np.sum(parts, axis=0)
        return self.sums[name]

    def _weighted_gain(self, cumulative: Callable[[Array], Array], start: int) -> Array:
        """Return the sum of a weight over the positives of one block of ranks."""
        rows, tpr = (each[..., start : start + BLOCK + 1] for each in (self.rows, self.tpr))
        step = np.diff(rows, axis=-1)
        is_step = step > ROUNDING * self.size
        mean = np.zeros(step.shape)
        np.divide(np.diff(cumulative(rows), axis=-1), step, out=mean, where=is_step)
        gain = np.diff(tpr, axis=-1)
        between = ~is_step & (gain != 0)
        if between.any():
            at = np.broadcast_to(rows[..., 1:], gain.shape)[between]
            first, last = np.maximum(at - 0.5, 0), np.minimum(at + 0.5, self.size)
            mean = np.array(np.broadcast_to(mean, gain.shape))
            mean[between] = (cumulative(last) - cumulative(first)) / (last - first)
        total: Array = np.sum(np.multiply(gain, mean, out=gain), axis=-1)
        return total


def line_prevalence(rates: Rates) -> Array:
    """Return the prevalence of each line of rates, without the axis of thresholds."""
    prevalence = np.asarray(rates.prevalence, dtype=np.float64)
    return prevalence[..., 0] if prevalence.ndim else prevalence


def interpolate_lines(
    x: Array, y: Array, at: Array, *, slack: float = 0.0, upper: bool = False
) -> Array:
    """Return the height of lines at one place per line; x ascends along the last axis.

    Where a line is vertical, it is the middle of the vertical part, or with ``upper`` its end.
    Numbers that differ by at most ``slack`` are equal.
    """
    place = np.expand_dims(at, -1)
    last = x.shape[-1] - 1
    first_reached = np.minimum(np.sum(x < place - slack, axis=-1, keepdims=True), last)
    last_within = np.maximum(np.sum(x <= place + slack, axis=-1, keepdims=True) - 1, 0)
    lines = np.broadcast_shapes(first_reached.shape[:-1], y.shape[:-1])

    def take(values: Array, index: Array) -> Array:
        values = np.broadcast_to(values, (*lines, last + 1))
        index = np.broadcast_to(index, (*lines, 1))
        return np.take_along_axis(values, index, axis=-1)[..., 0]

    right, left = np.maximum(first_reached, last_within), np.minimum(first_reached, last_within)
    x0, x1, y0, y1 = (take(values, end) for values in (x, y) for end in (left, right))
    share = np.zeros(y0.shape)
    np.divide(at - x0, x1 - x0, out=share, where=x1 - x0 > 2 * slack)
    between = y0 + share * (y1 - y0)
    met = (first_reached <= last_within)[..., 0]
    height: Array = np.where(met, y1 if upper else (y0 + y1) / 2, between)
    return height


def cut_lines(x: Array, y: Array, at: Array) -> tuple[Array, Array]:
    """Return lines up to one place per line: all later points move to the point there."""
    place = np.expand_dims(at, -1)
    height = np.expand_dims(interpolate_lines(x, y, at, upper=True), -1)
    return np.minimum(x, place), np.where(x <= place, y, height)


def exponential_sum(rows: Array, size: float, decay: float) -> Array:
    """Return Σ exp(−decay·r/size) over the ranks r up to ``rows``, as a share of that of all."""
    share: Array = np.expm1(-decay / size * rows) / math.expm1(-decay)
    return share


def discount_sum(rows: Array) -> Array:
    """Return Σ 1/log₂(r + 1) over the ranks r up to ``rows``, the discounts of DCG.

    Beyond a table, it is Euler and Maclaurin's formula for f(t) = 1/log₂ t, t = r + 1, whose
    integral is ln 2·li(t) = ln 2·Ei(ln t). Of many numbers, it is interpolated between `NODES` with
    the exact slopes there, which are so close that this is exact up to rounding, too.
    """
    rows = np.asarray(rows, dtype=np.float64)
    whole = np.floor(rows)
    table = _discount_table()
    total: Array = table[np.minimum(whole, TABULATED).astype(np.intp)]
    total = np.asarray(total + (rows - whole) / np.log2(whole + 2))
    beyond = whole > TABULATED
    if np.any(beyond):
        t = whole[beyond] + 1
        smooth = _smooth_sum if t.size < MANY else _interpolated_sum
        total[beyond] += smooth(t) - _smooth_sum(TABULATED + 1.0)
    return total


@cache
def _discount_table() -> Array:
    """Return the sum of the discounts of the first 0, 1, …, `TABULATED` ranks."""
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, TABULATED + 2)))])


def _smooth_sum(t: Array | float) -> Array:
    """Return Σ 1/log₂ over the integers up to t, but for a constant and terms below rounding."""
    log = np.log(t)
    sums: Array = math.log(2) * (scipy.special.expi(log) + 1 / (2 * log) - 1 / (12 * t * log**2))
    return sums


@cache
def _sum_pieces() -> Array:
    """Return cubic polynomials between numbers in equal ratios that interpolate `_smooth_sum`.

    Lines are the start of each piece, one over its width, and the four coefficients of powers of
    the position within it. Values and slopes at the ends are exact.
    """
    t = np.exp(math.log(TABULATED) + NODE_STEP * np.arange(N_NODES))
    log, value = np.log(t), _smooth_sum(t)
    # Derivatives of the terms of `_smooth_sum`.
    slope = math.log(2) * (1 / log - 1 / (2 * t * log**2) + (log + 2) / (12 * t**2 * log**3))
    width, rise = np.diff(t), np.diff(value)
    first, second = slope[:-1] * width, slope[1:] * width
    cubic = (3 * rise - 2 * first - second, first + second - 2 * rise)
    return np.stack([t[:-1], 1 / width, value[:-1], first, *cubic])


def _interpolated_sum(t: Array) -> Array:
    """Return `_smooth_sum` by cubic interpolation."""
    k = ((np.log(t) - math.log(TABULATED)) / NODE_STEP).astype(np.intp)
    start, per_width, value, first, second, third = _sum_pieces()
    u = (t - start[k]) * per_width[k]
    # In place: a sum of many numbers would spend its time on temporary arrays.
    sums: Array = third[k]
    for coefficient in (second, first, value):
        sums *= u
        sums += coefficient[k]
    return sums
