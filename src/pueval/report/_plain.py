"""Text and numbers as a page can hold them."""

from __future__ import annotations

import math
from typing import Any

from pueval.evaluation.estimates import Estimate


def text(value: str) -> str:
    """Make any text one that a file can hold: no half characters, no control characters."""
    whole = str(value).encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c >= " " or c in "\n\t" else "�" for c in whole)


def json_number(value: float) -> float | str:
    """Write an infinite number as JavaScript reads it."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def shown_estimate(one: Estimate) -> dict[str, Any]:
    """Return what a page shows of an estimate."""
    numbers = {key: json_number(vars(one)[key]) for key in ("value", "low", "high", "naive")}
    return numbers | {"clipped": one.clipped}
