"""How an uncertain prior or purity widens confidence intervals.

Prior and purity can be known in four ways, which `UncertainPrior` describes:

- exactly;
- within a given region: the interval must hold everywhere in the region, so it is the union of
  the intervals for many priors and purities;
- from the number of labeled rows, which varies from sample to sample: each resample gets a prior
  of its own;
- by an estimate with a confidence region: each resample gets a prior of its own, and the interval
  also covers the values that the measure takes within the confidence region (except for ratios at
  a fixed threshold, whose intervals are percentiles of the draws).

The error of an estimate and the sampling error of the rows are treated as independent, so they add
in quadrature. There is one interface for each kind of result: `UncertainPrior.interval` for a
number, `UncertainPrior.curve_scenarios` for a curve, `pueval.uncertainty.prior_profile` for
differences that share the prior, and `prior_changes` for many groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.core.sizes import divide_or_zero
from pueval.uncertainty.bootstrap_draws import BootstrapDraws
from pueval.uncertainty.intervals import Interval, IntervalOptions
from pueval.uncertainty.prior_region import Region, find_extremes

# Positions at which a band looks at an estimate, as shares of the way to the end of its
# confidence interval.
BAND_POSITIONS = (0.4, 0.7, 0.9, 1.0)
# Points per side of the grid at which a band looks at a given region.
BAND_GRID = 3
# `prior_changes` keeps priors this far below the purity, as a share of it: numerical slopes close
# to the pole of the correction would be meaningless.
SLOPE_CONTRAST = 1e-3
# `purity_changes` keeps purities above this.
LEAST_PURITY = 1e-3


@dataclass(frozen=True, eq=False)
class UncertainPrior:
    """Prior and purity, and how well they are known.

    Attributes
    ----------
    mixture : Mixture
        The point estimate, or the middle of the given region.
    given_region : Region or None
        What prior and purity can be, if they were given as intervals.
    confidence_region : Region or None
        Confidence intervals of prior and purity, if they were estimated.
    draw_mixtures : callable or None
        From bootstrap draws to a prior and a purity for each of them; None if these do not vary
        with the rows. See `pueval.uncertainty.prior_draws`.
    prior_error : callable or None
        From a mixture of the region to the standard error of its prior, if it follows from the
        number of labeled rows.
    percentiles_suffice : bool
        Whether the draws of an estimate are correlated with the rows as the estimate is, so that
        percentiles of the resamples need no correction.
    """

    mixture: Mixture
    given_region: Region | None = None
    confidence_region: Region | None = None
    draw_mixtures: Callable[[BootstrapDraws], Mixtures] | None = None
    prior_error: Callable[[Mixture], float] | None = None
    percentiles_suffice: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether prior and purity are known exactly."""
        return self.given_region is None and self.draw_mixtures is None

    @property
    def region(self) -> Region | None:
        """Given region, or confidence region of an estimate; None if there is neither."""
        return self.given_region or self.confidence_region

    def scenarios(
        self, function: Callable[[Mixtures], Array], *, as_column: bool = True
    ) -> list[Mixture]:
        """Return the mixtures for which intervals are made; the first is the point estimate.

        The others are the extremes of ``function`` over the region, and points all over a given
        region. ``as_column`` is that of `find_extremes`; it goes with an expensive function, for
        which only the corners of a given region are added.
        """
        region = self.region
        if region is None:
            return [self.mixture]
        points = region.corners if as_column else region.nodes
        extremes = find_extremes(region, function, as_column=as_column)
        return [self.mixture, *(points if self.given_region else []), *extremes]

    def corner_scenarios(self) -> list[Mixture]:
        """Return the scenarios for a measure that is monotone in prior and purity."""
        region = self.region
        return [self.mixture, *([] if region is None else region.corners)]

    def given_nodes(self, critical_value: float) -> list[Mixture]:
        """Return mixtures all over a given region; none if there is no such region.

        The error of a prior that follows from the number of labeled rows is added to the region
        (``critical_value`` standard errors).
        """
        region = self.given_region
        if region is not None and self.prior_error is not None:
            region = region.widened(self.prior_error, critical_value)
        return [] if region is None else region.nodes

    def curve_scenarios(self, critical_value: float) -> Iterator[tuple[Mixture, float]]:
        """Yield mixtures for a band, each with the share of the sampling error that applies to it.

        The error of a prior that follows from the number of labeled rows is added to the region
        (``critical_value`` standard errors). The share is 1 in a given region. At a share q of the
        way to the ends of the confidence interval of an estimate, sqrt(1 − q²) is left for the
        rows.
        """
        yield self.mixture, 1.0
        region = self.region
        if region is None:
            return
        if self.prior_error is not None:
            region = region.widened(self.prior_error, critical_value)
        if self.given_region is not None:
            for mixture in region.grid(BAND_GRID):
                yield mixture, 1.0
            return
        for q in BAND_POSITIONS:
            share = float(remaining_share(np.array(q**2)))
            for mixture in region.between(self.mixture, q):
                if mixture != self.mixture:
                    yield mixture, share

    def interval(
        self,
        options: IntervalOptions,
        value: Callable[[Mixture], float],
        bias_and_error: Callable[[Mixture | Mixtures], tuple[float, float]],
        resampled_values: Callable[[Mixtures], Array],
        mixture_draws: Mixtures | None,
        scenarios: Iterable[Mixture],
        low: float = 0.0,
        high: float = 1.0,
        normal_interval: Callable[[Mixture, float, float], Interval] | None = None,
    ) -> Interval:
        """Return the interval of a number.

        For an estimated mixture the interval starts from percentiles of the resamples, each with
        a prior of its own. They can miss a true value at which a measure is extreme (the best
        accuracy first falls and then rises with the prior). So the interval also reaches as far
        as the measure does within the confidence region, with the sampling error added in
        quadrature.

        Parameters
        ----------
        options : IntervalOptions
            Confidence level.
        value : callable
            From a mixture to the estimate; not clipped.
        bias_and_error : callable
            From the mixture of all resamples, or one mixture for each, to the bias and the
            standard error of the estimate.
        resampled_values : callable
            From one mixture for each resample to the values in the resamples, less their bias.
        mixture_draws : Mixtures or None
            One mixture for each resample, if they vary.
        scenarios : iterable of Mixture
            From `scenarios` or `corner_scenarios`.
        low, high : float
            Range of the measure.
        normal_interval : callable, optional
            From a mixture, the center and the standard error to the interval of a number that is
            normal on another scale.

        Returns
        -------
        Interval
        """
        if self.confidence_region is None or mixture_draws is None:
            resampled = self.mixture if mixture_draws is None else mixture_draws

            def normal(mixture: Mixture, resampled: Mixture | Mixtures) -> Interval:
                bias, error = bias_and_error(resampled)
                error = math.hypot(error, self._change_with_prior(value, mixture))
                center = value(mixture) - bias
                if normal_interval is not None:
                    return normal_interval(mixture, center, error)
                return options.normal_interval(center, error, low, high)

            first, *others = scenarios
            return Interval.union([normal(first, resampled), *(normal(m, m) for m in others)])
        bias, error = bias_and_error(self.mixture)
        error = math.hypot(error, self._change_with_prior(value, self.mixture))
        center = value(self.mixture) - bias
        interval = options.percentile_interval(center, resampled_values(mixture_draws), low, high)
        if self.percentiles_suffice:
            return interval
        values = [value(mixture) - bias for mixture in scenarios]
        values = [v for v in values if math.isfinite(v)]
        if math.isnan(interval.low) or math.isnan(error) or not values:
            return interval
        lowest, highest = add_in_quadrature(
            center, min(values), max(values), options.critical_value * error
        )
        return Interval(
            min(interval.low, max(lowest, low)),
            max(interval.high, min(highest, high)),
            interval.standard_error,
        )

    def _change_with_prior(self, value: Callable[[Mixture], float], mixture: Mixture) -> float:
        """Return the change of a number with one standard error of the prior in a region.

        It is the larger change of both sides: average precision has kinks.
        """
        if self.prior_error is None:
            return 0.0
        error, purity = self.prior_error(mixture), mixture.purity
        center, changes = value(mixture), [0.0]
        for prior in (mixture.prior - error, mixture.prior + error):
            inside = max(cap_prior(prior, purity, SLOPE_CONTRAST * purity), 0.0)
            if inside != mixture.prior:
                change = (value(Mixture(inside, purity)) - center) / (inside - mixture.prior)
                changes.append(abs(change) * error)
        return max(change for change in changes if math.isfinite(change))


