"""Limits for the population allow for how many rows happen to be labeled."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import norm

from pueval import (
    AssumptionWarning,
    Counts,
    InputError,
    Mixture,
    claesen_bounds,
    compare,
    evaluate,
    evaluate_by,
)
from pueval.core.average_precision import average_precision, average_precision_slope
from pueval.core.rates import correct_steps, replace_prevalence
from tests.conftest import draw

# Nearly all positives are labeled and reach the threshold: precision then hangs on how many.
PREVALENCE, FREQUENCY, THRESHOLD = 0.1, 0.8, -0.2
PRIOR = PREVALENCE * (1 - FREQUENCY) / (1 - PREVALENCE * FREQUENCY)
RECALL, FALLOUT = norm.sf(THRESHOLD - 2), norm.sf(THRESHOLD)
PRECISION = PREVALENCE * RECALL / (PREVALENCE * RECALL + (1 - PREVALENCE) * FALLOUT)


def sample(rng, n=1000):
    positive = rng.random(n) < PREVALENCE
    return positive & (rng.random(n) < FREQUENCY), rng.normal(size=n) + 2 * positive


def held(one, truth):
    return one.low <= truth <= one.high


@pytest.mark.thorough
def test_precision_of_the_population():
    """With the number of labeled rows taken as fixed, fewer than 60 in 100 hold it."""
    rng = np.random.default_rng(0)
    alone, among = [], []
    for seed in range(120):
        y, score = sample(rng)
        given = {"prior": PRIOR, "threshold": THRESHOLD, "seed": seed}
        alone.append(held(evaluate(y, score, n_resamples=200, **given)["precision"], PRECISION))
        models = {"a": score, "b": score + rng.normal(size=score.size)}
        among.append(held(compare(y, models, **given)["a"]["precision"], PRECISION))
    assert 0.88 <= np.mean(alone) <= 0.99
    assert 0.88 <= np.mean(among) <= 0.99


def test_where_every_class_is_known(rng):
    """Limits of precision are then nearly those of a share of the rows predicted positive."""
    positive, score, _ = draw(rng, 2000, prevalence=0.3, label_frequency=1)
    ev = evaluate(np.where(positive, 1, -1), score, negative_label=-1, threshold=0.5)
    predicted = np.sum(score >= 0.5)
    found = ev["precision"]
    error = math.sqrt(found.value * (1 - found.value) / predicted)
    assert found.standard_error == pytest.approx(error, rel=0.06)


def test_equal_groups_are_seldom_found_to_differ():
    rng = np.random.default_rng(4)
    found, any_found = [], 0
    for _ in range(12):
        y, score = sample(rng, 10_000)
        groups = evaluate_by(
            y, score, np.repeat(np.arange(10), 1000), prior=PRIOR, threshold=THRESHOLD,
            n_resamples=2,
        )  # fmt: skip
        for name in ("precision", "f1"):
            differences = groups.differences(name)
            found += [*(differences.pvalue < 0.05)]
            any_found += bool((differences.adjusted_pvalue < 0.05).any())
    # It was 47 % of them, and in every replication.
    assert np.mean(found) < 0.06
    assert any_found <= 3


def test_slope_of_the_average_precision(rng):
    _, score, labeled = draw(rng, 1500, prevalence=0.3, label_frequency=0.4)
    counts = Counts.from_arrays(labeled, np.round(score, 2))
    these = correct_steps(counts, counts._roc_corners(), Mixture(0.2, 0.95))
    step = 1e-6
    ends = [
        average_precision(replace_prevalence(these, these.prevalence + sign * step))
        for sign in (1, -1)
    ]
    assert average_precision_slope(these) == pytest.approx((ends[0] - ends[1]) / (2 * step))


@pytest.mark.filterwarnings("ignore:corrected values outside:pueval.AssumptionWarning")
def test_label_frequency_of_the_unlabeled_rows():
    """The prior follows from the number of labeled rows there, too."""
    prior = 0.3 * 0.7 / (1 - 0.3 * 0.3)
    recall, fallout = norm.sf(0.5 - 2), norm.sf(0.5)
    truth = prior * recall / (prior * recall + (1 - prior) * fallout)
    rng = np.random.default_rng(1)
    found = []
    for seed in range(100):
        positive = rng.random(1000) < 0.3
        score = rng.normal(size=1000) + 2 * positive
        ev = evaluate(
            positive & (rng.random(1000) < 0.3), score, label_frequency=0.3, target="unlabeled",
            threshold=0.5, n_resamples=200, seed=seed,
        )  # fmt: skip
        found.append(held(ev["precision"], truth))
    assert 0.87 <= np.mean(found) <= 0.99


def test_a_perfect_ranking_of_few_rows_is_not_certain():
    y, score = np.repeat([1, 0], [5, 100]), np.arange(105)[::-1]
    found = evaluate(y, score, prior=0.0)["roc_auc"]
    assert found.value == 1
    assert found.low < 0.85


@pytest.mark.parametrize("purity", [0.8, 0.6])
def test_labels_drawn_again_lie_around_the_estimate(rng, purity):
    n = 6000
    positive = rng.random(n) < 0.4
    score = rng.normal(size=n) + 2 * positive
    labeled = rng.random(n) < np.where(positive, 0.3 * purity, 0.3 * (1 - purity) * 0.4 / 0.6)
    prior = positive[~labeled].mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(
            labeled, score, prior=prior, purity=purity, threshold=1.0, variance="labeling"
        )
    drawn = ev._resamples.resampled_rates
    column = int(np.flatnonzero(drawn.threshold == 1.0)[0])
    assert drawn.tpr[:, column].mean() == pytest.approx(ev["recall"].unclipped, abs=0.02)


def test_a_prevalence_that_is_a_little_too_small(rng):
    labeled = np.arange(1000) < 110
    score = rng.normal(size=1000) + 2 * labeled
    with pytest.warns(AssumptionWarning, match="the prior is set to 0"):
        ev = evaluate(labeled, score, prevalence=0.1)
    assert ev.prior == 0
    assert ev["precision"].low < ev["precision"].value
    with pytest.raises(InputError, match=r"prevalence must be in .*; got 0.05"):
        evaluate(labeled, score, prevalence=0.05)


def test_thresholds_inside_a_bin_are_said(rng):
    _, score, labeled = draw(rng, 20_000, prevalence=0.3, label_frequency=0.4)
    counts = Counts.from_arrays(labeled, score).to_bins(16)
    wide = counts._wide_bin_scores()
    inside = float(wide[wide > 1][0]) * 1.01
    with pytest.warns(AssumptionWarning, match="lies inside a bin"):
        evaluate(counts, prior=0.2, threshold=inside)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(counts, prior=0.2, threshold=float(wide[wide > 1][0]))


@pytest.mark.filterwarnings("ignore:corrected values outside:pueval.AssumptionWarning")
def test_small_propensities_are_said(rng):
    positive = rng.random(1000) < 0.3
    propensity = np.where(rng.random(1000) < 0.2, 0.6, 0.02)
    y = positive & (rng.random(1000) < propensity)
    score = rng.normal(size=1000) + 2 * positive
    with pytest.warns(AssumptionWarning, match="reduce the effective number of labeled rows"):
        evaluate(y, score, propensity=propensity)


def test_bounds_where_no_labeled_row_lies_beyond():
    """Rows drawn again from five cannot be others; exact limits of shares allow for them."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(60):
        positive = rng.random(400) < 0.3
        score = rng.normal(size=400) + 1.5 * positive
        y = np.zeros(400, dtype=bool)
        y[rng.choice(np.flatnonzero(positive), 5, replace=False)] = True
        hidden = positive[~y].mean()
        low, high = claesen_bounds(Counts.from_arrays(y, score), prior=hidden).roc_auc
        pairs = score[positive][:, None] > score[~positive]
        found.append(low <= pairs.mean() <= high)
    assert np.mean(found) > 0.9
