"""Group names as numbers: 0, 1, … in the order of the sorted names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pueval._checks import check_same_length
from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import one_column
from pueval.sources.labels import is_missing, missing_error

# Integers whose range is at most this many times the number of rows are looked up, not sorted.
MAX_RANGE = 4


class GroupCodes(NamedTuple):
    """The group of every row.

    ``names`` are the distinct groups in ascending order, as Python values; ``code`` is the index of
    the group of every row.
    """

    names: list[Any]
    code: Array


def encode_groups(by: Any, rows: int, name: str = "by") -> GroupCodes:
    """Encode a column of groups as integers: text, numbers, booleans, dates or a categorical.

    Missing groups are refused. Categories that do not occur are left out. ``name`` is that of the
    argument, for messages.
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


def _encode_categorical(by: Any, name: str) -> GroupCodes | None:
    """Use the codes of a pandas categorical: a column, or its values."""
    values = getattr(by, "cat", None)
    values = by if values is None else values
    categories, codes = getattr(values, "categories", None), getattr(values, "codes", None)
    if categories is None or codes is None:
        return None
    code = np.asarray(codes)
    _refuse_missing(code < 0, name)
    used, code = np.unique(code, return_inverse=True)
    return _sort_names([np.asarray(categories)[k] for k in used], code)


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
    """Look integers up in a table, if their range is small; sort them otherwise."""
    if not values.size:
        return GroupCodes([], np.empty(0, dtype=np.intp))
    low, high = int(values.min()), int(values.max())
    if high - low > MAX_RANGE * values.size:
        names, code = np.unique(values, return_inverse=True)
        return GroupCodes(names.tolist(), code)
    shifted = values.astype(np.int64, copy=False)
    if low:
        shifted = shifted - low
    used = np.flatnonzero(np.bincount(shifted))
    place = np.zeros(high - low + 1, dtype=np.intp)
    place[used] = np.arange(used.size)
    return GroupCodes((used + low).astype(values.dtype).tolist(), place[shifted])


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
    ordered = [names[k].item() if isinstance(names[k], np.generic) else names[k] for k in order]
    return GroupCodes(ordered, place[code])


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _refuse_missing(missing: Array, name: str) -> None:
    if missing.any():
        raise missing_error("group" if name == "by" else name, int(missing.sum()))
