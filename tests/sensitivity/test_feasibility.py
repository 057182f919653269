"""The largest prior the data allow: its coverage, its power, and the warning."""

import warnings

import numpy as np
import pytest

from pueval import (
    AssumptionWarning,
    Counts,
    InputError,
    Mixture,
    evaluate,
    feasibility_pvalue,
    largest_prior,
)
from pueval.sensitivity.feasibility import region_infeasibility_message
from tests.conftest import draw


def two_samples(rng, n_labeled, n_unlabeled, prior, purity, separation):
    kinds = [(n_labeled, purity), (n_unlabeled, prior)]
    scores = [rng.normal(size=n) + separation * (rng.random(n) < share) for n, share in kinds]
    return Counts.from_arrays(np.repeat([1, 0], [n_labeled, n_unlabeled]), np.concatenate(scores))


@pytest.mark.parametrize(
    ("prior", "purity", "separation", "rounded"),
    [(0.3, 1.0, 3.0, False), (0.3, 0.8, 6.0, False), (0.1, 1.0, 6.0, False), (0.3, 1.0, 8.0, True)],
)
def test_the_true_prior_is_rarely_above_the_limit(prior, purity, separation, rounded):
    rng = np.random.default_rng(3)
    misses = 0
    for _ in range(300):
        counts = two_samples(rng, 60, 300, prior, purity, separation)
        if rounded:
            counts = Counts.from_table(np.round(counts.score), counts.labeled, counts.unlabeled)
        misses += largest_prior(counts, purity=purity).prior < prior
    assert misses <= 15 + 10  # 5 % of 300, and chance


def test_the_limit_comes_close_to_the_truth():
    rng = np.random.default_rng(4)
    limits = [largest_prior(two_samples(rng, 2000, 10_000, 0.3, 1.0, 6.0)).prior for _ in range(5)]
    assert 0.3 < np.mean(limits) < 0.35
    noisy = [
        largest_prior(two_samples(rng, 2000, 10_000, 0.3, 0.8, 6.0), purity=0.8).prior
        for _ in range(5)
    ]
    assert 0.3 < np.mean(noisy) < 0.36


def test_impossible_purity():
    """No negatives among the labeled, yet purity .6 is claimed: no prior fits."""
    rng = np.random.default_rng(5)
    counts = two_samples(rng, 2000, 10_000, 0.1, 1.0, 6.0)
    limit = largest_prior(counts, purity=0.6)
    assert limit.prior == 0
    with pytest.warns(AssumptionWarning) as caught:
        evaluate(counts, prior=0.1, purity=0.6)
    texts = [str(warning.message) for warning in caught]
    assert "No prior fits a purity of 0.6" in texts[0]
    assert "Raise the purity" in texts[0]
    assert "clipped: roc_auc" in texts[1]


def test_the_warning_names_threshold_and_largest_prior(rng):
    _, score, labeled = draw(rng, 20_000, prevalence=0.2, label_frequency=0.3, separation=3)
    with pytest.warns(AssumptionWarning) as caught:
        ev = evaluate(labeled, score, prior=0.6, threshold=0.0)
    text = str(caught[0].message)
    limit = largest_prior(ev.counts)
    assert text.startswith("prior 0.6 does not fit this ranking with purity 1: ")
    assert f"score at or above {limit.threshold:g}" in text
    assert f"The largest prior these data allow is {limit.prior:.3g} (95% confidence)" in text
    assert ev.warnings[0] == text
    # It says what it saw: the shares beyond that threshold.
    above = score >= limit.threshold
    assert limit.labeled_share == pytest.approx(above[labeled].mean())
    assert limit.background_share == pytest.approx(above[~labeled].mean())


def test_no_warning_for_the_true_prior(rng):
    _, score, labeled = draw(rng, 20_000, prevalence=0.2, label_frequency=0.3, separation=1)
    assert evaluate(labeled, score, prevalence=0.2).warnings == ()


def test_weights_widen_the_limit(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.3, separation=3)
    equal = largest_prior(Counts.from_arrays(labeled, score)).prior
    weight = rng.exponential(size=2000) ** 2
    weighted = Counts.from_arrays(labeled, score, sample_weight=weight)
    assert weighted.effective_sizes[0] < labeled.sum() / 2
    assert largest_prior(weighted).prior > equal
    # Weights that are all alike say nothing.
    alike = Counts.from_arrays(labeled, score, sample_weight=np.full(2000, 0.3))
    assert largest_prior(alike).prior == pytest.approx(equal)


