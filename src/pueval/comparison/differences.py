"""Paired differences of models: limits, p-values, and who is probably the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from pueval._typing import Array
from pueval.comparison.paired_estimates import PairedEstimates
from pueval.core.confidence import normal_quantile
from pueval.errors import InputError
from pueval.uncertainty.holm import holm
from pueval.uncertainty.prior_profile import EstimateVector, PriorProfile, shift_along_path

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
    names: Sequence[str], measure: str, estimates: PairedEstimates, level: float | None
) -> list[Difference]:
    """Compare all pairs of models by one measure."""
    pairs = [*combinations(range(len(names)), 2)]
    first, second = np.array(pairs).T
    reach = 0.0 if level is None else normal_quantile(level)
    profile = _profile(estimates, first, second)
    center = profile.center
    pvalue, limits = _judge(estimates, first, second, reach)
    for there in estimates.in_region:
        largest, others = _judge(there, first, second, reach)
        turned = center.value * (there.value[first] - there.value[second]) < 0
        pvalue = np.where(turned, 1.0, np.fmax(pvalue, largest))
        limits = np.stack([np.fmin(limits[0], others[0]), np.fmax(limits[1], others[1])])
    # A difference without any error is no certainty: there is nothing to judge it by.
    known = (center.error > ROUNDING) | (np.abs(center.value) <= ROUNDING)
    nothing = np.full(limits.shape, np.nan)
    low, high = nothing if level is None else np.where(known, limits, np.nan)
    error = profile.standard_error(reach)
    columns = (center.value, low, high, error, pvalue, holm(pvalue))
    return [
        Difference(names[a], names[b], measure, *(float(column[k]) for column in columns))
        for k, (a, b) in enumerate(pairs)
    ]


def _judge(
    estimates: PairedEstimates, first: Array, second: Array, reach: float
) -> tuple[Array, Array]:
    """Return p-values and limits of differences."""
    if math.isinf(estimates.largest_difference):
        return _judge_ratios(estimates, first, second, reach)
    profile = _profile(estimates, first, second)
    limits = np.clip(
        profile.interval(reach), -estimates.largest_difference, estimates.largest_difference
    )
    return _pvalues(profile, reach), limits


def _profile(estimates: PairedEstimates, first: Array, second: Array) -> PriorProfile:
    """Return differences as estimated, and along the paths of prior and purity."""

    def differences(estimates: PairedEstimates) -> EstimateVector:
        error = _error(estimates.covariance, first, second)
        return EstimateVector(estimates.value[first] - estimates.value[second], error)

    paths = [[differences(at) for at in path] for path in estimates.along_intervals]
    return PriorProfile.of(differences(estimates), paths)


def _judge_ratios(
    estimates: PairedEstimates, first: Array, second: Array, reach: float
) -> tuple[Array, Array]:
    """Return p-values and limits of differences of ratios, which are skewed.

    Their logarithms are nearly normal. With m the geometric mean of two ratios and r the logarithm
    of their quotient, the difference is 2m·sinh(r/2). The p-value is that of r; the limits follow
    from those of r and of log m, taken as independent. They are on one side of 0 if those of r are.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        now, mean, covariance = _quotient(estimates, first, second)
        others = [
            [_quotient(there, first, second) for there in way] for way in estimates.along_intervals
        ]
        profile = PriorProfile.of(now, [[quotient for quotient, *_ in way] for way in others])
        variance = np.diag(covariance)
        together = variance[first] + variance[second] + 2 * covariance[first, second]
        spread = reach * np.sqrt(np.maximum(together, 0)) / 2
        for way in others:
            # The mean rises or falls with prior and purity, too.
            swing = np.fmax.reduce([np.abs(np.log(there / mean)) for _, there, _ in way])
            spread = np.hypot(spread, np.where(np.isnan(swing), 0.0, swing))
        value = estimates.value[first] - estimates.value[second]
        limits = 2 * mean * np.sinh(profile.interval(reach) / 2)
        # Of limits on the value's side of 0, the logarithms move with that of m.
        away = np.hypot(np.log(limits / value), spread)
        same = value * np.exp(np.where(np.abs(limits) < np.abs(value), -away, away))
        limits = np.where(limits * value > 0, same, limits)
    return _pvalues(profile, reach), limits


