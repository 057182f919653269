"""Labeled positives and unlabeled rows at each distinct score, thinned if there are very many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError

# Counts of more than LARGEST_SIZE rows are thinned to about BINS bins, which costs no accuracy.
LARGEST_SIZE = 20_000
BINS = 4_096

NOT_SEPARATED = (
    "labeled positives do not score higher than unlabeled rows, so these scores tell nothing "
    "about the prior: any value is possible. Check the direction of the score."
)


@dataclass(frozen=True, eq=False)
class LabeledUnlabeledCounts:
    """Distinct scores with their numbers of labeled positives and unlabeled rows.

    Attributes
    ----------
    score : ndarray
        Distinct scores, descending.
    labeled, unlabeled : ndarray
        Numbers of rows at each score (sums of their weights).
    n_labeled, n_unlabeled : float
        Effective sample sizes; without weights, the numbers of rows.
    """

    score: Array
    labeled: Array
    unlabeled: Array
    n_labeled: float
    n_unlabeled: float

    @classmethod
    def from_counts(cls, counts: Counts) -> LabeledUnlabeledCounts:
        """Thin large counts and drop known negatives; refuse constant scores."""
        counts = thin_if_large(counts)
        used = counts.labeled + counts.unlabeled > 0
        if np.count_nonzero(used) < 2:
            raise InputError(
                f"all labeled and unlabeled rows have the same score "
                f"({counts.score[used][0]:g}). Pass scores that rank the rows."
            )
        labeled, unlabeled, _ = counts._samples
        return cls(
            counts.score[used],
            counts.labeled[used],
            counts.unlabeled[used],
            labeled.effective_size,
            unlabeled.effective_size,
        )

    def effective_counts(self) -> tuple[Array, Array]:
        """Return both columns, rescaled to sum to the effective sample sizes."""
        return (
            self.labeled * (self.n_labeled / self.labeled.sum()),
            self.unlabeled * (self.n_unlabeled / self.unlabeled.sum()),
        )

    def upper_tails(self) -> tuple[Array, Array, Array]:
        """Return labeled scores, and shares of labeled and unlabeled rows at or above each.

        Any ratio that falls with the labeled share and rises with the unlabeled share has its
        minimum at one of these thresholds: between them, only unlabeled rows are added.
        """
        used = self.labeled > 0
        labeled, unlabeled = np.cumsum(self.labeled), np.cumsum(self.unlabeled)
        return self.score[used], labeled[used] / labeled[-1], unlabeled[used] / unlabeled[-1]

    @property
    def separates(self) -> bool:
        """Whether the AUC of labeled positives against unlabeled rows is above ½."""
        higher = np.cumsum(self.labeled) - self.labeled / 2
        pairs = self.labeled.sum() * self.unlabeled.sum()
        return bool(np.sum(self.unlabeled * higher) > 0.5 * pairs)


def pooled_normal_scores(labeled: Array, unlabeled: Array) -> Array:
    """Return normal quantiles of the pooled ranks, both kinds of rows with equal total weight.

    Both arguments are numbers of rows at each distinct score, scores ascending.
    """
    share = (labeled / labeled.sum() + unlabeled / unlabeled.sum()) / 2
    return np.asarray(ndtri(np.cumsum(share) - share / 2))


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


def thin_if_large(counts: Counts) -> Counts:
    """Return the counts, thinned if they have very many rows."""
    return counts._thinned(BINS) if counts._n_rows("population") > LARGEST_SIZE else counts
