"""evaluate_cv: out-of-fold scores, folds on one scale, repeats."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pueval import AssumptionWarning, Counts, InputError, evaluate
from pueval.evaluation.evaluate import evaluate_counts
from pueval.model_selection import PUStratifiedKFold, evaluate_cv
from pueval.scoring import make_scorer


class Shifting(ClassifierMixin, BaseEstimator):
    """Scores are the first feature on a scale that depends on the training rows."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.shift_ = 10 * X[:, 1].mean() * len(X) ** 0.5
        self.weight_ = sample_weight
        return self

    def decision_function(self, X):
        return X[:, 0] * np.exp(self.shift_ / 10) + self.shift_

    def predict(self, X):
        raise NotImplementedError


class Probable(Shifting):
    """The same, and calls it a probability."""

    def predict_proba(self, X):
        score = self.decision_function(X)
        return np.column_stack([1 - score, score])


class Plain(ClassifierMixin, BaseEstimator):
    """The score is the first feature, whatever the training rows."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        raise NotImplementedError


@pytest.fixture
def data(rng):
    positive = rng.random(1500) < 0.35
    X = np.column_stack([rng.normal(size=1500) + 2 * positive, rng.normal(size=(1500, 3))])
    return X, (positive & (rng.random(1500) < 0.4)).astype(int), positive


class TestScores:
    def test_out_of_fold_scores_are_evaluated(self, data):
        X, y, _ = data
        folds = StratifiedKFold(4)
        score = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="predict_proba")
        expected = evaluate(y, score[:, 1], prior=0.25, threshold=0.2)
        ev = evaluate_cv(
            LogisticRegression(), X, y, cv=folds, prior=0.25, threshold=0.2, training_variance=False
        )
        assert ev.counts == expected.counts
        assert {name: ev[name] for name in ev} == {name: expected[name] for name in expected}
        np.testing.assert_array_equal(ev.splits.score[0], score[:, 1])
        for k, (_, test) in enumerate(folds.split(X, y)):
            assert set(ev.splits.fold[0, test]) == {k}

    def test_the_prior_is_estimated_from_them(self, data):
        X, y, positive = data
        ev = evaluate_cv(LogisticRegression(), X, y)
        assert ev.prior_estimate is not None
        assert ev.mixture.prior == pytest.approx(positive[y == 0].mean(), abs=0.1)
        truth = roc_auc_score(positive, ev.splits.score[0])
        assert ev["roc_auc"].low < truth < ev["roc_auc"].high

    def test_a_forest_does_not_see_its_test_rows(self, data):
        """In-sample scores of a forest separate labeled rows perfectly; these do not."""
        X, y, positive = data
        forest = RandomForestClassifier(n_estimators=30, random_state=0, min_samples_leaf=5)
        ev = evaluate_cv(forest, X, y, prior=positive[y == 0].mean())
        assert ev["roc_auc"].naive < 0.9
        assert ev["roc_auc"].value == pytest.approx(
            roc_auc_score(positive, ev.splits.score[0]), abs=0.03
        )

    def test_labels_are_binary_for_the_classifier(self, data):
        """Known negatives are fitted with the unlabeled rows, and counted as what they are."""
        X, y, positive = data
        three = np.where(y == 1, "found", "?").astype(object)
        known = np.flatnonzero(~positive)[:200]
        three[known] = "healthy"
        names = {"pos_label": "found", "unlabeled_label": "?", "negative_label": "healthy"}
        prior = positive[three == "?"].mean()
        ev = evaluate_cv(LogisticRegression(class_weight={1: 3, 0: 1}), X, three, prior=prior,
                         **names)  # fmt: skip
        assert ev.counts.n_negative == 200
        assert ev.counts.n_unlabeled == np.sum(three == "?")
        assert ev["roc_auc"].value == pytest.approx(
            roc_auc_score(positive, ev.splits.score[0]), abs=0.03
        )

    def test_pipelines_and_searches(self, data):
        X, y, _ = data
        scorer = make_scorer("f1", prior=0.25, threshold="best")
        model = make_pipeline(
            StandardScaler(), GridSearchCV(LinearSVC(), {"C": [0.1, 1]}, scoring=scorer, cv=3)
        )
        ev = evaluate_cv(model, X, y, cv=3, prior=0.25)
        assert 0.8 < ev["roc_auc"].value < 1

    def test_fit_params_are_cut(self, data):
        X, y, _ = data
        seen = []

        class Spy(Plain):
            def fit(self, X, y, sample_weight=None):
                seen.append(sample_weight.sum() == len(X) * 3 and len(sample_weight) == len(X))
                return super().fit(X, y)

        evaluate_cv(Spy(), X, y, cv=3, prior=0.25, fit_params={"sample_weight": np.full(1500, 3)})
        assert seen == [True] * 12  # of each fold, and without two quarters of its training rows

    def test_folds_at_once_and_other_containers(self, data):
        import pandas as pd
        from joblib import parallel_config
        from scipy.sparse import csr_array

        X, y, _ = data
        expected = evaluate_cv(LogisticRegression(), X, y, prior=0.25, level=None)
        with parallel_config(backend="threading"):
            at_once = evaluate_cv(LogisticRegression(), X, y, prior=0.25, level=None, n_jobs=2)
        assert at_once.counts == expected.counts
        frame = pd.DataFrame(X, columns=list("abcd"), index=range(7, 1507))
        labels = pd.Series(y.astype(bool), index=frame.index)
        again = evaluate_cv(LogisticRegression(), frame, labels, prior=0.25, level=None)
        np.testing.assert_allclose(again.splits.score, expected.splits.score, rtol=1e-6)
        sparse = evaluate_cv(LogisticRegression(), csr_array(X), y.tolist(), prior=0.25, level=None)
        np.testing.assert_allclose(sparse.splits.score, expected.splits.score, atol=1e-3)

    def test_weights_are_those_of_the_evaluation(self, data, rng):
        X, y, _ = data
        weight = rng.integers(1, 4, size=len(y))
        ev = evaluate_cv(Plain(), X, y, align="score", prior=0.25, sample_weight=weight)
        assert ev.counts == Counts.from_arrays(y, X[:, 0], sample_weight=weight)

    @pytest.mark.parametrize("n_repeats", [1, 3])
    def test_propensities(self, rng, n_repeats):
        """Positives of high score are labeled more often; propensities make up for it."""
        n = 8000
        positive = rng.random(n) < 0.4
        X = (rng.normal(size=n) + 2 * positive)[:, None]
        chance = np.where(X[:, 0] > 2, 0.8, 0.3)
        y = positive & (rng.random(n) < chance)
        ev = evaluate_cv(Plain(), X, y, propensity=chance, n_repeats=n_repeats)
        assert ev.counts.n_represented == pytest.approx(np.sum(1 / chance[y]))
        truth = roc_auc_score(positive, X[:, 0])
        assert ev["roc_auc"].low < truth < ev["roc_auc"].high
        with pytest.warns(AssumptionWarning):
            blind = evaluate_cv(Plain(), X, y, prior=positive[~y].mean(), level=None)
        assert blind["roc_auc"].value > truth + 0.01


class TestAlign:
    def test_ranks_undo_scales(self, data):
        """Whatever monotone scale each fold's scores have, ranks are the same."""
        X, y, _ = data
        found = [evaluate_cv(m, X, y, prior=0.25, cv=5) for m in (Plain(), Shifting())]
        assert {n: found[0][n] for n in found[0]} == {n: found[1][n] for n in found[1]}
        pooled = evaluate(y, X[:, 0], prior=0.25)
        assert found[0]["roc_auc"].value == pytest.approx(pooled["roc_auc"].value, abs=0.005)
        assert found[0].best("f1").value == pytest.approx(pooled.best("f1").value, abs=0.02)

    def test_a_rank_is_the_share_of_the_fold_outscored(self, data):
        X, y, _ = data
        ev = evaluate_cv(Plain(), X.round(1), y, prior=0.25, cv=3)
        score, fold = ev.splits.score[0], ev.splits.fold[0]
        for row in range(0, 1500, 100):
            here = X.round(1)[fold == fold[row], 0]
            mine = X.round(1)[row, 0]
            share = np.mean(here < mine) + np.mean(here == mine) / 2
            assert score[row] == pytest.approx(share)

    def test_weighted_ranks(self, data):
        """A weight of two is a row that is there twice."""
        from pueval.model_selection._out_of_fold import rank_within_folds

        X, y, _ = data
        score, kind = X[:40, 0], 1 - y[:40]
        weight = np.where(np.arange(40) < 10, 2, 1)
        twice = np.r_[score, score[:10]]
        folds = [(None, np.arange(40))]
        found = rank_within_folds(score, kind, folds, weight)
        expected = rank_within_folds(twice, np.r_[kind, kind[:10]], [(None, np.arange(50))], None)
        np.testing.assert_allclose(found, expected[:40])

    def test_different_scales_are_noticed(self, data):
        X, y, _ = data
        with pytest.warns(AssumptionWarning, match="different scales.*align='rank'") as caught:
            ev = evaluate_cv(Shifting(), X, y, prior=0.25, align="score")
        assert caught[0].filename == __file__
        assert "different scales" in ev.warnings[0]
        with pytest.warns(AssumptionWarning, match="different scales"):
            worse = evaluate_cv(Probable(), X, y, prior=0.25)  # auto trusts it
        assert worse.counts == ev.counts
        right = evaluate_cv(Probable(), X, y, prior=0.25, align="rank")
        assert right["roc_auc"].value > ev["roc_auc"].value + 0.03

    def test_good_scales_are_not_complained_about(self, data):
        X, y, _ = data
        with warnings.catch_warnings():
            warnings.simplefilter("error", AssumptionWarning)
            evaluate_cv(LogisticRegression(), X, y, prior=0.25)

    def test_auto(self, data):
        X, y, _ = data
        for model, method, ranked in (
            (LogisticRegression(), "auto", False),
            (LogisticRegression(), "decision_function", True),
            (LinearSVC(), "auto", True),
        ):
            score = evaluate_cv(model, X, y, method=method, prior=0.25, cv=3).splits.score[0]
            fold_mean = np.mean(score[:1000])
            assert (abs(score.mean() - 0.5) < 1e-9) == ranked, (model, fold_mean)


