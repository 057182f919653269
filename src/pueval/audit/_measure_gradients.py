"""How much one more positive row changes a measure, by the score of the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.measures import AREAS, MEASURES, Table, find_measure, unknown_measure_error
from pueval.errors import InputError, UnknownMeasureError

PREVALENCE = "prevalence"
# Step of the numerical derivative, relative to all positives.
STEP = 1e-5


def check_measures(measure: Any) -> tuple[str, ...]:
    """Return the names of one or several measures; refuse unknown ones."""
    names = (measure,) if isinstance(measure, str) else measure
    if not isinstance(names, Sequence) or not names:
        raise InputError(f"measure must be a name or a list of names; got {measure!r}.")
    for name in names:
        if name in (PREVALENCE, *AREAS):
            continue
        try:
            find_measure(name)
        except UnknownMeasureError:
            names = [*AREAS, PREVALENCE, *MEASURES]
            raise unknown_measure_error(name, names) from None
    return tuple(dict.fromkeys(names))


def measure_value(name: str, rows: Array, positives: Array, predicted: Array) -> Array:
    """Compute a measure from the rows and positives in each stratum of the score.

    Parameters
    ----------
    name : str
        Name of the measure; "prevalence" is the share of positives.
    rows : ndarray of shape (k,)
        Rows of the target in each stratum, in descending order of the score.
    positives : ndarray of shape (..., k)
        Positives among them.
    predicted : ndarray of bool of shape (k,)
        Whether the stratum is at or above the threshold.

    Returns
    -------
    ndarray of shape (...)
        Scores of one stratum count as ties in areas.
    """
    total, number = rows.sum(), positives.sum(axis=-1)
    if name == PREVALENCE:
        return np.asarray(number / total)
    if name == "roc_auc":
        negatives = rows - positives
        below = negatives.sum(axis=-1)[..., None] - np.cumsum(negatives, axis=-1) + negatives / 2
        return np.asarray((positives * below).sum(axis=-1) / (number * (total - number)))
    if name == "average_precision":
        middle = np.cumsum(positives, axis=-1) - positives / 2
        precision = middle / np.maximum(np.cumsum(rows) - rows / 2, 1e-12)
        return np.asarray((positives * precision).sum(axis=-1) / number)
    true_positive = positives[..., predicted].sum(axis=-1)
    table = Table(true_positive / total, rows[predicted].sum() / total, number / total)
    return np.asarray(find_measure(name).formula(table), np.float64)


def measure_gradient(name: str, rows: Array, positives: Array, predicted: Array) -> Array:
    """Return the derivative of a measure by the number of positives in each stratum."""
    step = STEP * positives.sum()
    shift = step * np.eye(rows.size)
    upper, lower = (
        measure_value(name, rows, positives + sign * shift, predicted) for sign in (1, -1)
    )
    gradient: Array = (upper - lower) / (2 * step)
    if not np.all(np.isfinite(gradient)):
        raise InputError(
            f"{name} is not defined at this threshold, so no audit can be planned for it. Choose "
            "a threshold between the lowest and the highest score."
        )
    return gradient
