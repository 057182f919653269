"""The order of models: by the prior, and by criteria that disagree."""

import itertools
import warnings

import numpy as np
import pytest

from pueval import AssumptionWarning, Counts, InputError, compare, evaluate, largest_prior
from pueval.comparison.rankings import Rankings
from pueval.comparison.values_by_prior import best_values, upper_hull
from pueval.core.measures import MEASURES
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.ranking import ranking_measures
from tests.conftest import models, with_negatives

CROSSING = {"labeled": (60, 90), "unlabeled": (60, 240)}


@pytest.fixture
def crossing():
    """Two models at a threshold: "strict" predicts few rows positive, "lax" many.

    Of 100 labeled rows they find 60 and 90, of 1,000 unlabeled rows they take 60 and 240.
    """
    y = np.repeat([1, 0], [100, 1000])
    scores = {}
    for k, name in enumerate(("strict", "lax")):
        score = np.zeros(1100)
        score[: CROSSING["labeled"][k]] = 1
        score[100 : 100 + CROSSING["unlabeled"][k]] = 1
        scores[name] = score + 1e-6 * np.arange(1100)[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return compare(y, scores, prior=0.05, threshold=1.0), y, scores


def f1_at(prior, k):
    found, taken = CROSSING["labeled"][k], CROSSING["unlabeled"][k]
    positives = 100 + 1000 * prior
    return 2 * positives * found / 100 / (found + taken + positives)


def test_where_f1_flips(crossing):
    comparison, _, _ = crossing
    order = comparison.order_by_prior("f1", priors=(0, 0.5))
    # 0.6·(330 + P) = 0.9·(120 + P), with P the number of positives.
    positives = (0.6 * 330 - 0.9 * 120) / (0.9 - 0.6)
    [flip] = order.reversals
    assert flip.prior == pytest.approx((positives - 100) / 1000)
    assert (flip.first, flip.second) == ("strict", "lax")
    assert [(r.model, r.low, r.high) for r in order.best_models] == [
        ("strict", 0.0, flip.prior),
        ("lax", flip.prior, 0.5),
    ]
    assert order.better_model("lax", "strict") == order.best_models
    for k, name in enumerate(("strict", "lax")):
        assert order.value[name] == pytest.approx([f1_at(p, k) for p in order.prior])
    assert "strict → lax" in repr(order)
    with pytest.raises(InputError, match="no model 'x'"):
        order.better_model("x", "lax")


@pytest.mark.parametrize("name", ["accuracy", "f1", "jaccard", "cohen_kappa"])
def test_flips_are_where_evaluations_change_places(crossing, name):
    comparison, y, scores = crossing
    order = comparison.order_by_prior(name, priors=(0, 0.4))

    def better(prior):
        values = {}
        for model, score in scores.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AssumptionWarning)
                ev = evaluate(y, score, prior=prior, threshold=1.0, level=None)
            values[model] = ev[name].value
        return max(values, key=values.get)

    for flip in order.reversals:
        assert better(flip.prior - 1e-3) == flip.first
        assert better(flip.prior + 1e-3) == flip.second
    for reign in order.best_models:
        assert better((reign.low + reign.high) / 2) == reign.model


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
def test_best_values_flip_where_evaluations_do(rng):
    """One model is good at the top of its ranking, the other one on the whole."""
    y = np.repeat([1, 0], [400, 8000])
    positive = np.r_[np.ones(400, bool), rng.random(8000) < 0.2]
    easy = positive & (rng.random(8400) < 0.6)
    scores = {
        "top": np.where(easy, 6.0, 0.0) + rng.normal(size=8400),
        "whole": 2.0 * positive + rng.normal(size=8400),
    }
    found = compare(y, scores, prior=0.2)
    order = found.order_by_prior("best_f1", priors=(0.01, 0.25))
    [flip] = order.reversals
    assert (flip.first, flip.second) == ("top", "whole")
    for prior in (flip.prior - 0.01, flip.prior + 0.01):
        best = {
            name: evaluate(y, score, prior=prior, level=None).best("f1").value
            for name, score in scores.items()
        }
        assert max(best.values()) < 1
        assert max(best, key=best.get) == ("top" if prior < flip.prior else "whole")


