"""TopMeasure: a number computed from the order of all rows; and numbers of first rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pueval._checks import check_number, percent_hint
from pueval._typing import Array
from pueval.core.measures import clip
from pueval.core.rates import Rates, full_lines, map_lines
from pueval.errors import InputError

# A share of rows that is an integer up to rounding is not rounded up.
ROUNDING = 1e-9

RowsOf = Callable[[float], float]


@dataclass(frozen=True)
class TopMeasure:
    """A number computed from the order of all rows, mostly from the first of them.

    Attributes
    ----------
    name, title : str
        Established name, and the name to show.
    formula : callable
        From `Rates` to the measure, one value per line of rates.
    low, high : float
        Range of the true value.
    greater_is_better : bool
        Whether a higher value is better.
    needs_prior : bool
        Whether the value depends on the prior even if labels are clean and random.
    along_roc : bool
        Whether it is an integral along the monotone ROC curve.
    linear : bool
        Whether it is, at a given prevalence, the mean over the positives of a weight of their
        ranks.
    saturates : bool
        Whether it comes from monotone rates at the top, so that draws of a value near its limit
        lie below it.
    rows : callable or None
        From the number of rows in the target, `Rates.n_rows`, to the number of first rows it is
        about, if there is such a number.
    """

    name: str
    title: str
    formula: Callable[[Rates], Array]
    low: float = 0.0
    high: float = 1.0
    greater_is_better: bool = True
    needs_prior: bool = True
    along_roc: bool = False
    linear: bool = False
    saturates: bool = False
    rows: RowsOf | None = None

    def __call__(self, rates: Rates) -> Array:
        """Compute the measure of each line of rates; not clipped."""
        return np.asarray(self.formula(full_lines(rates)), dtype=np.float64)

    def clip(self, value: float) -> float:
        """Clip an estimate to the range of the measure; NaN stays NaN."""
        return clip(value, self.low, self.high)

    @property
    def is_ratio(self) -> bool:
        """Whether the measure is unbounded above, so that its estimates are skewed."""
        return math.isinf(self.high)


def measure_lines(measures: Sequence[TopMeasure], rates: Rates) -> Array:
    """Compute measures of many lines of rates, not clipped, on all cores; one line per measure.

    Measures share what they compute from the same rates.
    """
    return map_lines(
        lambda part: np.stack([np.ravel(measure(part)) for measure in measures]), rates
    )


def first_rows(
    k: float | None = None, share: float | None = None, *, at_most_all: bool = False
) -> RowsOf:
    """Return a function from the number of rows in the target to the number of first rows.

    Give ``k`` or ``share``. A share is rounded up to a row; if rows have importance weights, it is
    that share of their weight. Their number of rows is the effective one, and ``k`` rows are those
    with the highest scores that have k times the weight of a row: as many as without weights if
    all weights are equal. With ``at_most_all``, more rows than there are mean all of them.
    """
    if (k is None) == (share is None):
        got = "neither" if k is None else "both"
        raise InputError(f"give k, a number of rows, or share, a share of the rows; got {got}.")
    if k is not None:
        number = check_number("k", k)
        if number <= 0:
            raise InputError(f"k must be a number of rows, at least 1; got {k!r}.")
        if number < 1:
            raise InputError(f"k is a number of rows; got {k!r}. For a share of them, use share=.")
        return partial(_number_of_rows, number, at_most_all)
    part = check_number("share", share)
    if not 0 < part <= 1:
        raise InputError(f"share must be in (0, 1]; got {share!r}.{percent_hint(share)}")
    return partial(_share_of_rows, part)


def _number_of_rows(k: float, at_most_all: bool, size: float) -> float:  # noqa: FBT001
    if k > size and not at_most_all:
        number, hint = "number", ""
        if not isinstance(size, int | np.integer):
            number, hint = "effective number", " For a share of their weight, use share=."
        raise InputError(
            f"k must be at most {size:,g}, the {number} of rows in the target; got {k:,g}.{hint}"
        )
    return min(k, size)


def _share_of_rows(share: float, size: float) -> float:
    rows = share * size
    has_importance_weights = not isinstance(size, int | np.integer)
    return rows if has_importance_weights else float(max(math.ceil(rows - ROUNDING), 1))
