"""Scorers: the right number in every fold, wherever scikit-learn takes a scorer."""

import copy
import math
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from pueval import InputError, evaluate, priors
from pueval.core.measures import MEASURES, fbeta
from pueval.families.field_measures import ORDERING_MEASURES, needs_prior, needs_probabilities
from pueval.metrics import f_pb
from pueval.ranking import lee_liu, pseudo_f, pulp
from pueval.scoring import Measure, cost, get_scorer, get_scorer_names, make_scorer


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose score is the first feature, and which needs no fit."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] >= 0.5).astype(int)]


class Probabilities(Given):
    """The same with probabilities."""

    def predict_proba(self, X):
        positive = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - positive, positive])


class Labels(ClassifierMixin, BaseEstimator):
    """A classifier that has predict only."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] >= 0.5).astype(int)]


@pytest.fixture
def data(rng):
    positive = rng.random(800) < 0.4
    X = np.column_stack([rng.normal(size=800) + 1.5 * positive, rng.normal(size=(800, 3))])
    return X, (positive & (rng.random(800) < 0.4)).astype(int), positive


def slow_table(y, predicted, prior):
    """Contingency table by Jain's equations, row by row, as shares of the population."""
    n = len(y)
    labeled = [p for p, label in zip(predicted, y, strict=True) if label == 1]
    others = [p for p, label in zip(predicted, y, strict=True) if label == 0]
    tpr = sum(labeled) / len(labeled)
    fpr = (sum(others) / len(others) - prior * tpr) / (1 - prior)
    positives = (len(labeled) + prior * len(others)) / n
    tp, fp = positives * tpr, (1 - positives) * fpr
    return tp, fp, positives - tp, 1 - positives - fp


SLOW = {
    "accuracy": lambda tp, fp, fn, tn: tp + tn,
    "balanced_accuracy": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "precision": lambda tp, fp, fn, tn: tp / (tp + fp),
    "recall": lambda tp, fp, fn, tn: tp / (tp + fn),
    "specificity": lambda tp, fp, fn, tn: tn / (tn + fp),
    "negative_predictive_value": lambda tp, fp, fn, tn: tn / (tn + fn),
    "f1": lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
    "f0.5": lambda tp, fp, fn, tn: 1.25 * tp / (1.25 * tp + fp + 0.25 * fn),
    "matthews_corrcoef": lambda tp, fp, fn, tn: (tp * tn - fp * fn)
    / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
    "jaccard": lambda tp, fp, fn, tn: tp / (tp + fp + fn),
    "informedness": lambda tp, fp, fn, tn: tp / (tp + fn) - fp / (tn + fp),
    "markedness": lambda tp, fp, fn, tn: tp / (tp + fp) - fn / (tn + fn),
    "geometric_mean": lambda tp, fp, fn, tn: math.sqrt(tp / (tp + fn) * tn / (tn + fp)),
    "fowlkes_mallows": lambda tp, fp, fn, tn: tp / math.sqrt((tp + fp) * (tp + fn)),
    "lift": lambda tp, fp, fn, tn: tp / (tp + fp) / (tp + fn),
    "positive_likelihood_ratio": lambda tp, fp, fn, tn: tp / (tp + fn) / (fp / (tn + fp)),
    "cohen_kappa": lambda tp, fp, fn, tn: (tp + tn - _chance(tp, fp, fn, tn))
    / (1 - _chance(tp, fp, fn, tn)),
    "neg_negative_likelihood_ratio": lambda tp, fp, fn, tn: -fn / (tp + fn) / (tn / (tn + fp)),
    "neg_false_positive_rate": lambda tp, fp, fn, tn: -fp / (tn + fp),
    "neg_false_discovery_rate": lambda tp, fp, fn, tn: -fp / (tp + fp),
}  # fmt: skip


def _chance(tp, fp, fn, tn):
    return (tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)


