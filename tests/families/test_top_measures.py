"""Measures of the top of the list, against slow versions that go through every row."""

import math

import numpy as np
import pytest
from scipy.special import expit

from pueval import Counts, InputError, Mixture
from pueval.core import rates as rates_module
from pueval.core.mixture import NAIVE, Mixtures
from pueval.core.rates import Rates, correct_steps
from pueval.families import rank_weights
from pueval.families.rank_weights import TABULATED, discount_sum
from pueval.families.ranked_rows import RankedRows
from pueval.families.top_measure import first_rows, measure_lines
from pueval.families.top_measures import (
    TOP_MEASURES,
    area_under_lift,
    average_precision_at,
    bedroc,
    enrichment,
    f_at,
    ndcg,
    positives_at,
    precision_at,
    recall_at,
    rie,
)

K = 17


def rows(seed=0, n=200, decimals=1):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    score = np.round(rng.normal(size=n) + positive, decimals)
    return positive & (rng.random(n) < 0.5), score


def measure(y, score, which, mixture=NAIVE, target="population", **given):
    counts = Counts.from_arrays(y, score, **given)
    return RankedRows(counts, counts._roc_corners(), target).value(which, mixture)


def posterior_by_rank(y, score, prior, purity):
    """Return P(positive) for each rank of the population; means over the orders of tied rows."""
    n_labeled = y.sum()
    background = prior
    contrast = purity - background
    # Positives are a mixture of labeled and unlabeled rows with these weights.
    weight = np.where(
        y, (1 - background) / contrast / n_labeled, -(1 - purity) / contrast / (~y).sum()
    )
    n_positive = purity * n_labeled + prior * (~y).sum()
    order = np.argsort(-score, kind="stable")
    share, score = weight[order] * n_positive, score[order]
    for value in np.unique(score):
        tied = score == value
        share[tied] = share[tied].mean()
    return share, n_positive


@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize(("prior", "purity"), [(0.0, 1.0), (0.2, 1.0), (0.2, 0.9)])
class TestAgainstEveryRank:
    def test_first_rows(self, decimals, prior, purity):
        y, score = rows(decimals=decimals)
        share, n_positive = posterior_by_rank(y, score, prior, purity)
        mixture, first = Mixture(prior, purity), first_rows(K)
        hits = share[:K].sum()
        expected = {
            positives_at: hits,
            precision_at: hits / K,
            recall_at: hits / n_positive,
            f_at: 2 * hits / (K + n_positive),
            enrichment: hits / n_positive * y.size / K,
        }
        for make, slow in expected.items():
            assert measure(y, score, make(first), mixture) == pytest.approx(slow, abs=1e-12)
        beta = 2 * 1.25 * hits / (K + 0.25 * n_positive) / 2
        assert measure(y, score, f_at(first, 0.5), mixture) == pytest.approx(beta, abs=1e-12)

    def test_discounts(self, decimals, prior, purity):
        y, score = rows(decimals=decimals)
        share, n_positive = posterior_by_rank(y, score, prior, purity)
        discount = 1 / np.log2(np.arange(2, y.size + 2))
        whole = int(n_positive)
        for k in (1, K, y.size):
            ideal = discount[: min(k, whole)].sum()
            if whole < k:
                ideal += (n_positive - whole) * discount[whole]
            slow = share[:k] @ discount[:k] / ideal
            ours = measure(y, score, ndcg(first_rows(k)), Mixture(prior, purity))
            assert ours == pytest.approx(slow, abs=1e-12)
        assert ours == measure(y, score, ndcg(), Mixture(prior, purity))

    @pytest.mark.parametrize("alpha", [3.0, 20.0, 160.9])
    def test_exponential_weights(self, decimals, prior, purity, alpha):
        y, score = rows(decimals=decimals)
        share, n_positive = posterior_by_rank(y, score, prior, purity)
        n = y.size
        weight = np.exp(-alpha * np.arange(1, n + 1) / n)
        slow = share @ weight / n_positive / ((1 - math.exp(-alpha)) / math.expm1(alpha / n) / n)
        mixture = Mixture(prior, purity)
        assert measure(y, score, rie(alpha), mixture) == pytest.approx(slow, abs=1e-12)
        ratio = n_positive / n
        largest = (1 - math.exp(-alpha * ratio)) / (ratio * (1 - math.exp(-alpha)))
        least = (1 - math.exp(alpha * ratio)) / (ratio * (1 - math.exp(alpha)))
        ours = measure(y, score, bedroc(alpha), mixture)
        assert ours == pytest.approx((slow - least) / (largest - least), abs=1e-12)

    def test_area_under_lift(self, decimals, prior, purity):
        y, score = rows(decimals=decimals)
        share, n_positive = posterior_by_rank(y, score, prior, purity)
        below = 1 - (np.arange(y.size) + 0.5) / y.size
        ours = measure(y, score, area_under_lift(), Mixture(prior, purity))
        assert ours == pytest.approx(share @ below / n_positive, abs=1e-12)


