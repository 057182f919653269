"""Baselines against scikit-learn's measures of dummy predictions."""

import numpy as np
import pytest
from sklearn import metrics

from pueval import Counts, InputError, evaluate


@pytest.fixture
def ev(rng):
    truth = np.arange(1000) < 300
    score = rng.normal(1.5 * truth, 1)
    return evaluate(np.arange(1000) < 100, score, prior=200 / 900, threshold=1, level=None)


TRUTH = np.arange(1000) < 300


@pytest.mark.parametrize(
    ("name", "true_value"),
    [
        ("accuracy", metrics.accuracy_score),
        ("f1", metrics.f1_score),
        ("f2", lambda y, p: metrics.fbeta_score(y, p, beta=2)),
        ("recall", metrics.recall_score),
        ("jaccard", metrics.jaccard_score),
        ("balanced_accuracy", metrics.balanced_accuracy_score),
    ],
)
def test_against_scikit_learn(ev, name, true_value):
    baseline = ev.baselines()[name]
    assert baseline.all_positive == pytest.approx(true_value(TRUTH, np.ones(1000, bool)))
    assert baseline.all_negative == pytest.approx(true_value(TRUTH, np.zeros(1000, bool)))


def test_random_predictions_of_the_same_size(ev):
    """The expected table of a random draw of as many rows as are predicted positive."""
    baselines = ev.baselines()
    predicted = ev.table.true_positive + ev.table.false_positive
    assert baselines.predicted == pytest.approx(predicted / 1000)
    assert baselines["recall"].random == pytest.approx(predicted / 1000)
    assert baselines["precision"].random == pytest.approx(0.3)
    assert baselines["lift"].random == pytest.approx(1)
    assert baselines["matthews_corrcoef"].random == pytest.approx(0, abs=1e-12)
    assert baselines["f1"].random == pytest.approx(2 * 0.3 * predicted / (300 + predicted))
    # The mean over drawn predictions.
    rng = np.random.default_rng(1)
    draws = [rng.permutation(1000) < predicted for _ in range(500)]
    mean = np.mean([metrics.f1_score(TRUTH, draw) for draw in draws])
    assert baselines["f1"].random == pytest.approx(mean, abs=0.005)


def test_areas(ev):
    baselines = ev.baselines()
    constant = metrics.average_precision_score(TRUTH, np.zeros(1000))
    assert vars(baselines["average_precision"]) == pytest.approx(
        dict.fromkeys(("all_positive", "all_negative", "random"), constant)
    )
    assert baselines["roc_auc"].random == 0.5


def test_ramola_section_3_1():
    """With prevalence 0.3, predicting everything positive has an F1 of 0.46."""
    counts = Counts.from_table([2, 1], labeled=[70, 30], unlabeled=[300, 600])
    ev = evaluate(counts, prior=0.25, purity=0.75, threshold=2, level=None)
    assert ev.prevalence == pytest.approx(0.3)
    assert ev.baselines()["f1"].all_positive == pytest.approx(0.6 / 1.3)
    assert ev.baselines()["accuracy"].all_negative == pytest.approx(0.7)


def test_naive_baselines_and_names(ev):
    naive = ev.baselines(naive=True)
    assert naive.prevalence == pytest.approx(0.1)
    assert naive["accuracy"].all_negative == pytest.approx(0.9)
    assert [*naive] == [*ev]
    with pytest.raises(InputError, match="unknown measure"):
        naive["f_one"]
    assert ev.to_dict()["baselines"]["f1"]["all_negative"] == 0
    assert ev.to_dict()["baselines"]["matthews_corrcoef"]["all_positive"] is None
