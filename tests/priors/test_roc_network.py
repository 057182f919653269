import pickle
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.isotonic import isotonic_regression

from pueval import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.priors import RocNetwork
from pueval.priors._networks import LEVELS, combine, consensus_inputs, load_ensemble, predict
from pueval.priors._roc_features import (
    BOTH_ENDS,
    DEEP_TAIL,
    MARGINS,
    STEPS,
    lowest_scores_ratio,
    roc_features,
)


def binormal(seed, *, prior=0.3, purity=1.0, shift=2.5, n1=400, n=2000):
    rng = np.random.default_rng(seed)
    positive = np.r_[np.arange(n1) < round(n1 * purity), np.arange(n) < round(n * prior)]
    score = rng.normal(shift * positive, 1)
    return score, np.repeat([1, 0], [n1, n])


def slow_features(score, y):
    """Row by row, without ties."""
    labeled, unlabeled = np.sort(score[y == 1])[::-1], np.sort(score[y == 0])[::-1]
    n1, n = labeled.size, unlabeled.size

    def share_at(one, other, wanted):
        """Share of ``other`` above the place where ``wanted`` of ``one`` are passed."""
        place = [(0.0, 0.0)]
        place += [((k + 0.5) / one.size, np.mean(other > v)) for k, v in enumerate(one)]
        place.append((1.0, 1.0))
        for (x0, y0), (x1, y1) in pairwise(place):
            if x0 <= wanted <= x1:
                return y0 + (y1 - y0) * (wanted - x0) / (x1 - x0)
        raise AssertionError

    def probit(share, rows):
        from statistics import NormalDist

        return NormalDist().inv_cdf(min(max(share, 0.5 / rows), 1 - 0.5 / rows))

    at_both_ends = [probit(share_at(labeled, unlabeled, p), n) for p in BOTH_ENDS]
    at_both_ends += [probit(share_at(unlabeled, labeled, p), n1) for p in BOTH_ENDS]
    tops = [share_at(labeled, unlabeled, p) for p in DEEP_TAIL]
    bottoms = [1 - share_at(unlabeled, labeled, 1 - p) for p in DEEP_TAIL]
    ratios = []
    for shares, of, among in ((tops, n, n1), (bottoms, n1, n)):
        rows = [(of * q + 0.5, among * p + 0.5) for p, q in zip(DEEP_TAIL, shares, strict=True)]
        ratios += [np.log(a / of) - np.log(b / among) for a, b in rows]
        ratios += [np.log(np.sqrt(1 / a + 1 / b)) for a, b in rows]

    order = np.argsort(-score)
    of_labeled = np.r_[0, np.cumsum(y[order] == 1) / n1]
    of_unlabeled = np.r_[0, np.cumsum(y[order] == 0) / n]
    share = []
    for step in range(STEPS):
        ends = [
            np.interp(edge / STEPS, (of_labeled + of_unlabeled) / 2, of_unlabeled)
            for edge in (step, step + 1)
        ]
        share.append((ends[1] - ends[0]) * STEPS / 2)
    rising = isotonic_regression(share)
    slopes = list(np.interp(BOTH_ENDS, (np.arange(STEPS) + 0.5) / STEPS, rising))

    def limits(inner, outer, n_inner, n_outer):
        found = []
        for margin in MARGINS:
            best = (np.inf, 0.0)
            for p, q in zip(inner, outer, strict=True):
                low = p - margin * np.sqrt((p * (1 - p) + 0.25 / n_inner) / n_inner)
                high = q + margin * np.sqrt((q * (1 - q) + 0.25 / n_outer) / n_outer)
                if high / max(low, 1e-9) < best[0]:
                    best = (high / max(low, 1e-9), p)
            found.append((min(best[0], 1.0), best[1]))
        ratio, place = zip(*found, strict=True)
        return [*ratio, *np.log(ratio), *np.log(place)]

    bounds = limits(of_labeled[1:], of_unlabeled[1:], n1, n)
    bounds += limits(1 - of_unlabeled[-2::-1], 1 - of_labeled[-2::-1], n, n1)
    area = probit(np.mean(labeled[:, None] > unlabeled), min(n1, n))
    return np.array([*bounds, *at_both_ends, *ratios, *slopes, area, np.log(n1), np.log(n)])


