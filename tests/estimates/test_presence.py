"""Presence-only measures of an evaluation: values of the metrics, intervals, ratio and display."""

import json

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pueval import AssumptionWarning, InputError, evaluate, metrics
from pueval.displays import BoyceDisplay
from tests.audit_estimates.audits import label_rows, make_rows, uniform_audit
from tests.coverage.presence import PresenceSetting, measure_presence

NAMES = [
    "boyce_index",
    "smoothed_boyce_index",
    "minimal_predicted_area",
    "auc_ratio",
    "f_pb",
    "tss",
]


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    score = 1 / (1 + np.exp(-np.r_[rng.normal(1, 1, 150), rng.normal(0, 1, 2000)]))
    return np.repeat([1, 0], [150, 2000]), score


@pytest.fixture(scope="module")
def ev(rows):
    return evaluate(*rows, prior=0.1, target="unlabeled", threshold=0.6, n_resamples=300)


@pytest.fixture(scope="module")
def presence(ev):
    return ev.presence()


class TestValues:
    @pytest.mark.parametrize("target", ["population", "unlabeled"])
    def test_are_those_of_the_metrics(self, rows, target):
        ev = evaluate(*rows, prior=0.1, target=target, threshold=0.6, level=None)
        presence = ev.presence(share=0.8, omission=0.2)
        y, score = rows
        area, threshold = metrics.minimal_predicted_area(y, score, share=0.8, target=target)
        expected = {
            "boyce_index": metrics.boyce_index(y, score, target=target),
            "smoothed_boyce_index": metrics.smoothed_boyce_index(y, score, target=target),
            "minimal_predicted_area": area,
            "auc_ratio": metrics.auc_ratio(y, score, omission=0.2, target=target),
            "f_pb": metrics.f_pb(y, score >= 0.6, target=target),
            "tss": metrics.informedness_score(y, score >= 0.6, prior=0.1),
        }
        assert presence.area_threshold == threshold
        assert list(presence) == NAMES == list(expected)
        for name, value in expected.items():
            assert presence[name].value == pytest.approx(value, abs=1e-12), name
            assert np.isnan(presence[name].low)
        # Without noise in the labels, only TSS depends on the correction.
        differ = {name for name in NAMES if presence[name].naive != presence[name].value}
        assert differ == {"tss"}

    def test_need_no_prior(self, rows):
        low, high = (
            evaluate(*rows, prior=prior, target="unlabeled", threshold=0.6, level=None).presence()
            for prior in (0.02, 0.2)
        )
        differ = {name for name in NAMES if abs(low[name].value - high[name].value) > 1e-12}
        assert differ == {"tss"}

    def test_no_presences_in_the_background(self, rows):
        """F_pb is defined without positives in the target; TSS is not."""
        how = {"prior": 0.0, "target": "unlabeled", "threshold": 0.6, "n_resamples": 100}
        presence = evaluate(*rows, **how).presence()
        f_pb = metrics.f_pb(rows[0], rows[1] >= 0.6, target="unlabeled")
        assert presence["f_pb"].value == pytest.approx(f_pb, abs=1e-12)
        assert presence["f_pb"].low < f_pb < presence["f_pb"].high
        assert np.isnan(presence["tss"].value)

    def test_undefined_index_has_no_interval(self):
        ev = evaluate([1, 1, 0, 0], [3, 2, 3, 2], prior=0.0, n_resamples=50)
        index = ev.presence()["boyce_index"]
        assert np.isnan([index.value, index.low, index.high]).all()

    def test_noisy_labels(self):
        """With false presences, corrected values are close to those of clean labels."""
        rng = np.random.default_rng(3)
        n, purity = 8000, 0.7
        score = 1 / (1 + np.exp(-np.r_[rng.normal(1, 1, n), rng.normal(0, 1, 40_000)]))
        noisy = score.copy()
        noisy[: round((1 - purity) * n)] = 1 / (
            1 + np.exp(-rng.normal(0, 1, round((1 - purity) * n)))
        )
        y = np.repeat([1, 0], [n, 40_000])
        how = {"target": "unlabeled", "prior": 0.0, "threshold": 0.6, "level": None}
        clean = evaluate(y, score, **how).presence()
        corrected = evaluate(y, noisy, purity=purity, **how).presence()
        assert corrected["boyce_index"].value > 0.98
        for name in ("minimal_predicted_area", "auc_ratio"):
            error = abs(corrected[name].value - clean[name].value)
            assert error < 0.03 < abs(corrected[name].naive - clean[name].value), name


