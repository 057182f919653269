"""Purity for a known prior, prevalence or label frequency: likelihood, posterior and coverage."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pueval import Counts, InputError
from pueval.core.prior_line import PriorLine
from pueval.priors import _purity_estimate as module
from pueval.priors._purity_estimate import estimate_purity
from tests.priors.test_tilt import likelihood_of_counts, mixture, slow_loss, slow_normal_scores


def rows(prior, n_labeled, n_unlabeled, **options):
    score, y = mixture(prior, n_labeled, n_unlabeled, **options)
    return Counts.from_arrays(y, score), score, y


def prevalence_line(counts, prior, purity):
    return PriorLine.of(
        counts,
        "prevalence",
        (counts.n_labeled * purity + counts.n_unlabeled * prior) / counts.n,
    )


def test_maxima_against_a_general_optimizer():
    counts, score, y = rows(0.3, 60, 200, purity=0.8)
    model, line = likelihood_of_counts(counts), prevalence_line(counts, 0.3, 0.8)
    logits = np.array([0.5, 1.5, 3.0])
    z = slow_normal_scores(score, y)
    for x in logits:
        # One at a time: beside a much better maximum, a rough one is enough.
        fits = module._fit_on_line(model, line, np.array([x]))
        purity = 1 / (1 + np.exp(-x))
        prior = line.prior(purity)
        ends = np.log([prior / (1 - prior), purity / (1 - purity)])
        slow = minimize(lambda free: slow_loss(np.r_[free, ends], z, y), np.zeros(8))
        assert fits.loss[0] == pytest.approx(slow.fun, abs=1e-3)


def test_posterior_has_the_weak_prior_distribution():
    """What the likelihood includes for prior and purity is replaced by Beta(1, 1/2)."""
    counts, _, _ = rows(0.3, 60, 200, purity=0.8)
    model, line = likelihood_of_counts(counts), prevalence_line(counts, 0.3, 0.8)
    fits = module._fit_on_line(model, line, np.array([0.5, 1.5, 3.0]))
    prior, purity = (1 / (1 + np.exp(-fits.parameters[:, k])) for k in (-2, -1))
    included = np.log(prior * (1 - prior) ** 2) + np.log(purity**2 * (1 - purity) ** 0.25)
    expected = fits.log_integrated - included + np.log(purity * (1 - purity) ** 0.5)
    np.testing.assert_allclose(module._log_posterior(fits), expected)


@pytest.mark.parametrize("share", ["prior", "prevalence", "label_frequency"])
def test_prior_follows_from_the_purity(share):
    counts, _, _ = rows(0.3, 1000, 4000, purity=0.85)
    values = {
        "prior": 0.3,
        "prevalence": (850 + 1200) / 5000,
        "label_frequency": 850 / (850 + 1200),
    }
    line = PriorLine.of(counts, share, values[share])
    found = estimate_purity(counts, line, share, purities=line.purities)
    low, high = found.purity_interval
    assert low < 0.85 < high
    assert high - low < 0.25
    assert found.prior == line.prior(found.purity)
    assert found.known_share == share
    for purity in (low, high):
        assert found.prior_at(purity) == pytest.approx(line.prior(purity))
    assert (found.prior_interval is None) == (share == "prior")


def test_clean_labels_are_not_ruled_out():
    counts, _, _ = rows(0.3, 300, 1500)
    line = prevalence_line(counts, 0.3, 1.0)
    found = estimate_purity(counts, line, "prevalence", purities=line.purities)
    assert found.purity_interval[1] == 1
    assert found.purity_pvalue > 0.05


def test_more_positives_labeled_than_there_are():
    """A prevalence of 5% leaves at most 60 right labels among 200."""
    counts, _, _ = rows(0.0, 200, 1000, purity=0.25)
    line = PriorLine.of(counts, "prevalence", 0.05)
    found = estimate_purity(counts, line, "prevalence", purities=line.purities)
    assert found.purity_interval[1] <= 0.3 + 1e-9
    assert found.purity_pvalue is None
    assert found.prior >= 0


def test_scores_that_do_not_separate():
    counts, _, _ = rows(0.3, 100, 500, distance=0.0)
    line = prevalence_line(counts, 0.3, 1.0)
    with pytest.raises(InputError, match="the purity cannot be estimated"):
        estimate_purity(counts, line, "prevalence", purities=line.purities)


@pytest.mark.parametrize(("purity", "distance"), [(0.9, 2.5), (0.8, 2.0)])
def test_coverage(purity, distance):
    held = []
    for seed in range(40):
        counts, _, _ = rows(0.3, 300, 1500, purity=purity, distance=distance, seed=seed)
        line = prevalence_line(counts, 0.3, purity)
        low, high = estimate_purity(
            counts, line, "prevalence", purities=line.purities
        ).purity_interval
        held.append(low <= purity <= high)
    assert np.mean(held) >= 0.85