def test_features_agree_with_a_slow_version():
    score, y = binormal(0, n1=60, n=150, shift=1.5)
    counts = Counts.from_arrays(y, score)
    fast = roc_features(counts.labeled, counts.unlabeled)
    np.testing.assert_allclose(fast, slow_features(score, y), atol=1e-9)


def features_of(score, y):
    counts = Counts.from_arrays(y, score)
    return roc_features(counts.labeled, counts.unlabeled)


def slow_outputs(ensemble, inputs):
    """Outputs of each network, one row of inputs, number by number."""
    outputs = []
    for i in range(len(ensemble.layers[0])):
        value = [
            min(max(4 * (f - low) / (high - low) - 2, -2), 2)
            for f, low, high in zip(inputs, ensemble.lowest, ensemble.highest, strict=True)
        ]
        for depth in range(0, len(ensemble.layers), 2):
            value = np.array(value) @ ensemble.layers[depth][i] + ensemble.layers[depth + 1][i]
            if depth < len(ensemble.layers) - 2:
                value = [max(v, 0) for v in value]
        outputs.append(value)
    return outputs


def test_network_agrees_with_a_slow_version():
    ensemble = load_ensemble("roc_both")
    features = features_of(*binormal(1))
    outputs = [one.reshape(2, -1) for one in slow_outputs(ensemble, features)]
    found = predict(ensemble, features[None])
    for target in range(2):
        median = np.mean([1 / (1 + np.exp(-one[target, 0])) for one in outputs])
        assert found.middle[0, target] == pytest.approx(median, abs=1e-12)
        # The half-width at 95%, the fourth level, is a sum of four.
        width = np.mean([np.exp(np.maximum(one[target, 1:5], -9)).sum() for one in outputs])
        assert found.lower[0, target, 3] == pytest.approx(width * ensemble.factors[target, 0, 3])


def test_combination_agrees_with_a_slow_version():
    ensemble = load_ensemble("consensus_pure")
    features = features_of(*binormal(1))
    members, widths = np.array([[[0.31, 0.28, 0.33, 0.27]]]), np.array([[[0.04, 0.05]]])
    inputs = consensus_inputs(features[None], members, widths)
    by_hand = [*features, *(np.log(m / (1 - m)) for m in members[0, 0]), *np.log(widths[0, 0])]
    np.testing.assert_allclose(inputs[0], by_hand)
    found, weights = combine(ensemble, inputs, members)
    shares = [np.exp(one[:4]) / np.exp(one[:4]).sum() for one in slow_outputs(ensemble, by_hand)]
    np.testing.assert_allclose(weights[0, 0], np.mean(shares, axis=0))
    assert found.middle[0, 0] == pytest.approx(np.mean(shares, axis=0) @ members[0, 0])


def test_lowest_scores_ratio():
    """Small if labeled positives are never at the bottom, however similar the rest is."""
    y = np.repeat([1, 0, 0], [500, 1600, 400])
    apart = np.concatenate(
        [np.linspace(1, 2, 500), np.linspace(1, 2, 1600), np.linspace(0, 0.9, 400)]
    )
    rng = np.random.default_rng(0)
    assert lowest_scores_ratio(features_of(apart, y)) < 0.05
    assert lowest_scores_ratio(features_of(rng.normal(0.2 * y, 1), y)) > 0.6


@pytest.mark.parametrize("prior", [0.05, 0.25, 0.6])
def test_known_prior(prior):
    found = [RocNetwork().fit(*binormal(seed, prior=prior)) for seed in range(20)]
    assert abs(np.mean([f.prior_ for f in found]) - prior) < 0.03
    assert np.mean([abs(f.prior_ - prior) for f in found]) < 0.04
    assert all(f.purity_ == 1 and f.purity_interval_ is None for f in found)


@pytest.mark.parametrize("purity", [1.0, 0.75])
def test_known_prior_and_purity(purity):
    data = [binormal(seed, prior=0.25, purity=purity, shift=3) for seed in range(20)]
    found = [RocNetwork(purity="estimate").fit(*one) for one in data]
    assert np.mean([abs(f.prior_ - 0.25) for f in found]) < 0.05
    assert np.mean([abs(f.purity_ - purity) for f in found]) < 0.06
    assert np.mean([f.purity_interval_[0] <= purity <= f.purity_interval_[1] for f in found]) > 0.8


