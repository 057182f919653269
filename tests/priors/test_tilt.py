"""Tilt: the likelihood is the model's; its maximum and posterior agree with slow versions."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from scipy.stats import norm, rankdata

from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._labeled_unlabeled_counts import normal_scores
from pueval.priors._tilt import Tilt
from pueval.priors._tilt_likelihood import (
    COVARIANCE,
    KNOTS,
    MEAN,
    TiltLikelihood,
    binned_likelihood,
)


def mixture(prior, n_labeled, n_unlabeled, *, purity=1.0, distance=2.5, seed=0):
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled
    positive = np.r_[rng.random(n_labeled) < purity, rng.random(n_unlabeled) < prior]
    return rng.normal(distance * positive, 1.0, n), np.repeat([1, 0], [n_labeled, n_unlabeled])


def slow_normal_scores(score, y):
    """One z per row, from ranks in each sample."""
    ranks = np.zeros(score.size)
    for kind in (1, 0):
        other = score[y == kind]
        below = (other[None] < score[:, None]).mean(1) + (other[None] == score[:, None]).mean(1) / 2
        ranks += below / 2
    return norm.ppf(ranks)


def slow_loss(parameters, z, y):
    """Negative penalized log-likelihood, row by row from the densities' shares."""
    intercept, knots, prior, purity = (
        parameters[0],
        MEAN + np.linalg.cholesky(COVARIANCE) @ parameters[1:8],
        1 / (1 + np.exp(-parameters[8])),
        1 / (1 + np.exp(-parameters[9])),
    )
    distinct = np.unique(z)
    slope = np.exp(np.interp(distinct, KNOTS, knots))
    height = np.r_[0, np.cumsum(np.diff(distinct) * (slope[1:] + slope[:-1]) / 2)]
    height += intercept - height[np.argmin(np.abs(distinct))]
    tilt = np.exp(np.interp(z, distinct, height))
    odds = y.sum() / (1 - y).sum() * (purity * tilt + 1 - purity) / (prior * tilt + 1 - prior)
    fit = -np.sum(np.where(y == 1, np.log(odds / (1 + odds)), -np.log(1 + odds)))
    penalty = (intercept / 4) ** 2 / 2 + np.sum(parameters[1:8] ** 2) / 2
    # Densities of the logits of prior and purity, and of their order.
    penalty -= np.log(prior * (1 - prior) ** 2)
    penalty -= np.log(purity**2 * (1 - purity) ** 0.25)
    odds_apart = purity / (1 - purity) * (1 - prior) / prior
    return fit + penalty - 2 * np.log(odds_apart / (1 + odds_apart))


def model_of(score, y):
    _, z, labeled, unlabeled = normal_scores(Counts.from_arrays(y, score))
    return TiltLikelihood(z, labeled, unlabeled)


def likelihood_of_counts(counts):
    _, z, labeled, unlabeled = normal_scores(counts)
    return binned_likelihood(z, labeled, unlabeled)


