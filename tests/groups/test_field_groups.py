"""Measures of families in groups of rows."""

from __future__ import annotations

import numpy as np
import pytest

from pueval import InputError, evaluate, evaluate_by
from tests.comparison.test_families import probabilities

MEASURE = "brier_score_loss"


def grouped_rows(seed=0, n=6000):
    y, scores, positive = probabilities(seed, n=n)
    return y, scores["a"], np.arange(n) % 3, positive


def test_groups_have_their_own_values():
    y, score, by, _ = grouped_rows()
    groups = evaluate_by(y, score, by, prior=0.25)[MEASURE]
    for k in range(3):
        rows = by == k
        alone = evaluate(y[rows], score[rows], prior=0.25)[MEASURE]
        assert groups.value[k] == pytest.approx(alone.value, abs=1e-12)
        assert groups.naive[k] == pytest.approx(alone.naive, abs=1e-12)
        assert groups.high[k] - groups.low[k] == pytest.approx(alone.high - alone.low, rel=0.1)


def test_an_estimated_prior_widens_intervals():
    y, score, by, _ = grouped_rows()
    exact = evaluate_by(y, score, by, prior=0.25)[MEASURE]
    estimated = evaluate_by(y, score, by)[MEASURE]
    assert np.all(estimated.high - estimated.low > 1.2 * (exact.high - exact.low))
    assert np.all(estimated.standard_error > exact.standard_error)


def test_audited_groups():
    y, score, by, positive = grouped_rows()
    checked = np.random.default_rng(1).random(y.size) < 0.1
    audited = np.where(checked, positive.astype(float), np.nan)
    groups = evaluate_by(y, score, by, audited=audited)
    estimates = groups[MEASURE]
    for k in range(3):
        truth = np.mean((score[by == k] - positive[by == k]) ** 2)
        assert estimates.low[k] - 0.01 < truth < estimates.high[k] + 0.01
        assert estimates.value[k] == groups.evaluation(k)[MEASURE].value


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_groups_without_estimates_and_refusals():
    y, score, by, _ = grouped_rows()
    by = np.where(y & (by == 2), 0, by)  # no labeled rows in the last group
    groups = evaluate_by(y, score, by, prior=0.25)
    assert np.isnan(groups[MEASURE].value[2])
    assert not np.isnan(groups[MEASURE].value[:2]).any()
    assert np.isnan(evaluate_by(y, score, by, prior=0.25, level=None)[MEASURE].low).all()
    for method in (groups.macro, groups.differences, groups.shrinkage):
        with pytest.raises(InputError, match="no average, difference or shrinkage"):
            method(MEASURE)
    with pytest.raises(InputError, match="cannot be shrunken"):
        evaluate_by(y, score, np.arange(y.size) % 7, prior=0.25, shrink=True)[MEASURE]
