"""Value-weighted measures: the money that a threshold recovers, not the rows that it finds.

If labels are a random sample of the positives, whatever their value, then each labeled row
represents w = 1/label_frequency positives, or w = 1/propensity. The sum of any quantity z over the
positives is estimated by Σ w·z over the labeled rows (Horvitz and Thompson, 1952): the value of the
positives at or above a threshold with z = value there and 0 below. If the number of positives is
known, from the prior or the prevalence, the weights are that number divided by the number of
labeled rows.

The prior by value, the share of the value of unlabeled rows that belongs to positives, is not the
prior by rows. It follows from the label frequency, which is the same by value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import check_fraction, check_number
from pueval._typing import Array, Target
from pueval.core.confidence import student_quantile
from pueval.core.mixture import check_target
from pueval.counts.arguments import check_threshold
from pueval.evaluation.estimates import Estimate
from pueval.evaluation.value_rows import ValueRows
from pueval.sources.labels import LabelValues
from pueval.text.numbers import CLIPPED_NOTE, format_count, format_number, format_threshold
from pueval.text.results import Result
from pueval.text.tables import text_table
from pueval.uncertainty.intervals import Interval


@dataclass(frozen=True, repr=False)
class ValueRecovered(Result):
    """Value at or above a threshold; made by `value_recovered`.

    Attributes
    ----------
    threshold, cost : float
        Threshold of the score, and cost of an alarm.
    alarms, alarm_value : float
        Number and value of the rows of the target at or above the threshold.
    recovered : Estimate
        Value of the positives among them.
    total : Estimate
        Value of all positives of the target.
    recall : Estimate
        Share of the value of all positives that is recovered.
    precision : Estimate
        Share of the value of the alarms that belongs to positives.
    net : Estimate
        Recovered value minus the cost of the alarms.
    level : float or None
        Confidence level.
    """

    threshold: float
    cost: float
    alarms: float
    alarm_value: float
    recovered: Estimate
    total: Estimate
    recall: Estimate
    precision: Estimate
    net: Estimate
    level: float | None

    def _headline(self) -> str:
        return (
            f"Value at or above {format_threshold(self.threshold)}: "
            f"{format_count(self.alarms)} rows, worth {format_number(self.alarm_value)}"
        )

    def _table(self) -> str:
        titles = {
            "recovered": "Value recovered",
            "total": "Value of all positives",
            "recall": "Recall by value",
            "precision": "Precision by value",
            "net": f"Net value (cost {self.cost:g} per row)",
        }
        rows = []
        for name, title in titles.items():
            estimate = getattr(self, name)
            rows.append([title, format_number(estimate.naive), str(estimate)])
        table = text_table(["", "naive", "corrected"], rows)
        clipped = any(getattr(self, name).clipped for name in titles)
        return f"{table}\n{CLIPPED_NOTE}" if clipped else table


def value_recovered(
    y: Any,
    score: Any,
    value: Any,
    *,
    threshold: float,
    cost: float = 0.0,
    prior: float | None = None,
    prevalence: float | None = None,
    label_frequency: float | None = None,
    propensity: Any = None,
    target: Target = "population",
    level: float | None = 0.95,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> ValueRecovered:
    """Estimate the value that a threshold recovers, such as money: rows count by their value.

    The value of the positives at or above the threshold is Σ w·value over the labeled rows there,
    where w = 1/label_frequency, 1/propensity, or the number of positives divided by the number of
    labeled rows. Recall by value is its share of the value of all positives, precision by value its
    share of the value of all rows at or above the threshold, and net value = recovered value −
    cost·alarms. Assumes clean labels that are random, also with respect to the value: rows of high
    value must not be labeled more often. Otherwise, give propensities.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
    score : array-like of shape (n,)
        Out-of-fold scores of the classifier.
    value : array-like of shape (n,)
        Value of each row, at least 0: what is gained if the row is found and positive.
    threshold : float
        Rows with a score at or above it are alarms.
    cost : float, default 0
        Cost of an alarm, in the unit of the values.
    prior, prevalence, label_frequency : float, optional
        Share of positives among the unlabeled **rows**, share of positives among all **rows**, or
        share of all positives that are labeled. Give exactly one of these, or ``propensity``.
    propensity : array-like of shape (n,), optional
        Probability that a row, being positive, is labeled.
    target : {"population", "unlabeled"}, default "population"
        Rows whose value is estimated: all rows, or only the unlabeled rows.
    level : float or None, default 0.95
        Confidence level; None for no intervals.
    pos_label, unlabeled_label, negative_label : optional
        Values of ``y`` for labeled positives, unlabeled rows and known negatives.

    Returns
    -------
    ValueRecovered
        Intervals are about these rows, over the random choice of the labels: rows and values are
        known, and unknown is which unlabeled rows are positive.

    References
    ----------
    Horvitz and Thompson (1952), A generalization of sampling without replacement from a finite
    universe.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import value_recovered
    >>> rng = np.random.default_rng(0)
    >>> fraud = rng.random(20_000) < 0.05
    >>> score = rng.normal(size=20_000) + 2 * fraud
    >>> amount = np.exp(rng.normal(size=20_000) + 0.5 * score)      # high scores, high amounts
    >>> reported = fraud & (rng.random(20_000) < 0.4)
    >>> found = value_recovered(reported, score, amount, threshold=2, cost=2, label_frequency=0.4)
    >>> truth = amount[fraud & (score >= 2)].sum()
    >>> bool(found.recovered.low < truth < found.recovered.high)
    True
    >>> found.net.naive < 0 < found.net.low
    True
    """
    check_target(target)
    if level is not None:
        level = check_fraction("level", level)
    cost = check_number("cost", cost)
    cut = check_threshold(threshold)
    rows = ValueRows.read(
        y, score, value, propensity, LabelValues(pos_label, unlabeled_label, negative_label)
    )
    weight, known_number = rows.weights(prior, prevalence, label_frequency)
    above = rows.score >= np.float64(cut)  # a Python float would be rounded to float32
    in_target = rows.kind == 1 if target == "unlabeled" else np.ones(rows.kind.size, dtype=bool)
    possible = in_target & (rows.kind != 2)
    labeled = rows.kind == 0
    v, a = rows.value[labeled], above[labeled].astype(np.float64)
    # Positives of the target that each labeled row represents: itself, and hidden ones.
    represented = weight if target == "population" else weight - 1
    alarms, alarm_value = (
        float((above & in_target).sum()),
        float(rows.value[above & in_target].sum()),
    )

    def estimate(
        numbers: Array, naive: float, ends: tuple[float, float], scale: float, shift: float = 0.0
    ) -> Estimate:
        """Estimate the sum of numbers over the positives, divided by a scale and shifted."""
        center = numbers.mean() if known_number else 0.0
        error = _standard_error(numbers - center, weight) / scale if scale else math.nan
        found = float(represented @ numbers) / scale if scale else math.nan
        interval = Interval()
        if level is not None and math.isfinite(error):
            effective = v.sum() ** 2 / max(float(v @ v), np.finfo(float).tiny)
            margin = student_quantile(level, max(effective - 1, 1.0)) * error
            low, high = (min(max(found + sign * margin, ends[0]), ends[1]) for sign in (-1, 1))
            interval = Interval(low + shift, high + shift, error)
        return Estimate.of(found + shift, naive, interval, (ends[0] + shift, ends[1] + shift))

    seen = (float(v @ a), float(v.sum())) if target == "population" else (0.0, 0.0)
    naive_alarm_value = float(rows.value[above].sum())
    naive = float(v @ a)
    most = [float(rows.value[possible & chosen].sum()) for chosen in (above, in_target)]
    recovered = estimate(v * a, naive, (seen[0], most[0]), 1.0)
    total = estimate(v, float(v.sum()), (seen[1], most[1]), 1.0)
    of_all = max(float(represented @ v), np.finfo(float).tiny)
    recall_value = float(represented @ (v * a)) / of_all
    # As in the jackknife, rows of high value are compared with the recall without them.
    leverage = np.minimum(represented * v / of_all, 0.5)
    residual = estimate(
        v * (a - recall_value) / (1 - leverage), math.nan, (-math.inf, math.inf), total.unclipped
    )
    return ValueRecovered(
        threshold=cut,
        cost=cost,
        alarms=alarms,
        alarm_value=alarm_value,
        recovered=recovered,
        total=total,
        recall=_shifted(residual, recall_value, naive / v.sum() if v.sum() else math.nan),
        precision=estimate(
            v * a,
            naive / naive_alarm_value if naive_alarm_value else math.nan,
            (0.0, 1.0),
            alarm_value,
        ),
        net=estimate(
            v * a,
            naive - cost * float(above.sum()),
            (seen[0], most[0]),
            1.0,
            -cost * alarms,
        ),
        level=level,
    )


def _standard_error(numbers: Array, weight: Array) -> float:
    """Return the standard error of Σ weight·number over labels drawn with probability 1/weight."""
    n = numbers.size
    variance = float(np.sum(weight * (weight - 1) * numbers**2)) * n / max(n - 1, 1)
    return math.sqrt(max(variance, 0.0))


def _shifted(residual: Estimate, value: float, naive: float) -> Estimate:
    """Return the estimate of a ratio from that of its residual, which has the mean 0."""
    low, high = (
        min(max(end + value, 0.0), 1.0) if not math.isnan(end) else end
        for end in (residual.low, residual.high)
    )
    interval = Interval(low, high, residual.standard_error)
    return Estimate.of(value, naive, interval)
