"""Cumulative gains and lift: the share of the positives among the first rows of the list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import NAIVE
from pueval.families.top_measure import first_rows
from pueval.families.top_measures import recall_at
from pueval.text.numbers import format_count, format_number
from pueval.text.results import Result

if TYPE_CHECKING:
    from pueval.evaluation.model_estimates import ModelEstimates

# Points of the curve, in equal ratios and in equal steps.
SPACED, EVEN = 40, 41


@dataclass(frozen=True, eq=False, repr=False)
class GainsCurve(Result):
    """Cumulative gains and lift; made by `Evaluation.gains`.

    Attributes
    ----------
    share : ndarray
        Share of the target that the first rows are, ascending.
    recall, low, high : ndarray
        Share of the positives among these rows, in [0, 1], with pointwise confidence intervals
        (NaN without).
    naive : ndarray
        Share of the labeled rows among the first rows of all.
    prevalence, naive_prevalence : float
        Share of positives in the target, and of labeled rows among all: a perfect ranking has
        recall share/prevalence, up to 1.
    size : float
        Number of rows in the target; with importance weights their effective number.
    level : float or None
        Confidence level.
    """

    share: Array
    recall: Array
    low: Array
    high: Array
    naive: Array
    prevalence: float
    naive_prevalence: float
    size: float
    level: float | None

    @property
    def lift(self) -> Array:
        """Recall divided by the share of rows: 1 for a random ranking."""
        return self.recall / self.share

    @property
    def perfect(self) -> Array:
        """Recall of a perfect ranking."""
        return np.minimum(self.share / self.prevalence, 1)

    def _columns(self) -> Mapping[str, Any]:
        names = ("share", "recall", "low", "high", "naive", "lift", "perfect")
        return {name: getattr(self, name) for name in names}

    def _headline(self) -> str:
        tenth = int(np.searchsorted(self.share, 0.1))
        rows, positives = (f"{100 * part[tenth]:.3g}%" for part in (self.share, self.recall))
        return (
            f"Cumulative gains of {format_count(self.size)} rows: the first {rows} hold "
            f"{positives} of the positives, lift {format_number(float(self.lift[tenth]))}"
        )


def gains_curve(ev: ModelEstimates) -> GainsCurve:
    """Compute the cumulative gains of an evaluation."""
    size = ev._rates[0].n_rows
    shares = np.concatenate([np.geomspace(1 / max(size, 2), 1, SPACED), np.linspace(0, 1, EVEN)])
    rows = [first_rows(share=float(share))(size) for share in shares[shares > 0]]
    share = np.unique(np.array(rows) / size)
    measures = [recall_at(first_rows(share=float(each))) for each in share]
    estimates = ev._estimate_top_measures(measures, ev._top_resamples)
    recall, low, high, naive = (
        np.array([getattr(estimate, name) for estimate in estimates])
        for name in ("value", "low", "high", "naive")
    )
    return GainsCurve(
        share=share,
        recall=recall,
        low=low,
        high=high,
        naive=naive,
        prevalence=ev.prevalence,
        naive_prevalence=NAIVE.prevalence(ev.counts),
        size=size,
        level=ev._level,
    )
