"""What the values of a label column mean, and what to say when they mean nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from pueval.errors import InputError

SHOWN = 5
# More different numbers than this are hardly labels.
MOST_LABELS = 20
# What a row is, beside labeled, unlabeled and negative (0, 1, 2).
UNKNOWN, NO_LABEL = 3, 4


@dataclass(frozen=True)
class LabelValues:
    """The values that mark a labeled positive, an unlabeled row and a known negative.

    NaN, or another mark of a missing value, stands for all of these.
    """

    positive: Any = 1
    unlabeled: Any = 0
    negative: Any = None

    def __post_init__(self) -> None:
        for name in ("unlabeled", "negative"):
            if is_missing(getattr(self, name)):
                object.__setattr__(self, name, math.nan)
        if self.positive is None or is_missing(self.positive):
            raise InputError(
                f"pos_label must be the value that marks a labeled positive; got {self.positive}. "
                "Give it, for example pos_label=1."
            )
        given = [value for value in (self.unlabeled, self.negative) if value is not None]
        if not given:
            raise InputError(
                "unlabeled_label and negative_label are both None, so every row would have to be "
                "a labeled positive. Say which value marks an unlabeled row; if a missing label "
                "does, unlabeled_label=float('nan')."
            )
        if len(given) == 2 and all(map(is_missing, given)):
            raise InputError("a missing label cannot mean both unlabeled and negative.")
        if self.positive in given or (len(given) == 2 and given[0] == given[1]):
            raise InputError(
                "pos_label, unlabeled_label and negative_label must differ; got "
                f"{self.positive!r}, {self.unlabeled!r} and {self.negative!r}."
            )

    @property
    def values(self) -> tuple[Any, Any, Any]:
        """The values of labeled, unlabeled and negative rows, in this order."""
        return self.positive, self.unlabeled, self.negative

    def same_as(self, other: LabelValues) -> bool:
        """Whether the values mean the same; missing ones are equal here."""
        return all(
            one == two or (is_missing(one) and is_missing(two))
            for one, two in zip(self.values, other.values, strict=True)
        )

    @property
    def takes_missing(self) -> bool:
        """Whether a missing label means something."""
        return is_missing(self.unlabeled) or is_missing(self.negative)

    def check_query(self) -> None:
        """Refuse missing labels as a kind of rows where an engine compares values."""
        if self.takes_missing:
            raise InputError(
                "missing labels can mean unlabeled rows in arrays and in frames in memory only. "
                "Fill them first; for files with empty fields give unlabeled_label=''."
            )

    def unrecognized_error(self, found: Iterable[Any], rows: int) -> InputError:
        """Return the error for label values that are none of the three."""
        values = list(found)
        shown = ", ".join(_short(value) for value in values[:SHOWN])
        if len(values) > SHOWN:
            shown += ", …"
        known = ", ".join(
            f"{name}={value!r}"
            for name, value in zip(
                ("pos_label", "unlabeled_label", "negative_label"), self.values, strict=True
            )
            if value is not None
        )
        if any(str(value) in {"-1", "-1.0"} for value in values):
            return InputError(
                f"label −1 is ambiguous ({_rows(rows)} with labels {shown}): some write it for "
                "unlabeled rows, others for negatives. Say which: unlabeled_label=-1 or "
                f"negative_label=-1 (now {known})."
            )
        if len(values) > MOST_LABELS and all(isinstance(value, float) for value in values):
            return InputError(
                f"{_rows(rows)} with a label that is not {known}: {shown}. These look like scores: "
                "labels come first, then scores."
            )
        return InputError(
            f"{_rows(rows)} with a label that is not {known}: {shown}. "
            "Say what they mean with pos_label=, unlabeled_label= and negative_label=."
        )


def is_missing(value: Any) -> bool:
    """Whether a value is one of those that mark a missing one; None is not among them."""
    if type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, Real) and bool(value != value)  # noqa: PLR0124


def missing_error(what: str, rows: int) -> InputError:
    """Return the error for missing labels, scores or weights."""
    return InputError(f"{_rows(rows)} with a missing {what}. Drop or fill them first.")


def missing_labels_error(rows: int) -> InputError:
    """Return the error for missing labels."""
    return InputError(
        f"{_rows(rows)} with a missing label. If that means unlabeled, say so: "
        "unlabeled_label=float('nan'). Otherwise drop or fill them first."
    )


def infinite_error(what: str, rows: int) -> InputError:
    """Return the error for scores that are not finite."""
    return InputError(
        f"{_rows(rows)} with an infinite {what}. Replace ±inf by a finite number, or drop the rows."
    )


def _rows(count: int) -> str:
    return f"{count:,} row" + ("" if count == 1 else "s")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def as_number(value: Any) -> float | None:
    """Return the number that a label value stands for."""
    text = str(value).strip()
    truth = {"true": 1.0, "false": 0.0}.get(text.lower())
    try:
        return float(text) if truth is None else truth
    except ValueError:
        return None


# Rows whose labels are the codes of their kinds.
KIND_CODES = LabelValues(0, 1, 2)
