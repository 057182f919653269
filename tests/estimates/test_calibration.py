"""Calibration against scikit-learn without correction, and against the truth with it."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from pueval import AssumptionWarning, Counts, InputError, evaluate, metrics
from pueval.core.mixture import Mixture
from pueval.displays import CalibrationDisplay
from pueval.families.calibration_line import calibration_line, debiased_distance
from pueval.families.score_means import ScoreMeans
from pueval.uncertainty.bin_intervals import BinIntervals
from pueval.uncertainty.calibration_intervals import CalibrationResamples
from tests.coverage.probabilities import (
    PROBABILITY_COLUMNS,
    ProbabilitySetting,
    measure_probabilities,
)


def draw(n, *, seed=0, spread=1.5, digits=None):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = expit(spread * (rng.normal(size=n) + 2 * positive - 1.5))
    labeled = positive & (rng.random(n) < 0.3)
    return positive, labeled, score if digits is None else score.round(digits)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("digits", [None, 1, 2])
def test_without_correction_the_curve_is_that_of_scikit_learn(strategy, digits):
    positive, _, score = draw(777, digits=digits)
    expected = calibration_curve(positive, score, n_bins=7, strategy=strategy)
    found = metrics.calibration_curve(positive, score, prior=0, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_without_correction_the_line_is_a_logistic_regression():
    positive, _, score = draw(3000)
    found = evaluate(positive, score, prior=0.0, level=None).calibration()
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(logit(score)[:, None], positive)
    assert found.slope.value == pytest.approx(model.coef_[0, 0], rel=1e-6)
    assert found.intercept.value == pytest.approx(model.intercept_[0], abs=1e-6)
    assert found.slope.naive == found.slope.value
    assert np.isnan(found.pvalue)
    assert np.isnan(found.low).all()


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_hidden_positives_are_recovered(target):
    positive, labeled, score = draw(200_000)
    in_target = ~labeled if target == "unlabeled" else np.ones(positive.size, dtype=bool)
    prior = positive[~labeled].mean()
    ev = evaluate(labeled, score, prior=prior, target=target, n_resamples=200, threshold=0.5)
    found = ev.calibration(bins=8)
    share, mean = calibration_curve(
        positive[in_target], score[in_target], n_bins=8, strategy="quantile"
    )
    np.testing.assert_allclose(found.score, mean, rtol=1e-9)
    np.testing.assert_allclose(found.observed, share, atol=0.02)
    assert np.mean((found.low <= share) & (share <= found.high)) >= 0.75
    assert found.rows.sum() == pytest.approx(in_target.sum())
    assert found.histogram.sum() == pytest.approx(in_target.sum())
    model = LogisticRegression(C=np.inf).fit(logit(score[in_target])[:, None], positive[in_target])
    for estimate, true in (
        (found.slope, model.coef_[0, 0]),
        (found.intercept, model.intercept_[0]),
    ):
        assert abs(estimate.value - true) < 3 * estimate.standard_error
    error = np.average(np.abs(share - mean))
    assert found.error.value == pytest.approx(error, abs=0.005)
    assert found.pvalue < 0.001


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_the_line_maximizes_the_likelihood_of_hidden_classes(target):
    """Slow version: the mean log-likelihood of all rows, row by row."""
    _, labeled, score = draw(600)
    prior = 0.22
    found = evaluate(labeled, score, prior=prior, target=target, level=None).calibration()
    x = logit(score)
    everybody = ~labeled if target == "unlabeled" else np.ones(600, dtype=bool)
    prevalence = prior if target == "unlabeled" else np.mean(np.where(labeled, 1, prior))

    def deviance(line):
        linear = line[0] + line[1] * x
        return np.logaddexp(0, linear[everybody]).mean() - prevalence * linear[labeled].mean()

    line = minimize(deviance, [0.0, 1.0], tol=1e-14).x
    assert [found.intercept.value, found.slope.value] == pytest.approx(line, abs=1e-5)


def test_noise_is_removed_from_absolute_differences():
    """The mean of |N(μ, σ)| goes back to μ; by simulation and at the ends."""
    rng = np.random.default_rng(0)
    mu, sigma = np.array([0.0, 0.02, 0.1, 0.5]), np.array([0.1, 0.05, 0.05, 1e-3])
    mean = np.abs(rng.normal(mu, sigma, size=(400_000, 4))).mean(axis=0)
    found = debiased_distance(mean, sigma)
    np.testing.assert_allclose(found[1:], mu[1:], atol=0.004)
    assert found[0] < 0.02
    assert debiased_distance(np.array([-0.3]), np.array([0.0])) == pytest.approx(0.3)


def test_scores_that_are_no_probabilities_are_refused():
    _, labeled, score = draw(500)
    ev = evaluate(labeled, 2 * score, prior=0.2, level=None)
    with pytest.raises(InputError, match="calibration needs probabilities, but scores range"):
        ev.calibration()
    above = evaluate(labeled, np.where(score > 0.5, 1 + 2e-16, score), prior=0.2, level=None)
    with pytest.raises(InputError, match=r"to 1\.0000000000000002\. Pass"):
        above.calibration()
    with pytest.raises(InputError, match="calibration_curve needs probabilities"):
        metrics.calibration_curve(labeled, 2 * score, prior=0.2)
    with pytest.raises(InputError, match="bins must be"):
        evaluate(labeled, score, prior=0.2, level=None).calibration(bins=1)
    with pytest.raises(InputError, match="bins must be at most 200; got 201"):
        evaluate(labeled, score, prior=0.2, level=None).calibration(bins=201)
    with pytest.raises(InputError, match="strategy must be"):
        metrics.calibration_curve(labeled, score, prior=0.2, strategy="width")


@pytest.mark.parametrize("prior", [0.25, (0.2, 0.3)])
def test_intervals_of_bins_need_only_the_ends_of_each_bin(prior, monkeypatch):
    """Rates of all bins for the interval of each would take time quadratic in their number."""
    _, labeled, score = draw(2000)
    ev = evaluate(labeled, score, prior=prior, n_resamples=100)
    resamples = ev._resample(np.array([0.8, 0.4, 0.2]))
    thresholds = np.array([0.8, 0.4, 0.2, -np.inf])
    together = BinIntervals(resamples, thresholds)
    expected = [together.interval(number) for number in range(4)]
    columns = []
    rates_for = type(resamples).rates_for

    def record(self, shares, mixture, part=None):
        columns.append(len(part))
        return rates_for(self, shares, mixture, part)

    monkeypatch.setattr(type(resamples), "rates_for", record)
    found = CalibrationResamples(resamples, thresholds, (0.0, 1.0))
    assert [found.bin_interval(number) for number in range(4)] == expected
    assert max(columns) == 2


@pytest.mark.parametrize("prior", [0.25, (0.2, 0.3), None])
def test_uncertain_priors_widen_the_intervals(prior):
    _, labeled, score = draw(4000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(labeled, score, prior=prior, n_resamples=200, threshold=0.5)
        known = evaluate(labeled, score, prior=ev.prior, n_resamples=200, threshold=0.5)
    found, narrow = ev.calibration(), known.calibration()
    assert found.slope.low <= found.slope.value <= found.slope.high
    if prior != 0.25:
        assert found.intercept.high - found.intercept.low > 1.2 * (
            narrow.intercept.high - narrow.intercept.low
        )
        assert np.mean(found.high - found.low) > 1.1 * np.mean(narrow.high - narrow.low)
        assert found.pvalue >= narrow.pvalue


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
@pytest.mark.parametrize("shares", ["prior", "purity"])
def test_intervals_for_a_range_contain_those_at_its_ends(shares):
    """Of the calibration error, and of bins with few or no labeled rows."""
    _, labeled, score = draw(2000, spread=2.5)
    ends = {"prior": (0.15, 0.3), "purity": (0.85, 1.0)}[shares]

    def calibration(value):
        known = {"prior": 0.22} | {shares: value}
        return evaluate(labeled, score, threshold=0.5, n_resamples=200, **known).calibration()

    found = calibration(ends)
    for end in map(calibration, ends):
        assert found.error.low <= end.error.low
        assert end.error.high <= found.error.high
        assert np.all(found.low <= end.low)
        assert np.all(end.high <= found.high)


def test_coverage_and_size():
    """Coverage of 95 %; calibrated scores are rejected in about 5 % of samples."""
    replications = 60
    measured = measure_probabilities(
        ProbabilitySetting("calibrated", 300), replications, n_resamples=200, seed=3
    )
    found = dict(zip(PROBABILITY_COLUMNS, measured, strict=True))
    error = np.sqrt(0.05 * 0.95 / replications)
    assert found.pop("bias / naive bias") < 0.1
    assert found.pop("rejected") <= 0.05 + 3 * error
    assert found.pop("bins") >= 0.92
    assert min(found.values()) >= 0.95 - 3 * error, found


def test_display():
    _, labeled, score = draw(3000)
    ev = evaluate(labeled, score, prevalence=0.3, n_resamples=100)
    display = CalibrationDisplay.from_evaluation(ev, bins=6, name="forest")
    assert display.line_.get_xdata().size == 6
    assert display.band_ is not None
    assert len(display.histogram_) == 50
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend[-1] == "share of rows"
    assert display.frame().shape == (6, 6)
    bare = CalibrationDisplay.compute(ev).plot(
        plot_naive=False, plot_band=False, plot_histogram=False
    )
    assert bare.band_ is bare.naive_line_ is bare.histogram_ is None


def test_without_hidden_positives_the_test_is_that_of_the_score_equations():
    """Slow version: mean and covariance of (t − s)·(1, x) over the rows."""
    rng = np.random.default_rng(2)
    score = expit(rng.normal(-1, 1.5, size=3000))
    positive = rng.random(3000) < expit(0.1 + 0.95 * logit(score))  # almost calibrated
    found = evaluate(positive, score, prior=0.0, n_resamples=2000, threshold=0.5).calibration()
    terms = (positive - score) * np.stack([np.ones(3000), logit(score)])
    mean, covariance = terms.mean(axis=1), np.cov(terms) / 3000
    statistic = mean @ np.linalg.solve(covariance, mean)
    n = positive.sum()
    pvalue = stats.f.sf(statistic * (n - 2) / (2 * (n - 1)), 2, n - 2)
    assert 1e-4 < pvalue < 0.9
    assert stats.chi2.isf(found.pvalue, 2) == pytest.approx(stats.chi2.isf(pvalue, 2), rel=0.12)


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
def test_intervals_exist_where_some_resamples_have_no_line():
    """With few labeled rows, resamples can look as if the classes were separated completely."""
    infinite = 0
    for seed in (0, 1, 3):
        rng = np.random.default_rng(seed)
        positive = rng.random(300) < 0.3
        score = np.where(positive, rng.beta(4, 2, 300), rng.beta(2, 4, 300))
        labeled = positive & (rng.random(300) < 0.3)
        ev = evaluate(labeled, score, prevalence=0.3, n_resamples=300, threshold=0.5)
        found = ev.calibration()
        for estimate in (found.slope, found.intercept):
            assert estimate.low <= estimate.value <= estimate.high
        assert found.slope.low > -np.inf
        infinite += np.isinf(found.slope.high)
        assert "inf" not in str(found)
        assert found.pvalue < 0.001
    assert infinite == 1


def test_slopes_have_intervals_of_their_reciprocals():
    """The steeper a line, the more it varies; uncertain signs have symmetric intervals."""
    rng = np.random.default_rng(5)
    positive = rng.random(1000) < 0.3
    score = np.where(positive, rng.beta(4, 2, 1000), rng.beta(2, 4, 1000))
    labeled = positive & (rng.random(1000) < 0.3)
    found = evaluate(labeled, score, prevalence=0.3, threshold=0.5).calibration().slope
    assert 1 / found.low + 1 / found.high == pytest.approx(2 / found.value)
    reciprocal_error = (1 / found.low - 1 / found.value) / stats.norm.isf(0.025)
    assert found.standard_error == pytest.approx(reciprocal_error * found.value**2)
    found = evaluate(labeled, rng.random(1000), prevalence=0.3, threshold=0.5).calibration().slope
    assert found.low < 0 < found.high
    assert found.low + found.high == pytest.approx(2 * found.value)


def exact_line(x, is_row, prevalence, positive_mean):
    """Newton's method over all rows, from the calibrated line to the last digit."""
    line, x = np.array([0.0, 1.0]), np.stack([np.ones(x.size), x])[:, is_row]
    for _ in range(50):
        p = expit(line @ x)
        gradient = prevalence * np.array([1, positive_mean]) - (x * p).mean(axis=1)
        hessian = (x * p * (1 - p)) @ x.T / p.size
        step = np.linalg.solve(hessian, gradient)
        line = line + step * 2 / max(2, np.abs(step).max())
    return line


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize(("spread", "digits"), [(0.1, None), (1.5, None), (1.5, 2), (6.0, None)])
def test_the_line_takes_few_passes_over_the_rows(target, spread, digits, monkeypatch):
    _, labeled, score = draw(20_000, spread=spread, digits=digits)
    if digits:
        score = score.clip(0.01, 0.99)
    in_target = ~labeled if target == "unlabeled" else np.ones(score.size, dtype=bool)
    mixture, x = Mixture(0.22), logit(score)
    prevalence = np.where(labeled, 1, mixture.prior)[in_target].mean()
    expected = exact_line(x, in_target, prevalence, x[labeled].mean())
    passes = []

    def count(*arguments):
        passes.append(arguments)
        return ScoreMeans(*arguments)

    monkeypatch.setattr("pueval.families.calibration_line.ScoreMeans", count)
    found = calibration_line(Counts.from_arrays(labeled, score), mixture, target)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert len(passes) <= 3


def test_separated_classes_have_no_line():
    """Their likelihood grows with the slope; steps are rounding errors once it is steep."""
    x = np.array([9.33, 2.38, 1.8, 1.38, 1.36, -1.63, -2.03, -2.7, -2.88, -7.44])
    y = np.repeat([1, 0], 5)
    # Of two scores, the equations for both have a determinant of 0 once the line is steep.
    for score in (expit(x), np.repeat([0.9, 0.1], 5)):
        found = evaluate(y, score, prior=0.0, level=None).calibration()
        assert np.isnan(found.slope.value)
        assert np.isnan(found.intercept.value)
