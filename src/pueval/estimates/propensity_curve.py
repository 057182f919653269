"""The probability that a positive row is labeled, by its score, as an audit shows it."""

from __future__ import annotations

from dataclasses import dataclass

from pueval._typing import Array
from pueval.text.numbers import format_level
from pueval.text.results import Result

# Pictures reach the intervals of positives between these ranks: beyond, they can be wide.
PICTURE_RANKS = (0.02, 0.98)


@dataclass(frozen=True, eq=False, repr=False)
class PropensityCurve(Result):
    """Probability that a positive row is labeled, by its place among the positives.

    Attributes
    ----------
    score : ndarray
        Scores, descending.
    rank : ndarray
        Share of the positives with at least this score.
    propensity, low, high : ndarray
        Estimate, and ends of the pointwise intervals.
    level : float
        Confidence level.
    """

    score: Array
    rank: Array
    propensity: Array
    low: Array
    high: Array
    level: float

    @property
    def _highest(self) -> float:
        """Upper end of the intervals, without those of the extreme positives, for pictures."""
        shown = (self.rank >= PICTURE_RANKS[0]) & (self.rank <= PICTURE_RANKS[1])
        return float(self.high[shown if shown.any() else slice(None)].max())

    def _headline(self) -> str:
        return f"Propensity by score, with pointwise {format_level(self.level)} intervals"
