"""Metrics of predicted classes: everything that follows from one contingency table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, Literal, Protocol, Unpack

import numpy as np

from pueval._typing import Array
from pueval.core.measures import MEASURES, Measure, fbeta
from pueval.core.rates import Rates, correct_steps
from pueval.errors import InputError, UndefinedMeasureWarning
from pueval.evaluation.estimates import Contingency
from pueval.metrics._shared_arguments import How, clipped, read, spelled_out
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
        **how: Unpack[How],
    ) -> float:
        """Return the corrected measure."""


def _rates(y_true: Any, y_pred: Any, prior: float, **how: Unpack[How]) -> Rates:
    """Correct the rates of predictions: the score is 1 where the positive class is predicted."""
    check_same_order({"y_true": y_true, "y_pred": y_pred})
    score = predicted_positive(y_pred, how)
    counts, mixture, target = read(y_true, score, prior, **how)
    return correct_steps(counts, counts.at(1.0), mixture, target)


def predicted_positive(y_pred: Any, how: Mapping[str, object]) -> Array:
    """Return which rows are predicted positive; refuse what is not a class."""
    predicted = one_column(y_pred, "y_pred")
    if predicted.dtype.kind == "b":
        return predicted
    if predicted.dtype.kind == "O":
        refuse_missing(predicted, "prediction")
    positive = equal_labels(predicted, how.get("pos_label", 1))
    known = positive.copy()
    # Of a label −1 may mean two things; of a prediction it only means "not positive".
    for value in (how.get("unlabeled_label", 0), how.get("negative_label"), 0, -1):
        if value is not None:
            known |= equal_labels(predicted, value)
    if not known.all():
        strange = predicted[~known].tolist()
        raise InputError(
            f"y_pred must hold classes; got {strange[0]!r} in {len(strange):,} rows, which is "
            "neither pos_label nor one of the other label values. For scores, pass "
            "y_pred = (score >= threshold)."
        )
    return positive


def _value(measure: Measure, these: Rates, zero_division: ZeroDivision) -> float:
    """Return the measure at the first threshold; warn where it is clipped or undefined."""
    value = float(measure(these)[0])
    if not math.isnan(value):
        return clipped(measure.name, value, measure.low, measure.high, depth=5)
    if zero_division != "warn":
        return float(zero_division)
    warnings.warn(
        f"{measure.name} divides by zero here and 0 was returned. "
        "Say what it shall be with zero_division.",
        UndefinedMeasureWarning,
        stacklevel=4,
    )
    return 0.0


def _metric(name: str, measure: str, formula: str, reference: str, shown: str) -> PredictionMetric:
    """Make the function for one measure, with its documentation."""
    chosen = MEASURES[measure]

    def metric(
        y_true: Any,
        y_pred: Any,
        *,
        prior: float,
        zero_division: ZeroDivision = "warn",
        **how: Unpack[How],
    ) -> float:
        return _value(chosen, _rates(y_true, y_pred, prior, **how), zero_division)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"""{chosen.title}, corrected for unlabeled positives.

    {formula}, with tpr and fpr the corrected rates, π the prevalence in the target and
    θ the share of the target that is predicted positive. Assumes that labels are a random draw.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    y_pred : array-like of shape (n,)
        Predicted classes; those equal to ``pos_label`` are predicted positive.
    {{how}}
    zero_division : float or "warn", default "warn"
        Returned where the measure is undefined; ``"warn"`` returns 0 with a warning.

    Returns
    -------
    float
        Clipped to its range, with an AssumptionWarning.

    References
    ----------
    {reference}

    Examples
    --------
    >>> from pueval.metrics import {name}
    >>> y_true = [1] * 4 + [0] * 16
    >>> y_pred = [1, 1, 1, 0] + [1] * 4 + [0] * 12
    >>> round({name}(y_true, y_pred, prior=0.15), 3)
    {shown}
    """
    return spelled_out(metric)


_JAIN = "Jain, White and Radivojac (2017), theorem 1."
_RAMOLA = "Ramola, Jain and Radivojac (2019), section 2.3."
_FOLLOWS = "Follows from the rates of Jain, White and Radivojac (2017), theorem 1."
_BOTH = (
    "Ramola, Jain and Radivojac (2019), section 2.3; with purity 1 the same number as that of\n"
    "    Tabatabaei, Klein and Hoogendoorn (2020), section 4.1."
)

accuracy_score = _metric("accuracy_score", "accuracy", "π·tpr + (1 − π)·(1 − fpr)", _RAMOLA, "0.81")
balanced_accuracy_score = _metric(
    "balanced_accuracy_score", "balanced_accuracy", "(1 + tpr − fpr)/2", _RAMOLA, "0.794"
)
precision_score = _metric("precision_score", "precision", "π·tpr/θ", _JAIN, "0.686")
recall_score = _metric("recall_score", "recall", "tpr", _JAIN, "0.75")
specificity_score = _metric("specificity_score", "specificity", "1 − fpr", _JAIN, "0.838")
negative_predictive_value_score = _metric(
    "negative_predictive_value_score",
    "negative_predictive_value",
    "(1 − π)·(1 − fpr)/(1 − θ)",
    _FOLLOWS,
    "0.877",
)
f1_score = _metric("f1_score", "f1", "2·π·tpr/(π + θ)", _BOTH, "0.716")
matthews_corrcoef = _metric(
    "matthews_corrcoef",
    "matthews_corrcoef",
    "√(π(1 − π)/(θ(1 − θ)))·(tpr − fpr)",
    _RAMOLA,
    "0.575",
)
jaccard_score = _metric("jaccard_score", "jaccard", "π·tpr/(π + θ − π·tpr)", _FOLLOWS, "0.558")
cohen_kappa_score = _metric(
    "cohen_kappa_score",
    "cohen_kappa",
    "2·π·(1 − π)·(tpr − fpr)/(π·(1 − θ) + θ·(1 − π))",
    _FOLLOWS,
    "0.574",
)
informedness_score = _metric("informedness_score", "informedness", "tpr − fpr", _FOLLOWS, "0.588")
markedness_score = _metric(
    "markedness_score",
    "markedness",
    "precision + negative predictive value − 1",
    _FOLLOWS,
    "0.563",
)
geometric_mean_score = _metric(
    "geometric_mean_score", "geometric_mean", "√(tpr·(1 − fpr))", _FOLLOWS, "0.793"
)
fowlkes_mallows_score = _metric(
    "fowlkes_mallows_score", "fowlkes_mallows", "√(precision·tpr)", _FOLLOWS, "0.717"
)
lift_score = _metric("lift_score", "lift", "precision/π", _FOLLOWS, "2.143")


@spelled_out
def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    prior: float,
    zero_division: ZeroDivision = "warn",
    **how: Unpack[How],
) -> float:
    """F measure, corrected for unlabeled positives.

    (1 + β²)·π·tpr/(β²·π + θ), with π the prevalence and θ the share predicted positive.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels (1 labeled positive, 0 unlabeled) and predicted classes.
    beta : float
        How many times as much as precision recall weighs.
    {how}
    zero_division : float or "warn", default "warn"
        Returned where the measure is undefined; ``"warn"`` returns 0 with a warning.

    Returns
    -------
    float

    References
    ----------
    Tabatabaei, Klein and Hoogendoorn (2020), for beta = 1 and purity 1.

    Examples
    --------
    >>> round(fbeta_score([1, 1, 0, 0, 0], [1, 1, 1, 0, 0], beta=2, prior=1/3), 3)
    1.0
    """
    return _value(fbeta(beta), _rates(y_true, y_pred, prior, **how), zero_division)


@spelled_out
def class_likelihood_ratios(
    y_true: Any, y_pred: Any, *, prior: float, **how: Unpack[How]
) -> tuple[float, float]:
    """Positive and negative likelihood ratio, corrected for unlabeled positives.

    tpr/fpr and (1 − tpr)/(1 − fpr); they do not depend on the target.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels (1 labeled positive, 0 unlabeled) and predicted classes.
    {how}

    Returns
    -------
    positive, negative : float
        NaN where undefined.

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
    these = _rates(y_true, y_pred, prior, **how)
    positive, negative = (
        _value(MEASURES[name], these, math.nan)
        for name in ("positive_likelihood_ratio", "negative_likelihood_ratio")
    )
    return positive, negative


@spelled_out
def confusion_matrix(
    y_true: Any, y_pred: Any, *, prior: float, normalize: Normalize = None, **how: Unpack[How]
) -> Array:
    """Contingency table, corrected for unlabeled positives.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels (1 labeled positive, 0 unlabeled) and predicted classes.
    {how}
    normalize : {"true", "pred", "all"}, optional
        Divide by the numbers of the true classes (rows), of the predicted classes (columns), or
        of all rows.

    Returns
    -------
    ndarray of shape (2, 2)
        [[tn, fp], [fn, tp]], expected numbers of rows of the target. Not clipped: a negative
        entry says that prior or purity do not fit, or that rows are few.

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
    these = _rates(y_true, y_pred, prior, **how)
    matrix = Contingency.of(these).as_array()
    if normalize is None:
        return matrix
    if normalize not in {"true", "pred", "all"}:
        raise InputError(f"normalize must be 'true', 'pred', 'all' or None; got {normalize!r}.")
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    sums = matrix.sum(axis=axis, keepdims=True)
    shares: Array = np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums != 0)
    return shares
