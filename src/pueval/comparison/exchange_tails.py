"""Critical values of differences that are far from normal, from exchanges of models.

Differences of best values of good models come from a few errors. They have shorter tails than a
normal distribution with the same standard error, and a normal test rejects too rarely; differences
of average precisions can have longer ones. The absolute differences after exchanges, divided by
their root mean square, show it. Their quantiles at a few levels take the place of those of the
normal distribution, linearly interpolated; beyond the last one, the ratio of the two stays what it
is there. 256 exchanges show quantiles only roughly, and a noisy critical value rejects too often.
Those of best values are averaged with normal ones, which halves the noise. Tests of average
precisions rejected too rarely with the average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from pueval._typing import Array

# Two-sided levels of the quantiles. The last one rests on five of 256 exchanges.
LEVELS = np.array([0.5, 0.2, 0.1, 0.05, 0.02])
NORMAL = np.concatenate([[0.0], -scipy.special.ndtri(LEVELS / 2)])
# Quantiles of few errors can be equal. Each one exceeds that before by at least this share of what
# it would if differences were normal.
LEAST_STEP = 0.2
# Weight of the quantiles of exchanges of best values in the mean with those of the normal
# distribution. Between too few rejections without them and too many without the others
# (benchmarks/COMPARISON.md).
BEST_VALUE_WEIGHT = 0.5


@dataclass(frozen=True, eq=False)
class ExchangeTails:
    """Quantiles of absolute differences of pairs of models, in standard errors.

    Attributes
    ----------
    quantile : ndarray of shape (m, models, models)
        At 0 and at `LEVELS`, ascending. The normal ones are `NORMAL`.
    """

    quantile: Array

    def critical_values(self, normal: float, first: Array, second: Array) -> Array:
        """Return the critical values of pairs of models where that of a normal test is given."""
        knots = np.broadcast_to(NORMAL[:, None], (NORMAL.size, first.size))
        return _interpolate(np.full(first.size, normal), knots, self.quantile[:, first, second])

    def normal_scores(self, statistic: Array, first: Array, second: Array) -> Array:
        """Return z-scores whose normal tails are those of differences divided by their errors."""
        knots = np.broadcast_to(NORMAL[:, None], (NORMAL.size, first.size))
        size = _interpolate(np.abs(statistic), self.quantile[:, first, second], knots)
        scores: Array = np.copysign(size, statistic)
        return scores


def tail_quantiles(differences: Array, error: float, weight: float) -> Array:
    """Return the quantiles of the absolute differences of one pair, in standard errors.

    They have this weight in a mean with normal ones.

    Examples
    --------
    >>> tail_quantiles(np.array([-1.0, 1.0]), 1.0, 0.5).round(2).tolist()
    [0.0, 0.84, 1.14, 1.32, 1.48, 1.66]
    """
    if not error > 0:
        return NORMAL
    found = weight * np.quantile(np.abs(differences) / error, 1 - LEVELS)
    found += (1 - weight) * NORMAL[1:]
    # What exceeds the least steps does not fall, so neither do the quantiles.
    least = LEAST_STEP * NORMAL
    quantiles: Array = np.maximum.accumulate(np.concatenate([[0.0], found]) - least) + least
    return quantiles


def _interpolate(at: Array, knots: Array, values: Array) -> Array:
    """Interpolate linearly, with knots and values in the columns; both begin with 0."""
    found = at * (values[-1] / knots[-1])
    for k in range(len(knots) - 1, 0, -1):
        slope = (values[k] - values[k - 1]) / (knots[k] - knots[k - 1])
        inside = values[k - 1] + slope * (at - knots[k - 1])
        found = np.where(at < knots[k], inside, found)
    return np.asarray(found)
