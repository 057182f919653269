"""Paired comparison: covariances, differences, probabilities, and what compare refuses."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import multivariate_normal, norm

from pueval import (
    AssumptionWarning,
    BinnedScoresWarning,
    Counts,
    InputError,
    compare,
    evaluate,
)
from pueval.comparison import area_covariances
from pueval.comparison.area_covariances import influence_by_score
from pueval.comparison.best_probability import best_probability
from pueval.comparison.comparison import Comparison
from pueval.comparison.paired_estimates import BEST_VALUES, PairedEstimates
from pueval.core.average_precision import average_precision
from pueval.core.curves import naive_auc
from pueval.core.measures import AREAS, MEASURES
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps, monotone_rates
from pueval.uncertainty.influence import measure_slopes, share_slopes
from tests.conftest import models, with_negatives


def delong_by_pairs(labeled, *others):
    """Covariances of AUCs from all pairs of rows, with one row more of each kind and without.

    There is one line of scores per model; ``others`` are samples of their own, weighed by size.
    """
    total = sum(sample.shape[1] for sample in others)
    kernels = [
        (labeled[:, :, None] > sample[:, None]) + 0.5 * (labeled[:, :, None] == sample[:, None])
        for sample in others
    ]
    over = np.concatenate(kernels, axis=2).mean(axis=2)
    beaten = [kernel.mean(axis=1) for kernel in kernels]
    # One row more of each kind, placed anywhere, and by two models as alike as other rows are.
    alike = np.mean([np.corrcoef(each) for each in beaten], axis=0)
    middle = np.outer(over.mean(axis=1) - 0.5, over.mean(axis=1) - 0.5)

    def variances_of_mean(placements):
        size = placements.shape[1]
        spread = size * np.cov(placements, ddof=0) + alike / 12 + middle * size / (size + 1)
        return np.array([spread / (size + 1), np.cov(placements)]) / size

    covariances = variances_of_mean(over)
    for each in beaten:
        covariances += (each.shape[1] / total) ** 2 * variances_of_mean(each)
    return covariances


# ---------------------------------------------------------------- covariances


@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("negatives", [False, True])
def test_auc_against_all_pairs(rng, decimals, negatives):
    y, scores, positive = models(rng, 900, decimals=decimals)
    if negatives:
        y = with_negatives(y, positive, rng)
    found = compare(y, scores, prior=0.2, purity=0.9, negative_label=2)
    table = np.array([*scores.values()])
    samples = [table[:, y == kind] for kind in (0, 2) if (y == kind).any()]
    with_row_more, expected = delong_by_pairs(table[:, y == 1], *samples)
    share = 0.2 * (y == 0).sum() / (y != 1).sum()
    for (i, j), one in zip([(0, 1), (0, 2), (1, 2)], found.differences("roc_auc"), strict=True):
        variance = expected[i, i] + expected[j, j] - 2 * expected[i, j]
        assert one.standard_error == pytest.approx(math.sqrt(variance) / (0.9 - share), rel=1e-9)
        assert one.value == pytest.approx(
            found[one.first]["roc_auc"].value - found[one.second]["roc_auc"].value
        )
        z = one.value / one.standard_error
        assert one.pvalue == pytest.approx(2 * norm.sf(abs(z)))
        assert one.low == pytest.approx(one.value - 1.959963985 * one.standard_error)
        assert one.high == pytest.approx(one.value + 1.959963985 * one.standard_error)
    errors = [found[name]["roc_auc"].standard_error for name in found]
    assert errors == pytest.approx(np.sqrt(np.diag(with_row_more)) / (0.9 - share), rel=1e-9)


def test_perfect_rankings_need_not_be_equally_good(rng):
    """Two perfect rankings do not differ, but another sample might show that they do."""
    y = np.repeat([1, 0], [8, 40])
    scores = {name: 9.0 * y + rng.normal(size=48) for name in "ab"}
    found = compare(y, scores | {"same as a": 2 * scores["a"]}, prior=0.0)
    for name in ("roc_auc", "average_precision", *BEST_VALUES):
        different, same, _ = found.differences(name)
        assert (different.value, different.pvalue) == (0, 1), name
        assert 0.001 < different.high == -different.low < 0.5, name
        assert (same.value, same.standard_error, same.low, same.high) == (0, 0, 0, 0), name


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize(("prior", "purity"), [(0.25, 1.0), (0.2, 0.85)])
@pytest.mark.parametrize("decimals", [1, 9])
def test_influence_is_what_a_heavier_row_does(rng, target, prior, purity, decimals):
    """The influence of a row is the slope of the estimate in the weight of the row.

    That on the average precision is half the slope of the area itself, half that of legal rates
    that are free to become illegal.
    """
    y, scores, positive = models(rng, 400, decimals=decimals)
    y = with_negatives(y, positive, rng)
    score, mixture, step = scores["a"], Mixture(prior, purity), 1e-6

    def corrected(weight):
        counts = Counts.from_arrays(y, score, sample_weight=weight, negative_label=2)
        return counts, correct_steps(counts, counts._roc_corners(), mixture, target)

    start = corrected(np.ones(y.size))[1]
    start.tpr[-1] = 1.0  # all rows; but for rounding
    order = np.argsort(np.clip(start.tpr, 0, 1), kind="stable")
    legal = monotone_rates(start)

    def estimates(weight):
        counts, moved = corrected(weight)
        tpr = legal.tpr + (moved.tpr - start.tpr)[order]
        fpr = legal.fpr + (moved.fpr - start.fpr)[order]
        predicted = legal.prevalence * tpr + (1 - legal.prevalence) * fpr
        with np.errstate(invalid="ignore"):
            precision = np.where(legal.predicted > 1e-12, legal.prevalence * tpr / predicted, 0)
        free = np.sum(np.diff(tpr, prepend=0) * precision)
        area = (free + average_precision(moved)) / 2
        return np.array([naive_auc(counts, counts._roc_corners()), area])

    functions = influence_by_score(Counts.from_arrays(y, score, negative_label=2), mixture, target)
    for kind, value in enumerate((1, 0, 2)):
        rows = np.flatnonzero(y == value)
        found = functions(kind, score[rows])
        assert found.mean(axis=1) == pytest.approx([0, 0], abs=1e-12)
        for k in rng.choice(rows.size, 12, replace=False):
            ends = []
            for change in (step, -step):
                weight = np.ones(y.size)
                weight[rows[k]] += change * rows.size
                weight[rows] /= 1 + change
                ends.append(estimates(weight))
            slope = (ends[0] - ends[1]) / (2 * step)
            assert found[:, k] == pytest.approx(slope, rel=2e-4, abs=2e-4)


def test_few_knots_are_enough(rng, monkeypatch):
    y, scores, _ = models(rng, 60_000, noise=(0.5, 0.8))
    pairs = []
    for knots in (10**9, 8192):
        monkeypatch.setattr(area_covariances, "KNOTS", knots)
        found = compare(y, scores, prior=0.2)
        pairs.append([*found.differences("roc_auc"), *found.differences("average_precision")])
    for exact, fast in zip(*pairs, strict=True):
        # Legal rates are the lowest of fewer thresholds, which the average precision notices.
        near = 1e-3 if exact.measure == "roc_auc" else 3e-3
        assert fast.standard_error == pytest.approx(exact.standard_error, rel=near)


@pytest.mark.parametrize("name", [*MEASURES])
@pytest.mark.parametrize("mixture", [Mixture(0.2), Mixture(0.2, 0.9)])
def test_slopes_of_measures(rng, name, mixture):
    """Against differences of the measure itself, as one share changes."""
    y, scores, positive = models(rng)
    y = with_negatives(y, positive, rng)
    counts = Counts.from_arrays(y, scores["a"], negative_label=2)
    measure = MEASURES[name]
    here = correct_steps(counts, counts.at([0.4, 1.0]), mixture)
    found = measure_slopes(measure, here, share_slopes(counts, mixture, "population"))
    samples = counts._samples
    for kind, sample in enumerate(samples):
        moved = []
        for sign in (-1, 1):
            steps = counts.at([0.4, 1.0])
            columns = [steps.labeled, steps.unlabeled, steps.negative]
            columns[kind] = columns[kind] + sign * 1e-4 * sample.total
            other = type(steps)(steps.threshold, *columns, steps.tied)
            moved.append(measure(correct_steps(counts, other, mixture)))
        assert found[kind] == pytest.approx((moved[1] - moved[0]) / 2e-4, rel=1e-4, abs=1e-6)


def test_weights_that_repeat_rows(rng):
    y, scores, _ = models(rng, 500, decimals=1)
    weight = rng.integers(0, 4, y.size)
    repeated = {name: np.repeat(score, weight) for name, score in scores.items()}
    by_weight = compare(y, scores, sample_weight=weight, prior=0.2, threshold=1.0)
    by_rows = compare(np.repeat(y, weight), repeated, prior=0.2, threshold=1.0)
    for one, other in zip(by_weight.differences(), by_rows.differences(), strict=True):
        if one.measure in {"average_precision", *BEST_VALUES}:
            # Repeated rows fall into other groups, so errors agree up to the random groups.
            assert one.value == pytest.approx(other.value)
            assert one.standard_error == pytest.approx(other.standard_error, rel=0.25)
            continue
        assert [*vars(one).values()][3:] == pytest.approx([*vars(other).values()][3:], nan_ok=True)


# ---------------------------------------------------------------- what is built on them


def test_each_model_is_evaluated_as_alone(rng):
    y, scores, _ = models(rng)
    given = {"prior": 0.2, "purity": 0.95}
    found, at_one = compare(y, scores, **given), compare(y, scores, threshold=1.0, **given)
    assert len(found) == 3
    assert "a" in found
    for name, score in scores.items():
        alone = evaluate(y, score, **given)
        assert found[name].threshold == alone.threshold
        for measure in alone:
            one, other = found[name][measure], alone[measure]
            assert (one.value, one.naive) == pytest.approx((other.value, other.naive))
            # At the threshold, which was chosen, limits come from the same draws.
            tolerance = (other.high - other.low) * (0.12 if measure in AREAS else 1e-9)
            assert one.low == pytest.approx(other.low, abs=tolerance), measure
            assert one.high == pytest.approx(other.high, abs=tolerance), measure
        fixed = evaluate(y, score, threshold=1.0, **given)
        for measure in MEASURES:
            one, other = at_one[name][measure], fixed[measure]
            width = other.high - other.low
            tolerance = 0.4 if math.isinf(MEASURES[measure].high) else 0.12
            assert one.low == pytest.approx(other.low, abs=tolerance * width), measure
            assert one.high == pytest.approx(other.high, abs=tolerance * width), measure
        best, expected = found[name].best("f1"), alone.best("f1")
        assert (best.value, best.low, best.high) == (expected.value, expected.low, expected.high)
        assert found.values("best_f1")[name] == pytest.approx(expected.value)


def test_says_that_thresholds_differ_by_chance(rng):
    y, scores, _ = models(rng, 600)
    comparisons = compare(y, scores, prior=0.2), compare(y, scores, prior=0.2, threshold=1.0)
    own, one = (" ".join(repr(each).split()) for each in comparisons)  # lines are wrapped
    assert "Do not rank models by them" in own
    assert "treating prior and purity as exact" in own
    assert "Do not rank models" not in one


def test_limits_of_models_are_found_when_asked_for(rng):
    y, scores, _ = models(rng, 600)
    found = compare(y, scores, prior=0.2)
    found.differences()
    assert not any("draws" in vars(ev._resamples) for ev in found.evaluations.values())
    assert found["a"]["recall"].low < found["a"]["recall"].value
    assert "draws" in vars(found["a"]._resamples)


def test_warnings_name_the_model(rng):
    y, scores, _ = models(rng)
    given = {"prior": 0.2, "purity": 0.95, "target": "unlabeled"}
    # The observed best is often a chance peak, at the top of the ranking.
    best = {
        name: evaluate(y, score, **given, level=None).best("matthews_corrcoef").threshold
        for name, score in scores.items()
    }
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = compare(y, scores, threshold=best, **given)
    assert [str(one.message) for one in said] == [*found.warnings]
    assert {one.category for one in said} == {AssumptionWarning}
    assert found.warnings[0].startswith("b: corrected values outside their range")
    assert f"! {found.warnings[0]}" in repr(found)


def test_thresholds(rng):
    y, scores, _ = models(rng, 600)
    assert {
        ev.threshold for ev in compare(y, scores, prior=0.2, threshold=1).evaluations.values()
    } == {1.0}
    each = {"a": 0.5, "b": 0.7, "c": 0.9}
    found = compare(y, scores, prior=0.2, threshold=each)
    assert {name: ev.threshold for name, ev in found.evaluations.items()} == each
    own = compare(y, scores, prior=0.2)
    for name in own:
        assert own[name].threshold == evaluate(y, scores[name], prior=0.2, level=None).threshold


def test_any_f_measure(rng):
    y, scores, _ = models(rng)
    found = compare(y, scores, prior=0.2)
    [one, *_] = found.differences("f2")
    assert one.value == pytest.approx(found["a"]["f2"].value - found["b"]["f2"].value)
    assert one.standard_error > 0


def test_best_probability_of_two(rng):
    y, scores, _ = models(rng, noise=(0.6, 0.8))
    found = compare(y, scores, prior=0.2)
    for name in ("roc_auc", "false_positive_rate"):
        [one] = found.differences(name)
        expected = norm.cdf(one.value / one.standard_error)
        chance = found.best_probability(name)
        better = "a" if name == "roc_auc" else "b"
        assert chance[better] == pytest.approx(expected)
        assert sum(chance.values()) == pytest.approx(1)


def test_best_probability_of_three():
    covariance = np.array([[1.0, 0.6, 0.2], [0.6, 1.5, 0.1], [0.2, 0.1, 0.8]])
    joint = PairedEstimates(np.array([0.3, 0.0, 0.5]), covariance)
    chance = best_probability("abc", joint, 0.95, 0)
    for k, name in enumerate("abc"):
        # The best is better than both others: two normal numbers above zero.
        gaps = np.array([np.eye(3)[k] - np.eye(3)[j] for j in range(3) if j != k])
        both = multivariate_normal(-gaps @ joint.value, gaps @ covariance @ gaps.T)
        assert chance[name] == pytest.approx(both.cdf(np.zeros(2)), abs=0.01)
    assert best_probability("abc", joint, 0.95, 0) == chance


def test_equal_models(rng):
    """The same order of rows is the same model, on whatever scale."""
    y, scores, _ = models(rng)
    same = {"a": scores["a"], "b": np.exp(scores["a"]), "c": scores["c"]}
    found = compare(y, same, prior=0.2)
    for one in found.differences():
        if (one.first, one.second) == ("a", "b"):
            assert (one.value, one.standard_error, one.pvalue) == (0, 0, 1), one.measure
            assert (one.low, one.high) == (0, 0)
    chance = found.best_probability("roc_auc")
    assert chance["a"] == pytest.approx(chance["b"], abs=1e-9)
    two = compare(y, {"a": scores["a"], "b": -np.exp(-scores["a"])}, prior=0.2)
    assert two.best_probability("f1") == {"a": 0.5, "b": 0.5}


def test_one_prior_for_all(rng):
    y, scores, _ = models(rng, 3000, noise=(2.0, 0.3, 1.0))
    found = compare(y, scores)
    assert found.prior_model == "b"
    assert {ev.mixture for ev in found.evaluations.values()} == {found.mixture}
    alone = evaluate(y, scores["b"], level=None)
    assert found.mixture == alone.mixture
    assert found["a"].prior_estimate is found.prior_estimate
    assert "from the scores of b" in " ".join(repr(found).split())  # lines are wrapped
    # Limits carry the uncertainty of the prior.
    exact = compare(y, scores, prior=found.mixture.prior)
    widths = [c["b"]["precision"].high - c["b"]["precision"].low for c in (found, exact)]
    assert widths[0] > widths[1]
    given = compare(y, scores, prior=found.prior_estimate)
    assert given.prior_model is None
    assert given.mixture == found.mixture


# ---------------------------------------------------------------- as data and text


@pytest.fixture
def comparison(rng):
    y, scores, _ = models(rng)
    return compare(y, scores, prior=0.2)


def test_frames(comparison):
    frame = comparison.frame()
    assert [*frame.index.names] == ["measure", "model"]
    assert frame.loc["f1", "b"]["value"] == comparison["b"]["f1"].value
    assert frame.loc["best_f1", "a"]["low"] == comparison["a"].best("f1").low
    assert len(frame) == 3 * len(comparison.measures)
    pairs = pd.DataFrame(comparison.differences())
    assert [*pairs.columns] == [
        "first", "second", "measure", "value", "low", "high",
        "standard_error", "pvalue", "adjusted_pvalue",
    ]  # fmt: skip


def test_to_dict_is_json(comparison):
    content = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert [*content["models"]] == ["a", "b", "c"]
    assert content["best_probability"]["roc_auc"] == comparison.best_probability("roc_auc")
    assert len(content["differences"]) == 3 * len(comparison.measures)
    assert set(content["order_by_prior"]) == set(comparison.measures)
    assert content["assumptions"]["prior"] == 0.2


def test_text(comparison):
    text = repr(comparison)
    assert text.startswith("Comparison of 3 models on ")
    for part in ("prior 0.2", "Best Matthews correlation", "a − b", "best (probability)", "Holm"):
        assert part in text
    page = comparison._repr_html_()
    assert page.count("<table>") == 2


def test_many_models_show_pairs_with_the_best(rng):
    y, scores, _ = models(rng, 800, noise=(0.5, 0.6, 0.7, 0.8, 0.9))
    found = compare(y, scores, prior=0.2)
    best = found.ranking("roc_auc").order("roc_auc")[0]
    lines = [line for line in repr(found).split("\n") if line.startswith("ROC AUC") and "−" in line]
    assert len(lines) == 4
    assert all(best in line for line in lines)


def test_html_names_are_escaped(rng):
    y, scores, _ = models(rng, 300)
    found = compare(y, {"<b>": scores["a"], "b": scores["b"]}, prior=0.2)
    assert "<b>" not in found._repr_html_()


def test_page_and_picture(comparison, tmp_path):
    comparison.to_html(tmp_path / "page.html")
    assert "average_precision" in (tmp_path / "page.html").read_text(encoding="utf-8")
    import matplotlib as mpl

    mpl.use("Agg")
    display = comparison.plot(measures=("roc_auc", "f1"))
    assert set(display.frame()["model"]) == {"a", "b", "c"}
    mpl.pyplot.close("all")


# ---------------------------------------------------------------- input


def test_frames_and_pairs_as_scores(rng):
    y, scores, _ = models(rng, 300)
    expected = compare(y, scores, prior=0.2).differences()
    for given in (
        pd.DataFrame(scores),
        pl.DataFrame(scores),
        [*scores.items()],
        iter(scores.items()),
    ):
        assert compare(y, given, prior=0.2).differences() == expected


def test_labels_of_any_kind(rng):
    y, scores, positive = models(rng, 300)
    y = with_negatives(y, positive, rng)
    words = np.array(["?", "yes", "no"])[y]
    named = compare(
        words, scores, prior=0.2, pos_label="yes", unlabeled_label="?", negative_label="no"
    )
    assert named.differences() == compare(y, scores, prior=0.2, negative_label=2).differences()


def test_float32_scores_and_thresholds(rng):
    y, scores, _ = models(rng, 400)
    narrow = {name: score.astype(np.float32) for name, score in scores.items()}
    wide = {name: score.astype(np.float64) for name, score in narrow.items()}
    one, other = (compare(y, s, prior=0.2, threshold=0.7) for s in (narrow, wide))
    assert one.differences() == other.differences()


def test_without_limits(rng):
    y, scores, _ = models(rng, 400)
    found = compare(y, scores, prior=0.2, level=None)
    [one, *_] = found.differences("f1")
    assert one.value == pytest.approx(found["a"]["f1"].value - found["b"]["f1"].value)
    assert all(math.isnan(value) for value in (one.low, one.high, one.standard_error, one.pvalue))
    assert found.level is None
    assert "intervals are for" not in repr(found).lower()
    assert json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(InputError, match="needs confidence intervals"):
        found.best_probability("f1")


def test_constant_scores(rng):
    y, scores, _ = models(rng, 400)
    with pytest.warns(AssumptionWarning, match="b: all rows have the same score"):
        found = compare(y, {"a": scores["a"], "b": np.ones(400)}, prior=0.2)
    assert found["b"]["roc_auc"].value == 0.5
    [one] = found.differences("roc_auc")
    assert one.standard_error == pytest.approx(found["a"]["roc_auc"].standard_error, rel=0.02)
    [none] = found.differences("best_matthews_corrcoef")
    assert math.isnan(none.value)
    assert math.isnan(none.pvalue)
    assert found.best_probability("best_matthews_corrcoef")["a"] == 1
    assert repr(found)
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_half_precision_is_said(rng):
    y, scores, _ = models(rng, 4000)
    with pytest.warns(BinnedScoresWarning, match="model 'b': scores are float16, and .*%") as said:
        compare(y, {"a": scores["a"], "b": scores["a"].astype(np.float16)}, prior=0.2, level=None)
    assert len(said) == 1


def test_perfect_models_and_one_labeled_row(rng):
    y = np.repeat([1, 0], [20, 80])
    found = compare(y, {"a": 2.0 * y, "b": rng.normal(size=100)}, prior=0.0)
    assert found.differences("roc_auc")[0].pvalue < 0.01
    assert found.differences("recall")[0].standard_error > 0

    few = compare([1, *[0] * 30], {"a": rng.normal(size=31), "b": rng.normal(size=31)}, prior=0.0)
    assert math.isnan(few.differences("roc_auc")[0].standard_error)
    assert math.isnan(few.differences("roc_auc")[0].pvalue)


def test_every_row_known(rng):
    y, scores, _ = models(rng, 400)
    known = np.where(y == 1, 1, 2)
    found = compare(known, scores, negative_label=2)
    assert found.mixture.prior == 0
    with pytest.raises(InputError, match="no prior that could vary"):
        found.order_by_prior("f1")
    assert json.dumps(found.to_dict(), allow_nan=False)


Y = [1, 1, 0, 0, 0, 0]
A, B = [3.0, 2, 2, 1, 0, -1], [3.0, 1, 2, 1, 1, -1]


@pytest.mark.parametrize(
    ("scores", "given", "message"),
    [
        ({"a": A, "b": B[:5]}, {}, r"got 6 rows in y, but scores for 'b' 5"),
        ({"a": A}, {}, r"at least two models; got one: 'a'\. For one model use evaluate"),
        ({}, {}, r"at least two models; got none"),
        ([("a", A), ("a", B)], {}, r"must be unique; got 'a' more than once"),
        ({1: A, "b": B}, {}, r"must be non-empty strings; got 1 \(int\)"),
        ({"": A, "b": B}, {}, r"must be non-empty strings"),
        (A, {}, r"scores must name the models"),
        (np.array([A, B]), {}, r"scores must name the models.*got ndarray"),
        ("ab", {}, r"scores must name the models.*got str"),
        ({"a": A, "b": [1.0, 2, 3, 4, 5, math.nan]}, {}, r"model 'b': 1 row with a missing score"),
        ({"a": A, "b": [1.0, 2, 3, 4, 5, math.inf]}, {}, r"model 'b': 1 row with an infinite"),
        ({"a": A, "b": ["x"] * 6}, {}, r"model 'b': score must hold real numbers"),
        ({"a": A, "b": np.ones((6, 2))}, {}, r"model 'b': score must have one dimension"),
        ({"a": A, "b": B}, {"prior": (0.2, 0.1)}, r"two numbers, the lower one first"),
        ({"a": A, "b": B}, {"purity": (1.0, 0.9)}, r"purity as an interval must be two numbers"),
        ({"a": A, "b": B}, {"prior": None, "prevalence": [0.5, 0.4]}, r"prevalence as an interval"),
        ({"a": A, "b": B}, {"prior": 1.2}, r"prior must be a number in \[0, 1\)"),
        ({"a": A, "b": B}, {"level": 95}, r"level must be a number in \(0, 1\)"),
        ({"a": A, "b": B}, {"seed": -1}, r"seed must be a whole number"),
        ({"a": A, "b": B}, {"target": "all"}, r"target must be"),
        ({"a": A, "b": B}, {"threshold": {"a": 1}}, r"threshold has no value for 'b'"),
        ({"a": A, "bb": B}, {"threshold": {"a": 1, "b": 1}}, r"no model 'b'\. Did you mean 'bb'"),
        ({"a": A, "b": B}, {"threshold": math.nan}, r"threshold must be a number"),
        (
            {"a": A, "b": B},
            {"sample_weight": [1, 2]},
            r"y and sample_weight must have the same length",
        ),
        ({"a": A, "b": B}, {"sample_weight": [-1] * 6}, r"weights must not be negative"),
        ({"a": A, "b": B}, {"sample_weight": [0, 0, 1, 1, 1, 1]}, r"there are no labeled rows"),
        ({"a": A, "b": B}, {"pos_label": "x"}, r"label"),
    ],
)
def test_refused(scores, given, message):
    with pytest.raises(InputError, match=message):
        compare(Y, scores, **{"prior": 0.1} | given)


def test_refused_data():
    counts = Counts.from_arrays(Y, A)
    with pytest.raises(InputError, match="Counts do not keep the rows"):
        compare(counts, {"a": A, "b": B}, prior=0.1)
    with pytest.raises(InputError, match="Counts do not keep the rows"):
        compare(Y, {"a": counts, "b": counts}, prior=0.1)
    with pytest.raises(InputError, match="y is empty"):
        compare([], {"a": [], "b": []}, prior=0.1)
    frame = pl.DataFrame({"a": A, "b": [*B[:5], None]})
    with pytest.raises(InputError, match="missing score of model 'b'"):
        compare(Y, frame, prior=0.1)
    twice = pd.DataFrame(np.array([A, B]).T, columns=["a", "a"])
    with pytest.raises(InputError, match="different names"):
        compare(Y, twice, prior=0.1)


def test_unknown_names(comparison):
    with pytest.raises(InputError, match="unknown measure 'f_1'. Did you mean 'f1'"):
        comparison.differences("f_1")
    with pytest.raises(InputError, match="Did you mean 'best_f1'"):
        comparison.best_probability("best_f")
    with pytest.raises(InputError, match="unknown measure 3"):
        comparison.values(3)
    with pytest.raises(InputError, match="unknown measure 'rocauc'. Did you mean 'roc_auc'"):
        comparison.order_by_prior("rocauc")
    with pytest.raises(InputError, match="no model 'd'"):
        comparison["d"]
    assert isinstance(comparison, Comparison)
