"""Contingency tables that bound the true tables from one side, their curves and areas."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.sizes import divide_or_zero
from pueval.text.numbers import format_number
from pueval.text.results import Result, plain_dict


@dataclass(frozen=True, eq=False, repr=False)
class BoundTables(Result):
    """Contingency tables at every threshold that bound the true tables from one side.

    Attributes
    ----------
    threshold : ndarray
        +inf and the distinct scores, descending.
    true_positive, false_positive, false_negative, true_negative : ndarray
        Numbers of rows.
    n_positive, n_negative : float or ndarray
        Numbers of positives and negatives in the target.
    """

    threshold: Array
    true_positive: Array
    false_positive: Array
    n_positive: Array | float
    n_negative: Array | float

    @property
    def false_negative(self) -> Array:
        """Positives below each threshold."""
        return np.asarray(self.n_positive - self.true_positive)

    @property
    def true_negative(self) -> Array:
        """Negatives below each threshold."""
        return np.asarray(self.n_negative - self.false_positive)

    @property
    def tpr(self) -> Array:
        """True positive rate."""
        return _share(self.true_positive, self.n_positive)

    @property
    def fpr(self) -> Array:
        """False positive rate."""
        return _share(self.false_positive, self.n_negative)

    @property
    def precision(self) -> Array:
        """Precision; 1 where nothing is predicted positive."""
        predicted = self.true_positive + self.false_positive
        return np.where(predicted > 0, divide_or_zero(self.true_positive, predicted), 1.0)

    @cached_property
    def roc_auc(self) -> float:
        """Area under the ROC curve, which is monotone in the order of the thresholds.

        A bound at one threshold also holds at later ones for tpr, and at earlier ones for fpr.
        Sorted points would cut corners of the curve where scores are tied.
        """
        fpr = np.minimum.accumulate(self.fpr[::-1])[::-1]
        return float(np.trapezoid(np.maximum.accumulate(self.tpr), fpr))

    @cached_property
    def average_precision(self) -> float:
        """Area under the precision-recall curve."""
        tpr, precision = _sort_by(self.tpr, self.precision)
        return float(np.sum(np.diff(tpr) * precision[1:]))

    def _columns(self) -> dict[str, Array]:
        cells = ("true_positive", "false_positive", "false_negative", "true_negative")
        return {name: getattr(self, name) for name in ("threshold", *cells)}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Infinite thresholds are None.
        """
        return plain_dict(self._columns())

    def _headline(self) -> str:
        areas = f"ROC AUC {format_number(self.roc_auc)}"
        areas += f", average precision {format_number(self.average_precision)}"
        return f"Contingency tables at {self.threshold.size:,} thresholds: {areas}"


def _share(rows: Array, total: Array | float) -> Array:
    """Return the share of rows; NaN where there are none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(rows / np.where(total, total, np.nan))


def _sort_by(keys: Array, values: Array) -> tuple[Array, Array]:
    """Sort keys, and values with them; most often they are sorted already."""
    if not np.any(keys[1:] < keys[:-1]):
        return keys, values
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]
