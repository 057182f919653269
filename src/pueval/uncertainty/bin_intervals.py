"""Confidence intervals of the share of positives among the rows between two thresholds."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import wilson_limit
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Rates, Shares, correct_steps, replace_prevalence
from pueval.families.calibration_line import bin_shares, observed_shares
from pueval.samples.steps import find_cells
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples


class BinIntervals:
    """Intervals of the share of positives in bins of the score, the highest scores first.

    Parameters
    ----------
    resamples : Resamples
        Resampled counts, whose thresholds include the lower ends of all bins but the lowest.
    thresholds : ndarray
        Lower ends of the bins, descending; the last one is −inf.
    prevalence : float, optional
        Share of positives in another population with the same distributions of the score in each
        class; by default that of the target.
    """

    def __init__(
        self, resamples: Resamples, thresholds: Array, prevalence: float | None = None
    ) -> None:
        self._resamples = resamples
        self._prevalence = prevalence
        self._steps = resamples.counts.at(thresholds)
        self._columns = find_cells(resamples.draws.threshold, thresholds)

    def rates(self, mixture: Mixture) -> Rates:
        """Return the rates of the data at the lower ends of the bins."""
        resamples = self._resamples
        return self._moved(correct_steps(resamples.counts, self._steps, mixture, resamples.target))

    def drawn_rates(self, shares: Shares, mixture: Mixture | Mixtures) -> Rates:
        """Return the rates of draws at the lower ends of the bins."""
        return self._moved(self._resamples.rates_for(shares, mixture, self._columns))

    def _moved(self, rates: Rates) -> Rates:
        if self._prevalence is None:
            return rates
        return replace_prevalence(rates, self._prevalence)

    def interval(self, number: int) -> Interval:
        """Return the interval of the share of positives in a bin; bin 0 has the highest scores.

        Its upper end is at least that of Wilson's interval for the share of the positives in the
        bin: where few or no labeled rows are seen, normal intervals end too soon.
        """
        resamples = self._resamples

        def value(mixture: Mixture) -> float:
            return float(observed_shares(self.rates(mixture))[number])

        @cache
        def resampled(mixture: Mixture | Mixtures) -> Array:
            rates = self.drawn_rates(resamples.draws.resampled, mixture)
            shares: Array = observed_shares(rates)
            return shares[..., number]

        def expected(mixture: Mixture | Mixtures) -> Array:
            shares = observed_shares(self.drawn_rates(resamples.draws.expected, mixture))
            return np.atleast_1d(shares[..., number])

        normal = resamples.interval(value, resampled, resamples.prior.scenarios(expected))
        if math.isnan(normal.low):
            return normal
        critical_value = resamples.options.critical_value
        high = normal.high
        for mixture in (resamples.mixture, *resamples.prior.given_nodes(critical_value)):
            rates = self.rates(mixture)
            positives, rows = (share[number] for share in bin_shares(rates))
            if rows > 0:
                most = wilson_limit(
                    min(max(positives, 0.0), 1.0), resamples.n_independent_labeled, critical_value
                )
                high = max(high, min(float(rates.prevalence * most / rows), 1.0))
        return replace(normal, high=high)
