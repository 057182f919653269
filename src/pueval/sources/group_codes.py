"""Group names as numbers: 0, 1, … in the order of the names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pueval._checks import check_same_length
from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.threads import map_in_threads
from pueval.sources.arrays import one_column
from pueval.sources.columns import NUMBER
from pueval.sources.labels import is_missing, missing_error

# Integers whose range is at most this many times the number of rows are looked up, not sorted.
MAX_RANGE = 4
# Integers that are read at a time.
CHUNK = 1_000_000


class GroupCodes(NamedTuple):
    """The group of every row.

    ``names`` are the distinct groups, as Python values: in the order of an ordered categorical,
    otherwise ascending. ``code`` is the index of the group of every row.
    """

    names: list[Any]
    code: Array


@dataclass(frozen=True, eq=False)
class OrderedGroups:
    """A column of groups in an order of their own, as an ordered categorical of pandas."""

    categories: Array
    codes: Array
    ordered: bool = True

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.codes.size


def encode_groups(by: Any, rows: int, name: str = "by") -> GroupCodes:
    """Encode a column of groups as integers: text, numbers, booleans, dates or a categorical.

    Groups are sorted; those of an ordered categorical keep its order. Missing groups are refused.
    Categories that do not occur are left out. ``name`` is that of the argument, for messages.
    """
    if isinstance(by, str):
        noun = "cluster" if name == "cluster" else "group"
        raise InputError(
            f"{name} must be an array with one {noun} per row; got the string {by!r}. Pass "
            f"frame[{by!r}]."
        )
    codes = _encode_categorical(by, name)
    if codes is None:
        # NumPy would turn a list of numbers and text into text.
        values = np.array(by, dtype=object) if isinstance(by, list | tuple) else by
        codes = _encode_column(one_column(values, name), name)
    check_same_length("y", rows, name, codes.code.size)
    return codes


def number_groups(by: Any, rows: int, name: str = "by") -> tuple[Array, Array]:
    """Return a number for the group of every row, and the numbers that occur, ascending.

    Other than the codes of `encode_groups`, numbers may skip some, and may be ``by`` itself.
    """
    if isinstance(by, np.ndarray) and by.ndim == 1 and by.dtype.kind in "biu":
        check_same_length("y", rows, name, by.size)
        return _number_integers(by)[:2]
    names, code = encode_groups(by, rows, name)
    return code, np.arange(len(names))


def order_numbers(values: Array) -> Array | OrderedGroups:
    """Order the groups in a text column by their numbers, if all of them are numbers.

    Names stay text: 1 and 1.0 are two groups.
    """
    if values.dtype.kind not in "OU":
        return values
    rows = values.tolist()
    distinct = dict.fromkeys(rows)
    if not are_numbers(distinct):
        return values
    names = sorted(distinct, key=number_key)
    place = {name: k for k, name in enumerate(names)}
    codes = np.fromiter((place[name] for name in rows), dtype=np.intp, count=len(rows))
    return OrderedGroups(np.array(names, dtype=object), codes)


def are_numbers(names: Iterable[Any]) -> bool:
    """Whether all names are text that is a number."""
    return all(isinstance(name, str) and NUMBER.fullmatch(name) for name in names)


def number_key(name: str) -> tuple[float, str]:
    """Return a key that sorts text by its number."""
    return float(name), name


def _encode_categorical(by: Any, name: str) -> GroupCodes | None:
    """Use the codes of a pandas categorical: a column, or its values.

    Groups have the order of the categories if the categorical is ordered.
    """
    values = getattr(by, "cat", None)
    values = by if values is None else values
    categories, codes = getattr(values, "categories", None), getattr(values, "codes", None)
    if categories is None or codes is None:
        return None
    code = np.asarray(codes)
    _refuse_missing(code < 0, name)
    used, code = np.unique(code, return_inverse=True)
    names = [*np.asarray(categories)[used]]
    if getattr(values, "ordered", False):
        return GroupCodes([*map(_python_value, names)], code)
    return _sort_names(names, code)


def _encode_column(values: Array, name: str) -> GroupCodes:
    kind = values.dtype.kind
    if kind in "biu":
        return _encode_integers(values)
    if kind in "USTO":
        return _encode_objects(values, name)
    if kind not in "fmM":
        raise InputError(f"{name} must contain names of groups; got dtype {values.dtype}.")
    _refuse_missing(np.isnan(values), name)
    names, code = np.unique(values, return_inverse=True)
    return GroupCodes(names.tolist() if kind == "f" else list(names), code)


def _encode_integers(values: Array) -> GroupCodes:
    number, used, distinct = _number_integers(values)
    place = np.empty(int(used.max(initial=-1)) + 1, dtype=np.intp)
    place[used] = np.arange(used.size)
    return GroupCodes(distinct.tolist(), place[number])


def _number_integers(values: Array) -> tuple[Array, Array, Array]:
    """Return a number for each integer, the numbers that occur, and the integers they stand for.

    Numbers are the integers themselves if they are small; less the lowest one if only their range
    is small; ranks otherwise.
    """
    if not values.size:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), values
    starts = range(0, values.size, CHUNK)
    ends = map_in_threads(lambda start: _ends(values[start : start + CHUNK]), starts)
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if low >= 0 and high <= MAX_RANGE * values.size:
        low = 0  # numbers need not begin at 0
    if high - low > MAX_RANGE * values.size:
        distinct, code = np.unique(values, return_inverse=True)
        return code, np.arange(distinct.size), distinct
    if low and values.dtype.kind == "u":
        shifted = (values - values.dtype.type(low)).astype(np.int64)  # values may not fit in int64
    else:
        shifted = values.astype(np.int64, copy=False)
        shifted = shifted - low if low else shifted
    seen = np.zeros(high - low + 1, dtype=bool)

    def mark(start: int) -> None:
        seen[shifted[start : start + CHUNK]] = True

    map_in_threads(mark, starts)
    used = np.flatnonzero(seen)
    return shifted, used, used.astype(values.dtype) + values.dtype.type(low)


def _ends(values: Array) -> tuple[int, int]:
    return int(values.min()), int(values.max())


def _encode_objects(values: Array, name: str) -> GroupCodes:
    """Encode text and objects with a dictionary, which is faster than sorting them all."""
    names = values.tolist()
    try:
        place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    except TypeError:
        raise InputError(
            f"{name} must contain names of groups, such as text or numbers; got values that cannot "
            f"be hashed, such as {next(v for v in names if not _hashable(v))!r:.60}."
        ) from None
    code = np.fromiter((place[name] for name in names), dtype=np.intp, count=len(names))
    absent = [k for name, k in place.items() if name is None or is_missing(name)]
    if absent:
        _refuse_missing(np.isin(code, absent), name)
    return _sort_names(list(place), code)


def _sort_names(names: list[Any], code: Array) -> GroupCodes:
    """Sort the names; values that cannot be compared are sorted by type and text."""
    try:
        order = sorted(range(len(names)), key=names.__getitem__)
    except TypeError:
        order = sorted(range(len(names)), key=lambda k: (type(names[k]).__name__, str(names[k])))
    place = np.empty(len(names), dtype=np.intp)
    place[order] = np.arange(len(names))
    return GroupCodes([_python_value(names[k]) for k in order], place[code])


def _python_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _refuse_missing(missing: Array, name: str) -> None:
    if missing.any():
        raise missing_error("group" if name == "by" else name, int(missing.sum()))
