"""Classifiers of other libraries work as they are: in searches and in evaluate_cv."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pueval.model_selection import evaluate_cv
from pueval.scoring import make_scorer
from tests.conftest import need_pulearn_bagging


@pytest.fixture
def data(rng):
    positive = rng.random(1200) < 0.35
    X = np.column_stack([rng.normal(size=1200) + 2 * positive, rng.normal(size=(1200, 2))])
    return X, (positive & (rng.random(1200) < 0.5)).astype(int), positive


def lightgbm():
    library = pytest.importorskip("lightgbm", reason="needs lightgbm")
    return library.LGBMClassifier(n_estimators=20, min_child_samples=30, verbose=-1, n_jobs=1)


def xgboost():
    library = pytest.importorskip("xgboost", reason="needs xgboost (or xgboost-cpu)")
    return library.XGBClassifier(n_estimators=20, max_depth=2, n_jobs=1)


def pulearn(name, **arguments):
    library = pytest.importorskip("pulearn", reason="needs pulearn")
    if name == "BaggingPuClassifier":
        need_pulearn_bagging()
    return getattr(library, name)(**arguments)


MODELS = {
    "lightgbm": (lightgbm, {"num_leaves": [3, 15]}),
    "xgboost": (xgboost, {"max_depth": [1, 3]}),
    "pulearn Elkan-Noto": (
        lambda: pulearn(
            "ElkanotoPuClassifier", estimator=LogisticRegression(), hold_out_ratio=0.2,
            random_state=0,
        ),
        {"hold_out_ratio": [0.1, 0.2]},
    ),
    # scikit-learn does not take this one for a classifier, and hands over both columns.
    "pulearn bagging": (
        lambda: pulearn(
            "BaggingPuClassifier", estimator=LogisticRegression(), n_estimators=5, random_state=0
        ),
        {"n_estimators": [2, 5]},
    ),
    "pulearn nnPU": (
        lambda: pulearn("NNPUClassifier", prior=0.35, max_iter=100, random_state=0),
        {"prior": [0.2, 0.35]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
class TestLibrary:
    def test_search(self, data, name):
        X, y, _ = data
        make, grid = MODELS[name]
        scoring = {
            "auc": make_scorer("roc_auc", prior=0.2),
            "f1": make_scorer("f1", prior=0.2),
            "best": make_scorer("f1", prior=0.2, threshold="best"),
        }
        search = GridSearchCV(make(), grid, scoring=scoring, refit="auc", cv=3, error_score="raise")
        search.fit(X, y)
        assert 0.8 < search.best_score_ < 1.1
        assert np.all(search.cv_results_["mean_test_best"] >= search.cv_results_["mean_test_f1"])

    def test_evaluation(self, data, name):
        X, y, positive = data
        model = make_pipeline(StandardScaler(), MODELS[name][0]())
        ev = evaluate_cv(model, X, y, align="rank", prior=positive[y == 0].mean())
        truth = roc_auc_score(positive, ev.splits.score[0])
        assert ev["roc_auc"].value == pytest.approx(truth, abs=0.03)
        assert ev["roc_auc"].naive < truth - 0.05


def test_columns_of_what_is_no_classifier(data):
    """The score is the column of the positive class, whichever label sorts first."""
    X, y, _ = data
    model = MODELS["pulearn bagging"][0]()
    scorer = make_scorer("roc_auc", prior=0.2, response_method="predict_proba")
    assert np.all(cross_val_score(model, X, y, scoring=scorer, cv=3) > 0.8)
    proba = model.fit(X, y).predict_proba(X)
    named = np.where(y == 1, "a", "b")
    function = make_scorer("roc_auc", prior=0.2, pos_label="a", unlabeled_label="b")._score_func
    flipped = function(named, proba[:, ::-1], prior=0.2, pos_label="a", unlabeled_label="b")
    assert flipped == pytest.approx(scorer(model, X, y))
