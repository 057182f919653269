"""Measures of the first rows of many lists, against a loop over lists and scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as sk

from pueval import InputError, top_by_query
from pueval.text.numbers import CLIPPED_NOTE


def lists(seed=0, queries=60, n=1500, decimals=1):
    rng = np.random.default_rng(seed)
    query = rng.integers(0, queries, size=n)
    positive = rng.random(n) < 0.3
    score = np.round(rng.normal(size=n) + positive, decimals)
    return positive, score, query, rng


def slow(gain, score, query, k):
    """Go through every list and every run of tied scores."""
    table = {}
    for name in np.unique(query):
        rows = query == name
        g, s = gain[rows], score[rows]
        order = np.argsort(-s, kind="stable")
        g, s = g[order], s[order]
        g = np.array([g[s == value].mean() for value in s])
        rank = np.arange(1, g.size + 1)
        top = rank <= k
        discount = top / np.log2(rank + 1)
        table[name] = {
            "positives": g.sum(),
            "precision": g[top].sum() / min(k, g.size),
            "recall": g[top].sum() / g.sum() if g.sum() else np.nan,
            "dcg": g @ discount,
        }
    return table


@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("k", [1, 7, 100])
def test_equals_a_loop_over_lists(k, decimals):
    positive, score, query, rng = lists(decimals=decimals)
    propensity = rng.uniform(0.2, 0.9, size=score.size)
    y = positive & (rng.random(score.size) < propensity)
    for given, c in (({"label_frequency": 0.4}, 0.4), ({"propensity": propensity}, propensity)):
        top = top_by_query(y, score, query, k=k, **given)
        expected = slow(y / c, score, query, k)
        for number, name in enumerate(top.query):
            for measure, value in expected[name].items():
                ours = getattr(top, measure)[number]
                assert ours == pytest.approx(value, abs=1e-12, nan_ok=True), measure


def test_dcg_is_scikit_learns():
    positive, score, query, _ = lists()
    top = top_by_query(positive, score, query, k=5, label_frequency=1.0)
    for number, name in enumerate(top.query):
        rows = query == name
        theirs = sk.dcg_score([positive[rows]], [score[rows]], k=5)
        assert top.dcg[number] == pytest.approx(theirs, abs=1e-12)
    assert top.macro["dcg"].value == top.macro["dcg"].naive == pytest.approx(top.dcg.mean())


def test_interval_is_that_of_a_mean():
    positive, score, query, _ = lists()
    top = top_by_query(positive, score, query, k=5, label_frequency=1.0)
    estimate = top.macro["precision"]
    assert estimate.standard_error == pytest.approx(top.precision.std(ddof=1) / np.sqrt(60))
    # Student's t with 59 degrees of freedom.
    assert estimate.high - estimate.value == pytest.approx(
        2.001 * estimate.standard_error, rel=1e-4
    )
    assert np.isnan(top_by_query(positive, score, query, k=5, label_frequency=1, level=None)
                    .macro["precision"].low)  # fmt: skip


def test_label_frequency_recovers_the_truth():
    covered, means = [], []
    for seed in range(30):
        positive, score, query, rng = lists(seed, queries=200, n=4000)
        y = positive & (rng.random(4000) < 0.3)
        truth = top_by_query(positive, score, query, k=5, label_frequency=1.0, level=None)
        top = top_by_query(y, score, query, k=5, label_frequency=0.3)
        for name in ("precision", "recall", "dcg"):
            estimate, true = top.macro[name], truth.macro[name].value
            covered.append(estimate.low <= true <= estimate.high)
            means.append((estimate.value / true, estimate.naive / true))
    corrected, naive = np.mean(np.reshape(means, (30, 3, 2)), axis=0).T
    np.testing.assert_allclose(corrected, 1, atol=0.04)
    np.testing.assert_allclose(naive[[0, 2]], 0.3, atol=0.04)  # recall is right without
    assert np.mean(covered) > 0.9


def test_queries_without_labels_are_reported():
    y, score = [1, 0, 0, 0, 0], [5, 4, 3, 2, 1]
    top = top_by_query(y, score, ["a", "a", "b", "b", "b"], k=2, label_frequency=0.5)
    assert top.n_without_labels == 1
    assert "1 has no labeled rows" in repr(top)
    assert top.precision.tolist() == [1.0, 0.0]
    assert top.recall[0] == top.macro["recall"].value == 1
    assert np.isnan(top.recall[1])
    assert top.macro["precision"].value == 0.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "neither"),
        ({"label_frequency": 0.5, "propensity": [1, 1, 1]}, "both"),
        ({"label_frequency": 0.0}, "in \\(0, 1\\]"),
        ({"propensity": [0, 1, 1]}, "in \\(0, 1\\]"),
        ({"propensity": [1, 1]}, "same length; got 3 and 2"),
        ({"label_frequency": 0.5, "k": 0}, "k must be a whole number"),
        ({"label_frequency": 0.5, "score": [1, 2]}, "score must have"),
        ({"label_frequency": 0.5, "score": [1, 2, np.nan]}, "not finite"),
        ({"label_frequency": 0.2}, "label_frequency must be above 0.3333"),
        ({"propensity": [0.2, 1, 1]}, "represent 5 positives, but only 3 rows"),
        ({"label_frequency": 1, "y": [0, 0, 0]}, "there are no labeled rows"),
        ({"label_frequency": 1, "y": [1, 1, 1]}, "there are only labeled positives"),
    ],
)
def test_mistakes(given, message):
    options = {"y": [1, 0, 0], "score": [3, 2, 1], "query": [1, 1, 2], "k": 2} | given
    with pytest.raises(InputError, match=message):
        top_by_query(**options)


def test_text():
    y, score = [1, 0, 0, 0, 0], [5, 4, 3, 2, 1]
    top = top_by_query(y, score, [1, 1, 1, 1, 1], k=1, label_frequency=0.4)
    lines = repr(top).splitlines()
    assert lines[0] == "The first row of 1 query"
    assert "1.000†" in lines[2]
    assert lines[-1] == CLIPPED_NOTE
    assert CLIPPED_NOTE not in repr(top_by_query(y, score, [1] * 5, k=1, label_frequency=1))
