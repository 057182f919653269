"""Windows of rows around a score, for what holds near it: posterior and likelihood ratio.

A window has a fixed share of the rows of the target, half of them on either side of the score. At
the ends of the ranking it is moved inward, so that it has as many rows there. Windows by rank do
not change if scores are transformed monotonically.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.core.rates import Rates
from pueval.families.calibration_line import bin_shares
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


def windows_at(rows: Sample, score: Array, share: float) -> Windows:
    """Return the windows around some scores."""
    n_rows, size = rows.n_rows, _window_size(rows, share)
    above, at_or_above = rows.cumulative_counts(score)
    middle = n_rows - (above + at_or_above) / 2 / rows.row_weight
    start = np.clip(middle - size / 2, 0, n_rows - size)
    last = np.minimum(np.maximum(start + size - 1, start), n_rows)
    ends = (rows.row_weight * rows.nearest_ranks(end) for end in (start, last))
    return Windows(*(rows.quantiles(end).astype(np.float64) for end in ends))


def window_centers(rows: Sample, share: float) -> Array:
    """Return distinct scores, descending, a quarter of a window apart."""
    last = rows.n_rows - 1
    step = max(STEP * _window_size(rows, share), 1)
    ranks = np.floor(np.append(np.arange(0.0, last, step), last))
    return np.unique(rows.quantiles(rows.row_weight * ranks).astype(np.float64))[::-1]


def _window_size(rows: Sample, share: float) -> float:
    """Return the number of rows in a window."""
    return float(min(max(share * rows.n_rows, LEAST_ROWS), rows.n_rows))


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
