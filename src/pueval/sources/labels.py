"""Label values: which ones mark labeled, unlabeled and negative rows, and errors about the rest.

`LabelValues` holds the value of each kind of row. `LabelMatch` decides which entries of a column a
value stands for. Readers only translate it, to SQL (`duckdb_columns`) or to narwhals
(`expressions`); arrays compare values themselves (`arrays.equal_labels`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np

from pueval._checks import shorten
from pueval.errors import InputError

# Label values shown in a message.
SHOWN, LONGEST_LABEL = 5, 40
# More distinct numbers than this are unlikely to be labels.
MOST_LABELS = 20
# A number as text, such as 0.25 or 1e-3, that is a score rather than a label.
FRACTION = re.compile(r"-?\d*\.?\d+e-\d+|-?\d*\.\d*[1-9]\d*", re.IGNORECASE)
# Codes of rows that are not labeled, unlabeled or negative (0, 1, 2).
UNKNOWN, NO_LABEL = 3, 4
# Text that stands for a missing value in a CSV file.
MISSING_WORDS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]


def is_missing(value: Any) -> bool:
    """Whether a value marks a missing entry: NaN, pandas.NA or NaT, but not None."""
    if type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, Real) and bool(value != value)  # noqa: PLR0124


@dataclass(frozen=True)
class LabelMatch:
    """The entries of a column that a label value stands for.

    Attributes
    ----------
    spellings : tuple of str
        Entries that match in a column of text, the value as it was given first.
    number : float or None
        Finite number that matches in other columns: 0 and 1 also match false and true.
    """

    spellings: tuple[str, ...]
    number: float | None

    @classmethod
    def typed(cls, value: Any) -> LabelMatch:
        """Match entries of the value's own type: text never equals a number."""
        return cls((value,), None) if isinstance(value, str) else cls((), _finite_number(value))

    @classmethod
    def from_text(cls, value: Any) -> LabelMatch:
        """Match entries of files, where text has no type: 1 also stands for 1.0 and true."""
        if isinstance(value, bool | np.bool_):
            value = int(value)
        number = _finite_number(value)
        spellings = [str(value)]
        if number is not None:
            spellings += [f"{number:g}", repr(number)]
        if number in {0, 1}:
            word = "true" if number else "false"
            spellings += [word, word.title(), word.upper()]
        return cls(tuple(dict.fromkeys(spellings)), number)

    def value_in(self, column: Literal["boolean", "integer", "float"]) -> bool | int | float | None:
        """Return the value to look for in a column of numbers or booleans; None for no value."""
        if self.number is None or column == "float":
            return self.number
        if column == "integer":
            return int(self.number) if self.number.is_integer() else None
        return bool(self.number) if self.number in {0, 1} else None