def add_in_quadrature(center: float, low: float, high: float, margin: float) -> tuple[float, float]:
    """Widen an interval around ``center`` by the margin of an independent error.

    Examples
    --------
    >>> add_in_quadrature(0.5, 0.2, 0.5, 0.4)
    (0.0, 0.9)
    """
    return (
        center - math.hypot(max(center - low, 0.0), margin),
        center + math.hypot(max(high - center, 0.0), margin),
    )


def remaining_share(squared_distance: Array) -> Array:
    """Return the share of the critical value that is left for the sampling error of the rows.

    ``squared_distance`` is q², with q the distance of prior and purity from their estimates as a
    share of the way to the ends of their confidence intervals. An independent error of the rows
    then stays within sqrt(1 − q²) of its own margin.
    """
    share: Array = np.sqrt(1 - squared_distance)
    return share


def prior_changes(
    values: Callable[[Mixtures], dict[str, Array]],
    names: Iterable[str],
    mixtures: Mixtures,
    prior_error: Array,
) -> dict[str, Array]:
    """Return the change of measures of many groups with one standard error of their priors.

    Parameters
    ----------
    values : callable
        From a mixture for each group to the values of the measures, by name.
    names : iterable of str
        The measures.
    mixtures : Mixtures
        One for each group.
    prior_error : ndarray
        Standard error of each prior; 0 if it is known.

    Returns
    -------
    dict of str to ndarray
    """
    if not np.any(prior_error > 0):
        return {name: np.zeros(prior_error.size) for name in names}
    purity = mixtures.purity
    low, high = (
        cap_prior(mixtures.prior + sign * prior_error, purity, SLOPE_CONTRAST * purity).clip(min=0)
        for sign in (-1.0, 1.0)
    )
    return central_changes(lambda prior: values(Mixtures(prior, purity)), low, high, prior_error)


