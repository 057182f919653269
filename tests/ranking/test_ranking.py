"""PULP, Lee–Liu and the others against their definitions, ties by brute force."""

import tracemalloc
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn import metrics as sk

from pueval import Counts, InputError, metrics
from pueval.ranking import largest_pulp, lee_liu, pseudo_f, pulp, ranking_measures
from pueval.ranking._top_k_hits import TopKHits


def by_definition(y):
    """Eq. 3 and the averages of the others for rows in a given order, best first."""
    y = np.asarray(y)
    n, t = len(y), y.sum()
    sums = dict.fromkeys(
        [
            "pulp",
            "lee_liu",
            "pseudo_f",
            "naive_f1",
            "naive_matthews_corrcoef",
            "naive_mutual_information",
        ],
        0.0,
    )
    for b in range(1, n + 1):
        k = y[:b].sum()
        predicted = np.arange(n) < b
        sums["pulp"] += hypergeom.cdf(k - 1, n, t, b)
        sums["lee_liu"] += (k / t) ** 2 / (b / n)
        sums["pseudo_f"] += 2 * (k / t) / (b / n + t / n)
        sums["naive_f1"] += sk.f1_score(y, predicted, zero_division=0.0)
        if b < n:
            sums["naive_matthews_corrcoef"] += sk.matthews_corrcoef(y, predicted)
        sums["naive_mutual_information"] += sk.mutual_info_score(y, predicted)
    return {name: value / (n + 1) for name, value in sums.items()}


def test_without_ties(rng):
    y = (rng.random(120) < np.linspace(0.6, 0.05, 120)).astype(int)
    ours = ranking_measures(Counts.from_arrays(y, -np.arange(120)))
    for name, value in by_definition(y).items():
        assert ours[name] == pytest.approx(value, abs=1e-11), name
    assert ours["naive_roc_auc"] == pytest.approx(sk.roc_auc_score(y, -np.arange(120)))
    assert ours["naive_average_precision"] == pytest.approx(
        sk.average_precision_score(y, -np.arange(120))
    )


@pytest.mark.parametrize(
    "score",
    [
        [3, 3, 2, 2, 2, 1],
        [1, 1, 1, 1, 1, 1],
        [2, 2, 2, 2, 1, 1],
        [3, 2, 2, 1, 1, 1],
    ],
)
@pytest.mark.parametrize("y", [[1, 0, 1, 0, 0, 1], [1, 1, 0, 0, 1, 0], [0, 1, 1, 1, 0, 1]])
def test_ties_are_the_mean_over_all_orders(y, score):
    y, score = np.array(y), np.array(score)
    # All distinct ways to lay out the labels within the ties; each is equally likely.
    ties = [y[score == value] for value in np.unique(score)[::-1]]
    layouts = product(*(sorted(set(permutations(tie.tolist()))) for tie in ties))
    orders = [by_definition(np.concatenate(layout)) for layout in layouts]
    ours = ranking_measures(Counts.from_arrays(y, score))
    for name in orders[0]:
        mean = np.mean([values[name] for values in orders])
        assert ours[name] == pytest.approx(mean, abs=1e-12), name


def test_large_ties_by_sampling_orders(rng):
    y = (rng.random(3000) < 0.2).astype(int)
    score = np.round(rng.normal(size=3000) + y, 0)
    ours = pulp(Counts.from_arrays(y, score))
    sampled = []
    for _ in range(60):
        order = np.lexsort((rng.random(3000), -score))
        sampled.append(pulp(Counts.from_arrays(y[order], -np.arange(3000))))
    standard_error = np.std(sampled) / np.sqrt(60)
    assert abs(ours - np.mean(sampled)) < 4 * standard_error + 1e-12


def test_batches_do_not_matter(rng, monkeypatch):
    y = (rng.random(500) < 0.3).astype(int)
    counts = Counts.from_arrays(y, np.round(rng.normal(size=500) + y, 0))
    whole = ranking_measures(counts)
    monkeypatch.setattr("pueval.ranking._top_k_hits.BATCH", 50)
    assert ranking_measures(counts) == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("separation", [0.0, 1.5])
def test_blocks_of_ranks_do_not_matter(rng, monkeypatch, separation):
    y = (rng.random(3000) < 0.1).astype(int)
    score = rng.normal(size=3000) + separation * y
    for values in (score, np.round(score, 1)):
        counts = Counts.from_arrays(y, values)
        whole = ranking_measures(counts)
        with monkeypatch.context() as patch:
            patch.setattr("pueval.ranking._top_k_hits.BLOCK", 70)
            assert ranking_measures(counts) == pytest.approx(whole, abs=1e-11)


def test_memory_is_a_few_numbers_per_row(rng):
    n = 1_000_000
    labeled = rng.random(n) < 0.01
    counts = Counts.from_arrays(labeled, rng.normal(size=n) + labeled)
    tracemalloc.start()
    try:
        ranking_measures(counts)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Logarithms of factorials take 8 bytes per row. Arrays over all ranks would take 200.
    assert peak / n < 40


