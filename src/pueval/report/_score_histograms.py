"""How scores are spread: rows between some edges, on an axis on which one can see them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from pueval._typing import Array
from pueval.counts.counts import Counts

BINS = 40
# Up to so many different scores each get a bar of their own.
SEPARATE = 25
# The axis ends where less than this share of any kind of rows is left.
TAIL = 0.002
# On a log-odds scale, probabilities nearer than this to 0 or 1 look alike.
NEAR = 1e-4
# A bin that holds more than this share of the labeled or of the other rows is crowded, and one
# that holds more than the other says nothing.
CROWDED, FULL = 0.25, 0.5


def histogram(counts: Counts, few: Counts) -> dict[str, Any]:
    """Count rows in bins that show how the kinds of rows differ.

    The axis is linear if the rows are spread over it; else, for scores between 0 and 1, their
    log-odds; else their rank.

    Parameters
    ----------
    counts : Counts
        All rows.
    few : Counts
        The same rows with fewer scores, which say where the bins lie.

    Returns
    -------
    dict
        ``axis`` is "scores", "linear", "logit" or "rank"; ``edges`` are ascending scores, or
        ranks; ``labeled``, ``unlabeled`` and ``negative`` the rows between them, and
        ``represented``, where propensities are known, the positives that labeled rows stand
        for. The first and last bin hold all rows beyond the axis, too; ``tails`` says whether
        there are any.
    """
    score = few.score[::-1].astype(np.float64)
    if score.size <= SEPARATE:
        return _bins(counts, "scores", score, score)
    middle, whole = _range(few)
    low, high = whole
    ways = [("linear", np.linspace(low, high, BINS + 1))]
    low, high = max(middle[0], NEAR), min(middle[1], 1 - NEAR)
    if score[0] >= 0 and score[-1] <= 1 and low < high:
        ways.append(("logit", expit(np.linspace(logit(low), logit(high), BINS + 1))))
    ways = [(axis, edges) for axis, edges in ways if np.all(np.diff(edges) > 0)]
    found = [_bins(counts, axis, edges, edges[:-1]) for axis, edges in ways]
    best = min(found, key=lambda one: max(_crowd(one), CROWDED), default=None)
    if best is not None and _crowd(best) <= FULL:
        return best
    rows = np.cumsum((few.labeled + few.unlabeled + few.negative)[::-1])
    wanted = np.arange(BINS) / BINS * rows[-1]
    lowest = np.unique(score[np.searchsorted(rows, wanted, side="right")])
    shares = 1 - _above(counts, lowest) / counts.n
    return _bins(counts, "rank", np.append(shares, 1.0), lowest)


def _range(few: Counts) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return scores between which nearly all rows of every kind lie; and all, if they are near."""
    score = few.score[::-1].astype(np.float64)
    ends = []
    for count in (few.labeled, few.unlabeled, few.negative):
        if count.any():
            share = np.cumsum(count[::-1]) / count.sum()
            ends.append(score[np.searchsorted(share, [TAIL, 1 - TAIL])])
    low, high = float(np.min(ends)), float(np.max(ends))
    room = (high - low) / 10
    return (low, high), (
        float(score[0]) if low - score[0] <= room else low,
        float(score[-1]) if score[-1] - high <= room else high,
    )


def _above(counts: Counts, scores: Array) -> Array:
    steps = counts.at(scores)
    above: Array = steps.labeled + steps.unlabeled + steps.negative
    return above


def _bins(counts: Counts, axis: str, edges: Array, lowest: Array) -> dict[str, Any]:
    """Count rows from each of the ascending scores ``lowest`` up to the next."""
    steps = counts.at(np.concatenate([[-np.inf], lowest[1:], [np.inf]]))
    found: dict[str, Any] = {"axis": axis, "edges": edges.tolist()}
    for name in ("labeled", "unlabeled", "negative"):
        found[name] = (-np.diff(getattr(steps, name))).tolist()
    if steps.represented_positives is not None:
        found["represented"] = (-np.diff(steps.represented_positives)).tolist()
    total = _above(counts, np.array([-np.inf, lowest[0]]))
    beyond = counts.at(np.nextafter(edges[-1], np.inf))
    found["tails"] = axis in {"linear", "logit"} and bool(
        total[0] > total[1] or beyond.labeled[0] + beyond.unlabeled[0] + beyond.negative[0] > 0
    )
    return found


def _crowd(found: dict[str, Any]) -> float:
    """Largest share of the labeled, or of the other rows, in a bin."""
    labeled = np.array(found["labeled"], dtype=np.float64)
    others = np.array(found["unlabeled"], dtype=np.float64) + found["negative"]
    return float(max(labeled.max() / labeled.sum(), others.max() / others.sum()))