class TestRepeats:
    def test_the_evaluation_is_the_mean_of_the_repeats(self, data):
        X, y, _ = data
        ev = evaluate_cv(LogisticRegression(), X, y, n_repeats=4, prior=0.2)
        splits = ev.splits
        assert (splits.n_repeats, splits.n_folds) == (4, 5)
        assert splits.score.shape == splits.fold.shape == (4, 1500)
        # Rates are means, so what is linear in them is, too.
        for name in ("recall", "specificity", "accuracy", "informedness"):
            assert ev[name].value == pytest.approx(np.mean(splits.values[name]))
            assert ev[name].naive == pytest.approx(np.mean(splits.naive[name]))
        alone = evaluate(y, splits.score[2], prior=0.2, threshold=ev.threshold, level=None)
        for name in ev:
            assert splits.values[name][2] == alone[name].value
            spread = splits.standard_deviation[name]
            assert spread == pytest.approx(np.std(splits.values[name], ddof=1))
        assert splits.standard_deviation["roc_auc"] > 0

    def test_limits_are_those_of_the_rows(self, data):
        """Repeats are no new rows: the limits stay as wide."""
        X, y, _ = data
        one, many = (
            evaluate_cv(LogisticRegression(), X, y, n_repeats=r, prior=0.25, threshold=0.2)
            for r in (1, 6)
        )
        assert many.counts.n_labeled == pytest.approx(one.counts.n_labeled)
        assert many.counts.effective_sizes == pytest.approx(one.counts.effective_sizes)
        for name in ("roc_auc", "average_precision", "f1", "matthews_corrcoef"):
            ratio = many[name].standard_error / one[name].standard_error
            assert 0.8 < ratio < 1.25, name

    def test_splits_are_different_and_repeatable(self, data):
        X, y, _ = data
        first, again, other = (
            evaluate_cv(LogisticRegression(), X, y, n_repeats=2, prior=0.25, seed=seed).splits
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first.fold, again.fold)
        np.testing.assert_array_equal(first.score, again.score)
        assert (first.fold != other.fold).any()
        assert (first.fold[0] != first.fold[1]).any()

    def test_estimated_priors_of_repeats(self, data):
        X, y, _ = data
        ev = evaluate_cv(LogisticRegression(), X, y, n_repeats=3)
        assert np.all(np.abs(ev.splits.prior - ev.mixture.prior) < 0.1)
        assert len(set(ev.splits.prior)) == 3
        np.testing.assert_array_equal(ev.splits.purity, 1)

    def test_a_splitter_that_repeats(self, data):
        X, y, _ = data
        cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
        ev = evaluate_cv(LogisticRegression(), X, y, cv=cv, prior=0.25)
        assert (ev.splits.n_repeats, ev.splits.n_folds) == (2, 3)
        pairs = [*cv.split(X, y)]
        np.testing.assert_array_equal(np.flatnonzero(ev.splits.fold[1] == 2), pairs[5][1])

    def test_as_data_and_text(self, data):
        X, y, _ = data
        ev = evaluate_cv(LogisticRegression(), X, y, n_repeats=2, prior=0.25)
        frame = ev.splits.frame()
        assert list(frame.columns) == ["prior", "purity", *ev]
        assert len(frame) == 2
        content = json.loads(json.dumps(ev.to_dict(), allow_nan=False))
        assert content["splits"]["n_repeats"] == 2
        assert len(content["splits"]["values"]["f1"]) == 2
        assert repr(ev.splits).startswith("Splits: 2 repeats of 5 folds")
        assert "roc_auc" in repr(ev.splits)
        assert "SD between splits" in repr(ev)
        assert f"{ev.splits.standard_deviation['f1']:.3f}" in repr(ev)
        one = evaluate_cv(LogisticRegression(), X, y, prior=0.25)
        assert np.isnan(one.splits.standard_deviation["f1"])
        assert one.splits.values["f1"] == [one["f1"].value]
        assert "1 repeat of 5 folds" in repr(one.splits)
        assert "between" not in repr(one)
        assert one.ranking()["pulp"] > 0.5
        assert evaluate(one.counts, prior=0.25).splits is None
        assert evaluate(one.counts, prior=0.25).to_dict()["splits"] is None

    def test_a_repeat_without_a_prior(self, data, monkeypatch):
        """If one repeat alone does not tell the prior, the others are kept and it is said."""
        from pueval.model_selection import _evaluate_cv as cross_evaluation

        X, y, _ = data
        calls = []

        def sometimes(counts, **how):
            calls.append(how)
            if len(calls) == 3:
                raise InputError("the prior cannot be estimated")
            return evaluate_counts(counts, **how)

        monkeypatch.setattr(cross_evaluation, "evaluate_counts", sometimes)
        with pytest.warns(AssumptionWarning, match="from 1 of 3 repeats"):
            ev = evaluate_cv(LogisticRegression(), X, y, n_repeats=3)
        assert np.isnan(ev.splits.values["f1"]).tolist() == [False, True, False]
        assert np.isnan(ev.splits.prior[1])


