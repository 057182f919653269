import time
from importlib.resources import files

import numpy as np
import pytest
from scipy.stats import norm, rankdata
from sklearn.base import clone

from pueval import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.priors._dist_curve import (
    MAX_UNLABELED,
    PARTS,
    DistCurve,
    _load_weights,
    curve_features,
    distance_curve,
    mean_curve,
    normal_positions,
    predict_prior,
)


def binormal(seed, *, prior=0.3, shift=3.0, n1=400, n=1500):
    rng = np.random.default_rng(seed)
    positive = np.r_[np.ones(n1), np.arange(n) < round(n * prior)]
    return rng.normal(shift * positive, 1), np.repeat([1, 0], [n1, n])


def slow_curve(labeled, unlabeled, order):
    """Compare with every remaining row; of two as near, the higher one."""
    remaining = sorted(unlabeled, reverse=True)
    distances = []
    for drawn in order:
        apart = [abs(labeled[drawn] - u) for u in remaining]
        nearest = apart.index(min(apart))
        distances.append(apart[nearest])
        del remaining[nearest]
    return distances


@pytest.mark.parametrize("seed", range(20))
def test_curve_agrees_with_a_slow_version(seed):
    rng = np.random.default_rng(seed)
    n1, n = rng.integers(1, 60, 2)
    labeled, unlabeled = rng.normal(1, 1, n1), np.sort(rng.normal(0, 1, n))
    if seed % 2:  # on a grid that floats hold exactly, there are many ties of distances
        labeled, unlabeled = np.round(labeled * 4) / 4, np.round(unlabeled * 4) / 4
    order = rng.integers(0, n1, n)
    fast = distance_curve(labeled, unlabeled, order)
    np.testing.assert_array_equal(fast, slow_curve(labeled, unlabeled, order))
    part = distance_curve(labeled, unlabeled, order[: n // 2])
    np.testing.assert_array_equal(part, fast[: n // 2])


def test_every_labeled_row_is_drawn_before_any_comes_again():
    labeled, unlabeled = np.array([0.0, 10.0]), np.array([0.0, 10.0, 11.0, 12.0])
    # First both find a twin; then 0 and 10 want rows 11 and 12, in either order.
    curves = {
        tuple(mean_curve(labeled, unlabeled, 1, np.random.default_rng(seed))) for seed in range(30)
    }
    assert curves == {(0, 0, 11, 2), (0, 0, 1, 12)}
    mean = mean_curve(labeled, unlabeled, 400, np.random.default_rng(0))
    np.testing.assert_allclose(mean, [0, 0, 6, 7], atol=1)


def test_positions_are_normal_quantiles_of_pooled_ranks():
    score, y = binormal(0, n1=30, n=90)
    score = np.round(score, 1)
    counts = Counts.from_arrays(y, score)
    labeled, unlabeled = normal_positions(counts.labeled, counts.unlabeled, (30, 90))
    # Each labeled row counts three times, so that both kinds weigh the same.
    often = np.where(y == 1, 3, 1)
    rank = rankdata(np.repeat(score, often)) - 0.5
    z = norm.ppf(rank / rank.size)
    kind = np.repeat(y, often)
    np.testing.assert_allclose(np.repeat(labeled, 3), np.sort(z[kind == 1]))
    np.testing.assert_allclose(unlabeled, np.sort(z[kind == 0]))


def test_large_samples_are_thinned_evenly():
    score, y = binormal(1, n1=300, n=5000)
    counts = Counts.from_arrays(y, score)
    labeled, unlabeled = normal_positions(counts.labeled, counts.unlabeled, (300, 5000))
    assert labeled.size == 300
    assert unlabeled.size == MAX_UNLABELED
    above = np.searchsorted(np.sort(score[y == 0]), np.quantile(score[y == 1], [0.1, 0.5])) / 5000
    thinned = np.searchsorted(unlabeled, np.quantile(labeled, [0.1, 0.5])) / MAX_UNLABELED
    np.testing.assert_allclose(above, thinned, atol=0.003)


def test_features_are_means_of_equal_parts():
    curve = np.random.default_rng(0).random(4 * PARTS)
    features = curve_features(curve, (20, 4 * PARTS))
    means = [curve[4 * i : 4 * i + 4].mean() for i in range(PARTS)]
    np.testing.assert_allclose(features, [*np.sqrt(means), np.log(20), np.log(4 * PARTS)])
    np.testing.assert_allclose(curve_features(np.array([0.25]), (1, 1))[:PARTS], 0.5)


def test_network_agrees_with_a_slow_version():
    weights = _load_weights()
    features = curve_features(np.linspace(0, 2, 500) ** 2, (100, 500))
    answers = []
    for member in range(len(weights["weight0"])):
        value = [
            min(max((f - c) / s, -3), 3)
            for f, c, s in zip(features, weights["center"], weights["scale"], strict=True)
        ]
        for layer in range(3):
            columns = weights[f"weight{layer}"][member].T
            value = [
                sum(v * w for v, w in zip(value, column, strict=True)) + offset
                for column, offset in zip(columns, weights[f"offset{layer}"][member], strict=True)
            ]
            if layer < 2:
                value = [max(v, 0) for v in value]
        answers.append(min(max(value[0], 0), 1))
    assert predict_prior(weights, features) == pytest.approx(np.mean(answers), abs=1e-9)
    assert (files("pueval.priors") / "dist_curve.npz").stat().st_size < 150_000


@pytest.mark.parametrize("prior", [0.05, 0.25, 0.5, 0.75])
def test_known_prior(prior):
    found = [DistCurve().fit(*binormal(seed, prior=prior)) for seed in range(15)]
    assert abs(np.mean([f.prior_ for f in found]) - prior) < 0.04
    assert np.mean([abs(f.prior_ - prior) for f in found]) < 0.05
    assert all(f.purity_ == 1 and f.prior_interval_ is None for f in found)


def test_distances_grow_once_the_positives_are_gone():
    curve = DistCurve().fit(*binormal(2, prior=0.4, shift=6, n1=500, n=1000)).curve_
    assert curve.size == 1000
    assert curve[:350].max() < 0.2
    assert curve[450:].min() > 0.5


def test_only_the_order_of_scores_counts():
    score, y = binormal(3)
    order = np.random.default_rng(0).permutation(y.size)
    one = DistCurve().fit(score, y)
    other = DistCurve().fit(np.exp(score[order]), y[order])
    assert one.prior_ == other.prior_
    np.testing.assert_array_equal(one.curve_, other.curve_)


def test_random_state():
    score, y = binormal(4)
    first = DistCurve(random_state=1).fit(score, y).prior_
    assert clone(DistCurve(random_state=1)).fit(score, y).prior_ == first
    second = DistCurve(random_state=2).fit(score, y).prior_
    assert first != second
    assert first == pytest.approx(second, abs=0.03)
    many = DistCurve(n_curves=np.int64(40), random_state=np.random.default_rng(0)).fit(score, y)
    assert first == pytest.approx(many.prior_, abs=0.04)


def test_counts_and_arrays_agree_with_ties():
    score, y = binormal(5)
    score = np.round(score, 1)
    one = DistCurve().fit(score.reshape(-1, 1), y)
    other = DistCurve().fit(Counts.from_arrays(y, score))
    assert one.prior_ == other.prior_
    assert one.prior_ == pytest.approx(0.3, abs=0.08)
    few = DistCurve().fit(np.round(score / 2), y)  # about five distinct scores
    assert few.prior_ == pytest.approx(0.3, abs=0.15)


def test_known_negatives_are_ignored():
    score, y = binormal(6)
    alone = DistCurve().fit(score, y)
    beyond = np.r_[np.linspace(-9, -8, 50), np.linspace(9, 10, 50)]
    counts = Counts.from_arrays(np.r_[y, np.full(100, -1)], np.r_[score, beyond], negative_label=-1)
    assert DistCurve().fit(counts).prior_ == pytest.approx(alone.prior_, abs=1e-9)


def test_equal_weights_change_nothing():
    score, y = binormal(7)
    plain = DistCurve().fit(score, y)
    same = DistCurve().fit(Counts.from_arrays(y, score, sample_weight=np.full(y.size, 2.5)))
    assert same.prior_ == pytest.approx(plain.prior_, abs=1e-6)


def test_thinning_barely_changes_the_answer():
    counts = Counts.from_arrays(*binormal(8, n1=3000, n=15_000)[::-1])
    whole, thin = DistCurve().fit(counts), DistCurve().fit(counts._thinned(4096))
    assert whole.prior_ == pytest.approx(thin.prior_, abs=0.02)


def test_many_rows_cost_little():
    counts = Counts.from_arrays(*binormal(9, n1=50_000, n=1_000_000)[::-1])
    begin = time.perf_counter()
    found = DistCurve().fit(counts)
    assert time.perf_counter() - begin < 2
    assert found.prior_ == pytest.approx(0.3, abs=0.05)


def test_hopeless_data():
    with pytest.raises(InputError, match="same score"):
        DistCurve().fit(np.ones(50), np.repeat([1, 0], 25))
    score, y = binormal(10)
    with pytest.warns(AssumptionWarning, match="any value is possible"):
        found = DistCurve().fit(-score, y)
    assert found.prior_interval_ == (0.0, 1.0)
    assert 0 <= found.prior_ <= 1
    found.fit(score, y)
    assert found.prior_interval_ is None
    assert 0 <= DistCurve().fit([1.0, 0.0], [1, 0]).prior_ <= 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_curves": 0}, "n_curves"),
        ({"n_curves": 2.5}, "n_curves"),
        ({"n_curves": "ten"}, "n_curves"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(InputError, match=message):
        DistCurve(**given).fit(*binormal(0))


def test_bad_data():
    with pytest.raises(InputError, match="no labeled rows"):
        DistCurve().fit([1.0, 2.0], [0, 0])
    with pytest.raises(InputError, match="unlabeled"):
        DistCurve().fit([1.0, 2.0], [1, 1])
    with pytest.raises(InputError, match="one score"):
        DistCurve().fit(np.zeros((4, 2)), [1, 0, 1, 0])
    with pytest.raises(ValueError, match="NaN"):
        DistCurve().fit([1.0, np.nan], [1, 0])
