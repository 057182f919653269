"""Paired differences of models: limits, p-values, and who is probably the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from pueval.comparing.joint import Joint
from pueval.errors import InputError
from pueval.samples import Array
from pueval.uncertainty.holm import holm

# Draws of the joint normal distribution behind the probability of being the best.
DRAWS = 32_768
# Standard errors and differences below this are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Difference:
    """One model's measure minus another's, on the same rows.

    Attributes
    ----------
    first, second : str
        The models.
    measure : str
        Name of the measure; ``best_<name>`` is its best value over all thresholds.
    value : float
        The first model's value minus the second's, before they are clipped to their range.
    low, high : float
        Confidence limits; NaN if there are none.
    standard_error : float
        Of the difference; less than that of two independent samples if the models agree on
        which rows are easy.
    pvalue : float
        Of the hypothesis that both are equal, two-sided.
    adjusted_pvalue : float
        Holm's, over all pairs of models for the same measure.
    """

    first: str
    second: str
    measure: str
    value: float
    low: float
    high: float
    standard_error: float
    pvalue: float
    adjusted_pvalue: float


def paired_differences(
    names: Sequence[str], measure: str, joint: Joint, level: float | None
) -> list[Difference]:
    """Compare all pairs of models by one measure."""
    pairs = [*combinations(range(len(names)), 2)]
    first, second = np.array(pairs).T
    value = joint.value[first] - joint.value[second]
    error = _error(joint.covariance, first, second)
    nothing = np.full((2, value.size), np.nan)
    reach = 0.0 if level is None else float(ndtri(0.5 + level / 2))
    if math.isinf(joint.reach):
        pvalue, limits = _ratio_differences(joint, first, second, reach)
    else:
        pvalue = _pvalues(value, error)
        limits = np.clip(value + np.outer([-reach, reach], error), -joint.reach, joint.reach)
    # A difference without any error is no certainty: there is nothing to judge it by.
    known = (error > ROUNDING) | (np.abs(value) <= ROUNDING)
    low, high = nothing if level is None else np.where(known, limits, np.nan)
    columns = (value, low, high, error, pvalue, holm(pvalue))
    return [
        Difference(names[a], names[b], measure, *(float(column[k]) for column in columns))
        for k, (a, b) in enumerate(pairs)
    ]


def _ratio_differences(
    joint: Joint, first: Array, second: Array, reach: float
) -> tuple[Array, Array]:
    """Return p-values and limits of differences of ratios, which are skewed.

    Their logarithms are nearly normal. With m the geometric mean of two ratios and r the logarithm
    of their quotient, the difference is 2m·sinh(r/2). The p-value is that of r; the limits follow
    from those of r and of log m, taken as independent.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(joint.value > 0, joint.value, np.nan)
        covariance = joint.covariance / np.outer(ratio, ratio)
        quotient = np.log(ratio[first] / ratio[second])
        error = _error(covariance, first, second)
        mean = np.sqrt(ratio[first] * ratio[second])
        variance = np.diag(covariance)
        together = variance[first] + variance[second] + 2 * covariance[first, second]
        value = ratio[first] - ratio[second]
        by_mean = reach * np.sqrt(np.maximum(together, 0)) / 2 * value
        ends = 2 * mean * np.sinh((quotient + np.outer([-reach, reach], error)) / 2)
        away = np.hypot(ends - value, by_mean)
    return _pvalues(quotient, error), value + np.array([[-1], [1]]) * away


def _error(covariance: Array, first: Array, second: Array) -> Array:
    """Return the standard error of differences; zero where only rounding is left of it."""
    variance = np.diag(covariance)
    square = variance[first] + variance[second] - 2 * covariance[first, second]
    error = np.sqrt(np.maximum(square, 0))
    scale = np.sqrt(np.maximum(variance[first], variance[second]))
    return np.where(error <= 1e-7 * scale, 0.0, error)


def _pvalues(value: Array, error: Array) -> Array:
    """Two-sided p-values; 1 for equal models, NaN where a difference has no error to judge it."""
    nothing = error <= ROUNDING
    found: Array = 2 * ndtr(-np.abs(value) / np.where(nothing, 1.0, error))
    return np.where(nothing, np.where(np.abs(value) <= ROUNDING, 1.0, np.nan), found)


def best_probability(names: Sequence[str], joint: Joint, seed: int) -> dict[str, float]:
    """Return how probable it is that each model is the best by a measure.

    True values are taken as jointly normal around the estimates. Two models are compared by the
    exact probability, more by drawing; models that are equal in a draw share it. NaN for models
    whose measure is undefined.
    """
    if np.isnan(joint.covariance).all():
        raise InputError(
            "the probability of being the best needs intervals. Compare with a level, such as "
            "level=0.95, and at least two labeled rows."
        )
    known = np.flatnonzero(np.isfinite(joint.value) & np.isfinite(np.diag(joint.covariance)))
    probability = np.full(len(names), math.nan)
    if known.size:
        sign = 1.0 if joint.greater_is_better else -1.0
        mean = sign * joint.value[known]
        probability[known] = _chances(mean, joint.covariance[np.ix_(known, known)], seed)
    return dict(zip(names, probability.tolist(), strict=True))


def _chances(mean: Array, covariance: Array, seed: int) -> Array:
    if mean.size == 2:
        gap = mean[0] - mean[1]
        error = float(_error(covariance, np.array([0]), np.array([1]))[0])
        if error > ROUNDING:
            first = float(ndtr(gap / error))
        else:
            first = 0.5 if abs(gap) <= ROUNDING else float(gap > 0)
        return np.array([first, 1 - first])
    size, direction = np.linalg.eigh(covariance)
    root = direction * np.sqrt(np.maximum(size, 0))
    drawn = np.random.default_rng(seed).standard_normal((DRAWS, mean.size)) @ root.T + mean
    tolerance = max(ROUNDING, 1e-7 * math.sqrt(max(size[-1], 0.0)))
    best = drawn >= drawn.max(axis=1, keepdims=True) - tolerance
    share: Array = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return share
