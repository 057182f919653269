"""Differences of measures of families, against jackknife and resampled rows."""

from __future__ import annotations

import numpy as np
import pytest

from pueval import InputError, compare, evaluate
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares
from pueval.counts.counts import Counts
from pueval.errors import UnknownMeasureError
from pueval.families.field_measures import FIELD_MEASURES, ORDERING_MEASURES, field_value
from pueval.metrics import f_pb
from tests.comparison.test_compare_clusters import two_models


def probabilities(seed, n=600, prevalence=0.4):
    """Labels and probabilities of two models that share a part of their errors."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prevalence
    common = rng.normal(size=n)
    scores = {
        name: 1 / (1 + np.exp(1 - 1.5 * positive - common / 2 - rng.normal(size=n)))
        for name in ("a", "b")
    }
    return positive & (rng.random(n) < 0.4), scores, positive


def jackknife_error(y, scores, measure, target):
    """Delete each row in turn; the number of rows of each kind is fixed."""
    mixture, variance = Mixture(0.25), 0.0
    for kind in (True, False):
        rows = np.flatnonzero(y == kind)
        differences = []
        for row in rows:
            values = [
                field_value(
                    measure,
                    Counts.from_arrays(np.delete(y, row), np.delete(score, row)),
                    mixture,
                    target,
                )
                for score in scores.values()
            ]
            differences.append(values[0] - values[1])
        size = rows.size
        variance += (size - 1) / size * np.sum((differences - np.mean(differences)) ** 2)
    return np.sqrt(variance)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("measure", ["brier_score_loss", "log_loss", "d2_brier_score"])
def test_errors_are_those_of_the_jackknife(measure):
    # With a fixed prevalence these measures are linear in the means, so the jackknife is exact.
    y, scores, _ = probabilities(0, n=120)
    comparison = compare(y, scores, prior=0.25, target="unlabeled")
    [difference] = comparison.differences(measure)
    slow = jackknife_error(y, scores, measure, "unlabeled")
    assert difference.standard_error == pytest.approx(slow, rel=1e-6)
    values = comparison.values(measure)
    for name, score in scores.items():
        alone = evaluate(y, score, prior=0.25, target="unlabeled", level=None)[measure]
        assert values[name] == pytest.approx(alone.unclipped, abs=1e-12)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_error_of_one_model_is_about_that_of_evaluate():
    y, scores, _ = probabilities(1, n=4000)
    constant = np.full(y.size, 0.3)  # its Brier score varies with the prevalence alone
    comparison = compare(y, {"a": scores["a"], "c": constant}, prevalence=0.4)
    covariance = comparison._paired("brier_score_loss").covariance
    error = comparison["a"]["brier_score_loss"].standard_error
    assert np.sqrt(covariance[0, 0]) == pytest.approx(error, rel=0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("measure", ["brier_score_loss", "log_loss"])
def test_size_of_the_test(measure):
    rejected = 0
    for seed in range(200):
        y, scores, _ = probabilities(seed, n=1500)
        [difference] = compare(y, scores, prevalence=0.4, threshold=0.5).differences(measure)
        rejected += difference.pvalue < 0.05
    assert 2 <= rejected <= 20  # 10 expected; each end has a probability below 0.002


@pytest.mark.thorough
def test_errors_of_top_measures_are_standard_deviations():
    names = ("bedroc_score", "ndcg_score", "partial_roc_auc", "enrichment_factor")
    values, errors = [], []
    for seed in range(80):
        y, scores, _ = probabilities(seed, n=1500)
        comparison = compare(y, scores, prevalence=0.4, threshold=0.5)
        differences = [comparison.differences(name)[0] for name in names]
        values.append([difference.value for difference in differences])
        errors.append([difference.standard_error for difference in differences])
    ratio = np.mean(errors, axis=0) / np.std(values, axis=0)
    # The standard deviation of 80 values has an error of 8%.
    assert np.all((ratio > 0.78) & (ratio < 1.25)), ratio


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("k", [20, 100])
def test_few_first_rows_of_many_against_rows_that_are_exchanged(k):
    """Swap the ranks by which two models place a row, in half of the rows, and count again."""
    rng = np.random.default_rng(4)
    positive = rng.random(100_000) < 0.05
    common = rng.normal(size=positive.size) + 2 * positive
    scores = {name: common + rng.normal(size=positive.size) for name in "ab"}
    labeled = positive & (rng.random(positive.size) < 0.4)
    [difference] = compare(labeled, scores, prevalence=0.05).differences(f"precision_at_{k}")
    ranks = [np.argsort(np.argsort(-score)) for score in scores.values()]
    candidates = np.flatnonzero(np.min(ranks, axis=0) < 10 * k)
    first, second, y = ranks[0][candidates], ranks[1][candidates], labeled[candidates]
    found = []
    for _ in range(500):
        swap = rng.random(candidates.size) < 0.5
        orders = (np.argsort(np.where(swap, *pair)) for pair in [(first, second), (second, first)])
        one, other = (y[order[:k]].sum() for order in orders)
        found.append(one - other)
    precision_of_one = 0.05 * positive.size / labeled.sum() / k
    expected = precision_of_one * np.sqrt(np.mean(np.square(found)))
    assert difference.standard_error == pytest.approx(expected, rel=0.12)


@pytest.mark.filterwarnings("ignore:.*were clipped:pueval.errors.AssumptionWarning")
def test_first_rows_that_look_perfect_vary():
    rng = np.random.default_rng(4)
    positive = rng.random(20_000) < 0.05
    common = rng.normal(size=positive.size) + 6 * positive
    scores = {name: common + rng.normal(size=positive.size) / 2 for name in "ab"}
    labeled = positive & (rng.random(positive.size) < 0.5)
    comparison = compare(labeled, scores, prevalence=0.05, threshold=3.0)
    [difference] = comparison.differences("average_precision_at_100")
    assert difference.value == 0
    assert difference.pvalue == 1
    # As wide as the interval of precision, which is not clipped.
    [precision] = comparison.differences("precision_at_100")
    assert difference.high - difference.low >= 0.99 * (precision.high - precision.low)
    assert difference.high > 0.1


@pytest.mark.parametrize("measure", ["log_loss", "bedroc_score"])
def test_weights_are_repeated_rows(measure):
    y, scores, _ = probabilities(2)
    weight = np.random.default_rng(0).integers(0, 4, size=y.size)
    weighted = compare(y, scores, prior=0.2, sample_weight=weight).differences(measure)[0]
    rows = np.repeat(np.arange(y.size), weight)
    repeated = {name: score[rows] for name, score in scores.items()}
    plain = compare(y[rows], repeated, prior=0.2).differences(measure)[0]
    assert weighted.value == pytest.approx(plain.value, abs=1e-12)
    # Exchanges assign other rows to groups.
    tolerance = 1e-9 if measure == "log_loss" else 0.2
    assert weighted.standard_error == pytest.approx(plain.standard_error, rel=tolerance)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_clusters_are_drawn_together():
    y, scores, cluster = two_models(0, n_clusters=150, constant=True)
    scores = {name: 1 / (1 + np.exp(-score)) for name, score in scores.items()}
    options = {"prior": 0.2, "threshold": 0.5}
    measure = "brier_score_loss"
    [difference] = compare(y, scores, cluster=cluster, **options).differences(measure)
    [plain] = compare(y, scores, **options).differences(measure)
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(cluster == k) for k in range(cluster.max() + 1)]
    values = []
    for _ in range(200):
        drawn = np.concatenate([rows[k] for k in rng.integers(0, len(rows), len(rows))])
        of_models = {name: score[drawn] for name, score in scores.items()}
        values.append(
            np.subtract(
                *compare(y[drawn], of_models, level=None, **options).values(measure).values()
            )
        )
    assert difference.standard_error == pytest.approx(np.std(values), rel=0.2)
    assert difference.standard_error > 1.2 * plain.standard_error


def test_uncertain_priors_widen_intervals():
    y, scores, _ = probabilities(3, n=3000)
    exact, given, estimated = (
        compare(y, scores, **options).differences("brier_score_loss")[0]
        for options in ({"prior": 0.25}, {"prior": (0.2, 0.3)}, {})
    )
    assert given.low < exact.low
    assert given.high > exact.high
    assert given.pvalue >= exact.pvalue
    assert estimated.high - estimated.low > exact.high - exact.low
    assert np.isnan(compare(y, scores, prior=0.25, level=None).differences("log_loss")[0].low)


def test_audits():
    y, scores, positive = probabilities(4, n=4000)
    checked = np.random.default_rng(9).random(y.size) < 0.1
    audited = np.where(checked, positive.astype(float), np.nan)
    comparison = compare(y, scores, audited=audited)
    measures = ("brier_score_loss", "bedroc_score", "f_pb", "f2", "auc_ratio", "boyce_index")
    for measure in measures:
        [difference] = comparison.differences(measure)
        values = [comparison[name][measure] for name in scores]
        assert difference.value == pytest.approx(values[0].unclipped - values[1].unclipped)
        apart = np.hypot(values[0].standard_error, values[1].standard_error)
        assert 0.1 * apart < difference.standard_error < 1.2 * apart, measure


def test_rankings_and_refusals():
    y, scores, _ = probabilities(5)
    comparison = compare(y, scores, prior=0.25)
    order = comparison.ranking("log_loss").order("log_loss")
    assert [*order] == sorted(scores, key=comparison.values("log_loss").get)
    assert sum(comparison.best_probability("log_loss").values()) == pytest.approx(1)
    with pytest.raises(InputError, match="order_by_prior has no log_loss"):
        comparison.order_by_prior("log_loss")
    with pytest.raises(UnknownMeasureError, match="cannot order models"):
        comparison.differences("calibration_in_the_large")
    outside = compare(y, {"a": scores["a"], "b": 5 * scores["b"]}, prior=0.25)
    with pytest.raises(InputError, match="model 'b': brier_score_loss needs probabilities"):
        outside.differences("brier_score_loss")


def test_every_measure_compares_models():
    y, scores, _ = probabilities(6)
    comparison = compare(y, scores, prior=0.25)
    for name in (*ORDERING_MEASURES, "f_pb"):
        [difference] = comparison.differences(name)
        assert difference.low < difference.value < difference.high, name


def jackknife_of_halves(y, scores, measure, target, seed, n_draws=300):
    """Standard deviation of the difference if rows have weights 0.5 or 1.5, doubled."""
    rng = np.random.default_rng(seed)
    formula = FIELD_MEASURES[measure]
    differences = []
    for _ in range(n_draws):
        weight = np.empty(y.size)
        for kind in (True, False):
            rows = rng.permutation(np.flatnonzero(y == kind))
            weight[rows] = np.where(np.arange(rows.size) % 2, 0.5, 1.5)
        values = []
        for score in scores.values():
            counts = Counts.from_arrays(y, score, sample_weight=weight)
            at = formula.thresholds(Counts.from_arrays(y, score), target)
            shares = Shares.of(counts, counts.at(at))
            values.append(formula(Counts.from_arrays(y, score), target, shares)[0])
        differences.append(values[0] - values[1])
    return 2 * np.std(differences)


@pytest.mark.parametrize("measure", ["boyce_index", "smoothed_boyce_index"])
def test_errors_of_boyce_indices_are_those_of_half_samples(measure):
    y, scores, _ = probabilities(7, n=800)
    [difference] = compare(y, scores, prior=0.25).differences(measure)
    slow = jackknife_of_halves(y, scores, measure, "population", 0)
    assert difference.standard_error == pytest.approx(slow, rel=0.3)
    [other] = compare(y, scores, prior=0.1).differences(measure)
    assert other == difference  # the prior does not matter


def test_f_pb_is_compared_at_the_thresholds_of_models():
    y, scores, _ = probabilities(8)
    comparison = compare(y, scores, prior=0.25, threshold={"a": 0.4, "b": 0.6})
    for name, threshold in (("a", 0.4), ("b", 0.6)):
        slow = f_pb(y, scores[name] >= threshold)
        assert comparison.values("f_pb")[name] == pytest.approx(slow, abs=1e-12)
        assert comparison[name]["f_pb"].unclipped == pytest.approx(slow, abs=1e-12)
    order = comparison.ranking("minimal_predicted_area")
    values = comparison.values("minimal_predicted_area")
    assert [*order.order("minimal_predicted_area")] == sorted(values, key=values.get)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_a_constant_model_has_no_boyce_index():
    y, scores, _ = probabilities(9)
    comparison = compare(y, scores | {"c": np.zeros(y.size)}, prior=0.25)
    by_pair = {(d.first, d.second): d for d in comparison.differences("boyce_index")}
    assert np.isfinite(by_pair["a", "b"].pvalue)
    assert np.isnan(by_pair["a", "c"].value)
    assert np.isnan(by_pair["a", "c"].pvalue)
