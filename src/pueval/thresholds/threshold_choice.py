"""Choosing a threshold by what it has to achieve, and what it then really achieves.

A threshold chosen on the same rows that it is judged by looks better than it is. The choice is
therefore repeated in every resample: how much better each resample's choice looks there than
where the resample was drawn from shows how far the numbers seen are from those to expect.
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
from pueval.counts.counts import Counts
from pueval.errors import UnreachableError
from pueval.thresholds.rules import Rule, best_rule
from pueval.uncertainty.intervals import Interval, spread
from pueval.uncertainty.prior_region import extremes
from pueval.uncertainty.resampling import Resamples

# The measure whose best threshold is the default.
DEFAULT_BEST = "matthews_corrcoef"
# Thresholds beside the chosen one that resamples may choose: up to 6 standard errors of the number
# of rows beyond it, a quarter of one apart.
NEIGHBORS = np.arange(-24, 25) / 4


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


def choose(rule: Rule, rates: Rates, draw: Callable[[float], Resamples | None]) -> Choice:
    """Choose a threshold by a rule.

    Parameters
    ----------
    rule : Rule
        From `find_rule` or `cost_rule`.
    rates : Rates
        Corrected rates at every candidate threshold.
    draw : callable
        From the chosen threshold to resamples that include its `neighbors`, or to None.

    Returns
    -------
    Choice
    """
    if rule.exact is None:
        index = int(rule.pick(rates))
        if index < 0:
            raise UnreachableError(rule.unreachable(rates))
        threshold = float(rates.threshold[index])
    else:
        threshold = rule.exact()
    resamples = draw(threshold)
    if resamples is None:
        return Choice(threshold)
    again = _Again.of(rule, resamples, threshold)
    return Choice(threshold, again.interval, again.reached)


@dataclass(frozen=True, eq=False)
class _Again:
    """The choice repeated in every resample.

    ``there`` are the shares of rows beyond each resample's own choice, ``expected`` those beyond
    the same threshold in what the resamples are drawn from.
    """

    resamples: Resamples
    threshold: float
    there: Shares
    expected: Shares
    reached: float

    @classmethod
    def of(cls, rule: Rule, resamples: Resamples, threshold: float) -> _Again:
        cells = resamples.cells
        index = rule.pick(resamples.drawn)
        lines = np.flatnonzero(index >= 0)
        return cls(
            resamples,
            threshold,
            _taken(cells.drawn, lines, index[lines]),
            _taken(cells.expected, lines, index[lines]),
            lines.size / resamples.options.n_resamples,
        )

    def exact(self, measure: Measure, mixture: Mixture | Mixtures) -> Array:
        """Return the value at the chosen threshold, not clipped."""
        counts = self.resamples.counts
        return measure(
            correct_steps(counts, counts.at(self.threshold), mixture, self.resamples.target)
        )

    def interval(self, measure: Measure) -> Interval:
        """Take off what the choice adds on average; spread as its error in the resamples does.

        What is taken off is known only roughly, so the limits are as much wider.
        """
        resamples, region = self.resamples, self.resamples.region
        if resamples.uncertain is not None:
            return self._carried(measure, resamples.at(measure, self.threshold))
        scenarios = [resamples.mixture]
        if region is not None:
            scenarios += [*region.nodes, *extremes(region, partial(self.exact, measure))]
        found = Interval.union(self._known(measure, mixture) for mixture in scenarios)
        if measure.is_ratio:
            # Ratios may be 0 or infinite in some resamples, of which logarithms say nothing.
            fixed = resamples.at(measure, self.threshold)
            return fixed if math.isnan(found.low) else Interval.union([found.exponential(), fixed])
        return found

    def _known(self, measure: Measure, mixture: Mixture) -> Interval:
        """Return limits for a prior and purity that are known exactly; of a ratio's logarithm."""
        value = float(measure.transform(self.exact(measure, mixture))[0])
        excess, deviation = self._error(measure, mixture)
        ends = (-math.inf, math.inf) if measure.is_ratio else (measure.low, measure.high)
        return self.resamples.options.interval(value - excess, math.hypot(deviation, excess), *ends)

    def _carried(self, measure: Measure, fixed: Interval) -> Interval:
        """Move and widen limits at a fixed threshold, which carry an uncertain prior and purity.

        A resample that made the choice with a prior of its own would show how far another choice
        is off if the prior is what it is; but what is wanted is how far this one may be off.
        """
        resamples = self.resamples
        value, low, high = (
            float(measure.transform(np.array([each]))[0])
            for each in (self.exact(measure, resamples.mixture)[0], fixed.low, fixed.high)
        )
        excess, deviation = self._error(measure, resamples.mixture)
        if not (math.isfinite(value) and math.isfinite(deviation)) or math.isnan(fixed.low):
            return fixed
        column = int(np.flatnonzero(resamples.cells.threshold == self.threshold)[0])
        lines = np.arange(resamples.options.n_resamples)
        here = _taken(resamples.cells.drawn, lines, np.full(lines.shape, column))
        alone = spread(measure.transform(self._values(measure, here, resamples.mixture)))
        more = 0.0 if math.isnan(alone) else max(deviation**2 - alone**2, 0.0)
        added = math.sqrt(more + excess**2)
        reach = resamples.options.reach * added
        low = value - excess - math.hypot(max(value - low, 0.0), reach)
        high = value - excess + math.hypot(max(high - value, 0.0), reach)
        if measure.is_ratio:
            return replace(Interval(low, high).exponential(), standard_error=fixed.standard_error)
        error = math.hypot(fixed.standard_error, added)
        return Interval(measure.clip(low), measure.clip(high), error)

    def _error(self, measure: Measure, mixture: Mixture) -> tuple[float, float]:
        """Return mean and spread of how much too good the resamples' choices look there."""
        seen, meant = (
            measure.transform(self._values(measure, shares, mixture))
            for shares in (self.there, self.expected)
        )
        with np.errstate(invalid="ignore"):
            error = seen - meant
        defined = error[np.isfinite(error)]
        if defined.size < 2:
            return math.nan, math.nan
        return float(np.mean(defined)), spread(error)

    def _values(self, measure: Measure, shares: Shares, mixture: Mixture | Mixtures) -> Array:
        counts, target = self.resamples.counts, self.resamples.target
        none = np.empty(0)  # thresholds are not asked for
        return np.atleast_1d(measure(correct_shares(counts, none, shares, mixture, target)))


