"""Measures that need no prior: PULP, Lee–Liu, pseudo-F, and the naive ones averaged likewise.

Hajizadeh et al. (2014) average every measure over all operating points: the top 0, 1, …, N rows
predicted positive. Rows with the same score have no order, so the value at an operating point
inside a tie is the mean over all orders of the tied rows: results never depend on the order of
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from pueval.counts import Counts
from pueval.curves import average_precision, naive_auc
from pueval.errors import InputError
from pueval.hypergeometric import LogFactorials, spread
from pueval.mixture import NAIVE
from pueval.rates import naive_rates
from pueval.samples import Array

RANKING_TITLES = {
    "pulp": "PULP",
    "lee_liu": "Lee–Liu",
    "pseudo_f": "Pseudo-F",
    "naive_roc_auc": "Naive ROC AUC",
    "naive_average_precision": "Naive average precision",
    "naive_f1": "Naive F1",
    "naive_matthews_corrcoef": "Naive Pearson correlation",
    "naive_mutual_information": "Naive mutual information",
}
# Probabilities further than this from the mean, in standard deviations, are below 1e-20.
REACH = 10.0
# Table entries handled at a time where tied rows must be averaged over.
BATCH = 4_000_000


class OperatingPoints:
    """The top 1, 2, …, N rows of a ranking, and how many of them are labeled.

    Parameters
    ----------
    counts : Counts
        Rows with whole-number counts.
    """

    def __init__(self, counts: Counts) -> None:
        _check_countable(counts)
        labeled, size = _blocks(counts)
        self.rows = int(size.sum())
        self.labeled = int(labeled.sum())
        block = np.repeat(np.arange(size.size), size)
        self.block_labeled, self.block_size = labeled[block], size[block]
        before = np.cumsum(size) - size
        self.drawn = np.arange(1, self.rows + 1)
        #: Labeled rows above the tie, rows of the tie included, at each operating point.
        self.hits_before = (np.cumsum(labeled) - labeled)[block]
        self.taken = self.drawn - before[block]

    @cached_property
    def _spread(self) -> tuple[Array, Array]:
        return spread(self.block_size, self.block_labeled, self.taken)

    @property
    def hits(self) -> Array:
        """Mean number of labeled rows among the top rows."""
        return self.hits_before + self._spread[0]

    @property
    def squared_hits(self) -> Array:
        """Mean square of that number."""
        return self.hits**2 + self._spread[1]

    @cached_property
    def uncertain(self) -> Array:
        """Index of the operating points inside a tie of labeled and other rows."""
        mixed = (self.block_labeled > 0) & (self.block_labeled < self.block_size)
        return np.flatnonzero(mixed & (self.taken < self.block_size))

    @cached_property
    def factorials(self) -> LogFactorials:
        """Logarithms of factorials up to N."""
        return LogFactorials(self.rows)

    def mean(self, values: Array) -> float:
        """Average over all operating points; with none predicted positive every measure is 0."""
        return float(values.sum() / (self.rows + 1))

    def expect(self, function: Callable[[Array, Array], Array]) -> Array:
        """Mean of ``function(hits, drawn)`` over the orders of tied rows, at every point."""
        values = function(np.rint(self.hits), self.drawn)
        points = self.uncertain
        low, high = self._window(points)
        for rows, index, gained in _segments(low, high):
            where = points[rows][index]
            weight = self.factorials.pmf(
                gained, self.block_size[where], self.block_labeled[where], self.taken[where]
            )
            each = weight * function(self.hits_before[where] + gained, self.drawn[where])
            values[points[rows]] = np.bincount(index, each, minlength=rows.stop - rows.start)
        return values

    def _window(self, points: Array) -> tuple[Array, Array]:
        """Numbers of labeled rows that the top of a tie can hold, but for the impossible."""
        mean, variance = (part[points] for part in self._spread)
        reach = REACH * np.sqrt(variance) + REACH
        labeled, taken = self.block_labeled[points], self.taken[points]
        least = np.maximum(taken - (self.block_size[points] - labeled), 0)
        low = np.maximum(np.floor(mean - reach).astype(np.int64), least)
        high = np.minimum(np.ceil(mean + reach).astype(np.int64), np.minimum(labeled, taken))
        return low, high

    def by_chance(self) -> Array:
        """P(X_b < hits) at every operating point b: how far above chance the hits are.

        Walks along the ranking. Drawing one more row lowers P(X ≤ m) by P(X = m) times the
        chance (t − m)/(N − b) that it is labeled; one more hit raises m and adds P(X = m + 1).
        """
        n, t, b, k = self.rows, self.labeled, self.drawn, self.hits_before
        pmf = self.factorials.pmf
        change = -pmf(k - 1, n, t, b - 1) * (t - k + 1) / (n - b + 1)
        ends = np.flatnonzero((self.taken == self.block_size) & (self.block_labeled > 0))
        for rows, index, gained in _segments(k[ends], k[ends] + self.block_labeled[ends] - 1):
            each = pmf(gained, n, t, b[ends[rows]][index])
            change[ends[rows]] += np.bincount(index, each, minlength=rows.stop - rows.start)
        values = np.cumsum(change)

        # Inside a tie of both kinds: add P(X = k + i − 1) · P(at least i hits in the tie so far).
        points = self.uncertain
        if points.size:
            mean, variance = spread(n, t, b[points])
            reach = REACH * np.sqrt(variance) + REACH
            _, high = self._window(points)
            low = np.maximum(np.floor(mean - reach).astype(np.int64) - k[points] + 1, 1)
            low = np.where(mean + reach < k[points], high + 1, low)
            for rows, index, gained in _segments(low, high):
                where = points[rows][index]
                weight = pmf(
                    gained, self.block_size[where], self.block_labeled[where], self.taken[where]
                )
                each = pmf(k[where] + gained - 1, n, t, b[where]) * _from_end(weight, index)
                values[points[rows]] += np.bincount(index, each, minlength=rows.stop - rows.start)
        inside: Array = np.clip(values, 0.0, 1.0)
        return inside


def _blocks(counts: Counts) -> tuple[Array, Array]:
    """Labeled rows and all rows of each tie, best first; all-labeled ties taken apart."""
    labeled = counts.labeled.astype(np.int64)
    size = labeled + counts.unlabeled.astype(np.int64) + counts.negative.astype(np.int64)
    pure = labeled == size
    repeats = np.where(pure, size, 1)
    return np.repeat(np.where(pure, 1, labeled), repeats), np.repeat(
        np.where(pure, 1, size), repeats
    )


def _segments(low: Array, high: Array) -> Iterator[tuple[slice, Array, Array]]:
    """Lay the ranges low[i]…high[i] end to end, a batch of them at a time.

    Yields the slice of ranges, for each entry the number of its range, and the entry.
    """
    width = np.maximum(high - low + 1, 0)
    start = 0
    while start < low.size:
        reached = np.cumsum(width[start:])
        stop = start + max(int(np.searchsorted(reached, BATCH, side="right")), 1)
        part = width[start:stop]
        index = np.repeat(np.arange(part.size), part)
        offset = np.arange(index.size) - np.repeat(np.cumsum(part) - part, part)
        yield slice(start, stop), index, low[start:stop][index] + offset
        start = stop


def _from_end(values: Array, index: Array) -> Array:
    """Sum each value and those after it within its range."""
    after: Array = np.r_[np.cumsum(values[::-1])[::-1], 0.0]
    rest: Array = after[np.searchsorted(index, index, side="right")]
    return after[:-1] - rest


def _check_countable(counts: Counts) -> None:
    counts.check()
    if not counts.countable:
        raise InputError(
            "PULP and averages over all operating points count rows, and these have float "
            "weights. Leave the weights out, or give whole numbers."
        )


def _point(counts: Counts, threshold: float) -> tuple[float, float, float, float]:
    """Rows, labeled rows, predicted rows and hits at a threshold."""
    counts.check()
    steps = counts.at(threshold)
    hits = steps.labeled[0].item()
    return counts.n, counts.n_labeled, hits + (steps.unlabeled + steps.negative)[0].item(), hits


def pulp(counts: Counts, *, threshold: float | None = None) -> float:
    """Probability that random predictions hit fewer labeled rows (PULP).

    At a threshold that predicts b of N rows positive and hits k of the t labeled ones, it is
    P(X < k) with X hypergeometric(N, t, b). Without a threshold, the mean over all operating
    points, (1/(N + 1))·Σ_b P(X_b < k_b), which needs neither a prior nor random labeling.

    Parameters
    ----------
    counts : Counts
        The data, with whole-number counts.
    threshold : float, optional
        Scores at or above it are predicted positive. All operating points if left out.

    Returns
    -------
    float
        Between 0 and 1; near 1 for a good ranking.

    References
    ----------
    Hajizadeh, Li, Dollevoet and Tax (2014), equations 2 and 3.

    Examples
    --------
    >>> from pueval import Counts
    >>> counts = Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1])
    >>> round(pulp(counts, threshold=3), 4)    # both hits: all but 1 of 6 draws do worse
    0.8333
    >>> round(pulp(counts), 4)
    0.3667
    """
    if threshold is None:
        points = OperatingPoints(counts)
        return points.mean(points.by_chance())
    _check_countable(counts)
    n, t, drawn, hits = (int(value) for value in _point(counts, threshold))
    below = LogFactorials(n).pmf(np.arange(hits), n, t, drawn)
    return float(min(below.sum(), 1.0))


def lee_liu(counts: Counts, *, threshold: float | None = None) -> float:
    """Recall² over the share predicted positive (Lee and Liu's criterion).

    Equal to precision·recall/prevalence where labeling is random, so that it orders classifiers
    somewhat like F1 does, but it is not on F1's scale: it ranges up to 1/prevalence.

    Parameters
    ----------
    counts : Counts
        The data.
    threshold : float, optional
        Scores at or above it are predicted positive. Mean over all operating points if left out.

    Returns
    -------
    float

    References
    ----------
    Lee and Liu (2003); averaged as in Hajizadeh et al. (2014).

    Examples
    --------
    >>> from pueval import Counts
    >>> lee_liu(Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1]), threshold=3)
    2.0
    """
    if threshold is not None:
        n, t, drawn, hits = _point(counts, threshold)
        return (hits / t) ** 2 * n / drawn if drawn else 0.0
    points = OperatingPoints(counts)
    return points.mean(points.squared_hits / points.labeled**2 * points.rows / points.drawn)


def pseudo_f(
    counts: Counts, *, prevalence: float | None = None, threshold: float | None = None
) -> float:
    """Return 2·recall / (share predicted positive + prevalence), the pseudo-F measure.

    Parameters
    ----------
    counts : Counts
        The data.
    prevalence : float, optional
        Share of positives in the population. By default the share of labeled rows, as
        Hajizadeh et al. (2014) do; with the true prevalence the measure is F1/prevalence.
    threshold : float, optional
        Scores at or above it are predicted positive. Mean over all operating points if left out.

    Returns
    -------
    float

    References
    ----------
    Calvo, Larrañaga and Lozano (2007); averaged as in Hajizadeh et al. (2014).

    Examples
    --------
    >>> from pueval import Counts
    >>> pseudo_f(Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1]), threshold=3)
    2.0
    """
    if prevalence is None:
        prevalence = counts.n_labeled / counts.n
    elif not 0 < prevalence <= 1:
        raise InputError(f"prevalence must be a number in (0, 1]; got {prevalence!r}.")
    if threshold is not None:
        n, t, drawn, hits = _point(counts, threshold)
        return 2 * (hits / t) / (drawn / n + prevalence)
    points = OperatingPoints(counts)
    recall = points.hits / points.labeled
    return points.mean(2 * recall / (points.drawn / points.rows + prevalence))


def _mutual_information(points: OperatingPoints) -> Array:
    n, t = points.rows, points.labeled

    def information(hits: Array, drawn: Array) -> Array:
        cells = (
            (hits, drawn, t),
            (drawn - hits, drawn, n - t),
            (t - hits, n - drawn, t),
            (n - t - drawn + hits, n - drawn, n - t),
        )
        total = np.zeros(np.shape(hits))
        for cell, row, column in cells:
            expected = np.maximum(row / n * column, 1e-300)
            total += xlogy(cell / n, cell / expected)
        return total

    return points.expect(information)


def ranking_measures(counts: Counts) -> dict[str, float]:
    """Compute the eight measures of Hajizadeh et al. (2014), none of which needs a prior.

    Unlabeled rows count as negative in those called naive. All but the AUC and the average
    precision are means over all operating points.

    Parameters
    ----------
    counts : Counts
        The data, with whole-number counts.

    Returns
    -------
    dict of str to float
        ``pulp``, ``lee_liu``, ``pseudo_f``, ``naive_roc_auc``, ``naive_average_precision``,
        ``naive_f1``, ``naive_matthews_corrcoef`` (Pearson correlation) and
        ``naive_mutual_information`` (in nats).

    Examples
    --------
    >>> from pueval import Counts
    >>> measures = ranking_measures(Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1]))
    >>> {name: round(value, 3) for name, value in measures.items()}["pulp"]
    0.367
    """
    points = OperatingPoints(counts)
    steps = counts.corners()
    n, t, drawn, hits = points.rows, points.labeled, points.drawn, points.hits
    scale = np.sqrt((drawn * (n - drawn)).astype(np.float64) * (t * (n - t)))
    correlation = np.divide(hits * n - drawn * t, scale, out=np.zeros(n), where=scale > 0)
    return {
        "pulp": points.mean(points.by_chance()),
        "lee_liu": points.mean(points.squared_hits / t**2 * n / drawn),
        "pseudo_f": pseudo_f(counts),
        "naive_roc_auc": naive_auc(counts, steps),
        "naive_average_precision": average_precision(
            counts, steps, naive_rates(counts, steps), NAIVE
        ),
        "naive_f1": points.mean(2 * hits / (drawn + t)),
        "naive_matthews_corrcoef": points.mean(correlation),
        "naive_mutual_information": points.mean(_mutual_information(points)),
    }