def test_against_scipy_at_every_rank(rng):
    y = (rng.random(20_000) < 0.02).astype(int)
    score = rng.normal(size=20_000) + 1.5 * y
    top = TopKHits(Counts.from_arrays(y, score))
    ours = top.block(0).probability_of_fewer_hits()
    hits = np.cumsum(y[np.argsort(-score)])
    ranks = rng.integers(1, 20_001, size=300)
    theirs = hypergeom.cdf(hits[ranks - 1] - 1, 20_000, y.sum(), ranks)
    np.testing.assert_allclose(ours[ranks - 1], theirs, atol=1e-10)


def test_at_a_threshold(rng):
    y = (rng.random(500) < 0.2).astype(int)
    score = np.round(rng.normal(size=500) + y, 1)
    above = score >= 0.5
    k, b, t, n = y[above].sum(), above.sum(), y.sum(), 500
    assert metrics.pulp_score(y, score, threshold=0.5) == pytest.approx(
        hypergeom.cdf(k - 1, n, t, b)
    )
    assert metrics.lee_liu_score(y, score, threshold=0.5) == pytest.approx((k / t) ** 2 * n / b)
    assert metrics.pseudo_f_score(y, score, threshold=0.5, prevalence=0.3) == pytest.approx(
        2 * (k / t) / (b / n + 0.3)
    )
    assert metrics.lee_liu_score(y, score, threshold=np.inf) == 0.0
    assert metrics.pulp_score(y, score, threshold=np.inf) == 0.0


def test_averages_are_those_of_ranking_measures(rng):
    y = (rng.random(300) < 0.2).astype(int)
    score = np.round(rng.normal(size=300) + y, 1)
    counts = Counts.from_arrays(y, score)
    every = ranking_measures(counts)
    assert metrics.pulp_score(y, score) == every["pulp"] == pulp(counts)
    assert metrics.lee_liu_score(y, score) == every["lee_liu"] == lee_liu(counts)
    assert metrics.pseudo_f_score(y, score) == every["pseudo_f"] == pseudo_f(counts)
    assert pseudo_f(counts, prevalence=0.5) < every["pseudo_f"]


def test_good_rankings_score_high(rng):
    y = (rng.random(5000) < 0.1).astype(int)
    noise = rng.normal(size=5000)
    values = [pulp(Counts.from_arrays(y, noise + shift * y)) for shift in (-1.0, 0.0, 1.0)]
    assert values[0] < 0.2 < values[1] < 0.8 < values[2]


def test_float_weights_are_refused():
    counts = Counts.from_arrays([1, 0, 0], [3, 2, 1], sample_weight=[0.5, 1.0, 1.0])
    for function in (pulp, lee_liu, pseudo_f, ranking_measures):
        with pytest.raises(InputError, match="float weights"):
            function(counts)
    # At a threshold there is nothing to count, but PULP does count.
    assert lee_liu(counts, threshold=2) == pytest.approx(1 / (1.5 / 2.5))
    with pytest.raises(InputError, match="float weights"):
        pulp(counts, threshold=2)


def test_whole_weights_are_repeated_rows():
    y, score, weight = [1, 0, 0, 1], [4, 3, 2, 2], [2, 3, 1, 1]
    repeated = Counts.from_arrays(np.repeat(y, weight), np.repeat(score, weight))
    weighted = Counts.from_arrays(y, score, sample_weight=weight)
    assert ranking_measures(weighted) == pytest.approx(ranking_measures(repeated))


def test_bad_prevalence():
    counts = Counts.from_arrays([1, 0], [2, 1])
    with pytest.raises(InputError, match=r"prevalence must be a number in \(0, 1\]; got 0"):
        pseudo_f(counts, prevalence=0)
    with pytest.raises(InputError, match="prevalence must be a number; got '0.3'"):
        pseudo_f(counts, prevalence="0.3")


@pytest.mark.parametrize(("n", "t"), [(2, 1), (9, 2), (40, 17), (300, 290)])
def test_largest_pulp_is_that_of_a_perfect_ranking(n, t):
    y = np.arange(n) < t
    reversed_ranking = Counts.from_arrays(y, np.arange(n))
    perfect = sum(hypergeom.cdf(min(k, t) - 1, n, t, k) for k in range(n + 1)) / (n + 1)
    assert largest_pulp(reversed_ranking) == pytest.approx(perfect, abs=1e-12)
    assert pulp(Counts.from_arrays(y, -np.arange(n))) == pytest.approx(perfect, abs=1e-12)


@pytest.mark.parametrize("separation", [1.2, 1.8])
def test_near_its_largest_value_pulp_is_noise(separation):
    """It varies as much as it is away from the largest value; the naive AUC does not."""
    rng = np.random.default_rng(0)
    y = np.arange(1000) < 100
    gaps, aucs = [], []
    for _ in range(20):
        counts = Counts.from_arrays(y, rng.normal(size=1000) + separation * y)
        gaps.append(largest_pulp(counts) - pulp(counts))
        aucs.append(ranking_measures(counts)["naive_roc_auc"])
    assert 0 < np.mean(gaps) < 0.01
    assert np.std(gaps) > np.mean(gaps) / 2
    assert np.std(aucs) < (1 - np.mean(aucs)) / 3


def test_largest_pulp_counts_rows():
    with pytest.raises(InputError, match="weights"):
        largest_pulp(Counts.from_arrays([1, 0], [1, 0], sample_weight=[0.5, 1.0]))
