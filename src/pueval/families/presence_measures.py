"""Measures of presence-only models: Boyce index, minimal predicted area, AUC ratio, F_pb.

Species models are evaluated with presences (labeled rows) and a background (the target). The
predicted-to-expected ratio of a window of scores is P/E = γ/θ, where γ is the share of the
presences and θ the share of the target in the window.

The background holds unseen presences. With η the share of the absences in the window, π the
prevalence and r = γ/η, the ratio is r/(π·r + 1 − π). It increases with r for every π < 1. Labeled
rows with purity β have the ratio (β·r + 1 − β)/(π·r + 1 − π), which increases with r if β > π. So
the order of the windows, and with it a rank correlation, needs neither prior nor purity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array, Target
from pueval.core.measures import MEASURES, Measure, Table
from pueval.core.rates import Rates, Shares
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.families.ranked_rows import single_kind_runs
from pueval.samples.sample import score_range
from pueval.samples.steps import Steps

Correlation = Literal["spearman", "pearson", "kendall"]
CORRELATIONS = ("spearman", "pearson", "kendall")
# Ratios are rounded to so many decimals, as in ecospat: equal ratios must not differ by rounding.
DECIMALS = 10
# Windows of the default width side by side that fill the range of the scores.
DEFAULT_WINDOWS = 10
# A recall that is short of the required one by less than this reaches it.
ROUNDING = 1e-12


class PresenceWindows(NamedTuple):
    """Ranges of scores, both ends included, by ascending score."""

    start: Array
    end: Array

    @property
    def thresholds(self) -> Array:
        """The starts, followed by the lowest scores above each window."""
        return np.concatenate([self.start, np.nextafter(self.end, np.inf)])


def presence_windows(
    counts: Counts,
    target: Target,
    *,
    n_windows: int,
    window: float | None,
    classes: int | Array | None = None,
) -> PresenceWindows:
    """Return the windows of a Boyce index; none if all scores of the target are equal.

    They are those of ecospat for scores in [0, 1]: ``n_windows`` starts, evenly spaced from the
    lowest score on, so that one more window would end at the highest score.
    """
    low, high = map(float, score_range(counts._samples))
    if low == high:
        return PresenceWindows(np.empty(0), np.empty(0))
    if classes is not None:
        edges = _class_edges(classes, low, high)
        return PresenceWindows(edges[:-1], edges[1:])
    if window is None:
        least, most = map(float, score_range(counts._target_samples(target)))
        width = (most - least) / DEFAULT_WINDOWS
    elif 0 < window < high - low:
        width = window
    else:
        raise InputError(
            f"window must be between 0 and the range of the scores, {high - low:g}; got {window!r}."
        )
    if width == 0:
        return PresenceWindows(np.empty(0), np.empty(0))
    start = low + np.arange(n_windows) * ((high - low - width) / n_windows)
    return PresenceWindows(start, start + width)


def _class_edges(classes: int | Array, low: float, high: float) -> Array:
    if isinstance(classes, int | np.integer):
        return np.linspace(low, high, int(classes) + 1)
    inner = np.asarray(classes, dtype=np.float64)
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def presence_and_target_shares(
    counts: Counts, shares: Shares, target: Target
) -> tuple[Array, Array]:
    """Return the shares of the presences and of the target at or above thresholds.

    Presences are the labeled rows, with known propensities the positives that they represent.
    """
    presences = shares.labeled if shares.positive is None else shares.positive
    if target == "unlabeled":
        return presences, shares.unlabeled
    sizes = (counts.n_labeled, counts.n_unlabeled, counts.n_negative)
    numbers = [size * share for size, share in zip(sizes, shares[:3], strict=True)]
    return presences, (numbers[0] + numbers[1] + numbers[2]) / counts.n


def window_shares(above: Array, n_windows: int) -> Array:
    """Return the shares in windows from those at or above their `PresenceWindows.thresholds`."""
    return above[..., :n_windows] - above[..., n_windows:]


def expected_ratio(presences: Array, rows: Array) -> Array:
    """Return P/E; NaN in an empty window, infinite with presences but no row of the target."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Array = np.round(presences / rows, DECIMALS)
    return ratio


