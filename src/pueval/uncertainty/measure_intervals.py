"""Confidence intervals of measures: DeLong's for the AUC, from resampled counts for all others.

The bootstrap resamples the counts of a few hundred cells between thresholds, never rows, so ten
million rows cost what a few thousand do. All measures share the same draws. What an uncertain
prior adds to an interval is in `pueval.uncertainty.uncertain_prior`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision, unconstrained_average_precision
from pueval.core.curves import line_area, roc_area
from pueval.core.labeling_moments import check_labels_can_be_drawn
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import (
    LINE_THREADS,
    Rates,
    Shares,
    background_share,
    correct_area,
    full_lines,
)
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps
from pueval.samples.threads import map_in_threads
from pueval.uncertainty.audited_draws import draw_audited
from pueval.uncertainty.bootstrap_draws import (
    BootstrapDraws,
    cell_thresholds,
    draw_counts,
)
from pueval.uncertainty.clustered_auc import clustered_auc_limits
from pueval.uncertainty.intervals import Interval, IntervalOptions, bootstrap_standard_error
from pueval.uncertainty.resampled_rates import ResampledRates
from pueval.uncertainty.uncertain_prior import UncertainPrior

# Standard error of the optimism of a best value, as a multiple of it. Chosen by simulation of
# coverage (tests/coverage), as is the next constant.
OPTIMISM_ERROR = 1.5
# Weight of the variance of an area along unconstrained rates. By chance rates can look perfect, and
# then constrained rates hardly vary. Derivatives have a constant for the same purpose, tuned
# separately: `pueval.core.average_precision`, UNCONSTRAINED_WEIGHT.
UNCONSTRAINED_VARIANCE = 0.2


class Resamples(ResampledRates):
    """Confidence intervals from resampled rates."""

    def interval_at(self, measure: Measure, threshold: float, *, clipped: bool = True) -> Interval:
        """Return the interval of a measure at a fixed threshold.

        With ``clipped=False`` its ends may lie outside the range of the measure.
        """
        low, high = (measure.low, measure.high) if clipped else (-math.inf, math.inf)
        error = self._known_error(measure.name)

        def value(mixture: Mixture | Mixtures) -> Array:
            return measure(self.rates_at(threshold, mixture))

        if error is not None:
            options = self.options
            normal = options.ratio_interval if measure.is_ratio else options.normal_interval
            return normal(float(value(self.mixture)[0]), error, low, high)

        resampled = cache(partial(self.resampled_values, measure, threshold))
        if measure.is_ratio:
            # Ratios are far from normal.
            center = float(value(self.mixture)[0])
            return Interval.union(
                self.options.percentile_interval(center, resampled(m), measure.low, measure.high)
                for m in (self.drawn_mixture, *self.prior.given_nodes(self.options.critical_value))
            )
        scenarios = self.prior.scenarios(value, as_column=False)
        return self.interval(
            lambda mixture: float(value(mixture)[0]), resampled, scenarios, low, high
        )

    def resampled_values(
        self, measure: Measure, threshold: float, mixture: Mixture | Mixtures
    ) -> Array:
        """Return a measure at a threshold of the draws, one value per resample."""
        rates = self.resampled_rates_at(threshold, mixture)
        values = measure(rates)
        if measure.is_ratio:
            # A ratio with a denominator of 0 is infinite, not undefined.
            values = np.where(np.isnan(values) & (rates.predicted > 0), math.inf, values)
        return values.ravel()

    def best_interval(self, measure: Measure, value: Callable[[Mixture], float]) -> Interval:
        """Return the interval of the best value over all thresholds.

        The best of many noisy values is too good on average. The resamples show by how much: their
        best values are too good compared with that of the data they are drawn from. This optimism
        is subtracted, and `OPTIMISM_ERROR` times the optimism is added to the standard error, since
        it is known only roughly. For ratios this is done on the log scale.

        ``value`` returns the best value for a mixture.
        """
        if measure.is_ratio:
            interval = self._best_interval(measure, value, transformed=True).exponential()
            if not math.isnan(interval.low):
                return interval
        return self._best_interval(measure, value, transformed=False)

    def _best_interval(
        self, measure: Measure, best: Callable[[Mixture], float], *, transformed: bool
    ) -> Interval:
        low, high = (-math.inf, math.inf) if transformed else (measure.low, measure.high)
        sign = 1.0 if measure.greater_is_better else -1.0

        def value(mixture: Mixture) -> float:
            largest = best(mixture)
            return float(measure.transform(np.array(largest))) if transformed else largest

        def best_of(shares: Shares, mixture: Mixture | Mixtures) -> Array:
            values = measure(self.rates_for(shares, mixture))
            values = sign * (measure.transform(values) if transformed else values)
            largest: Array = np.where(np.isnan(values), -math.inf, values).max(axis=-1)
            # There is no best value if the measure is undefined at every threshold.
            return sign * np.where(np.isneginf(largest), math.nan, largest)

        @cache
        def optimism_and_error(mixture: Mixture | Mixtures) -> tuple[float, float]:
            resampled = best_of(self.draws.resampled, mixture)
            center = self.mixture if isinstance(mixture, Mixtures) else mixture
            defined = resampled[np.isfinite(resampled)]
            average = defined.mean() if defined.size else math.nan
            optimism = float(average - best_of(self.draws.expected, center))
            return optimism, math.hypot(
                bootstrap_standard_error(resampled), OPTIMISM_ERROR * optimism
            )

        def resampled(mixtures: Mixtures) -> Array:
            optimism, _ = optimism_and_error(self.mixture)
            noise = OPTIMISM_ERROR * optimism * self.draws.noise
            return best_of(self.draws.resampled, mixtures) - optimism + noise

        scenarios = self.prior.scenarios(lambda m: best_of(self.draws.expected, m))
        return self._interval(value, optimism_and_error, resampled, scenarios, low, high)

    def average_precision_interval(self, value: Callable[[Mixture], float]) -> Interval:
        """Return the interval of the average precision; ``value`` returns it for a mixture."""
        error = self._known_error("average_precision")
        if error is not None:
            return self.options.normal_interval(value(self.mixture), error)
        return self._area_interval(value, average_precision, unconstrained_average_precision)

    def roc_area_interval(self, value: Callable[[Mixture], float]) -> Interval:
        """Return the interval of the area under the corrected ROC curve."""
        return self._area_interval(value, roc_area, lambda rates: line_area(rates.fpr, rates.tpr))

    def _area_interval(
        self,
        value: Callable[[Mixture], float],
        area: Callable[[Rates], Array],
        unconstrained_area: Callable[[Rates], Array],
    ) -> Interval:
        """Return the interval of an area along monotone rates.

        ``value`` returns the area for a mixture, ``area`` that of rates, and ``unconstrained_area``
        that of rates that may fall or leave [0, 1].
        """

        def expected(mixture: Mixture | Mixtures) -> Rates:
            return self.rates_for(self.draws.expected, mixture)

        def areas(mixture: Mixture | Mixtures) -> tuple[Array, Array]:
            return self._kept(
                (area, mixture), lambda: self._resampled_areas(area, unconstrained_area, mixture)
            )

        def bias_and_error(mixture: Mixture | Mixtures) -> tuple[float, float]:
            constrained, free = (bootstrap_standard_error(part) ** 2 for part in areas(mixture))
            weight = UNCONSTRAINED_VARIANCE
            return 0.0, math.sqrt((1 - weight) * constrained + weight * free)

        scenarios = self.prior.scenarios(lambda mixture: area(expected(mixture)))
        return self._interval(value, bias_and_error, lambda m: areas(m)[0], scenarios)

    def _resampled_areas(
        self,
        area: Callable[[Rates], Array],
        unconstrained_area: Callable[[Rates], Array],
        mixture: Mixture | Mixtures,
    ) -> tuple[Array, Array]:
        """Return the area of each resample along centered rates, and along unconstrained ones.

        Computed in blocks of lines, so that temporary arrays stay in the cache.
        """
        shares = self.draws.resampled

        def compute(block: slice) -> tuple[Array, Array]:
            part = mixture.lines(block) if isinstance(mixture, Mixtures) else mixture
            rates = full_lines(self.rates_for(shares.lines(block), part))
            return area(self.centered(rates, part)), unconstrained_area(rates)

        parts = map_in_threads(compute, shares.line_blocks(), LINE_THREADS)
        constrained, free = map(np.concatenate, zip(*parts, strict=True))
        return constrained, free

    def auc_interval(self, naive: float, value: Callable[[Mixture], float]) -> Interval:
        """Return the interval of the AUC; ``value`` returns it for a mixture.

        The AUC and the ends of its interval are monotone in purity − prior, so the corners of a
        region are enough.
        """
        clustered = self.clustered_auc
        excess = 0.0 if clustered is None else clustered.excess

        def contrast(mixture: Mixture) -> float:
            return float(mixture.purity - self._background_prior(mixture))

        def bias(mixture: Mixture) -> float:
            return excess / contrast(mixture)

        def normal_interval(mixture: Mixture, center: float, error: float) -> Interval:
            if clustered is None:
                return self.options.normal_interval(center, error)
            critical_value = self.options.critical_value
            ends = clustered_auc_limits(
                center, error, contrast(mixture), clustered.row_share, critical_value
            )
            return Interval(float(ends[0]), float(ends[1]), error)

        error = self._known_error("roc_auc")
        if error is not None:
            center = value(self.mixture) - bias(self.mixture)
            return normal_interval(self.mixture, center, error)

        @cache
        def naive_areas() -> Array:
            resampled, expected = (
                self._naive_areas(shares) for shares in (self.draws.resampled, self.draws.expected)
            )
            return naive - excess + resampled - expected

        def resampled(mixtures: Mixtures) -> Array:
            flat = Mixtures(mixtures.prior.ravel(), mixtures.purity.ravel())
            areas: Array = correct_area(naive_areas(), flat, self._background_prior(flat))
            return areas

        def bias_and_error(mixture: Mixture | Mixtures) -> tuple[float, float]:
            if isinstance(mixture, Mixtures):
                return bias(self.mixture), bootstrap_standard_error(resampled(mixture))
            naive_error = self.naive_auc_error
            if naive_error is None:
                naive_error = bootstrap_standard_error(naive_areas())
            return bias(mixture), naive_error / contrast(mixture)

        return self._interval(
            value,
            bias_and_error,
            resampled,
            self.prior.corner_scenarios(),
            normal_interval=normal_interval,
        )

    def interval(
        self,
        value: Callable[[Mixture], float],
        resampled: Callable[[Mixture | Mixtures], Array],
        scenarios: list[Mixture],
        low: float = 0.0,
        high: float = 1.0,
    ) -> Interval:
        """Return the interval of an estimate that has no bias worth a correction.

        ``value`` returns the estimate for a mixture, ``resampled`` that of each resample. Intervals
        are made for all ``scenarios``, and clipped to the range from ``low`` to ``high``.
        """

        def bias_and_error(mixture: Mixture | Mixtures) -> tuple[float, float]:
            return 0.0, bootstrap_standard_error(resampled(mixture))

        return self._interval(value, bias_and_error, resampled, scenarios, low, high)

    def _interval(
        self,
        value: Callable[[Mixture], float],
        bias_and_error: Callable[[Mixture | Mixtures], tuple[float, float]],
        resampled: Callable[[Mixtures], Array],
        scenarios: list[Mixture],
        low: float = 0.0,
        high: float = 1.0,
        normal_interval: Callable[[Mixture, float, float], Interval] | None = None,
    ) -> Interval:
        return self.prior.interval(
            self.options,
            value,
            bias_and_error,
            resampled,
            self.mixture_draws,
            scenarios,
            low,
            high,
            normal_interval,
        )

    def _known_error(self, name: str) -> float | None:
        """Return a standard error that is known without resampling, for an exact mixture."""
        return self.standard_errors.get(name) if self.prior.is_exact else None

    def _background_prior(self, mixture: Mixture | Mixtures) -> float | Array:
        """Return the share of positives in the sample that labeled rows are compared with."""
        if self.counts.has_propensity:
            return mixture.prevalence(self.counts, self.target)
        return mixture.background_prior(self.counts)

    def _naive_areas(self, shares: Shares) -> Array:
        """Return areas under the ROC curve of labeled rows against the background.

        With propensities it is the curve of positives against all rows of the target.
        """
        y = shares.labeled if shares.positive is None else shares.positive
        x = background_share(self.counts, shares)
        if shares.positive is not None and self.target == "population":
            share = self.counts.n_labeled / self.counts.n
            x = share * shares.labeled + (1 - share) * x
        area: Array = x[..., 0] * y[..., 0] / 2 + np.trapezoid(y, x)
        return area


def resample_counts(
    counts: Counts,
    corners: Steps,
    prior: UncertainPrior,
    target: Target,
    *,
    threshold: float | Array,
    threshold_chosen: bool = False,
    options: IntervalOptions,
    standard_errors: Mapping[str, float] | None = None,
    prevalence_varies: bool = False,
) -> Resamples:
    """Resample the counts between thresholds; nothing is drawn before it is needed.

    Parameters
    ----------
    counts : Counts
        The data.
    corners : Steps
        Corners of the naive ROC curve.
    prior : UncertainPrior
        Prior and purity.
    target : {"population", "unlabeled"}
        Population to evaluate.
    threshold : float or ndarray
        Thresholds at which intervals will be needed.
    threshold_chosen : bool
        Whether it was chosen on the same rows, so that resamples need to choose again.
    options : IntervalOptions
        Confidence level, number of resamples, random seed, kind of variance.
    standard_errors : mapping of str to float, optional
        Standard errors that are known without resampling; must include that of the AUC.
    prevalence_varies : bool
        Whether the number of rows of each kind, and with it the prevalence, varies.

    Returns
    -------
    Resamples
    """
    if options.variance == "labeling":
        check_labels_can_be_drawn(counts)
    draw: Callable[[], BootstrapDraws] = partial(
        draw_counts,
        counts,
        corners,
        prior.mixture,
        threshold=threshold,
        threshold_chosen=threshold_chosen,
        options=options,
        prevalence_varies=prevalence_varies,
    )
    if counts._audit is not None:
        draw = partial(draw_audited, counts, draw)
    uses_delong = (
        options.variance == "sampling" and not counts.has_propensity and standard_errors is None
    )
    delong_corners = corners if uses_delong else None
    thresholds = partial(
        cell_thresholds, counts, corners, threshold, threshold_chosen=threshold_chosen
    )
    return Resamples(
        options, counts, target, prior, draw, delong_corners, thresholds, standard_errors or {}
    )
