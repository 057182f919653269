"""Strata of the score, and how much a checked row of each would tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from pueval._typing import Array, Target
from pueval.audit._measure_gradients import measure_gradient
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_pair
from pueval.counts.audited_positives import AuditedPositives
from pueval.counts.counts import Counts

# Strata: a third of them each for labeled, unlabeled and known negative rows, if there are any.
STRATA = 60
# Nobody is more certain than this that an unlabeled row is positive, before it is checked.
MOST_CERTAIN = 0.95
# Weight of a pseudo-observation among the labeled rows, spread like the unlabeled ones.
PSEUDO_ROWS = 0.5


@dataclass(frozen=True, eq=False)
class PlanStrata:
    """Unlabeled rows in strata of the score.

    Attributes
    ----------
    lower : ndarray of shape (k,)
        Lower edges, descending. The threshold is one of them. No score is below the last one.
    unlabeled : ndarray of shape (k,)
        Weight of the unlabeled rows.
    positive_share : ndarray of shape (k,)
        Expected share of positives among them.
    priority : ndarray of shape (k,)
        How much a checked row of the stratum would tell about the measures.
    """

    lower: Array
    unlabeled: Array
    positive_share: Array
    priority: Array

    @classmethod
    def of(
        cls,
        counts: Counts,
        mixture: Mixture,
        threshold: float,
        target: Target,
        measures: tuple[str, ...],
    ) -> PlanStrata:
        """Divide rows into strata, and find the priority of each.

        With an earlier audit, the shares of positives come from ``counts``, else from the mixture.
        """
        rows = Counts(counts._labeled, counts._unlabeled, counts._negative)
        strata = rows._thinned(STRATA, keep=[threshold])
        labeled, unlabeled, negative = (
            np.asarray(kind, np.float64)
            for kind in (strata.labeled, strata.unlabeled, strata.negative)
        )
        lower = strata.score.astype(np.float64)
        share, in_labeled = _positive_shares(lower, labeled, unlabeled, mixture, counts._audit)
        in_target, positives = unlabeled, unlabeled * share
        if target == "population":
            in_target = unlabeled + labeled + negative
            positives = positives + labeled * in_labeled
        deviation = np.sqrt(share * (1 - share.clip(max=MOST_CERTAIN)))
        squares = np.zeros(lower.size)
        for name in measures:
            gradient = measure_gradient(name, in_target, positives, lower >= threshold)
            priority = np.abs(gradient) * deviation
            # Each variance counts relative to the smallest one that an audit can have.
            squares += (priority / max(np.sum(unlabeled * priority), 1e-300)) ** 2
        return cls(lower, unlabeled, share, np.sqrt(squares / len(measures)))

    def find(self, score: Array) -> Array:
        """Return the index of the stratum of each score."""
        index = np.searchsorted(-self.lower, -np.asarray(score, np.float64))
        return np.minimum(index, self.lower.size - 1)


def _positive_shares(
    lower: Array,
    labeled: Array,
    unlabeled: Array,
    mixture: Mixture,
    audit: AuditedPositives | None,
) -> tuple[Array, Array]:
    """Return the share of positives among the unlabeled and the labeled rows of each stratum.

    Without an audit, it is prior·f₁/f_U with f₁ the density of positives, corrected for purity,
    and does not fall with the score.
    """
    if audit is not None:
        cell = audit.find(lower)
        return audit.unlabeled_share[cell], audit.labeled_share[cell]
    n_unlabeled = unlabeled.sum()
    density = unlabeled / n_unlabeled
    smoothed = (labeled + PSEUDO_ROWS * density) / (labeled.sum() + PSEUDO_ROWS)
    prior = max(mixture.prior, 1 / n_unlabeled)
    positive, _ = correct_pair(smoothed, density, Mixture(prior, mixture.purity), prior)
    ratio = np.divide(prior * positive, density, out=np.zeros(density.size), where=density > 0)
    share = scipy.optimize.isotonic_regression(
        ratio, weights=np.maximum(unlabeled, 1e-9), increasing=False
    ).x
    return share.clip(0, 1), np.full(lower.size, mixture.purity)
