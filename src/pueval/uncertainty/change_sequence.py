"""Confidence sequences for a change of the mean of independent normal estimates.

Estimates x₁, x₂, … arrive one after another. Each is normal with a known variance sᵢ²; the first r
of them are the reference. For every start j > r, the change at j is the mean of xⱼ, …, xₜ less that
of x₁, …, xⱼ₋₁, with weights 1/sᵢ². Its error is normal with variance
vⱼₜ = 1/Σᵢ₌ⱼᵗ sᵢ⁻² + 1/Σᵢ₌₁ʲ⁻¹ sᵢ⁻², the second part of which is the error of the reference.

Mixed over shifts δ ~ N(0, τ²) of all estimates from j on, the likelihood ratio of shift against no
shift is a function of the change Δ alone,

    LRⱼₜ = √(v/(v + τ²)) · exp(½ Δ² τ² / (v (v + τ²))),

since Δ is the least squares estimate of δ beside an unknown common mean. As a ratio of joint
densities of the differences from x₁ it is a martingale with mean 1, so the probability that it
ever reaches 1/a is at most a (Ville). With a = rate/(k(k + 1)) for the k-th possible start, which
sum to the rate, all intervals

    Δ ± √(v (v + τ²)/τ² · (2 log(1/a) + log((v + τ²)/v)))

hold together, over all j and all t without end, with probability 1 − rate. Nothing is assumed about
the means: each interval is for the difference of the weighted means of the true values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array

# Standard deviation of the mixed shifts, in standard errors of the first estimate after the
# reference. A factor of two more or less hardly moves the boundary.
SHIFT_SCALE = 2.0


@dataclass(frozen=True, eq=False)
class ChangeIntervals:
    """The clearest change at every look, with its interval.

    Attributes
    ----------
    start : ndarray of int
        Index of the estimate from which on the change has the most evidence, after each look.
    value : ndarray
        Mean from there on, less the mean before.
    low, high : ndarray
        Confidence sequence of that change.
    evidence : ndarray
        Likelihood ratio of a change, times the weight of its start; 1/rate or more is an alarm.
    """

    start: Array
    value: Array
    low: Array
    high: Array
    evidence: Array

    @property
    def excludes_zero(self) -> Array:
        """Whether the interval of each look excludes no change."""
        excluded: Array = (self.low > 0) | (self.high < 0)
        return excluded


def change_intervals(
    value: Array, variance: Array, *, n_reference: int = 1, rate: float
) -> ChangeIntervals:
    """Return the clearest change at every look, with an interval that holds over all looks.

    Parameters
    ----------
    value, variance : ndarray of shape (n,)
        Estimates and their variances. Variances must not depend on the estimates themselves, or
        weighted means are biased.
    n_reference : int
        How many of the first estimates are the reference; there is a look after each of the others.
    rate : float
        Probability that any of the intervals, at any look, misses the true difference of means.

    Examples
    --------
    >>> value = np.array([0.0, 0.1, -0.1, 3.0, 3.2, 2.9])
    >>> changes = change_intervals(value, np.full(6, 0.2), rate=0.05)
    >>> changes.start, changes.excludes_zero
    (array([1, 1, 3, 3, 3]), array([False, False,  True,  True,  True]))
    """
    precision = 1 / variance
    shift_variance = SHIFT_SCALE**2 * variance[n_reference]
    n_looks = value.size - n_reference
    # Sums over the estimates before each start.
    weight, total = np.cumsum(precision), np.cumsum(precision * value)
    columns = np.zeros((5, n_looks))
    for look in range(n_reference, value.size):
        start = np.arange(n_reference, look + 1)
        before = weight[start - 1]
        after = weight[look] - before
        change = (total[look] - total[start - 1]) / after - total[start - 1] / before
        v = 1 / before + 1 / after
        spread = (v + shift_variance) / v
        order = start - n_reference + 1.0
        log_weight = np.log(order * (order + 1))
        log_ratio = change**2 * shift_variance / (2 * v * v * spread) - np.log(spread) / 2
        best = int(np.argmax(log_ratio - log_weight))
        bound = 2 * (np.log(1 / rate) + log_weight[best]) + np.log(spread[best])
        margin = np.sqrt(v[best] ** 2 * spread[best] / shift_variance * bound)
        # Beyond that the likelihood ratio is infinite as a number.
        evidence = np.exp(min(log_ratio[best] - log_weight[best], 700.0))
        columns[:, look - n_reference] = (
            start[best],
            change[best],
            change[best] - margin,
            change[best] + margin,
            evidence,
        )
    return ChangeIntervals(columns[0].astype(np.intp), *columns[1:])