class TestIntervals:
    def test_hold_the_values(self, presence):
        for name, estimate in presence.items():
            assert estimate.low <= estimate.value <= estimate.high, name
            assert estimate.low < estimate.high, name
        assert presence["boyce_index"].high == 1

    def test_ratio(self, rows, presence):
        y, score = rows
        curve = presence.curve
        k = 60
        width = np.ptp(score[y == 0]) / 10
        inside = np.abs(score - curve.score[k]) <= width / 2
        ratio = np.mean(inside[y == 1]) / np.mean(inside[y == 0])
        assert curve.ratio[k] == pytest.approx(ratio, abs=1e-9)
        assert np.all(curve.low <= curve.ratio)
        assert np.all(curve.ratio <= curve.high)
        # Without a presence in a window, its upper end is that of Wilson's interval.
        empty = curve.ratio == 0
        assert empty.any()
        assert np.all(curve.high[empty] > 0.1)
        rise = np.corrcoef(np.log(curve.smoothed), curve.score)[0, 1]
        assert rise > 0.95

    def test_more_rows_have_narrower_intervals(self, rows):
        y, score = (np.tile(column, 4) for column in rows)
        few, many = (
            evaluate(*each, prior=0.1, target="unlabeled", threshold=0.6, n_resamples=300).presence(
                omission=0.5
            )
            for each in (rows, (y, score + 1e-6 * np.arange(y.size) / y.size))
        )
        for name in ("minimal_predicted_area", "auc_ratio", "f_pb", "tss"):
            widths = [presence[name].high - presence[name].low for presence in (few, many)]
            assert widths[1] / widths[0] == pytest.approx(0.5, abs=0.12), name

    @pytest.mark.parametrize(
        "how",
        [
            {"prior": (0.05, 0.15)},
            {"prior": 0.1, "purity": (0.8, 0.95)},
            {"prevalence": 0.15, "target": "population"},
            {"prior": 0.1, "propensity": True},
        ],
    )
    def test_however_the_prior_is_known(self, rows, how):
        y, score = rows
        how = {"target": "unlabeled", "n_resamples": 100, "threshold": 0.6} | how
        if how.pop("propensity", False):
            how |= {"propensity": np.where(y == 1, 0.2 + 0.5 * score, np.nan)}
            how |= {"target": "population"}
            del how["prior"]
        presence = evaluate(y, score, **how).presence()
        for name, estimate in presence.items():
            assert estimate.low <= estimate.high, name

    @pytest.mark.thorough
    def test_coverage(self):
        coverage, _ = measure_presence(PresenceSetting(1.0, 1.0, 100, 2000), 24, n_resamples=200)
        assert np.all(coverage >= 0.75)


class TestResult:
    def test_shown_and_exported(self, presence):
        text = repr(presence)
        assert text.startswith("Presence-only measures; only TSS needs the prior. Threshold 0.6")
        assert (
            f"Boyce index                               {presence['boyce_index'].naive:.3f}" in text
        )
        assert [*presence.frame().index] == NAMES
        plain = json.loads(json.dumps(presence.to_dict()))
        assert plain["measures"]["tss"]["value"] == presence["tss"].value
        assert len(plain["curve"]["ratio"]) == 100
        with pytest.raises(InputError, match="unknown measure 'boyce'. The measures are boyce_ind"):
            presence["boyce"]

    def test_frozen(self, presence):
        with pytest.raises(AttributeError):
            presence.share = 0.5

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"share": 90}, "share must be"),
            ({"omission": 0}, "omission must be"),
            ({"n_windows": 1}, "n_windows must be"),
            ({"window": 5}, "window must be"),
        ],
    )
    def test_bad_input(self, ev, how, message):
        with pytest.raises(InputError, match=message):
            ev.presence(**how)

    def test_equal_scores(self):
        with pytest.warns(AssumptionWarning, match="the same score"):
            ev = evaluate([1, 0, 0, 1], [1, 1, 1, 1], prior=0.0, level=None)
        with pytest.raises(InputError, match="all scores are equal"):
            ev.presence()