@pytest.mark.parametrize("labeled", ["at random", "first", "last"])
def test_area_under_lift_of_a_case_control_study(labeled):
    """A labeled row is no row of the list: AUL is the naive AUC."""
    y, score = rows(n=30, decimals=9)
    score = {"at random": score, "first": score + 9 * y, "last": score - 9 * y}[labeled]
    area = measure(y, score, area_under_lift(), Mixture(0.3), "unlabeled")
    outranked = np.mean(score[y][:, None] > score[~y])
    assert area == pytest.approx(outranked, abs=1e-12)


def test_worked_case_of_rdkit():
    """Ten compounds, actives at ranks 1 and 5: the numbers by hand from RDKit's formulas."""
    y = np.array([1, 0, 0, 0, 1, 0, 0, 0, 0, 0])
    score = -np.arange(10.0)
    enhancement = (math.exp(-2) + math.exp(-10)) / 2 / (0.1 * (1 - math.exp(-20)) / math.expm1(2))
    assert measure(y, score, rie(20.0)) == pytest.approx(enhancement, abs=1e-12)
    assert measure(y, score, enrichment(first_rows(share=0.2))) == pytest.approx(2.5, abs=1e-12)
    # 11% of ten rows are two of them.
    assert measure(y, score, enrichment(first_rows(share=0.11))) == pytest.approx(2.5, abs=1e-12)
    assert measure(y, score, enrichment(first_rows(share=0.5))) == pytest.approx(2.0, abs=1e-12)
    largest = (1 - math.exp(-4)) / (0.2 * (1 - math.exp(-20)))
    least = (1 - math.exp(4)) / (0.2 * (1 - math.exp(20)))
    expected = (enhancement - least) / (largest - least)
    assert measure(y, score, bedroc(20.0)) == pytest.approx(expected, abs=1e-12)


def test_average_precision_at_k_by_hand():
    y, score = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]
    for k, slow in ((1, 1.0), (3, (1 + 2 / 3) / 3), (5, (1 + 2 / 3 + 3 / 5) / 3)):
        assert measure(y, score, average_precision_at(first_rows(k))) == pytest.approx(slow)
    # All tied: two expected positives among four rows, both with precision 1/2.
    tied = measure(y, [1] * 6, average_precision_at(first_rows(4)))
    assert tied == pytest.approx(2 * 0.5 / 3, abs=1e-12)


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("name", TOP_MEASURES)
def test_frequency_weights_are_repeated_rows(name, target):
    y, score = rows(n=80)
    weight = np.random.default_rng(1).integers(1, 4, size=y.size)
    mixture = Mixture(0.2, 0.95)
    ours = measure(y, score, TOP_MEASURES[name], mixture, target, sample_weight=weight)
    repeated = measure(
        np.repeat(y, weight), np.repeat(score, weight), TOP_MEASURES[name], mixture, target
    )
    assert ours == pytest.approx(repeated, abs=1e-12)


@pytest.mark.parametrize("name", [*TOP_MEASURES, "average_precision_at_k"])
def test_importance_weights_of_one_are_rows(name):
    y, score = rows(n=80)
    which = TOP_MEASURES.get(name) or average_precision_at(first_rows(K))
    if name == "enrichment_factor":
        which = enrichment(first_rows(share=0.25))  # a whole number of rows
    ours = measure(y, score, which, Mixture(0.2), sample_weight=np.ones(y.size))
    assert ours == pytest.approx(measure(y, score, which, Mixture(0.2)), abs=1e-12)


