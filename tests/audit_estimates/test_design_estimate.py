"""Intervals from audited rows alone: as wide as the design says, whatever the probabilities."""

import numpy as np
import pytest
import scipy.stats

from pueval import evaluate
from pueval.audit_estimates.design_estimate import drawn_weights
from pueval.errors import AssumptionWarning
from tests.audit_estimates.audits import label_rows, make_rows


def test_rows_with_equal_weights_are_drawn_together():
    rng = np.random.default_rng(0)
    cell, weight = np.array([2.0, 1.0, 2.0, 2.0]), np.array([3.0, 1.0, 3.0, 5.0])
    (groups,), drawn = drawn_weights([cell], weight, 20_000, rng)
    assert groups.tolist() == [1, 2, 2]
    np.testing.assert_allclose(drawn.mean(axis=0), [1, 6, 5], rtol=0.03)
    np.testing.assert_allclose(drawn.var(axis=0), [1, 18, 25], rtol=0.06)


def standard_deviation(positive, probability, rng):
    """Return that of the weighted share of positives over repeated audits."""
    shares = []
    for _ in range(400):
        chosen = rng.random(positive.size) < probability
        shares.append(np.average(positive[chosen], weights=1 / probability[chosen]))
    return np.std(shares)


@pytest.mark.parametrize("favored", ["none", "low", "high"])
def test_prior_by_the_audit_alone(favored):
    """Rows with high scores are often positive; so equal effective sizes tell different amounts."""
    rng = np.random.default_rng(1)
    positive, score = make_rows(rng)
    labeled = label_rows(rng, positive, score)
    median = np.median(score)
    often = {"none": score < -np.inf, "low": score < median, "high": score > 1.2}[favored]
    weight = np.where(labeled, 0, 1 + 7.0 * often)
    probability = 300 * weight / weight.sum()
    widths = []
    for _ in range(6):
        chosen = rng.random(score.size) < probability
        audited = np.where(chosen, positive, np.nan)
        alone = evaluate(
            labeled, score, audited=audited, audit_probability=probability, level=None
        ).audit.prior_by_audit_alone
        share = np.average(positive[chosen], weights=1 / probability[chosen])
        assert alone.value == pytest.approx(share)
        assert alone.low < share < alone.high
        widths.append(alone.high - alone.low)
    deviation = standard_deviation(positive[~labeled], probability[~labeled], rng)
    assert np.mean(widths) / (2 * 1.96 * deviation) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("favored", [None, True, False])
def test_purity(favored):
    """Wrong labels have low scores."""
    rng = np.random.default_rng(2)
    positive, score = make_rows(rng)
    labeled = label_rows(rng, positive, score)
    labeled |= ~positive & (rng.random(score.size) < 0.02)
    weight = np.ones(score.size)
    if favored is not None:
        weight[(score > 1.5) == favored] = 6.0
    probability = np.where(labeled, 120 * weight / weight[labeled].sum(), 300 / (~labeled).sum())
    widths = []
    for _ in range(6):
        audited = np.where(rng.random(score.size) < probability, positive, np.nan)
        low, high = evaluate(
            labeled, score, audited=audited, audit_probability=probability, level=None
        ).audit.purity[1:]
        widths.append(high - low)
    deviation = standard_deviation(positive[labeled], probability[labeled], rng)
    assert np.mean(widths) / (2 * 1.96 * deviation) == pytest.approx(1.0, abs=0.2)


def test_purity_of_a_random_sample_has_jeffreys_interval():
    rng = np.random.default_rng(3)
    positive, score = make_rows(rng)
    labeled = label_rows(rng, positive, score)
    audited = np.where(~labeled & (rng.random(score.size) < 0.05), positive, np.nan)
    checked = np.flatnonzero(labeled)[:50]
    audited[checked] = np.arange(50) < 40
    purity = evaluate(labeled, score, audited=audited, n_resamples=20_000, level=None).audit.purity
    assert purity.value == pytest.approx(40.5 / 51)
    limits = scipy.stats.beta.ppf([0.025, 0.975], 40.5, 10.5)
    np.testing.assert_allclose(purity[1:], limits, atol=0.005)


def test_unequal_sample_weights_are_noted():
    rng = np.random.default_rng(4)
    positive, score = make_rows(rng)
    labeled = label_rows(rng, positive, score)
    audited = np.where(~labeled & (rng.random(score.size) < 0.03), positive, np.nan)
    weight = rng.lognormal(0, 2, score.size)
    with pytest.warns(AssumptionWarning, match="very different weights or audit probabilities"):
        evaluate(labeled, score, audited=audited, sample_weight=weight, level=None)