class TestValues:
    def test_every_measure_is_checked(self):
        areas = {"roc_auc", "average_precision", "pulp", "lee_liu", "pseudo_f"}
        families = {
            name if measure.greater_is_better else f"neg_{name}"
            for name, measure in ORDERING_MEASURES.items()
        }
        assert set(get_scorer_names()) == set(SLOW) - {"f0.5"} | areas | families | {"f_pb"}
        assert get_scorer_names() == sorted(get_scorer_names())

    @pytest.mark.parametrize("name", ORDERING_MEASURES)
    def test_measure_of_a_family(self, data, name):
        X, y, _ = data
        model, measure = Probabilities().fit(X, y), ORDERING_MEASURES[name]
        score = model.predict_proba(X)[:, 1] if needs_probabilities(name) else X[:, 0]
        value = evaluate(y, score, prior=0.2, level=None)[name].unclipped
        sign, prefix = (1, "") if measure.greater_is_better else (-1, "neg_")
        scorer = make_scorer(f"{prefix}{name}", prior=0.2)
        assert scorer(model, X, y) == pytest.approx(sign * value, abs=1e-12)
        if not needs_prior(name):
            named = f"{prefix}{name}"
            assert make_scorer(named)(model, X, y) == pytest.approx(sign * value, abs=1e-12)
            with pytest.raises(InputError, match="requires exactly one"):
                make_scorer(named, purity=0.9)

    def test_f_pb(self, data):
        X, y, _ = data
        model = Given().fit(X, y)
        assert make_scorer("f_pb")(model, X, y) == pytest.approx(f_pb(y, X[:, 0] >= 0.5))
        at = make_scorer("f_pb", prior=0.2, threshold=0.9)
        assert at(model, X, y) == pytest.approx(f_pb(y, X[:, 0] >= 0.9))
        best = max(f_pb(y, X[:, 0] >= threshold) for threshold in np.unique(X[:, 0]))
        assert make_scorer("f_pb", threshold="best")(model, X, y) == pytest.approx(best)

    @pytest.mark.parametrize("name", SLOW)
    def test_measure_of_predictions(self, data, name):
        X, y, _ = data
        expected = SLOW[name](*slow_table(y, X[:, 0] >= 0.5, prior=0.2))
        for model in (Given(), Labels()):
            assert make_scorer(name, prior=0.2)(model.fit(X, y), X, y) == pytest.approx(expected)

    @pytest.mark.parametrize("name", SLOW)
    def test_measure_at_a_threshold_and_best(self, data, name):
        X, y, _ = data
        X = X.round(1)
        model = Given().fit(X, y)
        at = make_scorer(name, prior=0.2, threshold=0.9)(model, X, y)
        assert at == pytest.approx(SLOW[name](*slow_table(y, X[:, 0] >= 0.9, prior=0.2)))
        values = []
        for threshold in np.unique(X[y == 1, 0]):  # the best is at a labeled score
            try:
                values.append(SLOW[name](*slow_table(y, X[:, 0] >= threshold, prior=0.2)))
            except (ZeroDivisionError, ValueError):
                continue
        best = make_scorer(name, prior=0.2, threshold="best")(model, X, y)
        if "likelihood" in name or name == "geometric_mean":
            # Undefined or cut at zero where the corrected fpr is negative; the slow formula is not.
            assert best >= at
        else:
            assert best == pytest.approx(max(values), abs=1e-12)

    def test_areas(self, data):
        X, y, _ = data
        model, score = Given().fit(X, y), X[:, 0]
        pairs = np.mean(score[y == 1][:, None] > score[y == 0][None, :])
        expected = (pairs - 0.2 / 2) / (1 - 0.2)
        assert make_scorer("roc_auc", prior=0.2)(model, X, y) == pytest.approx(expected)
        area, lowest = 0.0, np.inf
        for threshold in np.sort(score[y == 1]):
            tp, fp, *_ = slow_table(y, score >= threshold, prior=0.2)
            # No lower threshold has fewer false positives, nor has any less than none.
            lowest = max(min(lowest, fp), 0)
            area += tp / (tp + lowest) / (y == 1).sum()
        value = make_scorer("average_precision", prior=0.2)(model, X, y)
        assert value == pytest.approx(area)

    def test_rankings(self, data):
        from pueval import Counts

        X, y, _ = data
        model = Given().fit(X, y)
        counts = Counts.from_arrays(y, X[:, 0])
        for name, function in {"pulp": pulp, "lee_liu": lee_liu, "pseudo_f": pseudo_f}.items():
            assert get_scorer(name)(model, X, y) == function(counts)
            at = function(counts, threshold=0.5)
            assert get_scorer(name, threshold=0.5)(model, X, y) == at
            assert get_scorer(name, response_method="predict")(model, X, y) == pytest.approx(at)
        scorer = make_scorer("pseudo_f", prevalence=0.4)
        assert scorer(model, X, y) == pseudo_f(counts, prevalence=0.4)

    @pytest.mark.parametrize(
        "name",
        ["accuracy", "balanced_accuracy", "precision", "recall", "f1", "jaccard",
         "matthews_corrcoef", "roc_auc", "average_precision"],
    )  # fmt: skip
    @pytest.mark.parametrize("model", [LogisticRegression(class_weight="balanced"), LinearSVC()])
    def test_without_correction_it_is_scikit_learns(self, data, name, model):
        X, y, positive = data
        weight = np.random.default_rng(0).exponential(size=len(y))
        model = clone(model).fit(X, positive)
        ours, theirs = make_scorer(name, prior=0), sk.get_scorer(name)
        assert ours(model, X, y) == pytest.approx(theirs(model, X, y), abs=1e-12)
        weighted = ours(model, X, y, sample_weight=weight)
        assert weighted == pytest.approx(theirs(model, X, y, sample_weight=weight), abs=1e-12)

    def test_the_three_ways_to_say_it_agree(self, data):
        X, y, _ = data
        model = Given().fit(X, y)
        prior, labeled, n = 0.2, y.sum(), len(y)
        positives = labeled + prior * (n - labeled)
        values = [
            make_scorer("f1", **given)(model, X, y)
            for given in (
                {"prior": prior},
                {"prevalence": positives / n},
                {"label_frequency": labeled / positives},
            )
        ]
        assert values[1:] == pytest.approx(values[:1] * 2)
        other = make_scorer("f1", prior=prior, target="unlabeled")(model, X, y)
        assert other == make_scorer("f1", prevalence=prior, target="unlabeled")(model, X, y)
        assert abs(other - values[0]) > 0.01

    def test_a_measure_of_costs(self, data):
        X, y, _ = data
        measure = Measure("profit", "Profit", profit, low=-np.inf, high=np.inf)
        scorer = pickle.loads(pickle.dumps(make_scorer(measure, prior=0.2)))  # noqa: S301
        tp, fp, *_ = slow_table(y, X[:, 0] >= 0.5, prior=0.2)
        assert scorer(Given().fit(X, y), X, y) == pytest.approx(20 * tp - fp)
        assert "profit" in repr(scorer)

    def test_a_known_measure_goes_by_its_name(self):
        assert make_scorer(MEASURES["f1"], prior=0.1) is not None
        assert pickle.dumps(make_scorer(MEASURES["informedness"], prior=0.1))

    def test_values_are_not_clipped(self):
        y = np.array([1, 1, 1, 0, 0, 0, 0, 0])
        X = y[:, None].astype(float)
        assert make_scorer("roc_auc", prior=0.3)(Given().fit(X, y), X, y) == pytest.approx(
            (1 - 0.15) / 0.7
        )
        assert make_scorer("specificity", prior=0.3)(Given().fit(X, y), X, y) > 1

    def test_undefined(self, data):
        X, y, _ = data
        nobody = Given().fit(X, y)
        low = X - 100
        assert make_scorer("precision", prior=0.1)(nobody, low, y) == 0
        assert make_scorer("neg_false_discovery_rate", prior=0.1)(nobody, low, y) == -1
        assert make_scorer("precision", prior=0.1, zero_division=0.5)(nobody, low, y) == 0.5

    def test_estimated_prior(self, data):
        X, y, _ = data
        model = Given().fit(X, y)
        found = priors.estimate(y, X[:, 0]).prior
        estimated = make_scorer("f1", prior="estimate", threshold=0.5)(model, X, y)
        assert estimated == make_scorer("f1", prior=found, threshold=0.5)(model, X, y)
        both = priors.estimate(y, X[:, 0], purity="estimate")
        scorer = make_scorer("roc_auc", prior="estimate", purity="estimate")
        expected = make_scorer("roc_auc", prior=both.prior, purity=both.purity)(model, X, y)
        assert scorer(model, X, y) == pytest.approx(expected)