def test_sum_of_discounts_beyond_the_table():
    ranks = np.array([1, 100, TABULATED, TABULATED + 1, 50_000, 1_000_000])
    exact = np.cumsum(1 / np.log2(np.arange(2, ranks[-1] + 2)))[ranks - 1]
    np.testing.assert_allclose(discount_sum(ranks.astype(float)), exact, rtol=1e-13)
    # Half a row has half its discount.
    half = discount_sum(np.array([49_999.5]))
    assert half == pytest.approx(exact[4] - 0.5 / math.log2(50_001), rel=1e-12)


def test_lines_of_rates_are_evaluated_one_by_one():
    y, score = rows()
    counts = Counts.from_arrays(y, score)
    ranked = RankedRows(counts, counts._roc_corners(), "population")
    priors, purities = np.array([0.0, 0.2, 0.3]), np.array([1.0, 0.95, 0.9])
    measures = [*TOP_MEASURES.values(), average_precision_at(first_rows(K)), f_at(first_rows(K))]
    for column in (purities, np.ones(3)):
        lines = correct_steps(
            counts, ranked.runs, Mixtures(priors[:, None], column[:, None]), "population"
        )
        for which in measures:
            alone = [
                float(which(correct_steps(counts, ranked.runs, Mixture(*each), "population")))
                for each in zip(priors, column, strict=True)
            ]
            np.testing.assert_allclose(which(lines), alone, atol=1e-12, err_msg=which.name)


def test_measures_that_need_no_prior():
    y, score = rows(n=2000, decimals=2)
    free = {name for name, which in TOP_MEASURES.items() if not which.needs_prior}
    assert free == {"enrichment_factor", "rie", "aul"}
    for name, which in TOP_MEASURES.items():
        values = [measure(y, score, which, Mixture(prior)) for prior in (0.0, 0.1, 0.3)]
        assert (np.ptp(values) < 1e-12) == (name in free), name


def test_known_negatives_count_in_the_list():
    y, score = rows()
    labels = y.astype(int)
    labels[np.flatnonzero(~y)[::3]] = -1
    top = precision_at(first_rows(K))
    given = {"negative_label": -1}
    naive = measure(labels, score, top, **given)
    assert naive == pytest.approx(measure(y, score, top), abs=1e-12)
    share = (labels == 0).sum() / (labels <= 0).sum()
    # The prior is that of the unlabeled rows alone.
    assert measure(labels, score, top, Mixture(0.3), **given) == pytest.approx(
        measure(y, score, top, Mixture(0.3 * share)), abs=1e-12
    )


def test_case_control_ranks_are_among_the_unlabeled_rows():
    """A labeled row between two unlabeled ones has the mean of the weights of their ranks."""
    counts = Counts.from_arrays([1, 0, 1, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    ranked = RankedRows(counts, counts._roc_corners(), "unlabeled")
    discount = 1 / np.log2(np.array([2, 3, 4]))
    mean = np.mean([discount[0], discount[:2].mean(), discount[2]])
    ideal = discount[0] * 3 * 0.3
    assert ranked.value(ndcg(), Mixture(0.3)) == pytest.approx(3 * 0.3 * mean / ideal, abs=1e-12)
    assert ranked.value(recall_at(first_rows(1)), Mixture(0.3)) == pytest.approx(1.5 / 3)


def test_propensities_weigh_the_positives():
    rng = np.random.default_rng(0)
    n = 200_000
    positive = rng.random(n) < 0.2
    score = rng.normal(size=n) + 1.5 * positive
    propensity = expit(score - 1)
    y = positive & (rng.random(n) < propensity)
    counts = Counts.from_arrays(y, score, propensity=propensity)
    ranked = RankedRows(counts, counts._roc_corners(), "population")
    mixture = Mixture.from_prevalence(counts, 0.2)
    order = np.argsort(-score)
    truth = positive[order[:2000]].mean()
    assert ranked.value(precision_at(first_rows(2000)), mixture) == pytest.approx(truth, abs=0.03)
    unweighted = measure(y, score, precision_at(first_rows(2000)), mixture)
    assert unweighted > truth + 0.2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "neither"),
        ({"k": 3, "share": 0.1}, "both"),
        ({"k": 0}, "at least 1"),
        ({"k": 0.5}, "use share"),
        ({"k": "three"}, "k must be a number"),
        ({"share": 5}, "pass 0.05"),
    ],
)
def test_first_rows_are_checked(given, message):
    with pytest.raises(InputError, match=message):
        first_rows(**given)


