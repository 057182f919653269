"""DEDPUL: against exact kernel sums, against the truth, and on hard input."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from pueval import Counts
from pueval.errors import InputError
from pueval.priors._dedpul import Dedpul


def draw(rng, n_labeled, n_unlabeled, prior, *, shift=2.5):
    positive = rng.random(n_unlabeled) < prior
    score = np.r_[rng.normal(shift, 1, n_labeled), rng.normal(shift * positive, 1)]
    return np.repeat([1, 0], [n_labeled, n_unlabeled]), score


def slowly(y, score, *, bandwidth=0.6, tolerance=0.01):
    """Exact kernel sums at many points, ranks by comparing all pairs, Brent's root."""
    n1, n = np.sum(y == 1), np.sum(y == 0)
    weight = np.where(y == 1, 0.5 / n1, 0.5 / n)
    rank = [np.sum(weight * (score < s)) + np.sum(weight * (score == s)) / 2 for s in score]
    z = norm.ppf(rank)
    doubt = np.sqrt(1 / n1 + 1 / n)
    width = bandwidth * np.std(z[y == 1]) * (1 / n1 + 1 / n) ** 0.2
    points = np.linspace(z.min() - 5 * width, z.max() + 5 * width, 6_000)
    g, f = (norm.pdf(points[:, None], z[y == kind], width).mean(axis=1) for kind in (1, 0))
    f_mass = f / f.sum()
    ratio = g / f.clip(1e-300) * (f.sum() / g.sum())
    highest = 0.0
    for i in np.flatnonzero(np.cumsum(f_mass) > 0.25):
        highest = max(highest, ratio[i])
        ratio[i] = highest

    def shortfall(share):
        return share - np.sum(f_mass * np.minimum(share * ratio, 1)) - tolerance * doubt

    return 1.0 if shortfall(1) <= 0 else brentq(shortfall, 1e-4, 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tied", [False, True])
def test_agrees_with_exact_sums(seed, tied):
    rng = np.random.default_rng(seed)
    y, score = draw(rng, 50, 250, [0.05, 0.2, 0.6][seed % 3])
    if tied:
        score = np.round(score * 2)
    options = {"bandwidth": 0.9, "tolerance": 0.05} if seed % 2 else {}
    fitted = Dedpul(**options).fit(score, y)
    assert fitted.prior_ == pytest.approx(slowly(y, score, **options), abs=2e-3)
    assert (fitted.purity_, fitted.prior_interval_, fitted.purity_interval_) == (1.0, None, None)


@pytest.mark.parametrize("shift", [2.0, 3.0])
def test_finds_the_truth(shift):
    rng = np.random.default_rng(1)
    errors = []
    for prior in (0.05, 0.25, 0.5, 0.75) * 10:
        fitted = Dedpul().fit(*draw(rng, 500, 2000, prior, shift=shift)[::-1])
        errors.append(abs(fitted.prior_ - prior))
    assert np.mean(errors) < 0.04


def test_separated_classes_are_exact():
    """Averages over rows and not over the density end at a fixed point near 0 here."""
    score = np.r_[np.linspace(0.5, 1, 500), np.linspace(0.5, 1, 400), np.linspace(0, 0.5, 1600)]
    y = np.repeat([1, 0], [500, 2000])
    assert Dedpul().fit(score, y).prior_ == pytest.approx(0.2, abs=0.01)
    assert Dedpul(tolerance=0).fit(score, y).prior_ == pytest.approx(0.2, abs=0.01)


def test_row_order_transforms_and_counts_do_not_matter():
    rng = np.random.default_rng(3)
    y, score = draw(rng, 100, 400, 0.3)
    fitted = Dedpul().fit(score, y)
    order = rng.permutation(y.size)
    for other in (
        Dedpul().fit(score[order], y[order]),
        Dedpul().fit(np.exp(score), y),
        Dedpul().fit(Counts.from_arrays(y, score)),
    ):
        assert other.prior_ == fitted.prior_


def test_many_rows_are_thinned_at_little_cost():
    y, score = draw(np.random.default_rng(4), 4_000, 15_000, 0.2)
    exact = Dedpul().fit(score, y)
    thin = Dedpul().fit(Counts.from_arrays(y, score)._thinned(4_096))
    assert thin.prior_ == pytest.approx(exact.prior_, abs=0.002)


def test_large_data_get_closer_to_the_truth():
    y, score = draw(np.random.default_rng(7), 50_000, 300_000, 0.3, shift=3)
    assert Dedpul().fit(score, y).prior_ == pytest.approx(0.3, abs=0.01)


def test_weights_count_as_their_effective_number():
    y, score = draw(np.random.default_rng(5), 100, 400, 0.3)
    halved = Dedpul().fit(Counts.from_arrays(y, score, sample_weight=np.full(y.size, 0.5)))
    assert halved.prior_ == pytest.approx(Dedpul().fit(score, y).prior_)


def test_extreme_scores_stay_in_range():
    y = np.repeat([1, 0], [100, 400])
    rng = np.random.default_rng(6)
    assert Dedpul().fit(y.astype(float), y).prior_ < 0.01  # every labeled row has the same score
    assert Dedpul().fit(y * 1e9 + rng.random(500), y).prior_ < 0.01
    assert Dedpul().fit(rng.normal(size=500), y).prior_ > 0.7
    two = Dedpul().fit(np.repeat([1.0, 0, 1, 0], [90, 10, 80, 320]), y)
    assert two.prior_ == pytest.approx((80 / 400) / (90 / 100), abs=0.01)
    assert 0 <= Dedpul().fit([3, 1, 2, 3, 4], [1, 0, 0, 0, 0]).prior_ <= 1


def test_bad_input():
    with pytest.raises(InputError, match="same score"):
        Dedpul().fit([1, 1, 1], [1, 0, 0])
    for options in ({"bandwidth": 0}, {"bandwidth": "auto"}, {"tolerance": -1}):
        with pytest.raises(InputError, match=next(iter(options))):
            Dedpul(**options).fit([1, 2, 3], [1, 0, 0])
