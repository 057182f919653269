"""Choosing a threshold by a rule, and what the chosen threshold really achieves.

A threshold looks better than it is on the rows it was chosen on. So the choice is repeated in every
resample. How much better a resample's choice looks there than in the data the resample was drawn
from shows how optimistic the observed values are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from pueval._typing import Array
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Rates, Shares, correct_shares, correct_steps
from pueval.errors import UnreachableError
from pueval.thresholds.rules import Rule, best_rule
from pueval.uncertainty.intervals import Interval, bootstrap_standard_error
from pueval.uncertainty.measure_intervals import Resamples
from pueval.uncertainty.uncertain_prior import add_in_quadrature

# The measure whose best threshold is the default.
DEFAULT_BEST = "matthews_corrcoef"


@dataclass(frozen=True, eq=False)
class Choice:
    """A threshold chosen by a rule.

    Attributes
    ----------
    threshold : float
        The chosen threshold.
    intervals : callable or None
        From a measure to its confidence interval at the chosen threshold; None without resamples.
    reached : float
        Share of the resamples in which some threshold satisfies the rule; NaN without resamples.
    """

    threshold: float
    intervals: Callable[[Measure], Interval] | None = None
    reached: float = math.nan


def choose(rule: Rule, rates: Rates, resample: Callable[[float], Resamples | None]) -> Choice:
    """Choose a threshold by a rule.

    Parameters
    ----------
    rule : Rule
        From `pueval.thresholds.rules`.
    rates : Rates
        Corrected rates at every candidate threshold.
    resample : callable
        From the chosen threshold to resamples that include thresholds near it, or to None.

    Returns
    -------
    Choice
    """
    if rule.find_score is None:
        index = int(rule.pick(rates))
        if index < 0:
            raise UnreachableError(rule.unreachable(rates))
        threshold = float(rates.threshold[index])
    else:
        threshold = rule.find_score()
    resamples = resample(threshold)
    if resamples is None:
        return Choice(threshold)
    repeated = RepeatedChoice.of(rule, resamples, threshold)
    return Choice(threshold, repeated.interval, repeated.reached)


@dataclass(frozen=True, eq=False)
class RepeatedChoice:
    """The choice of a threshold, repeated in every resample.

    Attributes
    ----------
    resamples : Resamples
        Resampled counts.
    threshold : float
        The threshold chosen on the data.
    resampled : Shares
        Shares of rows at or above the choice of each resample, in that resample.
    expected : Shares
        Shares at or above the same thresholds in the data that the resamples are drawn from.
    reached : float
        Share of the resamples in which some threshold satisfies the rule.
    """

    resamples: Resamples
    threshold: float
    resampled: Shares
    expected: Shares
    reached: float

    @classmethod
    def of(cls, rule: Rule, resamples: Resamples, threshold: float) -> RepeatedChoice:
        """Follow a rule in every resample."""
        draws = resamples.draws
        index = rule.pick(resamples.resampled_rates)
        lines = np.flatnonzero(index >= 0)
        return cls(
            resamples,
            threshold,
            _take_shares(draws.resampled, lines, index[lines]),
            _take_shares(draws.expected, lines, index[lines]),
            lines.size / resamples.options.n_resamples,
        )

    def value(self, measure: Measure, mixture: Mixture | Mixtures) -> Array:
        """Return the value at the chosen threshold, not clipped."""
        counts = self.resamples.counts
        steps = counts.at(self.threshold)
        return measure(correct_steps(counts, steps, mixture, self.resamples.target))

    def interval(self, measure: Measure) -> Interval:
        """Return the interval of a measure at the chosen threshold.

        The average optimism of the resamples is subtracted, and their error gives the standard
        error. The optimism is known only roughly, so it is added to the standard error.
        """
        resamples = self.resamples
        if resamples.mixture_draws is not None:
            return self._widen(measure, resamples.interval_at(measure, self.threshold))
        scenarios = resamples.prior.scenarios(partial(self.value, measure), as_column=False)
        interval = Interval.union(self._interval_for(measure, mixture) for mixture in scenarios)
        if not measure.is_ratio:
            return interval
        # In some resamples a ratio can be 0 or infinite, where its logarithm is undefined.
        fixed = resamples.interval_at(measure, self.threshold)
        if math.isnan(interval.low):
            return fixed
        return Interval.union([interval.exponential(), fixed])

    def _interval_for(self, measure: Measure, mixture: Mixture) -> Interval:
        """Return the interval for an exact mixture; that of the logarithm of a ratio."""
        value = float(measure.transform(self.value(measure, mixture))[0])
        optimism, error = self._optimism_and_error(measure, mixture)
        ends = (-math.inf, math.inf) if measure.is_ratio else (measure.low, measure.high)
        return self.resamples.options.normal_interval(
            value - optimism, math.hypot(error, optimism), *ends
        )

    def _widen(self, measure: Measure, fixed: Interval) -> Interval:
        """Shift and widen the interval at a fixed threshold, which allows for an uncertain prior.

        The choice is repeated with the prior of the data. A resample that chose with a prior of its
        own would show the error of another choice for another prior, not that of this choice.
        """
        resamples = self.resamples
        value, low, high = (
            float(measure.transform(np.array([end]))[0])
            for end in (self.value(measure, resamples.mixture)[0], fixed.low, fixed.high)
        )
        optimism, error = self._optimism_and_error(measure, resamples.mixture)
        if not (math.isfinite(value) and math.isfinite(error)) or math.isnan(fixed.low):
            return fixed
        column = int(np.flatnonzero(resamples.draws.threshold == self.threshold)[0])
        lines = np.arange(resamples.options.n_resamples)
        shares = _take_shares(resamples.draws.resampled, lines, np.full(lines.shape, column))
        fixed_error = bootstrap_standard_error(
            measure.transform(self._values(measure, shares, resamples.mixture))
        )
        added_variance = 0.0 if math.isnan(fixed_error) else max(error**2 - fixed_error**2, 0.0)
        added_error = math.sqrt(added_variance + optimism**2)
        margin = resamples.options.critical_value * added_error
        low, high = (end - optimism for end in add_in_quadrature(value, low, high, margin))
        if measure.is_ratio:
            return replace(Interval(low, high).exponential(), standard_error=fixed.standard_error)
        total_error = math.hypot(fixed.standard_error, added_error)
        return Interval(measure.clip(low), measure.clip(high), total_error)

    def _optimism_and_error(self, measure: Measure, mixture: Mixture) -> tuple[float, float]:
        """Return mean and standard deviation of how much better the resamples' choices look."""
        resampled, expected = (
            measure.transform(self._values(measure, shares, mixture))
            for shares in (self.resampled, self.expected)
        )
        with np.errstate(invalid="ignore"):
            difference = resampled - expected
        defined = difference[np.isfinite(difference)]
        if defined.size < 2:
            return math.nan, math.nan
        return float(np.mean(defined)), bootstrap_standard_error(difference)

    def _values(self, measure: Measure, shares: Shares, mixture: Mixture | Mixtures) -> Array:
        counts, target = self.resamples.counts, self.resamples.target
        no_thresholds = np.empty(0)
        rates = correct_shares(counts, no_thresholds, shares, mixture, target)
        return np.atleast_1d(measure(rates))


