"""Test of random labeling: whether the probability of a label changes with the score."""

from __future__ import annotations

from typing import NamedTuple

import scipy  # loads its submodules when they are first used

from pueval.audit_estimates.labeling_model import FIXED, LabelingModel

# Precision of a slope that is free.
FREE = 1e-4
# Added to the audited positives, these are the degrees of freedom of the F distribution. With a
# handful of positives, the chi-squared distribution rejects too often (benchmarks/audit_test.py).
MORE_FREEDOM = 10


class RandomLabelingTest(NamedTuple):
    """P-value, and the slope of logit e: positive if labels favor high scores."""

    pvalue: float
    slope: float


def random_labeling_test(model: LabelingModel) -> RandomLabelingTest:
    """Return the likelihood-ratio test that the propensity has no slope.

    Under random labeling, twice the gain of the log-likelihood by a slope of logit e has about an F
    distribution with one degree of freedom. Both fits let the probability of being positive be as
    free as possible: where a stiff curve cannot follow the scores, a slope of e would.
    """
    # The last scale of the deviations is the largest.
    precision = model.precisions("random")[[-1, -1]]
    precision[1, model.split + 1] = FREE
    precision[:, model.split + 2 :] = FIXED
    modes = model.modes(precision)
    density = model.log_density(modes, precision)
    gain = max(2 * (density[1] - density[0]), 0.0)
    freedom = model.tally.unlabeled_positive.sum() + MORE_FREEDOM
    pvalue = float(scipy.stats.f.sf(gain, 1, freedom))
    return RandomLabelingTest(pvalue, float(modes[1, model.split + 1]))
