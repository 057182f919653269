"""Choosing a threshold by a rule, and what the chosen threshold really achieves.

A threshold looks better than it is on the rows it was chosen on. So the choice is repeated in every
resample. How much better a resample's choice looks there than in the data the resample was drawn
from shows how optimistic the observed values are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import LINE_THREADS, Rates, Shares, correct_shares
from pueval.errors import UnreachableError
from pueval.samples.threads import map_in_threads
from pueval.thresholds.default_threshold import StableChoice
from pueval.thresholds.rules import Rule
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples
from pueval.uncertainty.uncertain_prior import add_in_quadrature

# Standard error of the optimism of a choice, as a multiple of it; chosen by simulation of coverage.
# The optimism of a rule is known less well than that of the default threshold.
RULE_OPTIMISM_ERROR = 1.0
DEFAULT_OPTIMISM_ERROR = 0.5
# Share of the resamples that is left out at either end when optimism is averaged.
TRIMMED_SHARE = 0.1
NO_INTERVAL = Interval()


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
    threshold_interval : Interval
        Confidence interval of the threshold that the rule would choose if all were known.
    """

    threshold: float
    intervals: Callable[[Measure], Interval] | None = None
    reached: float = math.nan
    threshold_interval: Interval = NO_INTERVAL


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
    choices = rule.pick(resamples.resampled_rates)
    repeated = RepeatedChoice.of(choices, resamples, threshold, RULE_OPTIMISM_ERROR)
    interval = _threshold_interval(rule, choices, resamples, threshold)
    return Choice(threshold, repeated.interval, repeated.reached, interval)


def _threshold_interval(
    rule: Rule, choices: Array, resamples: Resamples, threshold: float
) -> Interval:
    """Return percentiles of the thresholds that the resamples choose.

    Most measures are steps between scores, and their best threshold converges more slowly than
    estimates usually do, with the cube root of the number of rows. The bootstrap is not consistent
    for such estimates in theory (Abrevaya and Huang, 2005). In simulations its percentiles hold
    the true threshold in 91% to 97% of samples (tests/thresholds/test_threshold_interval.py). A
    resample that has no threshold which satisfies the rule counts as one above all scores.

    A varying prior changes the choice: each resample then chooses with a prior of its own, and if
    the prior is given as an interval, with every prior of some nodes of it.
    """
    own, region = resamples.mixture_draws, resamples.prior.given_region
    picks = [choices]
    if own is not None:
        picks = [rule.pick(resamples.rates_for(resamples.draws.resampled, own))]
    if region is not None:
        picks += [
            rule.pick(resamples.rates_for(resamples.draws.resampled, node)) for node in region.nodes
        ]
    tail = resamples.options.tail
    intervals = [Interval(threshold, threshold)]
    for pick in picks:
        chosen = np.where(pick < 0, np.inf, resamples.draws.threshold[pick])
        ends = np.quantile(chosen, [tail, 1 - tail], method="inverted_cdf")
        intervals.append(Interval(*map(float, ends)))
    return Interval.union(intervals)


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
    optimism_error : float
        Standard error of the optimism, as a multiple of it.
    """

    resamples: Resamples
    threshold: float
    resampled: Shares
    expected: Shares
    reached: float
    optimism_error: float

    @classmethod
    def of(
        cls, index: Array, resamples: Resamples, threshold: float, optimism_error: float
    ) -> RepeatedChoice:
        """Take the choice of every resample, the index of its threshold; −1 if it has none."""
        draws = resamples.draws
        lines = np.flatnonzero(index >= 0)
        return cls(
            resamples,
            threshold,
            _take_shares(draws.resampled, lines, index[lines]),
            _take_shares(draws.expected, lines, index[lines]),
            lines.size / resamples.options.n_resamples,
            optimism_error,
        )

    def value(self, measure: Measure, mixture: Mixture | Mixtures) -> Array:
        """Return the value at the chosen threshold, not clipped."""
        return measure(self.resamples.rates_at(self.threshold, mixture))

    def interval(self, measure: Measure) -> Interval:
        """Return the interval of a measure at the chosen threshold.

        It is the interval at a fixed threshold, moved by the average optimism of the resamples.
        The optimism is known only roughly, so a multiple of it is added to the error.

        The choice is repeated with the prior of the data. A resample that chose with a prior of its
        own would show the optimism of another choice for another prior, not that of this choice.
        """
        resamples = self.resamples
        fixed = resamples.interval_at(measure, self.threshold, clipped=False)
        value, low, high = (
            float(measure.transform(np.array([end]))[0])
            for end in (self.value(measure, resamples.mixture)[0], fixed.low, fixed.high)
        )
        optimism = self._optimism(measure)
        if not (math.isfinite(value) and math.isfinite(optimism)) or math.isnan(fixed.low):
            return Interval(measure.clip(fixed.low), measure.clip(fixed.high), fixed.standard_error)
        added_error = self.optimism_error * abs(optimism)
        margin = resamples.options.critical_value * added_error
        low, high = (end - optimism for end in add_in_quadrature(value, low, high, margin))
        if measure.is_ratio:
            return replace(Interval(low, high).exponential(), standard_error=fixed.standard_error)
        total_error = math.hypot(fixed.standard_error, added_error)
        return Interval(measure.clip(low), measure.clip(high), total_error)

    def _optimism(self, measure: Measure) -> float:
        """Return how much better the resamples' choices look there than in the data.

        This is a trimmed mean: a ratio can be far off where almost nothing is predicted positive.
        """
        resampled, expected = (
            measure.transform(np.atleast_1d(measure(rates))) for rates in self._rates
        )
        with np.errstate(invalid="ignore"):
            difference = resampled - expected
        defined = np.sort(difference[np.isfinite(difference)])
        trimmed = round(TRIMMED_SHARE * defined.size)
        kept = defined[trimmed : defined.size - trimmed]
        return float(np.mean(kept)) if kept.size else math.nan

    @cached_property
    def _rates(self) -> tuple[Rates, Rates]:
        """Rates at the choice of each resample, in that resample and in the data."""
        counts, mixture, target = (
            self.resamples.counts,
            self.resamples.mixture,
            self.resamples.target,
        )
        resampled, expected = (
            correct_shares(counts, np.empty(0), shares, mixture, target)
            for shares in (self.resampled, self.expected)
        )
        return resampled, expected


@dataclass(frozen=True, eq=False)
class ChosenThresholdIntervals:
    """Intervals of measures at the default threshold of the same rows."""

    resamples: Resamples
    threshold: float

    @cached_property
    def repeated_choice(self) -> RepeatedChoice:
        """The choice of each resample."""
        resamples = self.resamples
        threshold = resamples.draws.threshold
        shares = Shares.of(resamples.counts, resamples.counts.at(threshold))
        choice = StableChoice.of(
            resamples.counts, threshold, shares, resamples.mixture, resamples.target
        )
        choice, near = choice.near_best(shares)
        drawn = resamples.draws.resampled
        if near.size < threshold.size:
            drawn = drawn.part(near)
        picks = np.concatenate(
            map_in_threads(
                lambda block: choice.pick(drawn.lines(block)), drawn.line_blocks(), LINE_THREADS
            )
        )
        index = np.where(picks < 0, -1, near[picks])
        return RepeatedChoice.of(index, resamples, self.threshold, DEFAULT_OPTIMISM_ERROR)

    def __call__(self, measure: Measure) -> Interval:
        """Return the interval of a measure, extended to the observed value if needed."""
        interval = self.repeated_choice.interval(measure)
        value = float(self.repeated_choice.value(measure, self.resamples.mixture)[0])
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
