"""The confidence interval of a chosen threshold."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from pueval import evaluate

PREVALENCE = 0.3


def draw(n, rng, separation=1.5):
    positive = rng.random(n) < PREVALENCE
    score = rng.normal(size=n) + separation * positive
    return positive & (rng.random(n) < 1 / 3), score


@pytest.fixture(scope="module")
def rows():
    return draw(1500, np.random.default_rng(0))


def test_it_has_the_percentiles_of_the_choices_of_the_resamples(rows):
    """Slow version: choose in one resample after the other, by the formula of F1."""
    ev = evaluate(*rows, prior=0.22, n_resamples=200)
    point = ev.threshold_for(best="f1")
    draws = ev._resample(point.threshold, threshold_chosen=True).draws
    n_labeled, n = ev.counts.n_labeled, ev.counts.n
    positives = n_labeled + 0.22 * (n - n_labeled)
    chosen = []
    for labeled, unlabeled in zip(draws.resampled.labeled, draws.resampled.unlabeled, strict=True):
        predicted = n_labeled * labeled + (n - n_labeled) * unlabeled
        f1 = 2 * positives * labeled / (positives + predicted)
        chosen.append(draws.threshold[np.argmax(f1)])
    chosen = np.sort(chosen)
    assert point.threshold_interval == (chosen[4], chosen[194])
    assert point.threshold_interval[0] <= point.threshold <= point.threshold_interval[1]
    assert point.to_dict()["threshold_interval"] == [*point.threshold_interval]
    assert f"(95% CI: {chosen[4]:.6g} to {chosen[194]:.6g})" in str(point)


def test_an_uncertain_prior_matters_where_the_choice_depends_on_it(rows):
    exact, region = (
        evaluate(*rows, prior=prior, n_resamples=200) for prior in (0.22, (0.12, 0.32))
    )
    low, high = exact.threshold_for(best="f1").threshold_interval
    wide_low, wide_high = region.threshold_for(best="f1").threshold_interval
    assert wide_high - wide_low > 1.1 * (high - low)
    # The best Matthews correlation is at the same threshold for every prior.
    best = {"best": "matthews_corrcoef"}
    expected = exact.threshold_for(**best).threshold_interval
    assert region.threshold_for(**best).threshold_interval == expected
    estimated = evaluate(*rows, n_resamples=200).threshold_for(best="f1").threshold_interval
    assert estimated[1] - estimated[0] > high - low


def test_without_a_rule_or_intervals_there_is_none(rows):
    ev = evaluate(*rows, prior=0.22, level=None)
    assert all(map(math.isnan, ev.threshold_for(best="f1").threshold_interval))
    assert "CI" not in str(ev.threshold_for(best="f1"))
    point = evaluate(*rows, prior=0.22, n_resamples=100).at(1.0)
    assert all(map(math.isnan, point.threshold_interval))


def test_an_unreached_goal_is_a_threshold_above_all_scores(rows):
    ev = evaluate(*rows, prior=0.22, n_resamples=200)
    point = ev.threshold_for(precision=0.97)
    assert point.reached < 0.975
    assert point.threshold_interval[1] == math.inf
    assert "above all scores" in str(point)


def coverage(replications, n, *, n_resamples=300, separation=1.5, seed=1, **goal):
    """Return how often the interval holds the best threshold of the population."""
    threshold = np.linspace(-4, 6, 20_001)
    tpr, fpr = norm.sf(threshold - separation), norm.sf(threshold)
    tp, fp = PREVALENCE * tpr, (1 - PREVALENCE) * fpr
    values = {
        "f1": 2 * tp / (tp + fp + PREVALENCE),
        "matthews_corrcoef": (tpr - fpr) / np.sqrt((tp + fp) * (1 - tp - fp)),
        "cost": -fp - 5 * (PREVALENCE - tp),
    }
    true = threshold[np.argmax(values[goal.get("best", "cost")])]
    rng, held = np.random.default_rng(seed), []
    for number in range(replications):
        y, score = draw(n, rng, separation)
        ev = evaluate(y, score, prevalence=PREVALENCE, n_resamples=n_resamples, seed=number)
        low, high = ev.threshold_for(**goal).threshold_interval
        held.append(low <= true <= high)
    return float(np.mean(held))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
@pytest.mark.parametrize("goal", [{"best": "f1"}, {"best": "matthews_corrcoef"}, {"cost": (1, 5)}])
def test_coverage(goal):
    assert coverage(60, 1500, **goal) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 60)
