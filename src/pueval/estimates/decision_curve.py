"""Net benefit at a risk threshold, and decision curves: net benefit at many of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.measures import ROUNDING, Measure
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate
from pueval.families.mean_measures import check_probabilities
from pueval.families.net_benefit import (
    benefit_over_treat_all,
    check_risk_threshold,
    net_benefit,
    prevalence_measure,
    treat_all,
)
from pueval.text.numbers import CLIPPED_NOTE, format_estimate, format_number
from pueval.text.results import Result, plain_data, spaced_table
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.wilson_limits import extend_to_wilson

if TYPE_CHECKING:
    from pueval.displays import DecisionCurveDisplay
    from pueval.evaluation.model_estimates import ModelEstimates

RISK_THRESHOLDS = np.arange(1, 100) / 100
SHOWN_ROWS = 10


@dataclass(frozen=True, repr=False)
class NetBenefit(Result):
    """Net benefit at one risk threshold; made by `Evaluation.net_benefit`.

    Attributes
    ----------
    threshold : float
        Risk from which rows are treated.
    model : Estimate
        Net benefit of treating the rows with a score at or above the threshold.
    treat_all : Estimate
        Net benefit of treating everybody. That of treating nobody is 0.
    gain : Estimate
        Net benefit of the model minus that of treating everybody.
    standardized : bool
        Whether net benefits are divided by the prevalence.
    """

    threshold: float
    model: Estimate
    treat_all: Estimate
    gain: Estimate
    standardized: bool

    def _headline(self) -> str:
        kind = "Standardized net benefit" if self.standardized else "Net benefit"
        everybody = format_number(self.treat_all.value)
        low, high = self.treat_all.low, self.treat_all.high
        if high > low and not math.isclose(low, high, rel_tol=ROUNDING, abs_tol=ROUNDING):
            everybody = str(self.treat_all)  # the prevalence is uncertain
        estimates = (self.model, self.treat_all, self.gain)
        note = f"\n{CLIPPED_NOTE}" if any(each.clipped for each in estimates) else ""
        return (
            f"{kind} at a risk threshold of {self.threshold:g}: corrected {self.model}, "
            f"naive {format_number(self.model.naive)}\n"
            f"Treat all: {everybody}; treat none: 0\n"
            f"Model minus treat all: {self.gain}{note}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(Result):
    """Net benefit by risk threshold; made by `Evaluation.decision_curve`.

    Attributes
    ----------
    threshold : ndarray
        Risks from which rows are treated, ascending.
    value, low, high : ndarray
        Corrected net benefit of the model, clipped to the prevalence, with pointwise confidence
        intervals (NaN without).
    naive : ndarray
        Net benefit with unlabeled rows counted as negative.
    treat_all, naive_treat_all : ndarray
        Net benefit of treating everybody, corrected and naive. That of treating nobody is 0.
    gain, gain_low, gain_high : ndarray
        Net benefit of the model minus that of the better of both defaults, treating everybody and
        treating nobody.
    standardized : bool
        Whether net benefits are divided by the prevalence.
    level : float or None
        Confidence level.
    """

    threshold: Array
    value: Array
    low: Array
    high: Array
    naive: Array
    treat_all: Array
    naive_treat_all: Array
    gain: Array
    gain_low: Array
    gain_high: Array
    standardized: bool
    level: float | None

    @property
    def better(self) -> tuple[tuple[float, float], ...]:
        """Ranges of risk thresholds where the model is better than both defaults."""
        return _ranges(self.threshold, self.gain > 0)

    @property
    def significantly_better(self) -> tuple[tuple[float, float], ...]:
        """Ranges where the lower confidence limit of the gain over both defaults is above 0."""
        return _ranges(self.threshold, self.gain_low > 0)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        ranges = {"better": self.better, "significantly_better": self.significantly_better}
        return super().to_dict() | {name: plain_data(each) for name, each in ranges.items()}

    def plot(self, **options: Any) -> DecisionCurveDisplay:
        """Draw the curve: see `pueval.displays.DecisionCurveDisplay`.

        Parameters
        ----------
        **options
            Keywords of ``DecisionCurveDisplay.plot``, such as ``ax``.

        Returns
        -------
        DecisionCurveDisplay
        """
        from pueval.displays import DecisionCurveDisplay

        return DecisionCurveDisplay(curve=self).plot(**options)

    def _headline(self) -> str:
        kind = "Standardized net benefit" if self.standardized else "Net benefit"
        thresholds = "threshold" if self.threshold.size == 1 else "thresholds"
        lines = [
            f"Decision curve: {kind.lower()} at {self.threshold.size} risk {thresholds}",
            f"Better than treating all and treating none: {_ranges_text(self.better)}",
        ]
        if self.level is not None:
            lines.append(
                "Lower confidence limit of the gain above 0: "
                f"{_ranges_text(self.significantly_better)}"
            )
        return "\n".join(lines)

    def _table(self) -> str:
        def cells(k: int) -> list[str]:
            return [
                f"{self.threshold[k]:g}",
                format_number(self.naive[k]),
                format_estimate(self.value[k], self.low[k], self.high[k]),
                format_number(self.treat_all[k]),
                format_estimate(self.gain[k], self.gain_low[k], self.gain_high[k]),
            ]

        header = ["Threshold", "naive", "corrected", "treat all", "gain"]
        return spaced_table(header, cells, self.threshold.size, rows=SHOWN_ROWS)


def _ranges(threshold: Array, holds: Array) -> tuple[tuple[float, float], ...]:
    """Return first and last threshold of every run of thresholds at which something holds."""
    change = np.diff(np.r_[0, holds.astype(int), 0])
    starts, stops = np.flatnonzero(change == 1), np.flatnonzero(change == -1) - 1
    return tuple(
        (float(threshold[first]), float(threshold[last]))
        for first, last in zip(starts, stops, strict=True)
    )


def _ranges_text(ranges: tuple[tuple[float, float], ...]) -> str:
    if not ranges:
        return "nowhere"
    return ", ".join(f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in ranges)


def read_risk_thresholds(thresholds: Iterable[float] | None) -> Array:
    """Return risk thresholds in ascending order; by default 0.01 to 0.99."""
    if thresholds is None:
        return RISK_THRESHOLDS.copy()
    values = {check_risk_threshold(value) for value in np.ravel(np.asarray(thresholds)).tolist()}
    if not values:
        raise InputError("thresholds is empty. Give at least one risk threshold, such as [0.1].")
    return np.array(sorted(values))


MeasureAt = Callable[..., Measure]


class _BenefitEstimates:
    """Estimates of measures of net benefit at some risk thresholds."""

    def __init__(self, ev: ModelEstimates, thresholds: Array, *, standardized: bool) -> None:
        check_probabilities(ev.counts, "net benefit")
        self._thresholds = thresholds
        self._standardized = standardized
        self._prevalence = ev.prevalence
        self._rates = ev._rates_at(thresholds)
        self._resamples = ev._resample(thresholds)

    @cached_property
    def _possible_prevalences(self) -> tuple[float, float]:
        """Ends of the interval of the prevalence: they limit the intervals of net benefits."""
        interval = Interval()
        if self._resamples is not None:
            threshold = float(self._thresholds[0])  # at any threshold
            interval = self._resamples.interval_at(prevalence_measure(), threshold)
        return (0.0, 1.0) if math.isnan(interval.low) else (interval.low, interval.high)

    def values(self, measure_at: MeasureAt) -> tuple[Array, Array]:
        """Return corrected and naive values at each threshold, not clipped."""
        corrected, naive = (
            np.array(
                [
                    measure_at(threshold, standardized=self._standardized)(rates)[k]
                    for k, threshold in enumerate(self._thresholds.tolist())
                ]
            )
            for rates in self._rates
        )
        return corrected, naive

    def __call__(self, measure_at: MeasureAt) -> list[Estimate]:
        """Return the estimate at each threshold."""
        estimates = []
        for threshold, value, naive in zip(
            self._thresholds.tolist(),
            *(column.tolist() for column in self.values(measure_at)),
            strict=True,
        ):
            measure_for = partial(measure_at, threshold, standardized=self._standardized)
            interval = Interval()
            if self._resamples is not None and not math.isnan(value):
                measure = measure_for(prevalences=self._possible_prevalences)
                interval = self._resamples.interval_at(measure, threshold)
                interval = extend_to_wilson(interval, measure, threshold, self._resamples)
            measure = measure_for(prevalences=(self._prevalence, self._prevalence))
            estimates.append(Estimate.of(value, naive, interval, (measure.low, measure.high)))
        return estimates


def estimate_net_benefit(ev: ModelEstimates, threshold: float, *, standardized: bool) -> NetBenefit:
    """Return the net benefit at a risk threshold."""
    threshold = check_risk_threshold(threshold)
    estimates = _BenefitEstimates(ev, np.array([threshold]), standardized=standardized)
    model, everybody, gain = (
        estimates(measure)[0] for measure in (net_benefit, treat_all, benefit_over_treat_all)
    )
    return NetBenefit(threshold, model, everybody, gain, standardized)


def estimate_decision_curve(
    ev: ModelEstimates, thresholds: Iterable[float] | None, *, standardized: bool
) -> DecisionCurve:
    """Return net benefits at many risk thresholds.

    The gain over the better default is the smaller of the gains over both. So are the ends of its
    interval: its lower end is above 0 only if both gains are significant.
    """
    threshold = read_risk_thresholds(thresholds)
    estimates = _BenefitEstimates(ev, threshold, standardized=standardized)
    model, over_all = estimates(net_benefit), estimates(benefit_over_treat_all)
    everybody, naive_everybody = estimates.values(treat_all)

    def column(of: list[Estimate], name: str) -> Array:
        return np.array([getattr(estimate, name) for estimate in of])

    def smaller(name: str) -> Array:
        return np.minimum(column(model, name), column(over_all, name))

    return DecisionCurve(
        threshold=threshold,
        value=column(model, "value"),
        low=column(model, "low"),
        high=column(model, "high"),
        naive=column(model, "naive"),
        treat_all=everybody,
        naive_treat_all=naive_everybody,
        gain=smaller("value"),
        gain_low=smaller("low"),
        gain_high=smaller("high"),
        standardized=standardized,
        level=ev._level,
    )
