"""Measures of calibration: the expected calibration error, and slope and intercept of its line.

The expected calibration error is the mean distance of score and share of positives over bins of the
score. Shares are noisy, so their distances are too large on average; each is replaced by the
distance for which such a mean is expected (`pueval.families.calibration_line.debiased_distance`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pueval._typing import Array, Target
from pueval.core.cluster_table import ClusterTable
from pueval.core.measures import clip
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_shares
from pueval.counts.counts import Counts
from pueval.families.calibration_line import (
    CalibrationBins,
    bin_shares,
    calibration_bins,
    calibration_line,
    cell_lines,
    debiased_distance,
    logits,
    quantile_edges,
)
from pueval.families.score_means import ScoreMeans, correct_means
from pueval.samples.sample import Sample, score_range
from pueval.samples.steps import find_cells

# Bins with about equally many rows, by default.
N_BINS = 10
# Mean of a corrected distance whose true value is 0, in standard errors.
BIAS_AT_ZERO = 0.5
# Step of numerical derivatives in a share; the share of positives is nearly linear in it.
STEP = 1e-6


@dataclass(frozen=True)
class CalibrationMeasure:
    """A number that says how far scores are from probabilities.

    Attributes
    ----------
    name, title : str
        Established name, and the name to show.
    formula : callable
        From counts, prior and purity, and target to the measure.
    of_lines : callable
        From counts, descending thresholds, shares of rows at or above them, prior and purity, and
        target to the measure, with a value for each line of shares.
    low, high : float
        Range of the true value.
    greater_is_better : bool or None
        Whether a higher value is better; None if neither is.
    """

    name: str
    title: str
    formula: Callable[[Counts, Mixture, Target], float]
    of_lines: Callable[[Counts, Array, Shares, Mixture, Target], Array]
    low: float = -np.inf
    high: float = np.inf
    greater_is_better: bool | None = None

    def __call__(self, counts: Counts, mixture: Mixture, target: Target) -> float:
        """Compute the measure; not clipped."""
        return self.formula(counts, mixture, target)

    def clip(self, value: float) -> float:
        """Clip an estimate to the range of the measure; NaN stays NaN."""
        return clip(value, self.low, self.high)


# ------------------------------------------------------------------ expected calibration error


def error_bins(
    counts: Counts, mixture: Mixture, target: Target, n_bins: int = N_BINS
) -> CalibrationBins:
    """Return bins with about equally many rows of the target."""
    return calibration_bins(counts, mixture, target, quantile_edges(counts, target, n_bins))


def calibration_error(bins: CalibrationBins, errors: Array) -> float:
    """Return the expected calibration error; ``errors`` are those of the shares of positives."""
    keep = bins.rows > 0
    distance = debiased_distance(bins.observed[keep] - bins.score[keep], errors[keep])
    return float(bins.rows[keep] @ distance)


def possible_bias(bins: CalibrationBins, errors: Array) -> float:
    """Return how much too large the corrected error may still be on average.

    No distance is below 0. So if the true one is 0, the corrected one is half a standard error on
    average. A corrected distance of one standard error may come from there, one of two hardly.
    """
    keep = bins.rows > 0
    distance = debiased_distance(bins.observed[keep] - bins.score[keep], errors[keep])
    bias = BIAS_AT_ZERO * np.clip(2 * errors[keep] - distance, 0, errors[keep])
    return float(bins.rows[keep] @ bias)


def distance_of_bins(positives: Array, rows: Array, score: Array) -> Array:
    """Return the mean distance of mean scores and shares of positives in bins, by line.

    ``positives`` and ``rows`` are numbers, or shares of all rows, in bins.
    """
    total: Array = np.abs(positives - rows * score).sum(axis=-1) / rows.sum(axis=-1)
    return total


def share_errors(counts: Counts, bins: CalibrationBins, mixture: Mixture, target: Target) -> Array:
    """Return standard errors of the shares of positives in bins, for this prior and purity.

    With importance weights or clusters, numbers of rows are effective ones.
    """
    at = Shares.of(counts, counts.at(bins.threshold))
    shares = [None if share is None else np.diff(share, prepend=0) for share in at[:4]]

    def observed(moved: list[int], step: float) -> Array:
        parts = [s if s is None else s + step * (k in moved) for k, s in enumerate(shares)]
        means = correct_means(counts, Shares(*parts), mixture, target)  # type: ignore[arg-type]
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Array = means.prevalence * means.positive / means.everybody
        return share

    samples: list[Sample] = [*counts._samples]
    moved = [[0], [1], [2]]
    if counts.has_propensity:
        # Labeled rows and the positives that they represent are the same rows.
        samples[0], moved[0] = counts._inverse_propensity_sample(), [0, 3]
    variance, slopes = np.zeros(bins.threshold.size), np.zeros((3, bins.threshold.size))
    for kind, (sample, kinds) in enumerate(zip(samples, moved, strict=True)):
        share, size = shares[kinds[-1]], sample.effective_size
        if share is not None and size > 1:
            with np.errstate(invalid="ignore"):  # in bins without rows
                slope = (observed(kinds, STEP) - observed(kinds, -STEP)) / (2 * STEP)
                variance += slope**2 * share * (1 - share) / (size - 1)
            slopes[kind] = np.nan_to_num(slope)
    if counts._clusters is not None:
        lowest, _ = score_range([sample for sample in counts._samples if sample.chunks])
        table = ClusterTable.of(counts, np.append(bins.threshold[:-1], lowest))
        in_bin = np.eye(bins.threshold.size)
        variance *= [table.design_effect(slopes * of_bin) for of_bin in in_bin]
    return np.sqrt(np.nan_to_num(variance))


def binned_calibration_error(
    counts: Counts, mixture: Mixture, target: Target, n_bins: int = N_BINS
) -> float:
    """Return the expected calibration error, corrected for the noise of the shares."""
    bins = error_bins(counts, mixture, target, n_bins)
    return calibration_error(bins, share_errors(counts, bins, mixture, target))


def _error_of_lines(
    counts: Counts, threshold: Array, shares: Shares, mixture: Mixture, target: Target
) -> Array:
    bins = error_bins(counts, mixture, target)
    at_bins = shares.part(find_cells(threshold, bins.threshold))
    rates = correct_shares(counts, bins.threshold, at_bins, mixture, target)
    positives, rows = bin_shares(rates)
    return distance_of_bins(rates.prevalence * positives, rows, bins.score)


# ------------------------------------------------------------------ slope and intercept


def _line(counts: Counts, mixture: Mixture, target: Target, which: int) -> float:
    return calibration_line(counts, mixture, target)[which]


def _line_of_lines(
    counts: Counts,
    threshold: Array,
    shares: Shares,
    mixture: Mixture,
    target: Target,
    which: int,
) -> Array:
    log_odds = ScoreMeans(counts, lambda score: logits(score)[None, :], threshold)
    rates = correct_shares(counts, threshold, shares, mixture, target)
    means = correct_means(counts, log_odds.of_cells(shares), mixture, target)
    line: Array = cell_lines(log_odds, rates, means)[which]
    return line


CALIBRATION_MEASURES = {
    measure.name: measure
    for measure in (
        CalibrationMeasure(
            "expected_calibration_error",
            "Expected calibration error",
            binned_calibration_error,
            _error_of_lines,
            low=0.0,
            high=1.0,
            greater_is_better=False,
        ),
        CalibrationMeasure(
            "calibration_slope",
            "Calibration slope",
            partial(_line, which=1),
            partial(_line_of_lines, which=1),
        ),
        CalibrationMeasure(
            "calibration_intercept",
            "Calibration intercept",
            partial(_line, which=0),
            partial(_line_of_lines, which=0),
        ),
    )
}
