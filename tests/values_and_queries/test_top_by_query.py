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


def noisy(positive, rng, label_frequency, purity):
    """Label positives, and as many negatives as the purity allows."""
    wrong = (1 - purity) / purity * label_frequency * positive.mean() / (1 - positive.mean())
    return (rng.random(positive.size) < np.where(positive, label_frequency, wrong)).astype(int)


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


def test_wrong_labels_are_subtracted():
    """Known negatives are ranked, but are no negatives that could have been labeled."""
    positive, score, query, rng = lists()
    y = noisy(positive, rng, 0.4, 0.8)
    y[~positive & (y == 0) & (rng.random(y.size) < 0.2)] = 2
    top = top_by_query(y, score, query, k=5, label_frequency=0.4, purity=0.8, negative_label=2)
    labeled, possible = np.sum(y == 1), np.sum(y != 2)
    wrong = 0.2 * labeled / (possible - 0.8 * labeled / 0.4)
    expected = slow(np.where(y == 2, 0, ((y == 1) - wrong) / (0.4 - wrong)), score, query, 5)
    for number, name in enumerate(top.query):
        for measure in ("positives", "precision", "dcg"):
            ours = getattr(top, measure)[number]
            assert ours == pytest.approx(expected[name][measure], abs=1e-12), measure
    assert np.isnan(top.recall).all()
    assert np.isnan(top.macro["recall"].value)
    naive = slow((y == 1) * 1.0, score, query, 5)
    expected_recall = np.nanmean([each["recall"] for each in naive.values()])
    assert top.macro["recall"].naive == pytest.approx(expected_recall)
    assert top.positives.sum() == pytest.approx(0.8 * labeled / 0.4)


@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_frequency_weights_are_repeated_rows(purity):
    positive, score, query, rng = lists()
    y = noisy(positive, rng, 0.4, purity)
    weight = rng.integers(0, 4, size=y.size)
    weight[query == 7] = 0
    options = {"k": 5, "label_frequency": 0.4, "purity": purity}
    weighted = top_by_query(y, score, query, sample_weight=weight, **options)
    repeated = top_by_query(*(np.repeat(each, weight) for each in (y, score, query)), **options)
    assert 7 not in weighted.query
    for name in ("query", "rows", "labeled", "positives", "precision", "recall", "dcg"):
        ours, theirs = getattr(weighted, name), getattr(repeated, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    for title, estimate in weighted.estimates().items():
        expected = vars(repeated.estimates()[title])
        assert vars(estimate) == pytest.approx(expected, nan_ok=True, rel=1e-9), title


def test_importance_weights_have_no_unit():
    """What matters is how weights differ within a list."""
    positive, score, query, rng = lists()
    y = noisy(positive, rng, 0.4, 1.0)
    plain = top_by_query(y, score, query, k=5, label_frequency=0.4)
    by_list = top_by_query(y, score, query, k=5, label_frequency=0.4, sample_weight=query + 0.5)
    for name in ("rows", "labeled", "precision", "recall", "dcg"):
        np.testing.assert_allclose(getattr(by_list, name), getattr(plain, name), rtol=1e-9)
    # Only where lists are pooled do heavy ones count more.
    assert by_list.pooled_recall.value != pytest.approx(plain.pooled_recall.value, abs=1e-4)


def test_importance_weights_by_hand():
    score, weight = np.array([3.0, 2.0, 1.0]), np.array([1.0, 3.0, 2.0])
    y = [1, 1, 0]
    top = top_by_query(y, score, [1, 1, 1], k=2, label_frequency=1.0, sample_weight=weight)
    # A row weighs 14/6: places are 3/7, 9/7 and 6/7 rows long, and end at 3/7, 12/7 and 18/7.
    assert top.rows[0] == pytest.approx(18 / 7)
    assert top.precision[0] == pytest.approx((3 / 7 + 9 / 7) / 2)
    discounts = 3 / 7 + 4 / 7 + 5 / 7 / np.log2(3)
    assert top.dcg[0] == pytest.approx(discounts)
    assert top.recall[0] == top.pooled_recall.value == 1.0


@pytest.mark.parametrize("purity", [1.0, 0.75])
def test_standard_errors_are_those_of_the_jackknife(purity):
    """Without a query, the probability of wrong labels is another one, too."""
    positive, score, query, rng = lists(queries=120, n=3000)
    y = noisy(positive, rng, 0.5, purity)
    weight = rng.integers(1, 3, size=y.size)

    def estimates(kept, level=None):
        top = top_by_query(y[kept], score[kept], query[kept], k=5, label_frequency=0.5,
                           purity=purity, sample_weight=weight[kept], level=level)  # fmt: skip
        return [top.macro["precision"], top.macro["dcg"], top.pooled_recall]

    without = [[e.unclipped for e in estimates(query != name)] for name in range(120)]
    jackknife = np.sqrt(119**2 / 120 * np.var(without, axis=0, ddof=1))
    ours = [e.standard_error for e in estimates(query >= 0, 0.95)]
    np.testing.assert_allclose(ours, jackknife, rtol=0.01)


def test_coverage_with_wrong_labels():
    """The truth is that of all lists that could be drawn."""
    names = ("precision", "dcg", "pooled")
    covered, values, truths, naive = [], [], [], []
    for seed in range(300):
        positive, score, query, rng = lists(seed, queries=150, n=3000)
        y = noisy(positive, rng, 0.3, 0.75)
        top = top_by_query(y, score, query, k=5, label_frequency=0.3, purity=0.75)
        true = top_by_query(positive, score, query, k=5, label_frequency=1.0, level=None)
        ours, theirs = (
            [*(each.macro[name] for name in names[:2]), each.pooled_recall] for each in (top, true)
        )
        covered.append([(e.low, e.high) for e in ours])
        values.append([e.unclipped for e in ours])
        naive.append([e.naive for e in ours])
        truths.append([e.value for e in theirs])
    truth = np.mean(truths, axis=0)
    low, high = np.moveaxis(covered, -1, 0)
    coverage = np.mean((low <= truth) & (truth <= high), axis=0)
    assert np.all(np.abs(coverage - 0.95) < 3 * np.sqrt(0.05 * 0.95 / 300))
    error = np.std(np.subtract(values, truths), axis=0) / np.sqrt(300)
    assert np.all(np.abs(np.mean(values, axis=0) - truth) < 4 * error)
    assert np.all(np.abs(np.mean(naive, axis=0) - truth) > 10 * error)


@pytest.mark.parametrize(("k", "mean", "label_frequency"), [(1, 0.2, 0.3), (5, 0.05, 0.1)])
def test_coverage_with_few_labels(k, mean, label_frequency):
    """About 4 labeled rows among the first k; the truth is that of all lists."""
    covered, truths = [], []
    for seed in range(400):
        rng = np.random.default_rng([seed, 2])
        query = np.repeat(np.arange(20), 40)
        positive = rng.random(800) < rng.beta(10 * mean, 10 - 10 * mean, size=20)[query]
        score = rng.normal(size=800) + 1.5 * positive
        y = positive & (rng.random(800) < label_frequency)
        if not y.any():
            continue
        top = top_by_query(y, score, query, k=k, label_frequency=label_frequency)
        true = top_by_query(positive, score, query, k=k, label_frequency=1.0, level=None)
        ours, theirs = (
            [each.macro["precision"], each.macro["dcg"], each.pooled_recall] for each in (top, true)
        )
        covered.append([(e.low, e.high) for e in ours])
        truths.append([e.value for e in theirs])
    low, high = np.moveaxis(covered, -1, 0)
    truth = np.mean(truths, axis=0)
    coverage = np.mean((low <= truth) & (truth <= high), axis=0)
    assert np.all(coverage >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400))


