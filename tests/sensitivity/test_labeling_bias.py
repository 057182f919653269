"""Labels that were not drawn at random: bounds, their sharpness, and tipping points."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from pueval import Counts, InputError, evaluate
from tests.conftest import draw


def biased(rng, n, bias, separation=1.5, *, high=True):
    """Labels that favor high (or low) scores: chances between .2/Λ and .2."""
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + separation * positive
    favored = (score > separation) == high
    chance = np.where(favored, 0.2, 0.2 / bias)
    labeled = positive & (rng.random(n) < chance)
    return positive, score, labeled


def test_the_rows_at_a_score_limit_its_positives():
    """All rows with the highest score are labeled, so no row can have a weight above Λ."""
    counts = Counts.from_table([3, 2, 1], [10, 10, 20], [0, 100, 1000])
    ev = evaluate(counts, prior=20 / 1100, threshold=2, level=None)
    recall = ev.labeling_bias(2)["recall"]
    assert (recall.low, recall.high) == pytest.approx((20 / 60, 30 / 60))
    assert ev.labeling_bias(2).fits
    # At random, 5 of the 20 unlabeled positives would be among no unlabeled rows.
    with_less = ev.labeling_bias(1.2)
    assert with_less.smallest_bias == pytest.approx(1.2, abs=0.3)


@pytest.mark.parametrize("bias", [2.0, 50.0])
def test_recall_against_all_ways_to_hide_positives(bias):
    """Ten labeled rows, four others: count hidden positives on both sides in every way."""
    score = np.array([2] * 6 + [1] * 4 + [2] * 3 + [1] * 5 + [2, 1, 1])
    label = np.array([1] * 10 + [0] * 8 + [-1] * 3)
    for hidden in (0, 1, 3, 6):
        recalls = [
            (6 + above) / (10 + hidden)
            for above in range(4)
            if 0 <= hidden - above <= 5
            and 1 / bias <= (6 / (6 + above)) / (4 / (4 + hidden - above)) <= bias
        ]
        ev = evaluate(
            label, score, prior=hidden / 8, negative_label=-1, threshold=2, level=None
        )  # fmt: skip
        found = ev.labeling_bias(bias)["recall"]
        assert found.low <= min(recalls) + 1e-12
        assert found.high >= max(recalls) - 1e-12
        if bias == 50:  # where whole rows are no limit, these or the estimate are the bounds
            recalls.append(ev["recall"].value)
            assert (found.low, found.high) == pytest.approx((min(recalls), max(recalls)))


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_bounds_hold_the_estimate(rng):
    """Also where chance puts it outside of what the rows allow."""
    for _ in range(30):
        _, score, labeled = draw(rng, 60, prevalence=0.4, label_frequency=0.5)
        ev = evaluate(labeled, score, prior=0.3, threshold=1.5, level=None)
        for name, found in ev.labeling_bias(1.2).items():
            if not math.isnan(ev[name].value):
                assert found.low - 1e-9 <= ev[name].value <= found.high + 1e-9, name


# That such labels contradict the prior is noticed, as it should be.
@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("high", [True, False])
@pytest.mark.parametrize("bias", [1.5, 3.0])
def test_bounds_hold_the_truth_whenever_the_bias_is_large_enough(bias, high):
    rng = np.random.default_rng(2)
    positive, score, labeled = biased(rng, 100_000, bias, high=high)
    prior = positive[~labeled].mean()
    ev = evaluate(labeled, score, prior=prior, threshold=1.5, level=None)
    true = {
        "roc_auc": roc_auc_score(positive, score),
        "accuracy": accuracy_score(positive, score >= 1.5),
        "f1": f1_score(positive, score >= 1.5),
    }
    bounds = ev.labeling_bias(1.05 * bias)
    for name, value in true.items():
        assert bounds[name].low <= value <= bounds[name].high, name
    # The bias at this threshold is the whole factor, so the bound of f1 is nearly reached.
    exact = ev.labeling_bias(bias)["f1"]
    assert min(abs(exact.low - true["f1"]), abs(exact.high - true["f1"])) < 0.015
    # And random labeling is a wrong assumption here.
    assert abs(ev["f1"].value - true["f1"]) > 0.02


def test_no_bias_is_the_estimate(rng):
    _, score, labeled = draw(rng, 5000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prior=0.2, level=None)
    for name, found in ev.labeling_bias(1).items():
        if not math.isnan(ev[name].value):
            assert found.low == pytest.approx(ev[name].value)
            assert found.high == pytest.approx(ev[name].value)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_tipping_points(rng):
    _, score, labeled = draw(rng, 20_000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prior=0.2, level=None)
    for name, value in (
        ("roc_auc", 0.8),
        ("f1", 0.5),
        ("roc_auc", 0.93),
        ("average_precision", 0.6),
    ):
        point = ev.tipping_point(name, value)
        found = ev.labeling_bias(point.labeling_bias)[name]
        end = found.low if value < ev[name].value else found.high
        assert end == pytest.approx(value, abs=1e-6)
        again = evaluate(ev.counts, prior=point.prior, threshold=ev.threshold, level=None)
        # The average precision is computed at fewer scores.
        tolerance = 2e-3 if name == "average_precision" else 1e-6
        assert again[name].value == pytest.approx(value, abs=tolerance)
    assert ev.tipping_point("roc_auc", ev["roc_auc"].value).labeling_bias == pytest.approx(1)
    assert math.isnan(ev.tipping_point("recall", 0.01).prior)  # no prior changes the recall
    assert vars(ev.tipping_point("f1", np.float64(0.5))) == vars(ev.tipping_point("f1", 0.5))
    with pytest.raises(InputError, match="value must be a number; got '0.5'"):
        ev.tipping_point("f1", "0.5")


def test_texts_of_tipping_points(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prior=0.2, level=None)
    both, bias = ev.tipping_point("roc_auc", 0.9), ev.tipping_point("recall", 0.7)
    assert str(both) == (
        f"An ROC AUC of 0.9 needs a labeling bias of {both.labeling_bias:.3g}, "
        f"or a prior of {both.prior:.3g}."
    )
    assert str(bias) == (
        f"A recall of 0.7 needs a labeling bias of {bias.labeling_bias:.3g}. No prior gives it."
    )
    neither = str(ev.tipping_point("roc_auc", 0.2))
    assert neither == "Neither a labeling bias nor a prior gives an ROC AUC of 0.2."
    prior = str(replace(both, labeling_bias=math.inf, prior=0.25))
    assert prior == "An ROC AUC of 0.9 needs a prior of 0.25. No labeling bias gives it."
    estimate = str(ev.tipping_point("f1", ev["f1"].value))
    assert estimate.startswith("The estimate is an F1 of ")
    undefined = str(replace(both, measure="precision", labeling_bias=math.nan))
    assert undefined == "No tipping point: the precision is undefined."


@pytest.mark.parametrize(
    ("name", "value", "valid"),
    [
        ("roc_auc", 1.5, "between 0 and 1"),
        ("recall", -3, "between 0 and 1"),
        ("matthews_corrcoef", -1.1, "between -1 and 1"),
        ("lift", -1, "at least 0"),
    ],
)
def test_values_outside_the_range_have_no_tipping_point(rng, name, value, valid):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prior=0.2, level=None)
    with pytest.raises(InputError, match=f"^value must be {valid}, the range of {name}; got"):
        ev.tipping_point(name, value)


def test_bad_input(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prior=0.2, level=None)
    for bias in (0.5, 0, math.inf, math.nan, "2"):
        with pytest.raises(InputError, match="^bias must be a number of at least 1"):
            ev.labeling_bias(bias)
    with pytest.raises(InputError, match="unknown measure 'auc'. Did you mean 'roc_auc'"):
        ev.tipping_point("auc", 0.5)
