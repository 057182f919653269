"""Confidence intervals of measures of the top of the list, from resampled counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from pueval._typing import Array, Target
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import monotone_rates_by_threshold
from pueval.core.top_measures import TopMeasure
from pueval.counts.counts import Counts
from pueval.uncertainty.bootstrap_draws import NEARBY_STEPS
from pueval.uncertainty.intervals import Interval, bootstrap_standard_error
from pueval.uncertainty.measure_intervals import Resamples

# Ranks at which cells of the resamples end, besides the quantiles of all rows: in equal ratios.
SPACED_RANKS = 96


def top_thresholds(counts: Counts, target: Target, rows: Iterable[float] = ()) -> Array:
    """Return thresholds that are close near the top, and near the row at each of some ranks.

    Around such a rank they reach 6 standard errors of the number of rows at or above a threshold,
    because resamples have another row there.
    """
    labeled, unlabeled, negative = counts._samples
    ranked = unlabeled if target == "unlabeled" else labeled + unlabeled + negative
    ranks = [np.geomspace(1, max(ranked.total, 1), SPACED_RANKS)]
    ranks += [k + max(np.sqrt(k), 4.0) * NEARBY_STEPS for k in rows]
    rank = np.unique(np.round(np.concatenate(ranks)).clip(1, ranked.total))
    return np.unique(ranked.quantiles(ranked.total - rank).astype(np.float64))


def top_interval(
    resamples: Resamples, measure: TopMeasure, value: Callable[[Mixture], float]
) -> Interval:
    """Return the interval of a measure; ``value`` returns it for a mixture, not clipped.

    The ends are percentiles: the first rows hold few labeled ones, so the numbers are skewed, and
    normal intervals hold the truth too seldom. Draws are moved by what merging rows into cells
    changes. If a measure saturates, the interval also contains the normal one. All of this was
    chosen by simulation of coverage (tests/coverage).
    """
    prior, draws = resamples.prior, resamples.draws

    def expected(mixture: Mixture | Mixtures) -> Array:
        return np.atleast_1d(measure(resamples.rates_for(draws.expected, mixture)))

    @cache
    def resampled(mixture: Mixture | Mixtures) -> Array:
        rates = resamples.rates_for(draws.resampled, mixture)
        if measure.along_roc:
            # Center the draws at monotone rates, as for areas.
            center = resamples.rates_for(draws.expected, mixture)
            tpr, fpr = monotone_rates_by_threshold(center)
            tpr, fpr = rates.tpr + (tpr - center.tpr), rates.fpr + (fpr - center.fpr)
            rates = replace(rates, tpr=tpr, fpr=fpr)
        center_mixture = mixture if isinstance(mixture, Mixture) else resamples.mixture
        shift = value(center_mixture) - float(expected(center_mixture)[0])
        return np.ravel(measure(rates)) + shift

    scenarios = prior.scenarios(expected)
    if prior.confidence_region is not None and resamples.mixture_draws is not None:
        return resamples._interval(
            value,
            lambda mixture: (0.0, bootstrap_standard_error(resampled(mixture))),
            resampled,
            scenarios,
            measure.low,
            measure.high,
        )
    if prior.given_region is not None and prior.prior_error is not None:
        widened = prior.given_region.widened(prior.prior_error, resamples.options.critical_value)
        scenarios += widened.corners
    first, *others = scenarios
    varied = first if resamples.mixture_draws is None else resamples.mixture_draws
    intervals = []
    for mixture, drawn in ((first, varied), *((other, other) for other in others)):
        center, values = value(mixture), resampled(drawn)
        limits = measure.low, measure.high
        intervals.append(resamples.options.percentile_interval(center, values, *limits))
        if measure.saturates:
            error = bootstrap_standard_error(values)
            intervals.append(resamples.options.normal_interval(center, error, *limits))
    return Interval.union(intervals)
