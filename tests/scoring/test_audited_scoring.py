"""Scorers with an audit: the numbers of evaluate(), routed by scikit-learn."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate

from pueval import InputError, evaluate
from pueval.scoring import make_scorer


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose score is the first feature, and which needs no fit."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return (X[:, 0] >= 1).astype(int)


@pytest.fixture(autouse=True)
def _routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def data(rng):
    n = 4000
    positive = rng.random(n) < 0.25
    X = np.column_stack([rng.normal(size=n) + 2 * positive, rng.normal(size=n)])
    labeled = positive & (rng.random(n) < np.where(X[:, 0] > 2, 0.5, 0.1))
    probability = np.where(X[:, 0] > 1, 0.2, 0.05)
    chosen = ~labeled & (rng.random(n) < probability)
    return X, labeled.astype(int), np.where(chosen, positive, np.nan), probability, positive


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("roc_auc", {}),
        ("average_precision", {"labeling": "score"}),
        ("f1", {"threshold": 1.0}),
        ("recall", {"threshold": 1.0, "labeling": "any", "target": "unlabeled"}),
        ("f1", {"threshold": 1.0, "purity": 0.95}),
    ],
)
def test_the_number_of_evaluate(data, measure, options):
    X, y, audited, probability, _ = data
    scorer = make_scorer(measure, prior="audit", **options)
    score = scorer(Given(), X, y, audited=audited, audit_probability=probability)
    ev = evaluate(y, X[:, 0], audited=audited, audit_probability=probability, level=None, **options)
    assert score == pytest.approx(ev[measure].unclipped, rel=1e-9)


def test_probabilities_are_used(data):
    X, y, audited, probability, _ = data
    scorer = make_scorer("recall", prior="audit", threshold=1.0, labeling="any")
    right = scorer(Given(), X, y, audited=audited, audit_probability=probability)
    wrong = scorer(Given(), X, y, audited=audited)
    assert abs(right - wrong) > 0.01


def test_best_values_and_predicted_classes(data):
    X, y, audited, probability, positive = data
    metadata = {"audited": audited, "audit_probability": probability}
    ev = evaluate(y, X[:, 0], **metadata, level=None)
    best = make_scorer("f1", prior="audit", threshold="best")(Given(), X, y, **metadata)
    assert best == pytest.approx(ev.best("f1").unclipped, rel=1e-9)
    # Of predicted classes: a labeling model with two scores.
    recall = make_scorer("recall", prior="audit")(Given(), X, y, **metadata)
    assert recall == pytest.approx(np.mean(X[positive, 0] >= 1), abs=0.06)


def test_labeled_rows_determine_the_purity(data, rng):
    X, y, audited, probability, positive = data
    y = y | (~positive & (rng.random(y.size) < 0.02))
    audited = np.where(y == 1, np.nan, audited)
    checked = rng.choice(np.flatnonzero(y == 1), 100, replace=False)
    audited[checked], probability[checked] = positive[checked], 0.2
    scorer = make_scorer("roc_auc", prior="audit")
    score = scorer(Given(), X, y, audited=audited, audit_probability=probability)
    ev = evaluate(y, X[:, 0], audited=audited, audit_probability=probability, level=None)
    assert ev.purity < 0.98
    assert score == pytest.approx(ev["roc_auc"].unclipped, rel=1e-9)


def test_cross_validation_and_search_route_the_audit(data):
    X, y, audited, probability, _ = data
    cv = StratifiedKFold(3)
    scorer = make_scorer("roc_auc", prior="audit", labeling="score")
    scorer = scorer.set_score_request(audited=True, audit_probability=True)
    metadata = {"audited": audited, "audit_probability": probability}
    result = cross_validate(
        LogisticRegression(), X, y, cv=cv, scoring=scorer, params=metadata,
        return_estimator=True,
    )  # fmt: skip
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=scorer, cv=cv)
    search.fit(X, y, **metadata)
    for k, (_, test) in enumerate(cv.split(X, y)):
        ev = evaluate(
            y[test],
            result["estimator"][k].decision_function(X[test]),
            audited=audited[test],
            audit_probability=probability[test],
            labeling="score",
            level=None,
        )
        assert result["test_score"][k] == pytest.approx(ev["roc_auc"].unclipped, rel=1e-9)
    assert search.best_score_ == pytest.approx(result["test_score"].mean(), abs=0.01)


def test_mistakes(data):
    X, y, audited, probability, _ = data
    with pytest.raises(InputError, match="prior='audit' requires audited as metadata"):
        make_scorer("roc_auc", prior="audit")(Given(), X, y)
    with pytest.raises(InputError, match="audited requires prior='audit'"):
        make_scorer("roc_auc", prior=0.1)(Given(), X, y, audited=audited)
    with pytest.raises(InputError, match="audit_probability requires prior='audit'"):
        make_scorer("roc_auc", prior=0.1)(Given(), X, y, audit_probability=probability)
    with pytest.raises(InputError, match="audited requires prior='audit', which pulp does not"):
        make_scorer("pulp")(Given(), X, y, audited=audited)
    with pytest.raises(InputError, match="labeling='any' requires prior='audit'"):
        make_scorer("roc_auc", prior=0.1, labeling="any")
    with pytest.raises(InputError, match="labeling"):
        make_scorer("roc_auc", prior="audit", labeling="none")
    with pytest.raises(InputError, match="pulp does not use labeling"):
        make_scorer("pulp", labeling="any")
    with pytest.raises(InputError, match="propensity and audited cannot be combined"):
        make_scorer("roc_auc", prior="audit")(
            Given(), X, y, audited=audited, propensity=np.full(y.size, 0.5)
        )
    few = np.where(np.arange(y.size) < 40, audited, np.nan)
    with pytest.raises(InputError, match="at least 10 unlabeled rows must be audited"):
        make_scorer("roc_auc", prior="audit")(Given(), X, y, audited=few)