@pytest.mark.parametrize("purity", [1.0, 0.8])
@pytest.mark.parametrize("found", [0, 1])
def test_few_labels_tell_little(found, purity):
    """All of 3 labeled rows are the first or the last of their lists."""
    score, query = np.tile(np.arange(20.0), 30), np.repeat(np.arange(30), 20)
    y = (query % 10 == 1) & (score == (19 if found else 0))
    top = top_by_query(y, score, query, k=5, label_frequency=0.1, purity=purity)
    assert top.pooled_recall.naive == found
    for estimate in top.estimates().values():
        if np.isfinite(estimate.value):
            assert estimate.high - estimate.low > 0.3
    # The first rows of whole lists have all positives.
    whole = top_by_query(y, score, query, k=20, label_frequency=0.1, purity=purity)
    recalls = [whole.pooled_recall] if purity < 1 else [whole.pooled_recall, whole.macro["recall"]]
    assert all(recall.low == recall.high == 1 for recall in recalls)


def test_pooled_recall_counts_positives_not_queries():
    y, score = [1, 0, 1, 1, 0, 1], [6, 5, 4, 3, 2, 1]
    top = top_by_query(y, score, ["a", "a", "b", "b", "b", "b"], k=1, label_frequency=0.8)
    assert top.macro["recall"].value == pytest.approx((1 + 1 / 3) / 2)
    assert top.pooled_recall.value == top.pooled_recall.naive == pytest.approx(2 / 4)


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
    # Wilson's with Student's t of 59 degrees of freedom, for as many rows as have this error.
    share = estimate.value
    square = 2.0010**2 * estimate.standard_error**2 / (share * (1 - share))
    center = (share + square / 2) / (1 + square)
    margin = np.sqrt(square * share * (1 - share) + square**2 / 4) / (1 + square)
    limits = (estimate.low, estimate.high)
    assert limits == pytest.approx((center - margin, center + margin), rel=1e-5)
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
        ({"propensity": [0.9, 1, 1], "purity": 0.9}, "propensities need clean labels"),
        ({"label_frequency": 1, "purity": 0}, "purity must be a number in"),
        ({"label_frequency": 0.5, "sample_weight": [1, 2]}, "same length; got 3 and 2"),
        ({"label_frequency": 0.5, "sample_weight": [1, 2, -1]}, "weights must not be negative"),
        ({"label_frequency": 0.5, "sample_weight": [9, 1, 1]}, "label_frequency must be above 0.8"),
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
    assert "Pooled recall" in lines[-2]
    noisy_labels = top_by_query(y, score, [1] * 5, k=1, label_frequency=0.5, purity=0.9)
    assert "with wrong labels, single queries have no recall" in repr(noisy_labels)
    assert CLIPPED_NOTE not in repr(top_by_query(y, score, [1] * 5, k=1, label_frequency=1))
