"""Differences of models carry the uncertainty of an estimated prior."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

from pueval import AssumptionWarning, compare, evaluate
from pueval.priors import PriorEstimate
from tests.comparison.row_bootstrap import bootstrap_comparison

REACH = float(ndtri(0.975))


def estimated(prior, spread, purity=1.0, purity_spread=0.0):
    """What an estimator would say, with limits at ± 1.96 standard deviations."""
    away = REACH * np.array([-spread, spread])
    low, high = np.clip(prior + away, 0, 1)
    limits = None
    if purity_spread:
        limits = (purity - REACH * purity_spread, min(purity + REACH * purity_spread, 1.0))
    return PriorEstimate(
        "made up", prior, purity, (low, high), limits, 0.9, None, {}, (), 0.95
    )  # fmt: skip


def rows(seed, n_labeled=300, prior=0.4, separations=(2.2, 1.2), purity=1.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_labeled, 5 * n_labeled])
    positive = rng.random(y.size) < np.where(y, purity, prior)
    shared = rng.normal(size=y.size) * np.sqrt(0.8)
    return y, {
        name: s * positive + shared + rng.normal(size=y.size) * np.sqrt(0.2)
        for name, s in zip("abc", separations, strict=False)
    }


def compared(y, scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return compare(y, scores, n_resamples=20, **options)


def test_the_order_of_areas_does_not_depend_on_the_prior():
    y, scores = rows(2, separations=(1.5, 1.4))
    known = compared(y, scores, prior=0.4)
    found = compared(y, scores, prior=estimated(0.4, 0.05))
    [exact], [carried] = known.differences("roc_auc"), found.differences("roc_auc")
    assert carried.pvalue == pytest.approx(exact.pvalue, rel=1e-9)
    assert carried.value == pytest.approx(exact.value, rel=1e-12)
    chance = found.best_probability("roc_auc")["a"]
    assert min(chance, 1 - chance) == pytest.approx(carried.pvalue / 2)
    assert np.sign(chance - 0.5) == np.sign(carried.value)


@pytest.mark.parametrize("purity_spread", [0.0, 0.03])
def test_limits_are_wider(purity_spread):
    y, scores = rows(3, purity=0.9 if purity_spread else 1.0)
    given = estimated(0.4, 0.05, 0.9 if purity_spread else 1.0, purity_spread)
    known = compared(y, scores, prior=given.prior, purity=given.purity)
    found = compared(y, scores, prior=given, purity="estimate")
    none = compared(y, scores, prior=replace(given, prior_interval=None, purity_interval=None))
    for exact, carried, same in zip(
        known.differences(), found.differences(), none.differences(), strict=True
    ):
        assert same.low == pytest.approx(exact.low, nan_ok=True)
        assert same.pvalue == pytest.approx(exact.pvalue, nan_ok=True)
        if np.isnan(exact.low):
            continue
        assert carried.low <= exact.low + 1e-9
        assert carried.high >= exact.high - 1e-9
        assert carried.standard_error >= exact.standard_error - 1e-12
    assert "including uncertainty in the estimated prior" in repr(found)
    assert "as exact" in repr(known)


def test_a_difference_that_the_prior_can_turn_around():
    """A bold and a shy threshold: accuracy prefers the bold one if positives are frequent."""
    y, scores = rows(4, n_labeled=60_000, separations=(1.5, 1.5))
    thresholds = {"a": 0.4, "b": 1.1}
    order = compared(y, scores, prior=0.4, threshold=thresholds).order_by_prior("accuracy")
    turn = order.reversals[0].prior
    near = compared(y, scores, prior=estimated(turn + 0.02, 0.05), threshold=thresholds)
    [pair] = near.differences("accuracy")
    assert pair.low < 0 < pair.high
    assert pair.pvalue > 0.5
    [exact] = compared(y, scores, prior=turn + 0.02, threshold=thresholds).differences("accuracy")
    assert exact.pvalue < 0.001


class TestGivenIntervals:
    """Limits hold for every prior within, p-values are the largest."""

    @pytest.fixture
    def data(self):
        return rows(7, separations=(1.7, 1.3))

    def test_limits_hold_for_all_priors(self, data):
        found = compared(*data, prior=(0.3, 0.5))
        thresholds = {name: ev.threshold for name, ev in found.evaluations.items()}
        single = [
            compared(*data, prior=prior, threshold=thresholds) for prior in np.linspace(0.3, 0.5, 9)
        ]
        assert found.mixture.prior == 0.4
        for pair in found.differences():
            others = [one.differences(pair.measure)[0] for one in single]
            middle = others[4]
            assert pair.value == pytest.approx(middle.value, abs=1e-9, nan_ok=True)
            assert pair.standard_error == pytest.approx(middle.standard_error, nan_ok=True)
            if np.isnan(pair.low):
                continue
            low, high = min(o.low for o in others), max(o.high for o in others)
            largest = max(o.pvalue for o in others)
            assert (pair.low, pair.high) == pytest.approx((low, high), abs=0.002, rel=0.01)
            assert np.log(pair.pvalue) == pytest.approx(np.log(largest), abs=0.15, rel=0.03)

    def test_a_difference_that_turns_around(self):
        y, scores = rows(4, n_labeled=60_000, separations=(1.5, 1.5))
        thresholds = {"a": 0.4, "b": 1.1}
        order = compared(y, scores, prior=0.4, threshold=thresholds).order_by_prior("accuracy")
        turn = order.reversals[0].prior
        around = compared(y, scores, prior=(turn - 0.05, turn + 0.1), threshold=thresholds)
        [pair] = around.differences("accuracy")
        assert pair.low < 0 < pair.high
        assert pair.pvalue == 1
        beyond = compared(y, scores, prior=(turn + 0.05, turn + 0.1), threshold=thresholds)
        [pair] = beyond.differences("accuracy")
        assert pair.low > 0
        assert pair.pvalue < 0.001

    def test_purity_too(self):
        y, scores = rows(8, purity=0.9, separations=(1.7, 1.3))
        wide = compared(y, scores, prior=(0.3, 0.5), purity=(0.8, 1.0))
        narrow = compared(y, scores, prior=(0.3, 0.5), purity=0.9)
        thresholds = {name: ev.threshold for name, ev in wide.evaluations.items()}
        corners = [
            compared(y, scores, prior=prior, purity=purity, threshold=thresholds)
            for prior in (0.3, 0.5)
            for purity in (0.8, 1.0)
        ]
        for name in ("roc_auc", "f1", "accuracy"):
            [one], [other] = wide.differences(name), narrow.differences(name)
            assert one.high - one.low > other.high - other.low
            for corner in corners:
                [there] = corner.differences(name)
                assert one.low <= there.low + 1e-12
                assert one.high >= there.high - 1e-12
                assert one.pvalue >= there.pvalue

    def test_what_is_said(self, data):
        found = compared(*data, prevalence=(0.4, 0.5))
        said = " ".join(repr(found).split())
        assert "covering every prevalence and purity in the given intervals" in said
        assert found.to_dict()["assumptions"]["region"]["prior"][0] == pytest.approx(0.28)
        ev = found["a"]
        assert ev.region is not None
        alone = evaluate(data[0], data[1]["a"], prevalence=(0.4, 0.5), n_resamples=20)
        assert (ev["f1"].low, ev["f1"].high) == (alone["f1"].low, alone["f1"].high)
        chance = found.best_probability("f1")
        [pair] = compared(*data, prior=found.mixture.prior).differences("f1")
        # With a prior, the prevalence varies with the number of labeled rows.
        assert min(chance.values()) == pytest.approx(pair.pvalue / 2, rel=1e-3)


def test_several_models_and_rows_drawn_again():
    y, scores = rows(5, separations=(1.8, 1.5, 1.5))
    given = estimated(0.4, 0.05)
    found = compared(y, scores, prior=given)
    chance = found.best_probability("f1")
    assert sum(chance.values()) == pytest.approx(1)
    assert max(chance, key=chance.get) == "a"
    again = bootstrap_comparison(y, scores, prior=given, n_resamples=200)
    for one, other in zip(found.differences("roc_auc"), again.differences("roc_auc"), strict=True):
        assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.25)


@pytest.mark.thorough
def test_coverage():
    """With a prior that is estimated with an error, as large as that of its limits."""
    names = ("roc_auc", "accuracy", "matthews_corrcoef", "f1")
    separations, thresholds = (2.2, 1.2), {"a": 1.4, "b": 0.9}
    n_labeled, prior = 1000, 0.4
    tpr = np.array([norm.sf(t, s) for t, s in zip(thresholds.values(), separations, strict=True)])
    fpr = norm.sf(list(thresholds.values()))
    share = (1 + 5 * prior) / 6
    hits, false = share * tpr, (1 - share) * fpr
    scale = np.sqrt((hits + false) * (1 - hits - false) * share * (1 - share))
    true = {
        "roc_auc": norm.cdf(np.array(separations) / np.sqrt(2)),
        "accuracy": hits + 1 - share - false,
        "matthews_corrcoef": (hits - (hits + false) * share) / scale,
        "f1": 2 * hits / (hits + false + share),
    }
    rng = np.random.default_rng(6)
    held = np.zeros((2, len(names)))
    replications = 150
    for k in range(replications):
        y, scores = rows(100 + k, n_labeled, prior, separations)
        given = estimated(prior + 0.05 * rng.standard_normal(), 0.05)
        for line, what in enumerate((given, given.prior)):
            found = compared(y, scores, prior=what, threshold=thresholds)
            for column, name in enumerate(names):
                [pair] = found.differences(name)
                held[line, column] += pair.low <= true[name][0] - true[name][1] <= pair.high
    carried, exact = held / replications
    # Of 150, 95 % are within 0.905 and 0.987 in 99 of 100 cases.
    assert carried.min() > 0.9
    assert carried.max() < 0.99
    assert exact[:3].max() < 0.87


def test_a_twin_takes_nothing_from_the_best():
    """Also for ratios, which an uncertain prior moves far, and unevenly."""
    y, scores = rows(1, prior=0.15, separations=(1.8, 1.2))
    given = estimated(0.15, 0.06)
    two = compared(y, scores, prior=given).best_probability("positive_likelihood_ratio")
    twins = compared(y, scores | {"twin": 2 * scores["a"]}, prior=given)
    three = twins.best_probability("positive_likelihood_ratio")
    assert three["a"] == pytest.approx(three["twin"])
    assert three["b"] == pytest.approx(two["b"], abs=0.1)
