"""Means of functions of the score against slow sums over rows, and against scikit-learn."""

import numpy as np
import pytest
import sklearn.metrics
from scipy.special import expit

from pueval import AssumptionWarning, Counts, InputError, Mixture, evaluate, expectation, metrics
from pueval.families import score_means
from pueval.families.mean_measures import MEAN_MEASURES
from pueval.families.score_means import ScoreMeans
from pueval.samples.device_values import DeviceValues
from pueval.samples.sample import Sample, SortedChunk, make_sample


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    kind = rng.choice([1, 0, -1], size=400, p=[0.2, 0.6, 0.2])
    score = rng.random(400).round(2)
    weight = rng.random(400) + 0.5
    return kind, score, weight


def slow_means(kind, score, weight, mixture, target, function):
    """Solve both mixture equations row by row."""
    values = function(score)

    def mean(which):
        return np.sum(weight[which] * values[which]) / np.sum(weight[which])

    n = [np.sum(weight[kind == k]) for k in (1, 0, -1)]
    background = (kind == 0) | (kind == -1)
    background_prior = mixture.prior * n[1] / (n[1] + n[2])
    matrix = [
        [mixture.purity, 1 - mixture.purity],
        [background_prior, 1 - background_prior],
    ]
    positive, negative = np.linalg.solve(matrix, [mean(kind == 1), mean(background)])
    if target == "unlabeled":
        prevalence = mixture.prior
        everybody = prevalence * positive + (1 - prevalence) * negative
    else:
        prevalence = (mixture.purity * n[0] + mixture.prior * n[1]) / sum(n)
        everybody = mean(np.ones(kind.size, dtype=bool))
    return positive, negative, everybody, prevalence


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("mixture", [Mixture(0.0, 1.0), Mixture(0.3, 1.0), Mixture(0.2, 0.8)])
@pytest.mark.parametrize("weighted", [False, True])
def test_corrected_means_solve_the_mixture_equations(rows, mixture, target, weighted):
    kind, score, weight = rows
    weight = weight if weighted else np.ones(kind.size)
    counts = Counts.from_arrays(
        kind,
        score,
        sample_weight=weight if weighted else None,
        unlabeled_label=0,
        negative_label=-1,
    )
    means = ScoreMeans(counts, lambda s: np.stack([s, np.sin(9 * s)])).corrected(mixture, target)
    for k, function in enumerate([lambda s: s, lambda s: np.sin(9 * s)]):
        expected = slow_means(kind, score, weight, mixture, target, function)
        found = means.positive[k], means.negative[k], means.everybody[k], means.prevalence
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_correction_they_are_those_of_scikit_learn(rows, dtype, weighted):
    kind, score, weight = rows
    y, score = (kind == 1).astype(int), score.astype(dtype)
    score[:3] = [0, 1, 1]
    weight = weight if weighted else None
    for name in ("brier_score_loss", "log_loss", "d2_log_loss_score"):
        expected = getattr(sklearn.metrics, name)(y, score, sample_weight=weight)
        found = getattr(metrics, name)(y, score, prior=0, sample_weight=weight)
        assert found == pytest.approx(expected, rel=1e-12 if dtype is np.float64 else 1e-6)
    reference = np.full(y.size, np.average(y, weights=weight))
    brier, constant = (
        sklearn.metrics.brier_score_loss(y, p, sample_weight=weight) for p in (score, reference)
    )
    found = metrics.d2_brier_score(y, score, prior=0, sample_weight=weight)
    assert found == pytest.approx(1 - brier / constant, rel=1e-6)