def profit(table):
    return 20 * table.true_positive - table.false_positive


class TestLabels:
    @pytest.mark.parametrize(
        ("positive", "unlabeled"), [(1, -1), (True, False), ("found", "?"), ("a", "b"), (2.0, 1.0)]
    )
    def test_other_values(self, data, positive, unlabeled):
        X, y, _ = data
        named = np.where(y == 1, positive, unlabeled)
        for name in ("f1", "roc_auc", "average_precision"):
            for model in (LogisticRegression(class_weight="balanced"), LinearSVC()):
                scorer = make_scorer(name, prior=0.2, pos_label=positive, unlabeled_label=unlabeled)
                expected = make_scorer(name, prior=0.2)(clone(model).fit(X, y), X, y)
                assert scorer(model.fit(X, named), X, named) == pytest.approx(expected)

    def test_known_negatives_as_a_third_class(self, data):
        from pueval import metrics

        X, y, positive = data
        three = y.copy()
        three[np.flatnonzero(~positive)[:100]] = 2
        model = LogisticRegression().fit(X, three)
        scorer = make_scorer("roc_auc", prior=0.2, negative_label=2)
        expected = metrics.roc_auc_score(
            three, model.decision_function(X)[:, 1], prior=0.2, negative_label=2
        )
        assert scorer(model, X, three) == pytest.approx(expected)
        f1 = make_scorer("f1", prior=0.2, negative_label=2)(model, X, three)
        expected = metrics.f1_score(three, model.predict(X), prior=0.2, negative_label=2)
        assert f1 == pytest.approx(expected)

    def test_more_columns_than_labels(self, data):
        X, y, _ = data
        model = LogisticRegression().fit(X, np.arange(len(y)) % 3)
        with pytest.raises(InputError, match=r"3 scores per row, but there are 2 label values"):
            make_scorer("roc_auc", prior=0.2)(model, X, y)

    def test_ambiguous_label(self, data):
        X, y, _ = data
        model = Given().fit(X, y)
        with pytest.raises(InputError, match="−1 is ambiguous"):
            make_scorer("f1", prior=0.2)(model, X, np.where(y == 1, 1, -1))


