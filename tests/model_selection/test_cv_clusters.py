"""Cross-validation of rows that belong together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from pueval import InputError, evaluate
from pueval.model_selection import evaluate_cv


def clustered_features(seed, n_clusters=60, size=10):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), size)
    positive = (rng.random(n_clusters) < 0.4)[cluster]
    X = rng.normal(size=(n_clusters, 3))[cluster] + 0.5 * rng.normal(size=(cluster.size, 3))
    X[:, 0] += 2 * positive
    return X, positive & (rng.random(cluster.size) < 0.6), cluster


@pytest.mark.parametrize("n_repeats", [1, 3])
def test_clusters_stay_in_one_fold_and_widen_intervals(n_repeats):
    X, y, cluster = clustered_features(0)
    options = {"prior": 0.2, "training_variance": False, "n_repeats": n_repeats}
    ev = evaluate_cv(LogisticRegression(), X, y, cluster=cluster, **options)
    for fold in ev.splits.fold:
        assert all(np.unique(fold[cluster == k]).size == 1 for k in range(60))
    with pytest.warns(match="pass cluster instead of groups"):
        plain = evaluate_cv(LogisticRegression(), X, y, groups=cluster, **options)
    for name in ("roc_auc", "f1"):
        assert ev[name].value == pytest.approx(plain[name].value)
        assert ev[name].standard_error > 1.3 * plain[name].standard_error
    if n_repeats == 1:
        alone = evaluate(y, ev.splits.score[0], prior=0.2, cluster=cluster)
        assert ev["roc_auc"].standard_error == pytest.approx(alone["roc_auc"].standard_error)


def test_groups_without_clusters_get_a_warning():
    """Intervals would treat rows of a group as independent."""
    X, y, cluster = clustered_features(3)
    options = {"prior": 0.2, "training_variance": False, "align": "rank"}
    with pytest.warns(match="intervals treat rows as independent.*pass cluster instead of groups"):
        ev = evaluate_cv(LogisticRegression(), X, y, groups=cluster, **options)
    assert "pass cluster instead of groups" in str(ev.warnings)
    for groups, more in ((None, {}), (np.arange(y.size), {}), (cluster, {"level": None})):
        ev = evaluate_cv(LogisticRegression(), X, y, groups=groups, **options, **more)
        assert "groups" not in str(ev.warnings)


def test_groups_that_divide_clusters_get_a_warning():
    X, y, cluster = clustered_features(4)
    names = np.array([f"Z{900 - number}" for number in cluster])
    options = {"prior": 0.2, "training_variance": False, "align": "rank", "cluster": names}
    with pytest.warns(match="60 clusters, such as 'Z841', have rows in several groups"):
        evaluate_cv(LogisticRegression(), X, y, groups=np.arange(y.size), **options)
    for groups in (cluster, cluster // 2):
        ev = evaluate_cv(LogisticRegression(), X, y, groups=groups, **options)
        assert "several groups" not in str(ev.warnings)


def test_splits_of_clusters_are_refused_by_their_names():
    X, y, cluster = clustered_features(5)
    names = np.array([f"Z{900 - number}" for number in cluster])
    pairs = [*StratifiedKFold(4, shuffle=True, random_state=0).split(X, y)]
    with pytest.raises(InputError, match=r"clusters, such as 'Z\d+', have rows in both") as caught:
        evaluate_cv(LogisticRegression(), X, y, cluster=names, cv=pairs, prior=0)
    assert "omit groups" not in str(caught.value)


def test_training_variance_multiplies_that_of_clusters():
    X, y, cluster = clustered_features(1)
    with_training, without = (
        evaluate_cv(LogisticRegression(), X, y, cluster=cluster, prior=0.2, training_variance=t)
        for t in (True, False)
    )
    effect = with_training.splits.design_effect
    assert effect > 1
    for name in ("roc_auc", "f1"):
        ratio = with_training[name].standard_error / without[name].standard_error
        assert ratio == pytest.approx(np.sqrt(effect), rel=0.05), name


def test_impossible_clusters_are_refused_before_fitting():
    X, y, cluster = clustered_features(2)
    with pytest.raises(InputError, match="same length"):
        evaluate_cv(None, X, y, cluster=cluster[1:], prior=0.2)
    with pytest.raises(InputError, match="two-way clusters need groups"):
        evaluate_cv(None, X, y, cluster=[cluster, cluster], prior=0.2)
