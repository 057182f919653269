"""Changes between windows that overlap, false alarms, and how soon a change is seen."""

import numpy as np
import pytest

from pueval import evaluate_over_time

MEASURES = ("roc_auc", "average_precision", "precision", "f1", "prevalence")


def stream(seed, n_periods, rows, separation=1.5, prevalence=0.3, label_frequency=0.4):
    rng = np.random.default_rng(seed)
    time = np.repeat(np.arange(n_periods), rows)
    positive = rng.random(time.size) < np.broadcast_to(prevalence, n_periods)[time]
    shift = np.broadcast_to(separation, n_periods)[time]
    labeled = positive & (rng.random(time.size) < label_frequency)
    return labeled, rng.normal(shift * positive), time


@pytest.fixture(scope="module", params=["shared", "label_frequency"])
def times(request):
    # 1,500 periods: standard deviations of changes have an error of about 2%.
    assumed = {"prior": 0.3 * 0.6 / 0.88}
    if request.param == "label_frequency":
        assumed = {"label_frequency": 0.4, "group_prior": "label_frequency"}
    rows = stream(0, 1500, 400)
    return evaluate_over_time(*rows, every=1, window=4, threshold=1.0, n_resamples=2, **assumed)


class TestOverlap:
    """Standard errors of changes are the standard deviations of changes in a long stream."""

    @pytest.mark.parametrize("measure", MEASURES)
    @pytest.mark.parametrize("lag", [1, 3, 4])
    def test_standard_errors(self, times, measure, lag):
        value = times[measure].unclipped
        spread = np.std(value[lag:] - value[:-lag])
        if lag == 1:
            expected = np.nanmean(times.changes(measure).standard_error)
        else:
            expected = np.mean(
                [
                    times.changes(measure, reference=times.names[k]).standard_error[k + lag]
                    for k in range(0, 1400, 100)
                ]
            )
        # Standard errors of windows may be a little too large, as in evaluate_by.
        calibration = np.mean(times[measure].standard_error) / np.std(value)
        assert 0.93 < expected / spread / calibration < 1.07
        assert expected / spread > 0.93

    @pytest.mark.parametrize("measure", MEASURES)
    def test_windows_as_if_they_had_no_common_rows(self, times, measure):
        """Without the overlap, the intervals of changes would be twice as wide."""
        errors = times[measure].standard_error
        ignored = np.mean(np.hypot(errors[1:], errors[:-1]))
        assert 1.9 < ignored / np.nanmean(times.changes(measure).standard_error) < 2.1

    def test_changes_contain_no_change(self, times):
        changes = times.changes("roc_auc")
        covered = (changes.low[1:] < 0) & (changes.high[1:] > 0)
        assert 0.93 < covered.mean() < 0.995

    @pytest.mark.parametrize("window", [1, 3])
    def test_a_prior_that_follows_from_all_rows_is_the_same_in_both_windows(self, window):
        """Changes are as certain as with this prior known; a single window is more certain."""
        rows, options = stream(7, 6, 400), {"every": 1, "window": window, "threshold": 1.0}
        options |= {"watch": ["prevalence", "accuracy"], "n_resamples": 2}
        follows = evaluate_over_time(*rows, prevalence=0.3, **options)
        known = evaluate_over_time(*rows, prior=follows.overall.mixture.prior, **options)
        for measure in options["watch"]:
            errors = [times.changes(measure).standard_error[1:] for times in (follows, known)]
            np.testing.assert_allclose(*errors, rtol=0.01)
            highs = [times.sequence(measure).high for times in (follows, known)]
            np.testing.assert_allclose(*highs, rtol=0.01)
        part = np.sqrt(1 - window / 6)
        errors = [times["prevalence"].standard_error for times in (follows, known)]
        np.testing.assert_allclose(errors[0], part * errors[1])

    def test_changes_of_weighted_rows(self):
        """With equal weights, importance weights change nothing."""
        rows = stream(1, 12, 400)
        options = {"every": 1, "window": 3, "threshold": 1.0, "prior": 0.2, "n_resamples": 2}
        plain = evaluate_over_time(*rows, **options).changes("f1")
        weight = np.full(rows[0].size, 0.37)
        weighted = evaluate_over_time(*rows, **options, sample_weight=weight).changes("f1")
        np.testing.assert_allclose(weighted.standard_error, plain.standard_error, rtol=1e-9)


