"""Measures of false positive rates near 0: smoothing, its noise, and when there is none."""

import numpy as np
import pytest
from scipy.stats import norm, truncnorm

from pueval import Counts, Mixture, evaluate
from pueval.core.rates import Rates
from pueval.families.ranked_rows import RankedRows, roc_rates
from pueval.families.roc_measures import (
    ERROR_SHARE,
    N_QUANTILES,
    _quantile_lines,
    fpr_noise,
    logauc,
    roc_enrichment,
)

MEASURES = (logauc(), roc_enrichment())


def sample(rng, n=2000, prevalence=0.3, frequency=0.3, distance=1.5):
    positive = rng.random(n) < prevalence
    score = rng.normal(size=n) + distance * positive
    return positive, positive & (rng.random(n) < frequency), score


def ranked(counts, target="population"):
    return RankedRows(counts, counts._roc_corners(), target)


def along_monotone_curve(measure, counts, mixture):
    return float(measure(roc_rates(counts, counts._roc_corners(), mixture, "population")))


def functions(measure):
    """Return the function of the false positive rate of which the measure is a mean."""
    if measure.name == "logauc":
        return lambda fpr: np.log(np.clip(fpr, 0.001, 1)) / np.log(0.001)
    return lambda fpr: (fpr <= 0.01) / 0.01


class TestNoise:
    def test_it_is_the_variance_that_hidden_labels_add(self):
        rng = np.random.default_rng(0)
        threshold, excess, expected = 1.5, [], []
        for _ in range(400):
            positive, labeled, score = sample(rng)
            share = positive[~labeled].mean()
            counts = Counts.from_arrays(labeled, score)
            above = score >= threshold
            recall, background = above[labeled].mean(), above[~labeled].mean()
            excess.append((background - share * recall) / (1 - share) - above[~positive].mean())
            expected.append(fpr_noise(counts, Mixture(share)) * norm.sf(0) * norm.cdf(0))
        assert np.var(excess) == pytest.approx(np.mean(expected), rel=0.2)

    def test_there_is_none_without_a_correction(self):
        _, labeled, score = sample(np.random.default_rng(1))
        counts = Counts.from_arrays(labeled, score)
        assert fpr_noise(counts, Mixture(0.0)) == 0
        for measure in MEASURES:
            value = ranked(counts).value(measure, Mixture(0.0))
            assert value == pytest.approx(ranked(counts).naive(measure), abs=1e-12)
            monotone = along_monotone_curve(measure, counts, Mixture(0.0))
            assert value == pytest.approx(monotone, abs=1e-12)

    def test_weights(self):
        """Frequency weights are repeated rows; the scale of importance weights has no effect."""
        rng = np.random.default_rng(2)
        _, labeled, score = sample(rng, 500)
        times, mixture = rng.integers(1, 4, labeled.size), Mixture(0.2)
        weighted = Counts.from_arrays(labeled, score, sample_weight=times)
        repeated = Counts.from_arrays(np.repeat(labeled, times), np.repeat(score, times))
        assert fpr_noise(weighted, mixture) == pytest.approx(fpr_noise(repeated, mixture))
        weight = rng.exponential(size=labeled.size)
        one, other = (
            Counts.from_arrays(labeled, score, sample_weight=scale * weight) for scale in (1, 1e-3)
        )
        assert fpr_noise(one, mixture) == pytest.approx(fpr_noise(other, mixture))
        assert fpr_noise(one, mixture) > fpr_noise(Counts.from_arrays(labeled, score), mixture)


class TestSmoothing:
    def test_quantiles_are_those_of_a_truncated_normal_distribution(self):
        fpr, error = np.array([-0.3, -0.01, 0.0, 0.004, 0.02, 0.5]), np.full(6, 0.01)
        noisy = np.array([True] * 5 + [False])  # the last is far above 0
        lines = np.array(_quantile_lines(fpr, error, noisy))
        level = (np.arange(N_QUANTILES)[::-1] + 0.5)[:, None] / N_QUANTILES
        expected = truncnorm.ppf(level, -fpr / error, np.inf, fpr, error)
        np.testing.assert_allclose(lines[:, 1:5], expected[:, 1:5], rtol=1e-6)
        assert np.all((lines[:, 0] >= 0) & (lines[:, 0] < 0.002))
        np.testing.assert_array_equal(lines[:, 5], 0.5)

    @pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
    def test_slow_version(self, measure):
        """The mean over the labeled rows, for rates in the middle of each row's step."""
        _, labeled, score = sample(np.random.default_rng(3), 4000)
        counts, mixture = Counts.from_arrays(labeled, score), Mixture(0.22)
        at, background = np.sort(score[labeled])[::-1], score[~labeled]
        recall = (np.arange(at.size) + 0.5) / at.size
        fpr = ((background > at[:, None]).mean(axis=1) - 0.22 * recall) / 0.78
        error = ERROR_SHARE * np.sqrt(fpr_noise(counts, mixture) * recall * (1 - recall))
        level = (np.arange(400) + 0.5) / 400
        drawn = truncnorm.ppf(level, -(fpr / error)[:, None], np.inf, fpr[:, None], error[:, None])
        expected = functions(measure)(drawn).mean()
        assert ranked(counts).value(measure, mixture) == pytest.approx(expected, rel=0.01)

    def test_lines_may_be_long(self):
        """With few thresholds, positives are spread evenly between them."""
        tpr, fpr = np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.1, 1.0])
        fine = np.linspace(0, 1, 100_001)
        rates = Rates(np.array([2.0, 1.0, 0.0]), tpr, fpr, tpr, 0.3, 100)
        for measure in MEASURES:
            expected = functions(measure)(np.interp(fine, tpr, fpr)).mean()
            assert float(measure(rates)) == pytest.approx(expected, abs=1e-3 * measure.high)

    def test_it_vanishes_with_many_rows(self):
        _, labeled, score = sample(np.random.default_rng(4), 400_000, distance=1.0)
        counts = Counts.from_arrays(labeled, score)
        mixture = Mixture.from_prevalence(counts, 0.3)
        for measure in MEASURES:
            monotone = along_monotone_curve(measure, counts, mixture)
            assert ranked(counts).value(measure, mixture) == pytest.approx(monotone, rel=0.01)

    def test_less_bias_than_along_the_monotone_curve(self):
        """The truth is that of normal scores with an AUC of .76."""
        rng = np.random.default_rng(5)
        fpr = norm.sf(norm.isf((np.arange(10_000) + 0.5) / 10_000) + 1.0)
        values = []
        for _ in range(60):
            _, labeled, score = sample(rng, 1000, distance=1.0)
            counts = Counts.from_arrays(labeled, score)
            mixture = Mixture.from_prevalence(counts, 0.3)
            rows = ranked(counts)
            values.append(
                [
                    [
                        rows.value(measure, mixture),
                        rows.naive(measure),
                        along_monotone_curve(measure, counts, mixture),
                    ]
                    for measure in MEASURES
                ]
            )
        for measure, (value, naive, monotone) in zip(
            MEASURES, np.mean(values, axis=0), strict=True
        ):
            truth = functions(measure)(fpr).mean()
            assert abs(value - truth) < 0.5 * abs(monotone - truth)
            assert abs(value - truth) < 0.3 * abs(naive - truth)


def test_intervals_contain_the_estimate():
    for seed in range(5):
        _, labeled, score = sample(np.random.default_rng(seed), distance=2.5)
        ev = evaluate(labeled, score, prevalence=0.3, n_resamples=200)
        for measure in MEASURES:
            estimate = ev[measure.name]
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= measure.high
