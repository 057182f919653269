"""Value-weighted measures: against weighted evaluations, and against the truth."""

import numpy as np
import pytest

from pueval import InputError, evaluate, value_recovered
from pueval.text.numbers import CLIPPED_NOTE


def draw(n, *, seed=0, rate=0.4):
    """Draw values that depend on class and score."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.2
    score = rng.normal(size=n) + 1.5 * positive
    value = np.exp(0.8 * rng.normal(size=n) + 0.5 * score + 0.5 * positive)
    labeled = positive & (rng.random(n) < rate)
    return positive, labeled, score, value


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_it_is_an_evaluation_with_values_as_weights_and_the_same_label_frequency(target):
    _, labeled, score, value = draw(3000)
    found = value_recovered(
        labeled, score, value, threshold=1.0, label_frequency=0.45, target=target, level=None
    )
    ev = evaluate(
        labeled,
        score,
        label_frequency=0.45,
        sample_weight=value,
        target=target,
        threshold=1.0,
        level=None,
    )
    assert found.recall.value == pytest.approx(ev["recall"].value, abs=1e-12)
    assert found.precision.value == pytest.approx(ev["precision"].value, abs=1e-12)
    assert found.recovered.value == pytest.approx(ev.table.true_positive, rel=1e-12)
    assert found.alarm_value == pytest.approx(
        ev.table.true_positive + ev.table.false_positive, rel=1e-12
    )
    assert np.isnan(found.net.low)


def test_by_hand():
    y, score, value = [1, 1, 0, 0, 2], [3.0, 1.0, 2.0, 0.5, 2.5], [10.0, 30.0, 40.0, 90.0, 5.0]
    found = value_recovered(
        y, score, value, threshold=2.0, cost=4.0, prior=0.5, negative_label=2, level=0.9
    )
    # Two labeled and one hidden positive: each labeled row represents 1.5.
    assert (found.alarms, found.alarm_value) == (3, 55.0)
    assert found.recovered.value == pytest.approx(15.0)
    assert found.recovered.naive == 10.0
    assert found.total.value == pytest.approx(60.0)
    assert found.recall.value == pytest.approx(0.25)
    assert found.precision.value == pytest.approx(15 / 55)
    assert found.net.value == pytest.approx(15 - 12)
    assert found.net.naive == pytest.approx(10 - 12)
    # Deviations of 10 and 0 from their mean: 1.5·.5·(25 + 25)·2/1.
    assert found.recovered.standard_error == pytest.approx(np.sqrt(75))
    # At least what is labeled, at most all alarms that are not known to be negative.
    assert (found.recovered.low, found.recovered.high) == (10.0, 50.0)
    prevalence = value_recovered(
        y, score, value, threshold=2.0, prevalence=0.6, negative_label=2, level=0.9
    )
    assert prevalence.recovered.value == found.recovered.value
    propensity = value_recovered(
        y, score, value, threshold=2.0, propensity=[0.5, 0.25, 1, 1, 1], negative_label=2
    )
    assert propensity.total.value == pytest.approx(20 + 120)
    assert propensity.recall.value == pytest.approx(20 / 140)


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("known", ["label_frequency", "prevalence", "propensity"])
def test_bias_and_coverage(known, target):
    """With propensities, rows of high value are labeled more often."""
    held, errors, naive_errors = [], [], []
    for number in range(300):
        positive, labeled, score, value = draw(3000, seed=number)
        arguments = {"label_frequency": 0.4}
        if known == "prevalence":
            arguments = {"prevalence": positive.mean()}
        elif known == "propensity":
            propensity = np.clip(0.2 + 0.1 * np.log(value), 0.1, 0.6)
            labeled = positive & (np.random.default_rng([number, 1]).random(3000) < propensity)
            arguments = {"propensity": propensity}
        found = value_recovered(
            labeled, score, value, threshold=1.2, cost=0.5, target=target, **arguments
        )
        counted = positive & ~labeled if target == "unlabeled" else positive
        in_target = ~labeled if target == "unlabeled" else np.ones(3000, dtype=bool)
        above = counted & (score >= 1.2)
        recovered, total = value[above].sum(), value[counted].sum()
        alarms = in_target & (score >= 1.2)
        truth = {
            "recovered": recovered,
            "total": total,
            "recall": recovered / total,
            "precision": recovered / value[alarms].sum(),
            "net": recovered - 0.5 * alarms.sum(),
        }
        estimates = {name: getattr(found, name) for name in truth}
        held.append([e.low <= truth[name] <= e.high for name, e in estimates.items()])
        errors.append([e.value / truth[name] - 1 for name, e in estimates.items()])
        naive_errors.append(found.recovered.naive / recovered - 1)
    coverage = np.mean(held, axis=0)
    assert coverage.min() >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)
    assert np.abs(np.mean(errors, axis=0)).max() < 0.03
    if target == "population":
        assert np.mean(naive_errors) < -0.4


def test_mistakes_are_named():
    _, labeled, score, value = draw(100)
    with pytest.raises(InputError, match="give exactly one of prior, prevalence, label_frequency"):
        value_recovered(labeled, score, value, threshold=1)
    with pytest.raises(InputError, match="got prior and label_frequency"):
        value_recovered(labeled, score, value, threshold=1, prior=0.1, label_frequency=0.5)
    with pytest.raises(InputError, match="at least 0 in every row; got -1"):
        value_recovered(labeled, score, np.r_[-1, value[1:]], threshold=1, prior=0.1)
    with pytest.raises(InputError, match="one number per row"):
        value_recovered(labeled, score, value[:5], threshold=1, prior=0.1)
    with pytest.raises(InputError, match="label_frequency must be above"):
        value_recovered(labeled, score, value, threshold=1, label_frequency=0.01)
    with pytest.raises(InputError, match="cost must be a number"):
        value_recovered(labeled, score, value, threshold=1, prior=0.1, cost="a")


def test_thresholds_are_not_rounded_to_the_type_of_the_scores(rng):
    """A float32 score of 0.7 is below the threshold 0.7, as for `evaluate`."""
    positive = rng.random(2000) < 0.3
    score = np.round(0.3 * rng.random(2000) + 0.4 * positive + 0.2, 1).astype(np.float32)
    y = positive & (rng.random(2000) < 0.5)
    ev = evaluate(y, score, prior=0.15, threshold=0.7, level=None)
    found = value_recovered(y, score, np.ones(2000), threshold=0.7, prior=0.15)
    assert found.recall.value == pytest.approx(ev["recall"].value)
    assert found.alarms == np.sum(score.astype(float) >= 0.7)


def test_marks_of_clipped_values_are_explained():
    y, score, value = [1, 0, 0], [3.0, 2.0, 1.0], [10.0, 1.0, 1.0]
    found = value_recovered(y, score, value, threshold=2.0, label_frequency=0.5)
    assert "11.000†" in str(found)
    assert str(found).endswith(CLIPPED_NOTE)
