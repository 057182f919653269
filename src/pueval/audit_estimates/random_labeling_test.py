"""Test of random labeling: whether the probability of a label changes with the score."""

from __future__ import annotations

import scipy  # loads its submodules when they are first used

from pueval.audit_estimates.labeling_model import FIXED, LabelingModel

# Precision of a slope that is free.
FREE = 1e-4


def random_labeling_pvalue(model: LabelingModel) -> float:
    """Return the p-value of the likelihood-ratio test that the propensity has no slope.

    Under random labeling, twice the gain of the log-likelihood by a slope of logit e is chi-squared
    with one degree of freedom. Both fits smooth the probability of being positive alike: by the
    scale that is most likely under random labeling.
    """
    precision = model.likely_precision("random")[None].repeat(2, axis=0)
    precision[1, model.split + 1] = FREE
    precision[:, model.split + 2 :] = FIXED
    density = model.log_density(model.modes(precision), precision)
    return float(scipy.stats.chi2.sf(max(2 * (density[1] - density[0]), 0.0), 1))
