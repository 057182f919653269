"""Distribution of delays that are seen only if they are no longer than the age of their row.

A delay d of a row of age a is seen if d ≤ a (right truncation). Let n(t) be the number of delays
that equal t, and R(t) the number of rows with d ≤ t ≤ a, which are at risk in reversed time. The
product-limit estimate is F(x) = Π_{t > x} (1 − n(t)/R(t)), relative to the longest delay, where F
is 1. log F has the variance Σ_{t > x} n(t)/(R(t)·(R(t) − n(t))).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array

# The longest delay of the estimate has at least this many rows at risk, and so has the age of the
# youngest rows in use.
LEAST_AT_RISK = 10
# Smallest propensity of the rows in use.
LEAST_PROPENSITY = 0.05


@dataclass(frozen=True, eq=False)
class RiskSets:
    """Distinct delays, ascending, with the numbers of labels and of rows at risk at each."""

    delay: Array
    n_labels: Array
    at_risk: Array

    @classmethod
    def of(cls, delay: Array, age: Array) -> RiskSets:
        """Count the labels with each delay, and the rows at risk."""
        values, number = np.unique(delay, return_counts=True)
        return cls(values, number, _at_risk(values, np.sort(delay), np.sort(age)))

    def part(self, first: int, last: int) -> RiskSets:
        """Return the delays from the index ``first`` to ``last``, both included."""
        rows = slice(first, last + 1)
        return RiskSets(self.delay[rows], self.n_labels[rows], self.at_risk[rows])

    def connected(self, horizon: float | None) -> RiskSets:
        """Return the longest run of delays whose distribution the data determine.

        Where all rows at risk have the same delay t, no row is old enough for t and has a shorter
        delay: nothing tells how likely longer and shorter delays are, relative to each other. Among
        the runs of delays between such gaps, the one with most labels is chosen. Without a given
        horizon, delays with few rows at risk at its end are left out.
        """
        last = self.delay.size - 1
        if horizon is not None:
            last = int(np.searchsorted(self.delay, horizon, side="right")) - 1
        starts = np.flatnonzero(self.at_risk[: last + 1] == self.n_labels[: last + 1])
        ends = np.r_[starts[1:] - 1, last]
        totals = np.r_[0, np.cumsum(self.n_labels)]
        longest = int(np.argmax(totals[ends + 1] - totals[starts]))
        first, last = int(starts[longest]), int(ends[longest])
        if horizon is None:
            enough = np.flatnonzero(self.at_risk[first : last + 1] >= LEAST_AT_RISK)
            if enough.size:
                last = first + int(enough[-1])
        return self.part(first, last)

    @property
    def hazard_variance(self) -> Array:
        """Variance of log(1 − n/R) at each delay; 0 at the shortest one, which F does not need."""
        variance = np.zeros(self.delay.size)
        n, risk = self.n_labels[1:], self.at_risk[1:]
        variance[1:] = n / (risk * (risk - n))
        return variance

    def distribution(self) -> Array:
        """Return F at each delay."""
        factors = 1 - self.n_labels[1:] / self.at_risk[1:]
        return np.asarray(np.r_[np.cumprod(factors[::-1])[::-1], 1.0])

    def youngest_age(self) -> float:
        """Return the age at which F is no longer small, from enough rows at risk."""
        enough = self.at_risk >= min(LEAST_AT_RISK, int(self.at_risk.max()))
        return float(self.delay[np.argmax(enough & (self.distribution() >= LEAST_PROPENSITY))])

    def log_variance(self) -> Array:
        """Return the variance of log F at each delay."""
        later = np.cumsum(self.hazard_variance[::-1])[::-1]
        return np.asarray(np.r_[later[1:], 0.0])


def _at_risk(delay: Array, delays: Array, ages: Array) -> Array:
    """Return how many rows have d ≤ t ≤ a, for each t; ``delays`` and ``ages`` are sorted."""
    younger = np.searchsorted(ages, delay, side="left")
    return np.asarray(np.searchsorted(delays, delay, side="right") - younger)


def distribution_at(sets: RiskSets, values: Array, delay: Array) -> Array:
    """Return what the ``values`` of a step function at the distinct delays are at other delays."""
    index = np.searchsorted(sets.delay, delay, side="right")
    return np.asarray(np.r_[0.0, values][index])


def distribution_interval(value: Array, log_variance: Array, level: float) -> tuple[Array, Array]:
    """Return pointwise confidence intervals of F.

    They are exact intervals of a proportion from as many rows as give the same variance,
    n = (1 − F)/(F·Var(log F)); without variance there is no interval but F itself.
    """
    low, high = value.copy(), value.copy()
    inside = (log_variance > 0) & (value > 0)
    share = value[inside]
    size = (1 - share) / (share * log_variance[inside])
    tail = (1 - level) / 2
    low[inside] = scipy.special.betaincinv(size * share, size * (1 - share) + 1, tail)
    high[inside] = scipy.special.betaincinv(size * share + 1, size * (1 - share), 1 - tail)
    return low, high


def positives_variance(sets: RiskSets, value: Array, age: Array) -> float:
    """Return the variance of the estimated number of positives, Σ 1/F(age) over labeled rows.

    ``value`` is F at the ages. Given the ages, a row is labeled with probability F: Σ (1 − F)/F².
    And F is estimated: a change of log(1 − n/R) at t changes the sum by Σ 1/F over ages below t.
    Delays of labeled rows tell nothing about how many there are, so both variances add.
    """
    labeling = float(np.sum((1 - value) / value**2))
    order = np.argsort(age)
    sums = np.r_[0.0, np.cumsum(1 / value[order])]
    younger = sums[np.searchsorted(age[order], sets.delay, side="left")]
    return labeling + float(np.sum(sets.hazard_variance * younger**2))


def delay_trend_pvalue(sets: RiskSets, delay: Array, age: Array) -> float:
    """Test whether delays depend on the age of their row, as they must not.

    At each delay, the ages of the rows with this delay are compared with those of all rows at
    risk: the score test of a proportional-hazards model in reversed time, with ranks of ages.
    """
    rank = scipy.stats.rankdata(age) / age.size
    by_delay, by_age = np.argsort(delay), np.argsort(age)

    def at_risk(values: Array) -> Array:
        started = np.r_[0.0, np.cumsum(values[by_delay])]
        ended = np.r_[0.0, np.cumsum(values[by_age])]
        first = np.searchsorted(delay[by_delay], sets.delay, side="right")
        return np.asarray(
            started[first] - ended[np.searchsorted(age[by_age], sets.delay, side="left")]
        )

    n, risk = sets.n_labels, sets.at_risk
    mean = at_risk(rank) / risk
    spread = np.maximum(at_risk(rank**2) / risk - mean**2, 0.0)
    index = np.searchsorted(sets.delay, delay)
    observed = np.bincount(index, rank, minlength=sets.delay.size)
    # Without replacement: of tied delays, hypergeometric.
    variance = float(np.sum(n * spread * (risk - n) / np.maximum(risk - 1, 1)))
    if variance <= 1e-12:
        return 1.0
    z = float(np.sum(observed - n * mean)) / variance**0.5
    return float(2 * scipy.stats.norm.sf(abs(z)))
