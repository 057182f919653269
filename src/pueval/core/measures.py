"""Measures of a contingency table: each has a name, a formula, a range and a direction.

A formula takes a `Table` of shares: true positives, predicted positives and positives of a
target of size 1. The rest of a contingency table follows from these three numbers. To add a
measure, write its formula and add a line to `MEASURES`.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.core.rates import Rates
from pueval.errors import InputError, UnknownMeasureError

# Smaller shares are rounding errors: a share this small would take 10¹⁴ rows.
ZERO = 1e-14
# Smaller changes of a value by clipping are rounding errors.
ROUNDING = 1e-9


class Table(NamedTuple):
    """Contingency tables as shares of the target (or as numbers of rows, after `scaled`)."""

    true_positive: Array
    predicted: Array
    positive: float | Array
    total: float = 1.0

    @classmethod
    def of(cls, rates: Rates) -> Table:
        """Compute the tables of rates, one per threshold."""
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
        """Return the tables as numbers of rows, for a target of ``size`` rows."""
        return Table(self.true_positive * size, self.predicted * size, self.positive * size, size)


@dataclass(frozen=True)
class Measure:
    """A number computed from a contingency table.

    Attributes
    ----------
    name : str
        Name of the measure; scikit-learn's name if it has one.
    title : str
        Name to show in text and pictures.
    formula : callable
        Function from contingency tables to an array; NaN where the measure is undefined. A table
        has the shares ``true_positive``, ``false_positive``, ``true_negative`` and
        ``false_negative`` of the target, and their sums ``positive``, ``negative``,
        ``predicted`` (positive) and ``rejected``.
    low, high : float
        Range of the true value; estimates outside are clipped with a warning.
    greater_is_better : bool
        Whether a higher value is better.

    Examples
    --------
    >>> from pueval.scoring import Measure, make_scorer
    >>> def profit(table):
    ...     return 20 * table.true_positive - table.false_positive
    >>> measure = Measure("profit", "Profit", profit, low=-1, high=20)
    >>> scorer = make_scorer(measure, prior=0.2)
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
        """Clip an estimate to the range of the measure; NaN stays NaN."""
        return clip(value, self.low, self.high)

    @property
    def is_ratio(self) -> bool:
        """Whether the measure is unbounded above, so that its estimates are skewed."""
        return math.isinf(self.high)

    def transform(self, values: Array) -> Array:
        """Take the logarithm of ratios, to reduce skewness; leave other measures unchanged."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(values) if self.is_ratio else values


def clip(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Clip a number to a range; NaN stays NaN."""
    return value if math.isnan(value) else float(min(max(value, low), high))


def was_clipped(unclipped: Any, clipped: Any) -> Any:
    """Return whether clipping changed a value, or each of many, by more than rounding."""
    return abs(unclipped - clipped) > ROUNDING


def _ratio(numerator: Array | float, denominator: Array | float) -> Array:
    """Divide; NaN where the denominator is zero up to rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = np.asarray(np.divide(numerator, denominator))
    undefined = np.abs(denominator) <= ZERO
    if np.any(undefined):
        np.copyto(result, np.nan, where=undefined)
    return result


def _covariance(t: Table) -> Array:
    """Return n² times the covariance of class and prediction, tp·tn − fp·fn."""
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
    # The square root would turn a rounding error of 1e-16 into 1e-8.
    is_zero = (recall <= ZERO) | (specificity <= ZERO)
    product = recall * specificity  # NaN where either rate is undefined
    return np.sqrt(np.where(is_zero, 0 * product, product))


def _fowlkes_mallows(t: Table) -> Array:
    return _ratio(t.true_positive, np.sqrt(np.maximum(t.predicted, 0) * np.maximum(t.positive, 0)))


def fbeta(beta: float) -> Measure:
    """Return the F measure that weights recall ``beta`` times as much as precision.

    F = (1 + beta²)·tp / (predicted + beta²·positives)

    Parameters
    ----------
    beta : float
        Weight of recall, above 0; 1 gives the harmonic mean of precision and recall.

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
        Costs of one false positive and of one false negative, at least 0, in any unit. One of
        them must be positive.

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
            "false_positive and false_negative are both 0. Give at least one of them a cost."
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


def _measure(title: str, formula: Callable[[Table], Array], **options: Any) -> Measure:
    """Return a measure with the name of its formula; options are its range and direction."""
    return Measure(formula.__name__.removeprefix("_"), title, formula, **options)


