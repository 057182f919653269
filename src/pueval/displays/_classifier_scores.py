"""Scores of a fitted classifier for its positive class."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._checks import check_choice
from pueval._typing import Array
from pueval.errors import InputError

_METHODS = ("predict_proba", "decision_function")


def classifier_scores(
    estimator: Any,
    X: Any,  # noqa: N803 - scikit-learn's name
    method: str,
    pos_label: Any,
) -> Array:
    """Score rows with a fitted classifier; higher scores are more positive.

    Parameters
    ----------
    estimator : classifier
        Fitted classifier with ``predict_proba`` or ``decision_function``.
    X : array-like
        Rows to score.
    method : {"auto", "predict_proba", "decision_function"}
        ``"auto"`` uses the first of the two that the classifier has.
    pos_label : object
        Positive class. A classifier with two classes may have been trained on other values; its
        second class is then the positive one.

    Returns
    -------
    ndarray of shape (n,)
    """
    check_choice("response_method", method, ("auto", *_METHODS))
    kind = type(estimator).__name__
    candidates = _METHODS if method == "auto" else (method,)
    available = next((name for name in candidates if hasattr(estimator, name)), None)
    if available is None:
        raise InputError(
            f"{kind} has no {' or '.join(candidates)}. Use a classifier that has, or pass your "
            "own scores to from_predictions."
        )
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputError(
            f"{kind} has no classes_: it is not fitted, or not a classifier. Fit it, or pass your "
            "own scores to from_predictions."
        )
    column = _positive_column(list(np.asarray(classes)), pos_label, kind)
    scores = np.asarray(getattr(estimator, available)(X))
    if scores.ndim == 1:
        # With two classes, the decision function is positive for the second one.
        return scores if column == 1 else -scores
    return scores[:, column]


def _positive_column(classes: list[Any], pos_label: Any, kind: str) -> int:
    columns = [k for k, value in enumerate(classes) if value == pos_label]
    if columns:
        return columns[0]
    if len(classes) != 2:
        raise InputError(
            f"pos_label {pos_label!r} is not one of the classes of {kind}: {classes!r}. Set "
            "pos_label to the positive class, or use from_predictions."
        )
    return 1
