"""PUStratifiedKFold: every fold has its share of every kind of rows."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from pueval import InputError
from pueval.model_selection import PUStratifiedKFold
from pueval.scoring import make_scorer

KINDS = {"pos_label": 1, "unlabeled_label": 0, "negative_label": -1}


@pytest.fixture
def y(rng):
    return rng.permutation(np.repeat([1, 0, -1], [23, 170, 40]))


class TestFolds:
    @pytest.mark.parametrize("shuffle", [False, True])
    def test_partition_and_shares(self, y, shuffle):
        how = {"random_state": 0} if shuffle else {}
        folds = PUStratifiedKFold(4, shuffle=shuffle, **how, **KINDS)
        splits = [*folds.split(np.zeros((len(y), 2)), y)]
        assert len(splits) == folds.get_n_splits() == 4
        tested = np.concatenate([test for _, test in splits])
        assert sorted(tested) == list(range(len(y)))
        for train, test in splits:
            assert not set(train) & set(test)
            assert len(train) + len(test) == len(y)
            for kind in (1, 0, -1):
                assert abs(np.sum(y[test] == kind) - np.sum(y == kind) / 4) < 1

    def test_as_scikit_learn_where_that_is_right(self, y):
        ours, theirs = PUStratifiedKFold(3, **KINDS), StratifiedKFold(3)
        X = np.zeros(len(y))
        sizes = [
            sorted(tuple(np.sum(y[test] == k) for k in (1, 0, -1)) for _, test in each.split(X, y))
            for each in (ours, theirs)
        ]
        assert sizes[0] == sizes[1]

    def test_shuffling(self, y):
        X = np.zeros(len(y))

        def tests(seed):
            folds = PUStratifiedKFold(3, shuffle=True, random_state=seed, **KINDS)
            return [test.tolist() for _, test in folds.split(X, y)]

        assert tests(1) == tests(1) != tests(2)

    def test_groups_stay_together(self, rng, y):
        groups = rng.integers(60, size=len(y))
        folds = PUStratifiedKFold(3, **KINDS)
        for train, test in folds.split(np.zeros(len(y)), y, groups):
            assert not set(groups[train]) & set(groups[test])
            assert np.sum(y[test] == 1) >= 1

    def test_few_known_negatives_are_no_obstacle(self):
        y = np.repeat([1, 0, -1], [10, 50, 2])
        sizes = [len(test) for _, test in PUStratifiedKFold(5, **KINDS).split(y, y)]
        assert sum(sizes) == 62
        assert max(sizes) - min(sizes) <= 1

    def test_all_rows_known(self):
        y = np.repeat([1, -1], [10, 50])
        folds = PUStratifiedKFold(5, unlabeled_label=None, negative_label=-1)
        assert [len(test) for _, test in folds.split(y, y)] == [12] * 5

    def test_in_a_search(self, rng):
        X = rng.normal(size=(300, 2))
        y = np.where(X[:, 0] > 1, "known", "?")
        folds = PUStratifiedKFold(3, pos_label="known", unlabeled_label="?")
        scorer = make_scorer("roc_auc", prior=0.1, pos_label="known", unlabeled_label="?")
        search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring=scorer, cv=folds)
        assert np.isfinite(clone(search).fit(X, y).best_score_)
        assert repr(pickle.loads(pickle.dumps(folds))) == repr(folds)  # noqa: S301
        assert "pos_label='known'" in repr(folds)

    def test_groups_by_routing(self, rng):
        X = rng.normal(size=(300, 2))
        y, groups = (X[:, 0] > 0.5).astype(int), rng.integers(40, size=300)
        scorer = make_scorer("roc_auc", prior=0.1)
        folds = PUStratifiedKFold(3)
        plain = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=folds)
        with config_context(enable_metadata_routing=True):
            found = cross_val_score(
                LogisticRegression(), X, y, scoring=scorer, cv=folds, params={"groups": groups}
            )
        assert not np.allclose(plain, found)


class TestErrors:
    @pytest.mark.parametrize(
        ("y", "match"),
        [
            ([1, 1, 0, 0, 0, 0], "3 folds require at least 3 labeled rows; got 2"),
            ([1, 1, 1, 1, 0, 0], "3 other rows; got 2"),
            ([1, 1, 1, 0, 0, -1], "−1 is ambiguous"),
            ([1, 1, 1, 0, 0, None], "missing label"),
            ([1, 1, 1, 0, 0], "X and y must have the same length; got 6 and 5"),
        ],
    )
    def test_labels(self, y, match):
        with pytest.raises(InputError, match=match):
            next(PUStratifiedKFold(3).split(np.zeros((6, 1)), y))

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            ({"n_splits": 1}, "at least 2; got 1"),
            ({"n_splits": 2.5}, "whole number"),
            ({"random_state": 3}, "without shuffle=True"),
            ({"pos_label": 0}, "must differ"),
        ],
    )
    def test_arguments(self, arguments, match):
        with pytest.raises(InputError, match=match):
            PUStratifiedKFold(**arguments)

    def test_groups(self):
        y = np.repeat([1, 0], [6, 30])
        with pytest.raises(InputError, match="in at least 3 groups; got 2"):
            next(PUStratifiedKFold(3).split(y, y, np.arange(36) % 2))
        with pytest.raises(InputError, match="y and groups must have the same length"):
            next(PUStratifiedKFold(3).split(y, y, np.arange(5)))
        # One group holds nearly everything that is not labeled.
        groups = np.r_[np.arange(6), np.full(30, 6)]
        with pytest.raises(InputError, match="no unlabeled or known negative row, because groups"):
            [*PUStratifiedKFold(3).split(y, y, groups)]
