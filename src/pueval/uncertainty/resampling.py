"""The bootstrap: counts between thresholds drawn again, and intervals from them.

What is drawn again are the counts of a few hundred cells between thresholds, never rows, so that
ten million rows cost what a few thousand do. All measures share the same draws. Prior and
purity are exact, or known to lie in a region, or uncertain: then every draw has its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.measures import MEASURES, ZERO, Measure
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.core.monotone import monotone_rates_by_threshold
from pueval.core.rates import (
    Rates,
    Shares,
    background_share,
    correct_area,
    correct_shares,
    correct_steps,
)
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps
from pueval.uncertainty.bootstrap_draws import Cells, draw
from pueval.uncertainty.intervals import Interval, IntervalOptions, delong_standard_error, spread
from pueval.uncertainty.prior_region import Region, extremes

# How much of the excess of a best value is in doubt; by simulation (tests/coverage).
DOUBT = 1.5
# Share of the variance of the average precision that is taken from rates that may be illegal. By
# chance rates can look perfect, and then legal ones hardly vary; by simulation, as well.
FREE_VARIANCE = 0.2


@dataclass(frozen=True, eq=False)
class Resamples:
    """Many samples drawn again, at the same thresholds, and what prior and purity may be.

    Attributes
    ----------
    how : Resampling
        Level, number and seed.
    counts : Counts
        The data.
    target : str
        Whose performance is wanted.
    mixture : Mixture
        Prior and purity, or the middle of what they may be.
    draws : callable
        Draws the counts again; called once, when something asks for ``cells``.
    delong : float or None
        DeLong's standard error of the naive AUC; None where his formula does not hold.
    region : Region or None
        What prior and purity may be, where they are given as intervals.
    uncertain : Mixtures or None
        Prior and purity of every draw, where they were estimated.
    estimated : Region or None
        The confidence limits of the estimates.
    errors : mapping of str to float
        Standard errors, for prior and purity known exactly, that need no draws.
    """

    options: IntervalOptions
    counts: Counts
    target: Target
    mixture: Mixture
    draws: Callable[[], Cells]
    delong: float | None
    region: Region | None = None
    uncertain: Mixtures | None = None
    estimated: Region | None = None
    errors: Mapping[str, float] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of pickles what was drawn: the same can be drawn again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def cells(self) -> Cells:
        """The counts drawn again."""
        return self.draws()

    def with_uncertain(self, mixtures: Mixtures, limits: Region | None = None) -> Resamples:
        """Give every draw a prior and a purity of its own; say which limits these have."""
        drawn = partial(getattr, self, "cells")  # can be pickled
        return replace(self, uncertain=mixtures, estimated=limits, draws=drawn)

    def represented_mixtures(self) -> Mixtures:
        """Return the prior of every draw that follows from its propensities."""
        positives, counts = self.cells.positives, self.counts
        assert positives is not None  # noqa: S101 - only asked for where propensities are known
        # Below 0, too: of draws around 0, half would lose what the others have.
        prior = cap_prior((positives - counts.n_labeled) / counts.n_unlabeled)
        return Mixtures(prior[:, None], np.ones((prior.size, 1)))

    def varied_priors(self, error: float) -> Mixtures:
        """Return a prior for every draw that varies with a standard error, whatever is drawn."""
        rng = np.random.default_rng([self.options.seed, self.options.n_resamples])
        prior = self.mixture.prior + error * rng.normal(size=(self.options.n_resamples, 1))
        prior = cap_prior(prior, self.mixture.purity)
        return Mixtures(prior, np.full(prior.shape, self.mixture.purity))

    # ------------------------------------------------------------------ intervals

    def at(self, measure: Measure, threshold: float) -> Interval:
        """Interval of a measure at a fixed threshold."""
        known = self._known_error(measure.name)
        if known is not None:
            there = correct_steps(self.counts, self.counts.at(threshold), self.mixture, self.target)
            limits = self.options.ratio if measure.is_ratio else self.options.interval
            return limits(float(measure(there)[0]), known, measure.low, measure.high)
        column = [int(np.flatnonzero(self.cells.threshold == threshold)[0])]
        here = self.counts.at(threshold)

        def exact(mixture: Mixture | Mixtures) -> Array:
            return measure(correct_steps(self.counts, here, mixture, self.target))

        def drawn(mixture: Mixture | Mixtures) -> Array:
            rates = self.rates_for(self.cells.drawn, mixture, column)
            values = measure(rates)
            if measure.is_ratio:
                # A ratio with nothing left below the line is infinite, not unknown.
                values = np.where(np.isnan(values) & (rates.predicted > 0), math.inf, values)
            return values.ravel()

        if measure.is_ratio:
            # Ratios are far from normal.
            nodes = [] if self.region is None else self.region.nodes
            first = self.uncertain or self.mixture
            return Interval.union(
                self.options.percentiles(
                    float(exact(self.mixture)[0]), drawn(m), measure.low, measure.high
                )
                for m in (first, *nodes)
            )
        return self._interval(
            lambda mixture: float(exact(mixture)[0]),
            drawn,
            self._scenarios(exact, column=False),
            measure.low,
            measure.high,
        )

    def best(self, measure: Measure, value: Callable[[Mixture], float]) -> Interval:
        """Interval of the best value over all thresholds; ``value`` gives it for a mixture.

        The best of many noisy values is too good on average. How much is seen from the resamples,
        whose best values are too good compared with that of what they are drawn from; it is taken
        off, and `DOUBT` times as much is added to the standard error, since it is known only
        roughly. Of ratios, all that is done with the logarithms.
        """
        if measure.is_ratio:
            found = self._best(measure, value, scaled=True).exponential()
            if not math.isnan(found.low):
                return found
        return self._best(measure, value, scaled=False)

    def _best(
        self, measure: Measure, best: Callable[[Mixture], float], *, scaled: bool
    ) -> Interval:
        low, high = (-math.inf, math.inf) if scaled else (measure.low, measure.high)

        def value(mixture: Mixture) -> float:
            return float(measure.transform(np.array(best(mixture)))) if scaled else best(mixture)

        sign = 1.0 if measure.greater_is_better else -1.0

        def best_of(shares: Shares, mixture: Mixture | Mixtures) -> Array:
            values = measure(self.rates_for(shares, mixture))
            values = sign * (measure.transform(values) if scaled else values)
            found: Array = np.where(np.isnan(values), -math.inf, values).max(axis=-1)
            # Where it is defined at no threshold, there is no best value.
            return sign * np.where(np.isneginf(found), math.nan, found)

        def draws(mixture: Mixture | Mixtures) -> tuple[Array, float]:
            """Best values of all draws, and by how much they are too good on average."""
            drawn = best_of(self.cells.drawn, mixture)
            around = self.mixture if isinstance(mixture, Mixtures) else mixture
            defined = drawn[np.isfinite(drawn)]
            average = defined.mean() if defined.size else math.nan
            return drawn, float(average - best_of(self.cells.expected, around))

        def corrected(mixture: Mixture, varied: Mixture | Mixtures) -> Interval:
            drawn, optimism = draws(varied)
            error = math.hypot(spread(drawn), DOUBT * optimism)
            return self.options.interval(value(mixture) - optimism, error, low, high)

        scenarios = self._scenarios(lambda m: best_of(self.cells.expected, m))
        if self.estimated is None:
            first = corrected(self.mixture, self.uncertain or self.mixture)
            return Interval.union([first, *(corrected(m, m) for m in scenarios[1:])])
        drawn, optimism = draws(self.mixture)
        noise = DOUBT * optimism
        varied = best_of(self.cells.drawn, self.uncertain) if self.uncertain else drawn
        return self._carried(
            lambda mixture: value(mixture) - optimism,
            varied - optimism + noise * self.cells.noise,
            math.hypot(spread(drawn), noise),
            scenarios,
            low,
            high,
        )

    def average_precision(self, value: Callable[[Mixture], float]) -> Interval:
        """Interval of the average precision; ``value`` gives it for a mixture."""
        known = self._known_error("average_precision")
        if known is not None:
            return self.options.interval(value(self.mixture), known)

        def expected(mixture: Mixture | Mixtures) -> Rates:
            return self.rates_for(self.cells.expected, mixture)

        def drawn(mixture: Mixture | Mixtures) -> Array:
            # Around legal rates: around others, those that look too good would hardly vary.
            rates, around = self.rates_for(self.cells.drawn, mixture), expected(mixture)
            tpr, fpr = monotone_rates_by_threshold(around)
            tpr, fpr = rates.tpr + (tpr - around.tpr), rates.fpr + (fpr - around.fpr)
            return average_precision(replace(rates, tpr=tpr, fpr=fpr))

        def error(mixture: Mixture | Mixtures) -> float:
            free = _free_average_precision(self.rates_for(self.cells.drawn, mixture))
            within, beyond = spread(drawn(mixture)) ** 2, spread(free) ** 2
            return math.sqrt((1 - FREE_VARIANCE) * within + FREE_VARIANCE * beyond)

        scenarios = self._scenarios(lambda mixture: average_precision(expected(mixture)))
        return self._interval(value, drawn, scenarios, error=error)

    def auc(self, naive: float, value: Callable[[Mixture], float]) -> Interval:
        """Interval of the AUC; ``value`` gives it for a mixture.

        AUC and limits rise or fall with purity − prior, so that the corners of a region tell.
        """
        known = self._known_error("roc_auc")
        if known is not None:
            return self.options.interval(value(self.mixture), known)
        region = self.region or self.estimated
        scenarios = [self.mixture, *([] if region is None else region.corners)]
        areas = naive + self._areas(self.cells.drawn) - self._areas(self.cells.expected)

        def error(mixture: Mixture) -> float:
            behind = float(mixture.purity - self._behind(mixture))
            return (spread(areas) if self.delong is None else self.delong) / behind

        if self.uncertain is None:
            return Interval.union(self.options.interval(value(m), error(m)) for m in scenarios)
        draws = self._corrected_area(areas, self.uncertain)
        if self.estimated is None:
            return self.options.interval(value(self.mixture), spread(draws))
        return self._carried(value, draws, error(self.mixture), scenarios)

    # ------------------------------------------------------------------ what they are made of

    def _known_error(self, name: str) -> float | None:
        """Return a standard error that needs no draws, if it is all there is to the interval."""
        if self.region is not None or self.uncertain is not None:
            return None
        return self.errors.get(name)

    def _behind(self, mixture: Mixture | Mixtures) -> float | Array:
        """Share of positives in what the labeled rows are compared with."""
        if self.counts.has_propensity:
            return mixture.prevalence(self.counts)
        return mixture.background_prior(self.counts)

    def _areas(self, shares: Shares) -> Array:
        """Area under the ROC curve of labeled rows against others, or of positives against all."""
        y = shares.labeled if shares.positive is None else shares.positive
        x = background_share(self.counts, shares)
        if shares.positive is not None:
            share = self.counts.n_labeled / self.counts.n
            x = share * shares.labeled + (1 - share) * x
        steps = np.diff(x, axis=-1) * (y[..., 1:] + y[..., :-1]) / 2
        area: Array = x[..., 0] * y[..., 0] / 2 + steps.sum(axis=-1)
        return area

    def _corrected_area(self, areas: Array, mixtures: Mixtures) -> Array:
        flat = Mixtures(mixtures.prior.ravel(), mixtures.purity.ravel())
        area: Array = correct_area(areas, flat, self._behind(flat))
        return area

    def _scenarios(
        self, function: Callable[[Mixtures], Array], *, column: bool = True
    ) -> list[Mixture]:
        """Mixtures to look at: as assumed, all over the region, and where a measure is extreme."""
        if self.region is not None:
            nodes = self.region.corners if column else self.region.nodes
            return [self.mixture, *nodes, *extremes(self.region, function, column=column)]
        if self.estimated is not None:
            return [self.mixture, *extremes(self.estimated, function, column=column)]
        return [self.mixture]

    def _interval(
        self,
        value: Callable[[Mixture], float],
        drawn: Callable[[Mixture | Mixtures], Array],
        scenarios: list[Mixture],
        low: float = 0.0,
        high: float = 1.0,
        *,
        error: Callable[[Mixture | Mixtures], float] | None = None,
    ) -> Interval:
        """Take the error from the spread of the draws, if it is not given."""
        if error is None:

            def error(mixture: Mixture | Mixtures) -> float:
                return spread(drawn(mixture))

        if self.estimated is not None and self.uncertain is not None:
            known = error(self.mixture)
            return self._carried(value, drawn(self.uncertain), known, scenarios, low, high)
        first = self.options.interval(
            value(self.mixture), error(self.uncertain or self.mixture), low, high
        )
        others = (
            self.options.interval(value(mixture), error(mixture), low, high)
            for mixture in scenarios[1:]
        )
        return Interval.union([first, *others])

    def _carried(
        self,
        value: Callable[[Mixture], float],
        draws: Array,
        error: float,
        scenarios: list[Mixture],
        low: float = 0.0,
        high: float = 1.0,
    ) -> Interval:
        """Return limits that carry the uncertainty of an estimated mixture.

        They are quantiles of the draws, each with its own prior. These alone can miss a truth
        at which a measure is least (best accuracy first falls and then rises with the prior); so
        the limits also reach as far as the measure does for priors within their limits and
        the sampling error, both taken as independent.
        """
        found, now = (
            self.options.percentiles(value(self.mixture), draws, low, high),
            value(self.mixture),
        )
        others = [each for each in map(value, scenarios) if math.isfinite(each)]
        if math.isnan(found.low) or math.isnan(error) or not others:
            return found
        reach = self.options.reach * error
        least = now - math.hypot(max(now - min(others), 0.0), reach)
        most = now + math.hypot(max(max(others) - now, 0.0), reach)
        return Interval(
            min(found.low, max(least, low)), max(found.high, min(most, high)), found.standard_error
        )

    def rates_for(
        self, shares: Shares, mixture: Mixture | Mixtures, columns: list[int] | None = None
    ) -> Rates:
        """Correct shares for some mixture; at all thresholds, or those of some columns."""
        if columns is not None:
            shares = shares.part(columns)
            return correct_shares(
                self.counts, self.cells.threshold[columns], shares, mixture, self.target
            )
        if mixture is self.mixture and shares is self.cells.drawn:
            return self.drawn
        return correct_shares(self.counts, self.cells.threshold, shares, mixture, self.target)

    @cached_property
    def drawn(self) -> Rates:
        """Rates of every draw, with prior and purity as they are in the middle."""
        return correct_shares(
            self.counts, self.cells.threshold, self.cells.drawn, self.mixture, self.target
        )

    @cached_property
    def expected(self) -> Rates:
        """Rates that the draws lie around."""
        return self.rates_for(self.cells.expected, self.mixture)

    @cached_property
    def varied(self) -> Rates:
        """Rates of every draw, with its own prior and purity where these are uncertain."""
        if self.uncertain is None:
            return self.drawn
        return self.rates_for(self.cells.drawn, self.uncertain)


def precision_where(rates: Rates, *, otherwise: float) -> Array:
    """Precision, not clipped, where anything is predicted positive."""
    return np.where(rates.predicted > ZERO, MEASURES["precision"](rates), otherwise)


def _free_average_precision(rates: Rates) -> Array:
    """Average precision along the rates as they are, legal or not."""
    precision = precision_where(rates, otherwise=0.0)
    area: Array = np.sum(np.diff(rates.tpr, axis=-1) * precision[..., 1:], axis=-1)
    return area


def resample(
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    target: Target,
    *,
    threshold: float | Array,
    options: IntervalOptions,
    region: Region | None = None,
    errors: Mapping[str, float] | None = None,
    prevalence_varies: bool = False,
) -> Resamples:
    """Draw the counts between thresholds again, once they are needed.

    If ``prevalence_varies``, as many rows of each kind are drawn as chance wills.
    ``errors`` are standard errors that are known without, that of the AUC among them.
    """
    draws = partial(
        draw,
        counts,
        corners,
        mixture,
        threshold=threshold,
        options=options,
        prevalence_varies=prevalence_varies,
    )
    exact = options.variance == "sampling" and not counts.has_propensity and errors is None
    delong = delong_standard_error(counts, corners) if exact else None
    return Resamples(options, counts, target, mixture, draws, delong, region, errors=errors or {})