@dataclass(frozen=True, eq=False)
class ChosenThresholdIntervals:
    """Limits of measures at a threshold that was chosen as the best for the same rows.

    Resamples hold its `neighbors`; in every one of them it is chosen again.
    """

    resamples: Resamples
    threshold: float

    @cached_property
    def _again(self) -> _Again:
        return _Again.of(best_rule(DEFAULT_BEST), self.resamples, self.threshold)

    def __call__(self, measure: Measure) -> Interval:
        """Return the limits of a measure, which hold the value that was seen, too."""
        found = self._again.interval(measure)
        value = float(self._again.exact(measure, self.resamples.mixture)[0])
        if math.isnan(value) or math.isnan(found.low):
            return found
        value = measure.clip(value)
        return replace(found, low=min(found.low, value), high=max(found.high, value))


def _taken(shares: Shares, lines: Array, index: Array) -> Shares:
    """Take one threshold of each line."""
    found = {
        name: None if one is None else _lines(one, lines, index)
        for name, one in shares._asdict().items()
        if name != "prevalence_shift"
    }
    chance = None if shares.prevalence_shift is None else shares.prevalence_shift[lines, 0]
    return Shares(**found, prevalence_shift=chance)  # type: ignore[arg-type]


def _lines(column: Array, lines: Array, index: Array | int = 0) -> Array:
    """Take one entry of each of some lines; what does not vary has one line for all."""
    column = np.atleast_2d(column)
    found: Array = column[lines if column.shape[0] > 1 else np.zeros_like(lines), index]
    return found


def neighbors(counts: Counts, threshold: float) -> Array:
    """Return the threshold and scores beside it, from which resamples may choose."""
    found = [np.array([threshold])]
    for kind in counts._samples:
        if kind.chunks:
            above = float(kind.cumulative_counts(found[0])[1][0])
            step = max(math.sqrt(above), 4.0)
            ranks = np.unique(np.round(above + step * NEIGHBORS).clip(1, kind.total))
            found.append(kind.quantiles(kind.total - ranks).astype(np.float64))
    return np.unique(np.concatenate(found))
