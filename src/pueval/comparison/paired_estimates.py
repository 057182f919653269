"""Estimates of all models and their covariance matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.difference_variances import covariance_of_differences
from pueval.comparison.exchange_tails import ExchangeTails
from pueval.comparison.model_exchanges import EXCHANGED, ExchangeErrors, ModelExchanges
from pueval.comparison.paired_shares import PairedShares
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture
from pueval.estimates.estimate import BEST_MEASURES
from pueval.families.field_measures import FieldMeasure
from pueval.families.presence_family import find_threshold_measure

# Best values over all thresholds.
BEST_VALUES = tuple(f"best_{name}" for name in BEST_MEASURES)


def constant_covariance(n_models: int, value: float) -> Array:
    """Return a covariance matrix of equal entries, which takes no memory."""
    return np.broadcast_to(value, (n_models, n_models))


@dataclass(frozen=True, eq=False)
class PairedEstimates:
    """Estimates of one measure, one per model, and their covariance.

    Attributes
    ----------
    value : ndarray
        Corrected values, not clipped; NaN where the measure is undefined.
    covariance : ndarray
        Covariance matrix of the values; NaN without confidence intervals. Best values have
        variances of 0, and their covariances hold for differences only.
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
    tails : ExchangeTails or None
        Tails of differences that are far from normal; None if they are treated as normal.
    least_error : ndarray of shape (models, models) or None
        Standard errors of differences are at least this in confidence intervals, and their critical
        values at least normal. Tests of equal models do without: their size is right as it is.
    """

    value: Array
    covariance: Array
    largest_difference: float = 1.0
    greater_is_better: bool = True
    along_intervals: tuple[tuple[PairedEstimates, ...], ...] = ()
    in_region: tuple[PairedEstimates, ...] = ()
    tails: ExchangeTails | None = None
    least_error: Array | None = None

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


def paired_field_estimates(
    measure: FieldMeasure | Measure, value: Array, covariance: Array
) -> PairedEstimates:
    """Return the estimates of a measure of a family, or of one that is not in the table."""
    largest = measure.high - measure.low
    # Infinite ranges are no reason to compare logarithms, as for ratios of rates.
    largest = largest if math.isfinite(largest) else np.finfo(float).max
    return PairedEstimates(value, covariance, largest, bool(measure.greater_is_better))


@dataclass(frozen=True, eq=False)
class ExchangedEstimates:
    """Standard errors of differences by exchanging models, for one prior and purity.

    Exchanges take time, so they are evaluated when a difference is first looked up.

    Attributes
    ----------
    exchanges : ModelExchanges
        Exchanges of the models.
    mixture, target
        Prior and purity, and the population to evaluate.
    prevalence_changes : dict of str to ndarray
        How much the estimate of each model changes with a standard error of the prevalence, by
        measure.
    """

    exchanges: ModelExchanges
    mixture: Mixture
    target: Target
    prevalence_changes: dict[str, Array]

    def __getstate__(self) -> dict[str, Any]:
        """Leave the errors out of pickles: the same can be computed again."""
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}

    @cached_property
    def _errors(self) -> dict[str, ExchangeErrors]:
        return self.exchanges.errors(EXCHANGED, self.mixture, self.target)

    @cached_property
    def _least_precision_errors(self) -> Array:
        return self.exchanges.least_precision_errors(self.mixture, self.target)

    def applied(self, name: str, estimates: PairedEstimates) -> PairedEstimates:
        """Return the estimates with the errors of differences, and with their tails.

        Variances of the estimates themselves stay what they are.
        """
        changes, (error, tails) = self.prevalence_changes[name], self._errors[name]
        square = error**2 + np.subtract.outer(changes, changes) ** 2
        covariance = covariance_of_differences(square, np.diag(estimates.covariance))
        least_error = self._least_precision_errors if name == "average_precision" else None
        return replace(estimates, covariance=covariance, tails=tails, least_error=least_error)


def estimate_at_thresholds(shares: PairedShares, measure: Measure) -> PairedEstimates:
    """Estimate a measure at one threshold of each model."""
    value, covariance = shares.estimate(measure)
    if covariance is None:
        covariance = constant_covariance(value.size, math.nan)
    return PairedEstimates(value, covariance, measure.high - measure.low, measure.greater_is_better)


@dataclass(frozen=True, eq=False)
class EstimatesByMeasure:
    """Paired estimates of every measure.

    Attributes
    ----------
    fixed : dict of str to PairedEstimates
        Areas and best values.
    shares : PairedShares or None
        Shares of rows at or above each model's threshold, for the measures at these thresholds.
        None after an audit: then ``fixed`` has all measures.
    exchanged : ExchangedEstimates or None
        Errors of differences of average precisions and best values; None without confidence
        intervals.
    along_intervals : tuple of tuple of EstimatesByMeasure
        The same along the confidence intervals of prior and purity, if these were estimated, or
        follow from a given prevalence or label frequency.
    in_region : tuple of EstimatesByMeasure
        The same within the intervals given for prior and purity.
    """

    fixed: dict[str, PairedEstimates]
    shares: PairedShares | None
    exchanged: ExchangedEstimates | None = None
    along_intervals: tuple[tuple[EstimatesByMeasure, ...], ...] = ()
    in_region: tuple[EstimatesByMeasure, ...] = ()

    def __getitem__(self, name: str) -> PairedEstimates:
        estimates = self._at_one_mixture(name)
        if self.exchanged is not None and name in self.exchanged.prevalence_changes:
            estimates = self.exchanged.applied(name, estimates)
        if not (self.along_intervals or self.in_region):
            return estimates
        return replace(
            estimates,
            along_intervals=tuple(
                tuple(point[name] for point in points) for points in self.along_intervals
            ),
            in_region=tuple(point[name] for point in self.in_region),
        )

    def _at_one_mixture(self, name: str) -> PairedEstimates:
        if name in self.fixed or self.shares is None:
            return self.fixed[name]
        measure = find_threshold_measure(name, self.shares.counts, self.shares.target)
        return estimate_at_thresholds(self.shares, measure)

    def standard_errors(self, name: str) -> Array:
        """Return the standard errors of a measure, one per model."""
        estimates = self._at_one_mixture(name)
        errors: Array = np.sqrt(np.maximum(np.diag(estimates.covariance), 0))
        return errors