def _quotient(
    estimates: PairedEstimates, first: Array, second: Array
) -> tuple[EstimateVector, Array, Array]:
    """Return the logarithm of quotients of ratios, their geometric mean, and the covariance."""
    ratio = np.where(estimates.value > 0, estimates.value, np.nan)
    covariance = estimates.covariance / np.outer(ratio, ratio)
    log_quotient = np.log(ratio[first] / ratio[second])
    quotient = EstimateVector(log_quotient, _error(covariance, first, second))
    return quotient, np.sqrt(ratio[first] * ratio[second]), covariance


def _error(covariance: Array, first: Array, second: Array) -> Array:
    """Return the standard error of differences; zero where only rounding is left of it."""
    variance = np.diag(covariance)
    square = variance[first] + variance[second] - 2 * covariance[first, second]
    error = np.sqrt(np.maximum(square, 0))
    scale = np.sqrt(np.maximum(variance[first], variance[second]))
    return np.where(error <= 1e-7 * scale, 0.0, error)


def _pvalues(profile: PriorProfile, reach: float) -> Array:
    """Two-sided p-values; 1 for equal models, NaN where a difference has no error to judge it."""
    value, error = profile.center
    pvalue: Array = 2 * scipy.special.ndtr(-np.abs(profile.z_score(reach)))
    without_error = np.where(np.abs(value) <= ROUNDING, 1.0, np.nan)
    return np.where(error <= ROUNDING, without_error, pvalue)


def best_probability(
    names: Sequence[str], estimates: PairedEstimates, level: float | None, seed: int
) -> dict[str, float]:
    """Return how probable it is that each model is the best by a measure.

    True values are taken as jointly normal around the estimates. Two models are compared by the
    exact probability, more by drawing; models that are equal in a draw share it. NaN for models
    whose measure is undefined. Of intervals that were given for prior and purity it is the middle.
    """
    if level is None or np.isnan(estimates.covariance).all():
        raise InputError(
            "the probability of being the best needs intervals. Compare with a level, such as "
            "level=0.95, and at least two labeled rows."
        )
    known = np.flatnonzero(
        np.isfinite(estimates.value) & np.isfinite(np.diag(estimates.covariance))
    )
    probability = np.full(len(names), math.nan)
    if known.size == 2:
        probability[known] = _chances_of_two(estimates, known, normal_quantile(level))
    elif known.size:
        probability[known] = _chances_by_drawing(estimates, known, normal_quantile(level), seed)
    return dict(zip(names, probability.tolist(), strict=True))


def _chances_of_two(estimates: PairedEstimates, known: Array, reach: float) -> Array:
    first, second = known[:1], known[1:]
    profile = _profile(estimates, first, second)
    if math.isinf(estimates.largest_difference) and np.all(estimates.value[known] > 0):
        # As the p-value: by the logarithm of the quotient, which is nearly normal.
        paths = [
            [_quotient(at, first, second)[0] for at in path] for path in estimates.along_intervals
        ]
        profile = PriorProfile.of(_quotient(estimates, first, second)[0], paths)
    sign = 1.0 if estimates.greater_is_better else -1.0
    value, error = sign * float(profile.center.value[0]), float(profile.center.error[0])
    if error > ROUNDING:
        chance = float(scipy.special.ndtr(sign * profile.z_score(reach)[0]))
    else:
        chance = 0.5 if abs(value) <= ROUNDING else float(value > 0)
    return np.array([chance, 1 - chance])


def _chances_by_drawing(estimates: PairedEstimates, known: Array, reach: float, seed: int) -> Array:
    sign = 1.0 if estimates.greater_is_better else -1.0
    mean, covariance = estimates.value[known], estimates.covariance[np.ix_(known, known)]
    size, direction = np.linalg.eigh(covariance)
    root = direction * np.sqrt(np.maximum(size, 0))
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((DRAWS, mean.size)) @ root.T + mean
    for way in estimates.along_intervals:
        # What an uncertain prior does to all models at once.
        path = [at.value[known] for at in way]
        drawn += shift_along_path(mean, path, rng.standard_normal(DRAWS) / reach)
    tolerance = max(ROUNDING, 1e-7 * math.sqrt(max(size[-1], 0.0)))
    drawn *= sign
    best = drawn >= drawn.max(axis=1, keepdims=True) - tolerance
    share: Array = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return share
