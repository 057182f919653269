"""Sums over ranks: the positives among the first rows of a list, and means of weights of ranks.

A list is sorted by score, and ``rows`` of it are at or above each threshold. Tied rows can come in
any order, so between two thresholds the positives are spread evenly. A weight of ranks is given by
its cumulative sum over the ranks 1 … x; a fraction of a row has the same fraction of its weight, so
frequency weights equal repeated rows, and ranks of importance weights are sums of weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
        Number of rows in the target.
    """

    tpr: Array
    rows: Array
    prevalence: Array
    size: float

    @classmethod
    def of(cls, rates: Rates) -> Gains:
        """Return the gains of rates."""
        rows = np.clip(rates.predicted, 0, 1)
        # Noise of the prevalence can let the number of rows fall.
        rows = np.maximum.accumulate(rows, axis=-1) * rates.size
        return cls(rates.tpr, rows, line_prevalence(rates), rates.size)

    @property
    def positives(self) -> Array:
        """Number of positives in the target."""
        return self.prevalence * self.size

    def at(self, rows: float | Array) -> Array:
        """Return the share of the positives among the first ``rows`` rows."""
        slack = ROUNDING * self.size
        return interpolate_lines(self.rows, self.tpr, np.asarray(rows), slack=slack)

    def mean_weight(self, cumulative: Callable[[Array], Array]) -> Array:
        """Return the mean over the positives of a weight of their ranks.

        In a case-control design, labeled rows have no ranks of their own. One between two rows of
        the target gets the mean of the weights of both.
        """
        step = np.diff(self.rows, axis=-1)
        is_step = step > ROUNDING * self.size
        mean = np.zeros(step.shape)
        np.divide(np.diff(cumulative(self.rows), axis=-1), step, out=mean, where=is_step)
        gain = np.diff(self.tpr, axis=-1)
        between = ~is_step & (gain != 0)
        if between.any():
            at = np.broadcast_to(self.rows[..., 1:], gain.shape)[between]
            start, end = np.maximum(at - 0.5, 0), np.minimum(at + 0.5, self.size)
            mean = np.array(np.broadcast_to(mean, gain.shape))
            mean[between] = (cumulative(end) - cumulative(start)) / (end - start)
        total: Array = np.sum(gain * mean, axis=-1)
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


def lift_sum(rows: Array, size: float) -> Array:
    """Return the sum over ranks of the share of rows below; a row is half below itself."""
    total: Array = rows - rows**2 / (2 * size)
    return total


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
def _sum_nodes() -> tuple[Array, Array, Array]:
    """Return integers in equal ratios, `_smooth_sum` there, and its slopes."""
    t = np.exp(math.log(TABULATED) + NODE_STEP * np.arange(N_NODES))
    log = np.log(t)
    # Derivatives of the terms of `_smooth_sum`.
    slope = 1 / log - 1 / (2 * t * log**2) + (log + 2) / (12 * t**2 * log**3)
    return t, _smooth_sum(t), math.log(2) * slope


def _interpolated_sum(t: Array) -> Array:
    """Return `_smooth_sum` by cubic interpolation between nodes."""
    node, value, slope = _sum_nodes()
    k = ((np.log(t) - math.log(TABULATED)) / NODE_STEP).astype(np.intp)
    width = node[k + 1] - node[k]
    u = (t - node[k]) / width
    rise = value[k + 1] - value[k]
    first, second = slope[k] * width, slope[k + 1] * width
    sums: Array = value[k] + u * (
        first + u * (3 * rise - 2 * first - second + u * (first + second - 2 * rise))
    )
    return sums
