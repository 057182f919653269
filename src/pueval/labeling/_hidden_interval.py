"""Confidence interval of the number of positives that are not labeled."""

from __future__ import annotations

import math

import scipy  # loads its submodules when they are first used


def hidden_interval(number: float, variance: float, level: float) -> tuple[float, float]:
    """Return a confidence interval of a number of hidden positives, between whole numbers.

    The limits are gamma quantiles, as for weighted sums of Poisson counts (Fay and Feuer, 1997);
    the upper one has one more hidden positive. Without variance, as after an audit of every
    unlabeled row, the number is known.
    """
    if number > 0 and variance <= 0:
        return number, number
    tail = (1 - level) / 2

    def quantile(mean: float, spread: float, probability: float) -> float:
        shape = mean**2 / spread
        return float(scipy.special.gammaincinv(shape, probability)) * spread / mean

    low = 0.0 if number <= 0 else math.floor(quantile(number, variance, tail))
    return float(low), float(math.ceil(quantile(number + 1, variance + 1, 1 - tail)))
