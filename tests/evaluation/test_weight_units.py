"""Importance weights have no unit: multiplied by a constant, they change no estimate."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pueval import Counts, InputError, compare, evaluate, evaluate_by, metrics
from pueval.estimates.estimate import BEST_MEASURES
from pueval.evaluation.findings import abrupt_labeled_scores
from pueval.families.field_measures import FAMILIES
from pueval.model_selection import evaluate_cv

pytestmark = pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")

TARGETS = ["population", "unlabeled"]
# Sums of weights, which are in the unit of the weights.
SUMS = {"calibration.rows", "calibration.histogram", "evidence.curve.rows", "posterior.rows"}


def draw_rows(n=700, *, known_negatives=0.05):
    """Labels, probabilities as scores, and weights that go with the score."""
    rng = np.random.default_rng(3)
    positive = rng.random(n) < 0.3
    score = 1 / (1 + np.exp(1 - rng.normal(size=n) - 2.2 * positive))
    y = (positive & (rng.random(n) < 0.4)).astype(int)
    y[~positive & (rng.random(n) < known_negatives)] = 2
    return y, score, np.where(score > 0.5, 1, 3) * rng.gamma(4, 0.25, n)


def numbers(name, value):
    """Yield all numbers of a result with their names, as arrays."""
    if isinstance(value, Mapping):
        for key in value:
            yield from numbers(f"{name}.{key}", value[key])
    elif is_dataclass(value):
        for field in fields(value):
            if not field.name.startswith("_"):
                yield from numbers(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, tuple | list | np.ndarray | float | int | np.number):
        array = np.asarray(value)
        if array.dtype.kind in "fiu":
            yield name, array.astype(float)


def measures(ev):
    """All measures that need no further argument, and their intervals."""
    names = {name for family in FAMILIES.values() for name in family}
    results = {name: ev[name] for name in sorted({*ev} | names)}
    results |= {f"best {name}": ev.best(name) for name in BEST_MEASURES}
    return results | {"threshold": ev.threshold, "gains": ev.gains(), "pr_band": ev.pr_band()}


def everything(ev):
    results = measures(ev)
    results |= {
        "calibration": ev.calibration(bins=10),
        "first 50": (top := ev.top(50)),
        "first 50, size": [top.rows, top.size],
        "first tenth": ev.top(share=0.1),
        "evidence": ev.evidence_thresholds(window=0.2),
        "presence": ev.presence(),
        "decisions": ev.decision_curve(),
        "costs": ev.cost_curve(),
        "ROC area": ev.roc_area(),
        "posterior": ev.posterior([0.2, 0.8]),
        "sensitivity": ev.sensitivity("f1"),
    }
    for goal in ({"precision": 0.5}, {"recall": 0.8}, {"top": 50}, {"cost": (1, 3)}):
        point = ev.threshold_for(**goal)
        results[f"{goal}"] = point
        results[f"{goal}, threshold"] = (point.threshold, *point.threshold_interval)
    return results


def as_numbers(results):
    return {name: array for key, result in results.items() for name, array in numbers(key, result)}


def assert_same(found, expected, *, rtol=1e-9, unit=1.0):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        factor = unit if name in SUMS else 1.0
        np.testing.assert_allclose(
            found[name], factor * array, rtol=rtol, atol=rtol * factor, err_msg=name
        )


def evaluate_rows(y, score, weight, **given):
    given = {"prior": 0.2, "n_resamples": 200, "negative_label": 2} | given
    return evaluate(y, score, sample_weight=weight, **given)


@pytest.mark.parametrize("target", TARGETS)
def test_no_measure_depends_on_the_unit(target):
    y, score, weight = draw_rows()
    expected = as_numbers(everything(evaluate_rows(y, score, weight, target=target)))
    assert len(expected) > 700
    assert sum(name.endswith(".low") for name in expected) > 150
    for unit in (1e-6, 1 / weight.sum(), 1000.0):
        ev = evaluate_rows(y, score, unit * weight, target=target)
        assert_same(as_numbers(everything(ev)), expected, unit=unit)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("unit", [1.0, 0.37, 1e-6])
def test_equal_weights_are_as_good_as_none(target, unit):
    y, score, _ = draw_rows(390)
    expected, found = (
        everything(evaluate_rows(y, score, weight, target=target))
        for weight in (None, np.full(y.size, unit))
    )
    for results in (expected, found):
        # Shares are rounded up to a row, but of importance weights they are exact.
        for name in ("gains", "first tenth", "enrichment_factor"):
            del results[name]
    assert_same(as_numbers(found), as_numbers(expected), unit=unit)


def propensities(rng, n):
    return {"propensity": rng.uniform(0.05, 0.9, n), "prior": None}


def clusters(rng, n):
    return {"cluster": rng.integers(0, n // 5, n)}


def audit(rng, n):
    checked = rng.random(n)
    return {"audited": np.where(checked < 0.2, checked < 0.06, np.nan), "prior": None}


@pytest.mark.parametrize(
    "design",
    [
        propensities,
        clusters,
        audit,
        lambda *_: {"prior": None},
        lambda *_: {"prior": (0.1, 0.2), "purity": 0.9},
    ],
    ids=["propensity", "cluster", "audit", "estimated prior", "purity"],
)
def test_nor_with_other_designs(design):
    y, score, weight = draw_rows(known_negatives=0)
    given = design(np.random.default_rng(4), y.size)
    if "audited" in given:
        given["audited"][y == 1] = np.nan
    expected, *others = (
        as_numbers(measures(evaluate_rows(y, score, unit * weight, **given)))
        for unit in (1.0, 1 / weight.sum(), 1000.0)
    )
    for found in others:
        # Clusters are drawn in single precision, and iterations do not end at the same number.
        assert_same(found, expected, rtol=1e-6)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_nor_do_bounds_for_a_labeling_bias(target, purity):
    y, score, weight = draw_rows()
    given = {"target": target, "purity": purity, "threshold": 0.5}
    expected, *others = (
        as_numbers({"bounds": evaluate_rows(y, score, each, **given).labeling_bias(2)})
        for each in (weight, weight / weight.sum(), 1000 * weight)
    )
    for found in others:
        assert_same(found, expected, rtol=1e-6)


def test_nor_in_cross_validation():
    """There, squared weights have a design effect: it makes rows worth less, not heavier."""
    rng = np.random.default_rng(5)
    features = rng.normal(size=(300, 3))
    y = (rng.random(300) < 1 / (1 + np.exp(2 - 2 * features[:, 0]))).astype(int)
    weight = rng.gamma(4, 0.25, 300)
    given = {"prior": 0.1, "n_resamples": 200, "n_repeats": 2}
    first, other, equal, none = (
        evaluate_cv(LogisticRegression(), features, y, sample_weight=each, **given)
        for each in (weight, weight / weight.sum(), np.full(300, 0.1), None)
    )
    assert first.splits.design_effect > 1
    assert_same(as_numbers(measures(other)), as_numbers(measures(first)))
    assert_same(as_numbers(equal.top(30)), as_numbers(none.top(30)), rtol=1e-6)


def test_nor_in_comparisons_and_groups():
    y, score, weight = draw_rows(known_negatives=0)
    rng = np.random.default_rng(6)
    other = np.clip(score + rng.normal(scale=0.2, size=y.size), 0, 1)
    names = ("f1", "average_precision", "ndcg_score", "bedroc_score")

    def results(unit):
        given = {"sample_weight": unit * weight, "n_resamples": 200}
        compared = compare(y, {"a": score, "b": other}, prior=0.2, **given)
        groups = evaluate_by(y, score, np.arange(y.size) % 3, label_frequency=0.5, **given)
        return as_numbers(
            {f"{name}, models": compared.differences(name)[0] for name in names}
            | {f"{name}, groups": groups[name] for name in names}
            | {f"{name}, between groups": groups.differences(name) for name in names}
        )

    expected = results(1.0)
    for unit in (1 / weight.sum(), 1000.0):
        assert_same(results(unit), expected, rtol=1e-5)  # in single precision


class TestFirstRows:
    """Two rows of weight 1.5 and two of 0.5: a row is a weight of Σw²/Σw = 5/4."""

    y, score = np.array([1, 0, 0, 1]), np.array([4.0, 3.0, 2.0, 1.0])
    weight = np.array([0.5, 1.5, 1.5, 0.5])

    @pytest.mark.parametrize("unit", [1.0, 1e-3, 7.0])
    def test_by_hand(self, unit):
        given = {"sample_weight": unit * self.weight, "prior": 0.0}
        # The first row and half of the second have a weight of 5/4.
        assert metrics.precision_at_k(self.y, self.score, k=1, **given) == pytest.approx(0.5 / 1.25)
        assert metrics.recall_at_k(self.y, self.score, k=1, **given) == pytest.approx(0.5)
        # Ranks end at 0.4, 1.6, 2.8 and 3.2, and a rank has the discount of the next whole one.
        first, last = 0.4, 0.2 / np.log2(4) + 0.2 / np.log2(5)
        found = metrics.ndcg_score(self.y, self.score, **given)
        assert found == pytest.approx((first + last) / 0.8)
        ev = evaluate(self.y, self.score, level=None, threshold=1.0, **given)
        top = ev.top(2)
        assert (top.rows, top.size) == (2, pytest.approx(3.2))
        assert top["positives"].value == pytest.approx(0.4)
        assert ev.threshold_for(top=2).threshold == 3.0  # 1.6 rows; 2.8 with the next
        # Sums of weights stay what they are.
        assert ev.table.true_positive + ev.table.false_positive == pytest.approx(4 * unit)

    def test_more_than_there_are(self):
        given = {"sample_weight": self.weight, "prior": 0.0}
        ev = evaluate(self.y, self.score, level=None, threshold=1.0, **given)
        with pytest.raises(InputError, match=r"at most 3\.2, the effective number .* use share="):
            ev.top(4)
        with pytest.raises(InputError, match=r"between 1 and 3\.2"):
            ev.threshold_for(top=4)
        with pytest.raises(InputError, match="top is a number of rows"):
            ev.threshold_for(top=0.5)
        equal = evaluate(self.y, self.score, sample_weight=np.full(4, 0.1), prior=0.0, level=None)
        assert equal.top(4)["recall"].value == pytest.approx(1)


def test_the_warning_of_an_abrupt_end_counts_rows():
    rng = np.random.default_rng(0)
    positive = rng.random(4000) < 0.3
    score = rng.normal(size=4000) + 1.5 * positive
    y = (positive & (score > 1) & (rng.random(4000) < 0.6)).astype(int)
    texts = {
        abrupt_labeled_scores(Counts.from_arrays(y, score, sample_weight=weight))
        for weight in (None, np.full(4000, 1 / 4000), np.full(4000, 1000.0))
    }
    assert len(texts) == 1
    assert "unlabeled rows score lower" in texts.pop()
