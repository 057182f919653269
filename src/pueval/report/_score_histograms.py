"""Histograms of scores, on an axis that shows how labeled and unlabeled rows differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from pueval._typing import Array
from pueval.counts.counts import Counts

BINS = 40
# Up to this number of distinct scores, each gets a bar of its own.
MOST_SINGLE_SCORES = 25
# The axis ends where less than this share of the labeled, unlabeled or negative rows remains.
TAIL = 0.002
# Probabilities closer to 0 or 1 than this are not shown on the log-odds axis.
NEAREST_PROBABILITY = 1e-4
# A bin with more than CROWDED of the labeled or of the background rows makes an axis worse; one
# with more than FULL makes it useless.
CROWDED, FULL = 0.25, 0.5


def score_histogram(counts: Counts, thinned: Counts) -> dict[str, Any]:
    """Count rows in bins of the score.

    The axis is linear if that spreads the rows. Otherwise it shows log-odds, for scores between 0
    and 1, or ranks.

    Parameters
    ----------
    counts : Counts
        All rows.
    thinned : Counts
        The same rows at fewer scores, which determine the bins.

    Returns
    -------
    dict
        ``axis`` is "scores", "linear", "logit" or "rank". ``edges`` are ascending scores, or ranks.
        ``labeled``, ``unlabeled`` and ``negative`` are numbers of rows per bin. ``represented``,
        with propensities, is the number of positives that the labeled rows represent. The first
        and last bins include all rows beyond the axis; ``tails`` says whether each of them has any.
    """
    score = thinned.score[::-1].astype(np.float64)
    if score.size <= MOST_SINGLE_SCORES:
        return _count_bins(counts, "scores", score, score)
    central, full = _axis_ranges(thinned)
    axes = [("linear", np.linspace(*full, BINS + 1))]
    low, high = max(central[0], NEAREST_PROBABILITY), min(central[1], 1 - NEAREST_PROBABILITY)
    if score[0] >= 0 and score[-1] <= 1 and low < high:
        axes.append(("logit", expit(np.linspace(logit(low), logit(high), BINS + 1))))
    histograms = [
        _count_bins(counts, axis, edges, edges[:-1])
        for axis, edges in axes
        if np.all(np.diff(edges) > 0)
    ]
    best = min(histograms, key=lambda histogram: max(_fullest(histogram), CROWDED), default=None)
    if best is not None and _fullest(best) <= FULL:
        return best
    rows = np.cumsum((thinned.labeled + thinned.unlabeled + thinned.negative)[::-1])
    quantiles = np.arange(BINS) / BINS * rows[-1]
    lowest = np.unique(score[np.searchsorted(rows, quantiles, side="right")])
    ranks = 1 - rows_above(counts, lowest) / counts.n
    return _count_bins(counts, "rank", np.append(ranks, 1.0), lowest)


def _axis_ranges(counts: Counts) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the range without tails, and the range that includes tails if they are short."""
    score = counts.score[::-1].astype(np.float64)
    ends = []
    for column in (counts.labeled, counts.unlabeled, counts.negative):
        if column.any():
            share = np.cumsum(column[::-1]) / column.sum()
            ends.append(score[np.searchsorted(share, [TAIL, 1 - TAIL])])
    low, high = float(np.min(ends)), float(np.max(ends))
    short = (high - low) / 10
    return (low, high), (
        float(score[0]) if low - score[0] <= short else low,
        float(score[-1]) if score[-1] - high <= short else high,
    )


def rows_above(counts: Counts, scores: Array) -> Array:
    """Return the number of rows at or above each score."""
    steps = counts.at(scores)
    rows: Array = steps.labeled + steps.unlabeled + steps.negative
    return rows


def _count_bins(counts: Counts, axis: str, edges: Array, lowest: Array) -> dict[str, Any]:
    """Count rows from each of the ascending scores ``lowest`` up to the next."""
    steps = counts.at(np.concatenate([[-np.inf], lowest[1:], [np.inf]]))
    histogram: dict[str, Any] = {"axis": axis, "edges": edges.tolist()}
    for name in ("labeled", "unlabeled", "negative"):
        histogram[name] = (-np.diff(getattr(steps, name))).tolist()
    if steps.represented_positives is not None:
        histogram["represented"] = (-np.diff(steps.represented_positives)).tolist()
    total, within = rows_above(counts, np.array([-np.inf, lowest[0]]))
    beyond = rows_above(counts, np.nextafter(edges[-1:], np.inf))
    has_ends = axis in {"linear", "logit"}
    histogram["tails"] = [has_ends and bool(total > within), has_ends and bool(beyond[0] > 0)]
    return histogram


def _fullest(histogram: dict[str, Any]) -> float:
    """Return the largest share of the labeled, or of the background rows, in a bin."""
    labeled = np.array(histogram["labeled"], dtype=np.float64)
    background = np.array(histogram["unlabeled"], dtype=np.float64) + histogram["negative"]
    return float(max(labeled.max() / labeled.sum(), background.max() / background.sum()))
