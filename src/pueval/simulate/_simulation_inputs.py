"""What simulations are told, looked at before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import one_column


def read_truth(positive: Any) -> Array:
    """Return the classes as booleans; refuse anything but 0 and 1, and a single class."""
    values = one_column(positive, "positive")
    if values.dtype != bool:
        if not np.all((values == 0) | (values == 1)):
            raise InputError(
                "positive must hold 1 or True for positives and 0 or False for the others."
            )
        values = values.astype(bool)
    if not values.any() or values.all():
        raise InputError("positive must hold both classes; got one only.")
    return values


def real_numbers(values: Any, name: str) -> Array:
    """Return one column of floats."""
    column = one_column(values, name)
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers; got dtype {column.dtype}.") from None
