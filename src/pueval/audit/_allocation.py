"""Neyman's allocation: how likely each row is to be checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array


@dataclass(frozen=True)
class Allocation:
    """Probabilities that are proportional to a priority, with a floor and at most 1.

    A row with priority a is chosen with probability min(1, factor·(base + (1 − floor)·a)).

    Attributes
    ----------
    factor : float
        Set so that the probabilities of all rows add up to the budget.
    base : float
        Floor times the mean priority.
    floor : float
        Smallest probability, relative to that of a simple random sample.
    """

    factor: float
    base: float
    floor: float

    def probability(self, priority: Array) -> Array:
        """Return the probability of rows with these priorities."""
        raw: Array = self.factor * (self.base + (1 - self.floor) * priority)
        return np.minimum(raw, 1.0)


def allocate(priority: Array, number: Array, budget: int, floor: float) -> Allocation:
    """Distribute a budget over rows, by Neyman's allocation with a floor.

    Let rows be chosen independently with probabilities q, and let a be the standard deviation of
    what one row contributes to the error of an estimate. The variance of the estimate is about
    Σ a²/q. For a given Σ q it is smallest if q is proportional to a (Neyman, 1934). Here q is
    proportional to a mixture of a and its mean, so that no row is excluded.

    Parameters
    ----------
    priority : ndarray
        Standard deviation a of each group of rows, at least 0. If all are 0, all rows are equally
        likely to be chosen.
    number : ndarray
        Number of rows in each group.
    budget : int
        Sum of the probabilities; at most the number of rows.
    floor : float
        Smallest probability, as a share of budget / number of rows; in [0, 1].

    Returns
    -------
    Allocation

    Examples
    --------
    Two strata of 100 rows, with standard deviations 3 and 1, share 40 rows as 3 : 1:

    >>> import numpy as np
    >>> allocation = allocate(np.array([3.0, 1.0]), np.array([100, 100]), 40, floor=0)
    >>> allocation.probability(np.array([3.0, 1.0])).round(6)
    array([0.3, 0.1])
    """
    mean = float(np.sum(priority * number) / np.sum(number))
    if mean <= 0:
        return Allocation(float(budget / np.sum(number)), 1.0, floor)
    base = floor * mean
    share = base + (1 - floor) * priority
    certain = np.zeros(share.size, bool)
    while True:
        remaining = budget - np.sum(number[certain])
        weight = np.sum((number * share)[~certain])
        factor = float(remaining / weight) if weight > 0 else np.inf
        above = ~certain & (factor * share > 1)
        if not above.any():
            break
        # Rows above 1 are certain, and the others share what is left.
        certain |= above
    return Allocation(factor, base, floor)
