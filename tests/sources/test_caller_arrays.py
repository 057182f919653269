"""Results stay as they are if the caller changes the arrays later: intervals are computed late."""

import pickle

import numpy as np
import pandas as pd
import pytest

from pueval import Counts, audit, compare, evaluate
from pueval.sources.arrays import as_scores, as_weights, owned_column

RNG = np.random.default_rng(0)
N = 600
POSITIVE = RNG.random(N) < 0.3
SCORE = RNG.normal(1.5 * POSITIVE)
LABELED = POSITIVE & (RNG.random(N) < 0.5)
WEIGHT = RNG.uniform(0.5, 2.0, N)
CLUSTER = np.arange(N) // 3


def torch_tensor(values):
    return pytest.importorskip("torch").from_numpy(values.copy())


# How a caller holds a column, and how it changes it in place.
KINDS = {
    "array": (np.copy, lambda column: column.fill(1.0)),
    "series": (lambda values: pd.Series(values.copy()), lambda column: column.__setitem__(0, 9.0)),
    "column": (lambda values: values.copy()[:, None], lambda column: column.fill(1.0)),
    "part": (lambda values: np.append(values, 0.0)[:-1], lambda column: column.fill(1.0)),
    "tensor": (torch_tensor, lambda column: column.fill_(1.0)),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def late_numbers(ev):
    """Intervals that are computed when they are asked for."""
    band = ev.roc_band()
    return [ev["f2"].low, ev["f2"].standard_error, *band.low, *band.high]


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters(kind, weighted):
    make, change = kind
    score, weight = make(SCORE), make(WEIGHT) if weighted else None
    options = {"prior": 0.2, "threshold": 1.0, "n_resamples": 50}
    counts = Counts.from_arrays(
        LABELED, SCORE, sample_weight=WEIGHT if weighted else None, cluster=CLUSTER
    )
    expected = late_numbers(evaluate(counts, **options))
    counts = Counts.from_arrays(LABELED, score, sample_weight=weight, cluster=CLUSTER)
    ev = evaluate(LABELED, score, sample_weight=weight, cluster=CLUSTER, **options)
    change(score)
    if weighted:
        change(weight)
    assert late_numbers(evaluate(counts, **options)) == expected
    assert late_numbers(ev) == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_plan(kind, weighted):
    make, change = kind
    score, weight = make(SCORE), make(WEIGHT) if weighted else None
    options = {"budget": 50, "prior": 0.2, "threshold": 1.0}
    expected = audit.plan(
        LABELED, SCORE, sample_weight=WEIGHT if weighted else None, **options
    ).draw(1)
    plan = audit.plan(LABELED, score, sample_weight=weight, **options)
    change(score)
    if weighted:
        change(weight)
    np.testing.assert_array_equal(plan.draw(1), expected)


def late_differences(comparison):
    measures = ("roc_auc", "average_precision", "f1", "f2", "ndcg_score")
    options = {"prior": 0.2, "threshold": 1.0, "n_resamples": 50}
    # A pickle leaves out what was computed already.
    counts = [pickle.loads(pickle.dumps(ev.counts)) for ev in comparison.evaluations.values()]  # noqa: S301
    intervals = [late_numbers(evaluate(part, **options)) for part in counts]
    return intervals, [comparison.differences(name) for name in measures]


@pytest.mark.parametrize("cluster", [None, CLUSTER])
def test_compare(kind, cluster):
    make, change = kind
    scores = {"a": SCORE, "b": SCORE + RNG.normal(size=N)}
    options = {"prior": 0.2, "threshold": 1.0, "n_resamples": 50, "cluster": cluster}
    expected = late_differences(compare(LABELED, scores, sample_weight=WEIGHT, **options))
    held, weight = {name: make(score) for name, score in scores.items()}, make(WEIGHT)
    comparison = compare(LABELED, held, sample_weight=weight, **options)
    for column in (*held.values(), weight):
        change(column)
    assert late_differences(comparison) == expected


def test_columns_that_were_converted_are_not_copied_again():
    """Integers become floats, which is a copy already."""
    made = []

    def convert(column):
        made.append(as_scores(column))
        return made[-1]

    numbers = np.arange(5)
    assert owned_column(numbers, "score", convert) is made[0]
    floats = np.arange(5.0)
    owned = owned_column(floats, "score", convert)
    assert not np.may_share_memory(owned, floats)
    np.testing.assert_array_equal(owned, floats)
    assert owned_column(numbers, "sample_weight", as_weights).dtype == np.int64
