"""Checks of arguments that many functions share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Number, Real
from typing import Any

import numpy as np

from pueval.errors import InputError

SCORE_METHODS = ("predict_proba", "decision_function")
# Characters and entries of a value that an error shows.
LONGEST_SHOWN, SHOWN_PARTS = 60, 4
# Values that an error lists as examples.
SHOWN_EXAMPLES = 5


def short_text(value: object) -> str:
    """Return a value as short text for an error: its type, where it is not short itself.

    Examples
    --------
    >>> short_text("20%"), short_text((0.3, 0.1)), short_text(np.zeros(500))
    ("'20%'", '(0.3, 0.1)', 'an object of type ndarray')
    """
    if isinstance(value, tuple | list):
        parts = [short_text(part) for part in value[:SHOWN_PARTS]]
        text = ", ".join([*parts, "…"] if len(value) > SHOWN_PARTS else parts)
        one = "," * (isinstance(value, tuple) and len(value) == 1)
        return f"({text}{one})" if isinstance(value, tuple) else f"[{text}]"
    if isinstance(value, str):
        return repr(shorten(value, LONGEST_SHOWN))
    if value is None or isinstance(value, Number | bytes | dict | set | np.ndarray | np.generic):
        text = repr(value)
        if len(text) <= LONGEST_SHOWN and "\n" not in text:
            return text
    return f"an object of type {type(value).__name__}"


def shorten(text: str, longest: int) -> str:
    """Return a text of at most so many characters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def list_examples(values: Iterable[object]) -> str:
    """Return the first few distinct values as text for an error.

    Examples
    --------
    >>> list_examples("abba"), list_examples(range(10))
    ("'a', 'b'", '0, 1, 2, 3, 4, …')
    """
    distinct = [*dict.fromkeys(values)]
    more = ", …" if len(distinct) > SHOWN_EXAMPLES else ""
    return ", ".join(map(repr, distinct[:SHOWN_EXAMPLES])) + more


def check_count(name: str, value: object, *, least: int = 1) -> None:
    """Raise unless the value is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(
            f"{name} must be a whole number of at least {least}; got {short_text(value)}."
        )


def check_fraction(name: str, value: object) -> float:
    """Return a number strictly between 0 and 1 as a float; raise for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(
            f"{name} must be a number in (0, 1); got {short_text(value)}.{percent_hint(value)}"
        )
    return float(value)


def check_number(name: str, value: object) -> float:
    """Return a finite number as a float; raise for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"{name} must be a number; got {short_text(value)}.")
    return float(value)


def is_choice(value: object, choices: Sequence[object]) -> bool:
    """Return whether the value is one of some choices."""
    try:
        return bool(value in choices)
    except ValueError:  # an array equals nothing as a whole
        return False


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise unless the value is one of at least two choices."""
    if not is_choice(value, choices):
        *others, last = map(repr, choices)
        raise InputError(f"{name} must be {', '.join(others)} or {last}; got {short_text(value)}.")


def choose_score_method(estimator: object, argument: str, method: str, advice: str) -> str:
    """Return the method of a classifier that gives scores; for "auto", the first that it has."""
    check_choice(argument, method, ("auto", *SCORE_METHODS))
    candidates = SCORE_METHODS if method == "auto" else (method,)
    for name in candidates:
        if hasattr(estimator, name):
            return name
    raise InputError(
        f"{type(estimator).__name__} has no {' or '.join(candidates)} method. Use a classifier "
        f"that gives scores, or {advice}."
    )


def check_counts(counts: Any) -> None:
    """Raise unless the argument has the numbers of rows that Counts have."""
    if not hasattr(counts, "n_unlabeled"):
        raise InputError(
            f"counts must be Counts; got {short_text(counts)}. Pass Counts.from_arrays(y, score), "
            "or the .counts of an evaluation."
        )


def check_same_length(name: str, size: int, other_name: str, other_size: int) -> None:
    """Raise unless two arguments have the same number of rows."""
    if size != other_size:
        raise InputError(
            f"{name} and {other_name} must have the same length; got {size:,} and {other_size:,}."
        )


def percent_hint(value: object) -> str:
    """Suggest the share for a value that looks like a percentage."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 1 < float(value) <= 100:
        return ""
    return f" If this is a percentage, pass {float(value) / 100:g}."
