"""Value-weighted measures: the money that a threshold recovers, not the rows that it finds.

A value counts in the place of a row: what a threshold recovers is the sum of z over the positives,
with z = value at or above the threshold and 0 below. Such sums, and their variances over the choice
of labels, are estimated in `pueval.values_and_queries.positive_sums`, with the weights of the rows,
if they have any, as in `evaluate`: a frequency weight of 3 is three rows, and importance weights
multiply the values.

With clean labels, each labeled row represents w = 1/label_frequency positives, or
w = 1/propensity, and the sum is Σ w·z over the labeled rows (Horvitz and Thompson, 1952). If the
number of positives is known, from the prior or the prevalence, w is that number divided by the
number of labeled rows. With a purity below 1, labeled and unlabeled rows are two mixtures of
positives and negatives, and the sum follows from the sums of z over both. This needs wrongly
labeled rows to be a random sample of the negatives, whatever their score and value. Propensities
are labeling probabilities of positives, undefined for wrong labels, so they need clean labels.

The prior by value, the share of the value of unlabeled rows that belongs to positives, is not the
prior by rows. Neither is the purity by value that by rows. Shares are those of rows here.

Recall by value R is a ratio of two estimated sums, with the standard error of Σ (z − R·value),
divided by the value of all positives. Its interval is Wilson's (1927) for a share of as many rows
as have this standard error, and so are those of sums (`PositiveSums.limits`). With few labeled
rows, or values that differ much, they cover better than intervals that are symmetric. Precision and
net value have known denominators and costs: all alarms are known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pueval._checks import check_fraction, check_number
from pueval._typing import Array, Target
from pueval.core.confidence import mean_limits, student_quantile
from pueval.core.mixture import check_target
from pueval.counts.arguments import check_threshold
from pueval.estimates.estimate import Estimate
from pueval.sources.labels import LabelValues
from pueval.text.numbers import CLIPPED_NOTE, format_count, format_number, format_threshold
from pueval.text.results import Result
from pueval.text.tables import text_table
from pueval.uncertainty.intervals import Interval
from pueval.values_and_queries.positive_sums import PositiveSums
from pueval.values_and_queries.value_rows import ValueRows


@dataclass(frozen=True, repr=False)
class ValueRecovered(Result):
    """Value at or above a threshold; made by `value_recovered`.

    Attributes
    ----------
    threshold, cost : float
        Threshold of the score, and cost of an alarm.
    alarms, alarm_value : float
        Number and value of the rows of the target at or above the threshold; sums of weights if
        rows have weights.
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
        at_or = "at or above " if math.isfinite(self.threshold) else ""
        return (
            f"Value {at_or}{format_threshold(self.threshold)}: "
            f"{format_count(self.alarms)} rows, worth {format_number(self.alarm_value)}"
        )

    def estimates(self) -> dict[str, Estimate]:
        """Return all estimates by title, as they are printed.

        Returns
        -------
        dict of str to Estimate
        """
        return {
            "Value recovered": self.recovered,
            "Value of all positives": self.total,
            "Recall by value": self.recall,
            "Precision by value": self.precision,
            f"Net value (cost {self.cost:g} per row)": self.net,
        }

    def _table(self) -> str:
        estimates = self.estimates()
        rows = [
            [title, format_number(estimate.naive), str(estimate)]
            for title, estimate in estimates.items()
        ]
        table = text_table(["", "naive", "corrected"], rows)
        clipped = any(estimate.clipped for estimate in estimates.values())
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
    purity: float = 1.0,
    propensity: Any = None,
    sample_weight: Any = None,
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
    cost·alarms. Assumes that labels are random, also with respect to the value: rows of high value
    must not be labeled more often. Otherwise, give propensities.

    With a ``purity`` below 1, the labeled rows at or above the threshold have the value
    purity·n_L·m₁ + (1 − purity)·n_L·m₀ and the unlabeled ones prior·n_U·m₁ + (1 − prior)·n_U·m₀,
    where m₁ and m₀ are means over the positives and the negatives. The value of the positives is
    their number times m₁. Assumes that wrongly labeled rows are a random sample of the negatives.

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
    purity : float, default 1.0
        Share of true positives among the labeled **rows**; 1 means clean labels.
    propensity : array-like of shape (n,), optional
        Probability that a row, being positive, is labeled. Needs clean labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows. Integers are frequency weights, floats importance weights. All numbers
        and values are then sums of weights.
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
        known, and unknown is which rows are positive. Prior, prevalence, label frequency and purity
        count as exact.

    References
    ----------
    Horvitz and Thompson (1952), A generalization of sampling without replacement from a finite
    universe.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import value_recovered
    >>> rng = np.random.default_rng(1)
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
    labels = LabelValues(pos_label, unlabeled_label, negative_label)
    rows = ValueRows.read(
        y, score, value, sample_weight=sample_weight, propensity=propensity, labels=labels
    )
    above = rows.score >= np.float64(cut)  # a Python float would be rounded to float32
    sums = rows.positives(prior, prevalence, label_frequency, purity, target, above)
    in_target = rows.kind == 1 if target == "unlabeled" else np.ones(rows.kind.size, dtype=bool)
    possible = rows.possible
    v, a = rows.value[possible], above[possible]
    labeled_value = sums.weight * v * sums.labeled

    def value_of(chosen: Array) -> float:
        return float(rows.weight[chosen] @ rows.value[chosen])

    alarms, alarm_value = float(rows.weight[above & in_target].sum()), value_of(above & in_target)

    naive, naive_total = float(labeled_value @ a), float(labeled_value.sum())
    # Labeled rows are positives for certain only if labels are clean.
    is_certain = target == "population" and purity == 1
    least = (naive, naive_total) if is_certain else (0.0, 0.0)
    most = [value_of(possible & in_target & chosen) for chosen in (above, in_target)]
    estimate = partial(_estimate_sum, sums, v, level)
    naive_alarms = float(rows.weight[above].sum()), value_of(above)
    ends = (least[0], most[0])
    shares = (least[0] / alarm_value, most[0] / alarm_value) if alarm_value else (0.0, 1.0)
    naive_precision = naive / naive_alarms[1] if naive_alarms[1] else math.nan
    naive_net = naive - cost * naive_alarms[0]
    return ValueRecovered(
        threshold=cut,
        cost=cost,
        alarms=alarms,
        alarm_value=alarm_value,
        recovered=estimate(v * a, naive, ends),
        total=estimate(v, naive_total, (least[1], most[1])),
        recall=_recall(sums, v, a, naive / naive_total if naive_total else math.nan, level),
        precision=estimate(v * a, naive_precision, shares, scale=alarm_value),
        net=estimate(v * a, naive_net, ends, shift=-cost * alarms),
        level=level,
    )


