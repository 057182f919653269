"""Confidence intervals of presence-only measures, from resampled counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, cached_property

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import wilson_limit
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Shares
from pueval.families.presence_family import PresenceCurve
from pueval.families.presence_measures import (
    PresenceWindows,
    boyce_correlations,
    expected_ratio,
    presence_and_target_shares,
    window_shares,
)
from pueval.families.smoothed_ratio import PresenceBins, smoothed_correlation, smoothed_log_ratio
from pueval.families.top_measure import measure_lines
from pueval.samples.steps import find_cells
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples

# Resamples of the smoothed ratio: each is fitted with several penalties.
SMOOTHED_DRAWS = 500


class PresenceResamples:
    """Resampled ratios P/E and curves of recall by predicted area.

    Parameters
    ----------
    resamples : Resamples
        Resampled counts, whose thresholds include those of windows and bins.
    windows : PresenceWindows
        Windows of the Boyce index, of the data: they are the same in every resample.
    """

    def __init__(self, resamples: Resamples, windows: PresenceWindows) -> None:
        self._resamples = resamples
        above = self._presence_and_target_shares(windows.thresholds)
        presences, rows = (window_shares(share, windows.start.size) for share in above)
        self._ratios = expected_ratio(presences, rows)

    def _shares_at(self, thresholds: Array) -> Shares:
        draws = self._resamples.draws
        return draws.resampled.part(find_cells(draws.threshold, thresholds))

    def _presence_and_target_shares(self, thresholds: Array) -> tuple[Array, Array]:
        resamples = self._resamples
        return presence_and_target_shares(
            resamples.counts, self._shares_at(thresholds), resamples.target
        )

    def boyce_interval(self, value: float, smoothed: Interval) -> Interval:
        """Return the interval of the Boyce index; ``smoothed`` is that of the smoothed index.

        Noise puts windows out of order, so the index is too close to 0: in the data, and in a
        resample even more so. Percentiles of the resamples alone always miss a perfect order. So
        the interval contains the percentiles and their reflection at the value. With few presences
        and a weak model that is not enough, and it also contains the interval of the smoothed
        index, which estimates nearly the same number with less bias.
        """
        if math.isnan(value):
            return Interval()
        draws = boyce_correlations(self._ratios)
        return Interval.union([self._reflected_interval(value, draws), smoothed])

    def smoothed_boyce_interval(self, value: float, bins: PresenceBins) -> Interval:
        """Return the interval of the smoothed Boyce index; each resample chooses its penalty.

        After an audit, the positives of a resample are spread over the scores as smooth curves say,
        and the order of such a ratio hardly varies. So as many positives as are known are drawn at
        random from them, as labeled rows are.
        """
        counts, target = self._resamples.counts, self._resamples.target
        numbers = bins.numbers(counts, self._shares_at(bins.threshold), target)
        presences, rows = (number[:SMOOTHED_DRAWS] for number in numbers)
        if counts._audit is not None:
            rng = np.random.default_rng([self._resamples.options.seed, 25])
            presences = rng.poisson(presences.clip(min=0)).astype(np.float64)
        curves = smoothed_log_ratio(presences, rows)
        return self._reflected_interval(value, smoothed_correlation(curves))

    def _reflected_interval(self, value: float, draws: Array) -> Interval:
        percentiles = self._resamples.options.percentile_interval
        drawn = percentiles(value, draws, -1.0, 1.0)
        return Interval.union([drawn, percentiles(value, 2 * value - draws, -1.0, 1.0)])

    def ratio_band(self, presences: Array, rows: Array) -> tuple[Array, Array]:
        """Return pointwise intervals of P/E; NaN in windows without a row of the target.

        ``presences`` and ``rows`` are the shares in the windows. The upper end is at least that of
        Wilson's interval for the share of the presences: with few or none, percentiles end too
        soon.
        """
        options, n = self._resamples.options, self._resamples.n_independent_labeled
        ends = np.full((2, rows.size), math.nan)
        by_window = np.ascontiguousarray(self._ratios.T)
        for k in np.flatnonzero(rows > 0):
            interval = options.percentile_interval(
                float(presences[k] / rows[k]), by_window[k], 0.0, math.inf
            )
            most = wilson_limit(min(float(presences[k]), 1.0), n, options.critical_value)
            ends[:, k] = interval.low, max(interval.high, most / float(rows[k]))
        return ends[0], ends[1]

    @cached_property
    def _has_all_scores(self) -> bool:
        """Whether resamples have a threshold at each score of a positive."""
        counts = self._resamples.counts
        scores = counts._labeled.distinct_cumulative()[0]
        return counts._audit is None and bool(
            np.isin(scores, self._resamples.draws.threshold).all()
        )

    def curve_interval(self, value: Callable[[Mixture], float], measure: PresenceCurve) -> Interval:
        """Return the interval of a number of the curve of recall by predicted area.

        ``value`` returns it in the data, for a mixture. A number that jumps is skew, and may be a
        jump away from the true one. So its interval has percentiles of the resamples, with jumps
        where the resamples have all scores.
        """
        resamples = self._resamples

        def expected(mixture: Mixture | Mixtures) -> Array:
            return np.ravel(measure(resamples.rates_for(resamples.draws.expected, mixture)))

        # The cells of the draws change the curve a little.
        center = resamples.mixture
        shift = value(center) - float(expected(center)[0])

        @cache
        def resampled(mixture: Mixture | Mixtures) -> Array:
            rates = resamples.rates_for(resamples.draws.resampled, mixture)
            if measure.jumps and self._has_all_scores:
                recall = np.maximum.accumulate(rates.tpr, axis=-1)
                predicted = np.broadcast_to(rates.predicted, recall.shape)
                return np.array([*map(measure.exact, recall, predicted)])
            values: Array = measure_lines([measure], rates)[0] + shift
            return values

        if measure.jumps:
            options, drawn = resamples.options, resamples.mixture_draws
            pairs = [(center, center if drawn is None else drawn)]
            pairs += [(m, m) for m in resamples.prior.given_nodes(options.critical_value)]
            return Interval.union(
                options.percentile_interval(value(m), resampled(of_draws)) for m, of_draws in pairs
            )
        scenarios = resamples.prior.scenarios(expected)
        return resamples.interval(value, resampled, scenarios, high=measure.high)
