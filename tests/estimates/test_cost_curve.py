"""Cost curves: against a search over all thresholds, and against the truth."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import norm

from pueval import InputError, evaluate
from pueval.displays import CostCurveDisplay

SHARES = [0.1, 0.4, 0.5, 0.8]


def rows(n, seed=0, digits=None, distance=1.5):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + distance * positive
    score = score if digits is None else score.round(digits)
    return positive, positive & (rng.random(n) < 0.3), score


def slow_curve(y, score, prior, weight):
    """Least cost over all thresholds, with clean labels."""
    costs = []
    for threshold in [np.inf, *np.unique(score)]:
        above = score >= threshold
        tpr, share = (np.average(above[y == kind], weights=weight[y == kind]) for kind in (1, 0))
        fpr = (share - prior * tpr) / (1 - prior)
        costs.append([p * (1 - tpr) + (1 - p) * fpr for p in SHARES])
    return np.clip(np.min(costs, axis=0), 0, np.minimum(SHARES, 1 - np.array(SHARES)))


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("prior", [0.0, 0.2])
def test_least_cost_over_all_thresholds(digits, prior):
    _, y, score = rows(400, digits=digits)
    weight = np.random.default_rng(1).random(400) + 0.5
    ev = evaluate(y, score, prior=prior, sample_weight=weight, level=None)
    curve = ev.cost_curve(probability_costs=SHARES)
    one = ev.cost_curve(probability_costs=SHARES[:1])
    assert str(one).startswith("Cost curve: normalized expected cost at 1 probability cost\n")
    np.testing.assert_allclose(curve.value, slow_curve(y, score, prior, weight), atol=1e-12)
    np.testing.assert_allclose(curve.naive, slow_curve(y, score, 0.0, weight), atol=1e-12)
    assert np.isnan(curve.low).all()


def test_the_target_does_not_matter():
    _, y, score = rows(2000)
    curves = [
        evaluate(y, score, prior=0.23, target=target, level=None).cost_curve()
        for target in ("population", "unlabeled")
    ]
    np.testing.assert_allclose(curves[0].value, curves[1].value, atol=1e-12)


def test_truth():
    _, y, score = rows(20_000)
    curve = evaluate(y, score, prevalence=0.3, n_resamples=300).cost_curve()
    t = np.linspace(-5, 7, 4001)
    p = curve.probability_cost[:, None]
    truth = np.min(p * norm.cdf(t - 1.5) + (1 - p) * norm.sf(t), axis=1)
    truth = np.minimum(truth, curve.trivial)
    assert np.mean((curve.low <= truth) & (truth <= curve.high)) > 0.85
    assert np.abs(curve.value - truth).max() < 0.02
    assert np.abs(curve.naive - truth).max() > 0.05


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_intervals_cover_where_few_positives_are_missed():
    """At the best true threshold for a probability cost of .9, 1.3% of the positives are missed."""
    rng, t, held = np.random.default_rng(0), np.linspace(-5, 7, 4001), []
    truth = np.min(0.9 * norm.cdf(t - 1.5) + 0.1 * norm.sf(t))
    y = np.arange(550) < 50
    for seed in range(80):
        score = rng.normal(size=550) + 1.5 * (y | (rng.random(550) < 0.2))
        ev = evaluate(y, score, prior=0.2, target="unlabeled", n_resamples=200, seed=seed)
        curve = ev.cost_curve(probability_costs=[0.9])
        held.append(curve.low[0] <= truth <= curve.high[0])
    assert np.mean(held) > 0.9


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_thresholds_text_picture_and_refusals():
    _, y, score = rows(1500, distance=0.3)
    ev = evaluate(y, score, prevalence=0.3, n_resamples=200)
    curve = ev.cost_curve()
    assert curve.threshold[0] == np.inf  # positives hardly matter
    assert np.all(curve.threshold[1:] <= curve.threshold[:-1])
    assert "10 of 49 rows" in str(curve)
    assert curve.frame().shape == (49, 7)
    display = CostCurveDisplay.from_evaluation(ev)
    np.testing.assert_allclose(display.line_.get_ydata(), curve.value)
    assert display.band_ is not None
    assert curve.plot(plot_naive=False, plot_band=False).naive_line_ is None
    plt.close("all")
    with pytest.raises(InputError, match="probability cost"):
        ev.cost_curve(probability_costs=[0.0])
    with pytest.raises(InputError, match="probability_costs is empty"):
        ev.cost_curve(probability_costs=[])
