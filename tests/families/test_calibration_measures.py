"""Expected calibration error, slope and intercept, against slow versions and row by row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from pueval import Counts, InputError, compare, evaluate, metrics
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_steps
from pueval.families.calibration_line import CalibrationBins, debiased_distance, observed_shares
from pueval.families.calibration_measures import (
    BIAS_AT_ZERO,
    CALIBRATION_MEASURES,
    distance_of_bins,
    error_bins,
    possible_bias,
    share_errors,
)


def draw(n, *, seed=0, spread=1.5):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = expit(spread * (rng.normal(size=n) + 2 * positive - 1.5))
    return positive, positive & (rng.random(n) < 0.4), score


def mean_distance(mu, error):
    """Return the mean of |N(μ, error²)|."""
    z = mu / error
    return error * (2 * norm.pdf(z) + z * (1 - 2 * norm.cdf(-z)))


def slow_error(positive_share, score, labeled, n_bins, prevalence, variance_of):
    """The expected calibration error bin by bin; distances are corrected by root finding."""
    edges = np.quantile(score, np.arange(1, n_bins) / n_bins)
    bin_of = np.searchsorted(edges, score)
    total = 0.0
    for b in range(n_bins):
        inside = bin_of == b
        share, rows = labeled[inside].sum() / labeled.sum(), inside.mean()
        observed = prevalence * share / rows if positive_share is None else positive_share[inside]
        distance = abs(np.mean(observed) - score[inside].mean())
        error = np.sqrt(variance_of(share, rows))
        if error == 0:
            total += rows * distance
            continue
        if distance <= mean_distance(0, error):
            continue
        total += rows * brentq(lambda mu, d=distance, e=error: mean_distance(mu, e) - d, 0, 1)
    return total


@pytest.mark.parametrize("n_bins", [3, 10])
def test_error_against_a_slow_version_with_known_negatives_only(n_bins):
    """Without unlabeled positives: shares of positives among binomial numbers of two kinds."""
    positive, _, score = draw(2000)
    found = metrics.expected_calibration_error(positive, score, prior=0, n_bins=n_bins)
    n, pi = positive.size, positive.mean()

    def variance(share, rows):
        # o = π·l/θ with θ = π·l + (1 − π)·u; l and u are independent.
        other = (rows - pi * share) / (1 - pi)
        by_labeled = pi / rows - pi * share * pi / rows**2
        by_other = -pi * share * (1 - pi) / rows**2
        return by_labeled**2 * share * (1 - share) / (pi * n - 1) + by_other**2 * other * (
            1 - other
        ) / ((1 - pi) * n - 1)

    slow = slow_error(None, score, positive, n_bins, pi, variance)
    assert found == pytest.approx(slow, abs=1e-7)


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_standard_errors_are_those_of_a_bootstrap(target):
    _, labeled, score = draw(4000)
    mixture = Mixture(0.2, 0.9)
    counts = Counts.from_arrays(labeled, score)
    bins = error_bins(counts, mixture, target)
    found = share_errors(counts, bins, mixture, target)
    rng, drawn = np.random.default_rng(1), []
    kinds = [np.flatnonzero(labeled), np.flatnonzero(~labeled)]
    for _ in range(400):
        rows = np.concatenate([rng.choice(kind, kind.size) for kind in kinds])
        again = Counts.from_arrays(labeled[rows], score[rows])
        # The same bins, with other rows in them.
        rates = correct_steps(again, again.at(bins.threshold), mixture, target)
        drawn.append(observed_shares(rates))
    np.testing.assert_allclose(found, np.std(drawn, axis=0), rtol=0.2)


def test_standard_errors_with_clusters_are_those_of_a_bootstrap_of_clusters():
    rng = np.random.default_rng(2)
    n_clusters, size = 200, 20
    cluster = np.repeat(np.arange(n_clusters), size)
    common, other = rng.normal(size=(2, n_clusters))[:, cluster]
    log_odds = common + rng.normal(size=cluster.size) - 1
    labeled = rng.random(cluster.size) < 0.4 * expit(log_odds + 3 * other)
    score, mixture = expit(log_odds), Mixture(0.2)
    counts = Counts.from_arrays(labeled, score, cluster=cluster)
    bins = error_bins(counts, mixture, "population")
    found = share_errors(counts, bins, mixture, "population")
    drawn = []
    for _ in range(300):
        rows = np.add.outer(size * rng.integers(n_clusters, size=n_clusters), np.arange(size))
        again = Counts.from_arrays(labeled[rows.ravel()], score[rows.ravel()])
        rates = correct_steps(again, again.at(bins.threshold), mixture, "population")
        drawn.append(observed_shares(rates))
    spread = np.std(drawn, axis=0)
    independent = Counts.from_arrays(labeled, score)
    too_small = share_errors(independent, bins, mixture, "population")
    np.testing.assert_allclose(found, spread, rtol=0.2)
    assert np.mean(too_small / spread) < 0.9


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize(
    "given", [{"prevalence": 0.3}, {"label_frequency": 0.4}, {}, {"prevalence": 0.3, "cluster": 0}]
)
def test_error_is_the_same_with_and_without_intervals_and_in_comparisons(given):
    _, labeled, score = draw(3000, spread=2)
    if "cluster" in given:
        given = given | {"cluster": np.arange(3000) // 10}
    name, values = "expected_calibration_error", []
    for level in (0.95, None):
        values.append(evaluate(labeled, score, level=level, **given)[name].unclipped)
        comparison = compare(labeled, {"a": score, "b": score**2}, level=level, **given)
        values += [comparison["a"][name].unclipped, comparison.values(name)["a"]]
    np.testing.assert_allclose(values, values[0], rtol=1e-9)
    assert values[0] > 0.005


def test_error_of_calibrated_scores_is_nearly_zero():
    rng = np.random.default_rng(3)
    plain, found = [], []
    for _ in range(30):
        p = rng.beta(1, 3, size=3000)
        labeled = (rng.random(3000) < p) & (rng.random(3000) < 0.3)
        counts = Counts.from_arrays(labeled, p)
        mixture = Mixture((0.25 - labeled.mean()) / (1 - labeled.mean()))
        bins = error_bins(counts, mixture, "population")
        rows = bins.rows
        plain.append(distance_of_bins(bins.observed * rows, rows, bins.score))
        found.append(
            CALIBRATION_MEASURES["expected_calibration_error"](counts, mixture, "population")
        )
    assert np.mean(plain) > 0.03
    assert np.mean(found) < 0.7 * np.mean(plain)


def test_possible_bias_of_distances_is_that_of_simulations():
    rng = np.random.default_rng(0)
    for mu, bias in ((0.0, BIAS_AT_ZERO), (4.0, 0.0)):
        drawn = debiased_distance(rng.normal(mu, 1, size=40_000), np.ones(40_000))
        assert drawn.mean() - mu == pytest.approx(bias, abs=0.02)
    bins = CalibrationBins(*(np.array([0.5]) for _ in range(5)))
    assert possible_bias(bins, np.array([0.1])) == pytest.approx(0.025)  # half of the rows
    assert possible_bias(bins._replace(observed=np.array([0.9])), np.array([0.1])) == 0


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("name", [*CALIBRATION_MEASURES])
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_functions_are_the_estimates_of_evaluate(name, purity):
    _, labeled, score = draw(3000)
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, size=3000)
    y = np.where(~labeled & (rng.random(3000) < 0.1), -1, labeled.astype(int))
    options = {"prior": 0.2, "purity": purity, "negative_label": -1, "sample_weight": weight}
    ev = evaluate(y, score, level=None, **options)
    value = getattr(metrics, name)(y, score, **options)
    assert value == pytest.approx(ev[name].unclipped, abs=1e-12)
    rows = np.repeat(np.arange(3000), weight)
    repeated = getattr(metrics, name)(
        y[rows], score[rows], prior=0.2, purity=purity, negative_label=-1
    )
    assert repeated == pytest.approx(value, abs=1e-9)
    calibration = evaluate(y, score, level=None, **options).calibration()
    assert calibration.error == ev["expected_calibration_error"]
    assert calibration.slope == ev["calibration_slope"]
    assert calibration.intercept == ev["calibration_intercept"]


def test_without_correction_the_line_is_a_logistic_regression():
    positive, _, score = draw(3000)
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(logit(score)[:, None], positive)
    slope = metrics.calibration_slope(positive, score, prior=0)
    intercept = metrics.calibration_intercept(positive, score, prior=0)
    assert slope == pytest.approx(model.coef_[0, 0], rel=1e-6)
    assert intercept == pytest.approx(model.intercept_[0], abs=1e-6)


def test_there_is_a_line_although_trees_predict_0_and_1():
    """Their log-odds are ±36, so long steps toward the largest likelihood miss it."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, size=2000)
    score = rng.binomial(10, p) / 10  # shares of ten trees
    labeled = (rng.random(2000) < p) & (rng.random(2000) < 0.4)
    found = evaluate(labeled, score, prevalence=0.25, threshold=0.5, n_resamples=100).calibration()
    intercept, slope = found.intercept.value, found.slope.value
    tiny = np.finfo(float).eps
    x = logit(score.clip(tiny, 1 - tiny))
    predicted = expit(intercept + slope * x)
    assert predicted.mean() == pytest.approx(0.25, abs=1e-9)
    assert (predicted * x).mean() == pytest.approx(0.25 * x[labeled].mean(), abs=1e-8)
    assert found.slope.low < slope < found.slope.high < 1
    assert found.intercept.low < intercept < found.intercept.high


