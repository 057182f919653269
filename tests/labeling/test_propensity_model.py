"""Propensities from features, against SAR-EM and simulated truth."""

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.stats
from scipy.special import expit

from pueval import AssumptionWarning, InputError, evaluate, labeling
from pueval.labeling._product_likelihood import _information, _penalized, fit_product
from pueval.labeling._propensity_model import _folds


def rows_of(rng, n=4000):
    """Two labeling features and two class features that go with them."""
    labeling_features = rng.normal(size=(n, 2))
    class_features = rng.normal(size=(n, 2)) + 0.4 * labeling_features
    positive = rng.random(n) < expit(-1 + 1.5 * class_features[:, 0] - class_features[:, 1])
    propensity = expit(-0.8 + 1.2 * labeling_features[:, 0])
    labeled = positive & (rng.random(n) < propensity)
    return np.hstack([labeling_features, class_features]), positive, propensity, labeled


def check(rng, positive, labeled, n):
    audited = np.full(positive.size, np.nan)
    chosen = rng.choice(np.flatnonzero(~labeled), n, replace=False)
    audited[chosen] = positive[chosen]
    return audited


def weighted_logistic(design, target, weight, start):
    """Logistic regression of shares, by a general optimizer."""

    def loss(coefficients):
        z = design @ coefficients
        return np.sum(weight * (np.logaddexp(0, z) - target * z))

    def slope(coefficients):
        return design.T @ (weight * (expit(design @ coefficients) - target))

    return scipy.optimize.minimize(loss, start, jac=slope, method="BFGS").x


def test_likelihood_is_that_of_sar_em(rng):
    """EM as Bekker and Davis write it ends at the same coefficients."""
    X, _, _, y = rows_of(rng, 1500)
    one = np.ones((1500, 1))
    first, second = np.hstack([one, X[:, :2]]), np.hstack([one, X[:, 2:]])
    direct = fit_product(first, second, y, penalty=1e-6)
    a, b = np.zeros(3), np.zeros(3)
    for _ in range(400):
        e, p = expit(first @ a), expit(second @ b)
        expected = np.where(y, 1.0, p * (1 - e) / (1 - p * e))
        a = weighted_logistic(first, y, expected, a)
        b = weighted_logistic(second, expected, np.ones(1500), b)
    np.testing.assert_allclose(np.r_[a, b], direct.coefficients, atol=0.02)


def test_gradient_and_information(rng):
    X, _, _, y = rows_of(rng, 300)
    one = np.ones((300, 1))
    designs = np.hstack([one, X[:, :2]]), np.hstack([one, X[:, 2:]])
    weight, point = np.full(6, 0.7), rng.normal(size=6) / 2
    numeric = scipy.optimize.approx_fprime(
        point, lambda at: _penalized(at, *designs, y, weight)[0], 1e-6
    )
    np.testing.assert_allclose(_penalized(point, *designs, y, weight)[1], numeric, atol=1e-3)
    # The expected information is the variance of the gradient over labels.
    e, p = expit(designs[0] @ point[:3]), expit(designs[1] @ point[3:])
    drawn = [
        _penalized(point, *designs, rng.random(300) < e * p, np.zeros(6))[1] for _ in range(8000)
    ]
    expected = _information(point, *designs)
    np.testing.assert_allclose(np.cov(np.array(drawn).T), expected, atol=0.06 * expected.max())


@pytest.mark.thorough
@pytest.mark.parametrize("given", ["class_features", "audited"])
def test_propensities_and_label_frequency(given):
    inside, correlation, values = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, positive, propensity, labeled = rows_of(rng, 2000)
        evidence = [2, 3] if given == "class_features" else check(rng, positive, labeled, 400)
        model = labeling.propensity_model(X, labeled, labeling_features=[0, 1], **{given: evidence})
        low, high = model.label_frequency_interval
        inside.append(low <= labeled.sum() / positive.sum() <= high)
        values.append(model.label_frequency / (labeled.sum() / positive.sum()))
        correlation.append(np.corrcoef(model.propensity, propensity)[0, 1])
    assert np.mean(inside) >= 0.88
    assert np.mean(values) == pytest.approx(1, abs=0.06)
    assert np.mean(correlation) > 0.97