class TestFolds:
    def test_groups(self, data, rng):
        X, y, _ = data
        groups = rng.integers(100, size=len(y))
        for cv in (4, GroupKFold(4), PUStratifiedKFold(4)):
            options = {"groups": groups, "prior": 0.25, "level": None}
            ev = evaluate_cv(LogisticRegression(), X, y, cv=cv, **options)
            fold = ev.splits.fold[0]
            assert all(len(set(fold[groups == g])) == 1 for g in range(100))

    @pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), TimeSeriesSplit(3), []])
    def test_rows_left_out(self, data, cv):
        X, y, _ = data
        with pytest.raises(InputError, match="must test every row exactly once"):
            evaluate_cv(LogisticRegression(), X, y, cv=cv)

    def test_overlapping_folds(self, data):
        X, y, _ = data
        rows = np.arange(len(y))
        pairs = [(rows, rows[:800]), (rows, rows[700:])]
        with pytest.raises(InputError, match="tested 1 to 2 times"):
            evaluate_cv(LogisticRegression(), X, y, cv=pairs)

    def test_leave_one_out(self, data):
        X, y, _ = data
        X, y = X[:60], y[:60]
        ev = evaluate_cv(LogisticRegression(), X, y, cv=LeaveOneOut(), prior=0.2, level=None)
        assert ev.splits.n_folds == 60
        with pytest.raises(InputError, match="align='rank' requires labeled and other rows"):
            evaluate_cv(LinearSVC(), X, y, cv=LeaveOneOut(), prior=0.2)


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "error", "match"),
        [
            ({"cv": 1}, InputError, "at least 2; got 1"),
            ({"cv": 5000}, InputError, "5000 folds require at least 5000 labeled rows"),
            ({"cv": "five"}, InputError, "cv must be a number of folds"),
            ({"cv": None}, InputError, "cv must be a number of folds"),
            ({"n_repeats": 0}, InputError, "n_repeats must be a whole number"),
            ({"n_repeats": 2, "cv": StratifiedKFold(3)}, InputError, "RepeatedStratifiedKFold"),
            ({"method": "predict"}, InputError, "method must be"),
            ({"align": "calibrate"}, InputError, "align must be"),
            ({"priro": 0.2}, TypeError, "unexpected keyword argument 'priro'.*prior, prevalence"),
            ({"prior": 0.2, "prevalence": 0.2}, InputError, "at most one of prior"),
        ],
    )
    def test_arguments(self, data, arguments, error, match):
        X, y, _ = data
        with pytest.raises(error, match=match):
            evaluate_cv(LogisticRegression(), X, y, **arguments)

    def test_no_scores(self, data):
        X, y, _ = data

        class Silent(ClassifierMixin, BaseEstimator):
            def fit(self, X, y):
                return self

        with pytest.raises(InputError, match="Silent has no predict_proba or decision_func"):
            evaluate_cv(Silent(), X, y)
        with pytest.raises(InputError, match="LinearSVC has no predict_proba method"):
            evaluate_cv(LinearSVC(), X, y, method="predict_proba")

    def test_strange_output(self, data):
        X, y, _ = data

        class Strange(Plain):
            def predict_proba(self, X):
                return np.zeros((len(X), 3))

        with pytest.raises((InputError, ValueError), match="columns"):
            evaluate_cv(Strange(), X, y)


