"""Labels are distributed as promised, and the truth is kept."""

import numpy as np
import pytest
from scipy import sparse, stats

from pueval import InputError
from pueval.simulate import (
    case_control,
    label_at_random,
    label_by_propensity,
    label_by_representativeness,
    representativeness,
)

TRUTH = np.random.default_rng(0).permutation(np.arange(1000) < 300)


def check(made, truth=TRUTH):
    """What must hold of every labeling."""
    np.testing.assert_array_equal(made.truth, truth[made.rows])
    assert np.all(np.diff(made.rows) > 0)
    labeled = made.rows[made.label == 1]
    assert made.n_labeled == labeled.size
    assert made.purity == truth[labeled].mean()
    assert made.prior == truth[made.rows[made.label == 0]].mean()
    assert made.mixture.prior == made.prior
    assert made.n_labeled + made.n_unlabeled == made.rows.size
    with pytest.raises(ValueError, match="read-only"):
        made.label[0] = 1


def test_share_and_count():
    made = label_at_random(TRUTH, label_frequency=0.2, seed=0)
    check(made)
    assert (made.n_labeled, made.n_unlabeled, made.purity) == (60, 940, 1.0)
    assert made.label_frequency == pytest.approx(0.2)
    assert made.prevalence == pytest.approx(0.3)
    assert made.prior == pytest.approx(240 / 940)
    assert label_at_random(TRUTH, count=17, seed=0).n_labeled == 17
    assert label_at_random(TRUTH, label_frequency=1.0, seed=0).prior == 0


def test_noise():
    made = label_at_random(TRUTH, count=100, purity=0.75, seed=0)
    check(made)
    assert (made.n_labeled, made.purity) == (100, 0.75)
    made = label_at_random(TRUTH, label_frequency=0.2, purity=0.75, seed=0)
    assert (made.n_labeled, made.purity) == (80, 0.75)


def test_every_positive_has_the_same_chance():
    times = np.zeros(1000)
    for seed in range(400):
        made = label_at_random(TRUTH, count=100, purity=0.9, seed=seed)
        times[made.rows[made.label == 1]] += 1
    for kind, chance in ((TRUTH, 90 / 300), (~TRUTH, 10 / 700)):
        found = times[kind]
        # Sums over rows are fixed; each row's number is binomial.
        spread = ((found - 400 * chance) ** 2).sum() / (400 * chance * (1 - chance))
        assert stats.chi2.cdf(spread, found.size - 1) == pytest.approx(0.5, abs=0.4999)


def test_fewer_unlabeled_rows():
    made = label_at_random(TRUTH, count=50, n_unlabeled=200, seed=0)
    check(made)
    assert (made.n_labeled, made.n_unlabeled) == (50, 200)
    assert label_at_random(TRUTH, count=50, n_unlabeled=5000, seed=0).n_unlabeled == 950


def test_propensity():
    chance = np.where(np.arange(1000) % 2, 0.5, 0.1)
    odd = even = 0
    for seed in range(50):
        made = label_by_propensity(TRUTH, chance, seed=seed)
        labeled = made.rows[made.label == 1]
        assert TRUTH[labeled].all()
        odd += (labeled % 2).sum()
        even += (labeled % 2 == 0).sum()
    there = np.flatnonzero(TRUTH)
    for found, kind, p in ((odd, there % 2 == 1, 0.5), (even, there % 2 == 0, 0.1)):
        assert stats.binomtest(int(found), int(50 * kind.sum()), p).pvalue > 1e-4
    check(made)
    noisy = label_by_propensity(TRUTH, np.full(1000, 0.5), purity=0.8, seed=0)
    assert noisy.purity == pytest.approx(0.8, abs=0.01)
    # Negatives are never labeled by propensity, whatever theirs is.
    certain = label_by_propensity(TRUTH, np.ones(1000), seed=0)
    np.testing.assert_array_equal(certain.label, TRUTH)


def test_representativeness_is_the_density():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2)) @ np.array([[2.0, 0.5], [0.0, 0.3]]) + 5
    truth = np.arange(400) < 300
    depth = representativeness(X, truth, n_components=1, seed=0)
    twin = stats.multivariate_normal(X[truth].mean(axis=0), np.cov(X[truth].T)).logpdf(X)
    assert stats.spearmanr(depth, twin).statistic > 0.999


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_many_features_are_reduced(kind):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 60))
    X[:, :2] *= 10
    depth = representativeness(kind(X), np.arange(300) < 200, n_components=1, dimensions=2, seed=0)
    twin = -(X[:, :2] ** 2).sum(axis=1)
    assert stats.spearmanr(depth, twin).statistic > 0.9


def test_most_and_least_representative_first():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 3))
    depth = representativeness(X, TRUTH, n_components=2, seed=5)
    limits = np.sort(depth[TRUTH])
    most = label_by_representativeness(TRUTH, depth, first="most", count=100, seed=0)
    least = label_by_representativeness(TRUTH, depth, first="least", label_frequency=1 / 3, seed=0)
    check(most)
    assert depth[most.rows[most.label == 1]].min() == limits[200]
    assert depth[least.rows[least.label == 1]].max() == limits[99]
    straight = label_by_representativeness(
        TRUTH, X, first="most", count=100, n_components=2, seed=np.random.default_rng(5)
    )
    np.testing.assert_array_equal(straight.label, most.label)
    noisy = label_by_representativeness(TRUTH, depth, first="most", count=100, purity=0.9, seed=0)
    assert noisy.purity == 0.9