@pytest.mark.parametrize("name", [*CALIBRATION_MEASURES])
@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_lines_of_shares_give_the_value_of_the_data(name, target):
    """At all distinct scores, shares hold everything; the error stays without its correction."""
    _, labeled, score = draw(800)
    counts, mixture = Counts.from_arrays(labeled, score), Mixture(0.2)
    measure = CALIBRATION_MEASURES[name]
    bins = error_bins(counts, mixture, target)
    threshold = np.union1d(score, bins.threshold)[::-1]
    shares = Shares.of(counts, counts.at(threshold))
    lines = Shares(*(None if share is None else np.stack([share, share]) for share in shares[:4]))
    found = measure.of_lines(counts, threshold, lines, mixture, target)
    expected = measure(counts, mixture, target)
    if name == "expected_calibration_error":
        expected = np.sum(bins.rows * np.abs(bins.observed - bins.score))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_refusals():
    _, labeled, score = draw(500)
    for name in CALIBRATION_MEASURES:
        with pytest.raises(InputError, match=f"{name} needs probabilities, but scores range"):
            getattr(metrics, name)(labeled, 2 * score, prior=0.2)
    with pytest.raises(InputError, match="n_bins must be"):
        metrics.expected_calibration_error(labeled, score, prior=0.2, n_bins=0)


def test_a_large_distance_without_error():
    """The share of positives in a bin with hardly any row can be large."""
    assert debiased_distance(np.array([1e6]), np.array([0.0])) == pytest.approx(1e6)