def boyce_correlation(
    score: Array, ratio: Array, method: Correlation = "spearman", *, drop_duplicates: bool = True
) -> float:
    """Return the correlation of the ratio with the score of the windows.

    Empty windows are left out, and of successive windows with the same ratio all but the last.
    NaN with fewer than two windows, or if all have the same ratio.
    """
    kept = _kept_windows(ratio[None, :], drop_duplicates=drop_duplicates)
    if method == "spearman":
        return float(_rank_correlations(ratio[None, :], kept)[0])
    score, ratio = score[kept[0]], ratio[kept[0]]
    if ratio.size < 2 or np.all(ratio == ratio[0]):
        return np.nan
    if method == "pearson":
        return float(np.corrcoef(score, ratio)[0, 1]) if np.isfinite(ratio).all() else np.nan
    return float(scipy.stats.kendalltau(score, scipy.stats.rankdata(ratio)).statistic)


def boyce_correlations(ratios: Array) -> Array:
    """Return the Boyce index of each line of ratios, with Spearman's correlation."""
    return _rank_correlations(ratios, _kept_windows(ratios, drop_duplicates=True))


def _kept_windows(ratios: Array, *, drop_duplicates: bool) -> Array:
    """Return which windows count: not empty, and the last of successive equal ratios."""
    kept = ~np.isnan(ratios)
    if drop_duplicates and ratios.shape[1]:
        # Index of the next window that is not empty; there is none after the last one.
        last = ratios.shape[1] - 1
        place = np.where(kept, np.arange(last + 1), last)
        following = np.minimum.accumulate(place[:, :0:-1], axis=1)[:, ::-1]
        kept[:, :-1] &= ratios[:, :-1] != np.take_along_axis(ratios, following, axis=1)
    return kept


def _rank_correlations(ratios: Array, kept: Array) -> Array:
    """Return Spearman's correlation with the order of the kept windows; tied ratios share ranks."""
    number = kept.sum(axis=1, keepdims=True)
    ratios = np.where(kept, ratios, np.nan)  # sorted last
    by_ratio = np.argsort(ratios, axis=1)
    ascending = np.take_along_axis(ratios, by_ratio, axis=1)
    place, is_new = np.arange(ratios.shape[1]), ascending[:, 1:] != ascending[:, :-1]
    # First and last place of the ratios that are tied with each: twice the rank is their sum + 1.
    first, last = np.zeros(ratios.shape, dtype=np.intp), np.full(ratios.shape, place.size - 1)
    np.maximum.accumulate(np.where(is_new, place[1:], 0), axis=1, out=first[:, 1:])
    ends = np.where(is_new, place[:-1], place.size)
    last[:, :-1] = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1].clip(max=place.size - 1)
    doubled = np.empty(ratios.shape, dtype=np.intp)
    np.put_along_axis(doubled, by_ratio, first + last + 1, axis=1)
    # Twice the ranks, less their means: whole numbers.
    rank = np.where(kept, doubled - number, 0)
    order = np.where(kept, 2 * np.cumsum(kept, axis=1) - 1 - number, 0)
    spread = np.sqrt((rank**2).sum(axis=1) * (order**2).sum(axis=1).astype(float))
    correlation: Array = np.full(len(ratios), np.nan)
    np.divide((rank * order).sum(axis=1), spread, out=correlation, where=spread > 0)
    return correlation


