"""Groups that share an estimated purity: prior and purity move together in all of them."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm

from pueval import AssumptionWarning, InputError, evaluate_by

NAMES = ("roc_auc", "average_precision", "f1", "recall", "precision")


@pytest.fixture
def rows():
    rng = np.random.default_rng(2)
    positive = rng.random(6000) < 0.35
    y = rng.random(6000) < np.where(positive, 0.25, 0.02)
    by = rng.choice(["a", "b", "c"], 6000)
    return y, rng.normal(size=6000) + (1.5 + 0.5 * (by == "b")) * positive, by


def quiet(*rows, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return evaluate_by(*rows, **given, n_resamples=50, threshold=1.0)


SHARES = [{"prevalence": 0.35}, {"label_frequency": 0.25}, {"prior": 0.29}]


@pytest.mark.parametrize("group_prior", ["shared", "label_frequency"])
@pytest.mark.parametrize("share", SHARES)
def test_errors_by_numerical_derivatives(rows, share, group_prior):
    found = quiet(*rows, **share, purity="estimate", group_prior=group_prior)
    estimate = found.overall.prior_estimate
    low, high = estimate.purity_interval
    error = (high - low) / 2 / norm.ppf(0.975)
    below, known, above = (
        quiet(*rows, **share, purity=purity, group_prior=group_prior)
        for purity in (
            estimate.purity - error, estimate.purity, min(estimate.purity + error, 1.0),
        )
    )  # fmt: skip
    width = above.overall.purity - below.overall.purity
    for name in NAMES:
        np.testing.assert_allclose(found[name].value, known[name].value, rtol=1e-9)
        difference = above._estimates.value[name] - below._estimates.value[name]
        expected = np.hypot(known._estimates.total_error(name), difference / width * error)
        np.testing.assert_allclose(found._estimates.total_error(name), expected, rtol=1e-6)
        assert np.all(np.abs(difference) > 0)


def test_what_groups_share_cancels_in_their_differences(rows):
    y, score, _ = rows
    by = np.arange(y.size) % 2
    found, known = (
        quiet(y, score, by, prevalence=0.35, purity=purity) for purity in ("estimate", 0.84)
    )
    of_group = found._estimates.purity_change["roc_auc"]
    assert np.all(np.abs(of_group) > 0.3 * found._estimates.error["roc_auc"])
    differences, same = (each.differences("roc_auc", reference=0) for each in (found, known))
    assert differences.standard_error[1] == pytest.approx(same.standard_error[1], rel=0.15)
    # In their mean it does not cancel.
    assert found.macro("roc_auc").standard_error > 1.1 * known.macro("roc_auc").standard_error


def test_priors_of_groups_can_be_given(rows):
    found = quiet(*rows, group_prior={"a": 0.25, "b": 0.3, "c": 0.3}, purity="estimate")
    assert np.all(found._estimates.purity_change["roc_auc"] != 0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"group_prior": "each", "purity": "estimate"}, "'each' needs a known purity"),
        ({"prior": 0.3, "purity": "guess"}, 'a number or "estimate"'),
        ({"prior": 0.3, "purity": (0.8, 0.9)}, "purity must be a number for groups"),
    ],
)
def test_bad_input(rows, given, message):
    with pytest.raises(InputError, match=message):
        evaluate_by(*rows, **given)
