"""Confidence intervals of bounds for a labeling bias.

A bound is the value of a measure for the least favorable distribution of the positives: a *tilt* of
the labeled rows. To first order, the bound varies from sample to sample like the measure for this
fixed tilt (by the envelope theorem, since the tilt is optimal). So the draws of the bootstrap are
evaluated with the tilt, and need no optimization.

An interval for the true value must reach beyond both bounds. Where the bounds are far apart
compared with their standard errors, the true value can be close to only one of them, and
one-sided quantiles suffice (`imbens_manski_level`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Rates, Shares
from pueval.core.tilted_rates import LabelingTilt, tilted_rates
from pueval.uncertainty.bootstrap_draws import BootstrapDraws
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples

ValueOf = Callable[[Mixture], float]
RANDOM_LABELING = LabelingTilt(np.array([-math.inf]), np.array([1.0]))


@dataclass(frozen=True, eq=False)
class TiltedResamples(Resamples):
    """Resampled counts, evaluated for a tilt.

    Attributes
    ----------
    tilt : LabelingTilt
        Distribution of the positives, relative to the labeled rows.
    """

    tilt: LabelingTilt = field(default=RANDOM_LABELING)

    @classmethod
    def of(cls, resamples: Resamples, tilt: LabelingTilt | None) -> TiltedResamples:
        """Evaluate resamples for a tilt; None is random labeling."""
        return cls(
            resamples.options,
            resamples.counts,
            resamples.target,
            resamples.prior,
            lambda: resamples.draws,
            None,
            resamples.thresholds,
            tilt=tilt or RANDOM_LABELING,
        )

    @property
    def draws(self) -> BootstrapDraws:
        """The resampled counts; the resamples of `of` keep them."""
        return self.draw()

    def at_level(self, level: float) -> TiltedResamples:
        """Return these resamples with another confidence level."""
        same = replace(self, options=replace(self.options, level=level))
        vars(same)["_results"] = self._results
        return same

    def rates_for(
        self, shares: Shares, mixture: Mixture | Mixtures, columns: Array | None = None
    ) -> Rates:
        """Correct shares for a mixture and the tilt, at all thresholds or those of some columns."""
        threshold = self.draws.threshold
        factor = self.tilt.at(threshold)
        rates = tilted_rates(self.counts, threshold, shares, mixture, self.target, factor)
        if columns is None:
            return rates
        tpr, fpr, predicted = (
            rate[..., columns] for rate in (rates.tpr, rates.fpr, rates.predicted)
        )
        return Rates(threshold[columns], tpr, fpr, predicted, rates.prevalence, rates.size)

    # ------------------------------------------------------------------ intervals

    def bound_interval_at(self, measure: Measure, threshold: float, value: ValueOf) -> Interval:
        """Return the interval of a bound of a measure at a threshold of the draws.

        ``value`` returns the bound for a mixture.
        """
        resampled = partial(self.resampled_values, measure, threshold)
        if measure.is_ratio:
            others = self.prior.corner_scenarios()[1:] if self.prior.given_region else []
            return Interval.union(
                self.options.percentile_interval(
                    value(mixture), resampled(drawn), measure.low, measure.high
                )
                for mixture, drawn in (
                    (self.mixture, self.drawn_mixture),
                    *((m, m) for m in others),
                )
            )
        scenarios = self.prior.corner_scenarios()
        return self.interval(value, resampled, scenarios, measure.low, measure.high)

    def auc_bound_interval(self, value: ValueOf) -> Interval:
        """Return the interval of a bound of the AUC; ``value`` returns the bound for a mixture."""

        def areas(mixture: Mixture | Mixtures) -> Array:
            rates = self.rates_for(self.draws.resampled, mixture)
            first: Array = rates.fpr[..., 0] * rates.tpr[..., 0] / 2
            area: Array = first + np.trapezoid(rates.tpr, rates.fpr)
            return area

        def resampled(mixture: Mixture | Mixtures) -> Array:
            return self._kept(("roc_auc", mixture), lambda: areas(mixture))

        return self.interval(value, resampled, self.prior.corner_scenarios())


def imbens_manski_level(width: float, low_error: float, high_error: float, level: float) -> float:
    """Return the level of normal intervals around two bounds that contain the true value.

    The critical value c solves Φ(c + width/error) − Φ(−c) = level, with the larger of the two
    standard errors: one-sided if the bounds are far apart, two-sided if they coincide.

    Parameters
    ----------
    width : float
        Distance between the bounds.
    low_error, high_error : float
        Standard errors of the bounds.
    level : float
        Confidence level for the true value.

    Returns
    -------
    float
        Level of a two-sided interval with the same critical value.

    References
    ----------
    Imbens and Manski (2004), Confidence intervals for partially identified parameters.
    Stoye (2009), More on confidence intervals for partially identified parameters.

    Examples
    --------
    >>> imbens_manski_level(0.0, 0.1, 0.1, 0.95), round(imbens_manski_level(1, 0.1, 0.1, 0.95), 3)
    (0.95, 0.9)
    """
    error = max(low_error, high_error)
    if not (width > 0 and error > 0 and math.isfinite(width)):
        return level
    cdf = scipy.special.ndtr
    low, high = scipy.special.ndtri(level), scipy.special.ndtri(0.5 + level / 2)
    for _ in range(50):
        middle = (low + high) / 2
        enough = cdf(middle + width / error) - cdf(-middle) >= level
        low, high = (low, middle) if enough else (middle, high)
    return float(2 * cdf(high) - 1) if high > low else level


def skewed_limit(
    value: float, margin: float, *, least: float, most: float, largest_ratio: float
) -> float:
    """Return a confidence limit with the skewness of a proportion.

    The standard error of a proportion p is proportional to √(p(1 − p)). A one-sided limit must use
    the standard error at the limit, as Wilson's interval does, not that at the estimate.

    Parameters
    ----------
    value : float
        Estimate.
    margin : float
        Distance of the normal limit from the estimate; negative for a lower limit.
    least, most : float
        Range of the measure.
    largest_ratio : float
        Largest margin²/(p(1 − p)): that of a proportion of the labeled rows.

    Returns
    -------
    float

    Examples
    --------
    >>> round(skewed_limit(0.9, -0.1, least=0, most=1, largest_ratio=1), 3)    # 0.8 if normal
    0.757
    """
    p, squared = (value - least) / (most - least), (margin / (most - least)) ** 2
    variance = p * (1 - p)
    ratio = min(squared / variance, largest_ratio) if variance > 0 else largest_ratio
    half_width = math.sqrt(ratio * variance + ratio**2 / 4)
    limit = (p + ratio / 2 + math.copysign(half_width, margin)) / (1 + ratio)
    return least + min(max(limit, 0.0), 1.0) * (most - least)