class TestAlarms:
    def test_false_alarms(self):
        """Five measures at 25% together are 5% each; 95% intervals raise alarms in most streams."""
        alarms, repeated = np.zeros(len(MEASURES)), 0
        for seed in range(40):
            times = evaluate_over_time(
                *stream(seed, 65, 300),
                every=1,
                prior=0.3 * 0.6 / 0.88,
                threshold=1.0,
                reference=5,
                watch=MEASURES,
                false_alarm_rate=0.25,
                n_resamples=2,
            )
            alarms += [times.sequence(name).alarm.any() for name in MEASURES]
            changes = times.changes("roc_auc", reference=5)
            repeated += np.any((changes.low > 0) | (changes.high < 0))
        # 200 sequences with a chance of at most 5% each.
        assert alarms.sum() <= 10
        assert repeated > 20

    def test_a_change_is_seen_and_dated(self):
        separation = np.where(np.arange(40) < 25, 1.5, 0.8)
        times = evaluate_over_time(
            *stream(3, 40, 1000, separation), every=1, prior=0.2, reference=5, n_resamples=2
        )
        [alarm] = times.alarms
        assert alarm.measure == "roc_auc"
        assert 25 <= alarm.window <= 28
        assert abs(alarm.since - 25) <= 1
        assert alarm.low <= alarm.value <= alarm.high < 0
        # An alarm once raised stays, and past looks do not change with later rows.
        earlier = evaluate_over_time(
            *(column[: 30 * 1000] for column in stream(3, 40, 1000, separation)),
            every=1,
            prior=0.2,
            reference=5,
            n_resamples=2,
        )
        changes, before = times.sequence("roc_auc"), earlier.sequence("roc_auc")
        np.testing.assert_allclose(changes.low[: before.low.size], before.low, rtol=1e-12)

    def test_prevalence_and_prior_are_watched(self):
        prevalence = np.where(np.arange(30) < 20, 0.3, 0.4)
        times = evaluate_over_time(
            *stream(4, 30, 1000, prevalence=prevalence),
            every=1,
            label_frequency=0.4,
            group_prior="label_frequency",
            reference=5,
            watch=["roc_auc", "prior", "prevalence"],
            n_resamples=2,
        )
        assert {alarm.measure for alarm in times.alarms} == {"prior", "prevalence"}
        assert times.sequence("prior").false_alarm_rate == pytest.approx(0.05 / 3)
        assert times["prevalence"].value[:20].mean() == pytest.approx(0.3, abs=0.01)
        assert times["prevalence"].value[20:].mean() == pytest.approx(0.4, abs=0.015)

    def test_looks_pool_small_periods(self):
        """With windows of three periods, each period still belongs to one look only."""
        times = evaluate_over_time(
            *stream(5, 30, 100), every=1, window=3, prior=0.2, min_labeled=25, n_resamples=2
        )
        looks = times.sequence("roc_auc").windows
        labeled = [times._periods.counts[k].n_labeled for k in range(30)]
        expected, total = [], 0
        for k, size in enumerate(labeled):
            total += size
            if total >= 25:
                expected.append(k)
                total = 0
        assert looks == tuple(expected[1:])

    def test_the_reference(self):
        rows = stream(6, 12, 300)
        options = {"every": 1, "prior": 0.2, "n_resamples": 2}
        by_number = evaluate_over_time(*rows, reference=4, **options).sequence("roc_auc")
        by_time = evaluate_over_time(*rows, reference=4.0, **options).sequence("roc_auc")
        assert by_number.reference == by_time.reference == "0 to 3"
        assert by_number.windows == by_time.windows == tuple(range(4, 12))
        numpy_integer = evaluate_over_time(*rows, reference=np.int64(4), **options)
        assert numpy_integer.sequence("roc_auc").reference == "0 to 3"
        whole = evaluate_over_time(*rows, reference=12, **options)
        assert whole.sequence("roc_auc").windows == ()
        assert "No look at ROC AUC yet: the reference includes all periods." in repr(whole)
