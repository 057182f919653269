"""Measures of the top of the list of several models, and the errors of their differences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.difference_variances import covariance_of_differences
from pueval.comparison.model_exchanges import Formula, ModelExchanges
from pueval.comparison.paired_estimates import (
    PairedEstimates,
    constant_covariance,
    paired_field_estimates,
)
from pueval.comparison.paired_rows import PairedRows
from pueval.comparison.row_sums import prevalence_error
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, replace_prevalence
from pueval.counts.counts import Counts
from pueval.families.presence_family import PresenceCurve
from pueval.families.ranked_rows import RankedRows
from pueval.families.top_measure import TopMeasure
from pueval.families.top_measures import precision_at
from pueval.samples.threads import map_in_threads

# Step of numerical derivatives in the prevalence, as a share of it.
STEP = 1e-4


def estimate_top_measure(
    rows: PairedRows,
    measure: TopMeasure,
    mixture: Mixture,
    target: Target,
    exchanges: ModelExchanges | None,
    *,
    prevalence_varies: bool,
) -> PairedEstimates:
    """Estimate a measure of every model for one prior and purity.

    The errors of differences come from ``exchanges`` of models, as those of average precisions;
    without them, covariances are NaN.
    """

    def rate(counts: Counts) -> Rates:
        if isinstance(measure, PresenceCurve):
            return measure.rates(counts, mixture, target)
        ranked = RankedRows(counts, counts._roc_corners(), target)
        return ranked.rates(mixture, along_roc=measure.along_roc)

    rates = map_in_threads(rate, rows.counts)
    value = np.array([_value(measure, of_model) for of_model in rates])
    covariance, least_error = constant_covariance(value.size, math.nan), None
    if exchanges is not None:
        compared: list[TopMeasure] = [measure]
        if measure.saturates and measure.rows is not None:
            # First rows that look perfect look so after exchanges, too; their precision, which is
            # not clipped, varies.
            compared.append(precision_at(measure.rows))
        formulas = {each.name: _formula(each) for each in compared}
        error, *others = [
            each.standard for each in exchanges.errors(formulas, mixture, target).values()
        ]
        least_error = others[0] if others else None
        change = np.zeros(value.size)
        if prevalence_varies:
            slope = np.array([_prevalence_slope(measure, of_model) for of_model in rates])
            change = slope * prevalence_error(mixture, rows.counts[0])
        square = error**2 + np.subtract.outer(change, change) ** 2
        covariance = covariance_of_differences(square, np.zeros(value.size))
    estimates = paired_field_estimates(measure, value, covariance)
    return replace(estimates, least_error=least_error)


def _formula(measure: TopMeasure) -> Formula:
    return lambda rates: measure(whole_curves(rates))


def _value(measure: TopMeasure, rates: Rates) -> float:
    if isinstance(measure, PresenceCurve):
        return measure.at_rates(rates)
    return float(measure(rates))


def whole_curves(rates: Rates) -> Rates:
    """Add the points without any row and with all rows."""

    def extended(rate: Array) -> Array:
        start = np.zeros((*rate.shape[:-1], 1))
        return np.concatenate([start, rate, start + 1], axis=-1)

    threshold = np.concatenate([[np.inf], rates.threshold, [-np.inf]])
    tpr, fpr, predicted = map(extended, (rates.tpr, rates.fpr, rates.predicted))
    return replace(rates, threshold=threshold, tpr=tpr, fpr=fpr, predicted=predicted)


def _prevalence_slope(measure: TopMeasure, rates: Rates) -> float:
    share = float(rates.prevalence)
    step = STEP * min(share, 1 - share)
    if not step:
        return 0.0
    low, high = (float(measure(replace_prevalence(rates, share + sign * step))) for sign in (-1, 1))
    return (high - low) / (2 * step)
