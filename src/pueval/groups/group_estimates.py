"""One measure of every group, its macro average, and differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.errors import require
from pueval.text.numbers import was_clipped
from pueval.uncertainty.holm import holm

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class GroupEstimates:
    """One measure of every group: arrays in the order of the groups.

    Attributes
    ----------
    measure : str
        Its name.
    groups : tuple
        Names of the groups.
    value : ndarray
        Corrected, clipped to the range of the measure; NaN where it is undefined, or where a
        group is too small.
    low, high : ndarray
        Confidence limits; NaN if none were asked for. Average precision is too high on average if
        there are few labeled rows; its limits have the excess taken off.
    naive : ndarray
        With unlabeled rows counted as negative.
    standard_error : ndarray
        Of the corrected value before it was clipped.
    unclipped : ndarray
        The corrected value before it was clipped.
    """

    measure: str
    groups: tuple[Any, ...]
    value: Array
    low: Array
    high: Array
    naive: Array
    standard_error: Array
    unclipped: Array

    @property
    def clipped(self) -> Array:
        """Whether each value was outside the range of the measure."""
        outside: Array = was_clipped(self.unclipped, self.value)
        return outside

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per group.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose="GroupEstimates.frame()")
        columns = ("value", "low", "high", "naive", "standard_error", "unclipped")
        frame: pd.DataFrame = pandas.DataFrame(
            {name: getattr(self, name) for name in columns},
            index=pandas.Index(list(self.groups), name="group"),
        )
        return frame


@dataclass(frozen=True)
class MacroAverage:
    """The mean of a measure over groups, each counting the same.

    Attributes
    ----------
    measure : str
        Its name.
    value : float
        Mean of the corrected values before they were clipped, clipped then; of average precision,
        less what it is too high on average.
    low, high : float
        Confidence limits for other rows of the same groups; NaN if none were asked for.
    naive : float
        Mean of the naive values of the same groups.
    standard_error : float
        Of the mean.
    spread : float
        Standard deviation of the true values between groups: that of the estimates, less what
        their standard errors explain.
    groups : int
        How many groups had a value.
    """

    measure: str
    value: float
    low: float
    high: float
    naive: float
    standard_error: float
    spread: float
    groups: int


@dataclass(frozen=True, eq=False)
class GroupDifferences:
    """How far every group is from all rows together, or from one group.

    Attributes
    ----------
    measure : str
        Its name.
    reference : object
        The name of the group that is compared with; None for all rows together.
    groups : tuple
        Names of the groups.
    value : ndarray
        Value of the group minus that of the reference, neither clipped; of average precision,
        less what each is too high on average.
    low, high, standard_error : ndarray
        Confidence limits and standard error of the difference.
    pvalue : ndarray
        Two-sided, of no difference. From the standard error of the group or, if that is larger,
        from the one it would have were it like all rows together.
    adjusted_pvalue : ndarray
        The same, corrected by Holm's method for there being many groups.
    """

    measure: str
    reference: Any
    groups: tuple[Any, ...]
    value: Array
    low: Array
    high: Array
    standard_error: Array
    pvalue: Array
    adjusted_pvalue: Array

    @classmethod
    def of(
        cls,
        measure: str,
        reference: Any,
        groups: tuple[Any, ...],
        value: Array,
        error: Array,
        error_if_equal: Array,
        level: float,
    ) -> GroupDifferences:
        """Make limits and p-values from standard errors; the latter from those without difference.

        Where a group is compared with itself there is no error, and no p-value.
        """
        reach = normal_quantile(level) * error
        with np.errstate(divide="ignore", invalid="ignore"):
            pvalue = 2 * scipy.special.ndtr(-np.abs(value) / error_if_equal)
        pvalue = np.where(error > 0, pvalue, np.nan)
        return cls(
            measure,
            reference,
            groups,
            value,
            value - reach,
            value + reach,
            error,
            pvalue,
            holm(pvalue),
        )

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per group.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose="GroupDifferences.frame()")
        columns = ("value", "low", "high", "standard_error", "pvalue", "adjusted_pvalue")
        frame: pd.DataFrame = pandas.DataFrame(
            {name: getattr(self, name) for name in columns},
            index=pandas.Index(list(self.groups), name="group"),
        )
        return frame
