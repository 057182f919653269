import pickle
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.isotonic import isotonic_regression

from pueval import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.priors._roc_features import BOTH_ENDS, MARGINS, STEPS, TAIL, roc_features
from pueval.priors._roc_network import LEVELS, Network, RocNetwork, _load_network


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

    features = [probit(share_at(labeled, unlabeled, p), n) for p in BOTH_ENDS]
    features += [probit(share_at(unlabeled, labeled, p), n1) for p in BOTH_ENDS]
    for p in TAIL:
        ratio = share_at(labeled, unlabeled, p) / p
        features.append(ratio / (1 + ratio))
    for p in TAIL:
        ratio = (1 - share_at(unlabeled, labeled, 1 - p)) / p
        features.append(ratio / (1 + ratio))

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
    features += list(np.interp(BOTH_ENDS, (np.arange(STEPS) + 0.5) / STEPS, rising))

    def limits(inner, outer, n_inner, n_outer):
        for margin in MARGINS:
            best = (np.inf, 0.0)
            for p, q in zip(inner, outer, strict=True):
                low = p - margin * np.sqrt((p * (1 - p) + 0.25 / n_inner) / n_inner)
                high = q + margin * np.sqrt((q * (1 - q) + 0.25 / n_outer) / n_outer)
                if high / max(low, 1e-9) < best[0]:
                    best = (high / max(low, 1e-9), p)
            features.extend([min(best[0], 1.0), best[1]])

    limits(of_labeled[1:], of_unlabeled[1:], n1, n)
    limits(1 - of_unlabeled[-2::-1], 1 - of_labeled[-2::-1], n, n1)
    area = np.mean(labeled[:, None] > unlabeled)
    return np.array([*features, probit(area, min(n1, n)), np.log(n1), np.log(n)])


def test_features_agree_with_a_slow_version():
    score, y = binormal(0, n1=60, n=150, shift=1.5)
    counts = Counts.from_arrays(y, score)
    fast = roc_features(counts.labeled, counts.unlabeled)
    np.testing.assert_allclose(fast, slow_features(score, y), atol=1e-9)


def test_network_agrees_with_a_slow_version():
    network = _load_network("both")
    score, y = binormal(1)
    counts = Counts.from_arrays(y, score)
    features = roc_features(counts.labeled, counts.unlabeled)
    answers = []
    for i in range(len(network.layers[0])):
        value = [
            min(max(4 * (f - low) / (high - low) - 2, -2), 2)
            for f, low, high in zip(features, network.lowest, network.highest, strict=True)
        ]
        for depth in range(0, len(network.layers), 2):
            value = np.array(value) @ network.layers[depth][i] + network.layers[depth + 1][i]
            if depth < len(network.layers) - 2:
                value = [max(v, 0) for v in value]
        answers.append([1.02 / (1 + np.exp(-v)) - 0.01 for v in value])
    median = np.clip(np.mean(answers, axis=0).reshape(2, -1)[:, 0], 0, 1)
    np.testing.assert_allclose(network.quantiles(features)[:, 0], median, atol=1e-9)


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
    [({"purity": 0.9}, "purity must be"), ({"level": 1.0}, "level"), ({"level": 0}, "level")],
)
def test_bad_arguments(given, message):
    with pytest.raises(InputError, match=message):
        RocNetwork(**given).fit(*binormal(0))


def test_weights_are_small_and_come_back():
    assert (files("pueval.priors") / "roc_network.npz").stat().st_size < 300_000
    network = _load_network("pure")
    again = Network.from_arrays(network.arrays())
    score, y = binormal(11)
    counts = Counts.from_arrays(y, score)
    features = roc_features(counts.labeled, counts.unlabeled)
    assert np.array_equal(again.quantiles(features), network.quantiles(features))
    assert network.quantiles(features).shape == (1, 1 + 2 * len(LEVELS))
    found = pickle.loads(pickle.dumps(clone(RocNetwork(level=0.8)).fit(score, y)))  # noqa: S301
    assert found.get_params() == {"purity": 1.0, "level": 0.8}
