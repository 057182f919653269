"""Probability that each of several models is the best."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy

from pueval._typing import Array
from pueval.comparison.differences import ROUNDING, difference_profile
from pueval.comparison.paired_estimates import PairedEstimates
from pueval.core.confidence import normal_quantile
from pueval.errors import InputError
from pueval.uncertainty.prior_profile import shift_along_path

# Draws of the joint normal distribution of the estimates.
DRAWS = 32_768


def best_probability(
    names: Sequence[str], estimates: PairedEstimates, level: float | None, seed: int
) -> dict[str, float]:
    """Return the probability that each model is the best by a measure.

    True values are treated as jointly normal around the estimates. For two models the probability
    is exact, for more it comes from simulation; models that are equal in a draw share it. NaN for
    models whose measure is undefined. If prior and purity were given as intervals, the probability
    is for their centers.
    """
    if level is None or np.isnan(estimates.covariance).all():
        raise InputError(
            "the probability of being the best needs confidence intervals. Compare with a level, "
            "such as level=0.95, and at least two labeled rows."
        )
    finite = np.isfinite(estimates.value) & np.isfinite(np.diag(estimates.covariance))
    models = np.flatnonzero(finite)
    if models.size > 2:
        # With very few labeled rows, covariances can be unknown where variances are 0.
        known = np.isfinite(estimates.covariance[np.ix_(models, models)]).all(axis=1)
        models = models[known] if known.sum() > 1 else models[:0]
    probability = np.full(len(names), math.nan)
    if models.size == 2:
        probability[models] = _probability_of_two(estimates, models, normal_quantile(level))
    elif models.size:
        probability[models] = _simulated(estimates, models, normal_quantile(level), seed)
    return dict(zip(names, probability.tolist(), strict=True))


def _probability_of_two(estimates: PairedEstimates, models: Array, quantile: float) -> Array:
    # As for the p-value, ratios are compared by the logarithm of their quotient.
    ratios = math.isinf(estimates.largest_difference) and np.all(estimates.value[models] > 0)
    scale = estimates.logarithms() if ratios else estimates
    profile = difference_profile(scale, models[:1], models[1:])
    sign = 1.0 if estimates.greater_is_better else -1.0
    value, error = sign * float(profile.center.value[0]), float(profile.center.error[0])
    if error > ROUNDING:
        first = float(scipy.special.ndtr(sign * profile.z_score(quantile)[0]))
    else:
        first = 0.5 if abs(value) <= ROUNDING else float(value > 0)
    return np.array([first, 1 - first])


def _simulated(estimates: PairedEstimates, models: Array, quantile: float, seed: int) -> Array:
    sign = 1.0 if estimates.greater_is_better else -1.0
    mean, covariance = estimates.value[models], estimates.covariance[np.ix_(models, models)]
    # Covariances around the mean of all models: only differences count, and are always known.
    covariance = covariance - covariance.mean(axis=0)
    covariance -= covariance.mean(axis=1, keepdims=True)
    eigenvalue, eigenvector = np.linalg.eigh(covariance)
    root = eigenvector * np.sqrt(np.maximum(eigenvalue, 0))
    rng = np.random.default_rng(seed)
    draws = rng.standard_normal((DRAWS, mean.size)) @ root.T + mean
    for points in estimates.along_intervals:
        # An uncertain prior, or purity, moves all models at once.
        path = [point.value[models] for point in points]
        draws += shift_along_path(mean, path, rng.standard_normal(DRAWS) / quantile)
    tolerance = max(ROUNDING, 1e-7 * math.sqrt(max(eigenvalue[-1], 0.0)))
    draws *= sign
    best = draws >= draws.max(axis=1, keepdims=True) - tolerance
    probability: Array = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return probability
