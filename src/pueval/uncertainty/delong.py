"""DeLong's standard error of the AUC of labeled rows against the background.

`pueval.uncertainty.influence` has the same variance for many groups, and covariances of models.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.samples.sample import Sample
from pueval.samples.steps import Steps


def delong_standard_error(counts: Counts, corners: Steps) -> float:
    """Compute the standard error of the naive AUC from the variance of placements.

    The placement of a labeled row is the share of background rows that it outscores; that of a
    background row is the share of labeled rows that outscore it; ties count half. Rows with
    importance weights add their squared weights to the variance. Each kind of rows gets a
    pseudo-observation.

    Parameters
    ----------
    counts : Counts
        The data.
    corners : Steps
        Corners of the naive ROC curve.

    Returns
    -------
    float
        NaN for a single labeled row.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988).
    """
    if counts.effective_sizes[0] <= 1:
        return math.nan
    tied = np.flatnonzero(corners.tied)
    steps = counts._split_ties(corners, tied) if tied.size else corners
    labeled_sample, *background_samples = counts._samples
    background = steps.unlabeled + steps.negative
    n_background = counts.n_unlabeled + counts.n_negative
    ties = np.where(steps.tied, np.diff(background, prepend=0) / 2, 0)
    placement = (n_background - background + ties) / n_background
    variance = _variance_of_mean(placement, steps, steps.labeled, labeled_sample)
    above = np.concatenate([[0], steps.labeled[:-1]])
    ties = np.where(steps.tied, np.diff(steps.labeled, prepend=0) / 2, 0)
    placement = (above + ties) / counts.n_labeled
    for cumulative, sample in zip(
        (steps.unlabeled, steps.negative), background_samples, strict=True
    ):
        if sample.total:
            share = sample.total / n_background
            variance += share**2 * _variance_of_mean(placement, steps, cumulative, sample)
    return math.sqrt(variance)


def _variance_of_mean(placement: Array, steps: Steps, cumulative: Array, sample: Sample) -> float:
    """Return the variance of the mean placement of the rows of one kind."""
    weight = squared = np.diff(cumulative, prepend=0)
    if sample.has_importance_weights:
        # The threshold of a step just above a score is that of another kind, perhaps far above.
        squares = sample.with_squared_weights.cumulative_counts(steps.threshold)[1]
        squared = np.diff(np.maximum.accumulate(squares), prepend=0)
    mean = np.average(placement, weights=weight)
    n_rows = sample.effective_size
    variance = float(np.sum(squared * (placement - mean) ** 2)) / sample.total**2 * n_rows
    return float(with_pseudo_observation(variance, (mean - 0.5) ** 2, n_rows))


def with_pseudo_observation(
    variance: Any, squared_distance: Any, n_rows: Any, correlation: Any = 1.0
) -> Any:
    """Return the variance of a mean placement, with one pseudo-observation added.

    If no row happens to be placed low, placements hardly vary; without a pseudo-observation, a
    perfect ranking of five labeled rows would get a zero-width interval. The placement of the
    pseudo-observation is uniform on [0, 1].

    Parameters
    ----------
    variance : float or ndarray
        Variance of the placements, or their covariance for two models.
    squared_distance : float or ndarray
        Squared distance of the mean placement from 1/2, or the product of two distances.
    n_rows : float or ndarray
        Number of rows.
    correlation : float or ndarray
        Correlation of the placements of the pseudo-observation by two models.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> round(with_pseudo_observation(0.0, 0.25, 5) ** 0.5, 3)
    0.099
    """
    total = n_rows * variance + n_rows / (n_rows + 1) * squared_distance + correlation / 12
    return total / (n_rows + 1) / n_rows
