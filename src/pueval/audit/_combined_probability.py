"""Audits in several rounds: the probability that a row was checked in any of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import one_column


def combine_probability(first: Any, second: Any) -> Array:
    """Return the probability that a row is checked in one of two rounds.

    If a row was not checked in the first round, whose probability was q₁, it is checked in the
    second one with probability q₂. So it is checked at all with probability
    q₁ + (1 − q₁)·q₂ = 1 − (1 − q₁)·(1 − q₂). For rows of the first round, q₂ is the probability
    that they would have had in the second. Rows of both rounds together, with these
    probabilities, are one audit. If the second plan used what the first round found, this is not
    exact, but the difference vanishes as the number of rows grows: no single row matters much for
    the plan.

    Parameters
    ----------
    first, second : array-like
        Probability of each row in each round, in [0, 1].

    Returns
    -------
    ndarray

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model assisted survey sampling, chapter 9.

    Examples
    --------
    >>> from pueval.audit import combine_probability
    >>> combine_probability([0.5, 0.1], [0.5, 0.0])
    array([0.75, 0.1 ])
    """
    columns = []
    for name, values in (("first", first), ("second", second)):
        column = one_column(values, name).astype(np.float64)
        if not np.all((column >= 0) & (column <= 1)):
            raise InputError(
                f"{name} must hold probabilities in [0, 1]. Give the probability of every row, "
                "not only of those that were chosen."
            )
        columns.append(column)
    if columns[0].size != columns[1].size:
        raise InputError(
            "first and second must have the same length; "
            f"got {columns[0].size:,} and {columns[1].size:,}."
        )
    combined: Array = 1 - (1 - columns[0]) * (1 - columns[1])
    return combined