def test_normal_scores_with_ties():
    score, y = mixture(0.3, 40, 100)
    score = score.round(1)
    values, z, labeled, unlabeled = normal_scores(Counts.from_arrays(y, score))
    np.testing.assert_allclose(slow_normal_scores(score, y), z[np.searchsorted(values, score)])
    assert labeled.sum() == 40
    assert unlabeled.sum() == 100
    # With samples of equal size these are the usual normal scores.
    score, y = mixture(0.3, 100, 100)
    expected = norm.ppf((rankdata(score) - 0.5) / 200)
    np.testing.assert_allclose(np.sort(model_of(score, y).z), np.sort(expected), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_likelihood_and_gradient(seed):
    score, y = mixture(0.3, 30, 90, seed=seed)
    model = model_of(score, y)
    rng = np.random.default_rng(seed)
    parameters = np.r_[rng.normal(0, 0.5, 9), 2.0]
    loss, gradient, second = model.derivatives(parameters[None])
    assert loss[0] == pytest.approx(
        slow_loss(parameters, slow_normal_scores(score, y), y), rel=1e-10
    )
    error = check_grad(
        lambda p: model.derivatives(p[None])[0][0],
        lambda p: model.derivatives(p[None])[1][0],
        parameters,
    )
    assert error < 1e-4 * np.linalg.norm(gradient)
    assert (np.linalg.eigvalsh(second[0]) > 0).all()


def test_maximum_agrees_with_a_general_optimizer():
    score, y = mixture(0.4, 60, 200, purity=0.9)
    model = model_of(score, y)
    start = np.zeros((3, 10))
    start[:, 8], start[:, 9] = (-2, 0, -1), (3, 3, 1)
    ours = model.maximize(start, tuple(range(10)), steps=200, tolerance=1e-12)
    generic = minimize(slow_loss, start[0], args=(slow_normal_scores(score, y), y), method="BFGS")
    assert ours.loss.min() == pytest.approx(generic.fun, abs=1e-5)


def test_posterior_agrees_with_a_slow_version():
    """Maxima by a general optimizer and numerical integration on a plain grid of priors."""
    score, y = mixture(0.3, 60, 240, seed=4)
    z = slow_normal_scores(score, y)
    model = model_of(score, y)
    x = np.linspace(-5, 2, 29)
    log_density = []
    shape = np.zeros(8)
    for logit in x:
        found = minimize(
            lambda p, at=logit: slow_loss(np.r_[p, at, 12.0], z, y), shape, method="L-BFGS-B"
        )
        shape = found.x
        information = model.derivatives(np.r_[shape, logit, 12.0][None])[2][0][:8, :8]
        log_density.append(-found.fun - np.linalg.slogdet(information)[1] / 2)
    density = np.exp(np.array(log_density) - max(log_density))
    below = np.cumsum(density) / density.sum()
    expected = 1 / (1 + np.exp(-np.interp([0.025, 0.5, 0.975], below, x + np.diff(x)[0] / 2)))
    estimator = Tilt().fit(score, y)
    low, high = estimator.prior_interval_
    np.testing.assert_allclose([low, estimator.prior_, high], expected, atol=0.015)


@pytest.mark.parametrize("prior", [0.05, 0.25, 0.5, 0.75])
def test_prior_of_normal_scores(prior):
    estimator = Tilt().fit(*mixture(prior, 1000, 4000, distance=3))
    assert estimator.prior_ == pytest.approx(prior, abs=0.04)
    low, high = estimator.prior_interval_
    assert 0 <= low < prior < high <= 1
    assert estimator.purity_ == 1.0
    assert estimator.purity_interval_ is None
    assert estimator.purity_pvalue_ is None
    assert estimator.separated_


def test_prior_and_purity():
    score, y = mixture(0.2, 1500, 4000, purity=0.75, distance=4)
    both = Tilt(purity="estimate").fit(score, y)
    assert both.prior_ == pytest.approx(0.2, abs=0.04)
    assert both.purity_ == pytest.approx(0.75, abs=0.05)
    assert both.purity_interval_[0] < 0.75 < both.purity_interval_[1] < 1
    assert both.purity_pvalue_ < 0.001
    known = Tilt(purity=0.75).fit(score, y)
    assert known.prior_ == pytest.approx(0.2, abs=0.04)
    assert known.purity_ == 0.75
    # Contaminated labels taken as clean hide positives among the negatives.
    assert Tilt().fit(score, y).prior_ > known.prior_


def test_clean_labels_are_not_rejected_too_often():
    rejected = [
        Tilt(purity="estimate").fit(*mixture(0.3, 200, 600, distance=3, seed=seed)).purity_pvalue_
        < 0.05
        for seed in range(40)
    ]
    assert np.mean(rejected) <= 0.15


def test_intervals_hold_the_prior():
    """A t-distributed, a skewed and an unequal pair of scores, for which a linear tilt fails."""
    held = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        for draw in (
            lambda k, rng=rng: rng.exponential(1 + 3 * k),
            lambda k, rng=rng: rng.normal(2 * k, 1 + 0.6 * k),
            lambda k, rng=rng: rng.gamma(2.0 + 3 * k),
        ):
            positive = np.r_[np.ones(200, dtype=bool), rng.random(1000) < 0.25]
            score = draw(positive.astype(float))
            low, high = Tilt().fit(score, np.repeat([1, 0], [200, 1000])).prior_interval_
            held.append(low <= 0.25 <= high)
    assert np.mean(held) >= 0.88


def test_level_widens_the_interval():
    score, y = mixture(0.3, 100, 400)
    narrow, wide = (Tilt(level=level).fit(score, y).prior_interval_ for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_density_ratio():
    estimator = Tilt().fit(*mixture(0.3, 2000, 8000, distance=2, seed=1))
    at = np.array([0.0, 1.0, 2.0])
    # Normal densities with distance 2: the log ratio is 2 s − 2.
    np.testing.assert_allclose(np.log(estimator.density_ratio(at)), 2 * at - 2, atol=0.8)
    assert (np.diff(estimator.log_density_ratio_) >= 0).all()
    assert estimator.score_.shape == estimator.log_density_ratio_.shape
    area = np.trapezoid(estimator.prior_density_, estimator.prior_grid_)
    assert area == pytest.approx(1)


@pytest.mark.parametrize("purity", [1.0, 0.9, "estimate"])
def test_counts_ties_order_and_increasing_transforms(purity):
    score, y = mixture(0.3, 100, 400)
    score = score.round(1)
    whole = Tilt(purity=purity).fit(score, y)
    order = np.random.default_rng(1).permutation(y.size)
    for other in (
        Tilt(purity=purity).fit(Counts.from_arrays(y, score)),
        Tilt(purity=purity).fit(score[order, None], y[order]),
        Tilt(purity=purity).fit(np.exp(score), y),
    ):
        assert other.prior_ == whole.prior_
        assert other.prior_interval_ == whole.prior_interval_


def test_bins_barely_matter(monkeypatch):
    score, y = mixture(0.3, 500, 2000)
    binned = Tilt().fit(score, y).prior_
    monkeypatch.setattr("pueval.priors._tilt_likelihood.BINS", 10_000)
    assert Tilt().fit(score, y).prior_ == pytest.approx(binned, abs=1e-3)


def test_thinning_barely_matters(monkeypatch):
    score, y = mixture(0.3, 4000, 20_000)
    thinned = Tilt().fit(score, y).prior_
    monkeypatch.setattr("pueval.priors._labeled_unlabeled_counts.LARGEST_SIZE", 10**9)
    assert Tilt().fit(score, y).prior_ == pytest.approx(thinned, abs=2e-3)


def test_weights():
    score, y = mixture(0.3, 100, 400)
    plain = Tilt().fit(score, y)
    halves = Tilt().fit(Counts.from_arrays(y, score, sample_weight=np.full(y.size, 0.5)))
    assert halves.prior_ == pytest.approx(plain.prior_, abs=1e-6)
    negatives = Counts.from_arrays(
        np.r_[y, np.full(50, -1)], np.r_[score, np.full(50, -9.0)], negative_label=-1
    )
    assert Tilt().fit(negatives).prior_ == pytest.approx(plain.prior_, abs=1e-6)


def test_no_separation_gives_the_whole_interval():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [100, 400])
    for score in (rng.normal(size=500), -mixture(0.3, 100, 400)[0]):
        for purity in (1.0, "estimate"):
            estimator = Tilt(purity=purity).fit(score, y)
            assert not estimator.separated_
            assert estimator.prior_interval_ == (0.0, 1.0)
            assert 0 <= estimator.prior_ <= estimator.purity_ <= 1


@pytest.mark.parametrize("purity", [1.0, 0.8, "estimate"])
@pytest.mark.parametrize(
    ("score", "y"),
    [
        ([2.0, 1.0], [1, 0]),
        ([1.0, 2.0], [1, 0]),
        (np.arange(100.0), np.arange(100) >= 90),
        (np.arange(100.0), np.arange(100) < 10),
        (np.repeat([1.0, 0.0, 1.0, 0.0], [8, 2, 30, 60]), np.repeat([1, 1, 0, 0], [8, 2, 30, 60])),
        (np.r_[9.0, np.arange(1000.0)], np.r_[1, np.zeros(1000, dtype=int)]),
        (np.arange(2000.0), np.arange(2000) > 0),
    ],
)
def test_odd_data_give_finite_answers(score, y, purity):
    estimator = Tilt(purity=purity).fit(np.asarray(score), np.asarray(y).astype(int))
    low, high = estimator.prior_interval_
    assert 0 <= low <= estimator.prior_ <= high <= 1
    assert np.isfinite(estimator.log_density_ratio_).all()


def test_perfect_separation_means_a_small_prior():
    score = np.arange(1000.0)
    estimator = Tilt().fit(score, (score >= 900).astype(int))
    assert estimator.prior_ < 0.02


def test_bad_input():
    score, y = mixture(0.3, 20, 50)
    with pytest.raises(InputError, match="have the same score"):
        Tilt().fit(np.zeros(70), y)
    for purity in (0, 1.2, "guess", None, True):
        with pytest.raises(InputError, match="purity"):
            Tilt(purity=purity).fit(score, y)
    for level in (0, 1, "high"):
        with pytest.raises(InputError, match="level"):
            Tilt(level=level).fit(score, y)
