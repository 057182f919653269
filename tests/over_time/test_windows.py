"""Windows against a slow loop over evaluate(), and against evaluate_by()."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from pueval import Counts, InputError, evaluate, evaluate_by, evaluate_over_time, tally
from pueval.evaluation.evaluate import evaluate_rows

GROUP_NAMES = ("roc_auc", "average_precision", "precision", "recall", "f1", "lift", "accuracy")
pytestmark = pytest.mark.filterwarnings("ignore:shares of labeled rows:pueval.AssumptionWarning")
FIELDS = ("value", "naive", "unclipped")


def make_rows(seed=0, n=6000, negatives=False):
    """Rows of a year in any order, with an empty May and few labels in July."""
    rng = np.random.default_rng(seed)
    day = np.datetime64("2025-01-01") + rng.integers(0, 365, n)
    month = day.astype("datetime64[M]").astype(int) % 12
    keep = month != 4
    positive = rng.random(n) < 0.3 + 0.01 * month
    score = rng.normal(1.8 * positive).round(2)
    chance = np.where(month == 6, 0.02, 0.4)
    y = np.where(positive & (rng.random(n) < chance), 1, 0)
    if negatives:
        y[~positive & (rng.random(n) < 0.1)] = 2
    return y[keep], score[keep], day[keep], rng.integers(1, 4, n)[keep]


def in_windows(day, first, length):
    month = day.astype("datetime64[M]").astype(int) - 55 * 12
    return (month >= first) & (month < first + length)


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
@pytest.mark.parametrize(
    ("window", "options"),
    [
        (1, {"prior": 0.2}),
        (3, {"prior": 0.2}),
        (2, {"prevalence": 0.4, "purity": 0.95}),
        (3, {"prior": 0.2, "target": "unlabeled"}),
        (2, {"label_frequency": 0.35, "group_prior": "label_frequency"}),
        (2, {"prior": 0.2, "negative_label": 2}),
    ],
)
@pytest.mark.parametrize("weights", [None, "frequency", "importance"])
def test_values_are_those_of_evaluate(window, options, weights):
    y, score, day, weight = make_rows(negatives="negative_label" in options)
    sample_weight = {None: None, "frequency": weight, "importance": weight / 2.5}[weights]
    times = evaluate_over_time(
        y, score, day, window=window, sample_weight=sample_weight, level=None, **options
    )
    assert len(times.names) == 12 - window + 1
    group_prior = options.get("group_prior")
    compared = 0
    for k in range(len(times.names)):
        rows = in_windows(day, k, window)
        if not times.evaluated[k]:
            assert times.notes[k]
            continue
        compared += 1
        assumed = {"prior": times.overall.mixture.prior}
        if group_prior == "label_frequency":
            assumed = {
                "label_frequency": times.overall.mixture.label_frequency(times.overall.counts)
            }
        ev = evaluate_rows(
            y[rows],
            score[rows],
            sample_weight=None if sample_weight is None else sample_weight[rows],
            threshold=times.overall.threshold,
            level=None,
            **assumed,
            **{
                name: options[name]
                for name in ("purity", "target", "negative_label")
                if name in options
            },
        )
        for name in GROUP_NAMES:
            for field in FIELDS:
                ours = getattr(times[name], field)[k]
                assert ours == pytest.approx(getattr(ev[name], field), rel=1e-9), (name, field)
        assert times["prior"].value[k] == pytest.approx(ev.mixture.prior)
        assert times["prevalence"].value[k] == pytest.approx(ev.prevalence)
        assert times.n_labeled[k] == pytest.approx(ev.counts.n_labeled)
    assert compared >= 8


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"prior": 0.25},
        {"prevalence": 0.36},
        {"label_frequency": 0.35, "group_prior": "label_frequency"},
        {"group_prior": "each"},
        {"prior": 0.25, "target": "unlabeled"},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_are_those_of_evaluate_by(options, weighted):
    y, score, day, weight = make_rows()
    options = options | {"n_resamples": 2, "sample_weight": weight / 2.5 if weighted else None}
    times = evaluate_over_time(y, score, day, **options)
    month = day.astype("datetime64[M]").astype(str)
    groups = evaluate_by(y, score, month, **options)
    assert times.names[4] == "2025-05"
    assert times.notes[4] == "no rows"
    assert "fewer than 20" in times.notes[6]
    places = [times.names.index(name) for name in groups.names]
    for name in GROUP_NAMES:
        for field in (*FIELDS, "low", "high", "standard_error"):
            ours, theirs = getattr(times[name], field)[places], getattr(groups[name], field)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, err_msg=f"{name} {field}")
    reference = groups.names[0]
    ours = times.changes("roc_auc", reference=reference)
    theirs = groups.differences("roc_auc", reference=reference)
    for field in ("value", "low", "high", "standard_error"):
        np.testing.assert_allclose(
            getattr(ours, field)[places][1:], getattr(theirs, field)[1:], rtol=1e-9
        )


def test_order_of_rows_and_kind_of_times_do_not_matter():
    y, score, day, _ = make_rows()
    expected = evaluate_over_time(y, score, day, prior=0.2, level=None).frame()
    order = np.random.default_rng(0).permutation(y.size)
    shuffled = evaluate_over_time(y[order], score[order], day[order], prior=0.2, level=None)
    pd.testing.assert_frame_equal(shuffled.frame(), expected)
    texts = evaluate_over_time(y, score, day.astype(str), prior=0.2, level=None)
    pd.testing.assert_frame_equal(texts.frame(), expected)


def test_length_of_windows_from_numpy():
    y, score, day, _ = make_rows()
    ours, expected = (
        evaluate_over_time(y, score, day, prior=0.2, level=None, window=window)
        for window in (np.int64(2), 2)
    )
    pd.testing.assert_frame_equal(ours.frame(), expected.frame())


def test_counts_of_periods():
    """A mapping from times to Counts gives the same as rows."""
    y, score, day, _ = make_rows()
    expected = evaluate_over_time(y, score, day, prior=0.2, n_resamples=50, window=2)
    weeks = day.astype("datetime64[W]")
    # Weeks that lie within a month; the other days one by one.
    within = weeks.astype("datetime64[D]").astype("datetime64[M]") == (
        weeks.astype("datetime64[D]") + 6
    ).astype("datetime64[M]")
    part = np.where(within, weeks.astype("datetime64[D]"), day)
    counts = {
        start: Counts.from_arrays(y[part == start], score[part == start])
        for start in np.unique(part)
    }
    ours = evaluate_over_time(counts, prior=0.2, n_resamples=50, window=2)
    pd.testing.assert_frame_equal(ours.frame(), expected.frame())
    np.testing.assert_allclose(
        ours.sequence("roc_auc").low, expected.sequence("roc_auc").low, rtol=1e-12
    )


def test_counts_of_an_engine(tmp_path):
    y, score, day, weight = make_rows()
    path = tmp_path / "rows.parquet"
    pd.DataFrame(
        {"y": y, "s": score, "t": day.astype("datetime64[s]"), "w": weight / 2}
    ).to_parquet(path)
    expected = evaluate_over_time(
        y, score, day, prior=0.2, n_resamples=50, sample_weight=weight / 2
    )
    tallies = tally(path, label="y", scores="s", by="t", every="month", sample_weight="w")
    counts = {start: by["s"] for (start,), by in tallies.items()}
    ours = evaluate_over_time(counts, prior=0.2, n_resamples=50)
    pd.testing.assert_frame_equal(ours.frame(), expected.frame())


def test_propensities_are_those_of_evaluate():
    rng = np.random.default_rng(0)
    n = 3000
    day = np.datetime64("2025-01-01") + rng.integers(0, 90, n)
    positive = rng.random(n) < 0.3
    score = rng.normal(1.5 * positive)
    propensity = np.where(day >= np.datetime64("2025-03-01"), 0.2, 0.5)
    y = positive & (rng.random(n) < propensity)
    times = evaluate_over_time(y, score, day, propensity=propensity, n_resamples=100)
    for k in range(3):
        rows = in_windows(day, k, 1)
        ev = evaluate(
            y[rows],
            score[rows],
            propensity=propensity[rows],
            threshold=times.overall.threshold,
            n_resamples=100,
        )
        for name in GROUP_NAMES:
            for field in (*FIELDS, "low", "high", "standard_error"):
                assert getattr(times[name], field)[k] == pytest.approx(getattr(ev[name], field))
        prevalence = times["prevalence"]
        assert prevalence.value[k] == pytest.approx(ev.prevalence)
        assert prevalence.low[k] < 0.3 < prevalence.high[k]
    given = evaluate_over_time(y, score, day, propensity=propensity, prior=0.2, level=None)
    np.testing.assert_allclose(given["prior"].value, 0.2)
    with pytest.raises(InputError, match="group_prior cannot be combined with propensities"):
        evaluate_over_time(y, score, day, propensity=propensity, group_prior="shared")


class TestLabelDelay:
    def test_windows_without_all_labels_are_left_out(self):
        y, score, day, _ = make_rows()
        options = {"prior": 0.2, "level": None, "window": 2}
        times = evaluate_over_time(
            y, score, day, label_delay="60 days", as_of="2025-12-31", **options
        )
        # Labels are complete up to November 1.
        assert times.names[-3:] == (
            "2025-09 to 2025-10",
            "2025-10 to 2025-11",
            "2025-11 to 2025-12",
        )
        assert times.evaluated[-3:].tolist() == [True, False, False]
        assert times.notes[-1] == "labels are not complete yet"
        complete = day < np.datetime64("2025-11-01")
        assert times.overall.counts == Counts.from_arrays(y[complete], score[complete])
        shorter = evaluate_over_time(y[complete], score[complete], day[complete], **options)
        np.testing.assert_array_equal(times["f1"].value[: len(shorter.names)], shorter["f1"].value)
        by_latest = evaluate_over_time(y, score, day, label_delay=dt.timedelta(days=60), **options)
        assert by_latest.notes == times.notes

    def test_a_window_left_out_can_be_larger_than_all_others(self):
        time = np.repeat([0, 1, 2], [300, 300, 2000])
        y, score = np.arange(time.size) % 4 == 0, np.arange(time.size) % 97 % 7
        times = evaluate_over_time(
            y, score, time, every=1, prevalence=0.4, label_delay=1, as_of=3, n_resamples=2
        )
        assert times.evaluated.tolist() == [True, True, False]

    def test_a_day_less_and_the_window_is_complete(self):
        y, score, day, _ = make_rows()
        notes = [
            evaluate_over_time(
                y, score, day, prior=0.2, level=None, label_delay=f"{days} days", as_of="2025-12-31"
            ).notes[9]
            for days in (60, 61)
        ]
        assert notes == ["", "labels are not complete yet"]

    def test_numbers(self):
        y, score, day, _ = make_rows()
        number = (day - np.datetime64("2025-01-01")).astype(int)
        times = evaluate_over_time(
            y, score, number, every=50, prior=0.2, level=None, label_delay=65, as_of=365
        )
        assert times.names == (0, 50, 100, 150, 200, 250, 300, 350)
        assert [bool(note) for note in times.notes[-3:]] == [False, True, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 13}, "window must be at most the number of periods, 12; got 13"),
        ({"window": 0}, "window must be a whole number"),
        ({"every": "microsecond"}, "every must be one of"),
        ({"every": "1 second"}, "more than 100,000"),
        ({"as_of": "2026-01-01"}, "as_of needs label_delay"),
        ({"label_delay": "900 days"}, "no period has all its labels"),
        ({"label_delay": 5}, "label_delay must be a length of time"),
        ({"watch": "auc"}, "auc"),
        ({"watch": []}, "watch is empty"),
        ({"watch": "prior"}, "prior cannot be watched: all windows share one prior"),
        ({"watch": "f1", "level": None}, "watch needs confidence intervals"),
        ({"false_alarm_rate": 5}, "false_alarm_rate must be a number in"),
        (
            {"reference": "2024-01-01"},
            "after the first period, which starts at 2025-01-01; got 2024-01-01\\.",
        ),
        ({"prior": (0.1, 0.2)}, "prior must be a number for windows; got the interval"),
        (
            {"label_delay": "10 days", "as_of": "2025-06-01"},
            r"as_of is before the latest rows, of 2025-12-\d\d; got 2025-06-01\. Leave out rows",
        ),
        (
            {"label_delay": "900 days", "as_of": "2026-01-01T12:30"},
            "first one ends at 2025-02-01, and labels are complete up to 2023-07-16T12:30:00",
        ),
        ({"reference": 0}, "reference must be a whole number"),
        ({"group_prior": {"2025-01": 0.2}}, "group_prior must be"),
        ({"prior": (0.1, 0.2)}, "prior must be a number"),
    ],
)
def test_refusals(options, message):
    y, score, day, _ = make_rows()
    with pytest.raises(InputError, match=message):
        evaluate_over_time(y, score, day, **{"prior": 0.2} | options)


def test_refusals_of_rows():
    y, score, day, _ = make_rows()
    with pytest.raises(InputError, match="time is missing"):
        evaluate_over_time(y, score)
    with pytest.raises(InputError, match="2 rows with a missing time"):
        evaluate_over_time(y, score, np.where(np.arange(day.size) < 2, np.datetime64("NaT"), day))
    with pytest.raises(InputError, match="same length"):
        evaluate_over_time(y, score, day[:-1])
    counts = Counts.from_arrays(y, score)
    with pytest.raises(InputError, match="score: a mapping from times to Counts"):
        evaluate_over_time({"2025-01-01": counts}, score)
    with pytest.raises(InputError, match="label_delay needs as_of"):
        evaluate_over_time({"2025-01-01": counts}, label_delay="1 day")
    with pytest.raises(InputError, match="must lead from times to Counts"):
        evaluate_over_time({"2025-01-01": 3})
    with pytest.raises(TypeError, match="evaluate_over_time"):
        evaluate_over_time(y, score, day, evry="month")
    with pytest.raises(TypeError, match="no argument 'cluster': changes and alarms need windows"):
        evaluate_over_time(y, score, day, cluster=day)
    clustered = Counts.from_arrays(y, score, cluster=np.arange(y.size) // 2)
    with pytest.raises(InputError, match="an evaluation over time assumes independent rows"):
        evaluate_over_time({"2025-01-01": clustered})
    times = evaluate_over_time(y, score, day, prior=0.2, n_resamples=2)
    with pytest.raises(InputError, match="'f1' is not watched"):
        times.sequence("f1")
    with pytest.raises(InputError, match="has no f1 to compare with: no rows"):
        times.changes("f1", reference="2025-05")
    with pytest.raises(InputError, match="there is no window '2024-01'"):
        times.counts("2024-01")
