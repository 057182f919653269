"""From counts to the tilt likelihood: normal scores of the pooled ranks, in bins."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.priors._labeled_unlabeled_counts import LabeledUnlabeledCounts, pooled_normal_scores
from pueval.priors._tilt_likelihood import TiltLikelihood

# Bins of the normal score; more bins change the prior by about 0.0003.
BINS = 400


def normal_scores(counts: Counts) -> tuple[Array, Array, Array, Array]:
    """Return scores, ascending, normal quantiles of their ranks, and effective numbers of rows."""
    table = LabeledUnlabeledCounts.from_counts(counts)
    score = table.score[::-1].astype(np.float64)
    labeled, unlabeled = (rows[::-1] for rows in table.effective_counts())
    return score, pooled_normal_scores(labeled, unlabeled), labeled, unlabeled


def scores_significantly_higher(labeled: Array, unlabeled: Array) -> bool:
    """Return whether the AUC of labeled against unlabeled rows is significantly above ½.

    Both arguments are numbers of rows per score, scores ascending.
    """
    a, b = labeled / labeled.sum(), unlabeled / unlabeled.sum()
    below_a, below_b = np.cumsum(a) - a / 2, np.cumsum(b) - b / 2
    auc = float(a @ below_b)
    variance = (a @ (below_b - auc) ** 2) / labeled.sum()
    variance += (b @ (1 - below_a - auc) ** 2) / unlabeled.sum()
    return bool(auc - 0.5 > 1.645 * np.sqrt(variance))


def binned_likelihood(z: Array, labeled: Array, unlabeled: Array) -> TiltLikelihood:
    """Return the likelihood on bins of equal width in z, each placed at its mean z."""
    if z.size <= BINS:
        return TiltLikelihood(z, labeled, unlabeled)
    bin_index = ((z - z[0]) / (z[-1] - z[0]) * BINS).astype(int)
    first = np.flatnonzero(np.r_[True, np.diff(np.minimum(bin_index, BINS - 1)) > 0])
    weight = labeled / labeled.sum() + unlabeled / unlabeled.sum()
    mean = np.add.reduceat(weight * z, first) / np.add.reduceat(weight, first)
    return TiltLikelihood(mean, np.add.reduceat(labeled, first), np.add.reduceat(unlabeled, first))
