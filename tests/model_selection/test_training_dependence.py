"""Folds train on each other's rows: how intervals of evaluate_cv allow for that."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from pueval import AssumptionWarning, Counts, evaluate
from pueval.counts.design_effect import with_design_effect
from pueval.model_selection import evaluate_cv
from pueval.model_selection._training_dependence import (
    _pairs,
    reduce_partition,
    training_design_effect,
)


class Untrained(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def predict(self, X):
        raise NotImplementedError


def rows(rng, n=400, features=8):
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, features)) + 0.6 * positive[:, None]
    return X, positive & (rng.random(n) < 0.4)


@pytest.mark.parametrize("n_folds", [4, 5, 6, 7])
def test_every_fold_has_two_different_neighbors(n_folds):
    """Each classifier misses the tested folds; both partitions test every fold once."""
    partners = {k: set() for k in range(n_folds)}
    for start in (0, 1):
        tested = []
        for removed, part in _pairs(n_folds, start):
            assert set(part) <= set(removed)
            assert len(set(removed)) == 2
            for k in part:
                partners[k] |= set(removed) - {k}
            tested += part
        assert sorted(tested) == [*range(n_folds)]
    for k, found in partners.items():
        assert found == {(k - 1) % n_folds, (k + 1) % n_folds}


@pytest.mark.parametrize("n_folds", [2, 3, 4, 5])
def test_reduced_partitions(rng, n_folds):
    X, y = rows(rng)
    folds = [*StratifiedKFold(n_folds).split(X, y)]
    of_row = {row: set(train) for train, test in folds for row in test.tolist()}
    first, second, both = reduce_partition(folds, y, seed=0)
    for partition in (first, second, both):
        assert sorted(np.concatenate([test for _, test in partition])) == [*range(400)]
    trained = [
        {row: set(train.tolist()) for train, test in part for row in test.tolist()}
        for part in (first, second, both)
    ]
    share = 1 / 3 if n_folds == 4 else 1 / 4
    for row, train in of_row.items():
        without_first, without_second, without_both = (part[row] for part in trained)
        assert without_both == without_first & without_second
        assert without_first | without_second == train
        for part in (without_first, without_second):
            assert 1 - len(part) / len(train) == pytest.approx(share, abs=0.02)


def test_the_design_effect_by_loops(rng):
    """Against sums over rows, written out."""
    X, y = rows(rng, 120, 4)
    folds = [*StratifiedKFold(5).split(X, y)]
    weight = rng.integers(1, 4, 120).astype(float)
    score = rng.normal(size=120) + y
    scores = (score, *(score + 0.4 * rng.normal(size=120) for _ in range(3)))
    scores = (score, scores[1], scores[2], scores[1] + scores[2] - score)

    def placement(which, i):
        others = [j for j in range(120) if y[j] != y[i]]
        wins = [
            weight[j] * ((scores[which][i] > score[j]) + 0.5 * (scores[which][i] == score[j]))
            for j in others
        ]
        return sum(wins) / sum(weight[j] for j in others)

    place = np.array([[placement(which, i) for i in range(120)] for which in range(4)])
    variance = extra = 0.0
    for kind in (True, False):
        members = np.flatnonzero(y == kind)
        total = weight[members].sum() ** 2

        def covariance(a, b, members):
            mean_a = np.average(a[members], weights=weight[members])
            mean_b = np.average(b[members], weights=weight[members])
            n = len(members)
            return (
                sum(weight[i] ** 2 * (a[i] - mean_a) * (b[i] - mean_b) for i in members)
                * n
                / (n - 1)
            )

        variance += covariance(place[0], place[0], members) / total
        for (train, test), (once, again) in product(folds, [((0, 1), (2, 3)), ((0, 2), (1, 3))]):
            tested = [i for i in test if y[i] == kind]
            n, m = len(train), len(train) / 4
            change, repeated = (place[a] - place[b] for a, b in (once, again))
            extra += (n - m) ** 2 / (n * m) * covariance(change, repeated, tested) / total / 2
    found = training_design_effect(scores, folds, y, weight)
    assert found == pytest.approx(1 + extra / variance)
    assert found > 1.01


def test_the_mean_of_training_rows_has_the_variance_of_a_mean():
    """Factor (n − m)²/(nm): for a mean of n values, the covariance of both changes times it is 1/n.

    The first m of n values are removed, with and without the next m.
    """
    n, m = 12, 3
    coefficient = np.zeros((4, n))
    for which, absent in enumerate(([], range(m), range(m, 2 * m), range(2 * m))):
        kept = np.setdiff1d(np.arange(n), [*absent])
        coefficient[which, kept] = 1 / kept.size
    covariance = (coefficient[0] - coefficient[1]) @ (coefficient[2] - coefficient[3])
    assert covariance * (n - m) ** 2 / (n * m) == pytest.approx(1 / n)


def test_a_score_without_training_has_no_design_effect(rng):
    X, y = rows(rng)
    X[:, 0] = 1 / (1 + np.exp(-X[:, 0]))
    ev = evaluate_cv(Untrained(), X, y, prior=0.2, threshold=0.6)
    assert ev.splits.design_effect == 1
    expected = evaluate(y, X[:, 0], prior=0.2, threshold=0.6)
    assert ev["f1"] == expected["f1"]
    assert ev["roc_auc"] == expected["roc_auc"]


def test_intervals_widen_with_the_design_effect(rng):
    X, y = rows(rng, 400, 20)
    given = {"prior": 0.2, "threshold": 0.2, "n_resamples": 4000}
    ev = evaluate_cv(LogisticRegression(), X, y, **given)
    plain = evaluate_cv(LogisticRegression(), X, y, training_variance=False, **given)
    effect = ev.splits.design_effect
    assert 1.1 < effect < 2.5
    assert plain.splits.design_effect == 1
    assert ev.to_dict()["splits"]["design_effect"] == effect
    for name in ("roc_auc", "recall", "f1", "average_precision"):
        assert ev[name].value == plain[name].value
        ratio = ev[name].standard_error / plain[name].standard_error
        assert ratio == pytest.approx(effect**0.5, rel=0.08), name
    assert ev.counts == plain.counts
    assert ev.ranking() == plain.ranking()
    labeling = evaluate_cv(LogisticRegression(), X, y, variance="labeling", **given)
    assert labeling.splits.design_effect == 1


@pytest.mark.parametrize("told", [{"prevalence": 0.4}, {"label_frequency": 0.4}, {}])
def test_other_assumptions(rng, told):
    X, y = rows(rng, 600, 20)
    given = {"threshold": 0.2, "n_resamples": 500}
    ev = evaluate_cv(LogisticRegression(), X, y, **given, **told)
    plain = evaluate_cv(LogisticRegression(), X, y, training_variance=False, **given, **told)
    for name in ("roc_auc", "recall", "precision"):
        assert ev[name].low <= plain[name].low + 0.002, name
        assert ev[name].high - ev[name].low > plain[name].high - plain[name].low, name


def test_a_classifier_that_cannot_be_fitted_on_fewer_rows(rng):
    X, _ = rows(rng, 200, 3)
    y = np.arange(200) < 10
    classifier = CalibratedClassifierCV(LogisticRegression(), cv=5)
    with pytest.warns(AssumptionWarning, match="could not be fitted without a part of them"):
        ev = evaluate_cv(classifier, X, y, prior=0.1, threshold=0.1)
    assert ev.splits.design_effect == 1
    folds = [(np.setdiff1d(np.arange(200), test), test) for test in np.split(np.arange(200), 4)]
    with pytest.warns(AssumptionWarning, match="no labeled rows are left for training"):
        evaluate_cv(Untrained(), X / 10, np.arange(200) < 60, cv=folds, prior=0.1)


def test_effective_sizes_shrink(rng):
    counts = Counts.from_arrays(rng.random(50) < 0.4, rng.normal(size=50))
    shrunk = with_design_effect(counts, 2.5)
    assert shrunk.effective_sizes == pytest.approx(np.array(counts.effective_sizes) / 2.5)
    assert (shrunk.n_labeled, shrunk.n) == (counts.n_labeled, counts.n)
    assert with_design_effect(counts, 1.0) is counts
    propensity = np.full(50, 0.5)
    weighted = Counts.from_arrays(rng.random(50) < 0.4, rng.normal(size=50), propensity=propensity)
    assert with_design_effect(weighted, 2.5).n_represented == pytest.approx(weighted.n_represented)
