"""A table of moderate size for the estimators that look at every threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError

# More rows than MOST_ROWS are put into about BINS bins: an estimate does not get better by more.
MOST_ROWS = 20_000
BINS = 4_096


@dataclass(frozen=True, eq=False)
class Reduced:
    """Distinct scores, and how many labeled and unlabeled rows have them.

    Attributes
    ----------
    score : ndarray
        Descending.
    labeled, unlabeled : ndarray
        Rows at each score.
    n_labeled, n_unlabeled : float
        Effective numbers of rows, which are the numbers of rows where these have no weights.
    """

    score: Array
    labeled: Array
    unlabeled: Array
    n_labeled: float
    n_unlabeled: float

    def effective(self) -> tuple[Array, Array]:
        """Return labeled and unlabeled rows at each score, in numbers of equally weighted rows."""
        return (
            self.labeled * (self.n_labeled / self.labeled.sum()),
            self.unlabeled * (self.n_unlabeled / self.unlabeled.sum()),
        )

    @property
    def separates(self) -> bool:
        """Whether labeled rows score higher than unlabeled ones on average."""
        higher = np.cumsum(self.labeled) - self.labeled / 2
        pairs = self.labeled.sum() * self.unlabeled.sum()
        return bool(np.sum(self.unlabeled * higher) > 0.5 * pairs)


# What estimators say where it does not.
SEPARATES_NOT = (
    "labeled rows do not score higher than unlabeled ones, so this score says nothing about the "
    "prior: every value is possible. Check the direction of the score."
)


def moderate(counts: Counts) -> Counts:
    """Return the counts, thinned if they are of very many rows."""
    return counts._thinned(BINS) if counts.n > MOST_ROWS else counts


def reduced(counts: Counts) -> Reduced:
    """Thin large counts, leave known negative rows out, and refuse constant scores."""
    counts = moderate(counts)
    used = counts.labeled + counts.unlabeled > 0
    if np.count_nonzero(used) < 2:
        raise InputError(
            f"all labeled and unlabeled rows have the same score ({counts.score[used][0]:g}), "
            "which says nothing about the prior. Pass scores that rank the rows."
        )
    labeled, unlabeled, _ = counts._samples
    return Reduced(
        counts.score[used],
        counts.labeled[used],
        counts.unlabeled[used],
        labeled.effective_size,
        unlabeled.effective_size,
    )


def tails(table: Reduced) -> tuple[Array, Array, Array]:
    """Labeled scores, and shares of labeled and of unlabeled rows at or above each.

    A ratio that falls with the labeled share and rises with the unlabeled one is least at one
    of these thresholds: between them only unlabeled rows are added.
    """
    at = table.labeled > 0
    labeled, unlabeled = np.cumsum(table.labeled), np.cumsum(table.unlabeled)
    return table.score[at], labeled[at] / labeled[-1], unlabeled[at] / unlabeled[-1]
