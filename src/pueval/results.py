"""What an evaluation is made of: estimates, contingency tables, operating points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from pueval.measures import MEASURES, Measure, Table, unknown_measure
from pueval.rates import Rates
from pueval.samples import Array
from pueval.tables import number, span, text_table
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.resampling import Resamples

LimitsOf = Callable[[Measure], Interval]


@dataclass(frozen=True)
class Estimate:
    """A corrected value with its confidence limits, beside the naive one.

    Attributes
    ----------
    value : float
        Corrected, clipped to the range of the measure; NaN where the measure is undefined.
    low, high : float
        Confidence limits; NaN if none were asked for. They carry what is uncertain about prior
        and purity where these were estimated, and hold for every prior and purity within the
        limits where these were given as intervals.
    naive : float
        With unlabeled rows counted as negative.
    standard_error : float
        Of the corrected value before it was clipped.
    """

    value: float
    low: float
    high: float
    naive: float
    standard_error: float

    @classmethod
    def of(cls, value: float, naive: float, interval: Interval) -> Estimate:
        """Put a value and its interval together."""
        return cls(value, interval.low, interval.high, naive, interval.standard_error)


@dataclass(frozen=True)
class Best:
    """The best value of a measure over all thresholds.

    Attributes
    ----------
    measure : str
        Its name.
    threshold, value : float
        Where the corrected measure is best, and how good it is there.
    low, high : float
        Confidence limits of the best value, corrected for its being the best of many; NaN if
        none were asked for.
    naive_threshold, naive : float
        The same for the naive measure.
    """

    measure: str
    threshold: float
    value: float
    low: float
    high: float
    naive_threshold: float
    naive: float


@dataclass(frozen=True)
class Contingency:
    """A contingency table in numbers of rows of the target; corrected ones are not whole."""

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float

    @classmethod
    def of(cls, rates: Rates) -> Contingency:
        """Make the table of the first threshold."""
        table = Table.of(rates).scaled(rates.size)
        cells = (
            table.true_positive,
            table.false_positive,
            table.false_negative,
            table.true_negative,
        )
        return cls(*(float(cell[0]) for cell in cells))

    def as_array(self) -> Array:
        """Return [[tn, fp], [fn, tp]], as scikit-learn's ``confusion_matrix`` lays it out."""
        return np.array(
            [
                [self.true_negative, self.false_positive],
                [self.false_negative, self.true_positive],
            ]
        )


def best_value(measure: Measure, these: Rates) -> tuple[float, float]:
    """Return threshold and value of the best, not clipped; the highest of equal thresholds."""
    values = measure(these)
    if np.isnan(values).all():
        return math.nan, math.nan
    index = np.nanargmax(values) if measure.greater_is_better else np.nanargmin(values)
    return float(these.threshold[index]), float(values[index])


@dataclass(frozen=True, eq=False)
class FixedLimits:
    """Limits of measures at a threshold that has nothing to do with the rows."""

    resamples: Resamples
    threshold: float

    def __call__(self, measure: Measure) -> Interval:
        """Return the limits of a measure."""
        return self.resamples.at(measure, self.threshold)


def estimate(measure: Measure, corrected: Rates, naive: Rates, limits: LimitsOf | None) -> Estimate:
    """Return the estimate at the first threshold."""
    value, plain = (float(measure(these)[0]) for these in (corrected, naive))
    if math.isnan(value):
        return Estimate.of(value, plain, Interval())
    interval = Interval() if limits is None else limits(measure)
    return Estimate.of(measure.clip(value), plain, interval)


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Mapping[str, Estimate]):
    """Every measure at the first threshold of some rates; limits are found when asked for.

    Attributes
    ----------
    corrected, naive : Rates
        At the threshold.
    limits : callable or None
        From a measure to its limits.
    """

    corrected: Rates
    naive: Rates
    limits: LimitsOf | None
    _found: dict[str, Estimate] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Estimate:
        if name not in self._found:
            self._found[name] = estimate(MEASURES[name], self.corrected, self.naive, self.limits)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(MEASURES)

    def __len__(self) -> int:
        return len(MEASURES)

    def __repr__(self) -> str:
        return repr(dict(self))


def measure_rows(
    measures: Mapping[str, Estimate], limits: str | None
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table of measures; ``limits`` is the title of theirs, if any."""
    header = ["", "naive", "corrected"]
    titles = {name: measure.title for name, measure in MEASURES.items()}
    titles["cost"] = "Cost per row"
    rows = [
        [titles.get(name, name), number(one.naive), number(one.value)]
        for name, one in measures.items()
    ]
    if limits is not None:
        header.append(limits)
        for row, one in zip(rows, measures.values(), strict=True):
            row.append(span(one.low, one.high))
    return header, rows


@dataclass(frozen=True, repr=False)
class OperatingPoint:
    """Everything at one threshold.

    Attributes
    ----------
    threshold : float
        Scores at or above it are predicted positive.
    table, naive_table : Contingency
        Corrected (not clipped) and naive contingency table.
    measures : mapping of str to Estimate
        Every measure of a contingency table; ``point["f1"]`` is short for one of them.
    clipped : dict of str to float
        The measures that left their range, before they were clipped.
    """

    threshold: float
    table: Contingency
    naive_table: Contingency
    measures: Mapping[str, Estimate]
    clipped: dict[str, float]

    @classmethod
    def of(
        cls, threshold: float, corrected: Rates, naive: Rates, limits: LimitsOf | None
    ) -> OperatingPoint:
        """Evaluate every measure at a threshold, which has these rates."""
        clipped = {}
        for name, measure in MEASURES.items():
            value = float(measure(corrected)[0])
            if abs(value - measure.clip(value)) > 1e-9:
                clipped[name] = value
        return cls(
            threshold,
            Contingency.of(corrected),
            Contingency.of(naive),
            Estimates(corrected, naive, limits),
            clipped,
        )

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.measures:
            raise unknown_measure(name, [*self.measures], any_beta=False)
        return self.measures[name]

    def __repr__(self) -> str:
        known = any(math.isfinite(one.low) for one in self.measures.values())
        table = text_table(*measure_rows(self.measures, "limits" if known else None))
        return f"At the threshold {self.threshold:.6g}\n{table}"