def test_what_never_flips(rng):
    y, scores, _ = models(rng, 2000, noise=(0.9, 0.8, 1.0))
    found = compare(y, scores, prior=0.2)
    for name in ("roc_auc", "precision", "recall", "balanced_accuracy"):
        order = found.order_by_prior(name)
        assert not order.reversals
        assert len(order.best_models) == 1
        assert "No two models change places" in repr(order)
    noisy = compare(y, scores, prior=0.2, purity=0.9)
    for name in ("roc_auc", "balanced_accuracy", "informedness"):
        assert not noisy.order_by_prior(name).reversals


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
def test_the_area_of_a_clipped_curve_flips_and_the_direct_one_does_not():
    """Claesen et al., figure 4: the order depends on the prior by clipping only."""
    y = np.repeat([1, 0], [100, 1000])
    unlabeled = np.linspace(0, 1, 1000)
    scores = {
        "top": np.r_[np.linspace(1.1, 1.2, 40), np.linspace(0, 1, 60), unlabeled],
        "even": np.r_[np.linspace(0.38, 1, 100), unlabeled],
    }
    priors = (0.0, 0.03, 0.2, 0.3)
    direct, clipped, bounds = (np.empty((4, 2)) for _ in range(3))
    for k, name in enumerate(scores):
        score = scores[name]
        # By hand: shares of labeled and unlabeled rows at or above each score.
        at = np.sort(score)[::-1]
        found, taken = (np.r_[0, [(score[y == kind] >= s).mean() for s in at]] for kind in (1, 0))
        for j, prior in enumerate(priors):
            ev = evaluate(y, score, prior=prior, level=None)
            direct[j, k], clipped[j, k] = ev["roc_auc"].value, ev.roc_area().value
            bounds[j, k] = ev.bounds(band="bootstrap").roc_auc.high
            fpr = (taken - prior * found) / (1 - prior)
            assert np.trapezoid(1 - fpr, found) == pytest.approx(direct[j, k], abs=1e-12)
            lowest = np.minimum.accumulate(np.clip(fpr, 0, 1)[::-1])[::-1]
            assert np.trapezoid(1 - lowest, found) == pytest.approx(clipped[j, k], abs=1e-3)
    assert (direct[:, 0] > direct[:, 1]).all()
    assert (clipped[:, 0] > clipped[:, 1]).tolist() == [True, True, False, False]
    assert (bounds[:, 0] > bounds[:, 1]).tolist() == [True, True, True, False]
    limits = [largest_prior(Counts.from_arrays(y, score)).prior for score in scores.values()]
    assert 0.03 < limits[0] < 0.2
    assert limits[1] > 0.3
    order = compare(y, scores, prior=0.03).order_by_prior("roc_auc", priors=(0, 0.3))
    assert not order.reversals


def test_average_precision_by_prior(rng):
    y, scores, _ = models(rng, 1500, purity=0.8)
    found = compare(y, scores, prior=0.1, purity=0.8)
    order = found.order_by_prior("average_precision", priors=(0.05, 0.3))
    for prior, value in zip(order.prior[::8], order.value["b"][::8], strict=True):
        ev = evaluate(y, scores["b"], prior=prior, purity=0.8, level=None)
        assert value == pytest.approx(ev["average_precision"].value)


def test_measures_that_should_be_small(rng):
    y, scores, _ = models(rng, 1500)
    found = compare(y, scores, prior=0.2, threshold={"a": 0.2, "b": 0.9, "c": 1.5})
    order = found.order_by_prior("false_positive_rate", priors=(0.1, 0.3))
    rate = {name: order.value[name][256] for name in "abc"}
    assert order.best_models[0].model == min(rate, key=rate.get)


def test_span_of_priors(rng):
    y, scores, _ = models(rng, 1500)
    found = compare(y, scores, prior=0.2)
    order = found.order_by_prior("f1")
    assert order.prior[0] == 0
    assert 0.2 <= order.prior[-1] < 1
    for wrong in ((0.3, 0.2), (0, 1), "ab", 0.3):
        with pytest.raises(InputError, match="priors must be two numbers"):
            found.order_by_prior("f1", priors=wrong)


@pytest.mark.parametrize("seed", range(5))
def test_hull(seed):
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 4, (2, 60))
    steps[1, steps.sum(axis=0) == 0] = 1
    x, y = np.cumsum(steps, axis=1).astype(float)
    kept = upper_hull(x, y)
    for k in range(x.size):
        # A corner is above every line between a point on its left and one on its right.
        below = any(
            (y[k] - y[i]) * (x[j] - x[i]) <= (y[j] - y[i]) * (x[k] - x[i])
            for i, j in itertools.product(range(k), range(k + 1, x.size))
        )
        assert (k in kept) != below


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("good", [True, False])
def test_best_values_need_the_hull_only(rng, target, purity, good):
    y, scores, positive = models(rng, 700, noise=(0.5, 2.0))
    y = with_negatives(y, positive, rng)
    tables = [
        Counts.from_arrays(y, score if good else -score, negative_label=2)
        for score in scores.values()
    ]
    for name in ("accuracy", "balanced_accuracy", "f1", "matthews_corrcoef"):
        values = best_values(tables, MEASURES[name], purity, target)(np.array([0.05, 0.2]))
        for prior, line in zip((0.05, 0.2), values, strict=True):
            for counts, value in zip(tables, line, strict=True):
                every = MEASURES[name](
                    correct_steps(counts, counts._roc_corners(), Mixture(prior, purity), target)
                )
                if good or name != "matthews_corrcoef":
                    assert value == pytest.approx(np.nanmax(every)), name


