"""Choosing a threshold by what it has to achieve, and what it then really achieves.

A threshold chosen on the same rows that it is judged by looks better than it is. The choice is
therefore repeated in every resample: how much better each resample's choice looks there than
where the resample was drawn from shows how far the numbers seen are from those to expect.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pueval.counts import Counts
from pueval.errors import InputError
from pueval.measures import MEASURES, Measure
from pueval.mixture import Mixture, Mixtures
from pueval.rates import Rates, Shares, rates, rates_of_shares
from pueval.results import Contingency, Estimate
from pueval.samples import Array
from pueval.thresholds.choices import Choice
from pueval.thresholds.rules import Rule, best_rule
from pueval.uncertainty.intervals import Interval, spread
from pueval.uncertainty.region import extremes
from pueval.uncertainty.resampling import Resamples

# The measure whose best threshold is the default.
DEFAULT_BEST = "matthews_corrcoef"
# Thresholds beside the chosen one that resamples may choose: up to 6 standard errors of the number
# of rows beyond it, a quarter of one apart.
NEIGHBORS = np.arange(-24, 25) / 4


def choose(
    rule: Rule,
    these: Rates,
    rates_at: Callable[[float], tuple[Rates, Rates]],
    draw: Callable[[float], Resamples | None],
) -> Choice:
    """Follow a rule, and say what is achieved.

    Parameters
    ----------
    rule : Rule
        From `find_rule` or `cost_rule`.
    these : Rates
        Corrected rates at every threshold to choose from.
    rates_at : callable
        From a threshold to the corrected and the naive rates there.
    draw : callable
        From the chosen threshold to resamples that hold its `neighbors`, or to None.

    Returns
    -------
    Choice
    """
    if rule.exact is None:
        index = int(rule.pick(these))
        if index < 0:
            raise InputError(rule.unreachable(these))
        threshold = float(these.threshold[index])
    else:
        threshold = rule.exact()
    corrected, naive = rates_at(threshold)
    drawn = draw(threshold)
    again = None if drawn is None else _Again.of(rule, drawn, threshold)
    every = [*MEASURES.values(), *([rule.measure] if rule.measure else [])]
    measures = {}
    for measure in every:
        value, plain = (float(measure(one)[0]) for one in (corrected, naive))
        defined = not math.isnan(value)
        interval = again.interval(measure) if again is not None and defined else Interval()
        inside = measure.clip(value) if defined else value
        measures[measure.name] = Estimate.of(inside, plain, interval)
    return Choice(
        rule.name,
        threshold,
        Contingency.of(corrected),
        Contingency.of(naive),
        measures,
        math.nan if again is None else again.reached,
        None if drawn is None else drawn.how.level,
    )


@dataclass(frozen=True, eq=False)
class _Again:
    """The choice repeated in every resample.

    ``there`` are the shares of rows beyond each resample's own choice, ``expected`` those beyond
    the same threshold in what the resamples are drawn from. ``varied`` holds both for choices that
    are made with the resample's own prior and purity, where these are uncertain, these, and noise.
    """

    resamples: Resamples
    threshold: float
    there: Shares
    expected: Shares
    varied: tuple[Shares, Shares, Mixtures, Array] | None
    reached: float

    @classmethod
    def of(cls, rule: Rule, resamples: Resamples, threshold: float) -> _Again:
        cells, varied = resamples.cells, None
        index = rule.pick(resamples.drawn)
        lines = np.flatnonzero(index >= 0)
        if resamples.uncertain is not None:
            own = rule.pick(resamples.varied)
            these = np.flatnonzero(own >= 0)
            varied = (
                _taken(cells.drawn, these, own[these]),
                _taken(cells.expected, these, own[these]),
                Mixtures(*(_lines(one, these) for one in vars(resamples.uncertain).values())),
                cells.noise[these],
            )
        return cls(
            resamples,
            threshold,
            _taken(cells.drawn, lines, index[lines]),
            _taken(cells.expected, lines, index[lines]),
            varied,
            lines.size / resamples.how.n_resamples,
        )

    def exact(self, measure: Measure, mixture: Mixture | Mixtures) -> Array:
        """Return the value at the chosen threshold, not clipped."""
        counts = self.resamples.counts
        return measure(rates(counts, counts.at(self.threshold), mixture, self.resamples.target))

    def interval(self, measure: Measure) -> Interval:
        """Take off what the choice adds on average; spread as its error in the resamples does.

        What is taken off is known only roughly, so the limits are as much wider.
        """
        resamples = self.resamples
        # Ratios are skewed: their logarithms are looked at.
        ratio = math.isinf(measure.high)
        low, high = (-math.inf, math.inf) if ratio else (measure.low, measure.high)

        def scaled(values: Array) -> Array:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.log(values) if ratio else values

        def one(mixture: Mixture) -> Interval:
            value = float(scaled(self.exact(measure, mixture))[0])
            error = scaled(self._values(measure, self.there, mixture))
            error = error - scaled(self._values(measure, self.expected, mixture))
            deviation = spread(error) if error.size > 1 else math.nan
            if math.isnan(deviation) or math.isnan(value):
                return Interval()
            excess = float(np.mean(error[np.isfinite(error)]))
            center = value - excess
            if self.varied is None:
                deviation = math.hypot(deviation, excess)
                return resamples.how.interval(center, deviation, low, high)
            drawn, expected, own, noise = self.varied
            error = scaled(self._values(measure, drawn, own))
            error = error - scaled(self._values(measure, expected, mixture))
            draws = center + (error - excess) + noise * excess
            return resamples.how.percentiles(center, draws, low, high)

        scenarios = [resamples.mixture]
        if resamples.region is not None:
            scenarios += [
                *resamples.region.nodes,
                *extremes(resamples.region, partial(self.exact, measure)),
            ]
        found = Interval.union(one(mixture) for mixture in scenarios)
        return found.exponential() if ratio else found

    def _values(self, measure: Measure, shares: Shares, mixture: Mixture | Mixtures) -> Array:
        counts, target = self.resamples.counts, self.resamples.target
        none = np.empty(0)  # thresholds are not asked for
        return np.atleast_1d(measure(rates_of_shares(counts, none, shares, mixture, target)))


@dataclass(frozen=True, eq=False)
class ChosenLimits:
    """Limits of measures at a threshold that was chosen as the best for the same rows."""

    again: _Again

    @classmethod
    def of(cls, resamples: Resamples, threshold: float) -> ChosenLimits:
        """Choose again in every one of the resamples, which hold the `neighbors`."""
        return cls(_Again.of(best_rule(DEFAULT_BEST), resamples, threshold))

    def __call__(self, measure: Measure) -> Interval:
        """Return the limits of a measure, which hold the value that was seen, too."""
        resamples, found = self.again.resamples, self.again.interval(measure)
        value = float(self.again.exact(measure, resamples.mixture)[0])
        if math.isinf(measure.high):
            # Ratios without bound may be 0 or infinite in some resamples, which logarithms hide.
            fixed = resamples.at(measure, self.again.threshold)
            found = Interval.union([fixed, found])
        if math.isnan(value) or math.isnan(found.low):
            return found
        value = measure.clip(value)
        return replace(found, low=min(found.low, value), high=max(found.high, value))


def _taken(shares: Shares, lines: Array, index: Array) -> Shares:
    """Take one threshold of each line."""
    return Shares(
        *(None if one is None else _lines(one, lines, index) for one in shares)  # type: ignore[arg-type]
    )


def _lines(column: Array, lines: Array, index: Array | int = 0) -> Array:
    """Take one entry of each of some lines; what does not vary has one line for all."""
    column = np.atleast_2d(column)
    found: Array = column[lines if column.shape[0] > 1 else np.zeros_like(lines), index]
    return found


def neighbors(counts: Counts, threshold: float) -> Array:
    """Return the threshold and scores beside it, from which resamples may choose."""
    found = [np.array([threshold])]
    for kind in counts.samples():
        if kind.chunks:
            above = float(kind.around(found[0])[1][0])
            step = max(math.sqrt(above), 4.0)
            ranks = np.unique(np.round(above + step * NEIGHBORS).clip(1, kind.total))
            found.append(kind.ranked(kind.total - ranks).astype(np.float64))
    return np.unique(np.concatenate(found))
