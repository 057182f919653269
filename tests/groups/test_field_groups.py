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


def test_intervals_end_within_the_range_of_the_measure():
    """With few first rows, and a prior that follows from the number of labeled rows."""
    y, score, by, _ = grouped_rows()
    precision = evaluate_by(y, score, by, prevalence=0.3)["precision_at_20"]
    assert precision.low.min() == 0
    assert precision.high.max() == 1


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
    with pytest.raises(InputError, match="cannot be shrunken"):
        groups.shrinkage(MEASURE)
    with pytest.raises(InputError, match="cannot be shrunken"):
        evaluate_by(y, score, np.arange(y.size) % 7, prior=0.25, shrink=True)[MEASURE]


@pytest.mark.parametrize("measure", [MEASURE, "boyce_index", "auc_ratio", "f_pb"])
def test_macro_average_is_the_mean_of_groups(measure):
    y, score, by, _ = grouped_rows()
    groups = evaluate_by(y, score, by, prior=0.25)
    macro, of_groups = groups.macro(measure), groups[measure]
    assert macro.value == pytest.approx(of_groups.unclipped.mean(), abs=1e-12)
    assert macro.naive == pytest.approx(of_groups.naive.mean(), abs=1e-12)
    error = np.sqrt(np.sum(of_groups.standard_error**2)) / 3
    assert macro.standard_error == pytest.approx(error, rel=1e-9)
    assert macro.groups == 3
    # The prior of all groups is the same, so its error does not average out.
    shared = evaluate_by(y, score, by, prevalence=0.4).macro(measure)
    assert shared.standard_error >= 0.9 * error


@pytest.mark.parametrize("measure", [MEASURE, "bedroc_score", "boyce_index", "f_pb"])
def test_differences_of_groups(measure):
    y, score, by, _ = grouped_rows()
    groups = evaluate_by(y, score, by, prior=0.25)
    of_groups = groups[measure]
    from_first = groups.differences(measure, reference=0)
    expected = of_groups.unclipped - of_groups.unclipped[0]
    np.testing.assert_allclose(from_first.value, expected, atol=1e-12)
    apart = np.hypot(of_groups.standard_error, of_groups.standard_error[0])
    np.testing.assert_allclose(from_first.standard_error[1:], apart[1:], rtol=1e-9)
    assert np.isnan(from_first.pvalue[0])
    from_all = groups.differences(measure)
    expected = of_groups.unclipped - groups.overall[measure].unclipped
    np.testing.assert_allclose(from_all.value, expected, atol=1e-12)
    if measure != "boyce_index":
        # A third of all rows: the difference has 2/3 of the variance of the group. A Boyce index
        # is not linear in the rows.
        ratio = from_all.standard_error / (of_groups.standard_error * np.sqrt(2 / 3))
        assert np.all((ratio > 0.9) & (ratio < 1.1)), ratio


@pytest.mark.thorough
def test_size_of_tests_of_differences_from_all_rows():
    measures = (MEASURE, "bedroc_score", "auc_ratio", "boyce_index")
    values, errors = [], []
    for seed in range(60):
        y, score, by, _ = grouped_rows(seed, n=1500)
        groups = evaluate_by(y, score, by, prior=0.25, n_resamples=300)
        differences = [groups.differences(measure) for measure in measures]
        values.append([difference.value[0] for difference in differences])
        errors.append([difference.standard_error[0] for difference in differences])
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(values, axis=0)
    # The standard deviation of 60 values has an error of 9%. Resampled Boyce indices vary more.
    assert np.all((ratio[:3] > 0.75) & (ratio[:3] < 1.35)), ratio
    assert 0.75 < ratio[3] < 3, ratio


def test_audited_groups_are_averaged_and_compared_with_each_other():
    y, score, by, positive = grouped_rows()
    checked = np.random.default_rng(1).random(y.size) < 0.1
    groups = evaluate_by(y, score, by, audited=np.where(checked, positive.astype(float), np.nan))
    macro = groups.macro(MEASURE)
    truth = np.mean([np.mean((score[by == k] - positive[by == k]) ** 2) for k in range(3)])
    assert macro.low - 0.01 < truth < macro.high + 0.01
    difference = groups.differences(MEASURE, reference=0)
    assert np.all(difference.pvalue[1:] > 0.001)
    with pytest.raises(InputError, match="with an audit, groups can be compared with a group"):
        groups.differences(MEASURE)
