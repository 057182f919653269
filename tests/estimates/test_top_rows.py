"""Estimates of the top of the list: values, intervals, and what needs no prior."""

import pickle
import warnings

import matplotlib as mpl
import numpy as np
import pytest

from pueval import AssumptionWarning, InputError, evaluate
from pueval.displays import GainsDisplay
from pueval.errors import UnknownMeasureError
from pueval.families.top_measures import TOP_MEASURES

mpl.use("Agg")
N, PREVALENCE = 20_000, 0.1


def rows(seed=0, n=N):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < PREVALENCE
    score = rng.normal(size=n) + 2 * positive
    return positive, positive & (rng.random(n) < 0.2), score


@pytest.fixture(scope="module")
def data():
    return rows()


@pytest.fixture(scope="module")
def ev(data):
    _, y, score = data
    return evaluate(y, score, prevalence=PREVALENCE, threshold=1.0, n_resamples=200)


@pytest.fixture(scope="module")
def truth(data):
    positive, _, score = data
    return evaluate(positive, score, prior=0.0, threshold=1.0, level=None)


class TestTopRows:
    def test_holds_the_truth(self, ev, truth):
        top, true = ev.top(400), truth.top(400)
        for name, estimate in top.items():
            assert estimate.low <= true[name].value <= estimate.high, name
            assert estimate.low < estimate.value < estimate.high, name
        # Those that need the prevalence are far too low without a correction.
        for name in ("positives", "precision", "f1", "average_precision", "ndcg"):
            assert top[name].naive < top[name].low, name
            assert top.needs_prior[name]
        for name in ("recall", "enrichment_factor"):
            assert top[name].naive == pytest.approx(top[name].value, abs=1e-12)
            assert not top.needs_prior[name]

    def test_share_of_rows(self, ev):
        top, same = ev.top(share=0.02), ev.top(400)
        assert (top.rows, top.share) == (400, 0.02)
        assert top["precision"].value == same["precision"].value
        assert ev.top(share=0.00001).rows == 1

    def test_threshold_at_the_last_row_gives_the_same(self, ev, data):
        top = ev.top(400)
        point = ev.at(np.sort(data[2])[-400])
        for name in ("precision", "recall", "f1"):
            assert point[name].unclipped == pytest.approx(top[name].unclipped, abs=1e-12)

    def test_without_labeled_rows_the_interval_is_not_empty(self):
        _, y, score = rows(n=3000)
        y[np.argsort(-score)[:20]] = False
        top = evaluate(y, score, prevalence=PREVALENCE, threshold=1.0, n_resamples=100).top(20)
        recall = top["recall"]
        assert (recall.value, recall.low) == (0, 0)
        # Wilson's upper end for none of this many.
        z = 3.8415 / y.sum()
        assert recall.high == pytest.approx(z / (1 + z), rel=0.02)
        assert top["ndcg"].high > 0.05

    def test_few_clusters_widen_intervals(self, data):
        _, y, score = data
        given = {"prevalence": PREVALENCE, "threshold": 1.0, "n_resamples": 200}
        order = np.argsort(score)
        alone = evaluate(y, score, **given).top(share=0.1)["recall"]
        together = evaluate(y[order], score[order], cluster=np.arange(N) // 100, **given)
        recall = together.top(share=0.1)["recall"]
        assert recall.value == alone.value
        assert recall.standard_error > 1.5 * alone.standard_error

    def test_noisy_labels_need_the_prior(self, data):
        positive, _, score = data
        rng = np.random.default_rng(1)
        labeled = np.where(positive, rng.random(N) < 0.5, rng.random(N) < 0.01)
        purity = positive[labeled].mean()
        ev = evaluate(labeled, score, prevalence=PREVALENCE, purity=purity, level=None)
        top = ev.top(2000)
        true = positive[np.argsort(-score)[:2000]].sum() / positive.sum()
        assert top["recall"].value == pytest.approx(true, abs=0.02)
        assert top["recall"].naive < true - 0.05
        assert all(top.needs_prior.values())
        assert "need no prior" not in repr(top)

    @pytest.mark.parametrize("known", ["propensity", "audited"])
    def test_labels_that_depend_on_the_score(self, data, truth, known):
        """Labels favor high scores: taken as random, precision is too high."""
        positive, _, score = data
        rng = np.random.default_rng(1)
        propensity = 1 / (1 + np.exp(1 - score))
        y = positive & (rng.random(N) < propensity)
        audited = np.full(N, np.nan)
        rows = rng.choice(np.flatnonzero(~y), 600, replace=False)
        audited[rows] = positive[rows]
        given = {"propensity": propensity, "audited": audited}[known]
        # All seven intervals are to hold at once (Bonferroni).
        level = 1 - 0.05 / 7
        ev = evaluate(y, score, threshold=1.0, level=level, n_resamples=2000, **{known: given})
        top, true = ev.top(2000), truth.top(2000)
        assert len(top) == 7
        for name, estimate in top.items():
            assert estimate.low <= true[name].value <= estimate.high, name
        with pytest.warns(AssumptionWarning, match="question random labeling"):
            random = evaluate(y, score, prevalence=PREVALENCE, threshold=1.0, level=None)
        assert random.top(2000)["precision"].value > top["precision"].value + 0.04
        assert top.needs_prior["recall"] == (known == "audited")
        assert ("propensities known" in repr(top)) == (known == "propensity")

    def test_text_and_mistakes(self, ev):
        top = ev.top(400)
        assert repr(top).startswith("The first 400 of 20,000 rows (2%)")
        assert "Recall and enrichment factor need no prior" in repr(top)
        assert "400 of 20,000" in top._repr_html_()
        assert len(top) == len(top.frame()) == 7
        with pytest.raises(UnknownMeasureError, match="precision"):
            top["precission"]
        with pytest.raises(InputError, match="at most 20,000"):
            ev.top(20_001)
        assert pickle.loads(pickle.dumps(top))["recall"] == top["recall"]  # noqa: S301


class TestMeasuresOfTheList:
    @pytest.mark.parametrize("name", TOP_MEASURES)
    def test_holds_the_truth(self, ev, truth, name):
        estimate, true = ev[name], truth[name].value
        assert estimate.low <= true <= estimate.high
        assert estimate.low < estimate.value < estimate.high
        if TOP_MEASURES[name].needs_prior:
            assert estimate.naive < estimate.low
        else:
            assert estimate.naive == pytest.approx(estimate.value, abs=1e-12)

    def test_bedroc_needs_the_prevalence(self, data):
        """The naive value uses the share of labeled rows: far too low."""
        _, y, score = data
        ev = evaluate(y, score, prevalence=PREVALENCE, threshold=1.0, level=None)
        assert ev["bedroc_score"].naive < 0.6 * ev["bedroc_score"].value
        assert np.isnan(ev["bedroc_score"].low)

    def test_area_under_lift_gives_the_auc(self, ev):
        auc = (ev["aul"].value - PREVALENCE / 2) / (1 - PREVALENCE)
        assert auc == pytest.approx(ev["roc_auc"].value, abs=1e-12)

    def test_uncertain_prior_widens_what_needs_it(self, data):
        _, y, score = data
        given = {"threshold": 1.0, "n_resamples": 100}
        exact = evaluate(y, score, prior=0.08, **given)
        region = evaluate(y, score, prior=(0.06, 0.1), **given)
        for name in ("ndcg_score", "bedroc_score", "rie"):
            widths = [each[name].high - each[name].low for each in (exact, region)]
            if name == "rie":
                assert widths[1] == pytest.approx(widths[0], rel=1e-9)
            else:
                assert widths[1] > 1.3 * widths[0]

    def test_case_control_and_labeling_variance(self, data):
        _, y, score = data
        given = {"threshold": 1.0, "n_resamples": 100}
        apart = evaluate(y, score, prior=0.08, target="unlabeled", **given)
        assert apart["enrichment_factor"].value > apart["enrichment_factor"].naive
        labels = evaluate(y, score, prior=0.08, variance="labeling", **given)
        assert 0 < labels["rie"].standard_error < apart["rie"].standard_error

    def test_unknown_name_suggests_one(self, ev):
        with pytest.raises(UnknownMeasureError, match="bedroc_score"):
            ev["bedroc"]


class TestGains:
    def test_equals_recall_of_the_first_rows(self, ev):
        gains = ev.gains()
        for number in (10, 40, -1):
            recall = ev.top(share=gains.share[number])["recall"]
            assert recall.value == pytest.approx(gains.recall[number], abs=1e-12)
            assert recall.naive == pytest.approx(gains.naive[number], abs=1e-12)
        assert np.all(gains.low <= gains.recall)
        assert np.all(gains.recall <= gains.high)
        assert np.all(np.diff(gains.recall) >= 0)
        assert gains.lift[-1] == gains.perfect[-1] == 1
        assert repr(gains).startswith("Cumulative gains of 20,000 rows: the first 10% hold 5")

    def test_display(self, ev):
        display = GainsDisplay.from_evaluation(ev, name="forest")
        x, y = display.line_.get_data()
        assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
        np.testing.assert_array_equal(y[1:], display.frame()["recall"])
        assert display.line_.get_label() == "forest: corrected"
        assert display.band_ is not None
        assert display.perfect_.get_ydata()[-1] == 1
        lift = GainsDisplay.compute(ev).plot(kind="lift", plot_naive=False, plot_band=False)
        np.testing.assert_array_equal(lift.line_.get_ydata(), lift.frame()["lift"])
        assert lift.naive_line_ is lift.naive_perfect_ is lift.band_ is None
        with pytest.raises(InputError, match="'gains' or 'lift'"):
            display.plot(kind="roc")
        for each in (display, lift):
            mpl.pyplot.close(each.figure_)

    def test_first_rows_without_labels_do_not_squeeze_the_lift(self, data):
        """Their lift is 0, and intervals of the next rows are wide: both were on the axis."""
        _, labeled, score = data
        first = labeled.copy()
        first[np.argsort(-score)[:3]] = False
        display = GainsDisplay.from_evaluation(evaluate(first, score, prior=0.08), kind="lift")
        assert display.line_.get_ydata()[0] == 0
        highest = max(line.get_ydata().max() for line in display.ax_.lines)
        assert display.ax_.get_ylim() == pytest.approx((0.7, 1.5 * highest))
        mpl.pyplot.close(display.figure_)


def test_first_rows_that_look_perfect_are_not_certain(rng):
    """More labeled rows come first than expected; every resample would look perfect, too."""
    n, k = 10_000, 200
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + 2.5 * positive
    labeled = positive & (rng.random(n) < 0.33)
    first = np.argsort(-score)[:k]
    labeled[first] = rng.random(k) < 0.5  # of positives, .33 are labeled
    top = evaluate(labeled, score, prevalence=0.3, n_resamples=300).top(k)
    assert top["precision"].unclipped > 1.3
    assert top["average_precision"].value == pytest.approx(1, abs=0.01)
    assert 0.5 < top["average_precision"].low < 0.99


def test_recall_above_what_the_prevalence_allows_is_named():
    """Recall and enrichment need no prior, so it does not limit them."""
    y = np.repeat([1, 0], [20, 180])
    score = np.r_[np.arange(200, 190, -1), np.arange(10, 0, -1), np.arange(190, 10, -1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(y, score, prior=1 / 9, threshold=100, level=None)
    top = ev.top(10)
    assert ev.prevalence == pytest.approx(0.2)
    assert (top["recall"].value, top["enrichment_factor"].value) == pytest.approx((0.5, 10))
    assert "prevalence of 0.200, recall is at most 0.250, and enrichment at most 5.000" in str(top)
    assert "at most" not in str(ev.top(100))
