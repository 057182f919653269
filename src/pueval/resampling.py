"""The bootstrap: counts between thresholds drawn again, and intervals from them.

What is drawn again are the counts of a few hundred cells between thresholds, never rows, so that
ten million rows cost what a few thousand do. All measures share the same draws. Prior and
purity are exact, or known to lie in a region, or uncertain: then every draw has its own.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pueval.counts import Counts, Steps
from pueval.draws import Cells, draw
from pueval.intervals import Interval, Resampling, delong_standard_error, spread
from pueval.measures import Measure
from pueval.mixture import Mixture, Mixtures, Target
from pueval.rates import Rates, Shares, background, correct_area, rates, rates_of_shares
from pueval.region import Region, extremes
from pueval.samples import Array

# How much of the excess of a best value is in doubt; by simulation (benchmarks/coverage.py).
DOUBT = 1.5


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
    cells : Cells
        The counts drawn again.
    delong : float or None
        DeLong's standard error of the naive AUC; None where his formula does not hold.
    region : Region or None
        What prior and purity may be, where they are given as intervals.
    uncertain : Mixtures or None
        Prior and purity of every draw, where they were estimated.
    """

    how: Resampling
    counts: Counts
    target: Target
    mixture: Mixture
    cells: Cells
    delong: float | None
    region: Region | None = None
    uncertain: Mixtures | None = None

    def with_uncertain(self, mixtures: Mixtures) -> Resamples:
        """Give every draw a prior and a purity of its own."""
        return replace(self, uncertain=mixtures)

    def represented_mixtures(self) -> Mixtures:
        """Return the prior of every draw that follows from its propensities."""
        positives, counts = self.cells.positives, self.counts
        assert positives is not None  # noqa: S101 - only asked for where propensities are known
        prior = np.clip((positives - counts.n_labeled) / counts.n_unlabeled, 0.0, 1 - 1e-9)
        return Mixtures(prior[:, None], np.ones((prior.size, 1)))

    # ------------------------------------------------------------------ intervals

    def at(self, measure: Measure, threshold: float) -> Interval:
        """Interval of a measure at a fixed threshold."""
        column = [int(np.flatnonzero(self.cells.threshold == threshold)[0])]
        here = self.counts.at(threshold)

        def exact(mixture: Mixture | Mixtures) -> Array:
            return measure(rates(self.counts, here, mixture, self.target))

        def drawn(mixture: Mixture | Mixtures) -> Array:
            return measure(self._rates(self.cells.drawn, mixture, column)).ravel()

        scenarios = [self.mixture]
        if self.region is not None:
            scenarios += [*self.region.nodes, *extremes(self.region, exact)]
        return self._interval(
            lambda mixture: float(exact(mixture)[0]), drawn, scenarios, measure.low, measure.high
        )

    def best(self, measure: Measure, value: Callable[[Mixture], float]) -> Interval:
        """Interval of the best value over all thresholds; ``value`` gives it for a mixture.

        The best of many noisy values is too good on average. How much is seen from the resamples,
        whose best values are too good compared with that of what they are drawn from; it is taken
        off, and `DOUBT` times as much is added to the standard error, since it is known only
        roughly.
        """
        sign = 1.0 if measure.greater_is_better else -1.0

        def best_of(shares: Shares, mixture: Mixture | Mixtures) -> Array:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # lines without a defined value
                found: Array = sign * np.nanmax(
                    sign * measure(self._rates(shares, mixture)), axis=-1
                )
            return found

        def one(mixture: Mixture, draws: Array | None = None) -> Interval:
            known = best_of(self.cells.drawn, mixture)
            optimism = float(np.nanmean(known) - best_of(self.cells.expected, mixture))
            center, doubt = value(mixture) - optimism, DOUBT * optimism
            if draws is None:
                return self.how.interval(
                    center, math.hypot(spread(known), doubt), measure.low, measure.high
                )
            # The same doubt, drawn.
            noise = self.cells.noise * doubt
            return self.how.percentiles(center, draws - optimism + noise, measure.low, measure.high)

        if self.uncertain is not None:
            return one(self.mixture, best_of(self.cells.drawn, self.uncertain))
        scenarios = [self.mixture]
        if self.region is not None:
            scenarios += [
                *self.region.corners,
                *extremes(self.region, lambda m: best_of(self.cells.expected, m), column=True),
            ]
        return Interval.union(one(mixture) for mixture in scenarios)

    def average_precision(self, value: Callable[[Mixture], float]) -> Interval:
        """Interval of the average precision; ``value`` gives it for a mixture."""

        def drawn(mixture: Mixture | Mixtures) -> Array:
            return _average_precision(self._rates(self.cells.drawn, mixture))

        def expected(mixture: Mixture | Mixtures) -> Array:
            return _average_precision(self._rates(self.cells.expected, mixture))

        scenarios = [self.mixture]
        if self.region is not None:
            found = extremes(self.region, expected, column=True)
            scenarios += [*self.region.corners, *found]
        return self._interval(value, drawn, scenarios)

    def auc(self, naive: float, value: Callable[[Mixture], float]) -> Interval:
        """Interval of the AUC; ``value`` gives it for a mixture.

        AUC and limits rise or fall with purity − prior, so that the corners of a region tell.
        """
        if self.uncertain is not None:
            areas = naive + self._areas(self.cells.drawn) - self._areas(self.cells.expected)
            return self.how.percentiles(
                value(self.mixture), self._corrected_area(areas, self.uncertain)
            )
        corners = [] if self.region is None else self.region.corners
        error = self.delong
        if error is None:
            error = spread(self._areas(self.cells.drawn))
        return Interval.union(
            self.how.interval(value(m), error / float(m.purity - self._behind(m)))
            for m in (self.mixture, *corners)
        )

    # ------------------------------------------------------------------ what they are made of

    def _behind(self, mixture: Mixture | Mixtures) -> float | Array:
        """Share of positives in what the labeled rows are compared with."""
        if self.counts.has_propensity:
            return mixture.prevalence(self.counts)
        return mixture.background_prior(self.counts)

    def _areas(self, shares: Shares) -> Array:
        """Area under the ROC curve of labeled rows against others, or of positives against all."""
        y = shares.labeled if shares.positive is None else shares.positive
        x = background(self.counts, shares)
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

    def _interval(
        self,
        value: Callable[[Mixture], float],
        drawn: Callable[[Mixture | Mixtures], Array],
        scenarios: list[Mixture],
        low: float = 0.0,
        high: float = 1.0,
    ) -> Interval:
        if self.uncertain is not None:
            return self.how.percentiles(value(self.mixture), drawn(self.uncertain), low, high)
        return Interval.union(
            self.how.interval(value(mixture), spread(drawn(mixture)), low, high)
            for mixture in scenarios
        )

    def _rates(
        self, shares: Shares, mixture: Mixture | Mixtures, columns: list[int] | None = None
    ) -> Rates:
        if columns is not None:
            shares = shares.part(columns)
            return rates_of_shares(
                self.counts, self.cells.threshold[columns], shares, mixture, self.target
            )
        if mixture is self.mixture and shares is self.cells.drawn:
            return self.drawn
        return rates_of_shares(self.counts, self.cells.threshold, shares, mixture, self.target)

    @cached_property
    def drawn(self) -> Rates:
        """Rates of every draw, with prior and purity as they are in the middle."""
        return rates_of_shares(
            self.counts, self.cells.threshold, self.cells.drawn, self.mixture, self.target
        )

    @cached_property
    def varied(self) -> Rates:
        """Rates of every draw, with its own prior and purity where these are uncertain."""
        if self.uncertain is None:
            return self.drawn
        return self._rates(self.cells.drawn, self.uncertain)


def _average_precision(rates: Rates) -> Array:
    """Sum of precision at the end of each cell times the gain of recall in it."""
    precision = rates.prevalence * np.divide(
        rates.tpr, rates.predicted, out=np.zeros_like(rates.tpr), where=rates.predicted > 0
    )
    area: Array = np.sum(np.diff(rates.tpr, axis=-1) * precision[..., 1:], axis=-1)
    return area


def resample(
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    target: Target,
    *,
    threshold: float,
    how: Resampling,
    region: Region | None = None,
) -> Resamples:
    """Draw the counts between thresholds again."""
    cells = draw(counts, corners, mixture, threshold=threshold, how=how)
    exact = how.variance == "sampling" and not counts.has_propensity
    delong = delong_standard_error(counts, corners) if exact else None
    return Resamples(how, counts, target, mixture, cells, delong, region)
