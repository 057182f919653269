"""Numbers of rows of many groups, where one Counts has them of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.mixture import Mixtures
from pueval.core.rates import Rates, Shares, correct_shares
from pueval.counts.counts import Counts


@dataclass(frozen=True, eq=False)
class Totals:
    """Rows of each kind in every group, and their effective numbers if they have weights.

    Stands for `Counts` where only their numbers of rows are asked for.
    """

    n_labeled: Array
    n_unlabeled: Array
    n_negative: Array
    effective: tuple[Array, Array, Array]

    @classmethod
    def of(cls, counts: Counts) -> Totals:
        """Return the numbers of rows of one Counts, as one group."""
        samples = counts._samples
        total = [np.array([kind.total]) for kind in samples]
        labeled, unlabeled, negative = (np.array([kind.effective_size]) for kind in samples)
        return cls(total[0], total[1], total[2], (labeled, unlabeled, negative))

    @property
    def kinds(self) -> tuple[Array, Array, Array]:
        """Numbers of labeled, unlabeled and known negative rows."""
        return self.n_labeled, self.n_unlabeled, self.n_negative

    @property
    def squared_weights(self) -> tuple[Array, Array, Array]:
        """Sums of squared weights of the rows of each kind; their numbers if they have none."""
        found = [share(n**2, rows) for n, rows in zip(self.kinds, self.effective, strict=True)]
        return found[0], found[1], found[2]

    @property
    def n(self) -> Array:
        """All rows."""
        return self.n_labeled + self.n_unlabeled + self.n_negative

    @property
    def n_others(self) -> Array:
        """Unlabeled and known negative rows."""
        return self.n_unlabeled + self.n_negative

    def take(self, groups: Array) -> Totals:
        """Return those of some groups, in this order; groups may be repeated."""
        total = [one[groups] for one in self.kinds]
        labeled, unlabeled, negative = (one[groups] for one in self.effective)
        return Totals(total[0], total[1], total[2], (labeled, unlabeled, negative))

    def corrected(
        self, columns: tuple[Array, Array, Array], mixtures: Mixtures, target: Target
    ) -> Rates:
        """Correct numbers of rows beyond a threshold, one threshold for each entry."""
        shares = [share(column, total) for column, total in zip(columns, self.kinds, strict=True)]
        return self.corrected_shares(Shares(*shares), mixtures, target)

    def corrected_shares(self, shares: Shares, mixtures: Mixtures, target: Target) -> Rates:
        """Correct shares of rows beyond a threshold."""
        like_counts: Any = self
        return correct_shares(like_counts, np.empty(0), shares, mixtures, target)


def share(part: Array, total: Array) -> Array:
    """Divide; 0 where there is nothing to divide."""
    result: Array = np.zeros(np.broadcast(part, total).shape)
    np.divide(part, total, out=result, where=total > 0)
    return result
