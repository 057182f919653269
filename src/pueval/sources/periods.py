"""Periods of time, such as months: which one a time belongs to, in this process and in engines.

Periods are numbered. Days, weeks (from Monday), months, quarters and years count from 1970; periods
of a fixed length from midnight of 1970-01-01; those of numeric times from zero. Times without a
time zone are used as they are; others are converted to one time zone first.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from numbers import Real
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import one_column
from pueval.sources.duckdb_columns import is_number, number_of
from pueval.sources.duckdb_connections import text_literal
from pueval.sources.labels import is_missing, missing_error

UNITS = ("day", "week", "month", "quarter", "year")
# Units that a length in words can have, in microseconds.
SECOND = 1_000_000
DAY = 86_400 * SECOND
LENGTHS = {"second": SECOND, "minute": 60 * SECOND, "hour": 3600 * SECOND, "day": DAY}
LENGTHS["week"] = 7 * DAY
# The first Monday of week 0 is three days before 1970-01-01.
WEEKDAY_SHIFT = 3
MONTHS = {"month": 1, "quarter": 3, "year": 12}
# A time as text that names its time zone, by an offset such as +01:00 or by Z.
ZONED_TEXT = r":\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$"
NUMBER_HINT = " For times that are numbers, every must be a number too."
# Offsets of time zones change at quarters of an hour only.
QUARTER_HOUR = 900 * SECOND


@dataclass(frozen=True)
class Periods:
    """A division of time into periods.

    Attributes
    ----------
    unit : str
        One of `UNITS`; "length" for periods of a fixed length, "number" for numeric times.
    step : float
        Length of a period: in microseconds, or in units of numeric times; unused by calendar units.
    timezone : str
        Time zone to which times with a time zone are converted.
    """

    unit: str
    step: float = 1
    timezone: str = "UTC"

    @classmethod
    def of(cls, every: Any, timezone: str = "UTC") -> Periods:
        """Read the argument ``every``: a unit, a length such as "14 days", or a number.

        Examples
        --------
        >>> Periods.of("month").unit, Periods.of("14 days").step == 14 * DAY, Periods.of(100).step
        ('month', True, 100.0)
        """
        try:
            ZoneInfo(timezone)
        except (KeyError, ValueError, TypeError, OSError):
            raise InputError(
                f"timezone must be the name of a time zone, such as 'UTC' or 'Europe/Berlin'; got "
                f"{timezone!r}."
            ) from None
        if isinstance(every, str) and every in UNITS:
            return cls(every, timezone=timezone)
        if not isinstance(every, bool) and isinstance(every, Real):
            step = float(every)
            if not (math.isfinite(step) and step > 0):
                raise InputError(f"every must be above 0; got {every!r}.")
            return cls("number", step, timezone)
        length = read_length(every, "every")
        if length <= 0:
            raise InputError(f"every must be above 0; got {every!r}.")
        return cls("length", length, timezone)

    @property
    def is_numeric(self) -> bool:
        """Whether times are numbers."""
        return self.unit == "number"

    # ------------------------------------------------------------------ times in this process

    def read_times(self, time: Any) -> Array:
        """Return times as numbers: microseconds since 1970 in the time zone, or as given.

        Missing times are refused.
        """
        if self.is_numeric:
            values = one_column(time, "time")
            if values.dtype.kind not in "iuf":
                raise InputError(
                    f"a number for every needs times that are numbers; got dtype {values.dtype}. "
                    f"For dates use one of {', '.join(map(repr, UNITS))}."
                )
            times = values.astype(np.float64)
            missing = ~np.isfinite(times)
        else:
            stamps = self._read_stamps(time)
            missing = np.isnat(stamps)
            times = stamps.astype(np.int64)
        if missing.any():
            raise missing_error("time", int(missing.sum()))
        return times

    def _read_stamps(self, time: Any) -> Array:
        """Return dates as numpy.datetime64 in the time zone."""
        dtype = getattr(time, "dtype", None)
        if getattr(dtype, "tz", None) is not None or getattr(dtype, "time_zone", None):
            # Columns of pandas and Polars give their instants in UTC.
            options = {} if hasattr(dtype, "time_zone") else {"dtype": "datetime64[us]"}
            return self._from_utc(np.asarray(time.to_numpy(**options)).astype("datetime64[us]"))
        if isinstance(time, list | tuple):
            time = np.array(time, dtype=object)
        values = one_column(time, "time")
        kind = values.dtype.kind
        if kind == "M":
            return values.astype("datetime64[us]")
        if kind in "biuf":
            raise InputError(
                f"time must hold dates or times; got dtype {values.dtype}.{NUMBER_HINT}"
            )
        if kind not in "OUT":
            raise InputError(f"time must hold dates or times; got dtype {values.dtype}.")
        distinct: dict[Any, np.datetime64] = {}
        try:
            for value in dict.fromkeys(values.tolist()):
                distinct[value] = self.read_moment(value)
        except TypeError:
            raise InputError("time must hold dates or times; got values of another kind.") from None
        return np.array([distinct[value] for value in values.tolist()], dtype="datetime64[us]")

    def read_moment(self, value: Any, name: str = "time") -> Any:
        """Return one time as numpy.datetime64 in the time zone, or a number; NaT if missing."""
        if self.is_numeric:
            if isinstance(value, bool) or not isinstance(value, Real):
                raise InputError(f"{name} must be a number, as every is; got {value!r}.")
            return float(value)
        if value is None or is_missing(value):
            return np.datetime64("NaT", "us")
        if isinstance(value, np.datetime64):
            return value.astype("datetime64[us]")
        moment = value
        if isinstance(value, str):
            try:
                moment = dt.datetime.fromisoformat(value.strip())
            except ValueError:
                raise InputError(
                    f"{name} must hold dates such as 2026-03-31 or 2026-03-31T14:30; got "
                    f"{value!r:.60}."
                ) from None
        if isinstance(moment, dt.datetime):
            if moment.tzinfo is not None:
                moment = moment.astimezone(ZoneInfo(self.timezone)).replace(tzinfo=None)
            return np.datetime64(moment, "us")
        if isinstance(moment, dt.date):
            return np.datetime64(moment, "us")
        hint = NUMBER_HINT if isinstance(value, Real) else ""
        raise InputError(f"{name} must hold dates or times; got {value!r:.60}.{hint}")

    def _from_utc(self, stamps: Array) -> Array:
        """Turn instants into times of the time zone."""
        if self.timezone == "UTC":
            return stamps
        zone, known = ZoneInfo(self.timezone), ~np.isnat(stamps)
        quarters, place = np.unique(
            stamps[known].astype(np.int64) // QUARTER_HOUR, return_inverse=True
        )
        epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        offsets = []
        for quarter in quarters.tolist():
            moment = epoch + dt.timedelta(microseconds=quarter * QUARTER_HOUR)
            offset = moment.astimezone(zone).utcoffset() or dt.timedelta()
            offsets.append(offset // dt.timedelta(microseconds=1))
        local = stamps.copy()
        local[known] += np.array(offsets, dtype="timedelta64[us]")[place]
        return local

    def number(self, times: Array) -> Array:
        """Return the number of the period of each time, from `read_times`."""
        if self.unit in MONTHS:
            months = times.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
            return months // MONTHS[self.unit]
        if self.unit == "week":
            return (times // DAY + WEEKDAY_SHIFT) // 7
        numbers: Array = np.floor_divide(times, DAY if self.unit == "day" else self.step)
        return numbers.astype(np.int64)

    def start(self, number: int) -> Any:
        """Return the start of a period: numpy.datetime64, or a number."""
        if self.unit == "number":
            return number * self.step
        if self.unit in MONTHS:
            return np.datetime64(number * MONTHS[self.unit], "M").astype("datetime64[us]")
        if self.unit == "week":
            return np.datetime64(number * 7 - WEEKDAY_SHIFT, "D").astype("datetime64[us]")
        return np.datetime64(int(number * (DAY if self.unit == "day" else self.step)), "us")

    def name(self, number: int) -> Any:
        """Return a name of the period that sorts by time.

        Examples
        --------
        >>> Periods("month").name(674), Periods("quarter").name(224), Periods("week").name(2933)
        ('2026-03', '2026-Q1', '2026-03-16')
        """
        start = self.start(number)
        if self.unit == "number":
            return int(start) if start == int(start) else start
        text = str(start)
        if self.unit == "year":
            return text[:-22]
        if self.unit == "month":
            return text[:-19]
        if self.unit == "quarter":
            return f"{text[:-22]}-Q{number % 4 + 1}"
        return (
            text[:-16]
            if self.unit in {"day", "week"} or text.endswith("T00:00:00.000000")
            else text[:-7]
        )

    # ------------------------------------------------------------------ times in engines

    def duckdb_number(self, column: str, dtype: str) -> str:
        """Return the SQL for the number of the period of a column; null where there is none."""
        if self.is_numeric:
            return f"TRY_CAST(floor({number_of(column, dtype)} / {self.step!r}) AS BIGINT)"
        zone = text_literal(self.timezone)
        if dtype == "VARCHAR":
            zoned = f"regexp_matches({column}, {text_literal(ZONED_TEXT)})"
            instant = f"timezone({zone}, TRY_CAST({column} AS TIMESTAMPTZ))"
            stamp = f"CASE WHEN {zoned} THEN {instant} ELSE TRY_CAST({column} AS TIMESTAMP) END"
        elif dtype == "TIMESTAMP WITH TIME ZONE":
            stamp = f"timezone({zone}, {column})"
        elif dtype == "DATE" or dtype.startswith("TIMESTAMP"):
            stamp = f"CAST({column} AS TIMESTAMP)"
        else:
            hint = NUMBER_HINT if is_number(dtype) else ""
            raise InputError(f"the time column must hold dates or times; got type {dtype}.{hint}")
        day = f"date_diff('day', DATE '1970-01-01', CAST({stamp} AS DATE))"
        month = f"(year({stamp}) - 1970) * 12 + month({stamp}) - 1"
        number = {
            "day": day,
            "week": f"floor(({day} + {WEEKDAY_SHIFT}) / 7.0)",
            "month": month,
            "quarter": f"floor(({month}) / 3.0)",
            "year": f"year({stamp}) - 1970",
            "length": f"floor(CAST(epoch_us({stamp}) AS DOUBLE) / {float(self.step)!r})",
        }[self.unit]
        return f"CAST({number} AS BIGINT)"

    def spark_number(self, functions: Any, column: Any, dtype: str) -> Any:
        """Return the same as a column of Spark, whose session has this time zone.

        ``dtype`` is Spark's name of the type of the column.
        """
        if self.is_numeric:
            text = column.cast("string")
            number = functions.floor(text.try_cast("double") / functions.lit(self.step))
            return number.cast("bigint")
        stamp = column
        if dtype == "string":
            # Spark would also read 2026 and 2026-03.
            dated = functions.trim(column).rlike(r"^\d{4,}-\d{1,2}-\d{1,2}")
            stamp = functions.when(dated, functions.trim(column).try_cast("timestamp"))
        elif not dtype.startswith(("timestamp", "date")):
            raise InputError(f"the time column must hold dates or times; got type {dtype}.")
        day = functions.datediff(functions.to_date(stamp), functions.lit("1970-01-01"))
        month = (functions.year(stamp) - 1970) * 12 + functions.month(stamp) - 1
        if self.unit == "length":
            seconds = functions.hour(stamp) * 3600 + functions.minute(stamp) * 60
            seconds = seconds + functions.second(stamp) + day.cast("double") * 86_400
            micros = functions.date_format(stamp, "SSSSSS").cast("double")
            number = functions.floor((seconds * SECOND + micros) / functions.lit(float(self.step)))
        elif self.unit in MONTHS:
            number = functions.floor(month / MONTHS[self.unit])
        else:
            number = day if self.unit == "day" else functions.floor((day + WEEKDAY_SHIFT) / 7)
        return number.cast("bigint")


def read_length(length: Any, name: str) -> int:
    """Return a length of time in microseconds: a timedelta, or text such as "14 days".

    Examples
    --------
    >>> read_length("36 hours", "every") == 1.5 * DAY
    True
    """
    if isinstance(length, dt.timedelta):
        return length // dt.timedelta(microseconds=1)
    if isinstance(length, np.timedelta64) and not np.isnat(length):
        try:
            return int(length.astype("timedelta64[us]").astype(np.int64))
        except TypeError:  # months and years have no fixed length
            pass
    match = (
        re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*", length)
        if isinstance(length, str)
        else None
    )
    if match and match[2] in LENGTHS:
        return round(float(match[1]) * LENGTHS[match[2]])
    allowed = "a length of time such as '14 days' or a timedelta"
    if name == "every":
        allowed = f"one of {', '.join(map(repr, UNITS))}, {allowed}, or a number"
    raise InputError(f"{name} must be {allowed}; got {length!r}.")
