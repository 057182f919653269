"""Metrics of predicted classes: functions of the corrected contingency table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, Protocol, Unpack

import numpy as np

from pueval._checks import check_choice
from pueval._typing import Array
from pueval.core.measures import MEASURES, Measure, fbeta
from pueval.core.rates import Rates, correct_steps
from pueval.errors import InputError, UndefinedMeasureWarning, warn_caller
from pueval.estimates.estimate import Contingency
from pueval.metrics._shared_arguments import (
    CorrectionArguments,
    clip_with_warning,
    expand_shared_arguments,
    read_arguments,
)
from pueval.sources.arrays import check_same_order, equal_labels, one_column, refuse_missing

ZeroDivision = float | Literal["warn"]
Normalize = Literal["true", "pred", "all"] | None


class PredictionMetric(Protocol):
    """A measure of predicted classes."""

    __name__: str

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        prior: float,
        zero_division: ZeroDivision = "warn",
        **options: Unpack[CorrectionArguments],
    ) -> float:
        """Return the corrected measure."""


def _corrected_rates(
    y_true: Any, y_pred: Any, prior: float, **options: Unpack[CorrectionArguments]
) -> Rates:
    """Return the corrected rates of predicted classes, treated as scores 1 and 0."""
    check_same_order({"y_true": y_true, "y_pred": y_pred})
    score = predicted_positive(y_pred, options)
    counts, mixture, target = read_arguments(y_true, score, prior, **options)
    return correct_steps(counts, counts.at(1.0), mixture, target)


def predicted_positive(y_pred: Any, options: Mapping[str, object]) -> Array:
    """Return which rows are predicted positive; refuse values that are not classes."""
    predicted = one_column(y_pred, "y_pred")
    if predicted.dtype.kind == "b":
        return predicted
    if predicted.dtype.kind == "O":
        refuse_missing(predicted, "prediction")
    positive = equal_labels(predicted, options.get("pos_label", 1))
    recognized = positive.copy()
    # As a label, −1 is ambiguous; as a prediction, it can only mean "not positive".
    for value in (options.get("unlabeled_label", 0), options.get("negative_label"), 0, -1):
        if value is not None:
            recognized |= equal_labels(predicted, value)
    if not recognized.all():
        invalid = predicted[~recognized].tolist()
        raise InputError(
            f"y_pred must hold classes; got {invalid[0]!r} in {len(invalid):,} rows, which is "
            "neither pos_label nor another label value. For scores, pass "
            "y_pred = (score >= threshold)."
        )
    return positive


def _measure_value(measure: Measure, rates: Rates, zero_division: ZeroDivision) -> float:
    """Return the measure at the first threshold; warn if it is clipped or undefined."""
    value = float(measure(rates)[0])
    if not math.isnan(value):
        return clip_with_warning(measure.name, value, measure.low, measure.high)
    if zero_division != "warn":
        return float(zero_division)
    warn_caller(
        f"{measure.name} is undefined (division by zero) and was set to 0. Use zero_division to "
        "set another value.",
        UndefinedMeasureWarning,
    )
    return 0.0


def _metric(name: str, formula: str, reference: str, result: str) -> PredictionMetric:
    """Make the function for the measure that a name refers to, with its docstring."""
    chosen = MEASURES[name.removesuffix("_score")]

    def metric(
        y_true: Any,
        y_pred: Any,
        *,
        prior: float,
        zero_division: ZeroDivision = "warn",
        **options: Unpack[CorrectionArguments],
    ) -> float:
        rates = _corrected_rates(y_true, y_pred, prior, **options)
        return _measure_value(chosen, rates, zero_division)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"""{chosen.title}, corrected for unlabeled positives.

    The formula is {formula}, where tpr and fpr are the corrected rates, π is the prevalence in
    the target and θ the share of the target that is predicted positive. Assumes random labeling.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
    y_pred : array-like of shape (n,)
        Predicted classes; rows equal to ``pos_label`` are predicted positive.
    {{options}}
    zero_division : float or "warn", default "warn"
        Value to return if the measure is undefined; ``"warn"`` returns 0 with a warning.

    Returns
    -------
    float
        Corrected value; values outside the range of the measure are clipped with an
        AssumptionWarning.

    References
    ----------
    {reference}

    Examples
    --------
    >>> from pueval.metrics import {name}
    >>> y_true = [1] * 4 + [0] * 16
    >>> y_pred = [1, 1, 1, 0] + [1] * 4 + [0] * 12
    >>> round({name}(y_true, y_pred, prior=0.15), 3)
    {result}
    """
    return expand_shared_arguments(metric)


_JAIN = "Jain, White and Radivojac (2017), theorem 1."
_RAMOLA = "Ramola, Jain and Radivojac (2019), section 2.3."
_FOLLOWS = "Follows from the rates of Jain, White and Radivojac (2017), theorem 1."
_BOTH = (
    "Ramola, Jain and Radivojac (2019), section 2.3; with purity 1 the same number as that of\n"
    "    Tabatabaei, Klein and Hoogendoorn (2020), section 4.1."
)

accuracy_score = _metric("accuracy_score", "π·tpr + (1 − π)·(1 − fpr)", _RAMOLA, "0.81")
balanced_accuracy_score = _metric("balanced_accuracy_score", "(1 + tpr − fpr)/2", _RAMOLA, "0.794")
precision_score = _metric("precision_score", "π·tpr/θ", _JAIN, "0.686")
recall_score = _metric("recall_score", "tpr", _JAIN, "0.75")
specificity_score = _metric("specificity_score", "1 − fpr", _JAIN, "0.838")
negative_predictive_value_score = _metric(
    "negative_predictive_value_score", "(1 − π)·(1 − fpr)/(1 − θ)", _FOLLOWS, "0.877"
)
f1_score = _metric("f1_score", "2·π·tpr/(π + θ)", _BOTH, "0.716")
matthews_corrcoef = _metric(
    "matthews_corrcoef", "√(π(1 − π)/(θ(1 − θ)))·(tpr − fpr)", _RAMOLA, "0.575"
)
jaccard_score = _metric("jaccard_score", "π·tpr/(π + θ − π·tpr)", _FOLLOWS, "0.558")
cohen_kappa_score = _metric(
    "cohen_kappa_score", "2·π·(1 − π)·(tpr − fpr)/(π·(1 − θ) + θ·(1 − π))", _FOLLOWS, "0.574"
)
informedness_score = _metric("informedness_score", "tpr − fpr", _FOLLOWS, "0.588")
markedness_score = _metric(
    "markedness_score", "precision + negative predictive value − 1", _FOLLOWS, "0.563"
)
geometric_mean_score = _metric("geometric_mean_score", "√(tpr·(1 − fpr))", _FOLLOWS, "0.793")
fowlkes_mallows_score = _metric("fowlkes_mallows_score", "√(precision·tpr)", _FOLLOWS, "0.717")
lift_score = _metric("lift_score", "precision/π", _FOLLOWS, "2.143")


@expand_shared_arguments
def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    prior: float,
    zero_division: ZeroDivision = "warn",
    **options: Unpack[CorrectionArguments],
) -> float:
    """F-beta score, corrected for unlabeled positives.

    The formula is (1 + β²)·π·tpr/(β²·π + θ), where tpr is the corrected true positive rate, π the
    prevalence in the target and θ the share of the target that is predicted positive. Assumes
    random labeling.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels (1 labeled positive, 0 unlabeled) and predicted classes.
    beta : float
        Weight of recall relative to precision, above 0.
    {options}
    zero_division : float or "warn", default "warn"
        Value to return if the measure is undefined; ``"warn"`` returns 0 with a warning.

    Returns
    -------
    float
        Corrected value, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Tabatabaei, Klein and Hoogendoorn (2020), for beta = 1 and purity 1.

    Examples
    --------
    >>> round(fbeta_score([1, 1, 0, 0, 0], [1, 1, 1, 0, 0], beta=2, prior=1/3), 3)
    1.0
    """
    rates = _corrected_rates(y_true, y_pred, prior, **options)
    return _measure_value(fbeta(beta), rates, zero_division)


@expand_shared_arguments
def class_likelihood_ratios(
    y_true: Any, y_pred: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> tuple[float, float]:
    """Positive and negative likelihood ratios, corrected for unlabeled positives.

    They are tpr/fpr and (1 − tpr)/(1 − fpr), and do not depend on the target. Assumes random
    labeling.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels (1 labeled positive, 0 unlabeled) and predicted classes.
    {options}

    Returns
    -------
    positive, negative : float
        Likelihood ratios; NaN if undefined.

    References
    ----------
    Follows from the rates of Jain, White and Radivojac (2017), theorem 1.

    Examples
    --------
    >>> y_true = [1] * 4 + [0] * 16
    >>> y_pred = [1, 1, 1, 0] + [1] * 4 + [0] * 12
    >>> [round(ratio, 3) for ratio in class_likelihood_ratios(y_true, y_pred, prior=0.15)]
    [4.636, 0.298]
    """
    rates = _corrected_rates(y_true, y_pred, prior, **options)
    positive, negative = (
        _measure_value(MEASURES[name], rates, math.nan)
        for name in ("positive_likelihood_ratio", "negative_likelihood_ratio")
    )
    return positive, negative


@expand_shared_arguments
def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    prior: float,
    normalize: Normalize = None,
    **options: Unpack[CorrectionArguments],
) -> Array:
    """Confusion matrix, corrected for unlabeled positives. Assumes random labeling.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels (1 labeled positive, 0 unlabeled) and predicted classes.
    {options}
    normalize : {"true", "pred", "all"}, optional
        Whether to divide by the sizes of the true classes (``"true"``), of the predicted classes
        (``"pred"``), or by the number of rows (``"all"``).

    Returns
    -------
    ndarray of shape (2, 2)
        [[tn, fp], [fn, tp]] as expected numbers of rows in the target. Values are not clipped. A
        negative entry means that prior or purity does not fit, or that there are too few rows.

    References
    ----------
    Jain, White and Radivojac (2017), theorem 1; known negatives as in Claesen, Davis, De Smet
    and De Moor (2015), section 4.1.

    Examples
    --------
    >>> y_true = [1] * 4 + [0] * 16
    >>> y_pred = [1, 1, 1, 0] + [1] * 4 + [0] * 12
    >>> confusion_matrix(y_true, y_pred, prior=0.15).round(1)
    array([[11.4,  2.2],
           [ 1.6,  4.8]])
    """
    rates = _corrected_rates(y_true, y_pred, prior, **options)
    matrix = Contingency.of(rates).as_array()
    if normalize is None:
        return matrix
    axes = {"true": 1, "pred": 0, "all": None}
    check_choice("normalize", normalize, (*axes, None))
    sums = matrix.sum(axis=axes[normalize], keepdims=True)
    shares: Array = np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums != 0)
    return shares
