"""Metrics of the top of the list: scikit-learn's at prior 0, and what works without a prior."""

import inspect

import numpy as np
import pytest
from sklearn import metrics as sk

from pueval import AssumptionWarning, InputError, evaluate, metrics

PRIOR_FREE = {
    "recall_at_k": {"k": 20},
    "enrichment_factor": {"share": 0.05},
    "rie": {},
    "aul": {},
}
NEED_PRIOR = {
    "precision_at_k": {"k": 100},
    "f_at_k": {"k": 100, "beta": 2.0},
    "average_precision_at_k": {"k": 100},
    "ndcg_score": {"k": 100},
    "r_precision": {},
    "bedroc_score": {},
    "logauc": {},
    "roc_enrichment": {"fpr": 0.05},
}


def data(seed=0, n=800, decimals=1):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return y, np.round(rng.normal(size=n) + y, decimals), rng


@pytest.mark.parametrize("decimals", [0, 1, 9])
class TestScikitLearn:
    def test_ndcg(self, decimals):
        y, score, _ = data(decimals=decimals)
        for k in (None, 1, 10, 300, 5000):
            theirs = sk.ndcg_score([y], [score], k=k)
            assert metrics.ndcg_score(y, score, prior=0.0, k=k) == pytest.approx(theirs, abs=1e-12)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_partial_auc(self, decimals, weighted):
        y, score, rng = data(decimals=decimals)
        given = {"sample_weight": rng.exponential(size=y.size) if weighted else None}
        for max_fpr in (0.01, 0.1, 0.5, 1.0):
            ours = metrics.roc_auc_score(y, score, prior=0.0, max_fpr=max_fpr, **given)
            theirs = sk.roc_auc_score(y, score, max_fpr=max_fpr, **given)
            assert ours == pytest.approx(theirs, abs=1e-12)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_average_precision_of_all_rows(self, decimals, weighted):
        y, score, rng = data(decimals=decimals)
        weight = rng.exponential(size=y.size) if weighted else None
        ours = metrics.average_precision_at_k(y, score, prior=0.0, share=1.0, sample_weight=weight)
        theirs = sk.average_precision_score(y, score, sample_weight=weight)
        assert ours == pytest.approx(theirs, abs=1e-12)

    def test_first_rows_without_ties_at_the_cut(self, decimals):
        """At a threshold between two scores, all are those of predictions."""
        y, score, _ = data(decimals=decimals)
        predicted = score >= 1.0
        k = int(predicted.sum())
        for ours, theirs in (
            (metrics.precision_at_k, sk.precision_score),
            (metrics.recall_at_k, sk.recall_score),
            (metrics.f_at_k, sk.f1_score),
        ):
            expected = pytest.approx(theirs(y, predicted), abs=1e-12)
            assert ours(y, score, prior=0.0, k=k) == expected

    def test_log_and_enrichment_along_the_roc_curve(self, decimals):
        y, score, _ = data(decimals=decimals)
        fpr, tpr, _ = sk.roc_curve(y, score, drop_intermediate=False)
        at = 0.05
        # The highest point at this rate, on the straight line of tied rows.
        last = np.flatnonzero(fpr <= at)[-1]
        rise = (tpr[last + 1] - tpr[last]) / (fpr[last + 1] - fpr[last])
        expected = (tpr[last] + rise * (at - fpr[last])) / at
        ours = metrics.roc_enrichment(y, score, prior=0.0, fpr=at)
        assert ours == pytest.approx(expected, abs=1e-11)
        area = 0.0
        for f0, f1, t0, t1 in zip(fpr[:-1], fpr[1:], tpr[:-1], tpr[1:], strict=True):
            low = max(f0, 0.01)
            if f1 > low:
                slope = (t1 - t0) / (f1 - f0)
                area += (t0 - slope * f0) * np.log(f1 / low) + slope * (f1 - low)
        ours = metrics.logauc(y, score, prior=0.0, min_fpr=0.01)
        assert ours == pytest.approx(area / np.log(100), abs=1e-12)


