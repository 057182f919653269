"""What an audit says about the positives, by cells of the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pueval._typing import Array, Target
from pueval.samples.steps import find_cells

if TYPE_CHECKING:
    from pueval.counts.score_table import ScoreTable


# Largest share of negatives among labeled rows, relative to that among unlabeled rows. If both were
# equal, rates could not be corrected for wrong labels.
MOST_WRONG = 0.9


def raise_purity(purity: Array, prior: Array) -> Array:
    """Return purities that are above the prior: 1 − purity ≤ `MOST_WRONG`·(1 − prior).

    Negatives are rarer among labeled than among unlabeled rows. Few audited rows can look
    otherwise: if all of them are positive, estimates of both shares are near 1.
    """
    least: Array = 1 - MOST_WRONG * (1 - np.clip(prior, 0, 1))
    return np.maximum(purity, least)


@dataclass(frozen=True, eq=False)
class AuditedPositives:
    """The share of positives in each cell: an estimate, and draws from its distribution.

    Attributes
    ----------
    lower : ndarray of shape (k,)
        Lower edges of the cells, descending.
    labeled_share, unlabeled_share : ndarray of shape (k,)
        Share of positives among the labeled and the unlabeled rows of each cell.
    share_draws : ndarray of shape (n_draws, k)
        Draws of the share of positives among the rows of the target.
    purity : float
        Share of true positives among all labeled rows.
    purity_draws : ndarray of shape (n_draws,)
        Draws of it.
    target : {"population", "unlabeled"}
        Population whose positives these are.
    """

    lower: Array
    labeled_share: Array
    unlabeled_share: Array
    share_draws: Array
    purity: float
    purity_draws: Array
    target: Target

    def find(self, score: Array) -> Array:
        """Return the index of the cell of each score."""
        return find_cells(self.lower, score)

    def positives(self, score: Array, labeled: Array, unlabeled: Array) -> Array:
        """Return the number of positives among rows with these scores."""
        cell = self.find(score)
        number = unlabeled * self.unlabeled_share[cell]
        if self.target == "population":
            number = number + labeled * self.labeled_share[cell]
        return np.asarray(number, np.float64)

    def number_draws(self, counts: ScoreTable) -> Array:
        """Return draws of the number of positives in the target."""
        steps = counts.at(self.lower)
        rows = np.diff(steps.unlabeled, prepend=0).astype(np.float64)
        if self.target == "unlabeled":
            return np.asarray(self.share_draws @ rows)
        rows += np.diff(steps.labeled, prepend=0)
        # More wrong labels than expected are that many positives fewer.
        change = (self.purity_draws - self.purity) * counts.n_labeled
        return np.asarray(self.share_draws @ rows + change)

    def prior_draws(self, counts: ScoreTable) -> Array:
        """Return draws of the share of positives among the unlabeled rows; in [0, 1]."""
        numbers = self.number_draws(counts)
        if self.target == "population":
            numbers = numbers - self.purity_draws * counts.n_labeled
        return np.asarray(numbers / counts.n_unlabeled).clip(0, 1)
