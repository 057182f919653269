"""Cost curves: the least expected cost of a classifier for all costs and class shares."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.core.measures import Measure, Table, _ratio
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate, best_value
from pueval.text.numbers import format_estimate, format_number
from pueval.text.results import Result, spaced_table
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.wilson_limits import extend_to_wilson

if TYPE_CHECKING:
    from pueval.displays import CostCurveDisplay
    from pueval.evaluation.model_estimates import ModelEstimates

PROBABILITY_COSTS = np.arange(1, 50) / 50
SHOWN_ROWS = 10


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(Result):
    """Normalized expected cost by probability cost; made by `Evaluation.cost_curve`.

    Attributes
    ----------
    probability_cost : ndarray
        Share of the positives in the cost if all rows were misclassified, ascending.
    value, low, high : ndarray
        Corrected cost at the best threshold, with pointwise confidence intervals (NaN without). It
        is 1 if all rows are misclassified.
    naive : ndarray
        The same with unlabeled rows counted as negative.
    threshold : ndarray
        Best threshold; +inf where predicting no positive is best, −inf where predicting all is.
    trivial : ndarray
        Cost of the better of predicting all rows positive and predicting none.
    level : float or None
        Confidence level.
    """

    probability_cost: Array
    value: Array
    low: Array
    high: Array
    naive: Array
    threshold: Array
    trivial: Array
    level: float | None

    def plot(self, **options: Any) -> CostCurveDisplay:
        """Draw the curve: see `pueval.displays.CostCurveDisplay`.

        Parameters
        ----------
        **options
            Keywords of ``CostCurveDisplay.plot``, such as ``ax``.

        Returns
        -------
        CostCurveDisplay
        """
        from pueval.displays import CostCurveDisplay

        return CostCurveDisplay(curve=self).plot(**options)

    def _headline(self) -> str:
        costs = "probability cost" if self.value.size == 1 else "probability costs"
        return f"Cost curve: normalized expected cost at {self.value.size} {costs}"

    def _table(self) -> str:
        def cells(k: int) -> list[str]:
            return [
                f"{self.probability_cost[k]:g}",
                format_number(self.naive[k]),
                format_estimate(self.value[k], self.low[k], self.high[k]),
                format_number(self.trivial[k]),
                f"{self.threshold[k]:.4g}",
            ]

        header = ["Probability cost", "naive", "corrected", "all or none", "threshold"]
        return spaced_table(header, cells, self.value.size, rows=SHOWN_ROWS)


def _expected_cost(t: Table, share: float) -> Array:
    missed = _ratio(t.false_negative, t.positive)
    return share * missed + (1 - share) * _ratio(t.false_positive, t.negative)


def normalized_cost(share: float) -> Measure:
    """Return share·(1 − tpr) + (1 − share)·fpr; predicting all or none costs at most 1/2."""
    formula = partial(_expected_cost, share=share)
    largest = min(share, 1 - share)
    return Measure(
        "normalized_cost", "Normalized cost", formula, high=largest, greater_is_better=False
    )


def estimate_cost_curve(ev: ModelEstimates, shares: Iterable[float] | None) -> CostCurve:
    """Return the least cost over all thresholds at some probability costs."""
    points = PROBABILITY_COSTS.copy()
    if shares is not None:
        values = np.ravel(np.asarray(shares)).tolist()
        points = np.array(sorted({check_fraction("the probability cost", each) for each in values}))
    if not points.size:
        raise InputError(
            "probability_costs is empty. Give at least one number between 0 and 1, such as [0.5]."
        )
    estimates, thresholds = zip(*(_least_cost(ev, share) for share in points.tolist()), strict=True)
    columns = {
        name: np.array([getattr(estimate, name) for estimate in estimates])
        for name in ("value", "low", "high", "naive")
    }
    return CostCurve(
        points,
        **columns,
        threshold=np.array(thresholds),
        trivial=np.minimum(points, 1 - points),
        level=ev._level,
    )


def _least_cost(ev: ModelEstimates, share: float) -> tuple[Estimate, float]:
    """Return the estimate of the least cost, and the threshold that has it."""
    measure = normalized_cost(share)
    (threshold, value), (_, naive) = (best_value(measure, rates) for rates in ev._rates)

    def least(mixture: Mixture) -> float:
        if mixture == ev.mixture:
            return value
        rates = correct_steps(ev.counts, ev._corners, mixture, ev.target)
        return best_value(measure, rates)[1]

    interval = Interval()
    if ev._resamples is not None and not math.isnan(value):
        interval = ev._resamples.best_interval(measure, least)
        if value < measure.high:
            # Few positives may be missed, or few negatives found, at the best threshold.
            interval = extend_to_wilson(interval, measure, threshold, ev._resamples)
    if value >= measure.high:  # no threshold is better
        threshold = math.inf if share <= 0.5 else -math.inf
    naive = measure.clip(naive)
    return Estimate.of(value, naive, interval, (measure.low, measure.high)), threshold
