"""Estimates: corrected values with confidence intervals, beside the naive values.

`Estimate` is one measure, `Best` its best value over all thresholds, `Contingency` a table of
rows, and `OperatingPoint` every measure at one threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.measures import MEASURES, Measure, Table, clip, find_measure, was_clipped
from pueval.core.rates import Rates
from pueval.text.numbers import (
    CLIPPED_NOTE,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_number,
    format_threshold,
)
from pueval.text.results import Result, measure_frame, plain_dict
from pueval.text.tables import html_summary, text_table
from pueval.uncertainty.intervals import Interval

if TYPE_CHECKING:
    import pandas as pd

# Measures whose best value over all thresholds is reported; Ramola et al. (2019) correct these.
BEST_MEASURES = ("accuracy", "balanced_accuracy", "f1", "matthews_corrcoef")

IntervalOf = Callable[[Measure], Interval]


@dataclass(frozen=True, repr=False)
class Estimate(Result):
    """A corrected value with its confidence interval, beside the naive value.

    Attributes
    ----------
    value : float
        Corrected value, clipped to the range of the measure; NaN where the measure is undefined.
    low, high : float
        Ends of the confidence interval; NaN without intervals. The interval includes the
        uncertainty of an estimated prior or purity. Where prior or purity was given as an
        interval, it covers every value in that interval.
    naive : float
        Value with unlabeled rows counted as negative.
    standard_error : float
        Standard error of the corrected value before clipping.
    unclipped : float
        Corrected value before clipping.
    """

    value: float
    low: float
    high: float
    naive: float
    standard_error: float
    unclipped: float

    @classmethod
    def of(
        cls,
        unclipped: float,
        naive: float,
        interval: Interval,
        value_range: tuple[float, float] = (0.0, 1.0),
    ) -> Estimate:
        """Clip a value to the range of its measure and attach its interval."""
        return cls(
            clip(unclipped, *value_range),
            interval.low,
            interval.high,
            naive,
            interval.standard_error,
            unclipped,
        )

    @property
    def clipped(self) -> bool:
        """Whether the corrected value was outside the range of the measure."""
        return bool(was_clipped(self.unclipped, self.value))

    def __float__(self) -> float:
        """Return the corrected value."""
        return self.value

    def __format__(self, spec: str) -> str:
        """Format the corrected value alone if there is a format, such as ``.2f``."""
        return format(self.value, spec) if spec else str(self)

    def __str__(self) -> str:
        return format_estimate(self.value, self.low, self.high, clipped=self.clipped)

    def _headline(self) -> str:
        return f"Estimate: corrected {self}, naive {format_number(self.naive)}"


@dataclass(frozen=True, repr=False)
class Best(Result):
    """The best value of a measure over all thresholds.

    Attributes
    ----------
    measure : str
        Name of the measure.
    threshold, value : float
        Threshold at which the corrected measure is best, and its value there.
    low, high : float
        Ends of the confidence interval of the best value, corrected for selecting the best of
        many; NaN without intervals.
    naive_threshold, naive : float
        Threshold at which the naive measure is best, and its value there.
    unclipped : float
        Best corrected value before clipping to the range of the measure.
    """

    measure: str
    threshold: float
    value: float
    low: float
    high: float
    naive_threshold: float
    naive: float
    unclipped: float

    @property
    def clipped(self) -> bool:
        """Whether the best corrected value was outside the range of the measure."""
        return bool(was_clipped(self.unclipped, self.value))

    def _headline(self) -> str:
        best = format_estimate(self.value, self.low, self.high, clipped=self.clipped)
        return (
            f"Best {find_measure(self.measure).title}: "
            f"corrected {best} at threshold {format_threshold(self.threshold)}, "
            f"naive {format_number(self.naive)} at {format_threshold(self.naive_threshold)}"
        )


@dataclass(frozen=True, repr=False)
class Contingency(Result):
    """A contingency table in rows of the target; corrected counts are not integers.

    Attributes
    ----------
    true_positive, false_positive, false_negative, true_negative : float
        Expected number of rows in each cell.
    """

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float

    @classmethod
    def of(cls, rates: Rates) -> Contingency:
        """Return the table at the first threshold of the rates."""
        table = Table.of(rates).scaled(rates.size)
        return cls(*(float(getattr(table, cell.name)[0]) for cell in fields(cls)))

    def as_array(self) -> Array:
        """Return [[tn, fp], [fn, tp]], the layout of scikit-learn's ``confusion_matrix``."""
        return np.array(
            [[self.true_negative, self.false_positive], [self.false_negative, self.true_positive]]
        )

    def _headline(self) -> str:
        cells = (
            ("predicted positive", self.true_positive, self.false_positive),
            ("predicted negative", self.false_negative, self.true_negative),
        )
        rows = [[title, *map(format_count, counts)] for title, *counts in cells]
        return text_table(["Rows of the target", "positive", "negative"], rows)


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoint(Mapping[str, Estimate]):
    """Every measure at one threshold; made by `Evaluation.at` and `Evaluation.threshold_for`.

    It maps names of measures to estimates, like an `Evaluation`: ``point["recall"].value``. Any
    ``"f<beta>"`` can be looked up, too. At a chosen threshold, values are those of the rows on
    which it was chosen, and tend to be too good. Intervals are corrected for the choice: they
    cover the true value of the measure **at the chosen threshold**. They need not be symmetric,
    and the value may lie outside.

    Attributes
    ----------
    threshold : float
        Score at or above which rows are predicted positive; +inf if predicting none is best.
    table, naive_table : Contingency
        Corrected (not clipped) and naive contingency table.
    level : float or None
        Confidence level of the intervals.
    rule : str or None
        Rule by which the threshold was chosen, if it was.
    reached : float
        Share of the resamples in which some threshold satisfies the rule; NaN without a rule or
        without intervals. If it is low, another sample might have no such threshold.
    threshold_interval : (float, float)
        Confidence interval of the threshold that the rule would choose if all classes of an
        infinite sample were known; +inf means no threshold at all. NaN without a rule or without
        intervals.
    """

    threshold: float
    level: float | None
    # Corrected and naive rates at the threshold, and the intervals of measures there.
    _rates: tuple[Rates, Rates]
    _intervals: IntervalOf | None
    _measures: dict[str, Measure] = field(default_factory=MEASURES.copy)
    rule: str | None = None
    reached: float = math.nan
    threshold_interval: tuple[float, float] = (math.nan, math.nan)
    _estimates: dict[str, Estimate] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Estimate:
        # Intervals take time, so each is computed when it is first looked up.
        if name not in self._estimates:
            self._estimates[name] = self._estimate(self._measures.get(name) or find_measure(name))
        return self._estimates[name]

    def _estimate(self, measure: Measure) -> Estimate:
        point = self._point_estimate(measure)
        if self._intervals is None or math.isnan(point.unclipped):
            return point
        interval, value_range = self._intervals(measure), (measure.low, measure.high)
        return Estimate.of(point.unclipped, point.naive, interval, value_range)

    def _point_estimate(self, measure: Measure) -> Estimate:
        """Return the estimate without its interval, which takes time."""
        value, naive = (float(measure(rates)[0]) for rates in self._rates)
        return Estimate.of(value, naive, Interval(), (measure.low, measure.high))

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __contains__(self, name: object) -> bool:
        return name in self._measures

    # A mapping is equal by content and cannot be hashed; an operating point is neither.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def table(self) -> Contingency:
        """Corrected contingency table; not clipped."""
        return Contingency.of(self._rates[0])

    @property
    def naive_table(self) -> Contingency:
        """Contingency table with unlabeled rows counted as negative."""
        return Contingency.of(self._rates[1])

    @property
    def clipped(self) -> dict[str, float]:
        """Measures outside their range, with their values before clipping."""
        values = ((m, float(m(self._rates[0])[0])) for m in self._measures.values())
        return {m.name: value for m, value in values if was_clipped(value, m.clip(value))}

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure and a column per field of `Estimate`.

        Returns
        -------
        pandas.DataFrame
        """
        return measure_frame(self, "OperatingPoint.frame()")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return plain_dict(
            {
                "rule": self.rule,
                "threshold": self.threshold,
                "threshold_interval": self.threshold_interval,
                "level": self.level,
                "reached": self.reached,
                "table": self.table,
                "naive_table": self.naive_table,
                "measures": dict(self),
            }
        )

    def summary(self) -> str:
        """Return the threshold and the rule by which it was chosen, in one line.

        Returns
        -------
        str
        """
        text = f"Threshold {self.threshold:.6g}" + (f" for {self.rule}" if self.rule else "")
        if self.level is None or math.isnan(self.threshold_interval[0]):
            return text
        low, high = map(format_threshold, self.threshold_interval)
        return f"{text} ({format_level(self.level)} CI: {low} to {high})"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        titles = (measure.title for measure in self._measures.values())
        return estimate_rows(zip(titles, self.values(), strict=True), self.level)

    def __repr__(self) -> str:
        note = f"\n{CLIPPED_NOTE}" if self.clipped else ""
        return f"{self.summary()}\n{text_table(*self._table())}{note}"

    def _repr_html_(self) -> str:
        return html_summary(self.summary(), [self._table()], [CLIPPED_NOTE] if self.clipped else [])


def estimate_rows(
    estimates: Iterable[tuple[str, Estimate]], level: float | None
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table of titles and estimates."""
    header = ["", "naive", "corrected"]
    if level is not None:
        header.append(f"{format_level(level)} CI")
    rows = []
    for title, estimate in estimates:
        clipped = estimate.clipped
        value = format_number(estimate.value, clipped=clipped)
        row = [title, format_number(estimate.naive), value]
        if level is not None:
            row.append(format_interval(estimate.low, estimate.high, clipped=clipped))
        rows.append(row)
    return header, rows


def best_value(measure: Measure, rates: Rates) -> tuple[float, float]:
    """Return the best value, not clipped, after its threshold; the highest threshold of ties."""
    values = measure(rates)
    if np.isnan(values).all():
        return math.nan, math.nan
    index = np.nanargmax(values) if measure.greater_is_better else np.nanargmin(values)
    return float(rates.threshold[index]), float(values[index])


def clipped_areas(areas: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return the corrected areas outside [0, 1]; ``areas`` are corrected and naive values."""
    return {name: value for name, (value, _) in areas.items() if was_clipped(value, clip(value))}