@dataclass(frozen=True)
class LabelValues:
    """The values that mark a labeled positive, an unlabeled row and a known negative.

    NaN, or any other missing value, stands for all missing values.
    """

    positive: Any = 1
    unlabeled: Any = 0
    negative: Any = None

    def __post_init__(self) -> None:
        for name, value in self.arguments.items():
            if isinstance(value, list | tuple | set | dict) or getattr(value, "ndim", 0) > 0:
                raise InputError(
                    f"{name} must be one value; got {value!r}. Give all rows of a kind the same "
                    "label first, for example with numpy.isin."
                )
        for name in ("unlabeled", "negative"):
            if is_missing(getattr(self, name)):
                object.__setattr__(self, name, math.nan)
        if self.positive is None or is_missing(self.positive):
            raise InputError(
                f"pos_label must be the value that marks a labeled positive; got {self.positive}. "
                "Pass it, for example pos_label=1."
            )
        given = [value for value in (self.unlabeled, self.negative) if value is not None]
        if not given:
            raise InputError(
                "unlabeled_label and negative_label are both None, so every row would be a labeled "
                "positive. Pass the value that marks an unlabeled row; if a missing label does, "
                "pass unlabeled_label=float('nan')."
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

    @property
    def arguments(self) -> dict[str, Any]:
        """The values as arguments of functions that take labels."""
        names = ("pos_label", "unlabeled_label", "negative_label")
        return dict(zip(names, self.values, strict=True))

    def matches(self, *, from_text: bool) -> list[LabelMatch | None]:
        """Return what each of the values matches; None for a value that is not used."""
        match = LabelMatch.from_text if from_text else LabelMatch.typed
        return [None if value is None else match(value) for value in self.values]

    def missing_code(self, *, from_text: bool) -> int:
        """Return the code of a row without a label.

        In files, one of the values may itself be a word for missing, such as the empty text.
        """
        missing = NO_LABEL
        for code, value in enumerate(self.values):
            if from_text and value is not None and str(value) in MISSING_WORDS:
                missing = code
        return missing

    def same_as(self, other: LabelValues) -> bool:
        """Whether the values are equal; missing values count as equal."""
        return all(
            mine == theirs or (is_missing(mine) and is_missing(theirs))
            for mine, theirs in zip(self.values, other.values, strict=True)
        )

    @property
    def takes_missing(self) -> bool:
        """Whether a missing label has a meaning."""
        return is_missing(self.unlabeled) or is_missing(self.negative)

    def check_query(self) -> None:
        """Refuse a missing value as a label where an engine compares values."""
        if self.takes_missing:
            raise InputError(
                "missing labels can mark unlabeled rows only in arrays and in-memory data frames. "
                "Fill them first; for files with empty fields pass unlabeled_label=''."
            )

    def unrecognized_error(self, values: Iterable[Any], rows: int) -> InputError:
        """Return the error for label values that are none of the three."""
        values = list(values)
        shown = ", ".join(shorten(repr(value), LONGEST_LABEL) for value in values[:SHOWN])
        if len(values) > SHOWN:
            shown += ", …"
        names = ("pos_label", "unlabeled_label", "negative_label")
        expected = ", ".join(
            f"{name}={value!r}"
            for name, value in zip(names, self.values, strict=True)
            if value is not None
        )
        if any(str(value) in {"-1", "-1.0"} for value in values):
            return InputError(
                f"label −1 is ambiguous ({_rows(rows)} with labels {shown}): some tools use it for "
                "unlabeled rows, others for negatives. Pass unlabeled_label=-1 or "
                f"negative_label=-1 (currently {expected})."
            )
        unrecognized = f"{_rows(rows)} with an unrecognized label: {shown} (expected {expected})."
        if len(values) > MOST_LABELS and all(isinstance(value, float) for value in values):
            return InputError(f"{unrecognized} These look like scores: pass labels first.")
        if len(values) > SHOWN and all(FRACTION.fullmatch(str(value)) for value in values):
            return InputError(f"{unrecognized} These look like scores, not labels.")
        return InputError(
            f"{unrecognized} Set pos_label, unlabeled_label and negative_label to your values."
        )


KIND_CODES = LabelValues(0, 1, 2)
"""The labels of rows that are given by the codes of their kinds."""


def missing_error(what: str, rows: int) -> InputError:
    """Return the error for missing labels, scores or weights."""
    return InputError(f"{_rows(rows)} with a missing {what}. Drop or fill them first.")


def missing_labels_error(rows: int) -> InputError:
    """Return the error for missing labels."""
    return InputError(
        f"{_rows(rows)} with a missing label. If a missing label means unlabeled, pass "
        "unlabeled_label=float('nan'). Otherwise drop or fill them first."
    )


def infinite_error(what: str, rows: int) -> InputError:
    """Return the error for scores that are not finite."""
    return InputError(
        f"{_rows(rows)} with an infinite {what}. Replace ±inf by a finite number, or drop the rows."
    )


def inexact_scores_error(given: str) -> InputError:
    """Return the error for integer scores that floats cannot hold."""
    return InputError(
        "integer scores must lie within ±2**53, or distinct scores become equal; "
        f"got {given}. Replace them by their ranks."
    )


def merged_scores_error(merged: int) -> InputError:
    """Return the error for scores that differ, but not as floats."""
    return InputError(
        "scores must be float64 numbers, or distinct scores become equal; got "
        f"{merged:,} that would equal another. Replace scores by their ranks."
    )


def _rows(count: int) -> str:
    return f"{count:,} row" + ("" if count == 1 else "s")


def _finite_number(value: Any) -> float | None:
    """Return the finite number that a label value stands for, if any."""
    text = str(value).strip()
    truth = {"true": 1.0, "false": 0.0}.get(text.lower())
    try:
        number = float(text) if truth is None else truth
    except ValueError:
        return None
    return number if math.isfinite(number) else None