def test_propensities_correct_an_evaluation(rng):
    X, positive, _, labeled = rows_of(rng, 20_000)
    score = X[:, 2] - 0.7 * X[:, 3] + 0.5 * X[:, 0]
    model = labeling.propensity_model(
        X, labeled, labeling_features=[0, 1], audited=check(rng, positive, labeled, 4000)
    )
    ranks = scipy.stats.rankdata(score)
    n_positive = positive.sum()
    truth = (ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (
        n_positive * (~positive).sum()
    )
    corrected = evaluate(labeled, score, propensity=model.propensity)
    with pytest.warns(AssumptionWarning):
        naive = evaluate(labeled, score, prevalence=positive.mean())
    assert abs(corrected["roc_auc"].value - truth) < 0.02
    assert naive["roc_auc"].value - truth > 0.04


def test_propensities_are_out_of_fold(rng):
    """Exchanging class features within a fold changes the models of all folds but its own."""
    X, _, _, labeled = rows_of(rng, 400)
    options = {"labeling_features": [0, 1], "class_features": [2, 3]}
    model = labeling.propensity_model(X, labeled, **options)
    inside = _folds(labeled, 5, 0) == 2
    rows = [np.flatnonzero(inside & (labeled == value))[0] for value in (True, False)]
    exchanged = X.copy()
    exchanged[rows, 2:] = X[rows[::-1], 2:]
    again = labeling.propensity_model(exchanged, labeled, **options)
    # Up to where the optimizer starts.
    np.testing.assert_allclose(model.propensity[inside], again.propensity[inside], rtol=1e-3)
    changes = np.abs(model.propensity / again.propensity - 1)[~inside]
    assert np.median(changes) > 2e-3


def test_planned_audits_are_weighted(rng):
    X, positive, propensity, labeled = rows_of(rng, 20_000)
    probability = np.where(X[:, 0] > 0, 0.3, 0.05)
    audited = np.where(~labeled & (rng.random(20_000) < probability), positive, np.nan)
    options = {"labeling_features": [0, 1], "audited": audited}
    right = labeling.propensity_model(X, labeled, audit_probability=probability, **options)
    wrong = labeling.propensity_model(X, labeled, **options)
    assert np.abs(right.propensity - propensity).mean() < 0.03
    assert np.abs(wrong.propensity - propensity).mean() > 0.07
    low, high = right.label_frequency_interval
    assert low < labeled.sum() / positive.sum() < high


def test_text_and_names(rng):
    X, _, _, labeled = rows_of(rng)
    frame = pd.DataFrame(X, columns=["road", "weekday", "forest", "height"])
    model = labeling.propensity_model(
        frame, labeled, labeling_features=["road", "weekday"], class_features=["forest", "height"]
    )
    text = repr(model)
    assert "from separate class features" in text
    assert "road" in text
    weight = 1 / model.propensity[labeled]
    assert model.effective_rows == pytest.approx(weight.sum() ** 2 / np.sum(weight**2))
    # If no feature matters, the factor is unknown.
    weak = labeling.propensity_model(
        frame, rng.random(4000) < 0.1, labeling_features=["road"], class_features=["forest"]
    )
    assert "! The label frequency is hardly known" in repr(weak)


def test_what_is_not_identifiable_is_refused(rng):
    X, positive, _, labeled = rows_of(rng, 300)
    audited = check(rng, positive, labeled, 150)
    cases = [
        ({}, "labels alone do not tell propensities from classes"),
        ({"class_features": [0, 2]}, "feature '0' is in labeling_features and in class_features"),
        ({"class_features": [9]}, "class_features: X has no feature 9"),
        ({"class_features": []}, "class_features must name at least one feature"),
        ({"class_features": [2, 2]}, "class_features names a feature twice"),
        ({"class_features": [2], "audited": audited}, "class_features are not needed"),
        ({"class_features": [2], "audit_probability": audited}, "needs audited"),
        ({"class_features": [2], "cv": 1}, "cv must be a whole number of at least 2"),
        ({"audited": np.where(positive, np.nan, 0)}, "at least 15 checked unlabeled rows that"),
    ]
    for arguments, message in cases:
        with pytest.raises(InputError, match=message):
            labeling.propensity_model(X, labeled, labeling_features=[0, 1], **arguments)
    few = labeled & (np.cumsum(labeled) <= 20)
    with pytest.raises(InputError, match="6 coefficients need at least 30 labeled rows"):
        labeling.propensity_model(X, few, labeling_features=[0, 1], class_features=[2, 3])
    X[:, 1] = 3
    with pytest.raises(InputError, match="labeling_features: feature '1' is the same in all rows"):
        labeling.propensity_model(X, labeled, labeling_features=[0, 1], class_features=[2, 3])


def test_copies_of_labeling_features_are_refused(rng):
    """Labels do not tell by which of both a feature acts, whatever its name or scale is."""
    X, _, _, y = rows_of(rng)
    frame = pd.DataFrame(X, columns=["road", "town", "marker", "age"])
    frame["copy"] = 3 - 2 * frame["road"]
    frame["sum"] = frame["road"] + frame["town"]
    frame["mixed"] = frame["road"] - frame["marker"]
    options = {"labeling_features": ["road", "town"]}
    for name in ("copy", "sum"):
        with pytest.raises(InputError, match=f"feature '{name}' of class_features is a linear"):
            labeling.propensity_model(frame, y, class_features=["marker", name], **options)
    with pytest.raises(InputError, match="a sum of class_features is a linear function"):
        labeling.propensity_model(frame, y, class_features=["marker", "mixed"], **options)
    # Features that are dependent among themselves, or close to others, are no copies.
    frame["twice"] = frame["marker"] + frame["age"]
    frame["close"] = frame["road"] + 0.01 * rng.normal(size=len(X))
    for names in (["marker", "age", "twice"], ["marker", "close"]):
        labeling.propensity_model(frame, y, class_features=names, cv=2, **options)


def test_after_an_audit_of_every_unlabeled_row_the_number_of_hidden_positives_is_known(rng):
    n = 2000
    X = rng.normal(size=(n, 2))
    positive = rng.random(n) < expit(2 * X[:, 0] - 1)
    labeled = positive & (rng.random(n) < expit(X[:, 1]))
    audited = np.where(labeled, np.nan, positive)
    model = labeling.propensity_model(X, labeled, labeling_features=[1], audited=audited)
    hidden = np.sum(positive & ~labeled)
    assert model.hidden == pytest.approx(hidden)
    assert model.hidden_interval == pytest.approx((hidden, hidden))