def test_known_negatives_dilute(rng):
    _, score, labeled = draw(rng, 20_000, prevalence=0.3, label_frequency=0.3, separation=4)
    counts = Counts.from_arrays(labeled, score)
    negatives = Counts.from_arrays(
        np.full(5000, 2), rng.normal(size=5000), unlabeled_label=0, negative_label=2
    )
    alone, both = largest_prior(counts).prior, largest_prior(counts + negatives).prior
    assert both == pytest.approx(alone, abs=0.02)


def test_pvalue(rng):
    _, score, labeled = draw(rng, 5000, prevalence=0.3, label_frequency=0.3, separation=3)
    counts = Counts.from_arrays(labeled, score)
    limit = largest_prior(counts, level=0.95).prior
    assert feasibility_pvalue(counts, prior=limit + 1e-4) == pytest.approx(0.05, abs=0.003)
    assert feasibility_pvalue(counts, prior=0.1) == 1.0
    assert feasibility_pvalue(counts, prior=0.9) < 1e-6


def test_pvalue_is_conservative():
    """The true prior is rejected at most as often as the level says."""
    rng = np.random.default_rng(6)
    pvalues = [
        feasibility_pvalue(two_samples(rng, 60, 300, 0.3, 1.0, 6.0), prior=0.3) for _ in range(100)
    ]
    assert np.mean(np.array(pvalues) < 0.05) <= 0.05 + 0.05


def test_bad_input():
    counts = Counts.from_arrays([1, 0], [2, 1])
    for level in (0, 1, -1):
        with pytest.raises(InputError, match=r"level must be a number in \(0, 1\)"):
            largest_prior(counts, level=level)
    known = Counts.from_arrays([1, 0], [2, 1], unlabeled_label=None, negative_label=0)
    with pytest.raises(InputError, match="no unlabeled rows"):
        largest_prior(known)


class TestIntervals:
    """A prior given as an interval is looked at as a whole, not only in its middle."""

    counts = two_samples(np.random.default_rng(6), 2000, 10_000, 0.3, 1.0, 6.0)

    def said(self, **assumed):
        with pytest.warns(AssumptionWarning) as found:
            evaluate(self.counts, threshold=3.0, level=None, **assumed)
        return str(found[0].message)

    def test_all_of_it_fits(self):
        ev = evaluate(self.counts, prior=(0.1, 0.3), threshold=3.0, level=None)
        assert ev.warnings == ()

    def test_the_upper_end_does_not(self):
        largest = largest_prior(self.counts).prior
        said = self.said(prior=(0.2, 0.35))  # the middle, .275, does
        assert f"priors above {largest:.3g} do not fit this ranking (95% confidence)" in said
        assert "extend to a prior of 0.35" in said

    def test_with_impure_labels_less_fits(self):
        assert not largest_prior(self.counts, purity=0.9).possible
        assert "no prior fits a purity of 0.9 (95% confidence)" in self.said(
            prior=(0.1, 0.3), purity=(0.9, 1.0)
        )
        counts = Counts.from_table([2, 1], labeled=[160, 40], unlabeled=[120, 480])
        limit = largest_prior(counts, purity=0.9)
        assert 0 < limit.prior < largest_prior(counts).prior
        said = region_infeasibility_message(counts, Mixture(0.1), Mixture(0.46, 0.9))
        assert f"priors above {limit.prior:.3g} do not fit this ranking with purity 0.9" in said

    def test_nothing_fits(self):
        assert "no prior and purity within the given intervals fit: prior 0.4" in self.said(
            prior=(0.4, 0.5)
        )


def test_a_prior_of_zero_can_be_impossible_too(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.3, separation=4)
    counts = Counts.from_arrays(labeled, score)
    limit = largest_prior(counts, purity=0.8)
    assert limit.prior == 0
    assert not limit.possible
    assert not limit.allows(0)
    assert feasibility_pvalue(counts, prior=0.0, purity=0.8) < 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(counts, prior=0.0, purity=0.8, level=None)
    assert "No prior fits a purity of 0.8" in ev.warnings[0]
    assert "Raise the purity, or question" in ev.warnings[0]
    assert feasibility_pvalue(counts, prior=0.0) == 1
