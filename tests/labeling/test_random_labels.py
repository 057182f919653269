"""Test of random labels: p-values, features, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
import scipy.special
import scipy.stats

from pueval import InputError, audit, labeling
from pueval.labeling._conditional_test import rank_columns, score_spline
from pueval.labeling._logistic import fit_logistic

# Imported by name, as users do: pytest must not collect it.
test_random = labeling.test_random


def rows_of(rng, n=1500, d=3):
    """Classes, a score that says all about them, and features that go with the score."""
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + 1.5 * positive
    features = 0.6 * score[:, None] + rng.normal(size=(n, d))
    return positive, score, features


def check(rng, positive, labeled, n):
    audited = np.full(positive.size, np.nan)
    chosen = rng.choice(np.flatnonzero(~labeled), n, replace=False)
    audited[chosen] = positive[chosen]
    return audited


def test_logistic_regression_is_that_of_scikit_learn(rng):
    from sklearn.linear_model import LogisticRegression

    design = rng.normal(size=(400, 3))
    y = rng.random(400) < scipy.special.expit(design @ [1.0, -0.5, 0.0] - 0.3)
    theirs = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs.fit(design, y)
    ours = fit_logistic(design, y, penalty=2.0)
    np.testing.assert_allclose(ours, theirs.coef_[0], atol=1e-4)
    # A known part of the predictor is a column with the coefficient 1.
    offset = rng.normal(size=400)
    fitted = fit_logistic(design, y, offset=offset, penalty=0.0)
    share = scipy.special.expit(design @ fitted + offset)
    np.testing.assert_allclose(design.T @ (y - share), 0, atol=1e-6)


def test_spline_spans_smooth_functions(rng):
    score = rng.normal(size=500)
    y = rng.random(500) < 0.3
    basis = score_spline(score, y)
    np.testing.assert_allclose(basis.sum(axis=1), 1)
    for function in (np.ones(500), scipy.stats.rankdata(score)):
        fitted = basis @ np.linalg.lstsq(basis, function, rcond=None)[0]
        assert np.corrcoef(np.r_[0, fitted], np.r_[0, function])[0, 1] > 0.999
    assert score_spline(np.ones(10), np.arange(10) < 5).shape == (10, 1)


def test_statistic_of_an_audit_is_that_of_rank_sums(rng):
    """Without a score, z of a trend is Wilcoxon's with the binomial variance."""
    labeled = np.arange(300) < 200
    feature = rng.normal(size=300) + 0.3 * labeled
    result = labeling.test_random(feature, labeled, audited=np.where(labeled, np.nan, 1))
    u = scipy.stats.mannwhitneyu(feature[labeled], feature[~labeled]).statistic
    rank_z = (u - 200 * 100 / 2) / np.sqrt(200 * 100 * 301 / 12)
    assert result.z[0] == pytest.approx(rank_z, rel=0.01)
    assert result.tendency == ("higher",)
    assert result.n_compared == 100


def test_columns_are_trends_and_bulges():
    values = np.column_stack([np.arange(5.0), [0, 1, 0, 1, 0], np.ones(5)])
    columns, feature, kind = rank_columns(values)
    assert feature.tolist() == [0, 0, 1]
    assert kind.tolist() == [0, 1, 0]
    np.testing.assert_allclose(columns[:, 1], [0.4, 0.2, 0, 0.2, 0.4])


@pytest.mark.parametrize("given", ["score", "audited"])
def test_pvalues_are_uniform_if_labels_are_random(given):
    pvalues = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        positive, score, features = rows_of(rng)
        labeled = positive & (rng.random(positive.size) < 0.4)
        evidence = score if given == "score" else check(rng, positive, labeled, 300)
        options = {"n_draws": 199, "seed": seed, given: evidence}
        result = labeling.test_random(features, labeled, **options)
        pvalues.append(result.pvalue)
    assert scipy.stats.kstest(pvalues, "uniform").pvalue > 0.005
    assert 0.025 <= np.mean(np.array(pvalues) <= 0.05) <= 0.08