class TestSearches:
    @pytest.fixture
    def scorer(self):
        return make_scorer("f1", prior=0.25, threshold="best")

    def test_cross_val_score(self, data, scorer):
        X, y, _ = data
        found = cross_val_score(Given(), X, y, scoring=scorer, cv=3)
        assert found.shape == (3,)
        assert np.all((found > 0.4) & (found < 1.2))

    def test_several_at_once(self, data):
        X, y, _ = data
        names = ["roc_auc", "average_precision", "f1", "neg_false_positive_rate", "pulp"]
        scoring = {
            name: get_scorer(name, **({} if name == "pulp" else {"prior": 0.25})) for name in names
        }
        model = make_pipeline(StandardScaler(), LogisticRegression())
        found = cross_validate(model, X, y, scoring=scoring, cv=3)
        for name in names:
            alone = cross_val_score(model, X, y, scoring=scoring[name], cv=3)
            np.testing.assert_allclose(found[f"test_{name}"], alone)

    @pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
    def test_grid(self, data, scorer, model):
        X, y, _ = data
        grid = {"C": [1e-6, 1e-2, 1.0]}
        search = GridSearchCV(model, grid, scoring=scorer, cv=3).fit(X, y)
        means = [
            np.mean(cross_val_score(clone(model).set_params(C=C), X, y, scoring=scorer, cv=3))
            for C in grid["C"]
        ]
        np.testing.assert_allclose(search.cv_results_["mean_test_score"], means)
        assert search.best_index_ == np.argmax(means)
        assert search.score(X, y) == scorer(search.best_estimator_, X, y)

    def test_random_and_halving(self, data, scorer):
        X, y, _ = data
        tree = DecisionTreeClassifier(random_state=0)
        grid = {"min_samples_leaf": [1, 10, 100]}
        search = RandomizedSearchCV(tree, grid, n_iter=2, random_state=0, scoring=scorer, cv=3)
        assert np.isfinite(search.fit(X, y).best_score_)
        search = HalvingGridSearchCV(tree, grid, random_state=0, scoring=scorer, cv=3)
        assert search.fit(X, y).best_params_["min_samples_leaf"] > 1

    def test_tuned_threshold(self, data):
        """predict of a classifier of labeled rows finds too few; the tuned one does not."""
        X, y, positive = data
        scorer = make_scorer("f1", label_frequency=0.4)
        model = LogisticRegression()
        tuned = TunedThresholdClassifierCV(model, scoring=scorer, cv=5).fit(X, y)
        plain = sk.f1_score(positive, model.fit(X, y).predict(X))
        assert sk.f1_score(positive, tuned.predict(X)) > plain + 0.2
        assert tuned.best_score_ == pytest.approx(
            sk.f1_score(positive, model.predict_proba(X)[:, 1] >= tuned.best_threshold_), abs=0.1
        )
        naive = TunedThresholdClassifierCV(model, scoring="f1", cv=5).fit(X, y)
        assert tuned.best_threshold_ < naive.best_threshold_

    def test_tuned_threshold_needs_a_measure_of_classes(self, data):
        X, y, _ = data
        tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=make_scorer("pulp"))
        with pytest.raises(InputError, match=r"pulp requires scores.*'f1'"):
            tuned.fit(X, y)

    def test_copies(self, data, scorer):
        X, y, _ = data
        model = Given().fit(X, y)
        search = GridSearchCV(Given(), {}, scoring=scorer)
        for other in (
            copy.deepcopy(scorer),
            pickle.loads(pickle.dumps(scorer)),  # noqa: S301
            clone(search).scoring,
        ):
            assert repr(other) == repr(scorer)
            assert other(model, X, y) == scorer(model, X, y)

    def test_every_scorer_can_be_pickled(self, data):
        X, y, _ = data
        for name in get_scorer_names():
            of_probabilities = needs_probabilities(name.removeprefix("neg_"))
            model = (Probabilities if of_probabilities else Given)().fit(X, y)
            given = {} if name in {"pulp", "lee_liu", "pseudo_f"} else {"prior": 0.2}
            scorer = get_scorer(name, **given)
            again = pickle.loads(pickle.dumps(scorer))  # noqa: S301
            assert again(model, X, y) == scorer(model, X, y)

    def test_repr(self):
        said = repr(make_scorer("neg_false_positive_rate", prior=0.2, pos_label="x"))
        for part in ("false_positive_rate", "greater_is_better=False", "prior=0.2", "pos_label=x"):
            assert part in said
        assert "purity" not in said


