"""Windows of rows around a score, for what holds near it: posterior and likelihood ratio.

A window has a fixed share of the rows of the target, half of them on either side of the score. At
the ends of the ranking it is moved inward, so that it has as many rows there. Windows by rank do
not change if scores are transformed monotonically.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pueval._typing import Array, Target
from pueval.core.calibration_line import bin_shares
from pueval.core.rates import Rates
from pueval.counts.counts import Counts
from pueval.samples.sample import Sample

# Windows have at least this many rows.
LEAST_ROWS = 100
# Score windows of evidence thresholds are moved by this share of their size.
STEP = 0.25


class Windows(NamedTuple):
    """Windows of the score: lowest and highest score of each, both included."""

    low: Array
    high: Array

    def thresholds(self, number: int) -> Array:
        """Return thresholds that divide the rows into those above, in and below a window."""
        return np.array([np.nextafter(self.high[number], np.inf), self.low[number], -np.inf])

    @property
    def all_thresholds(self) -> Array:
        """Return the finite thresholds of all windows."""
        return np.unique(np.concatenate([np.nextafter(self.high, np.inf), self.low]))


def target_rows(counts: Counts, target: Target) -> Sample:
    """Return the scores of the rows of the target."""
    labeled, unlabeled, negative = counts._samples
    return unlabeled if target == "unlabeled" else labeled + unlabeled + negative


def windows_at(rows: Sample, score: Array, share: float) -> Windows:
    """Return the windows around some scores."""
    row_weight, size = _sizes(rows, share)
    above, at_or_above = rows.cumulative_counts(score)
    middle = rows.total - (above + at_or_above) / 2
    start = np.clip(middle - size / 2, 0, rows.total - size)
    last = np.maximum(start + size - row_weight, start)
    # Without weights, positions are ranks.
    start, last = (
        np.round(end) if row_weight == 1 else end for end in (start, np.minimum(last, rows.total))
    )
    return Windows(*(rows.quantiles(end).astype(np.float64) for end in (start, last)))


def window_centers(rows: Sample, share: float) -> Array:
    """Return distinct scores, descending, a quarter of a window apart."""
    row_weight, size = _sizes(rows, share)
    step = max(STEP * size, row_weight)
    positions = np.append(np.arange(0.0, rows.total - row_weight, step), rows.total - row_weight)
    return np.unique(rows.quantiles(np.floor(positions)).astype(np.float64))[::-1]


def _sizes(rows: Sample, share: float) -> tuple[float, float]:
    """Return the mean weight of a row, and the weight of a window."""
    row_weight = float(rows.total / rows.effective_size)
    return row_weight, float(min(max(share * rows.total, LEAST_ROWS * row_weight), rows.total))


def likelihood_ratio(rates: Rates) -> float:
    """Return the ratio of the shares of positives and of negatives in the middle of three bins.

    Infinite if no negatives are left; NaN in an empty window.
    """
    positives, _ = bin_shares(rates)
    negatives = np.diff(rates.fpr, prepend=0)
    share, other = max(float(positives[1]), 0.0), max(float(negatives[1]), 0.0)
    if other == 0:
        return float("nan") if share == 0 else float("inf")
    return share / other


def odds_ratio_of_shares(share: float, reference: float) -> float:
    """Return the likelihood ratio that turns one share of positives into another."""
    if share >= 1:
        return float("inf")
    return share / (1 - share) * (1 - reference) / reference


def share_from_ratio(ratio: float, prevalence: float) -> float:
    """Return the posterior for a likelihood ratio and a prevalence."""
    if np.isinf(ratio):
        return 1.0
    odds = ratio * prevalence / (1 - prevalence)
    return odds / (1 + odds)
