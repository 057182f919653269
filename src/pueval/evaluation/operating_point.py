"""Everything at one threshold, whether it was given or chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from pueval.core.measures import MEASURES, Measure, find_measure
from pueval.core.rates import Rates
from pueval.evaluation.estimates import Contingency, Estimate, estimate_frame, estimate_rows
from pueval.text.numbers import CLIPPED_NOTE, was_clipped
from pueval.text.results import plain_data
from pueval.text.tables import html_table, text_table
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.resampling import Resamples

if TYPE_CHECKING:
    import pandas as pd

IntervalOf = Callable[[Measure], Interval]


@dataclass(frozen=True, eq=False)
class FixedThresholdIntervals:
    """Limits of measures at a threshold that has nothing to do with the rows."""

    resamples: Resamples
    threshold: float

    def __call__(self, measure: Measure) -> Interval:
        """Return the limits of a measure."""
        return self.resamples.interval_at(measure, self.threshold)


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Mapping[str, Estimate]):
    """Measures at the first threshold of some rates; limits are found when asked for.

    Attributes
    ----------
    every : dict of str to Measure
        What can be listed; any ``"f<beta>"`` can be asked for besides.
    corrected, naive : Rates
        At the threshold.
    limits : callable or None
        From a measure to its limits.
    """

    every: dict[str, Measure]
    corrected: Rates
    naive: Rates
    limits: IntervalOf | None
    _found: dict[str, Estimate] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Estimate:
        if name not in self._found:
            self._found[name] = self._estimate(self.every.get(name) or find_measure(name))
        return self._found[name]

    def _estimate(self, measure: Measure) -> Estimate:
        value, plain = (float(measure(these)[0]) for these in (self.corrected, self.naive))
        interval = Interval()
        if self.limits is not None and not math.isnan(value):
            interval = self.limits(measure)
        return Estimate.of(value, plain, interval, (measure.low, measure.high))

    def clipped(self) -> dict[str, float]:
        """Return the measures that left their range, before they were clipped."""
        values = {name: float(one(self.corrected)[0]) for name, one in self.every.items()}
        return {
            name: value
            for name, value in values.items()
            if was_clipped(value, self.every[name].clip(value))
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self.every)

    def __len__(self) -> int:
        return len(self.every)

    def __contains__(self, name: object) -> bool:
        return name in self.every

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoint:
    """A threshold and what it achieves; made by `Evaluation.at` and `Evaluation.threshold_for`.

    ``point["recall"]`` is short for ``point.measures["recall"]``. Of a threshold that was chosen,
    values are those seen on the rows that it was chosen on. Limits are corrected for the choice,
    so they need not lie evenly around the value, and the value may even lie outside: what they
    hold, at the level of the evaluation, is the true value of the measure **at the chosen
    threshold**.

    Attributes
    ----------
    threshold : float
        Scores at or above it are predicted positive; +inf if it is best to predict none.
    table, naive_table : Contingency
        Corrected (not clipped) and naive contingency table.
    measures : mapping of str to Estimate
        Every measure of a contingency table, and ``"cost"`` if that was minimized.
    level : float or None
        Confidence level of the limits.
    rule : str or None
        What was asked for, if the threshold was chosen.
    reached : float
        Share of the resamples in which the rule could be followed at all; NaN without a rule or
        without intervals. A low one says that another sample might have no such threshold.
    """

    threshold: float
    table: Contingency
    naive_table: Contingency
    measures: Estimates
    level: float | None
    rule: str | None = None
    reached: float = math.nan

    @classmethod
    def of(
        cls,
        threshold: float,
        both: tuple[Rates, Rates],
        limits: IntervalOf | None,
        level: float | None,
        *,
        more: Measure | None = None,
        rule: str | None = None,
        reached: float = math.nan,
    ) -> OperatingPoint:
        """Evaluate every measure, and perhaps one more, at a threshold with these rates."""
        every = MEASURES if more is None else MEASURES | {more.name: more}
        corrected, naive = both
        return cls(
            threshold,
            Contingency.of(corrected),
            Contingency.of(naive),
            Estimates(every, corrected, naive, limits),
            level,
            rule,
            reached,
        )

    def __getitem__(self, name: str) -> Estimate:
        return self.measures[name]

    @property
    def clipped(self) -> dict[str, float]:
        """The measures that left their range, before they were clipped."""
        return self.measures.clipped()

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure, a column per field of `Estimate`.

        Returns
        -------
        pandas.DataFrame
        """
        return estimate_frame(self.measures, "OperatingPoint.frame()")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        content: dict[str, Any] = plain_data(
            {
                "rule": self.rule,
                "threshold": self.threshold,
                "level": self.level,
                "reached": self.reached,
                "table": vars(self.table),
                "naive_table": vars(self.naive_table),
                "measures": {name: vars(one) for name, one in self.measures.items()},
            }
        )
        return content

    def summary(self) -> str:
        """Say in one line which threshold it is, and what it was chosen for.

        Returns
        -------
        str
        """
        return f"Threshold {self.threshold:.6g}" + (f" for {self.rule}" if self.rule else "")

    def _table(self) -> tuple[list[str], list[list[str]]]:
        titles = (self.measures.every[name].title for name in self.measures)
        return estimate_rows(zip(titles, self.measures.values(), strict=True), self.level)

    def __repr__(self) -> str:
        lines = [
            self.summary(),
            text_table(*self._table()),
            *([CLIPPED_NOTE] if self.clipped else []),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        note = f"<p>{escape(CLIPPED_NOTE)}</p>" if self.clipped else ""
        return f"<div><p>{escape(self.summary())}</p>{html_table(*self._table())}{note}</div>"
