"""Densities of scores: against histograms and equations solved bin by bin, and known truth."""

import itertools

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pueval import Counts, InputError, Mixture, evaluate
from pueval.core.densities import score_densities
from pueval.displays import ScoreDistributionDisplay
from tests.conftest import draw


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    return draw(np.random.default_rng(3), 6000, prevalence=0.35, label_frequency=0.4, purity=0.9)


@pytest.mark.parametrize("mixture", [Mixture(0.2), Mixture(0.25, 0.9)])
@pytest.mark.parametrize("scale", ["score", "rank"])
def test_each_bin_solves_the_equations(rows, mixture, scale):
    _, score, labeled = rows
    found = score_densities(Counts.from_arrays(labeled, score), mixture, bins=15, scale=scale)
    width = np.diff(found.edges)
    assert width.size == 15
    cuts = np.concatenate([[-np.inf], found.cuts, [np.inf]])
    for k, (low, high) in enumerate(itertools.pairwise(cuts)):
        here = (score >= low) & (score < high)
        shares = np.array([here[labeled].mean(), here[~labeled].mean()])
        solved = np.linalg.solve(
            [[mixture.purity, 1 - mixture.purity], [mixture.prior, 1 - mixture.prior]], shares
        )
        seen = [found.labeled[k], found.unlabeled[k], found.positive[k], found.negative[k]]
        np.testing.assert_allclose(np.array(seen) * width[k], [*shares, *solved], atol=1e-12)
        if scale == "rank":
            assert here.mean() == pytest.approx(width[k])
            assert here.mean() == pytest.approx(1 / 15, abs=0.002)


def test_errors_against_drawing_again(rows, rng):
    _, score, labeled = rows
    mixture = Mixture(0.25, 0.9)
    found = score_densities(Counts.from_arrays(labeled, score), mixture, bins=8)
    width = np.diff(found.edges)
    drawn = [
        rng.multinomial(n, share * width, size=4000) / n / width
        for n, share in ((labeled.sum(), found.labeled), ((~labeled).sum(), found.unlabeled))
    ]
    inverse = np.linalg.inv([[0.9, 0.1], [0.25, 0.75]])
    for row, error in zip(
        inverse, (found.positive_standard_error, found.negative_standard_error), strict=True
    ):
        again = row[0] * drawn[0] + row[1] * drawn[1]
        np.testing.assert_allclose(error, again.std(axis=0), rtol=0.06, atol=1e-4)


def test_truth_lies_within_the_limits(rng):
    inside = []
    for _ in range(60):
        positive, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.5)
        mixture = Mixture(positive[~labeled].mean())
        found = score_densities(Counts.from_arrays(labeled, score), mixture, bins=10)
        cuts = np.concatenate([[-np.inf], found.cuts, [np.inf]])
        fresh = rng.normal(size=200_000)
        for kind, sample in (("positive", fresh + 1.5), ("negative", fresh)):
            truth = np.histogram(sample, cuts)[0] / sample.size / np.diff(found.edges)
            low, high = found.interval(kind, 0.95)
            plenty = truth * np.diff(found.edges) > 0.02
            inside.append(((low <= truth) & (truth <= high))[plenty])
    assert 0.92 < np.mean(np.concatenate(inside)) < 0.98


def test_known_negatives_and_propensities_use_the_evaluations_rates(rng):
    positive, score, labeled = draw(rng, 5000, prevalence=0.3, label_frequency=0.4)
    y = np.where(labeled, 1, np.where(~positive & (rng.random(5000) < 0.2), -1, 0))
    ev = evaluate(y, score, prior=0.2, negative_label=-1, level=None)
    uneven = evaluate(
        labeled, score, propensity=np.where(score > 1, 0.5, 0.3), prior=0.2, level=None
    )
    for one in (ev, uneven):
        found = score_densities(one.counts, one.mixture, bins=10)
        width = np.diff(found.edges)
        for k, cut in enumerate(found.cuts):
            point = one.at(cut).table
            recall = point.true_positive / (point.true_positive + point.false_negative)
            fpr = point.false_positive / (point.false_positive + point.true_negative)
            assert (found.positive * width)[k + 1 :].sum() == pytest.approx(recall)
            assert (found.negative * width)[k + 1 :].sum() == pytest.approx(fpr)
        assert (found.positive * width).sum() == pytest.approx(1)


def test_display(rows):
    _, score, labeled = rows
    ev = evaluate(labeled, score, prior=(0.2, 0.3), purity=0.9, n_resamples=50)
    display = ScoreDistributionDisplay.from_evaluation(ev, bins=12, name="m")
    frame, found = display.frame(), score_densities(ev.counts, ev.mixture, bins=12)
    for kind in ("labeled", "unlabeled", "positive", "negative"):
        np.testing.assert_array_equal(frame[kind], getattr(found, kind))
        values, edges, _ = getattr(display, f"{kind}_").get_data()
        np.testing.assert_array_equal(values, frame[kind])
        np.testing.assert_array_equal(edges, [*frame["left"], frame["right"].iloc[-1]])
    np.testing.assert_array_equal(frame["negative_low"], found.interval("negative", 0.95)[0])
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "m: unlabeled, 25.0% of them positive (20.0%–30.0%)" in texts
    assert "95% CI" in texts
    assert display.threshold_.get_xdata()[0] == ev.threshold
    assert display.positive_band_ is not None
    display.figure_.savefig("/dev/null", format="png")


def test_display_on_ranks(rows):
    _, score, labeled = rows
    ev = evaluate(labeled, score, prior=0.25, purity=0.9, level=None)
    display = ScoreDistributionDisplay.from_evaluation(ev, scale="rank")
    assert display.threshold_.get_xdata()[0] == pytest.approx((score < ev.threshold).mean())
    assert display.positive_band_ is None
    assert np.isnan(display.frame()["positive_low"]).all()
    assert (display.frame()["left"].iloc[0], display.frame()["right"].iloc[-1]) == (0, 1)
    # The ranking is all that matters.
    other = evaluate(labeled, np.exp(score), prior=0.25, purity=0.9, level=None)
    again = ScoreDistributionDisplay.compute(other, scale="rank").frame()
    np.testing.assert_allclose(again, display.frame())


def test_outliers_do_not_stretch_the_axis(rows):
    _, score, labeled = rows
    score = score.copy()
    score[:2] = [1e6, -1e6]
    found = score_densities(Counts.from_arrays(labeled, score), Mixture(0.2))
    assert -20 < found.edges[0] < -2 < 4 < found.edges[-1] < 20
    assert (found.unlabeled * np.diff(found.edges)).sum() == pytest.approx(1)


def test_few_distinct_scores():
    counts = Counts.from_table([1.0, 0.0], labeled=[30, 10], unlabeled=[60, 140])
    found = score_densities(counts, Mixture(0.1), scale="rank")
    np.testing.assert_allclose(found.edges, [0, 150 / 240, 1])
    same = score_densities(Counts.from_table([2], [3], [7]), Mixture(0.1))
    assert (same.labeled * np.diff(same.edges)).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"bins": 1}, "bins must be a whole number of at least 2; got 1"),
        ({"bins": 2.5}, "bins must be a whole number"),
        ({"scale": "log"}, "scale must be 'score' or 'rank'; got 'log'"),
    ],
)
def test_bad_choices(rows, choice, message):
    _, score, labeled = rows
    with pytest.raises(InputError, match=message):
        score_densities(Counts.from_arrays(labeled, score), Mixture(0.2), **choice)