@pytest.mark.parametrize("name", PRIOR_FREE)
def test_without_a_prior(name):
    y, score, _ = data()
    function, given = getattr(metrics, name), PRIOR_FREE[name]
    value = function(y, score, **given)
    assert value == pytest.approx(function(y, score, prior=0.2, **given), abs=1e-12)
    with pytest.raises(InputError, match="needs prior.*purity below 1"):
        function(y, score, purity=0.9, **given)
    noisy = function(y, score, purity=0.9, prior=0.2, **given)
    assert noisy > value
    labels = np.where(np.arange(y.size) % 3 == 0, -1, 0)
    labels[y == 1] = 1
    with pytest.raises(InputError, match="known negatives"):
        function(labels, score, negative_label=-1, target="unlabeled", **given)
    assert "needs no prior" in inspect.getdoc(function)


@pytest.mark.parametrize("name", NEED_PRIOR)
def test_with_a_prior(name):
    y, score, _ = data()
    function, given = getattr(metrics, name), NEED_PRIOR[name]
    with pytest.raises(TypeError, match="needs prior"):
        function(y, score, **given)
    naive, corrected = (function(y, score, prior=prior, **given) for prior in (0.0, 0.05))
    assert corrected > naive
    assert "needs no prior" not in inspect.getdoc(function)


def test_equal_those_of_an_evaluation():
    y, score, _ = data(decimals=9)
    ev = evaluate(y, score, prior=0.1, purity=0.95, threshold=1.0, level=None)
    given = {"prior": 0.1, "purity": 0.95}
    for name in ("r_precision", "ndcg_score", "rie", "aul", "bedroc_score", "logauc"):
        assert getattr(metrics, name)(y, score, **given) == pytest.approx(ev[name].value, abs=1e-12)
    assert metrics.enrichment_factor(y, score, **given) == ev["enrichment_factor"].value
    assert metrics.roc_enrichment(y, score, **given) == ev["roc_enrichment"].value
    assert metrics.roc_auc_score(y, score, max_fpr=0.1, **given) == ev["partial_roc_auc"].value
    top = ev.top(200)
    assert metrics.precision_at_k(y, score, k=200, **given) == top["precision"].value
    average = metrics.average_precision_at_k(y, score, k=200, **given)
    assert average == top["average_precision"].value


def test_true_values_are_recovered():
    rng = np.random.default_rng(0)
    n = 200_000
    positive = rng.random(n) < 0.1
    score = rng.normal(size=n) + 2 * positive
    y = positive & (rng.random(n) < 0.3)
    prior = positive[~y].mean()
    for name, given in (PRIOR_FREE | NEED_PRIOR).items():
        function = getattr(metrics, name)
        options = {**given, "k": 5000} if "k" in given else given
        known = {"prior": prior} if name in NEED_PRIOR else {}
        true = function(positive, score, **options, **({"prior": 0.0} if known else {}))
        naive = function(y, score, **options, **({"prior": 0.0} if known else {}))
        corrected = function(y, score, **options, **known)
        assert corrected == pytest.approx(true, rel=0.06), name
        assert (abs(naive / true - 1) > 0.07) == bool(known), name


def test_clipped_values_warn():
    y, score = [1, 1, 0, 0, 0, 0], [6, 5, 4, 3, 2, 1]
    with pytest.warns(AssumptionWarning, match="precision_at_k is 1.7"):
        assert metrics.precision_at_k(y, score, prior=0.35, k=2) == 1


def test_mistakes():
    y, score = [1, 1, 0, 0], [4, 3, 2, 1]
    with pytest.raises(InputError, match="alpha must be a positive"):
        metrics.rie(y, score, alpha=0)
    with pytest.raises(InputError, match="beta must be a positive"):
        metrics.f_at_k(y, score, prior=0.1, k=1, beta=-1)
    with pytest.raises(InputError, match="max_fpr"):
        metrics.roc_auc_score(y, score, prior=0.1, max_fpr=0.0)
    with pytest.raises(InputError, match="k must be at most 4"):
        metrics.recall_at_k(y, score, k=5)
