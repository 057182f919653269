"""Confidence intervals of calibration: shares of positives in bins, slope and intercept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Shares
from pueval.families.calibration_line import (
    bin_shares,
    cell_lines,
    debiased_distance,
    logits,
    observed_shares,
)
from pueval.families.score_means import ScoreMeans, correct_means
from pueval.uncertainty.bin_intervals import BinIntervals
from pueval.uncertainty.intervals import Interval, bootstrap_standard_error
from pueval.uncertainty.mean_intervals import within_cell_noise
from pueval.uncertainty.measure_intervals import Resamples


class CalibrationResamples:
    """Resampled calibration curves and lines.

    Parameters
    ----------
    resamples : Resamples
        Resampled counts, whose thresholds include the lower ends of all bins but the lowest.
    thresholds : ndarray
        Lower ends of the bins, descending; the last one is −inf.
    line : tuple of float
        Intercept and slope in the data.
    """

    def __init__(self, resamples: Resamples, thresholds: Array, line: tuple[float, float]) -> None:
        self._resamples = resamples
        self._line = line
        self._thresholds = thresholds
        self._bins = BinIntervals(resamples, thresholds)
        self._kept: dict[tuple[Mixture | Mixtures, bool], Array] = {}

    # ------------------------------------------------------------------ bins

    def bin_interval(self, number: int) -> Interval:
        """Return the interval of the share of positives in a bin; bin 0 has the highest scores."""
        # Rates at the two ends of the bin suffice; those of all bins would make it slow.
        ends = self._thresholds[max(number - 1, 0) : number + 1]
        return BinIntervals(self._resamples, ends).interval(ends.size - 1)

    def calibration_error_interval(
        self, score: Array, value: Callable[[Mixture], float]
    ) -> Interval:
        """Return the interval of the expected calibration error; ``value`` is that for a mixture.

        ``score`` has the mean score of each bin. It hardly varies compared with the share of
        positives, and is taken as fixed. Absolute values of noisy differences are too large, and in
        a resample even more so than in the data. So the interval contains both the percentiles of
        the resamples and their reflection at the debiased error: near 0 only the second, far from
        it only the first hold the truth often enough.
        """
        resamples = self._resamples
        options = resamples.options

        def interval(mixture: Mixture, drawn: Mixture | Mixtures) -> Interval:
            rates = self._bins.drawn_rates(resamples.draws.resampled, drawn)
            shares, (_, rows) = observed_shares(rates), bin_shares(rates)
            distance = debiased_distance(np.nan_to_num(shares - score), _bin_errors(shares))
            values, error = (rows * distance).sum(axis=-1), value(mixture)
            percentiles = options.percentile_interval(error, values)
            reflected = options.percentile_interval(error, 2 * error - values, -math.inf, math.inf)
            return Interval(
                max(min(percentiles.low, reflected.low), 0.0),
                min(max(percentiles.high, reflected.high), 1.0),
                percentiles.standard_error,
            )

        nodes = resamples.prior.given_nodes(options.critical_value)
        return Interval.union(
            [
                interval(resamples.mixture, resamples.drawn_mixture),
                *(interval(node, node) for node in nodes),
            ]
        )

    # ------------------------------------------------------------------ slope and intercept

    @cached_property
    def _log_odds(self) -> ScoreMeans:
        threshold = self._resamples.draws.threshold
        return ScoreMeans(self._resamples.counts, lambda s: logits(s)[None, :], threshold)

    def _lines(self, shares: Shares, mixture: Mixture | Mixtures, *, noise: bool) -> Array:
        """Return intercepts and slopes, an array of shape (2, …)."""
        resamples = self._resamples
        rates = resamples.rates_for(shares, mixture)
        added = within_cell_noise(resamples.options, 1) if noise else None
        if added is not None:
            added = [numbers[: len(shares.labeled)] for numbers in added]
        means = correct_means(
            resamples.counts,
            self._log_odds.of_cells(shares, noise=added),
            mixture,
            resamples.target,
        )
        return cell_lines(self._log_odds, rates, means, self._line)

    def line_intervals(self) -> tuple[Interval, Interval]:
        """Return the intervals of intercept and slope.

        With few labeled rows, slopes are skewed: the steeper the line, the more it varies. The
        reciprocal of a slope hardly is, and it is 0 if labeled rows look completely separated from
        the rest, when there is no line. So the interval is that of the reciprocal, if all resampled
        lines ascend.
        """
        slope = self._line[1]
        resampled = self._resampled_lines(self._resamples.drawn_mixture)[1]
        if slope > 0 and not np.any(resampled <= 0):
            reciprocal = self._line_interval(1, _reciprocal)
            error = reciprocal.standard_error * slope**2
            return self._line_interval(0), replace(reciprocal.reciprocal(), standard_error=error)
        return self._line_interval(0), self._line_interval(1)

    def _line_interval(
        self, which: int, transform: Callable[[Array], Array] = np.asarray
    ) -> Interval:
        """Return the interval of the intercept (0) or the slope (1), transformed.

        Where many resamples have no line, or some possible prior has none, it has percentiles of
        the resamples, with infinitely steep lines in the place of missing ones.
        """
        resamples, line = self._resamples, self._line
        # Cells change the line a little, by the same amount for every mixture.
        shift = float(np.nan_to_num(line[which] - self._expected_line(resamples.mixture)[which]))

        def value(mixture: Mixture) -> float:
            return float(transform(self._expected_line(mixture)[which] + shift))

        def resampled(mixture: Mixture | Mixtures) -> Array:
            return transform(self._resampled_lines(mixture)[which] + shift)

        scenarios = resamples.prior.corner_scenarios()
        normal = resamples.interval(value, resampled, scenarios, -math.inf, math.inf)
        if not math.isnan(normal.low):
            return normal
        region = resamples.prior.region
        return Interval.union(
            resamples.options.percentile_interval(
                float(transform(np.asarray(line[which]))),
                transform(_with_steep_lines(self._resampled_lines(mixture))[which] + shift),
                -math.inf,
                math.inf,
            )
            for mixture in (
                self._resamples.drawn_mixture,
                *([] if region is None else region.nodes),
            )
        )

    def _resampled_lines(self, mixture: Mixture | Mixtures) -> Array:
        return self._kept_lines(mixture, resampled=True)

    def _expected_line(self, mixture: Mixture) -> Array:
        return self._kept_lines(mixture, resampled=False)

    def _kept_lines(self, mixture: Mixture | Mixtures, *, resampled: bool) -> Array:
        """Compute lines once: intercept and slope come from the same ones."""
        key = (mixture, resampled)
        if key not in self._kept:
            draws = self._resamples.draws
            shares = draws.resampled if resampled else draws.expected
            self._kept[key] = self._lines(shares, mixture, noise=resampled)
        return self._kept[key]


def _bin_errors(shares: Array) -> Array:
    """Return standard errors of the resampled shares in bins; 0 where they are not defined."""
    errors: Array = np.array([bootstrap_standard_error(column) for column in shares.T])
    return np.nan_to_num(errors)


def _reciprocal(slope: Array) -> Array:
    """Return reciprocals; 0 where there is no slope, because it is infinitely steep."""
    with np.errstate(divide="ignore"):
        return np.where(np.isnan(slope), 0.0, 1 / np.asarray(slope))


def _with_steep_lines(lines: Array) -> Array:
    """Make lines that do not exist infinitely steep.

    If the labeled rows of a resample score so high that the likelihood has no maximum, it grows
    with the slope, and the intercept follows as it does in the other resamples.
    """
    defined = np.isfinite(lines).all(axis=0)
    if defined.all() or defined.sum() < 2:
        return lines
    together = np.cov(lines[:, defined])[0, 1]
    direction = float(np.sign(np.median(lines[1, defined]))) or 1.0
    steep = np.array([direction * (np.sign(together) or 1.0), direction]) * math.inf
    return np.where(defined, lines, steep[:, None])