def _estimate_sum(
    sums: PositiveSums,
    value: Array,
    level: float | None,
    numbers: Array,
    naive: float,
    ends: tuple[float, float],
    *,
    scale: float = 1.0,
    shift: float = 0.0,
) -> Estimate:
    """Estimate the sum of numbers over the positives, divided by a scale and shifted.

    ``ends`` are the least and the highest possible value before it is shifted.
    """
    total = sums.total(numbers) / scale if scale > 0 else math.nan
    interval = Interval()
    if level is not None and scale > 0:
        low, high = (
            min(max(limit / scale, ends[0]), ends[1]) + shift
            for limit in sums.limits(numbers, _critical_value(sums, value, level))
        )
        interval = Interval(low, high, sums.standard_error(numbers) / scale)
    return Estimate.of(total + shift, naive, interval, (ends[0] + shift, ends[1] + shift))


def _critical_value(sums: PositiveSums, value: Array, level: float) -> float:
    """Return the quantile of the t distribution for the effective number of labeled rows."""
    return student_quantile(level, max(sums.effective_number(value) - 1, 1.0))


def _recall(
    sums: PositiveSums, value: Array, above: Array, naive: float, level: float | None
) -> Estimate:
    """Return the share of the value of the positives that is at or above the threshold."""
    total = sums.total(value)
    if total <= 0:
        return Estimate.of(math.nan, naive, Interval())
    recall = sums.total(value * above) / total
    error = sums.standard_error(value * (above - recall)) / total
    if level is None:
        return Estimate.of(recall, naive, Interval())
    has_value = above[value > 0]
    if sums.are_certain or has_value.all() or not has_value.any():
        return Estimate.of(recall, naive, Interval(recall, recall, error))
    n, critical_value = sums.effective_number(value), _critical_value(sums, value, level)
    low, high = mean_limits(recall, error, (0.0, 1.0), n, critical_value)
    return Estimate.of(recall, naive, Interval(low, high, error))