class TestMetadata:
    def test_routing(self, data, rng):
        X, y, _ = data
        weight, chance = rng.exponential(size=len(y)), rng.uniform(0.2, 0.8, size=len(y))
        with config_context(enable_metadata_routing=True):
            scorer = make_scorer("f1", prior=0.2, threshold=0.5)
            scorer.set_score_request(propensity=True, sample_weight=True)
            params = {"propensity": chance, "sample_weight": weight}
            found = cross_val_score(Given(), X, y, scoring=scorer, cv=3, params=params)
            search = GridSearchCV(Given(), {}, scoring={"f1": scorer}, cv=3, refit=False)
            search.fit(X, y, **params)
        from sklearn.model_selection import StratifiedKFold

        for k, (_, test) in enumerate(StratifiedKFold(3).split(X, y)):
            here = scorer._score_func(
                y[test], X[test, 0], prior=0.2, threshold=0.5, sample_weight=weight[test],
                propensity=chance[test],
            )  # fmt: skip
            assert found[k] == pytest.approx(here)
            assert search.cv_results_[f"split{k}_test_f1"] == pytest.approx(here)
        plain = cross_val_score(Given(), X, y, scoring=make_scorer("f1", prior=0.2), cv=3)
        assert np.abs(plain - found).max() > 1e-3

    def test_not_requested(self, data):
        X, y, _ = data
        from sklearn.exceptions import UnsetMetadataPassedError

        with config_context(enable_metadata_routing=True):
            scorer = make_scorer("f1", prior=0.2)
            # scikit-learn 1.6 raises TypeError.
            with pytest.raises((UnsetMetadataPassedError, TypeError), match="propensity"):
                cross_val_score(Given(), X, y, scoring=scorer, params={"propensity": y + 0.5})

    @pytest.mark.parametrize("name", ["f1", "accuracy", "roc_auc", "average_precision"])
    def test_equal_propensities_change_nothing(self, data, name):
        X, y, _ = data
        model, scorer = Given().fit(X, y), make_scorer(name, prior=0.2)
        with config_context(enable_metadata_routing=True):
            same = scorer(model, X, y, propensity=np.full(len(y), 0.3))
        assert same == pytest.approx(scorer(model, X, y))

    @pytest.mark.parametrize("name", ["f1", "accuracy", "roc_auc", "average_precision"])
    @pytest.mark.parametrize("known", [True, False])
    def test_they_undo_biased_labeling(self, rng, name, known):
        """Positives of high score are labeled more often; the truth is known."""
        n = 400_000
        positive = rng.random(n) < 0.4
        score = rng.normal(size=n) + 1.5 * positive
        chance = np.where(score > 1.5, 0.9, 0.2)
        y = positive & (rng.random(n) < chance)
        X, prior = score[:, None], positive[~y].mean()
        model = Given().fit(X, y)
        expected = sk.get_scorer(name)(model, X, positive)
        chance[~y] = np.nan  # not looked at
        scorer = make_scorer(name, prior=prior if known else "propensity")
        with config_context(enable_metadata_routing=True):
            found = scorer(model, X, y, propensity=chance)
        assert found == pytest.approx(expected, abs=0.006)
        plain = make_scorer(name, prior=prior)(model, X, y)
        assert abs(plain - expected) > 0.02  # without them it is biased

    @pytest.mark.parametrize(
        ("name", "given", "match"),
        [
            ("pulp", {}, "pulp assumes random labeling and cannot use propensities"),
            ("roc_auc", {"prior": "estimate"}, "Use prior='propensity'"),
            ("roc_auc", {"prior": 0.2, "target": "unlabeled"}, "target='population'"),
        ],
    )
    def test_propensities_that_cannot_be_used(self, data, name, given, match):
        X, y, _ = data
        with config_context(enable_metadata_routing=True), pytest.raises(InputError, match=match):
            make_scorer(name, **given)(Given().fit(X, y), X, y, propensity=np.full(len(y), 0.3))

    def test_propensities_that_are_missing(self, data):
        X, y, _ = data
        with pytest.raises(InputError, match=r"set_score_request\(propensity=True\)"):
            make_scorer("f1", prior="propensity")(Given().fit(X, y), X, y)

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (lambda e: e[:-1], "same length"),
            (lambda e: e * 0, r"in \(0, 1\]"),
            (lambda e: e * 3, r"in \(0, 1\]"),
            (lambda e: e * np.nan, r"in \(0, 1\]"),
            (lambda e: np.full(len(e), "often"), "must hold numbers"),
        ],
    )
    def test_bad_propensities(self, data, change, match):
        X, y, _ = data
        with config_context(enable_metadata_routing=True), pytest.raises(InputError, match=match):
            make_scorer("f1", prior=0.2)(
                Given().fit(X, y), X, y, propensity=change(np.full(len(y), 0.5))
            )


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            (("f1",), "exactly one of prior, prevalence and label_frequency; got none"),
            (("roc_auc",), "exactly one of prior"),
            (("f1", {"prior": 0.1, "prevalence": 0.2}), "got prior and prevalence"),
            (("roc_acu", {"prior": 0.1}), "Did you mean 'roc_auc'"),
            (("f1_score", {"prior": 0.1}), "Did you mean 'f1'"),
            (("fpr", {"prior": 0.1}), "Did you mean 'neg_false_positive_rate'"),
            ((3, {"prior": 0.1}), "unknown measure 3"),
            (("false_positive_rate", {"prior": 0.1}), "Use 'neg_false_positive_rate'"),
            (("neg_f1", {"prior": 0.1}), "Use 'f1'"),
            (("f1", {"prior": 1.2}), "prior must be a number in"),
            (("f1", {"prior": 0.5, "purity": 0.4}), "prior must be below purity"),
            (("f1", {"prevalence": 30}), r"prevalence must be a number in \(0, 1\]; got 30"),
            (("f1", {"label_frequency": 0}), "label_frequency must be a number in"),
            (("f1", {"prior": "guess"}), "prior must be a number"),
            (("f1", {"prior": "estimate"}), "requires scores, but f1 uses predicted"),
            (("f1", {"prior": "estimate", "threshold": "best", "purity": 2}), "purity must be"),
            (("f1", {"prior": 0.1, "purity": "estimate"}), "purity='estimate' requires scores"),
            (("f1", {"prior": 0.1, "target": "me"}), "target must be"),
            (("f1", {"prior": "propensity", "purity": 0.9}), "purity=1 and target='population'"),
            (("f1", {"prior": 0.1, "threshold": "high"}), "threshold must be a number or 'best'"),
            (("f1", {"prior": 0.1, "threshold": math.nan}), "threshold must be a number"),
            (("roc_auc", {"prior": 0.1, "threshold": 0.5}), "area under a curve"),
            (("pulp", {"threshold": "best"}), "has no best threshold"),
            (("pulp", {"prior": 0.1}), "pulp does not use prior"),
            (("lee_liu", {"prevalence": 0.1}), "lee_liu does not use prevalence"),
            (("pseudo_f", {"purity": 0.9}), "pseudo_f does not use purity"),
            (("f1", {"prior": 0.1, "response_method": "score"}), "response_method must be"),
            (("roc_auc", {"prior": 0.1, "response_method": "predict"}), "roc_auc requires scores"),
            (
                ("f1", {"prior": 0.1, "response_method": "predict", "threshold": 1}),
                "requires scores",
            ),
            (("f1", {"prior": 0.1, "response_method": ["predict_proba"]}), "requires a threshold"),
            (("f1", {"prior": 0.1, "pos_label": 0}), "must differ"),
        ],
    )
    def test_before_anything_is_fitted(self, arguments, match):
        name, *given = arguments
        with pytest.raises(InputError, match=match):
            make_scorer(name, **(given[0] if given else {}))

    @pytest.mark.parametrize("name", ["enrichment_factor", "rie", "aul", "auc_ratio", "f_pb"])
    def test_known_negatives_outside_the_target_need_a_prior(self, name):
        """As in `pueval.metrics`: with them, the value depends on the prior."""
        given = {"target": "unlabeled", "negative_label": -1}
        with pytest.raises(InputError, match=f"{name} with known negatives outside the target"):
            make_scorer(name, **given)
        make_scorer(name, prior=0.1, **given)
        make_scorer(name, target="unlabeled")
        make_scorer(name, negative_label=-1)
        make_scorer("boyce_index", **given)

    def test_a_measure_without_direction_is_refused(self):
        for name in ("calibration_in_the_large", "neg_calibration_in_the_large"):
            with pytest.raises(InputError, match="cannot order models: values near 0 are best"):
                make_scorer(name, prior=0.1)

    def test_get_scorer(self):
        scorer = make_scorer("pulp")
        assert get_scorer(scorer) is scorer
        with pytest.raises(InputError, match="existing scorer"):
            get_scorer(scorer, prior=0.2)
        with pytest.raises(InputError, match="must be a name or a scorer"):
            get_scorer(3)

    def test_response_method(self, data):
        X, y, _ = data
        model = LogisticRegression().fit(X, y)
        p = model.predict_proba(X)[:, 1]
        expected = SLOW["f1"](*slow_table(y, p >= 0.2, prior=0.2))
        assert make_scorer("f1", prior=0.2, threshold=0.2)(model, X, y) == pytest.approx(expected)
        raw = make_scorer("f1", prior=0.2, threshold=-1, response_method=["decision_function"])
        expected = SLOW["f1"](*slow_table(y, model.decision_function(X) >= -1, prior=0.2))
        assert raw(model, X, y) == pytest.approx(expected)

    def test_no_scores(self, data):
        X, y, _ = data
        for model in (Labels(), LinearRegression()):
            with pytest.raises(AttributeError, match="decision_function, predict_proba"):
                make_scorer("roc_auc", prior=0.2)(model.fit(X, y), X, y)

    def test_no_labels_in_a_fold(self, data):
        X, y, _ = data
        with pytest.raises(InputError, match="no labeled rows"):
            make_scorer("f1", prior=0.2)(Given().fit(X, y), X[y == 0], y[y == 0])


def test_an_infinite_ratio_is_not_the_worst():
    y = np.repeat([1, 0], [20, 80])
    score = np.r_[np.linspace(1, 2, 20), np.linspace(0, 0.9, 80)]

    class Given(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.array([0, 1])
            return self

        def decision_function(self, X):
            return X[:, 0]

    model = Given().fit(score[:, None], y)
    scorer = make_scorer("positive_likelihood_ratio", prior=0.1, threshold=1.0)
    assert scorer(model, score[:, None], y) == math.inf
    nothing = make_scorer("positive_likelihood_ratio", prior=0.1, threshold=3.0)
    assert nothing(model, score[:, None], y) == 0
    own = make_scorer("positive_likelihood_ratio", prior=0.1, threshold=1.0, zero_division=100)
    assert own(model, score[:, None], y) == 100


def test_scorers_of_costs_can_be_saved():
    for measure in (cost(1, 5), fbeta(2)):
        scorer = make_scorer(measure, prior=0.2)
        assert repr(pickle.loads(pickle.dumps(scorer))) == repr(scorer)  # noqa: S301