class TestSameRows:
    """A classifier judged on its training rows is warned about, and told what to do."""

    @pytest.mark.parametrize("known", [False, True])
    def test_forest(self, data, known):
        X, y, positive = data
        forest = RandomForestClassifier(n_estimators=50, random_state=0).fit(X, y)
        given = {"prior": positive[y == 0].mean()} if known else {}
        with pytest.warns(AssumptionWarning):
            ev = evaluate(y, forest.predict_proba(X)[:, 1], **given)
        (said,) = [note for note in ev.warnings if "trained on these" in note]
        assert "evaluate_cv" in said


def test_our_own_splitter_gets_the_labels_as_they_are(rng):
    X = rng.normal(size=(600, 3))
    positive = X[:, 0] + rng.normal(size=600) > 1
    y = np.where(positive & (rng.random(600) < 0.4), "p", "u")
    y[np.flatnonzero(~positive)[:6]] = "n"
    labels = {"pos_label": "p", "unlabeled_label": "u", "negative_label": "n"}
    cv = PUStratifiedKFold(3, **labels)
    ev = evaluate_cv(LogisticRegression(), X, y, cv=cv, prior=0.1, level=None, **labels)
    fold = ev.splits.fold[0]
    assert [int(np.sum(y[fold == k] == "n")) for k in range(3)] == [2, 2, 2]
    # One that knows nothing of these labels gets those that all splitters get.
    plain = PUStratifiedKFold(3)
    evaluate_cv(LogisticRegression(), X, y, cv=plain, prior=0.1, level=None, **labels)


