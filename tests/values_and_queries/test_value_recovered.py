"""Value-weighted measures: against weighted evaluations, and against the truth."""

import itertools

import numpy as np
import pytest

from pueval import InputError, evaluate, value_recovered
from pueval.text.numbers import CLIPPED_NOTE
from pueval.values_and_queries.positive_sums import similar_rows


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


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("known", ["label_frequency", "prior"])
def test_values_of_1_are_rows(known, target, rng):
    """Wrong labels and importance weights have the meaning that they have in `evaluate`."""
    positive, labeled, score, _ = draw(3000)
    y, weight = labeled | (~positive & (rng.random(3000) < 0.02)), rng.uniform(0.5, 3, size=3000)
    shares = {known: {"label_frequency": 0.45, "prior": 0.1}[known], "purity": 0.85}
    options = shares | {"sample_weight": weight, "target": target, "threshold": 1.0, "level": None}
    found = value_recovered(y, score, np.ones(3000), **options)
    ev = evaluate(y, score, **options)
    assert found.recall.unclipped == pytest.approx(ev["recall"].unclipped, rel=1e-9)
    assert found.precision.unclipped == pytest.approx(ev["precision"].unclipped, rel=1e-9)
    assert found.recovered.unclipped == pytest.approx(ev.table.true_positive, rel=1e-9)
    assert found.precision.naive == pytest.approx(ev["precision"].naive, rel=1e-9)


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
    # Deviations of 10, 40, 0 and 0 from the labeled mean. On each side of the threshold, 1.5 of 2
    # rows are positive: .75·(1/3)/(2/3)·(25 + 1225 + 25 + 25)·2/1.
    assert found.recovered.standard_error == pytest.approx(np.sqrt(975))
    # At least what is labeled, at most all alarms that are not known to be negative.
    assert (found.recovered.low, found.recovered.high) == (10.0, 50.0)
    assert (found.precision.low, found.precision.high) == (10 / 55, 50 / 55)
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


def slow(y, score, value, threshold, cost, given, purity, target):
    """Solve for the means over the classes, from the means over labeled and unlabeled rows."""
    labeled, unlabeled, n = np.sum(y == 1), np.sum(y == 0), len(y)
    if "label_frequency" in given:
        number = purity * labeled / given["label_frequency"]
    elif "prevalence" in given:
        number = given["prevalence"] * n
    else:
        number = purity * labeled + given["prior"] * unlabeled
    prior = (number - purity * labeled) / unlabeled

    def of_positives(numbers):
        shares = [[purity, 1 - purity], [prior, 1 - prior]]
        means = np.linalg.solve(shares, [numbers[y == 1].mean(), numbers[y == 0].mean()])
        return means[0] * (prior * unlabeled if target == "unlabeled" else number)

    alarms = (score >= threshold) & ((y == 0) | (target == "population"))
    recovered, total = of_positives(value * (score >= threshold)), of_positives(value)
    return {
        "recovered": recovered,
        "total": total,
        "recall": recovered / total,
        "precision": recovered / value[alarms].sum(),
        "net": recovered - cost * alarms.sum(),
    }


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize(
    "given", [{"label_frequency": 0.45}, {"prevalence": 0.22}, {"prior": 0.15}]
)
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_values_follow_from_means_over_labeled_and_unlabeled_rows(given, purity, target, rng):
    """Frequency weights are repeated rows; known negatives are alarms and nothing else."""
    positive, labeled, score, value = draw(1500)
    y = np.where(~positive & (rng.random(1500) < 0.1), 2, labeled | (rng.random(1500) < 0.02))
    weight = rng.integers(0, 4, size=1500)
    repeated = [np.repeat(each, weight) for each in (y, score, value)]
    options = {"threshold": 1.0, "cost": 0.3, "target": target, "purity": purity}
    options["negative_label"] = 2
    found = value_recovered(*repeated, **options, **given)
    expected = slow(*repeated, 1.0, 0.3, given, purity, target)
    weighted = value_recovered(y, score, value, sample_weight=weight, **options, **given)
    for name, number in expected.items():
        assert getattr(found, name).unclipped == pytest.approx(number, rel=1e-9), name
        for field in ("value", "low", "high", "naive", "standard_error"):
            ours = getattr(getattr(weighted, name), field)
            assert ours == pytest.approx(getattr(getattr(found, name), field), rel=1e-9), name
    assert (weighted.alarms, weighted.alarm_value) == pytest.approx(
        (found.alarms, found.alarm_value)
    )


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_importance_weights_multiply_values(target, rng):
    _, labeled, score, value = draw(2000)
    weight = rng.uniform(0.5, 3, size=2000)
    options = {"threshold": 1.0, "label_frequency": 0.45, "target": target}
    weighted = value_recovered(labeled, score, value, sample_weight=weight, cost=0.3, **options)
    multiplied = value_recovered(labeled, score, weight * value, **options)
    for name in ("recovered", "total", "recall", "precision"):
        for field in ("value", "low", "high", "naive"):
            ours = getattr(getattr(weighted, name), field)
            assert ours == pytest.approx(getattr(getattr(multiplied, name), field)), name
    in_target = ~labeled if target == "unlabeled" else np.ones(2000, dtype=bool)
    alarms = weight[in_target & (score >= 1.0)].sum()
    assert weighted.net.value == pytest.approx(multiplied.recovered.value - 0.3 * alarms)


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("known", ["label_frequency", "prevalence", "prior"])
@pytest.mark.parametrize(("purity", "weighted"), [(0.75, False), (0.85, True)])
def test_standard_errors_are_those_over_labelings_of_the_same_rows(known, target, purity, weighted):
    rng = np.random.default_rng(81)
    n, replications = 2500, 500
    positive, _, score, value = draw(n, seed=8)
    weight = rng.uniform(0.5, 3, size=n) if weighted else np.ones(n, dtype=int)
    wrong = (1 - purity) / purity * 0.5 * weight[positive].sum() / weight[~positive].sum()
    names = ("recovered", "total", "recall", "precision")
    errors, spreads, held = [], [], []
    for _ in range(replications):
        y = rng.random(n) < np.where(positive, 0.5, wrong)
        given = {
            "label_frequency": 0.5,
            "prevalence": weight @ positive / weight.sum(),
            "prior": weight[~y] @ positive[~y] / weight[~y].sum(),
        }
        found = value_recovered(
            y,
            score,
            value,
            threshold=1.2,
            purity=purity,
            target=target,
            sample_weight=weight,
            **{known: given[known]},
        )
        counted = positive & ~y if target == "unlabeled" else positive
        worth = weight * value * counted
        recovered = worth[score >= 1.2].sum()
        truth = [recovered, worth.sum(), recovered / worth.sum(), recovered / found.alarm_value]
        estimates = [getattr(found, name) for name in names]
        errors.append([e.unclipped - t for e, t in zip(estimates, truth, strict=True)])
        spreads.append([e.standard_error for e in estimates])
        held.append([e.low <= t <= e.high for e, t in zip(estimates, truth, strict=True)])
    actual, claimed = np.std(errors, axis=0), np.sqrt(np.mean(np.square(spreads), axis=0))
    # Four standard errors of a standard deviation.
    np.testing.assert_allclose(claimed / actual, 1, atol=4 / np.sqrt(2 * replications) + 0.02)
    assert np.all(np.abs(np.mean(errors, axis=0)) < 4 * actual / np.sqrt(replications) + 0.01)
    assert np.min(np.mean(held, axis=0)) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / replications)


