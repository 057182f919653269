"""Measures: each a value with a name, a formula, a range and a direction.

A formula sees a `Table` of shares: true positives, predicted positives and positives of a
target of size 1. Everything else of a contingency table follows from these three numbers.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.core.rates import Rates
from pueval.errors import InputError, UnknownMeasureError

# Shares below this come from rounding: it would take 10¹⁴ rows to have one as small.
ZERO = 1e-14


class Table(NamedTuple):
    """Contingency tables as shares of the target (or as numbers of rows, after `scaled`)."""

    true_positive: Array
    predicted: Array
    positive: float | Array
    total: float = 1.0

    @classmethod
    def of(cls, rates: Rates) -> Table:
        """Make the tables that belong to some rates."""
        return cls(rates.prevalence * rates.tpr, rates.predicted, rates.prevalence)

    @property
    def false_positive(self) -> Array:
        """Negatives predicted positive."""
        return self.predicted - self.true_positive

    @property
    def false_negative(self) -> Array:
        """Positives predicted negative."""
        return self.positive - self.true_positive

    @property
    def true_negative(self) -> Array:
        """Negatives predicted negative."""
        return self.negative - self.false_positive

    @property
    def negative(self) -> float | Array:
        """All negatives."""
        return self.total - self.positive

    @property
    def rejected(self) -> Array:
        """All predicted negative."""
        return self.total - self.predicted

    def scaled(self, size: float) -> Table:
        """Return the same tables for a target of ``size`` rows."""
        return Table(self.true_positive * size, self.predicted * size, self.positive * size, size)


@dataclass(frozen=True)
class Measure:
    """A number computed from a contingency table.

    Attributes
    ----------
    name : str
        As scikit-learn names it, where it has one.
    title : str
        For people.
    formula : callable
        From a `Table` to an array; NaN where the measure is undefined.
    low, high : float
        The range of the true value; estimates outside are clipped with a warning.
    greater_is_better : bool
        Whether a good classifier has a high value.
    """

    name: str
    title: str
    formula: Callable[[Table], Array]
    low: float = 0.0
    high: float = 1.0
    greater_is_better: bool = True

    def __call__(self, rates: Rates) -> Array:
        """Compute the measure at every threshold of ``rates``; not clipped."""
        return np.asarray(self.formula(Table.of(rates)), dtype=np.float64)

    def clip(self, value: float) -> float:
        """Bring an estimate into the range of the measure; what is undefined stays so."""
        return clip(value, self.low, self.high)

    @property
    def is_ratio(self) -> bool:
        """Whether it has no upper end, so that estimates are skewed."""
        return math.isinf(self.high)

    def transform(self, values: Array) -> Array:
        """Take logarithms of ratios, whose estimates are skewed; keep other measures as is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(values) if self.is_ratio else values