MEASURES = {
    measure.name: measure
    for measure in (
        _measure("Accuracy", _accuracy),
        _measure("Balanced accuracy", _balanced_accuracy),
        _measure("Precision", _precision),
        _measure("Recall", _recall),
        _measure("Specificity", _specificity),
        _measure("Negative predictive value", _negative_predictive_value),
        fbeta(1),
        _measure("Matthews correlation", _matthews_corrcoef, low=-1),
        _measure("Jaccard index", _jaccard),
        _measure("Cohen's kappa", _cohen_kappa, low=-1),
        _measure("Informedness (Youden's J)", _informedness, low=-1),
        _measure("Markedness", _markedness, low=-1),
        _measure("Geometric mean of rates", _geometric_mean),
        _measure("Fowlkes–Mallows index", _fowlkes_mallows),
        _measure("Lift", _lift, high=np.inf),
        _measure("Positive likelihood ratio", _positive_likelihood_ratio, high=np.inf),
        _measure(
            "Negative likelihood ratio",
            _negative_likelihood_ratio,
            high=np.inf,
            greater_is_better=False,
        ),
        _measure("False positive rate", _false_positive_rate, greater_is_better=False),
        _measure("False discovery rate", _false_discovery_rate, greater_is_better=False),
    )
}

# Areas under curves, which are no function of a single contingency table.
AREA_TITLES = {"roc_auc": "ROC AUC", "average_precision": "Average precision"}
AREAS = tuple(AREA_TITLES)


# Other common names of the measures.
ALIASES = {
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "auc_roc": "roc_auc",
    "ap": "average_precision",
    "auprc": "average_precision",
    "pr_auc": "average_precision",
    "prauc": "average_precision",
    "auc_pr": "average_precision",
    "aucpr": "average_precision",
    "acc": "accuracy",
    "f": "f1",
    "fscore": "f1",
    "f_measure": "f1",
    "mcc": "matthews_corrcoef",
    "ppv": "precision",
    "npv": "negative_predictive_value",
    "sensitivity": "recall",
    "tpr": "recall",
    "tnr": "specificity",
    "fpr": "false_positive_rate",
    "fdr": "false_discovery_rate",
    "youden": "informedness",
    "tss": "informedness",
    "true_skill_statistic": "informedness",
    "kappa": "cohen_kappa",
    "brier": "brier_score_loss",
    "ndcg": "ndcg_score",
    "ece": "expected_calibration_error",
}

# Names of measures that need a number, and how it is written.
WITH_NUMBER = {
    "precision_at_k": "precision_at_100",
    "recall_at_k": "recall_at_100",
    "f_at_k": "f1_at_100",
    "average_precision_at_k": "average_precision_at_100",
    "ndcg_at_k": "ndcg_at_100",
    "net_benefit": "net_benefit_at_0.2",
}
# Measures of which neither higher nor lower values are better, and their best values.
WITHOUT_DIRECTION = {
    "calibration_in_the_large": 0,
    "calibration_intercept": 0,
    "calibration_slope": 1,
}
# F measures of any beta.
_F_BETA = re.compile(r"f\d+(\.\d+)?")


def find_measure(name: str) -> Measure:
    """Look up a measure by name; ``f<beta>`` works for any beta.

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
    if isinstance(name, str) and _F_BETA.fullmatch(name) and float(name[1:]) > 0:
        return fbeta(float(name[1:]))
    if (area := _usual_name(name)) in AREAS:
        raise UnknownMeasureError(
            f"{area} is an area under a curve and has no threshold. Choose a measure at a "
            "threshold, such as 'f1'."
        )
    raise unknown_measure_error(name, [*MEASURES])


def _usual_name(name: object) -> str:
    """Return the name that pueval has for a measure, if this is another common one."""
    alias = str(name).lower().replace("-", "_").removesuffix("_score")
    return ALIASES.get(alias, alias)


def unknown_measure_error(
    name: object, names: list[str], *, any_beta: bool = True
) -> UnknownMeasureError:
    """Return the error for an unknown measure, with a suggestion or else the valid names."""
    alias = _usual_name(name)
    if alias in WITH_NUMBER:
        return UnknownMeasureError(
            f"unknown measure {name!r}. Write the number in the name, as in {WITH_NUMBER[alias]}."
        )
    if (bare := alias.removeprefix("neg_")) in WITHOUT_DIRECTION:
        return UnknownMeasureError(
            f"{bare} cannot order models: values near {WITHOUT_DIRECTION[bare]} are best."
        )
    suggestions = [valid for valid in (alias, f"neg_{alias}") if valid in names]
    if any_beta and alias != name and _F_BETA.fullmatch(alias):
        suggestions = [alias]
    suggestions = suggestions or difflib.get_close_matches(str(name), names, n=1)
    if suggestions:
        return UnknownMeasureError(f"unknown measure {name!r}. Did you mean {suggestions[0]!r}?")
    f_beta = ", and f<beta> for any beta, such as f2 or f0.5" if any_beta else ""
    return UnknownMeasureError(
        f"unknown measure {name!r}. The measures are {', '.join(names)}{f_beta}."
    )