class TestDisplay:
    def test_artists_show_the_frame(self, ev, presence):
        display = BoyceDisplay.from_evaluation(ev, name="map", despine=True)
        frame = display.frame()
        np.testing.assert_array_equal(frame["ratio"], presence.curve.ratio)
        np.testing.assert_array_equal(display.line_.get_ydata(), frame["ratio"])
        np.testing.assert_array_equal(display.smoothed_line_.get_ydata(), frame["smoothed"])
        assert display.band_ is not None
        assert "Boyce index" in display.ax_.get_title()
        texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert any("map" in text for text in texts)

    def test_what_is_drawn_can_be_chosen(self, ev):
        display = BoyceDisplay.compute(ev, n_windows=20)
        display.plot(plot_band=False, plot_smoothed=False, curve_kwargs={"color": "red"})
        assert display.band_ is None
        assert display.smoothed_line_ is None
        assert display.line_.get_color() == "red"
        assert len(display.frame()) == 20


@pytest.mark.parametrize("labeling", ["random", "score", "smooth"])
def test_smoothed_boyce_index_is_not_certain_after_an_audit(labeling):
    """The curves of an audit are smooth; the order of the ratio is not known better for that."""
    rng = np.random.default_rng(0)
    positive, score = make_rows(rng, 6000, separation=1.0)
    labeled = label_rows(rng, positive, score)
    audited = uniform_audit(rng, positive, labeled, 300)
    ev = evaluate(
        labeled, score, audited=audited, labeling=labeling, threshold=1.0, n_resamples=300
    )
    index = ev.presence()["smoothed_boyce_index"]
    assert index.low < 0.97
    assert index.high == 1  # the ratio of two normal densities rises with the score
    known = evaluate(labeled, score, prevalence=0.15, threshold=1.0, n_resamples=300)
    by_labels = known.presence()["smoothed_boyce_index"]
    assert index.high - index.low < 2 * (by_labels.high - by_labels.low)


@pytest.mark.parametrize("known", ["audit", "propensity"])
def test_naive_values_know_only_the_labels(known):
    rng = np.random.default_rng(0)
    positive, score = make_rows(rng, 6000, separation=1.0)
    propensity = 1 / (1 + np.exp(1 - score))
    labeled = positive & (rng.random(6000) < propensity)
    given = {"audited": uniform_audit(rng, positive, labeled, 300)}
    if known == "propensity":
        given = {"propensity": propensity}
    presence = evaluate(labeled, score, threshold=1.0, level=None, **given).presence()
    labels = evaluate(labeled, score, prior=0.1, threshold=1.0, level=None).presence()
    for name in NAMES:
        assert presence[name].naive == pytest.approx(labels[name].naive, abs=1e-12), name
    for name in ("minimal_predicted_area", "auc_ratio", "f_pb"):
        assert abs(presence[name].value - presence[name].naive) > 0.02, name


def test_all_presences_can_be_asked_for(rows, ev):
    presence = ev.presence(share=1, omission=1)
    area, threshold = metrics.minimal_predicted_area(*rows, share=1, target="unlabeled")
    assert presence["minimal_predicted_area"].value == pytest.approx(area, abs=1e-12)
    assert presence.area_threshold == threshold
    ratio = metrics.auc_ratio(*rows, omission=1, target="unlabeled")
    assert presence["auc_ratio"].value == pytest.approx(ratio, abs=1e-12)
    assert presence["auc_ratio"].low < ratio < presence["auc_ratio"].high
    for wrong in ({"share": 0}, {"omission": 1.5}):
        with pytest.raises(InputError, match=r"must be in \(0, 1\]"):
            ev.presence(**wrong)


def test_the_area_covers_where_few_scores_differ():
    """A binomial suitability: .905 of the presences and .150 of the map are at 5 of 10 or above.

    In many samples recall is below .9 there, and the area reaches to the next lower score.
    """
    rng, held, reached = np.random.default_rng(0), [], []
    y = np.repeat([1, 0], [60, 2000])
    for seed in range(40):
        score = np.r_[rng.binomial(10, 0.65, 60), rng.binomial(10, 0.3, 2000)] / 10
        ev = evaluate(y, score, prior=0.0, target="unlabeled", threshold=0.5,
                      n_resamples=200, seed=seed)  # fmt: skip
        area = ev.presence(share=0.9)["minimal_predicted_area"]
        held.append(area.low <= 0.1503 <= area.high)
        reached.append(area.value < 0.25)
    assert 0.3 < np.mean(reached) < 0.8
    assert np.mean(held) >= 0.8
