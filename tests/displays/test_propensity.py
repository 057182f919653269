"""Displays of audits: the propensity by score, and audited rows below the scores."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pueval import InputError, evaluate
from pueval.core.densities import score_densities
from pueval.displays import PropensityDisplay, ScoreDistributionDisplay
from tests.audit_estimates.audits import label_rows, make_rows, uniform_audit

pytestmark = pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    positive, score = make_rows(rng, 4000)
    labeled = label_rows(rng, positive, score, "up")
    return labeled, score, uniform_audit(rng, positive, labeled, 250)


@pytest.fixture(scope="module")
def ev(rows):
    labeled, score, audited = rows
    return evaluate(labeled, score, audited=audited, n_resamples=200)


def places(ticks):
    return [segment[0][0] for segment in ticks.get_segments()]


@pytest.mark.parametrize("scale", ["score", "rank"])
def test_propensity(ev, rows, scale):
    _, score, audited = rows
    display = PropensityDisplay.from_evaluation(ev, scale=scale)
    frame = display.frame()
    curve = frame[frame["kind"] == "propensity"]
    found = ev.audit.propensity()
    for name in ("propensity", "low", "high"):
        np.testing.assert_array_equal(curve[name], getattr(found, name)[::-1])
    ticks = frame[frame["kind"] == "audited"]
    assert ticks["positive"].sum() == np.nansum(audited)

    def place(values):
        values = np.sort(values)
        return values if scale == "score" else [np.mean(score < value) for value in values]

    np.testing.assert_allclose(curve["score"], place(found.score))
    for value, artist in ((1, display.audited_positive_), (0, display.audited_negative_)):
        expected = place(score[audited == value])
        np.testing.assert_allclose(ticks.loc[ticks["positive"] == value, "score"], expected)
        np.testing.assert_allclose(places(artist), expected)
    x, y = display.line_.get_data()
    np.testing.assert_array_equal(y[:-1], curve["propensity"])
    assert display.line_.get_drawstyle() == "steps-post"
    assert x[-1] == (score.max() if scale == "score" else 1)
    (threshold,) = place([ev.threshold])
    assert display.threshold_.get_xdata()[0] == pytest.approx(threshold)
    bottom, top = display.ax_.get_ylim()
    assert bottom < 0 < y.max() < top
    assert display.ax_.get_legend() is not None


def test_what_is_drawn_can_be_chosen(ev):
    _, ax = plt.subplots()
    display = PropensityDisplay.from_evaluation(
        ev, ax=ax, plot_audited=False, plot_threshold=False, line_kwargs={"c": "red"}, name="a"
    )
    assert display.ax_ is ax
    assert display.audited_positive_ is display.audited_negative_ is display.threshold_ is None
    assert display.line_.get_color() == "red"
    assert ax.get_ylim()[0] == 0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a: propensity", "95% CI"]


def test_of_an_audit(ev):
    display = ev.audit.plot()
    assert isinstance(display, PropensityDisplay)
    assert display.threshold_ is None
    assert display.frame().equals(PropensityDisplay.compute(ev).frame())


def test_ways_agree(ev, rows):
    labeled, score, audited = rows
    display = PropensityDisplay.from_predictions(labeled, score, audited=audited, n_resamples=200)
    assert display.frame().equals(PropensityDisplay.compute(ev).frame())


def test_bad_choices(ev, rows):
    labeled, score, _ = rows
    with pytest.raises(InputError, match="has no audit"):
        PropensityDisplay.compute(evaluate(labeled, score, prior=0.04, level=None))
    with pytest.raises(InputError, match="scale"):
        PropensityDisplay.compute(ev, scale="log")


@pytest.mark.parametrize("scale", ["score", "rank"])
def test_audited_rows_below_the_scores(ev, rows, scale):
    _, score, audited = rows
    display = ScoreDistributionDisplay.from_evaluation(ev, scale=scale)
    assert len(places(display.audited_positive_)) == np.sum(audited == 1)
    expected = np.sort(score[audited == 0])
    if scale == "rank":
        expected = [np.mean(score < value) for value in expected]
    left, right = display.ax_.get_xlim()
    inside = [place for place in expected if left <= place <= right]
    np.testing.assert_allclose(places(display.audited_negative_), inside)
    assert len(inside) > 0.98 * len(expected)
    assert display.ax_.get_ylim()[0] < 0
    low, high = ev.assumptions.audited.prior
    assert display.prior_interval == (low, high)
    without = ScoreDistributionDisplay.from_evaluation(ev, scale=scale, plot_audited=False)
    assert without.audited_positive_ is without.audited_negative_ is None


def test_no_ticks_without_an_audit(rows):
    labeled, score, _ = rows
    display = ScoreDistributionDisplay.from_evaluation(
        evaluate(labeled, score, prior=0.04, n_resamples=50)
    )
    assert display.audited is None
    assert display.audited_negative_ is None


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_densities_are_those_of_the_target(rows, target):
    labeled, score, audited = rows
    ev = evaluate(labeled, score, audited=audited, target=target, level=None)
    found = score_densities(ev.counts, ev.mixture, bins=8)
    width = np.diff(found.edges)
    points = [ev.at(cut) for cut in found.cuts]
    for kind, name in (("positive", "recall"), ("negative", "false_positive_rate")):
        above = [1.0, *(point[name].value for point in points), 0.0]
        np.testing.assert_allclose(getattr(found, kind) * width, -np.diff(above), atol=1e-9)


def test_notebook(ev):
    html = ev._repr_html_()
    for sentence in ev.audit.sentences():
        assert sentence.replace("<", "&lt;") in html
