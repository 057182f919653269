"""Delays of labels, against a plain product-limit loop and against simulated truth."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from pueval import AssumptionWarning, InputError, evaluate
from pueval.labeling import from_delay
from pueval.labeling._hidden_interval import hidden_interval
from pueval.labeling._truncated_delays import (
    RiskSets,
    delay_trend_pvalue,
    distribution_interval,
    positives_variance,
)


def slow_distribution(delay, age):
    """The product-limit estimate, one delay after the other."""
    distinct = sorted(set(delay))
    values, log_variance = [], []
    for x in distinct:
        value, variance = 1.0, 0.0
        for t in distinct:
            if t > x:
                n = sum(d == t for d in delay)
                risk = sum(d <= t <= a for d, a in zip(delay, age, strict=True))
                value *= 1 - n / risk
                variance += n / (risk * (risk - n))
        values.append(value)
        log_variance.append(variance)
    return np.array(values), np.array(log_variance)


def simulate(rng, n, *, window=200, days=False, drift=0.0):
    """Events in a window, all of them positive; delays are gamma distributed."""
    age = rng.integers(1, window + 1, n) if days else window * rng.random(n)
    delay = rng.gamma(2, 30, n) * np.exp(drift * (age / window - 0.5))
    delay = np.ceil(delay) if days else delay
    event = window - age
    label = np.where(delay <= age, event + delay, np.nan)
    return event.astype(float), label, delay


@pytest.mark.parametrize("days", [True, False])
def test_distribution_is_that_of_a_plain_loop(rng, days):
    event, label, _ = simulate(rng, 150, days=days)
    seen = ~np.isnan(label)
    sets = RiskSets.of((label - event)[seen], (200 - event)[seen]).connected(None)
    used = seen & (label - event <= sets.delay[-1])
    value, variance = slow_distribution((label - event)[used], (200 - event)[used])
    np.testing.assert_allclose(sets.distribution(), value, rtol=1e-12)
    np.testing.assert_allclose(sets.log_variance(), variance, rtol=1e-12, atol=1e-15)


def test_without_truncation_it_is_the_empirical_distribution(rng):
    delay = rng.integers(1, 30, 300).astype(float)
    estimate = from_delay(np.zeros(300), delay, as_of=1000)
    assert estimate.reported == pytest.approx(estimate.naive)
    assert estimate.hidden == 0
    assert estimate.unreported == 0
    # The interval is Clopper and Pearson's.
    k = int(np.sum(delay <= 10))
    exact = scipy.stats.binomtest(k, 300).proportion_ci(method="exact")
    assert estimate.reported_within(10) == pytest.approx((k / 300, exact.low, exact.high))


def test_variance_of_the_number_of_positives_is_that_of_small_changes(rng):
    """By differences: each hazard is changed, and the number of positives computed again."""
    event, label, _ = simulate(rng, 200)
    seen = ~np.isnan(label)
    age, delay = (200 - event)[seen], (label - event)[seen]
    sets = RiskSets.of(delay, age).connected(None)
    used = (age >= sets.youngest_age()) & (delay <= sets.delay[-1])
    age = age[used]

    def shares(change):
        logs = np.log(1 - sets.n_labels[1:] / sets.at_risk[1:]) + change[1:]
        values = np.exp(np.r_[np.cumsum(logs[::-1])[::-1], 0.0])
        return values[np.searchsorted(sets.delay, age, side="right") - 1]

    plain = shares(np.zeros(sets.delay.size))
    expected = np.sum((1 - plain) / plain**2)
    for k in range(1, sets.delay.size):
        change = np.zeros(sets.delay.size)
        change[k] = 1e-6
        slope = (np.sum(1 / shares(change)) - np.sum(1 / plain)) / 1e-6
        n, risk = sets.n_labels[k], sets.at_risk[k]
        expected += slope**2 * n / (risk * (risk - n))
    assert positives_variance(sets, plain, age) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("days", [True, False])
def test_intervals_hold_the_truth(days):
    inside, hidden, bias, trends = [], [], [], []
    truth = scipy.stats.gamma(2, scale=30)
    for seed in range(250):
        event, label, delay = simulate(np.random.default_rng(seed), 400, days=days)
        seen = ~np.isnan(label)
        sets = RiskSets.of((label - event)[seen], (200 - event)[seen]).connected(None)
        value = sets.distribution()
        low, high = distribution_interval(value, sets.log_variance(), 0.95)
        for x in (20, 60, 100):
            k = np.searchsorted(sets.delay, x, side="right") - 1
            inside.append(low[k] <= truth.cdf(x) / truth.cdf(sets.delay[-1]) <= high[k])
        usable = 200 - event >= sets.youngest_age()
        used = seen & usable & (delay <= sets.delay[-1])
        age = (200 - event)[used]
        share = value[np.searchsorted(sets.delay, age, side="right") - 1]
        missing = np.sum(usable & (delay <= sets.delay[-1])) - used.sum()
        estimated = np.sum(1 / share) - used.sum()
        ends = hidden_interval(estimated, positives_variance(sets, share, age), 0.95)
        hidden.append(ends[0] <= missing <= ends[1])
        bias.append(estimated - missing)
        trends.append(delay_trend_pvalue(sets, (label - event)[used], age))
    assert 0.935 < np.mean(inside) < 0.98
    assert 0.925 < np.mean(hidden) < 0.985
    assert abs(np.mean(bias)) < 12  # of about 120
    assert 0.02 < np.mean(np.array(trends) < 0.05) < 0.09


def test_propensities_correct_an_evaluation(rng):
    n = 20_000
    event, label, _ = simulate(rng, n)
    fraud = rng.random(n) < 0.2
    # Recent frauds score higher, so that late labels bias the naive AUC.
    score = rng.normal(size=n) + fraud * (1 + event / 100)
    estimate = from_delay(event, np.where(fraud, label, np.nan), as_of=200)
    rows = estimate.usable
    ev = evaluate(estimate.y[rows], score[rows], propensity=estimate.propensity[rows])
    late = fraud & rows
    truth = scipy.stats.mannwhitneyu(score[late], score[rows & ~fraud]).statistic
    truth /= late.sum() * np.sum(rows & ~fraud)
    assert ev["roc_auc"].low < truth < ev["roc_auc"].high
    assert ev.prevalence == pytest.approx(late.sum() / rows.sum(), rel=0.08)
    plain = evaluate(estimate.y[rows], score[rows], prevalence=late.sum() / rows.sum())
    assert plain["roc_auc"].high < truth


def test_dates_of_all_kinds_give_the_same():
    rng = np.random.default_rng(1)
    event, label, _ = simulate(rng, 200, days=True)
    numbers = from_delay(event, label, as_of=200)
    start = datetime(2026, 1, 1)  # noqa: DTZ001
    events = [start + timedelta(days=float(t)) for t in event]
    labels = [None if np.isnan(t) else start + timedelta(days=float(t)) for t in label]
    now = start + timedelta(days=200)
    zoned = pd.Series(events).dt.tz_localize("Europe/Berlin")
    kinds = {
        "objects": (events, labels, now),
        "pandas": (pd.Series(events), pd.Series(labels), pd.Timestamp(now)),
        "numpy": (np.array(events, "M8[ns]"), np.array(labels, "M8[ns]"), np.datetime64(now)),
        "text": ([t.isoformat() for t in events], [t and t.isoformat() for t in labels], str(now)),
        "text in a time zone": (
            [f"{t.isoformat()}+02:00" for t in events],
            [t and f"{(t - timedelta(hours=2)).isoformat()}Z" for t in labels],
            f"{now.isoformat()}+0200",
        ),
        "UTC": (
            [t.replace(tzinfo=UTC) for t in events],
            [t and t.replace(tzinfo=UTC) for t in labels],
            now.replace(tzinfo=UTC),
        ),
    }
    for kind, (given_events, given_labels, as_of) in kinds.items():
        dated = from_delay(given_events, given_labels, as_of)
        assert dated.unit == "days", kind
        np.testing.assert_allclose(dated.delay, numbers.delay, err_msg=kind)
        np.testing.assert_array_equal(dated.propensity, numbers.propensity, err_msg=kind)
    # Across a change to summer time, delays are elapsed time.
    later = zoned + pd.Timedelta(days=1.5)
    elapsed = from_delay(zoned, later, pd.Timestamp("2027-01-01", tz="UTC"))
    assert elapsed.delay == pytest.approx([1.5])


def test_hours_as_parts_of_days_are_equal_delays(rng):
    """Hours as parts of days have rounding errors, and equal delays and ages would differ."""
    event, label, _ = simulate(rng, 1500, days=True)
    whole = from_delay(event, label, as_of=200)
    start, hour = np.datetime64("2025-03-07T01:00"), np.timedelta64(1, "h")
    dates = [start + (time * 3600).astype("timedelta64[s]") for time in (event, label)]
    for parts in (
        from_delay(event / 24, label / 24, as_of=200 / 24),
        from_delay(*dates, as_of=start + 200 * hour),
    ):
        np.testing.assert_array_equal(parts.n_labels, whole.n_labels)
        np.testing.assert_array_equal(parts.at_risk, whole.at_risk)
        assert parts.hidden == pytest.approx(whole.hidden)


def test_times_with_and_without_a_time_zone_are_not_compared():
    """Delays would be wrong by hours, without a word."""
    pl = pytest.importorskip("polars")
    event, label, _ = simulate(np.random.default_rng(1), 200, days=True)
    event = pd.Series(pd.Timestamp("2026-01-01") + pd.to_timedelta(event, unit="D"))
    label = pd.Series(pd.Timestamp("2026-01-01") + pd.to_timedelta(label, unit="D"))
    now = pd.Timestamp("2026-07-20")
    zoned = event.dt.tz_localize("Asia/Tokyo")
    texts = [f"{time.isoformat()}+09:00" for time in event]
    for times in (zoned, zoned.tolist(), texts, pl.Series(event).dt.replace_time_zone("UTC")):
        with pytest.raises(InputError, match="got dates with a time zone, dates and dates"):
            from_delay(times, label, now)
    with pytest.raises(InputError, match="got dates, dates and dates with a time zone"):
        from_delay(event, label, "2026-07-20T00:00:00Z")
    mixed = [*texts[:100], *event[100:].astype(str)]
    with pytest.raises(InputError, match="event_time mixes dates with and without a time zone"):
        from_delay(mixed, label, now)
    with pytest.raises(InputError, match="no ISO date"):
        from_delay(["yesterday 10:00+09:00", *texts[1:]], label, now)
    # Empty text is missing, as for dates without a time zone.
    labels = ["" if pd.isna(time) else f"{time.isoformat()}+09:00" for time in label]
    as_of = now.tz_localize("Asia/Tokyo")
    numbers = from_delay(event, label, now)
    assert from_delay(texts, labels, as_of).delay.tolist() == numbers.delay.tolist()


def test_the_horizon_of_dates_can_be_a_length_of_time(rng):
    event, label, _ = simulate(rng, 600, days=True)
    whole = from_delay(event, label, as_of=200, horizon=60)
    start = pd.Timestamp("2026-01-01")
    dates = [start + pd.to_timedelta(times, unit="D") for times in (event, label)]
    now = start + pd.Timedelta(days=200)
    for horizon in ("60 days", timedelta(days=60), pd.Timedelta("60D"), np.timedelta64(60, "D")):
        assert from_delay(*dates, now, horizon=horizon).horizon == whole.horizon
    with pytest.raises(InputError, match="horizon must be a length of time such as '14 days'"):
        from_delay(*dates, now, horizon="two months")
    with pytest.raises(InputError, match="horizon must be"):
        from_delay(event, label, as_of=200, horizon="60 days")


def test_arguments_are_those_of_usable_rows(rng):
    event, label, _ = simulate(rng, 3000)
    fraud = rng.random(3000) < 0.3
    score, cluster = rng.normal(size=3000) + 2 * fraud, rng.integers(0, 200, 3000)
    estimate = from_delay(event, np.where(fraud, label, np.nan), as_of=200)
    rows = estimate.usable
    assert 0 < rows.sum() < 3000
    given = estimate.arguments(score, cluster=cluster)
    expected = {"y": estimate.y, "score": score, "cluster": cluster}
    for name, column in (expected | {"propensity": estimate.propensity}).items():
        np.testing.assert_array_equal(given[name], column[rows])
    assert evaluate(**given).counts.n == rows.sum()
    with pytest.raises(InputError, match="event_time and score must have the same length"):
        estimate.arguments(score[1:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": (3, -1.0)}, r"label_time is before event_time in 1 of 100 rows, first in row 3"),
        (
            {"label": (5, 300.0)},
            r"label_time is after as_of in 1 of 100 rows, first in row 5. S",
        ),
        ({"event": (7, 201.0)}, r"event_time is after as_of in 1 of 100 rows, first in row 7"),
        ({"event": (7, np.nan)}, r"event_time is missing in 1 of 100 rows"),
        ({"event": (7, np.inf)}, r"event_time must be finite; got 1 infinite"),
        ({"as_of": "2026-01-01"}, r"dates without; got numbers, numbers and dates\."),
        ({"as_of": np.nan}, r"as_of is missing"),
        ({"as_of": "soon"}, r"as_of must hold numbers or dates; got text that is no ISO date"),
        ({"horizon": 999.0}, r"horizon must be between the shortest and the longest delay"),
        ({"no labels": ()}, r"label_time has no labels"),
        ({"short": ()}, r"event_time and label_time must have the same length; got 100 and 99"),
        ({"few": ()}, r"from 20 labels or more; there are 1\d"),
    ],
)
def test_impossible_times_are_refused(change, message):
    event = np.linspace(0, 150, 100)
    label = event + np.arange(100) % 40
    arguments = {"as_of": 200.0}
    for name, value in change.items():
        if name == "event":
            event[value[0]] = value[1]
        elif name == "label":
            label[value[0]] = value[1]
        elif name == "no labels":
            label[:] = np.nan
        elif name == "short":
            label = label[1:]
        elif name == "few":
            label[19:] = np.nan
        else:
            arguments[name] = value
    with pytest.raises(InputError, match=message):
        from_delay(event, label, **arguments)


def test_delays_that_nothing_connects_are_left_out():
    """Old rows have delays of 90 to 99 only, and no row between: their share is unknown."""
    event = np.r_[np.linspace(100, 150, 60), np.zeros(15)]
    delay = np.r_[np.arange(60) % 20 + 1.0, 90 + np.arange(15) % 10]
    estimate = from_delay(event, event + delay, as_of=170)
    assert estimate.horizon == 20
    assert estimate.n_late == 15
    assert not estimate.y[60:].any()
    assert np.all(estimate.propensity[60:] == 1)
    assert "15 labels came later than that" in repr(estimate)


def test_changing_delays_are_noticed():
    event, label, _ = simulate(np.random.default_rng(3), 2000, drift=1.5)
    with pytest.warns(AssumptionWarning, match="delays seem to depend on the time"):
        estimate = from_delay(event, label, as_of=200)
    assert estimate.trend_pvalue < 0.01
    assert "! delays seem to depend on the time of the event (p < 0.001)" in repr(estimate)


def test_horizon_and_text(rng):
    event, label, _ = simulate(rng, 1000)
    estimate = from_delay(event, label, as_of=200, horizon=60)
    assert estimate.horizon <= 60
    assert estimate.n_late == np.sum(label - event > estimate.horizon)
    text = repr(estimate)
    assert "nothing is known about later labels" in text
    assert "too recent to say anything" in text
    assert estimate.reported_within(0) == (0.0, 0.0, 0.0)
    assert estimate.reported_within(1e3) == (1.0, 1.0, 1.0)
    whole = from_delay(event, label, as_of=200)
    ratio = whole.reported_within(30)[0] / whole.reported_within(estimate.horizon)[0]
    assert estimate.reported_within(30)[0] == pytest.approx(ratio)
    shown = estimate.plot()
    assert list(shown.frame().columns[:2]) == ["delay", "reported"]
    assert shown.line_.get_ydata()[-1] == 1
