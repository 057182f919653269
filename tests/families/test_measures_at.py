"""Measures with a number in their names, against the functions that take the number."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from pueval import InputError, compare, evaluate, evaluate_by, metrics
from pueval.core.measures import AREAS, MEASURES, unknown_measure_error
from pueval.errors import UnknownMeasureError
from pueval.families.measures_at import measure_at
from pueval.scoring import make_scorer
from tests.comparison.test_families import probabilities

Y, SCORES, _ = probabilities(0, n=900)
SAME = {
    "precision_at_50": ("precision_at_k", {"k": 50}),
    "recall_at_5%": ("recall_at_k", {"share": 0.05}),
    "f1_at_50": ("f_at_k", {"k": 50}),
    "f0.5_at_10%": ("f_at_k", {"share": 0.1, "beta": 0.5}),
    "average_precision_at_50": ("average_precision_at_k", {"k": 50}),
    "ndcg_at_50": ("ndcg_score", {"k": 50}),
    "enrichment_factor_at_2.5%": ("enrichment_factor", {"share": 0.025}),
    "net_benefit_at_0.2": ("net_benefit", {"threshold": 0.2}),
    "net_benefit_at_30%": ("net_benefit", {"threshold": 0.3}),
}


class Identity(ClassifierMixin, BaseEstimator):
    """The only feature is the probability."""

    classes_ = np.array([False, True])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


@pytest.fixture(scope="module")
def ev():
    return evaluate(Y, SCORES["a"], prior=0.25)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("name", [*SAME])
@pytest.mark.parametrize("given", [{"prior": 0.25}, {"prior": 0.2, "purity": 0.9}])
def test_values_are_those_of_functions(name, given):
    function, arguments = SAME[name]
    value = getattr(metrics, function)(Y, SCORES["a"], **given, **arguments)
    estimate = evaluate(Y, SCORES["a"], **given, level=None)[name]
    assert estimate.value == pytest.approx(value, abs=1e-12)
    naive = getattr(metrics, function)(Y, SCORES["a"], prior=0, **arguments)
    assert estimate.naive == pytest.approx(naive, abs=1e-12)

    scorer = make_scorer(name, response_method="predict_proba", **given)
    score = scorer(Identity(), SCORES["a"][:, None], Y)
    assert score == pytest.approx(estimate.unclipped, abs=1e-12)
    assert pickle.loads(pickle.dumps(scorer))._kwargs == scorer._kwargs  # noqa: S301


def test_evaluate_has_one_estimate_of_each(ev):
    top = ev.top(50)
    for name in ("precision", "recall", "f1", "ndcg", "average_precision", "enrichment_factor"):
        named, of_top = ev[f"{name}_at_50"], top[name]
        for end in ("value", "naive", "unclipped"):
            assert getattr(named, end) == pytest.approx(getattr(of_top, end), abs=1e-12)
        assert named.low == pytest.approx(of_top.low, abs=0.02)
        assert named.high == pytest.approx(of_top.high, abs=0.02)
    assert ev["net_benefit_at_0.2"] == ev.net_benefit(0.2).model
    assert ev["precision_at_50"] is ev["precision_at_50"]
    family = ev.family("precision_at_50", "net_benefit_at_0.2", "expected_calibration_error")
    lines = str(family).splitlines()
    assert lines[2].startswith("Precision, first 50 rows")
    assert lines[3].startswith("Net benefit at a risk of 0.2")
    assert lines[4].startswith("Expected calibration error")


def test_names_that_are_no_such_measures(ev):
    for name in ("precision_at_", "precision", "f0_at_10", "lift_at_10", "at_10", "f1_at_-3"):
        assert measure_at(name) is None
    assert "precision_at_0.5" not in ev
    assert "precision_at_50" in ev
    with pytest.raises(UnknownMeasureError, match="write it in percent: recall_at_50%"):
        ev["recall_at_0.5"]
    with pytest.raises(UnknownMeasureError, match="recall_at_200%: the share must be above 0%"):
        ev["recall_at_200%"]
    with pytest.raises(InputError, match="precision_at_901: k must be at most 900"):
        ev["precision_at_901"]
    with pytest.raises(UnknownMeasureError, match="write it in percent: recall_at_50%"):
        make_scorer("recall_at_0.5", prior=0.2)


# ------------------------------------------------------------------ comparison


def test_difference_of_net_benefits_is_that_of_thresholds():
    """Net benefit at a threshold, from the covariances of rates there."""
    y, scores, _ = probabilities(3, n=1500)
    comparison = compare(y, scores, prior=0.2, threshold=0.3)
    [found] = comparison.differences("net_benefit_at_0.3")
    [tpr], [fpr] = (comparison.differences(name) for name in ("recall", "false_positive_rate"))
    share = comparison["a"].prevalence
    assert found.value == pytest.approx(
        share * tpr.value - (1 - share) * fpr.value * 0.3 / 0.7, abs=1e-12
    )
    # Accuracy = π·tpr + (1 − π)·(1 − fpr) weights both alike, as a risk threshold of .5 does.
    halves = compare(y, scores, prior=0.2, threshold=0.5)
    [benefit] = halves.differences("net_benefit_at_0.5")
    [accuracy] = halves.differences("accuracy")
    assert benefit.value == pytest.approx(accuracy.value, abs=1e-12)
    assert benefit.standard_error == pytest.approx(accuracy.standard_error, rel=0.01)


def rows_drawn_again(y, scores, names, n=200, **options):
    """Return standard deviations of differences over rows drawn again."""
    rng, values = np.random.default_rng(1), []
    for _ in range(n):
        rows = rng.integers(0, y.size, y.size)
        drawn = compare(
            y[rows], {name: s[rows] for name, s in scores.items()}, level=None, **options
        )
        values.append([np.subtract(*drawn.values(name).values()) for name in names])
    return np.std(values, axis=0)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_errors_of_differences_are_those_of_rows_drawn_again():
    y, scores, _ = probabilities(4, n=2000)
    scores["b"] = scores["b"] ** 1.5  # far from calibrated, so that distances are nearly linear
    names = ("expected_calibration_error", "net_benefit_at_0.4", "precision_at_20%")
    options = {"prevalence": 0.4, "threshold": 0.5}
    comparison = compare(y, scores, **options)
    slow = rows_drawn_again(y, scores, names, **options)
    errors = [comparison.differences(name)[0].standard_error for name in names]
    ratio = np.array(errors) / slow
    # Calibration errors may be too large by noise, which their variances allow for.
    assert 0.9 < ratio[0] < 2, ratio
    assert np.all((ratio[1:] > 0.75) & (ratio[1:] < 1.35)), ratio


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_size_and_coverage_of_calibration_errors():
    """Models that are equally wrong, and two of which only one is calibrated."""
    true_error = calibration_error_of_power(1.5)
    for power, truth in ((1.0, 0.0), (1.5, true_error)):
        rejected, held, n = 0, 0, 150
        for seed in range(n):
            rng = np.random.default_rng(seed)
            p = rng.beta(2, 4, size=4000)
            positive = rng.random(4000) < p
            labeled = positive & (rng.random(4000) < 0.4)
            # Two models with the same error: each sees other noise that calibration allows.
            other = p if power != 1 else np.where(rng.random(4000) < 0.5, p, 1 / 3)
            scores = {"a": other**power, "b": p}
            comparison = compare(labeled, scores, prevalence=1 / 3, threshold=0.5)
            [found] = comparison.differences("expected_calibration_error")
            rejected += found.pvalue < 0.05
            held += found.low <= truth <= found.high
        assert held >= 0.91 * n, (power, held)
        if power == 1:
            assert rejected <= 0.08 * n


def calibration_error_of_power(power):
    """Return the error in ten bins of p to a power, if p is calibrated and Beta(2, 4)."""
    p = np.sort(np.random.default_rng(0).beta(2, 4, size=2_000_000))
    bins = np.array_split(p, 10)
    return np.mean([abs(np.mean(part**power) - part.mean()) for part in bins])


# ------------------------------------------------------------------ groups


def test_groups():
    by = np.where(np.arange(Y.size) < 60, "few", "many")
    groups = evaluate_by(Y, SCORES["a"], by, prior=0.25, threshold=0.5)
    alone = evaluate(Y[by == "many"], SCORES["a"][by == "many"], prior=0.25, threshold=0.5)
    for name in ("precision_at_100", "net_benefit_at_0.2", "expected_calibration_error"):
        assert groups[name].value[1] == pytest.approx(alone[name].value, abs=0.005), name
    # There are no first 100 of 60 rows.
    assert np.isnan(groups["precision_at_100"].value[0])
    assert not np.isnan(groups["recall_at_5%"].value[1])


@pytest.mark.parametrize("measure", ["brier_score_loss", "net_benefit_at_0.2", "calibration_slope"])
def test_difference_of_a_group_with_nearly_all_rows(measure):
    """Its difference from all rows is about minus the other group's, times the other's share."""
    rng = np.random.default_rng(0)
    n = 20_000
    score = rng.beta(1, 3, n)
    labeled = (rng.random(n) < score) & (rng.random(n) < 0.3)
    by = np.where(rng.random(n) < 0.04, "few", "many")
    groups = evaluate_by(labeled, score**1.3, by, prevalence=0.25)
    few, many = groups.differences(measure).frame().to_dict("index").values()
    share = labeled[by == "few"].sum() / labeled.sum()
    expected = few["standard_error"] * share
    assert 0.6 * expected < many["standard_error"] < 2.5 * expected
    assert many["pvalue"] > few["pvalue"] / 5


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("auc_roc", "roc_auc"),
        ("auc_pr", "average_precision"),
        ("acc", "accuracy"),
        ("f_score", "f1"),
        ("F1-score", "f1"),
        ("f2_score", "f2"),
        ("f0", None),
    ],
)
def test_names_of_other_libraries_suggest_the_same_measure(name, meant):
    """The most similar name would be another measure, such as auc_ratio for auc_roc."""
    message = str(unknown_measure_error(name, [*MEASURES, *AREAS, "auc_ratio", "ndcg_score"]))
    assert (f"Did you mean {meant!r}" in message) == (meant is not None)
