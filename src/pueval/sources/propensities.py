"""Propensities: the probability with which each positive row is labeled, from arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.sample import EMPTY, Sample, make_sample, make_weighted_sample
from pueval.sources.arrays import (
    as_weights,
    check_lengths,
    check_same_order,
    equal_labels,
    label_kinds,
    missing_rows,
    one_column,
)
from pueval.sources.labels import LabelValues


def read_propensities(
    y: Any, score: Any, propensity: Any, *, labels: LabelValues, sample_weight: Any = None
) -> tuple[Sample, Sample]:
    """Return the scores of the labeled rows, each with weight 1/propensity.

    Also return 1/propensity of the unlabeled rows in the place of scores, where it is known.
    ``y``, ``score`` and ``sample_weight`` have been checked already.
    """
    check_same_order({"y": y, "propensity": propensity})
    y, all_rows = one_column(y, "y"), propensity_column(propensity)
    mask = equal_labels(y, labels.positive)
    propensity = labeled_propensities(all_rows, mask)
    values = one_column(score, "score")[mask].astype(np.float64)
    weights = None
    if sample_weight is not None:
        weights = as_weights(one_column(sample_weight, "sample_weight"))
    is_unlabeled = label_kinds(y, labels) == 1
    of_unlabeled = _inverse_propensities(
        all_rows[is_unlabeled], None if weights is None else weights[is_unlabeled]
    )
    if weights is None:
        return make_weighted_sample(values, 1 / propensity), of_unlabeled
    weights = weights[mask]
    # A frequency weight stands for so many rows of weight 1/propensity.
    square = weights**2 if weights.dtype.kind == "f" else weights
    return make_sample(values, weights / propensity, square / propensity**2), of_unlabeled


def propensity_column(propensity: Any) -> Array:
    """Return propensities as they were given, but NaN where they are masked or missing.

    Only labeled rows need one, so missing values are no error yet: see `labeled_propensities`.
    """
    if isinstance(propensity, np.ma.MaskedArray):
        dtype = np.float64 if propensity.dtype.kind in "biuf" else object
        propensity = np.ma.filled(propensity.astype(dtype), np.nan)
    column = one_column(propensity, "propensity")
    if column.dtype.kind == "O":
        column = np.where(missing_rows(column), np.nan, column)
    return column


def labeled_propensities(propensity: Any, labeled: Array) -> Array:
    """Return the propensities of the labeled rows; refuse those that are not in (0, 1].

    Parameters
    ----------
    propensity : array-like of shape (n,)
        Propensities of all rows. Rows that are not labeled may have any value, or none.
    labeled : ndarray of bool, shape (n,)
        Whether each row is labeled.

    Returns
    -------
    ndarray
        One entry for each labeled row.
    """
    column = propensity_column(propensity)
    hint = " For rows that are not labeled, any value will do, also NaN."
    check_lengths({"y": labeled, "propensity": column}, hint)
    try:
        values = column[labeled].astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"propensity must hold numbers; got dtype {column.dtype}.") from None
    outside = ~((values > 0) & (values <= 1))
    if outside.any():
        raise InputError(
            "propensity must be in (0, 1] for every labeled row; got "
            f"{values[outside][0]:g} and {np.count_nonzero(outside) - 1:,} more outside. It is "
            "the probability that the row, being positive, was labeled."
        )
    return values


def _inverse_propensities(propensity: Any, weights: Array | None) -> Sample:
    """Return 1/propensity instead of scores; values outside (0, 1] are left out."""
    try:
        propensity = np.asarray(propensity).astype(np.float64)
    except (TypeError, ValueError):
        return EMPTY
    known = (propensity > 0) & (propensity <= 1)
    inverse, count = 1 / propensity[known], None
    if weights is not None:
        count = weights[known]
        if count.dtype.kind == "f":
            inverse = inverse * count
    return make_sample(inverse, count)