def test_more_rows_than_there_are():
    with pytest.raises(InputError, match="at most 10"):
        first_rows(11)(10)
    assert first_rows(11, at_most_all=True)(10) == 10
    assert first_rows(share=0.07)(100) == 7  # although .07·100 > 7 in floating point
    assert first_rows(share=0.07)(99) == 7
    assert first_rows(share=0.07)(99.0) == pytest.approx(6.93)  # importance weights


def test_sums_of_discounts_of_many_ranks_are_interpolated():
    rng = np.random.default_rng(0)
    rows = np.exp(rng.uniform(0, np.log(1e9), 3 * rank_weights.MANY))
    one_by_one = np.concatenate([rank_weights.discount_sum(part) for part in np.split(rows, 6)])
    np.testing.assert_allclose(rank_weights.discount_sum(rows), one_by_one, rtol=1e-13)


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("decimals", [1, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_runs_are_cumulative_counts_above_and_at_labeled_scores(target, decimals, weighted):
    y, score = rows(decimals=decimals)
    rng = np.random.default_rng(1)
    label = np.where(y, 1, np.where(rng.random(y.size) < 0.2, -1, 0))
    counts = Counts.from_arrays(
        label, score, negative_label=-1, sample_weight=rng.random(y.size) if weighted else None
    )
    runs = RankedRows(counts, counts._roc_corners(), target).runs
    expected = counts.at(runs.threshold)
    for name in ("labeled", "unlabeled", "negative"):
        np.testing.assert_allclose(getattr(runs, name), getattr(expected, name), rtol=1e-12)
    labeled_scores = np.unique(score[y])
    assert np.isin(labeled_scores, runs.threshold).all()
    assert np.isin(np.nextafter(labeled_scores, np.inf), runs.threshold).all()


@pytest.mark.parametrize("own_prevalence", [False, True])
def test_many_lines_are_those_one_by_one(own_prevalence):
    """Lines are handled in blocks, and measures share sums of ranks."""
    rng = np.random.default_rng(0)
    n_lines, n = rates_module.LINES + 5, 30
    tpr, fpr = np.sort(rng.random((2, n_lines, n)) ** [[[0.5]], [[2.0]]], axis=-1)
    prevalence = rng.uniform(0.1, 0.5, (n_lines, 1)) if own_prevalence else 0.3
    predicted = prevalence * tpr + (1 - prevalence) * fpr
    threshold = np.arange(n)[::-1]
    measures = [*TOP_MEASURES.values()]
    found = measure_lines(measures, Rates(threshold, tpr, fpr, predicted, prevalence, 5000))
    for k in (0, 1, rates_module.LINES, n_lines - 1):
        share = float(np.broadcast_to(prevalence, (n_lines, 1))[k, 0])
        for line, each in zip(found, measures, strict=True):
            alone = each(Rates(threshold, tpr[k], fpr[k], predicted[k], share, 5000))
            assert line[k] == pytest.approx(float(alone), rel=1e-12), each.name


def test_ranks_in_blocks(monkeypatch):
    y, score = rows(n=500, decimals=8)
    values = [measure(y, score, each, Mixture(0.3)) for each in (ndcg(), rie(), area_under_lift())]
    monkeypatch.setattr(rank_weights, "BLOCK", 7)
    again = [measure(y, score, each, Mixture(0.3)) for each in (ndcg(), rie(), area_under_lift())]
    np.testing.assert_allclose(again, values, rtol=1e-13)


@pytest.mark.parametrize("mixture", [Mixture(0.3), Mixture(0.3, 0.9)])
def test_naive_values_do_not_depend_on_corrected_ones(mixture):
    """Both share sums of ranks only where the positives have the same ranks."""
    y, score = rows()
    counts = Counts.from_arrays(y, score)
    for each in TOP_MEASURES.values():
        ranked = RankedRows(counts, counts._roc_corners(), "population")
        corrected = [ranked.value(other, mixture) for other in TOP_MEASURES.values()]
        assert ranked.naive(each) == pytest.approx(measure(y, score, each), rel=1e-12)
        again = [ranked.value(other, mixture) for other in TOP_MEASURES.values()]
        np.testing.assert_array_equal(again, corrected)
