"""Test of random labeling: whether the probability of a label changes with the score."""

from __future__ import annotations

import scipy  # loads its submodules when they are first used

from pueval.audit_estimates.labeling_model import FIXED, LabelingModel

# Precision of a slope that is free.
FREE = 1e-4
# Added to the audited positives, these are the degrees of freedom of the F distribution. With a
# handful of positives, the chi-squared distribution rejects too often (benchmarks/audit_test.py).
MORE_FREEDOM = 10


def random_labeling_pvalue(model: LabelingModel) -> float:
    """Return the p-value of the likelihood-ratio test that the propensity has no slope.

    Under random labeling, twice the gain of the log-likelihood by a slope of logit e has about an F
    distribution with one degree of freedom. Both fits let the probability of being positive be as
    free as possible: where a stiff curve cannot follow the scores, a slope of e would.
    """
    # The last scale of the deviations is the largest.
    precision = model.precisions("random")[[-1, -1]]
    precision[1, model.split + 1] = FREE
    precision[:, model.split + 2 :] = FIXED
    density = model.log_density(model.modes(precision), precision)
    gain = max(2 * (density[1] - density[0]), 0.0)
    freedom = model.tally.unlabeled_positive.sum() + MORE_FREEDOM
    return float(scipy.stats.f.sf(gain, 1, freedom))
