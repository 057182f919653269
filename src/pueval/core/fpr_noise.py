"""Noise of corrected false positive rates."""

from __future__ import annotations

from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts


def fpr_noise(counts: Counts, mixture: Mixture) -> float:
    """Return the variance that the correction adds to false positive rates, over tpr·(1 − tpr).

    The correction subtracts the labeled rows from the background as if they had the same scores as
    the positives there. Both are samples of the positives, so with n_L labeled rows and n_P
    positives in the background, fpr = (background − prior·labeled)/(1 − prior) has the variance
    (prior/(1 − prior))²·tpr·(1 − tpr)·(1/n_L + 1/n_P) besides that of a sample of negatives. It is
    0 without a correction. After an audit it is not known, and 0 is returned.
    """
    prior, purity = mixture.background_prior(counts), mixture.purity
    if not prior or counts._audit is not None:
        return 0.0
    positives = counts._inverse_propensity_sample() if counts.has_propensity else counts._labeled
    _, unlabeled, negative = counts.squared_weights
    per_background_row = (unlabeled + negative) / (counts.n_unlabeled + counts.n_negative) ** 2
    per_labeled_row = 1 / positives.effective_size
    variance = prior**2 * purity * per_labeled_row + prior * purity**2 * per_background_row
    return float(variance / (purity - prior) ** 2)
