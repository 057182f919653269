"""Weights of audited rows relative to rows with similar scores."""

import numpy as np
import pytest

from pueval.audit_estimates.apply_audit import relative_weights
from pueval.audit_estimates.audited_rows import AuditedRows


def rows_with(weight, score):
    no = np.zeros(score.size, bool)
    return AuditedRows(score, no, no, weight, has_probability=True)


@pytest.mark.parametrize("size", [30, 50, 200, 1000])
def test_weights_that_follow_the_score_cost_few_rows(size):
    """Weights from 1 to 20, as in an audit that prefers high scores."""
    score = np.random.default_rng(0).normal(size=size)
    relative = relative_weights(rows_with(np.exp(3 / (1 + np.exp(score))), score))
    assert 0.9 * size < relative.sum() <= size * (1 + 1e-9)


@pytest.mark.parametrize("size", [50, 200, 1000])
def test_other_weights_stay_in_proportion(size):
    rng = np.random.default_rng(0)
    score, hidden = rng.normal(size=size), rng.random(size) < 0.5
    weight = np.where(hidden, 5.0, 1.0)
    relative = relative_weights(rows_with(weight, score))
    kish = weight.sum() ** 2 / np.sum(weight**2)
    assert 0.8 * kish < relative.sum() < 1.05 * kish
    assert relative[hidden].mean() / relative[~hidden].mean() == pytest.approx(5, rel=0.3)


def test_one_row():
    assert relative_weights(rows_with(np.array([7.0]), np.array([0.0]))) == pytest.approx(1)


def test_rows_without_weight():
    score = np.arange(100.0)
    relative = relative_weights(rows_with(np.where(score % 10 == 0, 0.0, 2.0), score))
    assert np.all(relative[::10] == 0)
    assert relative.sum() == pytest.approx(90, rel=0.2)
