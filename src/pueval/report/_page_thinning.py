"""The table of counts that a page carries: all of it, or as many scores as fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pueval._typing import Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import mean_placement
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts

# Bytes that a page of 1 MB has left for models, what one takes without its table, and the most
# that a score (or a weight) and a number of rows take in it.
ROOM, MODEL = 570_000, 26_000
LONG, SHORT = 22, 7
# How many scores a model has at least.
FEWEST = 100


@dataclass(frozen=True, eq=False)
class Thinned:
    """Counts with few enough scores, and what was lost.

    Rows at or above a score that was kept are counted exactly, and so is every measure there.

    Attributes
    ----------
    counts : Counts
        The counts; the same ones if nothing had to be left out.
    exact : bool
        Whether nothing was left out.
    placement : float or None
        How often a positive of all rows, as propensities tell, outscores any row; None without
        propensities.
    precision_error : float
        How far the average precision is off, with prior and purity as evaluated.
    auc_error : float
        How far bounds of the AUC for a labeling bias can be off at most, with the same.
    """

    counts: Counts
    exact: bool
    placement: float | None
    precision_error: float
    auc_error: float

    def columns(self) -> dict[str, list[float]]:
        """Return the table as lists, scores descending; kinds without rows are left out."""
        counts = self.counts
        columns = {
            "labeled": counts.labeled,
            "unlabeled": counts.unlabeled,
            "negative": counts.negative,
        }
        stand_for = counts.steps().represented_positives
        if stand_for is not None:
            columns["represented"] = np.diff(stand_for)
        found = {name: column.tolist() for name, column in columns.items() if column.any()}
        return {"score": counts.score.tolist(), **found}


def affordable(counts: Counts, models: int) -> int:
    """Return how many scores the table of one of so many models can have."""
    kinds = 3 if counts.n_negative else 2
    each = (
        LONG
        + kinds * (SHORT if counts._has_integer_counts else LONG)
        + LONG * counts.has_propensity
    )
    return max((ROOM // models - MODEL) // each, FEWEST)


def thin(
    counts: Counts,
    mixture: Mixture,
    target: Target,
    *,
    keep: Sequence[float],
    precision: float,
    scores: int,
) -> Thinned:
    """Put neighboring scores together until about ``scores`` are left.

    The thresholds to ``keep`` stay, so that what was evaluated there is exact; ``precision`` is
    the average precision of all rows.
    """
    placed = mean_placement(counts) if counts.has_propensity else None
    if _distinct(counts, 3 * scores) and counts.score.size <= scores:
        return Thinned(counts, True, placed, 0.0, 0.0)  # noqa: FBT003
    few = counts._thinned(scores, keep=keep)
    there = float(average_precision(correct_steps(few, few._roc_corners(), mixture, target)))
    error = abs(there - precision)
    # A labeled row can be misplaced by half of the rows that it now is tied with.
    rows = few.labeled + few.unlabeled + few.negative
    misplaced = np.max(rows[few.labeled > 0]) / few.n / 2 / (1 - mixture.prevalence(few))
    off = 0.0 if math.isnan(error) else error
    return Thinned(few, False, placed, off, float(misplaced))  # noqa: FBT003


def _distinct(counts: Counts, most: int) -> bool:
    """Whether the kinds of rows together have at most so many distinct scores, chunk by chunk."""
    chunks = [chunk.values for kind in counts._samples for chunk in kind.chunks]
    found = sum(1 + int(np.count_nonzero(values[1:] != values[:-1])) for values in chunks)
    return found <= most
