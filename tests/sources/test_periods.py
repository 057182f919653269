"""Periods of time: calendar arithmetic, time zones, and the same periods in every engine."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pueval import Counts, InputError, tally
from pueval.sources.periods import Periods, read_length
from tests.sources.backends import need, need_java

BERLIN = "Europe/Berlin"


def number(time, every, **options):
    periods = Periods.of(every, **options)
    return periods.number(periods.read_times(time))


class TestCalendar:
    """Every period starts where Python's own calendar says."""

    @pytest.mark.parametrize("every", ["day", "week", "month", "quarter", "year"])
    def test_starts(self, every):
        days = np.arange("1965-12-20", "2032-03-03", dtype="datetime64[D]")
        periods = Periods.of(every)
        starts = [periods.start(k).astype(object).date() for k in number(days, every).tolist()]
        for day, start in zip(days.astype(object), starts, strict=True):
            assert (
                start
                == {
                    "day": day,
                    "week": day - dt.timedelta(days=day.weekday()),
                    "month": day.replace(day=1),
                    "quarter": day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
                    "year": day.replace(month=1, day=1),
                }[every]
            )

    @pytest.mark.parametrize("every", ["day", "week", "month", "quarter", "year", "36 hours", 0.5])
    def test_periods_touch(self, every):
        periods = Periods.of(every)
        for k in range(-40, 700, 13):
            end = periods.start(k + 1)
            inside = end - (1e-6 if every == 0.5 else np.timedelta64(1, "us"))
            times = np.array([periods.start(k), inside, end])
            assert periods.number(periods.read_times(times)).tolist() == [k, k, k + 1]

    def test_names(self):
        def name(every, time):
            return Periods.of(every).name(int(number([time], every)[0]))

        assert name("day", "2026-03-17T23:59") == "2026-03-17"
        assert name("week", "2026-03-22") == "2026-03-16"
        assert name("month", "2026-03-17") == "2026-03"
        assert name("quarter", "2026-12-31") == "2026-Q4"
        assert name("year", "1969-12-31") == "1969"
        assert name("12 hours", "2026-03-17T13:00") == "2026-03-17T12:00:00"
        assert Periods.of(10).name(2) == 20
        assert Periods.of(0.5).name(3) == 1.5


class TestReading:
    """All kinds of columns mean the same times."""

    def test_kinds_of_columns(self):
        stamps = pd.Series(pd.date_range("2026-01-30 22:30", periods=6, freq="11h"))
        expected = number(stamps.to_numpy(), "day")
        assert expected.tolist()[0] == (dt.date(2026, 1, 30) - dt.date(1970, 1, 1)).days
        for column in (
            stamps,
            pd.DatetimeIndex(stamps),
            pl.Series(stamps.to_list()),
            stamps.to_list(),
            [str(stamp) for stamp in stamps],
            np.array([stamp.isoformat() for stamp in stamps]),
        ):
            np.testing.assert_array_equal(number(column, "day"), expected)
        dates = [stamp.date() for stamp in stamps]
        np.testing.assert_array_equal(number(dates, "day"), expected)

    def test_time_zones(self):
        """Times with a zone are converted; in summer, Berlin is two hours ahead of UTC."""
        utc = pd.Series(pd.date_range("2026-03-28 21:30", periods=60, freq="30min", tz="UTC"))
        expected = number(utc.dt.tz_convert(BERLIN).dt.tz_localize(None), "day")
        assert expected[-1] > expected[0]
        for column in (
            utc,
            utc.dt.tz_convert("America/New_York"),
            pl.Series(utc.to_list()),
            utc.to_list(),
            [stamp.isoformat() for stamp in utc.dt.tz_convert("Asia/Kolkata")],
        ):
            np.testing.assert_array_equal(number(column, "day", timezone=BERLIN), expected)
        assert (number(utc, "day") != expected).any()

    @pytest.mark.parametrize(
        ("time", "every", "message"),
        [
            ([dt.date(2026, 1, 1), None], "month", "1 row with a missing time"),
            (np.array(["2026-01-01", "NaT"], "datetime64[D]"), "month", "1 row with a missing"),
            ([1.0, np.nan, np.inf], 10, "2 rows with a missing time"),
            (["2026-01-01", "soon"], "month", "got 'soon'"),
            ([1, 2], "month", "every must be a number too"),
            (["2026-01-01"], 5, "needs times that are numbers"),
            ([1, 2], "fortnight", "every must be one of"),
            ([1, 2], -1, "above 0"),
            (["2026-01-01"], "0 days", "above 0"),
        ],
    )
    def test_refusals(self, time, every, message):
        with pytest.raises(InputError, match=message):
            number(time, every)

    def test_lengths(self):
        assert read_length(dt.timedelta(days=2), "every") == read_length("48 hours", "every")
        assert read_length(np.timedelta64(2, "D"), "every") == read_length("2 days", "every")
        with pytest.raises(InputError, match="label_delay must be a length of time"):
            read_length("a while", "label_delay")
        with pytest.raises(InputError, match="name of a time zone"):
            Periods.of("day", "Mars")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    stamp = pd.Timestamp("2025-11-20 03:00") + pd.to_timedelta(
        rng.integers(0, 200 * 86_400, 400), unit="s"
    )
    local = pd.Series(stamp).dt.tz_localize(BERLIN, ambiguous=True, nonexistent="shift_forward")
    return pd.DataFrame(
        {
            "y": rng.integers(0, 2, 400),
            "s": rng.random(400).round(2),
            "stamp": stamp,
            "instant": pd.Series(stamp).dt.tz_localize("UTC"),
            "iso": local.map(lambda moment: moment.isoformat()),
            "x": rng.normal(0, 100, 400),
        }
    )


