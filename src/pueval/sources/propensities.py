"""Labeled rows with known chances of being labeled: how many positives each stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval.errors import InputError
from pueval.samples.sample import Sample, make_sample, make_weighted_sample
from pueval.sources.arrays import as_weights, check_same_order, equal_labels, one_column
from pueval.sources.labels import LabelValues


def represented(
    y: Any, score: Any, propensity: Any, *, labels: LabelValues, sample_weight: Any = None
) -> Sample:
    """Return the scores of the labeled rows, each weighing 1/propensity.

    ``y``, ``score`` and ``sample_weight`` have been checked already.
    """
    check_same_order({"y": y, "propensity": propensity})
    y = one_column(y, "y")
    if isinstance(propensity, np.ma.MaskedArray):
        # Only those of labeled rows must be there.
        propensity = np.ma.filled(propensity.astype(np.float64), np.nan)
    chance = one_column(propensity, "propensity")
    if len(chance) != len(y):
        raise InputError(
            f"y and propensity must have the same length; got {len(y):,} and {len(chance):,}. "
            "Rows that are not labeled may have any value there, NaN too."
        )
    mask = equal_labels(y, labels.positive)
    chance = np.asarray(chance[mask])
    try:
        chance = chance.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"propensity must hold numbers; got dtype {chance.dtype}.") from None
    outside = ~((chance > 0) & (chance <= 1))
    if outside.any():
        raise InputError(
            "propensity must be in (0, 1] for every labeled row; got "
            f"{chance[outside][0]:g} and {np.count_nonzero(outside) - 1:,} more outside. It is the "
            "chance that a positive like this one gets labeled."
        )
    values = one_column(score, "score")[mask].astype(np.float64)
    if sample_weight is None:
        return make_weighted_sample(values, 1 / chance)
    weights = as_weights(one_column(sample_weight, "sample_weight"))[mask]
    # Whole weights are rows that occur several times.
    square = weights**2 if weights.dtype.kind == "f" else weights
    return make_sample(values, weights / chance, square / chance**2)