def test_ties_in_representativeness_have_equal_chances():
    times = np.zeros(4)
    for seed in range(300):
        made = label_by_representativeness(
            [1, 1, 1, 0], [1.0, 1.0, 1.0, 9.0], first="most", count=1, seed=seed
        )
        times += made.label
    assert times[3] == 0
    assert stats.chisquare(times[:3]).pvalue > 1e-4


def test_case_control():
    made = case_control(TRUTH, n_labeled=50, n_unlabeled=400, seed=0)
    check(made)
    assert (made.n_labeled, made.n_unlabeled, made.prior) == (50, 400, 0.3)
    noisy = case_control(TRUTH, n_labeled=40, n_unlabeled=100, prior=0.05, purity=0.75, seed=0)
    check(noisy)
    assert (noisy.purity, noisy.prior) == (0.75, 0.05)


def test_seeds():
    for make in (
        lambda seed: label_at_random(TRUTH, count=100, purity=0.9, seed=seed),
        lambda seed: label_by_propensity(TRUTH, np.full(1000, 0.3), seed=seed),
        lambda seed: case_control(TRUTH, n_labeled=50, n_unlabeled=100, seed=seed),
    ):
        first, again, other = make(1), make(1), make(2)
        np.testing.assert_array_equal(first.rows[first.label == 1], again.rows[again.label == 1])
        assert not np.array_equal(first.rows[first.label == 1], other.rows[other.label == 1])


def test_counts():
    made = case_control(TRUTH, n_labeled=50, n_unlabeled=100, seed=0)
    score = np.arange(1000.0)
    counts = made.counts(score)
    assert (counts.n_labeled, counts.n_unlabeled) == (50, 100)
    assert counts == made.counts(score[made.rows])
    with pytest.raises(InputError, match="one value for each of the 150 rows"):
        made.counts(score[:80])
    assert "50 labeled, 100 unlabeled" in repr(made)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: label_at_random([1, 2, 0], count=1, seed=0), "positive must hold 1 or True"),
        (lambda: label_at_random([1, 1], count=1, seed=0), "both classes; got only one"),
        (lambda: label_at_random(TRUTH, seed=0), "give exactly one of label_frequency"),
        (lambda: label_at_random(TRUTH, count=1, label_frequency=0.1, seed=0), "give exactly one"),
        (lambda: label_at_random(TRUTH, count=0, seed=0), "count must be a whole number"),
        (lambda: label_at_random(TRUTH, count=400, seed=0), "400 positives, but there"),
        (lambda: label_at_random(TRUTH, count=2000, purity=0.1, seed=0), "1,800 negatives, but"),
        (lambda: label_at_random(TRUTH, label_frequency=1.2, seed=0), r"label_frequency must be"),
        (lambda: label_at_random(TRUTH, label_frequency=1e-4, seed=0), "labels none of 300"),
        (lambda: label_at_random(TRUTH, label_frequency=1.0, purity=0.2, seed=0), "1,200 neg"),
        (lambda: label_at_random(TRUTH, count=9, purity=0, seed=0), "purity must be a number"),
        (lambda: label_at_random(TRUTH, count=9, n_unlabeled=0, seed=0), "n_unlabeled must be"),
        (lambda: label_by_propensity(TRUTH, [0.5], seed=0), "got 1 and 1,000"),
        (lambda: label_by_propensity(TRUTH, np.full(1000, 1.5), seed=0), "got 1.5 for a positive"),
        (lambda: label_by_propensity(TRUTH, np.zeros(1000), seed=0), "no positive was labeled"),
        (lambda: label_by_representativeness(TRUTH, TRUTH, first="best", count=1, seed=0),
         "first must be 'most' or 'least'"),
        (lambda: label_by_representativeness(TRUTH, [1.0], first="most", count=1, seed=0),
         "got 1 and 1,000"),
        (lambda: representativeness(np.ones((5, 2)), TRUTH, seed=0), "got 5 and 1,000"),
        (lambda: representativeness([[np.nan]] * 1000, TRUTH, seed=0), "invalid features"),
        (lambda: representativeness(np.ones((4, 2)), [1, 1, 0, 0], seed=0), "2 positives are too"),
        (lambda: case_control(TRUTH, n_labeled=50, n_unlabeled=900, seed=0), "320 positives, but"),
        (lambda: case_control(TRUTH, n_labeled=50, n_unlabeled=900, prior=0.0, seed=0),
         "900 negatives, but"),
        (lambda: case_control(TRUTH, n_labeled=50, n_unlabeled=90, prior=1.0, seed=0), r"\[0, 1\)"),
        (lambda: case_control(TRUTH, n_labeled=50, n_unlabeled=90, prior="0.1", seed=0),
         "prior must be a number; got '0.1'"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_what_is_no_number_has_no_rank():
    """NaN would be sorted to the end, and so be the most representative row of all."""
    depth = np.where(np.arange(1000) == np.flatnonzero(TRUTH)[3], np.nan, 1.0)
    with pytest.raises(InputError, match="representativeness must not be NaN; got 1 NaN"):
        label_by_representativeness(TRUTH, depth, first="most", count=1, seed=0)
    text = np.full(1000, "high")
    with pytest.raises(InputError, match="representativeness must hold numbers; got"):
        label_by_representativeness(TRUTH, text, first="most", count=1, seed=0)
    with pytest.raises(InputError, match="propensity must hold numbers; got"):
        label_by_propensity(TRUTH, text, seed=0)


def test_labeled_rows_hold_a_positive():
    with pytest.raises(InputError, match="include no positive"):
        label_at_random(TRUTH, count=1, purity=0.4, seed=0)