@pytest.mark.parametrize("given", ["score", "audited"])
@pytest.mark.parametrize("shape", ["trend", "bulge"])
def test_biased_labels_are_seen_with_their_feature(given, shape):
    rng = np.random.default_rng(2)
    positive, score, features = rows_of(rng, 4000)
    place = features[:, 1] - 0.6 * score
    place = place if shape == "trend" else 1.5 - place**2
    labeled = positive & (rng.random(4000) < scipy.special.expit(place - 0.5))
    frame = pd.DataFrame(features, columns=["age", "region", "weekday"])
    evidence = score if given == "score" else check(rng, positive, labeled, 800)
    result = labeling.test_random(frame, labeled, **{given: evidence})
    assert result.pvalue <= 0.01
    assert result.feature[0] == "region"
    assert result.tendency[0] == {"trend": "higher", "bulge": "nearer the middle"}[shape]
    assert result.feature_pvalue[0] == result.pvalue
    text = repr(result)
    assert text.splitlines()[2].startswith("region")
    assert "Not seen: " in text


def test_planned_audits_keep_the_level():
    """Rows with high scores are checked more often, and features go with the score."""
    with_probability, without = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        positive, score, features = rows_of(rng, 3000, 2)
        labeled = positive & (rng.random(3000) < 0.4)
        probability = np.where(score > 1.5, 0.5, 0.08)
        audited = np.where(~labeled & (rng.random(3000) < probability), positive, np.nan)
        options = {"audited": audited, "n_draws": 99, "seed": seed}
        without.append(labeling.test_random(features, labeled, **options).pvalue)
        options["audit_probability"] = probability
        with_probability.append(labeling.test_random(features, labeled, **options).pvalue)
    assert np.mean(np.array(with_probability) <= 0.05) <= 0.1
    assert np.mean(np.array(without) <= 0.05) > 0.3


def test_probabilities_of_a_plan_can_be_given(rng):
    positive, score, features = rows_of(rng, 4000)
    labeled = positive & (rng.random(4000) < 0.4)
    plan = audit.plan(labeled, score, budget=300, prior=0.2)
    audited = np.full(4000, np.nan)
    rows = plan.draw(seed=1)
    audited[rows] = positive[rows]
    result = labeling.test_random(
        features, labeled, audited=audited, audit_probability=plan.probability(score)
    )
    assert result.pvalue > 0.01
    with pytest.raises(InputError, match=r"in \(0, 1\] for every labeled row and every audited"):
        labeling.test_random(
            features, labeled, audited=audited, audit_probability=plan.probabilities
        )


def test_a_score_trained_on_these_labels_explains_them(rng):
    """No power, as the documentation says: the score follows the labeling."""
    positive, _, features = rows_of(rng, 4000)
    propensity = scipy.special.expit(2 * features[:, 0])
    labeled = positive & (rng.random(4000) < propensity)
    share = propensity * np.mean(positive)  # the best classifier of labels
    assert labeling.test_random(features[:, :1], labeled, score=share).pvalue > 0.01


