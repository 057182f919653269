"""Scores of a fitted classifier: the column of the positive class, higher for more positive."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError

_METHODS = ("predict_proba", "decision_function")


def response(estimator: Any, X: Any, method: str, pos_label: Any) -> Array:  # noqa: N803
    """Score rows with a classifier.

    Parameters
    ----------
    estimator : classifier
        Fitted, with ``predict_proba`` or ``decision_function``.
    X : array-like
        The rows.
    method : {"auto", "predict_proba", "decision_function"}
        ``"auto"`` takes the first of the two that the classifier has.
    pos_label : object
        The positive class. If the classifier has two classes and none of that name, as it was
        trained on other values, its second class is the positive one.

    Returns
    -------
    ndarray of shape (n,)
    """
    if method not in {"auto", *_METHODS}:
        raise InputError(
            "response_method must be 'auto', 'predict_proba' or 'decision_function'; "
            f"got {method!r}."
        )
    kind = type(estimator).__name__
    wanted = _METHODS if method == "auto" else (method,)
    found = next((name for name in wanted if hasattr(estimator, name)), None)
    if found is None:
        raise InputError(
            f"{kind} has no {' or '.join(wanted)}, so it gives no scores. Use a classifier that "
            "does, or from_predictions with scores of your own."
        )
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputError(
            f"{kind} has no classes_: it is not fitted yet, or no classifier. Fit it, or use "
            "from_predictions with scores of your own."
        )
    place = _place(list(np.asarray(classes)), pos_label, kind)
    scores = np.asarray(getattr(estimator, found)(X))
    if scores.ndim == 1:
        # Two classes, one number: positive values mean the second class.
        return scores if place == 1 else -scores
    return scores[:, place]


def _place(classes: list[Any], pos_label: Any, kind: str) -> int:
    places = [k for k, value in enumerate(classes) if value == pos_label]
    if places:
        return places[0]
    if len(classes) != 2:
        raise InputError(
            f"{kind} knows the classes {classes!r}, and pos_label {pos_label!r} is none of them. "
            "Say which is the positive one by pos_label, or use from_predictions."
        )
    return 1