@pytest.fixture(params=["duckdb", "spark"])
def engine(request):
    if request.param == "spark":
        need("pyspark")
        need_java()
    return request.param


class TestEngines:
    """Engines count the same rows in each period as this process."""

    @pytest.mark.parametrize("file", ["rows.csv", "rows.parquet"])
    @pytest.mark.parametrize(
        ("column", "every", "timezone"),
        [
            ("stamp", "month", "UTC"),
            ("instant", "day", BERLIN),
            ("iso", "week", "America/New_York"),
            ("iso", "36 hours", BERLIN),
            ("stamp", "quarter", BERLIN),
            ("x", 25, "UTC"),
        ],
    )
    def test_same_counts(self, rows, tmp_path, engine, file, column, every, timezone):
        path = tmp_path / file
        rows.to_csv(path, index=False) if file.endswith("csv") else rows.to_parquet(path)
        periods = Periods.of(every, timezone)
        numbers = periods.number(periods.read_times(rows[column]))
        counts = tally(
            path, label="y", scores="s", by=column, every=every, timezone=timezone, engine=engine
        )
        starts = {k: periods.start(k) for k in sorted(set(numbers.tolist()))}
        assert [key for (key,) in counts] == [
            start if periods.is_numeric else start.item() for start in starts.values()
        ]
        for k, part in zip(starts, counts.values(), strict=True):
            inside = rows[numbers == k]
            assert part["s"] == Counts.from_arrays(inside["y"], inside["s"])

    def test_unreadable_times(self, tmp_path, engine):
        path = tmp_path / "rows.csv"
        path.write_text("y,s,t\n1,1,2026-01-01\n0,2,soon\n0,3,\n")
        with pytest.raises(InputError, match="2 rows with a missing time, or one that cannot"):
            tally(path, label="y", scores="s", by="t", every="month", engine=engine)

    def test_refusals(self, rows, tmp_path):
        path = tmp_path / "rows.parquet"
        rows.to_parquet(path)
        with pytest.raises(InputError, match="must hold dates or times; got type DOUBLE"):
            tally(path, label="y", scores="s", by="x", every="month")
        with pytest.raises(InputError, match="engine polars cannot divide rows by time"):
            tally(path, label="y", scores="s", by="stamp", every="month", engine="polars")
        with pytest.raises(InputError, match="a time and a label"):
            tally(path, label="y", scores="s", by="s", every=1)
        with pytest.raises(InputError, match="one column of times"):
            tally(path, label="y", scores="s", every="month")
        with pytest.raises(InputError, match="timezone needs every"):
            tally(path, label="y", scores="s", by="stamp", timezone=BERLIN)
        with pytest.raises(InputError, match="every applies to files"):
            tally(rows, label="y", scores="s", by="stamp", every="month")
