"""The test of clean labels: its statistic, its size, its power, and the warnings it gives."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2

from pueval import AssumptionWarning, Counts, compare, evaluate, priors
from pueval.priors._clean_label_test import (
    NOISY_PVALUE,
    clean_label_pvalue,
    likelihood_ratio_pvalue,
    noisy_label_warning,
)
from tests.priors.test_tilt import likelihood_of_counts, mixture, slow_loss, slow_normal_scores


def pvalue(*arguments, bins=None, **options):
    score, y = mixture(*arguments, **options)
    if bins:
        score = np.round(score * bins) / bins
    return clean_label_pvalue(Counts.from_arrays(y, score))


def slow_statistic(score, y):
    """Maximize over everything, with the purity free and near 1, without its penalty."""
    z = slow_normal_scores(score, y)

    def loss(parameters):
        purity = 1 / (1 + np.exp(-parameters[9]))
        included = np.log(purity**2 * (1 - purity) ** 0.25)
        return slow_loss(parameters, z, y) + included

    start = np.r_[np.zeros(8), -1.0]
    clean = minimize(lambda free: loss(np.r_[free, 20.0]), start)
    free = minimize(loss, np.r_[clean.x, 2.0])
    return 2 * (clean.fun - free.fun)


def test_statistic_against_a_general_optimizer():
    score, y = mixture(0.2, 100, 290, purity=0.75, distance=3.0, seed=3)
    found = likelihood_ratio_pvalue(likelihood_of_counts(Counts.from_arrays(y, score)))
    assert found == pytest.approx(chi2.sf(slow_statistic(score, y), 1) / 2, rel=0.03)


@pytest.mark.parametrize(
    ("distance", "n_labeled", "n_unlabeled", "bins"),
    [(2.0, 300, 1500, None), (3.0, 300, 1500, None), (2.0, 30, 1500, None), (2.5, 300, 1500, 2)],
)
def test_size(distance, n_labeled, n_unlabeled, bins):
    """Clean labels seldom look noisy: with few labels and with ties, too."""
    pvalues = [
        pvalue(0.3, n_labeled, n_unlabeled, distance=distance, seed=seed, bins=bins)
        for seed in range(40)
    ]
    assert sum(p is not None and p < NOISY_PVALUE for p in pvalues) <= 2


def test_positives_far_in_the_tail_do_not_pass_for_wrong_labels():
    """With classes far apart, the evidence is a handful of rows."""
    pvalues = [pvalue(0.3, 3000, 20_000, distance=4.0, seed=seed) for seed in range(20)]
    assert min(pvalues) >= NOISY_PVALUE


def test_power():
    pvalues = [pvalue(0.3, 1000, 4000, purity=0.85, distance=3.0, seed=seed) for seed in range(8)]
    assert sum(p < NOISY_PVALUE for p in pvalues) >= 6


def test_no_test_where_nothing_can_be_seen():
    assert pvalue(0.3, 9, 100) is None
    assert pvalue(0.3, 100, 500, distance=0.0, seed=1) is None
    assert clean_label_pvalue(Counts.from_arrays([1] * 20 + [0] * 80, [1.0] * 100)) is None
    assert noisy_label_warning(None) is None
    assert noisy_label_warning(0.02) is None


class TestWarnings:
    @pytest.fixture
    def rows(self):
        score, y = mixture(0.3, 1000, 4000, purity=0.8, distance=3.0)
        return y, score

    @staticmethod
    def said(function, *arguments, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function(*arguments, **options)
        return result, sum("labels may be noisy" in str(w.message) for w in caught)

    @pytest.mark.parametrize(
        "given", [{"prior": 0.3}, {"prevalence": 0.44}, {"prior": (0.2, 0.3)}, {}]
    )
    def test_evaluate(self, rows, given):
        ev, times = self.said(evaluate, *rows, **given)
        assert times == 1
        assert sum("labels may be noisy" in warning for warning in ev.warnings) == 1

    @pytest.mark.parametrize(
        "given",
        [
            {"prior": 0.3, "purity": 0.8},
            {"prior": 0.3, "purity": (0.7, 0.9)},
            {"prior": 0.3, "purity": "estimate"},
            {"purity": "estimate"},
            {"prior": 0.3, "level": None},
        ],
    )
    def test_not_where_labels_are_not_called_clean(self, rows, given):
        assert self.said(evaluate, *rows, **given)[1] == 0

    def test_prior(self, rows):
        found, times = self.said(priors.estimate, *rows)
        assert times == 1
        assert found.purity_pvalue < NOISY_PVALUE
        assert "Test of clean labels" not in repr(found)  # the warning says it
        _, times = self.said(evaluate, *rows, prior=found)
        assert times == 0  # it was said before

    @pytest.mark.parametrize("method", ["tilt", "best_bin"])
    def test_any_method(self, rows, method):
        assert self.said(priors.estimate, *rows, method=method)[1] == 1

    def test_models_share_their_labels(self, rows):
        y, score = rows
        worse = score + np.random.default_rng(0).normal(size=y.size)
        for given in ({"prior": 0.3}, {}):
            found, times = self.said(compare, y, {"a": worse, "b": score}, **given)
            assert times == 1
            said = [warning for warning in found.warnings if "labels may be noisy" in warning]
            assert len(said) == 1

    def test_clean_labels(self):
        score, y = mixture(0.3, 1000, 4000, distance=3.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", AssumptionWarning)
            evaluate(y, score, prior=0.3)
