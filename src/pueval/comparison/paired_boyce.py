"""Boyce indices of several models, and the errors of their differences.

A Boyce index is about windows of a model's own scores, so models cannot be exchanged at common
ranks. Instead, each resample gives a random half of the rows the weight 1.5 and the others the
weight 0.5, the same rows for all models (balanced half-samples with Fay's weights; Judkins, 1990).
Leaving rows out would add as much noise again as the data have, and near a perfect order an index
varies the more the noisier it is. The rows with the same weight in every resample are the groups
whose signs exchange models elsewhere.
"""

from __future__ import annotations

import math

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.model_exchanges import group_noise
from pueval.comparison.paired_estimates import (
    PairedEstimates,
    constant_covariance,
    paired_field_estimates,
)
from pueval.comparison.paired_rows import PairedRows
from pueval.core.rates import Shares
from pueval.families.presence_family import BoyceMeasure
from pueval.samples.threads import map_in_threads
from pueval.uncertainty.intervals import LEAST_DEFINED

# Weights of rows in a resample are 1 ± this.
WEIGHT_CHANGE = 0.5


def estimate_boyce_index(
    rows: PairedRows, measure: BoyceMeasure, target: Target, seed: int | None
) -> PairedEstimates:
    """Estimate a Boyce index of every model; without a seed, covariances are NaN."""
    value = np.array([measure.value(counts, target) for counts in rows.counts])
    covariance = constant_covariance(value.size, math.nan)
    if seed is not None:
        draws = np.stack(
            map_in_threads(
                lambda model: _half_samples(rows.subset([model]), measure, target, seed),
                range(value.size),
            )
        )
        # A model without an index in many resamples has no error; it must not spoil the others.
        defined = np.isfinite(draws)
        usable = defined.mean(axis=1) >= LEAST_DEFINED
        complete = defined[usable].all(axis=0)
        if usable.any() and complete.sum() > 1:
            covariance = np.full(covariance.shape, math.nan)
            of_usable = np.atleast_2d(np.cov(draws[usable][:, complete]))
            covariance[np.ix_(usable, usable)] = of_usable / WEIGHT_CHANGE**2
    return paired_field_estimates(measure, value, covariance)


def _half_samples(rows: PairedRows, measure: BoyceMeasure, target: Target, seed: int) -> Array:
    """Return the index of a single model in all resamples.

    The same seed assigns the same rows to groups for every model.
    """
    [counts] = rows.counts
    thresholds = measure.thresholds(counts, target)
    descending, place = np.unique(-thresholds, return_inverse=True)
    share = np.stack(Shares.of(counts, counts.at(-descending))[:3])
    rng = np.random.default_rng([seed, 3])
    [noise] = group_noise(rows, [-descending], share[None], rng)
    # As shares of rows, they cannot fall.
    resampled = np.maximum.accumulate(share[:, None] + WEIGHT_CHANGE * noise, axis=-1).clip(0, 1)
    return measure(counts, target, Shares(*resampled[..., place]))
