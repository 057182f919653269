"""Confidence intervals of measures of the top of the list, from resampled counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array, Target
from pueval.core.confidence import wilson_limit
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Rates, fpr_from_predicted
from pueval.counts.counts import Counts
from pueval.families.top_measure import TopMeasure, measure_lines
from pueval.families.top_measures import precision_at, recall_at
from pueval.uncertainty.bootstrap_draws import NEARBY_STEPS
from pueval.uncertainty.intervals import Interval, bootstrap_standard_error
from pueval.uncertainty.measure_intervals import Resamples

# Ranks at which cells of the resamples end, besides the quantiles of all rows: in equal ratios.
SPACED_RANKS = 96
# Labels of first rows vary as if at most this share of the rows were labeled.
MOST_LABELED = 0.9


def top_thresholds(counts: Counts, target: Target, rows: Iterable[float] = ()) -> Array:
    """Return thresholds that are close near the top, and near the row at each of some ranks.

    Around such a rank they reach 6 standard errors of the number of rows at or above a threshold,
    because resamples have another row there.
    """
    ranked = counts._target_rows(target)
    ranks = [np.geomspace(1, max(ranked.n_rows, 1), SPACED_RANKS)]
    ranks += [k + max(np.sqrt(k), 4.0) * NEARBY_STEPS for k in rows]
    return ranked.scores_at_ranks(np.concatenate(ranks))


class TopResamples:
    """Measures of the top of the list in resamples.

    Parameters
    ----------
    resamples : Resamples
        Resampled counts, whose thresholds include `top_thresholds`.
    measures : sequence of TopMeasure
        Measures that will be needed. They are computed together, because they share much.
    """

    def __init__(self, resamples: Resamples, measures: Sequence[TopMeasure]) -> None:
        self.resamples = resamples
        self._measures = measures
        self._values: dict[tuple[TopMeasure, Mixture | Mixtures], Array] = {}

    def drawn(self) -> TopResamples:
        """Draw the resamples now, not when they are first used."""
        _ = self.resamples.draws
        return self

    def expected(self, measure: TopMeasure, mixture: Mixture | Mixtures) -> Array:
        """Return a measure of the expected counts, one value per mixture."""
        return np.atleast_1d(measure(self._expected_rates(mixture)))

    def resampled(self, measure: TopMeasure, mixture: Mixture | Mixtures) -> Array:
        """Return a measure of every resample, not moved by what merging rows into cells changes."""
        if (measure, mixture) not in self._values:
            centered, together = self._is_centered(measure), [measure]
            if mixture is self.resamples.mixture or mixture is self.resamples.mixture_draws:
                # Other mixtures differ between measures.
                same = (each for each in self._measures if self._is_centered(each) == centered)
                together += [each for each in same if each != measure]
            values = measure_lines(together, self._rates(mixture, centered=centered))
            self._values |= {
                (each, mixture): line for each, line in zip(together, values, strict=True)
            }
        return self._values[measure, mixture]

    def _expected_rates(self, mixture: Mixture | Mixtures) -> Rates:
        return self.resamples.rates_for(self.resamples.draws.expected, mixture)

    def _is_centered(self, measure: TopMeasure) -> bool:
        """Return whether draws are centered at monotone rates, as for areas.

        Where more labeled rows come first than expected, all draws would have only positives there.
        """
        looks_perfect = measure.saturates and _looks_perfect(self.resamples, measure)
        return measure.along_roc or looks_perfect

    def _rates(self, mixture: Mixture | Mixtures, *, centered: bool) -> Rates:
        if centered:
            return self.resamples.centered_rates(mixture)
        return self.resamples.rates_for(self.resamples.draws.resampled, mixture)


def top_interval(
    top_resamples: TopResamples, measure: TopMeasure, value: Callable[[Mixture], float]
) -> Interval:
    """Return the interval of a measure; ``value`` returns it for a mixture, not clipped.

    The ends are percentiles: the first rows hold few labeled ones, so the numbers are skewed, and
    normal intervals hold the truth too seldom. Draws are moved by what merging rows into cells
    changes. If a measure saturates, the interval also contains the normal one, and draws of first
    rows that look perfect are centered at monotone rates. If it is linear, the interval contains
    that of `_smooth_error`. The upper end for first rows is at least that of
    `_upper_end_with_few_hits`. All of this was chosen by simulation of coverage (tests/coverage).
    """
    resamples = top_resamples.resamples
    expected = partial(top_resamples.expected, measure)

    def resampled(mixture: Mixture | Mixtures) -> Array:
        center_mixture = mixture if isinstance(mixture, Mixture) else resamples.mixture
        shift = value(center_mixture) - float(expected(center_mixture)[0])
        return top_resamples.resampled(measure, mixture) + shift

    interval = _percentile_or_prior_interval(resamples, measure, value, expected, resampled)
    if math.isnan(interval.high):
        return interval
    if measure.linear:
        center, error = value(resamples.mixture), _smooth_error(resamples, measure)
        normal = resamples.options.normal_interval(center, error, measure.low, measure.high)
        interval = Interval.union([interval, normal])
    if measure.rows is not None:
        upper = _upper_end_with_few_hits(resamples, measure, measure.rows)
        interval = replace(interval, high=max(interval.high, measure.clip(upper)))
    return interval


def _looks_perfect(resamples: Resamples, measure: TopMeasure) -> bool:
    """Return whether the first rows seem to hold no negatives, or fewer than none."""
    if measure.rows is None:
        return False
    rates = resamples.rates_for(resamples.draws.expected, resamples.mixture)
    return bool(np.all(precision_at(measure.rows)(rates) >= 1))


def _smooth_error(resamples: Resamples, measure: TopMeasure) -> float:
    """Return the standard error of a linear measure if positives are denser the higher the rank.

    The discounts of NDCG are largest at ranks that hold a labeled row by chance. If none of them
    does, the value is low, and the resamples vary little, too. So the density of positives over
    ranks is smoothed by isotonic regression, and the error is that of a mean over as many labeled
    rows. Positives that all lie between two ranks have the value of the measure there.
    """
    share_labeled = _labeled_per_positive(resamples)
    rates = resamples.rates_for(resamples.draws.expected, resamples.mixture)
    prevalence, size = float(np.asarray(rates.prevalence)), rates.n_rows
    edges = np.unique(np.append(0.0, np.geomspace(1, max(size, 1), SPACED_RANKS))) / size
    order = np.argsort(rates.predicted, kind="stable")
    gain = np.diff(np.interp(edges, rates.predicted[order], rates.tpr[order]))
    width = np.diff(edges)
    density = scipy.optimize.isotonic_regression(gain / width, weights=width, increasing=False).x
    mass = np.maximum(density, 0) * width
    mass /= mass.sum()
    lines = np.tri(edges.size, edges.size - 1, -1).T
    fpr = fpr_from_predicted(edges, lines, prevalence)
    weight = measure(
        Rates(edges, lines, fpr, np.broadcast_to(edges, lines.shape), prevalence, size)
    )
    free = 1 - np.minimum(share_labeled * mass / width, 1)
    variance = float(mass @ (free * (weight - mass @ weight) ** 2))
    return math.sqrt(variance / resamples.n_independent_labeled)


def _labeled_per_positive(resamples: Resamples) -> float:
    """Return the factor from the density of positives over ranks to the share of labeled rows.

    A row is labeled once at most, so labels vary less where many rows are labeled. In a
    case-control design the labeled rows are no part of the list, and the factor is 0.
    """
    counts = resamples.counts
    return counts.n_labeled / counts.n if resamples.target == "population" else 0.0


def _upper_end_with_few_hits(
    resamples: Resamples, measure: TopMeasure, rows: Callable[[float], float]
) -> float:
    """Return the value at the upper end of Wilson's interval of the recall among first rows.

    Resamples of first rows without labeled ones have none either, and would not vary. The positives
    are spread evenly over the first rows.
    """
    recall = recall_at(rows)
    rates = resamples.rates_for(resamples.draws.expected, resamples.mixture)
    found = min(max(float(recall(rates)), 0.0), 1.0)
    predicted = np.array([0.0, rows(rates.n_rows) / rates.n_rows, 1.0])
    share_labeled = min(_labeled_per_positive(resamples) * found / predicted[1], MOST_LABELED)
    n_rows = resamples.n_independent_labeled / (1 - share_labeled)
    upper = float(wilson_limit(found, n_rows, resamples.options.critical_value))
    prevalence = float(np.asarray(rates.prevalence))
    tpr = np.array([0.0, upper, 1.0])
    fpr = fpr_from_predicted(predicted, tpr, prevalence)
    threshold = np.array([np.inf, 0.0, -np.inf])
    return float(measure(Rates(threshold, tpr, fpr, predicted, prevalence, rates.n_rows)))


def _percentile_or_prior_interval(
    resamples: Resamples,
    measure: TopMeasure,
    value: Callable[[Mixture], float],
    expected: Callable[[Mixture | Mixtures], Array],
    resampled: Callable[[Mixture | Mixtures], Array],
) -> Interval:
    """Return the interval for all that is known about prior and purity."""
    prior = resamples.prior
    scenarios = prior.scenarios(expected)
    if prior.confidence_region is not None and resamples.mixture_draws is not None:
        return resamples.interval(value, resampled, scenarios, measure.low, measure.high)
    if prior.given_region is not None and prior.prior_error is not None:
        widened = prior.given_region.widened(prior.prior_error, resamples.options.critical_value)
        scenarios += widened.corners
    first, *others = scenarios
    intervals = []
    for mixture, drawn in ((first, resamples.drawn_mixture), *((other, other) for other in others)):
        center, values = value(mixture), resampled(drawn)
        limits = measure.low, measure.high
        intervals.append(resamples.options.percentile_interval(center, values, *limits))
        if measure.saturates:
            error = bootstrap_standard_error(values)
            intervals.append(resamples.options.normal_interval(center, error, *limits))
    return Interval.union(intervals)
