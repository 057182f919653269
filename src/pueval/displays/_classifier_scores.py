"""Scores of a fitted classifier for its positive class."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._checks import choose_score_method
from pueval._typing import Array
from pueval.errors import InputError


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
    advice = "pass your own scores to from_predictions"
    score_method = choose_score_method(estimator, "response_method", method, advice)
    class_name = type(estimator).__name__
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputError(
            f"{class_name} has no classes_: it is not fitted, or not a classifier. Fit it, or "
            f"{advice}."
        )
    column = _positive_column(list(np.asarray(classes)), pos_label, class_name)
    scores = np.asarray(getattr(estimator, score_method)(X))
    if scores.ndim == 1:
        # With two classes, the decision function is positive for the second one.
        return scores if column == 1 else -scores
    return scores[:, column]


def _positive_column(classes: list[Any], pos_label: Any, class_name: str) -> int:
    columns = [k for k, value in enumerate(classes) if value == pos_label]
    if columns:
        return columns[0]
    if len(classes) != 2:
        raise InputError(
            f"pos_label {pos_label!r} is not one of the classes of {class_name}: {classes!r}. Set "
            "pos_label to the positive class, or use from_predictions."
        )
    return 1