def presence_steps(counts: Counts) -> Steps:
    """Return cumulative counts above and at every score of a labeled row, and at all scores.

    Between neighboring ones either only presences or only other rows are added, or all are tied:
    so the curve of recall by predicted area has straight lines between them.
    """
    if counts._audit is None:
        return single_kind_runs(counts, counts._roc_corners())
    # Positives can also have scores that no labeled row has.
    score = counts._labeled.distinct_cumulative()[0]
    positive = counts._inverse_propensity_sample().distinct_cumulative()[0]
    score = np.union1d(score, positive)[::-1].astype(np.float64)
    both = np.stack([np.nextafter(score, np.inf), score], axis=1).ravel()
    return counts.at(np.concatenate([[np.inf], both, [-np.inf]]))


def minimal_area(recall: Array, predicted: Array, share: float) -> tuple[float, int]:
    """Return the predicted area at the highest threshold that reaches a recall, and its index.

    ``recall`` and ``predicted`` are those at descending thresholds.
    """
    index = int(np.argmax(recall >= share - ROUNDING))
    return float(predicted[index]), index


def interpolated_area(recall: Array, predicted: Array, share: float) -> Array:
    """Return the predicted area at a recall, linear between thresholds; a number per line."""
    recall = np.maximum.accumulate(np.atleast_2d(recall), axis=-1)
    predicted = np.broadcast_to(predicted, recall.shape)
    # The last point that does not exceed the recall, and the next.
    left = np.sum(recall <= share, axis=-1, keepdims=True) - 1
    ends = np.concatenate([left, left + 1], axis=-1).clip(0, recall.shape[-1] - 1)
    (y0, y1), (x0, x1) = (np.take_along_axis(c, ends, axis=-1).T for c in (recall, predicted))
    slope = np.zeros(y0.shape)
    np.divide(x1 - x0, y1 - y0, out=slope, where=y1 > y0)
    area: Array = x0 + slope * (share - y0)
    return area


def partial_area_ratio(recall: Array, predicted: Array, omission: float) -> Array:
    """Return the area under the curve of recall by predicted area, relative to the diagonal.

    Only the part of the curve with a recall of at least 1 − omission counts; NaN if it has no
    width. A number per line.
    """
    least = 1 - omission
    recall = np.maximum.accumulate(np.atleast_2d(recall), axis=-1)
    predicted = np.broadcast_to(predicted, recall.shape)
    y0, y1, x0, x1 = recall[:, :-1], recall[:, 1:], predicted[:, :-1], predicted[:, 1:]
    # Share of each segment below the least recall.
    below = np.clip((least - y0) / np.where(y1 > y0, y1 - y0, 1.0), 0.0, 1.0)
    below = np.where(y1 > y0, below, y1 < least - ROUNDING)
    width = (1 - below) * (x1 - x0)
    area = np.sum(width * (y0 + below * (y1 - y0) + y1) / 2, axis=-1)
    first = 1 - width.sum(axis=-1)
    diagonal = (1 - first**2) / 2
    ratio: Array = np.full(area.shape, np.nan)
    np.divide(area, diagonal, out=ratio, where=diagonal > ROUNDING)
    return ratio


def f_pb(recall: Array, predicted: Array, presences: float) -> Array:
    """Return F_pb from recall and predicted area, with ``presences`` per row of the target.

    2·TP/(TP + FN + FP) has the presences in TP and FN, and all predicted rows in FP.
    """
    return 2 * presences * recall / (presences + predicted)


@dataclass(frozen=True)
class PresenceF(Measure):
    """F_pb as a measure; ``presences`` is their number per row of the target.

    Recall is known even if the target has no positives, but not from its contingency table.
    """

    presences: float = math.nan

    def __call__(self, rates: Rates) -> Array:
        """Compute F_pb at every threshold of ``rates``."""
        return f_pb(rates.tpr, rates.predicted, self.presences)


def f_pb_measure(presences: float) -> PresenceF:
    """Return F_pb as a measure; ``presences`` is their number per row of the target."""
    formula = partial(_f_pb, presences=presences)
    return PresenceF("f_pb", "F_pb", formula, high=2.0, presences=presences)


def _f_pb(t: Table, presences: float) -> Array:
    return f_pb(MEASURES["recall"].formula(t), t.predicted / t.total, presences)