def test_ranking(rng):
    y, scores, _ = models(rng, 800)
    found = compare(y, scores, prior=0.2)
    ranking = found.ranking()
    assert {"pulp", "lee_liu", "naive_roc_auc", "roc_auc", "best_f1"} <= set(ranking.criteria)
    for name, score in scores.items():
        expected = ranking_measures(Counts.from_arrays(y, score))
        for criterion, value in expected.items():
            assert ranking.value[criterion][name] == pytest.approx(value)
        assert ranking.value["best_f1"][name] == pytest.approx(found[name].best("f1").value)
    order = ranking.order("roc_auc")
    values = [found[name]["roc_auc"].value for name in order]
    assert values == sorted(values, reverse=True)
    some = found.ranking("pulp", "false_positive_rate")
    assert some.criteria == ("pulp", "false_positive_rate")
    rates_ = [
        found[name]["false_positive_rate"].value for name in some.order("false_positive_rate")
    ]
    assert rates_ == sorted(rates_)
    with pytest.raises(InputError, match="unknown measure 'plup'"):
        found.ranking("plup")


def test_saturated_pulp(rng):
    y = (np.arange(1000) < 100).astype(int)
    scores = {"a": rng.normal(size=1000) + 2 * y, "b": rng.normal(size=1000) + 3 * y}
    found = compare(y, scores, prior=0.0)
    [note] = found.ranking("pulp").notes
    assert note.startswith("PULP of all models is within 0.01 of 0.9890, the largest value")
    assert not found.ranking("naive_roc_auc").notes
    scores["weak"] = rng.normal(size=1000) + 0.3 * y
    [note] = compare(y, scores, prior=0.0).ranking("pulp", "roc_auc").notes
    assert note.startswith("PULP of a, b is within")
    del scores["a"]
    assert not compare(y, scores, prior=0.0).ranking("pulp").notes


def test_disagreements():
    ranking = Rankings(
        {
            "one": {"a": 3.0, "b": 2.0, "c": 2.0},
            "two": {"a": 1.0, "b": 2.0, "c": np.nan},
            "error": {"a": 0.1, "b": 0.2, "c": 0.3},
        },
        {"one": True, "two": True, "error": False},
        ("something is missing",),
    )
    assert ranking.rank("one") == {"a": 1, "b": 2.5, "c": 2.5}
    assert ranking.order("two") == ("b", "a", "c")
    assert np.isnan(ranking.rank("two")["c"])
    [one] = ranking.disagreements()
    assert (one.first, one.second) == ("a", "b")
    assert one.for_first == ("one", "error")
    assert one.for_second == ("two",)
    text = repr(ranking)
    assert "a is better by one, error; b is better by two." in text
    assert "! something is missing" in text
    with pytest.raises(InputError, match="no criterion 'three'"):
        ranking.order("three")


def test_ranking_with_float_weights(rng):
    y, scores, _ = models(rng, 500)
    found = compare(y, scores, prior=0.2, sample_weight=rng.random(500))
    ranking = found.ranking()
    assert "pulp" not in ranking.criteria
    assert "best_f1" in ranking.criteria
    assert "pulp" in ranking.notes[0]
    with pytest.raises(InputError, match="importance weights"):
        found.ranking("pulp")


def test_labeled_rows_above_all_others():
    """Where no unlabeled row is above, its MCC is undefined; the best one is elsewhere."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        y = (rng.random(60) < 0.25).astype(int)
        counts = Counts.from_arrays(y, rng.normal(size=60) + 1.5 * y)
        measure = MEASURES["matthews_corrcoef"]
        found = best_values([counts], measure, 1.0, "unlabeled")(np.array([0.1]))
        there = correct_steps(counts, counts._roc_corners(), Mixture(0.1), "unlabeled")
        assert found[0, 0] == pytest.approx(np.nanmax(measure(there)))
