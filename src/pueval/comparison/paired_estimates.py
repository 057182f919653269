"""Estimates of all models and their covariance matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.comparison.paired_shares import PairedShares
from pueval.core.measures import MEASURES, Measure, find_measure
from pueval.evaluation.estimates import BEST_MEASURES

# Best values over all thresholds.
BEST_VALUES = tuple(f"best_{name}" for name in BEST_MEASURES)


@dataclass(frozen=True, eq=False)
class PairedEstimates:
    """Estimates of one measure, one per model, and their covariance.

    Attributes
    ----------
    value : ndarray
        Corrected values, not clipped; NaN where the measure is undefined.
    covariance : ndarray
        Covariance matrix of the values; NaN without confidence intervals.
    largest_difference : float
        Largest possible difference of two true values.
    greater_is_better : bool
        Whether a good model has a high value.
    along_intervals : tuple of tuple of PairedEstimates
        The estimates for other priors, and for other purities, from the lower to the upper end of
        their confidence intervals (at `pueval.uncertainty.prior_profile.POSITIONS`), if prior and
        purity were estimated, or follow from a given prevalence or label frequency.
    in_region : tuple of PairedEstimates
        The estimates for other priors and purities within the intervals given for them.
    """

    value: Array
    covariance: Array
    largest_difference: float = 1.0
    greater_is_better: bool = True
    along_intervals: tuple[tuple[PairedEstimates, ...], ...] = ()
    in_region: tuple[PairedEstimates, ...] = ()

    def logarithms(self) -> PairedEstimates:
        """Return the estimates of the logarithms of ratios; NaN for ratios of 0."""
        ratio = np.where(self.value > 0, self.value, np.nan)
        return PairedEstimates(
            np.log(ratio),
            self.covariance / np.outer(ratio, ratio),
            along_intervals=tuple(
                tuple(point.logarithms() for point in points) for points in self.along_intervals
            ),
        )


def estimate_at_thresholds(shares: PairedShares, measure: Measure) -> PairedEstimates:
    """Estimate a measure at one threshold of each model."""
    value, covariance = shares.estimate(measure)
    return PairedEstimates(value, covariance, measure.high - measure.low, measure.greater_is_better)


@dataclass(frozen=True, eq=False)
class EstimatesByMeasure:
    """Paired estimates of every measure.

    Attributes
    ----------
    fixed : dict of str to PairedEstimates
        Areas and best values.
    shares : PairedShares
        Shares of rows at or above each model's threshold, for the measures at these thresholds.
    along_intervals : tuple of tuple of EstimatesByMeasure
        The same along the confidence intervals of prior and purity, if these were estimated, or
        follow from a given prevalence or label frequency.
    in_region : tuple of EstimatesByMeasure
        The same within the intervals given for prior and purity.
    """

    fixed: dict[str, PairedEstimates]
    shares: PairedShares
    along_intervals: tuple[tuple[EstimatesByMeasure, ...], ...] = ()
    in_region: tuple[EstimatesByMeasure, ...] = ()

    def __getitem__(self, name: str) -> PairedEstimates:
        estimates = self.fixed.get(name) or estimate_at_thresholds(self.shares, find_measure(name))
        if not (self.along_intervals or self.in_region):
            return estimates
        return replace(
            estimates,
            along_intervals=tuple(
                tuple(point[name] for point in points) for points in self.along_intervals
            ),
            in_region=tuple(point[name] for point in self.in_region),
        )

    @cached_property
    def _standard_errors(self) -> dict[str, Array]:
        return {
            name: np.sqrt(np.maximum(np.diag(self[name].covariance), 0))
            for name in (*self.fixed, *MEASURES)
        }

    def standard_error(self, name: str, model: int) -> float:
        """Return the standard error of one model's estimate."""
        return float(self._standard_errors[name][model])