def test_groups_are_kept_together_whoever_splits(rng):
    X = rng.normal(size=(300, 2))
    y, groups = X[:, 0] + rng.normal(size=300) > 1, np.arange(300) // 2
    given = {"groups": groups, "prior": 0.1, "level": None}
    apart = [*StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)]
    with pytest.raises(
        InputError, match=r"\d+ groups, such as \d+, have rows in both training and test"
    ):
        evaluate_cv(LogisticRegression(), X, y, cv=apart, **given)
    together = [*GroupKFold(3).split(X, y, groups)]
    evaluate_cv(LogisticRegression(), X, y, cv=together, **given)
    named = given | {"groups": [f"g{group}" for group in groups]}
    with pytest.raises(InputError, match=r"such as 'g\d+', have rows in both"):
        evaluate_cv(LogisticRegression(), X, y, cv=apart, **named)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_groups_are_refused(rng, missing):
    X = rng.normal(size=(60, 2))
    y = np.arange(60) % 3 == 0
    names = [missing if row < 4 else "abcdefgh"[row % 8] for row in range(60)]
    numbers = np.where(np.arange(60) < 4, np.nan, np.arange(60) % 8)
    for groups in (names, numbers):
        for cv in (3, PUStratifiedKFold(3), GroupKFold(3)):
            with pytest.raises(InputError, match="4 rows with a missing group"):
                evaluate_cv(LogisticRegression(), X, y, cv=cv, groups=groups, prior=0.1)
        with pytest.raises(InputError, match="4 rows with a missing group"):
            next(PUStratifiedKFold(3).split(X, y, groups))