@dataclass(frozen=True, eq=False)
class ChosenThresholdIntervals:
    """Intervals of measures at the threshold of the best `DEFAULT_BEST` of the same rows.

    The resamples must include thresholds near the chosen one.
    """

    resamples: Resamples
    threshold: float

    @cached_property
    def _repeated(self) -> RepeatedChoice:
        return RepeatedChoice.of(best_rule(DEFAULT_BEST), self.resamples, self.threshold)

    def __call__(self, measure: Measure) -> Interval:
        """Return the interval of a measure, extended to the observed value if needed."""
        interval = self._repeated.interval(measure)
        value = float(self._repeated.value(measure, self.resamples.mixture)[0])
        if math.isnan(value) or math.isnan(interval.low):
            return interval
        value = measure.clip(value)
        return replace(interval, low=min(interval.low, value), high=max(interval.high, value))


def _take_shares(shares: Shares, lines: Array, index: Array) -> Shares:
    """Return the shares at one threshold of each line."""

    def take(column: Array) -> Array:
        column = np.atleast_2d(column)
        # An array that does not vary has a single line for all resamples.
        taken: Array = column[lines if column.shape[0] > 1 else np.zeros_like(lines), index]
        return taken

    shift = shares.prevalence_shift
    return Shares(
        take(shares.labeled),
        take(shares.unlabeled),
        take(shares.negative),
        None if shares.positive is None else take(shares.positive),
        None if shift is None else shift[lines, 0],
    )
