"""Checks of arguments that several simulation functions share."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import one_column


def read_classes(positive: Any) -> Array:
    """Return the true classes as booleans; refuse values other than 0 and 1, and a single class."""
    values = one_column(positive, "positive")
    if values.dtype != bool:
        if not np.all((values == 0) | (values == 1)):
            raise InputError(
                "positive must hold 1 or True for positives and 0 or False for negatives."
            )
        values = values.astype(bool)
    if not values.any() or values.all():
        raise InputError("positive must hold both classes; got only one.")
    return values


def read_numbers(values: Any, name: str) -> Array:
    """Return a column of floats."""
    column = one_column(values, name)
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers; got dtype {column.dtype}.") from None


def check_number(name: str, value: object) -> float:
    """Return a finite number as a float; refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"{name} must be a finite number; got {value!r}.")
    return float(value)


def check_positive(name: str, value: object) -> None:
    """Refuse anything but a positive number."""
    if check_number(name, value) <= 0:
        raise InputError(f"{name} must be a positive number; got {value!r}.")