def purity_changes(
    values: Callable[[Mixtures], dict[str, Array]],
    names: Iterable[str],
    mixtures: Mixtures,
    purity_error: float,
    prior_slope: Array,
) -> dict[str, Array]:
    """Return the change of measures of many groups with one standard error of their purity.

    Parameters
    ----------
    values, names, mixtures
        As for `prior_changes`.
    purity_error : float
        Standard error of the purity, which all groups share; 0 if it is known.
    prior_slope : ndarray
        Change of each prior with the purity.

    Returns
    -------
    dict of str to ndarray
    """
    size = mixtures.prior.size
    if purity_error == 0:
        return {name: np.zeros(size) for name in names}
    low, high = (
        np.clip(mixtures.purity + sign * purity_error, LEAST_PURITY, 1.0) for sign in (-1.0, 1.0)
    )

    def values_at(purity: Array) -> dict[str, Array]:
        prior = mixtures.prior + prior_slope * (purity - mixtures.purity)
        capped = cap_prior(prior.clip(min=0), purity, SLOPE_CONTRAST * purity)
        return values(Mixtures(capped, purity))

    return central_changes(values_at, low, high, np.full(size, purity_error))


def central_changes(
    values: Callable[[Array], dict[str, Array]], low: Array, high: Array, error: Array
) -> dict[str, Array]:
    """Return the change of values with one standard error of their argument.

    These are central differences from ``low`` to ``high``, scaled to a step of one standard error;
    0 where there is no error.
    """
    scale = divide_or_zero(error, high - low)
    above, below = values(high), values(low)
    return {name: np.where(error > 0, (above[name] - below[name]) * scale, 0.0) for name in above}
