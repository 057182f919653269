"""Expected calibration errors of several models, and the covariances of them.

With bins b of the score s, their sign d(b) where the mean score is above the share of positives,
and −d(b) below, the error is E(d·s) − prevalence·E(d | positive): a formula of two means. Variances
take bins and signs as fixed. Where a share is as close to the score as noise allows, the distance
varies less than the difference, but it is too large on average (see `possible_bias`): the square
of this bias is added to the variance.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.paired_estimates import PairedEstimates
from pueval.comparison.paired_means import PairedMeans
from pueval.comparison.paired_rows import PairedRows
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.families.calibration_line import CalibrationBins
from pueval.families.calibration_measures import (
    CalibrationMeasure,
    calibration_error,
    error_bins,
    possible_bias,
    share_errors,
)
from pueval.families.mean_measures import MeanMeasure
from pueval.families.score_means import Means
from pueval.samples.steps import find_cells
from pueval.samples.threads import map_in_threads


def _signed_scores(score: Array, threshold: Array, sign: Array) -> Array:
    """Return d·s and d of each row."""
    of_row = sign[find_cells(threshold, score)]
    return np.stack([of_row * score, of_row])


def _signed_error(means: Means) -> Array:
    error: Array = means.everybody[..., 0] - means.prevalence * means.positive[..., 1]
    return error


def estimate_calibration_error(
    rows: PairedRows,
    measure: CalibrationMeasure,
    mixture: Mixture,
    target: Target,
    *,
    prevalence_varies: bool,
) -> PairedEstimates:
    """Estimate the expected calibration error of every model for one prior and purity."""

    def in_bins(counts: Counts) -> tuple[CalibrationBins, float, float]:
        bins = error_bins(counts, mixture, target)
        errors = share_errors(counts, bins, mixture, target)
        return bins, calibration_error(bins, errors), possible_bias(bins, errors)

    found = map_in_threads(in_bins, rows.counts)
    functions = []
    for bins, _, _ in found:
        sign = np.where(np.nan_to_num(bins.observed) < bins.score, 1.0, -1.0)
        functions.append(partial(_signed_scores, threshold=bins.threshold, sign=sign))
    linear = MeanMeasure(
        measure.name, measure.title, functions[0], _signed_error, measure.low, measure.high
    )
    estimates = PairedMeans.of(rows, functions).estimate(
        linear, mixture, target, prevalence_varies=prevalence_varies
    )
    value, bias = np.array([numbers for _, *numbers in found]).T
    return replace(estimates, value=value, covariance=estimates.covariance + np.diag(bias**2))
