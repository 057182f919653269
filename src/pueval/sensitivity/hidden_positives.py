"""Bounds on the number of unlabeled positives at or above thresholds, from the rank distribution.

Labeled positives, or known negatives, have the rank distribution of the unlabeled rows of their
class, up to chance. This bounds the unlabeled positives above a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps
from pueval.sensitivity.rank_band import BandMethod, hypergeometric_bounds, rank_band, runs

Reference = Literal["positives", "negatives", "tighter"]
# Numbers of unlabeled positives for which bounds are tested; those between are interpolated.
TESTED, INTERPOLATED = 33, 2001


@dataclass(frozen=True)
class HiddenPositives:
    """The unlabeled positives of some rows, as far as the rank distribution bounds them.

    Attributes
    ----------
    counts : Counts
        The data.
    reference : {"positives", "negatives"}
        Rows whose rank distribution is used: labeled positives or known negatives.
    level : float
        Confidence level.
    band : {"bootstrap", "clopper-pearson", "dkw"}
        Method of the band of the rank distribution.
    """

    counts: Counts
    reference: str
    level: float
    band: BandMethod

    def bound_at_ranks(self, steps: Steps, hidden: float) -> tuple[Array, Array]:
        """Return the least and most unlabeled positives at or above each threshold.

        ``hidden`` is the number of all unlabeled positives.
        """
        above, total, same_class = self._reference_rows(steps, hidden)
        above, repeats = runs(above)
        low, high = rank_band(
            above, total, hidden=float(same_class), level=self.level, method=self.band
        )
        least = np.repeat(np.floor(low * same_class + 1e-9), repeats)
        most = np.repeat(np.ceil(high * same_class - 1e-9), repeats)
        return self._positives(steps, hidden, least, most)

    def bound_at(self, threshold: float, fewest: int, most: int) -> tuple[Array, Array, Array]:
        """Return the least and most unlabeled positives at or above one threshold.

        The first array has the numbers of unlabeled positives, between ``fewest`` and ``most``,
        for which the bounds are returned.
        """
        steps = self.counts.at(threshold)
        tested, hidden = (_spaced(fewest, most, count) for count in (TESTED, INTERPOLATED))
        above, total, same_class = self._reference_rows(steps, tested)
        if self.band == "dkw":
            bands = [
                rank_band(above, total, hidden=number, level=self.level, method="dkw")
                for number in same_class
            ]
            low, high = (np.concatenate(ends) * same_class for ends in zip(*bands, strict=True))
        else:
            low, high = hypergeometric_bounds(above[0], total, hidden=same_class, level=self.level)
        low, high = (np.interp(hidden, tested, end) for end in (low, high))
        least, most_above = self._positives(
            steps, hidden, np.floor(low + 1e-9), np.ceil(high - 1e-9)
        )
        return hidden, least, most_above

    def _reference_rows(self, steps: Steps, hidden: Array | float) -> tuple[Array, float, Array]:
        """Return the known rows at or above thresholds, all known ones, and the hidden ones."""
        if self.reference == "negatives":
            negatives = np.round(self.counts.n_unlabeled - np.asarray(hidden))
            return steps.negative, self.counts.n_negative, negatives
        return steps.labeled, self.counts.n_labeled, np.asarray(hidden)

    def _positives(
        self, steps: Steps, hidden: Array | float, least: Array, most: Array
    ) -> tuple[Array, Array]:
        """Turn bounds of the reference class into possible numbers of positives, in place."""
        if self.reference == "negatives":
            # The most negatives above a threshold leave the fewest positives there.
            least, most = steps.unlabeled - most, steps.unlabeled - least
        possible = np.minimum(steps.unlabeled, hidden)
        # At least those that do not fit among the unlabeled rows below.
        fewest = np.maximum(hidden - self.counts.n_unlabeled + steps.unlabeled, 0)
        np.clip(least, fewest, possible, out=least)
        np.clip(most, fewest, possible, out=most)
        return least, most


def _spaced(fewest: int, most: int, count: int) -> Array:
    """Return all whole numbers from ``fewest`` to ``most``, or ``count`` of them, ends included."""
    return np.unique(np.linspace(fewest, most, min(count, most - fewest + 1)).round())
