"""Text and numbers in the form in which a page can hold them."""

from __future__ import annotations

import math
from typing import Any

from pueval.estimates.estimate import Estimate


def printable_text(value: str) -> str:
    """Replace lone surrogates and control characters, which a file cannot hold."""
    valid = str(value).encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c >= " " or c in "\n\t" else "�" for c in valid)


def json_number(value: float) -> float | str:
    """Write an infinite number as text that JavaScript can read."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def estimate_values(estimate: Estimate) -> dict[str, Any]:
    """Return the numbers of an estimate that a page shows."""
    # Ten digits are more than anybody reads, and half as long as all.
    numbers = {
        key: json_number(float(f"{vars(estimate)[key]:.10g}"))
        for key in ("value", "low", "high", "naive")
    }
    return numbers | {"clipped": estimate.clipped}
