"""Two ways: the identities, the swap done by hand, the truth, and hard input."""

import numpy as np
import pytest
from sklearn.base import clone

from pueval import Counts
from pueval.errors import InputError
from pueval.priors._best_bin import BestBin
from pueval.priors._dedpul import Dedpul
from pueval.priors._estimator_bases import ScorePriorEstimator
from pueval.priors._roc_slope import RocSlope
from pueval.priors._with_purity import WithPurity

ESTIMATORS = [BestBin(level=0.975), RocSlope(level=0.975), Dedpul()]


def draw(rng, n_labeled, n_unlabeled, prior, purity, *, shift=3):
    positive = rng.random(n_labeled + n_unlabeled) < np.repeat(
        [purity, prior], [n_labeled, n_unlabeled]
    )
    return np.repeat([1, 0], [n_labeled, n_unlabeled]), rng.normal(shift * positive, 1)


class Told(ScorePriorEstimator):
    """Say a where labeled rows are fewer, b where they are more."""

    def __init__(self, a=0.0, b=0.0, interval_a=None, interval_b=None, purity=1.0):
        self.a, self.b, self.purity = a, b, purity
        self.interval_a, self.interval_b = interval_a, interval_b

    def _estimate(self, counts):
        forward = counts.n_labeled < counts.n_unlabeled
        self.prior_ = self.a if forward else self.b
        self.prior_interval_ = self.interval_a if forward else self.interval_b
        self.purity_ = self.purity


DATA = ([1, 2, 3, 4, 5], [0, 0, 1, 0, 1])


@pytest.mark.parametrize("prior", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("purity", [0.65, 0.9, 1.0])
def test_solves_the_identities(prior, purity):
    told = Told(prior / purity, (1 - purity) / (1 - prior))
    both = WithPurity(told).fit(*DATA)
    assert both.prior_ == pytest.approx(prior)
    assert both.purity_ == pytest.approx(purity)
    assert both.prior_interval_ is None
    assert both.purity_interval_ is None


def test_intervals_are_the_extremes_over_both():
    box_a, box_b = (0.2, 0.5), (0.1, 0.4)
    both = WithPurity(Told(0.3, 0.2, box_a, box_b)).fit(*DATA)
    a, b = np.meshgrid(np.linspace(*box_a, 50), np.linspace(*box_b, 50))
    purity = (1 - b) / (1 - a * b)
    prior = a * purity
    assert both.prior_interval_ == pytest.approx((prior.min(), prior.max()))
    assert both.purity_interval_ == pytest.approx((purity.min(), purity.max()))


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0)])
def test_prior_stays_below_purity(a, b):
    both = WithPurity(Told(a, b, (0.0, 1.0), (0.0, 1.0))).fit(*DATA)
    assert 0 <= both.prior_ < both.purity_ <= 1
    assert both.prior_interval_ == (0.0, 1.0)
    assert both.purity_interval_ == (0.0, 1.0)


def test_limits_of_one_are_survived():
    both = WithPurity(Told(1.0, 1.0, (1.0, 1.0), (1.0, 1.0))).fit(*DATA)
    for low, high in (both.prior_interval_, both.purity_interval_):
        assert 0 <= low <= high <= 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("tied", [False, True])
def test_second_run_is_the_first_on_swapped_rows(estimator, tied):
    y, score = draw(np.random.default_rng(0), 150, 600, 0.3, 0.85)
    if tied:
        score = np.round(score)
    both = WithPurity(estimator).fit(score, y)
    assert both.forward_.prior_ == clone(estimator).fit(score, y).prior_
    assert both.backward_.prior_ == pytest.approx(clone(estimator).fit(-score, 1 - y).prior_)
    assert not hasattr(estimator, "prior_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("prior", "purity"), [(0.2, 0.8), (0.1, 1.0), (0.5, 0.95)])
def test_finds_the_truth(estimator, prior, purity):
    rng = np.random.default_rng(1)
    runs = [
        WithPurity(estimator).fit(*draw(rng, 1000, 3000, prior, purity)[::-1]) for _ in range(8)
    ]
    assert np.mean([abs(both.prior_ - prior) for both in runs]) < 0.05
    assert np.mean([abs(both.purity_ - purity) for both in runs]) < 0.06
    for both in runs:
        if both.prior_interval_ is not None:
            assert both.prior_interval_[0] <= prior <= both.prior_interval_[1]
            assert both.purity_interval_[0] <= purity <= both.purity_interval_[1]


def test_counts_large_data_weights_and_negatives():
    rng = np.random.default_rng(2)
    y, score = draw(rng, 10_000, 40_000, 0.2, 0.8)
    both = WithPurity(Dedpul()).fit(Counts.from_arrays(y, score))
    assert both.prior_ == pytest.approx(0.2, abs=0.02)
    assert both.purity_ == pytest.approx(0.8, abs=0.02)

    y, score = draw(rng, 100, 400, 0.2, 0.8)
    plain = WithPurity(BestBin()).fit(score, y)
    halved = WithPurity(BestBin()).fit(
        Counts.from_arrays(y, score, sample_weight=np.full(y.size, 0.5))
    )
    labels = np.r_[y, np.full(50, -1)]
    negatives = Counts.from_arrays(labels, np.r_[score, np.zeros(50)], negative_label=-1)
    for other in (halved, WithPurity(BestBin()).fit(negatives)):
        assert other.prior_ == pytest.approx(plain.prior_)
        assert other.purity_interval_ == pytest.approx(plain.purity_interval_)


def test_useless_scores_tell_nothing():
    y = np.repeat([1, 0], [100, 400])
    both = WithPurity(BestBin()).fit(np.random.default_rng(3).normal(size=500), y)
    assert both.prior_interval_ == (0.0, 1.0)
    assert both.purity_interval_ == (0.0, 1.0)
    assert both.prior_ < both.purity_


def test_bad_input():
    with pytest.raises(InputError, match="one score"):
        WithPurity("BestBin").fit(*DATA)
    with pytest.raises(InputError, match="one score"):
        WithPurity(BestBin).fit(*DATA)
    with pytest.raises(InputError, match="already estimates the purity"):
        WithPurity(Told(purity=0.9)).fit(*DATA)
    with pytest.raises(InputError, match="same score"):
        WithPurity(Dedpul()).fit([1, 1, 1], [1, 0, 0])