def clip(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Bring a number into a range; NaN stays NaN."""
    return value if math.isnan(value) else float(min(max(value, low), high))


def _ratio(numerator: Array | float, denominator: Array | float) -> Array:
    """Divide; NaN where the denominator is zero, but for rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = np.asarray(np.divide(numerator, denominator))
    undefined = np.abs(denominator) <= ZERO
    if np.any(undefined):
        np.copyto(result, np.nan, where=undefined)
    return result


def _covariance(t: Table) -> Array:
    """Return n² times the covariance of class and prediction: tp·tn − fp·fn."""
    return t.true_positive * t.total - t.predicted * t.positive


def _recall(t: Table) -> Array:
    return _ratio(t.true_positive, t.positive)


def _specificity(t: Table) -> Array:
    return _ratio(t.true_negative, t.negative)


def _precision(t: Table) -> Array:
    return _ratio(t.true_positive, t.predicted)


def _negative_predictive_value(t: Table) -> Array:
    return _ratio(t.true_negative, t.rejected)


def _accuracy(t: Table) -> Array:
    return _ratio(t.true_positive + t.true_negative, t.total)


def _balanced_accuracy(t: Table) -> Array:
    return (_recall(t) + _specificity(t)) / 2


def _matthews_corrcoef(t: Table) -> Array:
    scale = t.predicted * t.rejected * (t.positive * t.negative)
    return _ratio(_covariance(t), np.sqrt(np.maximum(scale, 0)))


def _cohen_kappa(t: Table) -> Array:
    expected = t.predicted * t.positive + t.rejected * t.negative
    return _ratio(2 * _covariance(t), t.total**2 - expected)


def _jaccard(t: Table) -> Array:
    return _ratio(t.true_positive, t.predicted + t.false_negative)


def _geometric_mean(t: Table) -> Array:
    recall, specificity = _recall(t), _specificity(t)
    # The square root would magnify a rate of 1e-16, which is rounding, to 1e-8.
    vanishes = (recall <= ZERO) | (specificity <= ZERO)
    product = recall * specificity  # stays NaN where one of them is undefined
    mean: Array = np.sqrt(np.where(vanishes, 0 * product, product))
    return mean


def _fowlkes_mallows(t: Table) -> Array:
    return _ratio(t.true_positive, np.sqrt(np.maximum(t.predicted, 0) * t.positive))


def fbeta(beta: float) -> Measure:
    """Return the F measure that weighs recall ``beta`` times as much as precision.

    F = (1 + beta²)·tp / (predicted + beta²·positives)

    Parameters
    ----------
    beta : float
        Positive; 1 gives the harmonic mean of precision and recall.

    Returns
    -------
    Measure

    Examples
    --------
    >>> fbeta(2).name
    'f2'
    """
    if not (isinstance(beta, int | float | np.number) and 0 < beta < np.inf):
        raise InputError(f"beta must be a positive number; got {beta!r}.")
    return Measure(f"f{beta:g}", f"F{beta:g}", partial(_fbeta, square=float(beta) ** 2))


def _fbeta(t: Table, square: float) -> Array:
    return _ratio((1 + square) * t.true_positive, t.predicted + square * t.positive)


def cost(false_positive: float, false_negative: float) -> Measure:
    """Return the expected cost per row of the target.

    cost = false_positive·P(false positive) + false_negative·P(false negative)

    Parameters
    ----------
    false_positive, false_negative : float
        What one wrong prediction of each kind costs, in any unit; not negative, one of them
        positive.

    Returns
    -------
    Measure

    References
    ----------
    Elkan (2001), The foundations of cost-sensitive learning.

    Examples
    --------
    >>> cost(1, 20).high
    20.0
    """
    for name, value in (("false_positive", false_positive), ("false_negative", false_negative)):
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (number and 0 <= value < np.inf):
            raise InputError(f"{name} must be a cost of at least 0; got {value!r}.")
    if not (false_positive or false_negative):
        raise InputError(
            "false_positive and false_negative are both 0: nothing would cost anything."
        )
    formula = partial(_cost, wrong=(float(false_positive), float(false_negative)))
    most = float(max(false_positive, false_negative))
    return Measure("cost", "Cost per row", formula, high=most, greater_is_better=False)


def _cost(t: Table, wrong: tuple[float, float]) -> Array:
    return _ratio(wrong[0] * t.false_positive + wrong[1] * t.false_negative, t.total)


def _informedness(t: Table) -> Array:
    return _recall(t) + _specificity(t) - 1


def _markedness(t: Table) -> Array:
    return _precision(t) + _negative_predictive_value(t) - 1


def _lift(t: Table) -> Array:
    return _ratio(_precision(t), t.positive / t.total)


def _positive_likelihood_ratio(t: Table) -> Array:
    return _ratio(_recall(t), np.maximum(1 - _specificity(t), 0))


def _negative_likelihood_ratio(t: Table) -> Array:
    return _ratio(1 - _recall(t), np.maximum(_specificity(t), 0))


def _false_positive_rate(t: Table) -> Array:
    return _ratio(t.false_positive, t.negative)


def _false_discovery_rate(t: Table) -> Array:
    return _ratio(t.false_positive, t.predicted)


def _measures() -> dict[str, Measure]:
    every = [
        Measure("accuracy", "Accuracy", _accuracy),
        Measure("balanced_accuracy", "Balanced accuracy", _balanced_accuracy),
        Measure("precision", "Precision", _precision),
        Measure("recall", "Recall", _recall),
        Measure("specificity", "Specificity", _specificity),
        Measure(
            "negative_predictive_value", "Negative predictive value", _negative_predictive_value
        ),
        fbeta(1),
        Measure("matthews_corrcoef", "Matthews correlation", _matthews_corrcoef, low=-1),
        Measure("jaccard", "Jaccard index", _jaccard),
        Measure("cohen_kappa", "Cohen's kappa", _cohen_kappa, low=-1),
        Measure(
            "informedness",
            "Informedness (Youden's J)",
            _informedness,
            low=-1,
        ),
        Measure(
            "markedness",
            "Markedness",
            _markedness,
            low=-1,
        ),
        Measure("geometric_mean", "Geometric mean of rates", _geometric_mean),
        Measure("fowlkes_mallows", "Fowlkes–Mallows index", _fowlkes_mallows),
        Measure("lift", "Lift", _lift, high=np.inf),
        Measure(
            "positive_likelihood_ratio",
            "Positive likelihood ratio",
            _positive_likelihood_ratio,
            high=np.inf,
        ),
        Measure(
            "negative_likelihood_ratio",
            "Negative likelihood ratio",
            _negative_likelihood_ratio,
            high=np.inf,
            greater_is_better=False,
        ),
        Measure(
            "false_positive_rate",
            "False positive rate",
            _false_positive_rate,
            greater_is_better=False,
        ),
        Measure(
            "false_discovery_rate",
            "False discovery rate",
            _false_discovery_rate,
            greater_is_better=False,
        ),
    ]
    return {measure.name: measure for measure in every}


MEASURES = _measures()

# The names of areas and other numbers that are not one contingency table's.
AREAS = ("roc_auc", "average_precision")


# What others call them.
ALIASES = {
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "ap": "average_precision",
    "auprc": "average_precision",
    "pr_auc": "average_precision",
    "mcc": "matthews_corrcoef",
    "ppv": "precision",
    "npv": "negative_predictive_value",
    "sensitivity": "recall",
    "tpr": "recall",
    "tnr": "specificity",
    "fpr": "false_positive_rate",
    "fdr": "false_discovery_rate",
    "youden": "informedness",
    "kappa": "cohen_kappa",
}


def find_measure(name: str) -> Measure:
    """Look a measure up by name; any ``f<beta>`` is one, too.

    Parameters
    ----------
    name : str
        For example ``"f1"``, ``"f0.5"`` or ``"matthews_corrcoef"``.

    Returns
    -------
    Measure

    Examples
    --------
    >>> find_measure("f0.5").title
    'F0.5'
    """
    if name in MEASURES:
        return MEASURES[name]
    if isinstance(name, str) and re.fullmatch(r"f\d+(\.\d+)?", name) and float(name[1:]) > 0:
        return fbeta(float(name[1:]))
    raise unknown_measure_error(name, [*MEASURES])


def unknown_measure_error(
    name: object, known: list[str], *, any_beta: bool = True
) -> UnknownMeasureError:
    """Return the error for a name that is not a measure's."""
    usual = str(name).lower().removesuffix("_score")
    usual = ALIASES.get(usual, usual)
    near = [one for one in (usual, f"neg_{usual}") if one in known]
    near = near or difflib.get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    more = ", and f<beta> for any beta, such as f2 or f0.5" if any_beta else ""
    return UnknownMeasureError(
        f"there is no measure {name!r}.{hint} The measures are {', '.join(known)}{more}."
    )