def test_true_probabilities_of_a_large_sample():
    """Corrected values are those with true classes, up to sampling; naive ones are far off."""
    rng = np.random.default_rng(1)
    positive = rng.random(200_000) < 0.3
    score = expit(rng.normal(size=positive.size) + 2 * positive - 1.5)
    y = positive & (rng.random(positive.size) < 0.2)
    for name in ("brier_score_loss", "log_loss", "d2_log_loss_score"):
        truth = getattr(sklearn.metrics, name)(positive, score)
        estimate = evaluate(y, score, prevalence=0.3, n_resamples=200)[name]
        assert estimate.low < truth < estimate.high
        assert abs(estimate.value - truth) < 0.1 * abs(estimate.naive - truth)
        function = getattr(metrics, name)
        mixture = Mixture.from_prevalence(Counts.from_arrays(y, score), 0.3)
        assert function(y, score, prior=mixture.prior) == pytest.approx(estimate.value)


def test_measures_of_probabilities_refuse_other_scores(rows):
    kind, score, _ = rows
    y, score = kind == 1, 3 * score - 1
    with pytest.raises(InputError, match="log_loss needs probabilities, but scores range from -1"):
        metrics.log_loss(y, score, prior=0.1)
    ev = evaluate(y, score, prior=0.0, n_resamples=50, threshold=1)
    with pytest.raises(InputError, match="predict_proba"):
        ev["brier_score_loss"]
    assert "brier_score_loss" not in [*ev]
    with pytest.raises(KeyError, match="Did you mean 'brier_score_loss'"):
        ev["brier_score"]


def test_skill_scores_need_both_classes():
    y, score = [1, 1, 0, 0], [0.9, 0.8, 0.7, 0.2]
    for metric in (metrics.d2_brier_score, metrics.d2_log_loss_score):
        assert np.isfinite(metric(y, score, prior=0.0))
        assert np.isnan(metric(y, score, prior=0.0, target="unlabeled"))


def test_values_outside_their_range_are_clipped_with_a_warning():
    with pytest.warns(AssumptionWarning, match="brier_score_loss is -0.3 and was clipped to 0"):
        assert metrics.brier_score_loss([1, 0, 0, 0], [1, 1, 0.5, 0.5], prior=0.9) == 0


def test_functions_that_do_not_fit(rows):
    kind, score, _ = rows
    counts = Counts.from_arrays(kind == 1, score)
    with pytest.raises(InputError, match="one number per score; got shape \\(\\)"):
        expectation(np.mean, counts, prior=0.1, level=None)
    with pytest.raises(InputError, match="finite numbers; got inf at the score 0"):
        expectation(lambda s: np.where(s > 0, s, np.inf), counts, prior=0.1, level=None)
    call = r"Call expectation\(function, y, score, …\)"
    for swapped in ((kind == 1, score), (kind == 1, score, np.mean)):
        with pytest.raises(InputError, match=f"the first argument is the function. {call}"):
            expectation(*swapped, prior=0.1)
    with pytest.raises(InputError, match=f"score is missing. {call}"):
        expectation(np.square, kind == 1, prior=0.1)
    ev = evaluate(counts, prior=0.1, level=None)
    with pytest.raises(InputError, match="function must be callable; got 3."):
        ev.expectation(3)


