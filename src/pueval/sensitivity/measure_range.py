"""Smallest and largest value of a measure between two contingency tables at one threshold."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.core.measures import Measure, Table
from pueval.text.numbers import format_interval


class MeasureRange(NamedTuple):
    """Smallest and largest possible value of a measure; NaN if it is undefined."""

    low: float
    high: float

    def __str__(self) -> str:
        return format_interval(self.low, self.high)


def bound_measure(measure: Measure, fewest: Table, most: Table) -> MeasureRange:
    """Bound a measure by the tables with the fewest and the most true positives.

    With given numbers of predicted positives and of positives, every measure is monotone in the
    number of true positives, so that its extremes lie at the ends.

    Parameters
    ----------
    measure : Measure
        The measure, monotone in the number of true positives.
    fewest, most : Table
        Tables as shares of the target; one entry per possible number of positives.

    Returns
    -------
    MeasureRange
        Over all entries. Ratios whose denominator can be 0 reach infinity.

    Examples
    --------
    >>> from pueval.core.measures import find_measure
    >>> few, many = (Table(np.array([tp]), np.array([0.4]), np.array([0.5])) for tp in (0.2, 0.3))
    >>> print(bound_measure(find_measure("precision"), few, many))
    0.500 to 0.750
    """
    values = np.concatenate([_values(measure, fewest), _values(measure, most)])
    defined = values[~np.isnan(values)]
    if not defined.size:
        return MeasureRange(math.nan, math.nan)
    low, high = float(np.min(defined)), float(np.max(defined))
    return MeasureRange(measure.clip(low), measure.clip(high))


def _values(measure: Measure, table: Table) -> Array:
    values = np.asarray(measure.formula(table), dtype=np.float64)
    if measure.is_ratio:
        sums = (table.predicted, table.rejected, table.positive, table.negative)
        # Only one cell is empty, such as that of the false positives.
        infinite = np.isnan(values) & np.all([np.asarray(each) > 0 for each in sums], axis=0)
        values = np.where(infinite, np.inf, values)
    return values