def test_intervals_cover():
    rng = np.random.default_rng(5)
    covered = []
    for seed in range(300):
        prior, shift = rng.uniform(0.05, 0.8), rng.uniform(1, 4)
        score, y = binormal(seed, prior=prior, shift=shift, n1=int(rng.integers(50, 500)), n=1000)
        low, high = RocNetwork().fit(score, y).prior_interval_
        covered.append(low <= prior <= high)
    assert np.mean(covered) > 0.92


def test_wider_where_less_is_known():
    def width(**given):
        low, high = RocNetwork().fit(*binormal(3, **given)).prior_interval_
        return high - low

    assert width(n1=50, n=200) > 1.5 * width(n1=1000, n=5000)
    assert width(shift=1.0) > 1.5 * width(shift=3.5)


def test_levels_are_nested():
    score, y = binormal(2)
    inner = RocNetwork().fit(score, y).prior_
    inner = (inner, inner)
    for level in (0.1, 0.5, 0.7, 0.8, 0.9, 0.93, 0.95, 0.99):
        low, high = RocNetwork(level=level).fit(score, y).prior_interval_
        assert 0 <= low <= inner[0] <= inner[1] <= high <= 1
        inner = (low, high)


def test_only_ranks_count():
    score, y = binormal(4)
    order = np.random.default_rng(0).permutation(y.size)
    one = RocNetwork(purity="estimate").fit(score, y)
    other = RocNetwork(purity="estimate").fit(np.exp(score[order]), y[order])
    assert one.prior_ == pytest.approx(other.prior_, abs=1e-12)
    assert one.purity_interval_ == pytest.approx(other.purity_interval_, abs=1e-12)


def test_counts_and_arrays_agree_with_ties():
    score, y = binormal(6)
    score = np.round(score, 1)
    one = RocNetwork().fit(score.reshape(-1, 1), y)
    other = RocNetwork().fit(Counts.from_arrays(y, score))
    assert one.prior_ == other.prior_
    assert abs(one.prior_ - 0.3) < 0.1


def test_thinning_barely_changes_the_answer():
    score, y = binormal(7, n1=3000, n=15_000)
    counts = Counts.from_arrays(y, score)
    assert RocNetwork().fit(counts).prior_ == pytest.approx(
        RocNetwork().fit(counts._thinned(4096)).prior_, abs=0.003
    )
    score, y = binormal(8, n1=5000, n=100_000)
    assert RocNetwork().fit(score, y).prior_ == pytest.approx(0.3, abs=0.05)


def test_weights_shrink_the_number_of_rows():
    score, y = binormal(9)
    plain = RocNetwork().fit(score, y)
    same = RocNetwork().fit(Counts.from_arrays(y, score, sample_weight=np.full(y.size, 2.5)))
    assert same.prior_interval_ == pytest.approx(plain.prior_interval_, abs=1e-9)


def test_hopeless_data():
    with pytest.raises(InputError, match="same score"):
        RocNetwork().fit(np.ones(50), np.repeat([1, 0], 25))
    score, y = binormal(10)
    with pytest.warns(AssumptionWarning, match="any value is possible"):
        found = RocNetwork(purity="estimate").fit(-score, y)
    assert found.prior_interval_ == found.purity_interval_ == (0.0, 1.0)
    found = RocNetwork().fit([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0])
    assert found.prior_interval_[1] - found.prior_interval_[0] > 0.4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"purity": 0.9}, "purity must be"),
        ({"level": 1.0}, "level"),
        ({"level": 0}, "level"),
        ({"level": None}, "level must be a number; got None"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(InputError, match=message):
        RocNetwork(**given).fit(*binormal(0))


def test_weights_are_small():
    assert (files("pueval.priors") / "networks.npz").stat().st_size < 450_000
    score, y = binormal(11)
    assert predict(load_ensemble("roc_pure"), features_of(score, y)[None]).lower.shape == (
        1,
        1,
        len(LEVELS),
    )
    found = pickle.loads(pickle.dumps(clone(RocNetwork(level=0.8)).fit(score, y)))  # noqa: S301
    assert found.get_params() == {"purity": 1.0, "level": 0.8}
