"""Arguments that many functions take, looked at before they are used."""

from __future__ import annotations

from numbers import Real

import numpy as np

from pueval.errors import InputError


def check_count(name: str, value: object, *, least: int = 1) -> None:
    """Refuse anything but a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}; got {value!r}.")


def check_fraction(name: str, value: object) -> None:
    """Refuse anything but a number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(f"{name} must be a number in (0, 1); got {value!r}.{percent_hint(value)}")


def percent_hint(value: object) -> str:
    """Ask whether a number that must be a share was meant in percent."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 1 < float(value) <= 100:
        return ""
    return f" Is it in percent? Then give {float(value) / 100:g}."
