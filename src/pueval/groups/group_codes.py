"""Group names as numbers: 0, 1, … in the order of the sorted names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import one_column
from pueval.sources.labels import is_missing, missing_error

# Whole numbers that span no more than this many times the rows are looked up, not sorted.
SPAN = 4


class GroupCodes(NamedTuple):
    """The group of every row.

    ``names`` are the different groups in ascending order, as Python values; ``code`` says for
    every row which of them it belongs to.
    """

    names: list[Any]
    code: Array


def encode_groups(by: Any, rows: int) -> GroupCodes:
    """Give numbers to the groups of a column: text, numbers, booleans, dates, a categorical.

    Missing groups are counted and refused. Of a categorical only the categories that occur count.
    """
    found = _categorical(by)
    if found is None:
        # A list of numbers and text would all become text.
        values = np.array(by, dtype=object) if isinstance(by, list | tuple) else by
        found = _plain(one_column(values, "by"))
    if found.code.size != rows:
        raise InputError(
            f"y and by must have the same length; got {rows:,} and {found.code.size:,}."
        )
    return found


def _categorical(by: Any) -> GroupCodes | None:
    """Take the codes of a pandas categorical (a column or the values of one) as they are."""
    values = getattr(by, "cat", None)
    values = by if values is None else values
    categories, codes = getattr(values, "categories", None), getattr(values, "codes", None)
    if categories is None or codes is None:
        return None
    code = np.asarray(codes)
    _refuse(int(np.count_nonzero(code < 0)))
    used, code = np.unique(code, return_inverse=True)
    return _ordered([np.asarray(categories)[k] for k in used], code)


def _plain(values: Array) -> GroupCodes:
    kind = values.dtype.kind
    if kind == "f":
        _refuse(int(np.count_nonzero(np.isnan(values))))
    elif kind in "mM":
        _refuse(int(np.count_nonzero(np.isnat(values))))
    elif kind in "biu":
        return _whole(values)
    elif kind not in "USTO":
        raise InputError(f"by must hold names of groups; got dtype {values.dtype}.")
    if kind in "fmM":
        names, code = np.unique(values, return_inverse=True)
        return GroupCodes(names.tolist() if kind == "f" else list(names), code)
    return _objects(values)


def _whole(values: Array) -> GroupCodes:
    """Look whole numbers up in a table, if they are not too far apart."""
    if not values.size:
        return GroupCodes([], np.empty(0, dtype=np.intp))
    low, high = int(values.min()), int(values.max())
    if high - low > SPAN * values.size:
        names, code = np.unique(values, return_inverse=True)
        return GroupCodes(names.tolist(), code)
    shifted = values.astype(np.int64) - low
    used = np.flatnonzero(np.bincount(shifted))
    place = np.zeros(high - low + 1, dtype=np.intp)
    place[used] = np.arange(used.size)
    return GroupCodes((used + low).astype(values.dtype).tolist(), place[shifted])


def _objects(values: Array) -> GroupCodes:
    """Give numbers to text and objects by a dictionary: faster than to sort them all."""
    every = values.tolist()
    try:
        place = {name: k for k, name in enumerate(dict.fromkeys(every))}
    except TypeError:
        raise InputError(
            "by must hold names of groups, such as text or numbers; got values that cannot be "
            f"compared, such as {next(v for v in every if not _hashable(v))!r:.60}."
        ) from None
    code = np.fromiter((place[name] for name in every), dtype=np.intp, count=len(every))
    absent = [k for name, k in place.items() if name is None or is_missing(name)]
    if absent:
        _refuse(int(np.isin(code, absent).sum()))
    return _ordered(list(place), code)


def _ordered(names: list[Any], code: Array) -> GroupCodes:
    """Sort the names; values that cannot be compared, by their type and text."""
    try:
        order = sorted(range(len(names)), key=names.__getitem__)
    except TypeError:
        order = sorted(range(len(names)), key=lambda k: (type(names[k]).__name__, str(names[k])))
    place = np.empty(len(names), dtype=np.intp)
    place[order] = np.arange(len(names))
    return GroupCodes([_python(names[k]) for k in order], place[code])


def _python(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) else name


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _refuse(rows: int) -> None:
    if rows:
        raise missing_error("group", rows)