def test_rows_in_another_order_are_refused(rng):
    X = pd.DataFrame({"x": rng.normal(size=60)})
    y = pd.Series(np.arange(60) % 3 == 0)
    with pytest.raises(InputError, match="same index in different orders"):
        evaluate_cv(LogisticRegression(), X, y.sample(frac=1, random_state=0), prior=0.1)


class TestAudit:
    def data(self):
        rng = np.random.default_rng(11)
        X = rng.normal(size=(3000, 3))
        positive = X[:, 0] + X[:, 1] + rng.normal(size=3000) > 1.5
        # Positives with high features are labeled more often.
        y = positive & (rng.random(3000) < np.where(X[:, 0] > 0.8, 0.6, 0.15))
        audited = np.full(3000, np.nan)
        rows = rng.choice(np.flatnonzero(~y), 400, replace=False)
        audited[rows] = positive[rows]
        return X, positive, y, audited

    def test_audited_rows_reach_the_evaluation(self):
        X, positive, y, audited = self.data()
        ev = evaluate_cv(LogisticRegression(), X, y, audited=audited, n_resamples=200)
        assert ev.audit.n_unlabeled == 400
        assert ev.splits.design_effect >= 1
        score = ev.splits.score[0]
        truth = roc_auc_score(positive, score)
        assert ev["roc_auc"].low < truth < ev["roc_auc"].high

    def test_refusals_before_fitting(self):
        X, _, y, audited = self.data()
        with pytest.raises(InputError, match="n_repeats=1"):
            evaluate_cv(LogisticRegression(), X, y, audited=audited, n_repeats=2)
        with pytest.raises(InputError, match="needs audited"):
            evaluate_cv(LogisticRegression(), X, y, labeling="any")
        with pytest.raises(InputError, match="must hold 1"):
            evaluate_cv(LogisticRegression(), X, y, audited=audited * 3)


def test_all_intervals_include_the_dependence_of_folds(rng):
    """Those that are computed later, at other thresholds or for other measures, too."""
    X = rng.normal(size=(1200, 10))
    positive = X[:, 0] + X[:, 1] + rng.normal(size=1200) > 1
    y = positive & (rng.random(1200) < 0.3)
    model = RandomForestClassifier(20, max_depth=3, random_state=0)
    ev = evaluate_cv(model, X, y, label_frequency=0.3, threshold=0.1, n_resamples=400)
    assert ev.splits.design_effect > 1.05
    for name in ("recall", "precision", "f1"):
        later = ev.at(0.1)[name]
        assert (later.low, later.high) == pytest.approx((ev[name].low, ev[name].high), abs=1e-12)
    independent = evaluate(ev.counts, label_frequency=0.3, threshold=0.1, n_resamples=400)
    for name in ("bedroc_score", "brier_score_loss"):
        wide, narrow = (each[name].high - each[name].low for each in (ev, independent))
        assert wide > 1.01 * narrow
