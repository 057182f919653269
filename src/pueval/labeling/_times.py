"""Times of events and labels: numbers or dates, as ages and delays."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any

import numpy as np

from pueval._checks import check_same_length
from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import check_same_order, missing_rows, one_column
from pueval.sources.periods import ZONED_TEXT

DAY = np.timedelta64(86_400_000_000, "us")


@dataclass(frozen=True, eq=False)
class LabelTimes:
    """Ages of all rows and delays of the labeled ones.

    Attributes
    ----------
    age : ndarray
        Time from each event to ``as_of``.
    delay : ndarray
        Time from each event to its label; NaN for unlabeled rows.
    unit : str
        ``"days"`` for dates, empty for numbers.
    """

    age: Array
    delay: Array
    unit: str

    @property
    def labeled(self) -> Array:
        """Which rows are labeled."""
        return ~np.isnan(self.delay)

    @classmethod
    def read(cls, event_time: Any, label_time: Any, as_of: Any) -> LabelTimes:
        """Read and check the times; dates and numbers must not be mixed."""
        check_same_order({"event_time": event_time, "label_time": label_time})
        event, event_kind = _read_times("event_time", event_time)
        label, label_kind = _read_times("label_time", label_time)
        now, now_kind = _read_times("as_of", [as_of])
        if not len(event):
            raise InputError("event_time is empty. Pass the times of all rows.")
        check_same_length("event_time", len(event), "label_time", len(label))
        if missing := int(np.isnan(event).sum()):
            raise InputError(
                f"event_time is missing in {missing:,} of {len(event):,} rows. Every row needs the "
                "time of its event, labeled or not; leave out rows without one."
            )
        if np.isnan(now[0]):
            raise InputError("as_of is missing. Pass the time at which the labels were looked up.")
        if np.isnan(label).all():
            raise InputError("label_time has no labels: all values are missing.")
        if len({event_kind, label_kind, now_kind}) > 1:
            raise InputError(
                "event_time, label_time and as_of must be all numbers, all dates with a time zone "
                f"or all dates without; got {event_kind}, {label_kind} and {now_kind}."
            )
        largest = max(np.nanmax(np.abs(times)) for times in (event, label, now))
        age, delay = _without_rounding(np.stack([now[0] - event, label - event]), largest)
        times = cls(age, delay, "" if event_kind == "numbers" else "days")
        times._refuse_impossible()
        return times

    def _refuse_impossible(self) -> None:
        for wrong, what, advice in (
            (
                self.age < 0,
                "event_time is after as_of",
                "Leave out rows that had not happened yet, or correct as_of.",
            ),
            (
                self.delay < 0,
                "label_time is before event_time",
                "Check the columns, and the time zones of dates.",
            ),
            (
                self.delay > self.age,
                "label_time is after as_of",
                "Set them to missing: they were not known then. Or pass a later as_of.",
            ),
        ):
            if number := int(np.count_nonzero(wrong)):
                row = int(np.argmax(wrong))
                raise InputError(
                    f"{what} in {number:,} of {wrong.size:,} rows, first in row {row:,}. {advice}"
                )


def _without_rounding(lengths: Array, largest: float) -> Array:
    """Return lengths of time, those that differ only by rounding of the times being equal."""
    distinct, place = np.unique(lengths, return_inverse=True)
    is_rounded = np.diff(distinct) <= 8 * np.finfo(np.float64).eps * largest
    is_first = np.concatenate([[True], ~is_rounded])
    merged = distinct[is_first][np.cumsum(is_first) - 1]
    return np.asarray(merged[place].reshape(lengths.shape))


def _read_times(name: str, values: Any) -> tuple[Array, str]:
    """Return times as floats, NaN where missing, and their kind; dates are in days."""
    # Columns of Polars give their instants in UTC, without a time zone.
    has_zone = bool(getattr(getattr(values, "dtype", None), "time_zone", None))
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    column = one_column(values, name)
    if column.dtype.kind == "O":
        column, has_zone = _object_times(name, column)
    elif column.dtype.kind in "UT":
        column, has_zone = _text_times(name, column)
    if column.dtype.kind == "M":
        days = (column - np.datetime64(0, "D")) / DAY
        kind = "dates with a time zone" if has_zone else "dates"
        return np.where(np.isnat(column), np.nan, days), kind
    if column.dtype.kind not in "iuf":
        raise InputError(f"{name} must hold numbers or dates; got dtype {column.dtype}.")
    numbers = column.astype(np.float64)
    if np.isinf(numbers).any():
        raise InputError(f"{name} must be finite; got {int(np.isinf(numbers).sum()):,} infinite.")
    return numbers, "numbers"


def _object_times(name: str, column: Array) -> tuple[Array, bool]:
    """Return objects as dates or as numbers, missing ones as NaT or NaN; and if in a time zone."""
    missing = missing_rows(column)
    present = column[~missing]
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in present):
        numbers = np.full(len(column), np.nan)
        numbers[~missing] = present.astype(np.float64)
        return numbers, False
    dates = np.full(len(column), "NaT", dtype="datetime64[us]")
    if all(isinstance(value, str) for value in present):
        dates[~missing], has_zone = _text_times(name, present.astype(str))
        return dates, has_zone
    if not all(isinstance(value, date | np.datetime64) for value in present):
        wrong = next(value for value in present if not isinstance(value, date | np.datetime64))
        raise InputError(f"{name} must hold numbers or dates; got {wrong!r}.")
    has_zone = _check_zones(
        name, (isinstance(value, datetime) and value.tzinfo is not None for value in present)
    )
    dates[~missing] = [np.datetime64(_without_zone(value), "us") for value in present]
    return dates, has_zone


def _check_zones(name: str, zoned: Iterable[bool]) -> bool:
    """Return whether all dates have a time zone; refuse a mixture."""
    kinds = {*zoned}
    if len(kinds) > 1:
        raise InputError(f"{name} mixes dates with and without a time zone. Convert them to one.")
    return True in kinds


def _without_zone(value: Any) -> Any:
    """Return a time in UTC without its zone; other values as they are."""
    if isinstance(value, datetime):
        plain = value.astimezone(UTC) if value.tzinfo is not None else value
        return datetime(*plain.timetuple()[:6], plain.microsecond)  # noqa: DTZ001
    return value


def _text_times(name: str, column: Array) -> tuple[Array, bool]:
    """Return ISO dates, and whether they are in a time zone; empty text is missing."""
    texts = {text: text.strip() for text in dict.fromkeys(column.tolist())}
    has_zone = _check_zones(
        name, (re.search(ZONED_TEXT, text) is not None for text in texts.values() if text)
    )
    try:
        if not has_zone:
            return column.astype("datetime64[us]"), False
        # NumPy reads no time zones.
        moments = {
            text: np.datetime64(_without_zone(datetime.fromisoformat(stripped)), "us")
            if stripped
            else np.datetime64("NaT", "us")
            for text, stripped in texts.items()
        }
    except ValueError:
        raise InputError(
            f"{name} must hold numbers or dates; got text that is no ISO date, such as "
            f"{str(column[0])!r}. Convert it first."
        ) from None
    return np.array([moments[text] for text in column.tolist()], dtype="datetime64[us]"), True
