"""Macro averages: the mean of a measure over groups with equal weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pueval.core.confidence import normal_quantile
from pueval.estimates.measure_titles import measure_title
from pueval.groups.group_priors import GroupPriors
from pueval.groups.unclipped_estimates import UnclippedEstimates, measure_range
from pueval.text.numbers import format_estimate, format_number
from pueval.text.results import Result


@dataclass(frozen=True, repr=False)
class MacroAverage(Result):
    """The mean of a measure over groups, all with the same weight.

    Attributes
    ----------
    measure : str
        Name of the measure.
    value : float
        Mean of the corrected values before they are clipped, then clipped. The excess of average
        precision is subtracted.
    low, high : float
        Confidence interval for another sample of rows of the same groups; NaN if there is none.
    naive : float
        Mean of the naive values of the same groups.
    standard_error : float
        Standard error of the mean.
    spread : float
        Standard deviation of the true values between groups: that of the estimates, less what
        their standard errors explain.
    groups : int
        Number of groups with a value.
    """

    measure: str
    value: float
    low: float
    high: float
    naive: float
    standard_error: float
    spread: float
    groups: int

    def _headline(self) -> str:
        estimate = format_estimate(self.value, self.low, self.high)
        text = f"Macro average of {measure_title(self.measure)}: {estimate}"
        text += f" over {self.groups:,} group{'s' * (self.groups != 1)}"
        if math.isnan(self.spread):
            return text
        return f"{text}, standard deviation between groups {format_number(self.spread)}"


def macro_average(
    measure: str, estimates: UnclippedEstimates, priors: GroupPriors, level: float | None
) -> MacroAverage:
    """Average a measure over the groups in which it is defined."""
    value, naive = estimates.center(measure), estimates.naive[measure]
    defined = np.isfinite(value)
    size = int(defined.sum())
    if not size:
        return MacroAverage(measure, *(math.nan,) * 6, 0)
    error = estimates.error[measure][defined]
    own, shared = (part[defined] for part in priors.split_changes(estimates.prior_change[measure]))
    # Errors of rows and of groups' own priors average out; what they share does not.
    variance = float(np.sum(error**2)) / size**2
    variance += float(np.sum(own**2) / size**2 + np.mean(shared) ** 2)
    variance += float(np.mean(estimates.purity_change[measure][defined])) ** 2
    standard_error = math.sqrt(variance)
    mean = float(np.mean(value[defined]))
    low, high = measure_range(measure)
    spread = margin = math.nan
    if level is not None:
        margin = normal_quantile(level) * standard_error
        if size > 1:
            noise = float(np.mean(error**2 + own**2))
            spread = math.sqrt(max(float(np.var(value[defined], ddof=1)) - noise, 0.0))
    mean, low, high = np.clip([mean, mean - margin, mean + margin], low, high).tolist()
    naive_mean = float(np.mean(naive[defined]))
    return MacroAverage(measure, mean, low, high, naive_mean, standard_error, spread, size)
