"""Data as functions take them: labels and scores, or Counts."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from pueval.counts.counts import Counts
from pueval.errors import InputError

USUAL_LABELS = {"pos_label": 1, "unlabeled_label": 0, "negative_label": None}


def read_counts(
    y: Any,
    score: Any,
    *,
    sample_weight: Any,
    function: str,
    propensity: Any = None,
    **labels: Any,
) -> Counts:
    """Return Counts as they are, and the Counts of labels and scores; refuse a mix of both."""
    if isinstance(y, Counts):
        if score is not None or sample_weight is not None or propensity is not None:
            raise InputError(
                "score, weight and propensity belong to arrays; Counts hold them already."
            )
        other = [name for name, value in labels.items() if value != USUAL_LABELS[name]]
        if other:
            raise InputError(
                f"{' and '.join(other)} say what labels mean, and Counts have none any more. Give "
                "them where the rows are counted."
            )
        return y
    if score is None:
        raise InputError(f"score is missing: {function}(y, score, …) or {function}(counts, …).")
    return Counts.from_arrays(
        y, score, sample_weight=sample_weight, propensity=propensity, **labels
    )


def check_threshold(threshold: float) -> float:
    """Return a threshold as a float; refuse NaN."""
    number: object = threshold
    if not isinstance(number, Real) or math.isnan(threshold):
        raise InputError(f"threshold must be a number; got {threshold!r}.")
    return float(threshold)