def visits_of_patients(seed, n_patients=40, visits=50):
    """Labels of random positive visits; a feature and the class are constant within patients."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), visits)
    ill = (rng.permutation(n_patients) < 0.4 * n_patients)[patient]
    score = rng.normal(size=patient.size) + 2 * ill
    feature = rng.normal(size=n_patients)[patient]
    return feature, ill & (rng.random(patient.size) < 0.4), score, patient, ill


@pytest.mark.parametrize("given", ["score", "audited"])
def test_random_labels_of_clusters_keep_the_level(given):
    with_clusters, without = [], []
    for seed in range(100):
        feature, labeled, score, patient, ill = visits_of_patients(seed)
        if given == "score":
            options = {"score": score, "n_draws": 199}
        else:
            audited = check(np.random.default_rng(seed), ill, labeled, 500)
            options = {"audited": audited, "n_draws": 199}
        without.append(labeling.test_random(feature, labeled, **options).pvalue)
        options["cluster"] = patient
        with_clusters.append(labeling.test_random(feature, labeled, **options).pvalue)
    assert np.mean(np.array(with_clusters) <= 0.05) <= 0.1
    if given == "score":
        assert np.mean(np.array(without) <= 0.05) > 0.4


def test_labels_that_favor_some_clusters_are_seen():
    """Two in five positives are labeled, and more of patients with a large feature."""
    rejected = 0
    for seed in range(20):
        feature, _, score, patient, ill = visits_of_patients(seed, 200, 10)
        rng = np.random.default_rng([seed, 1])
        labeled = ill & (rng.random(ill.size) < scipy.special.expit(feature - 0.4))
        result = labeling.test_random(feature, labeled, score=score, cluster=patient)
        rejected += result.pvalue <= 0.05
    assert rejected >= 18
    assert "200 clusters)" in repr(result)
    assert "Assumes independent rows" not in repr(result)
    assert result.to_dict()["n_clusters"] == 200


def test_clusters_may_have_any_name_and_order(rng):
    feature, labeled, score, patient, _ = visits_of_patients(3)
    plain = labeling.test_random(feature, labeled, score=score, cluster=patient)
    names = np.array([f"P{99 - number}" for number in patient])
    order = rng.permutation(patient.size)
    result = labeling.test_random(
        feature[order], labeled[order], score=score[order], cluster=names[order]
    )
    assert result.z == pytest.approx(plain.z)
    assert result.pvalue == pytest.approx(plain.pvalue, abs=0.05)
    with pytest.raises(InputError, match="cluster must be an array"):
        labeling.test_random(feature, labeled, score=score, cluster="patient")
    with pytest.raises(InputError, match="only 1 cluster has labeled rows"):
        labeling.test_random(feature, labeled, score=score, cluster=np.zeros(patient.size))
    assert "pass cluster." in repr(labeling.test_random(feature, labeled, score=score))


def test_what_cannot_be_tested_is_refused(rng):
    positive, score, features = rows_of(rng, 200)
    labeled = positive & (rng.random(200) < 0.5)
    audited = check(rng, positive, labeled, 100)
    cases = [
        ({}, "features and labels alone cannot contradict random labels"),
        ({"score": score, "audited": audited}, "Pass one of them"),
        ({"score": score, "audit_probability": score}, "audit_probability needs audited"),
        ({"score": score[1:]}, "score and y must have the same length; got 199 and 200"),
        ({"score": np.where(score > 2, np.nan, score)}, "or infinite score"),
        ({"score": score, "n_draws": 10}, "n_draws must be a whole number of at least 99"),
        ({"audited": np.where(positive, np.nan, 0)}, "at least 10 checked unlabeled rows that are"),
    ]
    for arguments, message in cases:
        with pytest.raises(InputError, match=message):
            labeling.test_random(features, labeled, **arguments)
    with pytest.raises(InputError, match="at least 10 labeled rows; there are 0"):
        labeling.test_random(features, np.zeros(200), score=score)
    with pytest.raises(InputError, match="X must hold numbers only"):
        labeling.test_random(pd.DataFrame({"city": ["Bern"] * 200}), labeled, score=score)
    with pytest.raises(InputError, match="missing or infinite values in 1 rows.*'0'"):
        labeling.test_random(np.r_[np.nan, score[1:]], labeled, score=score)


def test_frames_of_all_kinds_have_names(rng):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    positive, score, features = rows_of(rng, 300, 2)
    columns = {"age": features[:, 0], "region": features[:, 1]}
    results = [
        labeling.test_random(frame, positive, score=score, n_draws=99)
        for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns))
    ]
    assert {*results[0].feature} == {"age", "region"}
    assert [result.feature for result in results] == [results[0].feature] * 3
    assert [result.pvalue for result in results] == [results[0].pvalue] * 3


def test_constant_features_say_nothing(rng):
    positive, score, _ = rows_of(rng, 300)
    result = labeling.test_random(np.ones((300, 2)), positive, score=score)
    assert result.pvalue == 1