def test_cells_have_similar_values_and_enough_labels(rng):
    value = np.round(np.exp(rng.normal(size=4000)), 1)
    above, labeled = rng.random(4000) < 0.3, rng.random(4000) < 0.05
    cell = similar_rows(value, above, labeled)
    for side in (above, ~above):
        ends = [(value[side & (cell == k)].max(), value[side & (cell == k)].min())
                for k in np.unique(cell[side])]  # fmt: skip
        # Cells do not overlap: from the highest value on, each ends before the next begins.
        assert all(low > high for (_, low), (high, _) in itertools.pairwise(ends))
    sizes = np.bincount(cell, labeled)[np.unique(cell)]
    assert 6 <= sizes.min() <= sizes.max() < 25
    assert np.unique(cell[above]).size == pytest.approx((above & labeled).sum() / 10, abs=2)
    # Without labels, there is one cell on each side.
    assert np.array_equal(similar_rows(value, above, np.zeros(4000)), ~above)


@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_coverage_if_few_rows_have_most_of_the_value(purity):
    held, n = [], 6000
    for number in range(400):
        rng = np.random.default_rng([number, 4])
        positive = rng.random(n) < 0.15
        score = rng.normal(size=n) + 1.5 * positive
        value = np.exp(1.8 * rng.normal(size=n))
        wrong = (1 - purity) / purity * 0.4 * 0.15 / 0.85
        y = rng.random(n) < np.where(positive, 0.4, wrong)
        found = value_recovered(y, score, value, threshold=1.2, label_frequency=0.4, purity=purity)
        recovered, total = value[positive & (score >= 1.2)].sum(), value[positive].sum()
        truth = {"recovered": recovered, "total": total, "recall": recovered / total}
        held.append([getattr(found, name).low <= t <= getattr(found, name).high
                     for name, t in truth.items()])  # fmt: skip
    assert np.min(np.mean(held, axis=0)) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(("threshold", "purity"), [(4.0, 1.0), (5.0, 1.0), (5.0, 0.8)])