@pytest.mark.parametrize(
    "known",
    ["given", "interval", "estimated", "noisy", "negatives", "propensity", "weights", "labeling"],
)
def test_intervals_hold_the_truth(known):
    """Coverage of about 95 %: two-sided where everything is known, at least that elsewhere."""
    replications, held = 60, []
    for seed in range(replications):
        rng = np.random.default_rng([7, seed])
        positive = rng.random(1500) < 0.3
        score = expit(1.5 * (rng.normal(size=1500) + 2 * positive - 1.2))
        chance, told = np.full(1500, 0.3), {"prevalence": 0.3}
        if known == "propensity":
            chance = 0.15 + 0.5 * score
            told = {"propensity": chance}
        y = (positive & (rng.random(1500) < chance)).astype(int)
        if known == "interval":
            told = {"prevalence": (0.27, 0.33)}
        elif known == "estimated":
            told = {}
        elif known == "noisy":
            y |= ~positive & (rng.random(1500) < 0.02)
            told |= {"purity": 0.3 * 0.3 / (0.3 * 0.3 + 0.7 * 0.02)}
        elif known == "negatives":
            y[~positive & (rng.random(1500) < 0.1)] = -1
            told |= {"negative_label": -1}
        elif known == "weights":
            told |= {"sample_weight": rng.exponential(size=1500)}
        elif known == "labeling":
            told = {"prevalence": positive.mean(), "variance": "labeling"}
        ev = evaluate(y, score, threshold=0.5, n_resamples=200, seed=seed, **told)
        # The exact mean of the Brier score and of the score itself in the population.
        grid = np.linspace(-8, 8, 4001)
        weight = np.exp(-(grid**2) / 2) / np.exp(-(grid**2) / 2).sum()
        p = [expit(1.5 * (grid + 2 * t - 1.2)) for t in (0, 1)]
        brier = 0.7 * weight @ p[0] ** 2 + 0.3 * weight @ (1 - p[1]) ** 2
        mean = weight @ p[1]
        if known == "labeling":
            brier, mean = np.mean((score - positive) ** 2), score[positive].mean()
        found = ev["brier_score_loss"], ev.expectation(lambda s: s).positives
        held.append([e.low <= true <= e.high for e, true in zip(found, (brier, mean), strict=True)])
    coverage = np.mean(held, axis=0)
    assert coverage.min() >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / replications)
    if known in {"given", "noisy", "negatives", "weights"}:
        assert coverage.max() < 1


def test_all_measures_have_a_finite_estimate_and_a_title():
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.3
    score = expit(rng.normal(size=2000) + 2 * positive - 1)
    ev = evaluate(positive & (rng.random(2000) < 0.3), score, prevalence=0.3, n_resamples=100)
    for name, measure in MEAN_MEASURES.items():
        estimate = ev[name]
        assert measure.title
        assert estimate.low < estimate.value < estimate.high
        assert ev[name] is estimate


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [3, 50, 1000])
def test_means_of_cells_are_those_of_their_rows(rows, weighted, block, monkeypatch):
    """Blocks of rows can lie within a cell, or hold several cells."""
    monkeypatch.setattr(score_means, "BLOCK", block)
    _, score, weight = rows
    weight = weight if weighted else np.ones(score.size)
    sample = make_sample(score.copy(), weight, weight**2) if weighted else make_sample(score.copy())
    thresholds = np.array([2.0, 0.9, 0.9, 0.55, 0.5, 0.1])
    functions = [lambda s: s, lambda s: np.sin(9 * s)]
    means = score_means.cell_means(
        sample, thresholds, lambda s: np.stack([f(s) for f in functions]), 2
    )
    within = np.zeros((2, 2))
    for k, low in enumerate(thresholds):
        cell = (score >= low) & (score < (thresholds[k - 1] if k else np.inf))
        assert means.weight[k] == pytest.approx(weight[cell].sum(), rel=1e-12)
        if cell.any():
            values = np.stack([f(score[cell]) for f in functions])
            mean = np.average(values, axis=1, weights=weight[cell])
            np.testing.assert_allclose(means.cell[:, k], mean, rtol=1e-12)
            centered = values - mean[:, None]
            within += (weight[cell] ** 2 * centered) @ centered.T
    total = weight[score >= 0.1].sum()
    np.testing.assert_allclose(means.within, within / total**2, rtol=1e-9)


def test_cells_of_float32_scores_on_a_device_are_those_on_the_host():
    """A float32 score of 0.7 is below the threshold 0.7."""
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.7], dtype=np.float32)
    threshold = np.array([0.7, 0.3, -np.inf])
    weights = [
        score_means.cell_means(
            Sample((SortedChunk(chunk),)), threshold, lambda s: s.astype(float)[None, :], 1
        ).weight
        for chunk in (values, DeviceValues(values))
    ]
    np.testing.assert_array_equal(*weights)
    np.testing.assert_array_equal(weights[0], [0, 3, 2])
