"""Rows are freed with the last result that uses them, without waiting for the garbage collector."""

import gc
import weakref

import numpy as np
import pytest
from scipy.special import expit

from pueval import Counts, claesen_bounds, compare, evaluate, evaluate_by, priors
from pueval.metrics import pulp_score
from tests.conftest import draw


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    _, score, y = draw(rng, 3000, prevalence=0.3, label_frequency=0.3)
    other = score + rng.normal(size=y.size)
    weight = rng.uniform(0.5, 2, size=y.size)
    return y, score, other, rng.integers(0, 3, size=y.size), weight


WORK = {
    "evaluate": lambda y, score, *_: evaluate(y, score, prior=0.2, level=None).roc(),
    "limits": lambda y, score, *_: evaluate(y, score, prior=0.2).roc_band(),
    "weights": lambda y, score, _, __, weight: evaluate(y, score, prior=0.2, sample_weight=weight),
    "propensity": lambda y, score, _, __, weight: evaluate(y, score, propensity=weight / 2),
    "estimate": lambda y, score, *_: priors.estimate(Counts.from_arrays(y, score)),
    "calibration": lambda y, score, *_: evaluate(y, expit(score), prior=0.2).calibration().slope,
    "thresholds": lambda y, score, *_: evaluate(y, score, prior=0.2).threshold_for(precision=0.5),
    "sensitivity": lambda y, score, *_: evaluate(y, score, prior=0.2).sensitivity("f1"),
    "bounds": lambda y, score, *_: claesen_bounds(Counts.from_arrays(y, score), prior=0.2).roc_auc,
    "compare": lambda y, score, other, *_: compare(y, {"a": score, "b": other}, prior=0.2),
    "groups": lambda y, score, _, by, __: evaluate_by(y, score, by, prior=0.2).macro("f1"),
    "weighted groups": lambda y, score, _, by, weight: evaluate_by(
        y, score, by, prior=0.2, sample_weight=weight
    ),
    "ranking": lambda y, score, *_: pulp_score(y, score),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_nothing_waits_for_the_garbage_collector(work, rows):
    work(*rows)  # what is imported or kept for next time is not rows
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        work(*rows)
        gc.collect()
        left = [type(one) for one in gc.garbage if type(one).__module__.startswith("pueval")]
        arrays = [one.shape for one in gc.garbage if isinstance(one, np.ndarray)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == []
    assert arrays == []


def test_nothing_is_kept_after_the_last_result(rows):
    y, score, *_ = rows
    counts = Counts.from_arrays(y, expit(score))
    evaluate(counts, prior=0.2).calibration().slope  # noqa: B018 - intervals are computed here
    kept = weakref.ref(counts)
    del counts
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize(
    ("make", "array"),
    [
        (lambda ev: ev.decision_curve(), "threshold"),
        (lambda ev: ev.cost_curve(), "probability_cost"),
        (lambda ev: ev.calibration(), "edges"),
    ],
    ids=["decision curve", "cost curve", "calibration"],
)
def test_changing_an_array_of_a_result_changes_no_other_result(rows, make, array):
    y, score, *_ = rows
    ev = evaluate(y, expit(score), prior=0.2, level=None)
    before = getattr(make(ev), array).copy()
    changed = getattr(make(ev), array)
    changed *= 100
    np.testing.assert_array_equal(getattr(make(ev), array), before)
