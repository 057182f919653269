"""ROC slope: against SciPy's binomial limits in a loop, against the truth, and on hard input."""

import numpy as np
import pytest
from scipy.stats import binomtest

from pueval import Counts
from pueval.errors import InputError
from pueval.priors._roc_slope import RocSlope
from pueval.sensitivity.feasibility import largest_prior


def draw(rng, n_labeled, n_unlabeled, prior, *, shift=2.5):
    positive = rng.random(n_unlabeled) < prior
    score = np.r_[rng.normal(shift, 1, n_labeled), rng.normal(shift * positive, 1)]
    return np.repeat([1, 0], [n_labeled, n_unlabeled]), score


def slowly(y, score, point_error):
    labeled, unlabeled = score[y == 1], score[y == 0]
    least = np.inf
    for threshold in set(score):
        found = int(sum(labeled >= threshold))
        if not found:
            continue
        # Each end of a two-sided interval has half of its error.
        two_sided = 1 - 2 * point_error * (found / len(labeled)) ** 0.5
        lower = binomtest(found, len(labeled)).proportion_ci(two_sided).low
        hits = int(sum(unlabeled >= threshold))
        upper = binomtest(hits, len(unlabeled)).proportion_ci(two_sided).high
        least = min(least, upper / lower)
    return least


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tied", [False, True])
def test_agrees_with_loops(seed, tied):
    rng = np.random.default_rng(seed)
    y, score = draw(rng, 40, 160, [0.1, 0.5][seed % 2])
    if tied:
        score = np.round(score)
    point_error = [0.5, 0.2][seed // 2]
    fitted = RocSlope(0.9, point_error=point_error).fit(score, y)
    limit = largest_prior(Counts.from_arrays(y, score), level=0.9).prior
    assert fitted.prior_ == pytest.approx(min(slowly(y, score, point_error), limit), abs=1e-9)
    assert fitted.prior_upper_ == limit
    assert fitted.prior_interval_ == (0.0, limit)
    assert (fitted.purity_, fitted.purity_interval_) == (1.0, None)
    assert fitted.threshold_ in score[y == 1]


def test_finds_the_truth_and_bounds_it():
    rng = np.random.default_rng(1)
    errors, bounded = [], []
    for prior in (0.1, 0.3, 0.6) * 20:
        fitted = RocSlope().fit(*draw(rng, 500, 2000, prior, shift=3)[::-1])
        errors.append(abs(fitted.prior_ - prior))
        bounded.append(prior <= fitted.prior_upper_)
    assert np.mean(errors) < 0.04
    assert np.mean(bounded) >= 0.95


def test_row_order_transforms_and_counts_do_not_matter():
    rng = np.random.default_rng(3)
    y, score = draw(rng, 100, 400, 0.3)
    fitted = RocSlope().fit(score, y)
    order = rng.permutation(y.size)
    for other in (
        RocSlope().fit(score[order], y[order]),
        RocSlope().fit(np.exp(score), y),
        RocSlope().fit(Counts.from_arrays(y, score)),
    ):
        assert other.prior_ == fitted.prior_
        assert other.prior_interval_ == fitted.prior_interval_


def test_many_rows_are_thinned_at_little_cost():
    y, score = draw(np.random.default_rng(4), 4_000, 15_000, 0.2)
    exact = RocSlope().fit(score, y)
    thin = RocSlope().fit(Counts.from_arrays(y, score)._thinned(4_096))
    assert thin.prior_ == pytest.approx(exact.prior_, abs=0.005)


def test_weights_count_as_their_effective_number():
    y, score = draw(np.random.default_rng(5), 100, 400, 0.3)
    fitted = RocSlope().fit(score, y)
    halved = RocSlope().fit(Counts.from_arrays(y, score, sample_weight=np.full(y.size, 0.5)))
    assert halved.prior_ == pytest.approx(fitted.prior_)


def test_separated_and_useless_scores():
    y = np.repeat([1, 0], [100, 400])
    assert RocSlope().fit(y.astype(float), y).prior_ < 0.01
    useless = RocSlope().fit(np.random.default_rng(6).normal(size=500), y)
    assert useless.prior_interval_[1] > 0.8
    few = RocSlope().fit([3, 1, 2, 3, 4], [1, 0, 0, 0, 0])
    assert (few.prior_, few.prior_interval_) == (1.0, (0.0, 1.0))


def test_bad_input():
    with pytest.raises(InputError, match="same score"):
        RocSlope().fit([1, 1, 1], [1, 0, 0])
    for options in ({"level": 0}, {"point_error": 1}, {"point_error": None}):
        with pytest.raises(InputError, match=next(iter(options))):
            RocSlope(**options).fit([1, 2, 3], [1, 0, 0])
