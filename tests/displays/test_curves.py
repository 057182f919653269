"""Displays of curves: the data behind them are the evaluation's, and the artists show them."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pueval import AssumptionWarning, Counts, evaluate
from pueval.core.thinned_curves import thin_curve
from pueval.displays import (
    MeasureByThresholdDisplay,
    OverviewDisplay,
    PrecisionRecallDisplay,
    RankCdfDisplay,
    RocCurveDisplay,
    SensitivityDisplay,
)
from pueval.text.numbers import format_estimate, format_number
from tests.conftest import draw


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def ev():
    _, score, labeled = draw(
        np.random.default_rng(7), 4000, prevalence=0.3, label_frequency=0.4, separation=1.8
    )
    return evaluate(labeled, score, prior=0.2, n_resamples=300)


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def limits(estimate):
    return format_estimate(estimate.value, estimate.low, estimate.high)


@pytest.mark.parametrize(
    ("kind", "x", "y", "curve", "band", "area", "short"),
    [
        (RocCurveDisplay, "fpr", "tpr", "roc", "roc_band", "roc_auc", "AUC"),
        (PrecisionRecallDisplay, "recall", "precision", "pr", "pr_band", "average_precision", "AP"),
    ],
)
class TestPairs:
    def test_points_are_those_of_the_evaluation(self, ev, kind, x, y, curve, band, area, short):
        frame = kind.compute(ev).frame()
        for name, naive in (("corrected", False), ("naive", True)):
            full = getattr(ev, curve)(naive=naive)
            every = set(zip(getattr(full, x), getattr(full, y), full.threshold, strict=True))
            part = frame[frame["curve"] == name]
            assert len(part) > 100
            assert set(zip(part[x], part[y], part["threshold"], strict=True)) <= every
        part, expected = frame[frame["curve"] == "band"], getattr(ev, band)()
        np.testing.assert_array_equal(part[x], expected.x)
        np.testing.assert_array_equal(part["low"], expected.low)
        np.testing.assert_array_equal(part["high"], expected.high)

    def test_artists_show_the_frame(self, ev, kind, x, y, curve, band, area, short):
        display = kind.from_evaluation(ev, name="model", plot_chance_level=True)
        frame = display.frame()
        for line, name in ((display.line_, "corrected"), (display.naive_line_, "naive")):
            part = frame[frame["curve"] == name]
            np.testing.assert_array_equal(line.get_xdata(), part[x])
            np.testing.assert_array_equal(line.get_ydata(), part[y])
        assert display.line_.axes is display.band_.axes is display.ax_
        assert display.ax_.figure is display.figure_
        texts = legend_texts(display.ax_)
        assert texts[0] == f"model: corrected, {short} {limits(ev[area])}"
        assert f"model: naive, {short} {format_number(ev[area].naive)}" in texts
        assert "95% band" in texts
        assert any(text.startswith("chance") for text in texts)
        display.figure_.savefig("/dev/null", format="png")

    def test_what_is_drawn_can_be_chosen(self, ev, kind, x, y, curve, band, area, short):
        figure, ax = plt.subplots()
        display = kind.from_evaluation(
            ev, ax=ax, plot_naive=False, plot_band=False, despine=True,
            curve_kwargs={"c": "red", "lw": 5},
        )  # fmt: skip
        assert display.ax_ is ax
        assert display.figure_ is figure
        assert display.naive_line_ is display.band_ is display.chance_level_ is None
        assert (display.line_.get_color(), display.line_.get_linewidth()) == ("red", 5)
        assert not ax.spines["top"].get_visible()
        assert len(ax.lines) == 1

    def test_whole_curve_band_is_wider(self, ev, kind, x, y, curve, band, area, short):
        one, all_ = (kind.compute(ev, band=how).band for how in ("pointwise", "simultaneous"))
        assert np.mean(all_.high - all_.low) > np.mean(one.high - one.low)
        display = kind.from_evaluation(ev, band="simultaneous")
        assert "95% simultaneous band" in legend_texts(display.ax_)

    def test_without_limits_there_is_no_band(self, ev, kind, x, y, curve, band, area, short):
        display = kind.from_evaluation(evaluate(ev.counts, prior=0.2, level=None))
        assert display.band_ is None
        assert set(display.frame()["curve"]) == {"corrected", "naive"}
        assert legend_texts(display.ax_)[0] == f"corrected, {short} {format_number(ev[area].value)}"


class TestMeasureByThreshold:
    @pytest.mark.parametrize("measure", ["f1", "matthews_corrcoef", "accuracy", "lift", "f2"])
    def test_values_are_those_at_each_threshold(self, ev, measure):
        frame = MeasureByThresholdDisplay.compute(ev, measure=measure).frame()
        known = frame[np.isfinite(frame["low"])]
        assert 100 < len(known) < len(frame)
        for row in known.iloc[5::40].itertuples():
            there = evaluate(ev.counts, prior=0.2, threshold=row.threshold, n_resamples=300)[
                measure
            ]
            assert row.corrected == there.value
            assert row.naive == there.naive
            # Drawn again between other thresholds: the same but for chance.
            assert row.high - row.low == pytest.approx(there.high - there.low, rel=0.25)

    def test_best_is_marked(self, ev):
        display = MeasureByThresholdDisplay.from_evaluation(ev, measure="f1")
        best = ev.best("f1")
        assert display.best_.get_xydata().tolist() == [[best.threshold, best.value]]
        assert display.naive_best_.get_xydata().tolist() == [[best.naive_threshold, best.naive]]
        assert np.nanmax(display.line_.get_ydata()) == best.value
        assert legend_texts(display.ax_)[0] == (
            f"corrected, best {limits(best)} at {best.threshold:.3g}"
        )
        assert ev.threshold in display.frame()["threshold"].to_numpy()

    def test_legend_without_best(self, ev):
        display = MeasureByThresholdDisplay.from_evaluation(
            ev, measure="precision", plot_best=False
        )
        assert legend_texts(display.ax_) == ["corrected", "95% CI", "naive"]
        assert display.best_ is display.naive_best_ is None

    def test_best_beyond_all_scores(self, ev):
        display = MeasureByThresholdDisplay.from_evaluation(ev, measure="accuracy")
        assert ev.best("accuracy").naive_threshold == np.inf
        ((x, _),) = display.naive_best_.get_xydata()
        assert ev.counts.score[0] < x < display.ax_.get_xlim()[1]
        assert any("above all scores" in text for text in legend_texts(display.ax_))

    def test_region_of_priors(self, ev):
        unsure = evaluate(ev.counts, prior=(0.15, 0.25), n_resamples=50)
        frame = MeasureByThresholdDisplay.compute(unsure, measure="f1").frame().dropna()
        sure = MeasureByThresholdDisplay.compute(ev, measure="f1").frame().dropna()
        assert len(frame) > 30
        assert (frame["high"] - frame["low"]).mean() > 1.5 * (sure["high"] - sure["low"]).mean()


class TestRankCdf:
    def test_against_counting(self, ev):
        display = RankCdfDisplay.compute(ev)
        frame, counts = display.frame(), ev.counts
        score, labeled = counts.score, counts.labeled
        everything = labeled + counts.unlabeled
        for row in frame.iloc[1::97].itertuples():
            # The score whose rank it is: as many rows as the rank says are at or above it.
            here = np.flatnonzero(np.cumsum(everything) == round(row.rank * counts.n))[0]
            above = score >= score[here]
            assert row.labeled == labeled[above].sum() / counts.n_labeled
            assert row.unlabeled == counts.unlabeled[above].sum() / counts.n_unlabeled
            point = ev.at(score[here])
            assert row.positive == pytest.approx(point["recall"].value)
            assert row.negative == pytest.approx(point["false_positive_rate"].value)
        assert frame.iloc[0][["rank", "labeled", "unlabeled"]].tolist() == [0, 0, 0]
        assert frame.iloc[-1][["rank", "labeled", "negative"]].tolist() == [1, 1, 1]
        assert ((frame["low"] <= frame["labeled"]) & (frame["labeled"] <= frame["high"])).all()

    def test_band_is_claesens(self, ev):
        frame = RankCdfDisplay.compute(ev, band="dkw").frame()
        counts = ev.counts
        rows = 1 / counts.n_labeled + 1 / (0.2 * counts.n_unlabeled)
        reach = np.sqrt(np.log(2 / 0.05) / 2 * rows)
        np.testing.assert_allclose(frame["high"], np.minimum(frame["labeled"] + reach, 1))

    def test_median_in_the_legend(self, ev):
        display = RankCdfDisplay.from_evaluation(ev)
        rank, low, high = display.median()
        assert low < rank < high
        counts = ev.counts
        middle = np.searchsorted(np.cumsum(counts.labeled), counts.n_labeled / 2)
        expected = np.cumsum(counts.labeled + counts.unlabeled)[middle] / counts.n
        assert rank == pytest.approx(expected, abs=0.005)
        text = f"labeled, half in the top {rank:.1%} ({low:.1%}–{high:.1%})"
        assert legend_texts(display.ax_)[0] == text
        assert display.positive_line_ is None

    def test_noisy_labels_have_a_line_of_their_own(self, ev):
        display = RankCdfDisplay.from_evaluation(evaluate(ev.counts, prior=0.15, purity=0.95))
        positive = display.positive_line_.get_ydata()
        assert (positive >= display.line_.get_ydata() - 1e-12).mean() > 0.95

    def test_weights_narrow_the_band_less_than_copies(self, ev):
        counts = ev.counts
        copies = Counts.from_table(counts.score, 4 * counts.labeled, 4 * counts.unlabeled)
        width = [
            np.mean(d.high - d.low)
            for d in (RankCdfDisplay.compute(evaluate(c, prior=0.2)) for c in (counts, copies))
        ]
        assert width[1] == pytest.approx(width[0] / 2, rel=0.1)


class TestSensitivity:
    def test_corner_is_naive_and_own_is_the_evaluation(self, ev):
        display = SensitivityDisplay.from_evaluation(ev, measure="roc_auc", name="m")
        frame = display.frame()
        corner = frame[(frame["prior"] == 0) & (frame["purity"] == 1)]["value"].item()
        assert corner == pytest.approx(ev["roc_auc"].naive)
        assert display.assumed_.lines[0].get_xydata().tolist() == [[0.2, 1.0]]
        assert display.naive_.get_xydata().tolist() == [[0.0, 1.0]]
        texts = legend_texts(display.ax_)
        assert texts[0] == f"m: corrected, ROC AUC {limits(ev['roc_auc'])}"
        assert any(text.startswith("ruled out by the data") for text in texts)
        assert display.colorbar_.ax.get_ylabel() == "ROC AUC"
        # Equation 4 of Jain et al.: AUC = (naive − (1 − contrast)/2) / contrast.
        contrast = frame["purity"] - frame["prior"]
        value = (corner - (1 - contrast) / 2) / contrast
        np.testing.assert_allclose(frame["value"], value, rtol=1e-9)

    def test_what_leaves_its_range_is_contradicted(self, ev):
        display = SensitivityDisplay.compute(ev, measure="roc_auc")
        outside = display.grid.value > 1 + 1e-9
        assert outside.any()
        assert not display.admissible[outside].any()
        assert display.admissible.any()

    def test_purities_that_no_prior_fits_are_contradicted(self, ev):
        display = SensitivityDisplay.compute(ev, measure="f1")
        lowest = display.admissible[0]
        assert not lowest.any()

    @pytest.mark.parametrize("measure", ["average_precision", "precision", "lift"])
    def test_own_value(self, ev, measure):
        display = SensitivityDisplay.compute(
            ev, measure=measure, priors=[0.1, 0.2], purities=[0.9, 1]
        )
        own = display.grid.value[1, 1]
        assert own == pytest.approx(ev[measure].value, abs=2e-3)
        display.plot(plot_colorbar=False)
        assert display.colorbar_ is None

    def test_limits_are_whiskers(self, ev):
        with pytest.warns(AssumptionWarning, match=r"priors above .* with purity 0\.9"):
            unsure = evaluate(ev.counts, prior=(0.1, 0.3), purity=(0.9, 1.0), n_resamples=50)
        display = SensitivityDisplay.from_evaluation(unsure)
        assert display.intervals.prior == (0.1, 0.3)
        across, up = (bars.get_segments()[0] for bars in display.assumed_.lines[2])
        np.testing.assert_allclose(across[:, 0], [0.1, 0.3])
        np.testing.assert_allclose(up[:, 1], [0.9, 1.0])


class TestOverview:
    def test_four_panels(self, ev):
        display = ev.plot(measure="accuracy", title="A $strange title")
        assert isinstance(display, OverviewDisplay)
        assert [ax.get_ylabel() for ax in display.axes_.flat] == [
            "True positive rate", "Precision", "Density", "Accuracy",
        ]  # fmt: skip
        panels = display.frame()
        for panel in ("roc", "pr", "scores", "thresholds"):
            own = getattr(display, panel).frame()
            assert panels.loc[panel][own.columns].astype(own.dtypes).equals(own)
        display.figure_.savefig("/dev/null", format="png")
        assert all(ax.get_legend() is not None for ax in display.axes_.flat)

    def test_on_given_axes(self, ev):
        _, axes = plt.subplots(1, 4)
        assert OverviewDisplay.from_evaluation(ev, ax=axes).axes_[2] is axes[2]


class TestThinning:
    def test_looks_the_same(self, rng):
        for steps in (rng.random(50_000), rng.exponential(size=50_000) ** 6):
            x = np.cumsum(steps)
            x /= x[-1]
            y = np.cumsum(rng.random(50_000) ** 9)
            y /= y[-1]
            kept = thin_curve(x, y)
            assert kept.size <= 2000
            assert kept[0] == 0
            assert kept[-1] == x.size - 1
            # The nearest point that is left, for every point that is not.
            where = np.clip(np.searchsorted(kept, np.arange(x.size)), 0, kept.size - 1)
            away = np.abs(x - x[kept][where]) + np.abs(y - y[kept][where])
            assert away.max() < 2 / 600

    def test_peaks_stay(self, rng):
        x, y = np.linspace(0, 1, 30_000), rng.normal(size=30_000)
        y[12_345], y[23_456] = 50, -50
        kept = thin_curve(x, y, 400)
        assert kept.size <= 400
        assert {12_345, 23_456} <= set(kept)

    def test_a_point_that_stands_still(self):
        assert thin_curve(np.ones(5000), np.ones(5000)).tolist() == [0, 4999]

    def test_large_data_have_few_points(self, rng):
        _, score, labeled = draw(rng, 300_000, prevalence=0.3, label_frequency=0.4)
        big = evaluate(labeled, score, prior=0.2, level=None)
        assert big.roc().fpr.size > 30_000
        display = big.plot()
        for ax in display.axes_.flat:
            for line in ax.lines:
                assert len(line.get_xdata()) <= 2000
        assert len(RankCdfDisplay.compute(big).frame()) <= 2000
