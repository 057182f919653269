"""Arguments of functions that take either labels and scores, or Counts."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from pueval.counts.counts import Counts
from pueval.errors import InputError

DEFAULT_LABELS = {"pos_label": 1, "unlabeled_label": 0, "negative_label": None}


def read_counts(
    y: Any, score: Any, *, sample_weight: Any, function: str, propensity: Any = None, **labels: Any
) -> Counts:
    """Return the Counts that the arguments of a function describe.

    Parameters
    ----------
    y : array-like or Counts
        Labels; or Counts, which are returned as they are.
    score : array-like or None
        Scores; None with Counts.
    sample_weight, propensity : array-like or None
        As for `Counts.from_arrays`; None with Counts.
    function : str
        Name of the function, for messages.
    **labels
        The arguments ``pos_label``, ``unlabeled_label`` and ``negative_label``; their default
        values with Counts.
    """
    if isinstance(y, Counts):
        if score is not None or sample_weight is not None or propensity is not None:
            raise InputError(
                "score, sample_weight and propensity are for arrays; Counts already include them. "
                "Leave them out."
            )
        changed = [name for name, value in labels.items() if value != DEFAULT_LABELS[name]]
        if changed:
            raise InputError(
                f"{' and '.join(changed)}: Counts hold no labels. Pass label values where you "
                "count the rows."
            )
        return y
    if score is None:
        raise InputError(
            f"score is missing. Call {function}(y, score, …) or {function}(counts, …)."
        )
    return Counts.from_arrays(
        y, score, sample_weight=sample_weight, propensity=propensity, **labels
    )


def check_threshold(threshold: float) -> float:
    """Return a threshold as a float; refuse NaN."""
    number: object = threshold
    if not isinstance(number, Real) or math.isnan(threshold):
        raise InputError(f"threshold must be a number; got {threshold!r}.")
    return float(threshold)