def test_coverage_with_few_labeled_rows_above_the_threshold(threshold, purity):
    """About 6 or 2 of them: the estimates are skewed, and often 0."""
    held, n = [], 3000
    for number in range(400):
        rng = np.random.default_rng([number, 5])
        positive = rng.random(n) < 0.2
        score = rng.standard_t(4, size=n) + 1.5 * positive
        value = rng.gamma(2, size=n)
        wrong = (1 - purity) / purity * 0.3 * 0.2 / 0.8
        y = rng.random(n) < np.where(positive, 0.3, wrong)
        given = {"prior": positive[~y].mean()} if purity < 1 else {"label_frequency": 0.3}
        found = value_recovered(y, score, value, threshold=threshold, purity=purity, **given)
        above = score >= threshold
        recovered = value[positive & above].sum()
        truth = {"recovered": recovered, "precision": recovered / value[above].sum()}
        held.append([getattr(found, name).low <= t <= getattr(found, name).high
                     for name, t in truth.items()])  # fmt: skip
    assert np.min(np.mean(held, axis=0)) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("given", [{"label_frequency": 0.1}, {"prior": 0.1}])
def test_alarms_without_labeled_rows_may_be_positive(given, purity, rng):
    positive = rng.random(2000) < 0.1
    score = rng.normal(size=2000) + positive
    y = positive & (rng.random(2000) < 0.1)
    threshold = np.sort(score)[-20]
    y[score >= threshold] = False
    found = value_recovered(
        y, score, np.ones(2000), threshold=threshold, cost=2, purity=purity, **given
    )
    assert found.recovered.naive == 0 == found.recovered.low
    # Of 20 alarms, all 20 may be positive: (1 − 0.1)²⁰ = 12% of such samples have no label.
    assert found.recovered.high == 20
    assert found.precision.high == 1
    assert found.net.high == 20 - 2 * 20
    # Without any alarm, or if all rows are alarms, there is nothing to estimate.
    none = value_recovered(y, score, np.ones(2000), threshold=9.0, purity=purity, **given)
    assert none.recovered.high == none.recall.high == 0
    everything = value_recovered(y, score, np.ones(2000), threshold=-9.0, purity=purity, **given)
    assert everything.recall.low == everything.recall.high == 1


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_propensities_without_unlabeled_rows(target):
    y, score, value = [1, 1, 2], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]
    found = value_recovered(
        y, score, value, threshold=2.5, propensity=[1, 1, 1], negative_label=2, target=target
    )
    assert found.total.low == found.total.high == (3.0 if target == "population" else 0.0)


def test_nothing_is_certain_about_wrong_labels():
    y, score, value = [1, 1, 0, 0, 0], [3.0, 1.0, 2.0, 0.5, 2.5], [10.0, 30.0, 40.0, 90.0, 5.0]
    found = value_recovered(y, score, value, threshold=2.0, prior=0.4, purity=0.9)
    # Clean labels would make 10 the least.
    assert found.recovered.low == 0.0
    assert found.recovered.high == 55.0


def test_recall_is_undefined_without_any_estimated_value():
    y, score, value = [1, 0, 0, 0], [3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 5.0, 5.0]
    found = value_recovered(y, score, value, threshold=1.5, prior=0.3, purity=0.8)
    assert found.total.unclipped < 0 == found.total.value
    assert np.isnan(found.recall.value)
    assert np.isnan(found.recall.low)


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
    ones = np.ones(100)
    with pytest.raises(InputError, match="propensities need clean labels; got purity=0.9"):
        value_recovered(labeled, score, value, threshold=1, propensity=ones, purity=0.9)
    with pytest.raises(InputError, match="purity must be a number in"):
        value_recovered(labeled, score, value, threshold=1, prior=0.1, purity="estimate")
    with pytest.raises(InputError, match="prior must be below purity"):
        value_recovered(labeled, score, value, threshold=1, prior=0.5, purity=0.4)
    with pytest.raises(InputError, match="weights must not be negative"):
        value_recovered(labeled, score, value, threshold=1, prior=0.5, sample_weight=-value)
    with pytest.raises(InputError, match="y and sample_weight must have the same length"):
        value_recovered(labeled, score, value, threshold=1, prior=0.5, sample_weight=[1])
    with pytest.raises(InputError, match="purity was given, but there are no unlabeled rows"):
        value_recovered(
            [1, 2], [1, 0], [1, 1], threshold=1, prior=0.1, purity=0.9, negative_label=2
        )
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


def test_infinite_thresholds_are_words():
    found = value_recovered([1, 0, 0], [3.0, 2.0, 1.0], [1, 1, 1], threshold=np.inf, prior=0.1)
    assert str(found).startswith("Value above all scores: 0 rows, worth 0.000")


def test_marks_of_clipped_values_are_explained():
    y, score, value = [1, 0, 0], [3.0, 2.0, 1.0], [10.0, 1.0, 1.0]
    found = value_recovered(y, score, value, threshold=2.0, label_frequency=0.5)
    assert "11.000†" in str(found)
    assert str(found).endswith(CLIPPED_NOTE)
