"""What an evaluation is made of: estimates, best values, contingency tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pueval._typing import Array
from pueval.core.measures import Measure, Table, clip
from pueval.core.rates import Rates
from pueval.errors import require
from pueval.text.numbers import (
    format_estimate,
    format_interval,
    format_level,
    format_number,
    was_clipped,
)
from pueval.uncertainty.intervals import Interval

if TYPE_CHECKING:
    import pandas as pd

# Measures whose best value over all thresholds is reported; Ramola et al. (2019) correct these.
BEST_MEASURES = ("accuracy", "balanced_accuracy", "f1", "matthews_corrcoef")


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
    unclipped : float
        The corrected value before it was clipped.
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
        reach: tuple[float, float] = (0.0, 1.0),
    ) -> Estimate:
        """Clip a value to the range of its measure, and put its interval beside it."""
        return cls(
            clip(unclipped, *reach),
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

    def __str__(self) -> str:
        return format_estimate(self.value, self.low, self.high, clipped=self.clipped)


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
    unclipped : float
        The best corrected value before it was clipped to the range of the measure.
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


def estimate_rows(
    named: Iterable[tuple[str, Estimate]], level: float | None
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table of estimates, each with its title."""
    header = ["", "naive", "corrected"]
    every = list(named)
    rows = [
        [name, format_number(one.naive), format_number(one.value, clipped=one.clipped)]
        for name, one in every
    ]
    if level is not None:
        header.append(f"{format_level(level)} limits")
        for row, (_, one) in zip(rows, every, strict=True):
            row.append(format_interval(one.low, one.high, clipped=one.clipped))
    return header, rows


def estimate_frame(estimates: Mapping[str, Estimate], purpose: str) -> pd.DataFrame:
    """Return a pandas DataFrame with a row per measure, a column per field of `Estimate`."""
    pandas = require("pandas", extra="pandas", purpose=purpose)
    frame: pd.DataFrame = pandas.DataFrame(
        [vars(one) for one in estimates.values()],
        index=pandas.Index([*estimates], name="measure"),
    )
    return frame


def best_value(measure: Measure, these: Rates) -> tuple[float, float]:
    """Return threshold and value of the best, not clipped; the highest of equal thresholds."""
    values = measure(these)
    if np.isnan(values).all():
        return math.nan, math.nan
    index = np.nanargmax(values) if measure.greater_is_better else np.nanargmin(values)
    return float(these.threshold[index]), float(values[index])
