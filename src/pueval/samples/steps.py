"""Steps: the number of rows of each kind at or above each of some thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.samples.sample import Sample, Samples, make_sample, score_range


@dataclass(frozen=True, eq=False)
class Steps:
    """Cumulative counts: the rows of each kind at or above each threshold.

    Attributes
    ----------
    threshold : ndarray
        Thresholds, descending.
    labeled, unlabeled, negative : ndarray
        Rows (or their weight) at or above each threshold.
    tied : ndarray of bool
        Whether a labeled row and a row of another kind have the threshold as their score.
    represented_positives : ndarray or None
        Sums of 1/propensity over the labeled rows at or above each threshold: the positives they
        represent. None if propensities are not known.
    tied_unlabeled, tied_negative : ndarray or None
        Rows of these kinds that have the threshold as their score, as a labeled row does. None if
        they were not counted; see `tied_background`.
    """

    threshold: Array
    labeled: Array
    unlabeled: Array
    negative: Array
    tied: Array
    represented_positives: Array | None = None
    tied_unlabeled: Array | None = None
    tied_negative: Array | None = None

    def part(self, rows: slice | Array) -> Steps:
        """Return the steps at some of the thresholds."""
        columns = vars(self).values()
        parts: list[Any] = [None if column is None else column[rows] for column in columns]
        return Steps(*parts)

    def untied(self) -> Steps:
        """Return the steps as if rows with the same score were spread evenly around it."""
        tied = np.zeros_like(self.tied)
        return replace(self, tied=tied, tied_unlabeled=None, tied_negative=None)

    def insert(self, other: Steps) -> Steps:
        """Return these steps and others at new thresholds, in their order."""
        where = np.searchsorted(-self.threshold, -other.threshold)
        threshold = self.threshold.astype(np.result_type(self.threshold, other.threshold))
        columns = zip(
            vars(replace(self, threshold=threshold)).values(), vars(other).values(), strict=True
        )
        parts: list[Any] = [
            None if column is None else np.insert(column, where, new) for column, new in columns
        ]
        return Steps(*parts)


def find_cells(lower: Array, score: Array) -> Array:
    """Return the index of the cell of each score; ``lower`` has the lower edges, descending."""
    index = np.searchsorted(-lower, -np.asarray(score, np.float64))
    return np.minimum(index, lower.size - 1)


def tabulate_scores(samples: Samples) -> tuple[Array, Array, Array, Array]:
    """Return the distinct scores, descending, and the rows of each kind at each score."""
    distinct = [sample.distinct_counts() for sample in samples]
    ascending = [values[::-1] for values, _ in distinct]
    scores, in_largest = _merge_distinct(ascending)
    largest = int(np.argmax([values.size for values in ascending]))
    columns = []
    for kind, (values, (_, count)) in enumerate(zip(ascending, distinct, strict=True)):
        column = np.zeros(scores.size, dtype=count.dtype)
        column[in_largest if kind == largest else np.searchsorted(scores, values)] = count[::-1]
        columns.append(column[::-1])
    scores = scores[::-1]
    for array in (scores, *columns):
        array.flags.writeable = False
    return scores, columns[0], columns[1], columns[2]


def _merge_distinct(columns: Sequence[Array]) -> tuple[Array, Array]:
    """Merge ascending columns of distinct values; also return which the largest column has.

    New values are inserted into the largest column, which is faster than sorting all of them.
    """
    merged, *others = sorted(columns, key=np.size, reverse=True)
    merged = merged.astype(np.result_type(*(column for column in columns if column.size), merged))
    in_largest = np.ones(merged.size, dtype=bool)
    for values in others:
        if not values.size:
            continue
        place = np.searchsorted(merged, values)
        new = merged.take(place, mode="clip") != values
        merged = np.insert(merged, place[new], values[new])
        in_largest = np.insert(in_largest, place[new], values=False)
    return merged, in_largest


def _represented_positives(represented: Sample | None, thresholds: Array) -> Array | None:
    return None if represented is None else represented.cumulative_counts(thresholds)[1]


def steps_at_scores(
    table: tuple[Array, Array, Array, Array], represented: Sample | None = None
) -> Steps:
    """Return the steps at +inf and at every score of a table made by `tabulate_scores`."""

    def cumulative(column: Array) -> Array:
        sums = np.zeros(column.size + 1, dtype=column.dtype)
        np.cumsum(column, out=sums[1:])
        return sums

    score, labeled, unlabeled, negative = table
    threshold = np.concatenate([[np.inf], score])
    return Steps(
        threshold,
        cumulative(labeled),
        cumulative(unlabeled),
        cumulative(negative),
        np.concatenate([[False], (labeled > 0) & (unlabeled + negative > 0)]),
        _represented_positives(represented, threshold),
    )


def steps_at(samples: Samples, thresholds: Any, represented: Sample | None = None) -> Steps:
    """Return the steps at given thresholds."""
    threshold = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    labeled, unlabeled, negative = (sample.cumulative_counts(threshold)[1] for sample in samples)
    tied = np.zeros(threshold.shape, dtype=bool)
    positives = _represented_positives(represented, threshold)
    return Steps(threshold, labeled, unlabeled, negative, tied, positives)


def roc_corners(
    samples: Samples, cumulative_labeled: tuple[Array, Array], represented: Sample | None = None
) -> Steps:
    """Return the steps at +inf, at every labeled score, and at the lowest score.

    ``cumulative_labeled`` holds the distinct labeled scores and the labeled rows at or above each.
    """
    labeled, unlabeled, negative = samples
    score, labeled_at = cumulative_labeled
    background = [sample.cumulative_counts(score) for sample in samples[1:]]
    (_, unlabeled_at), (_, negative_at) = background
    tied_rows = [at_or_above - above for above, at_or_above in background]
    tied = (tied_rows[0] > 0) | (tied_rows[1] > 0)
    has_lower = unlabeled_at[-1] < unlabeled.total or negative_at[-1] < negative.total
    lowest, _ = score_range(samples)

    def with_ends(column: Array, first: float, last: float) -> Array:
        longer = np.empty(1 + column.size + has_lower, dtype=column.dtype)
        longer[0], longer[1 : 1 + column.size], longer[1 + column.size :] = first, column, last
        return longer

    threshold = with_ends(score, np.inf, lowest)
    return Steps(
        threshold,
        with_ends(labeled_at, 0, labeled.total),
        with_ends(unlabeled_at, 0, unlabeled.total),
        with_ends(negative_at, 0, negative.total),
        with_ends(tied, False, False),  # noqa: FBT003
        _represented_positives(represented, threshold),
        *(with_ends(rows, 0, 0) if tied.any() else None for rows in tied_rows),
    )


def tied_background(samples: Samples, steps: Steps) -> tuple[Array, Array]:
    """Return the unlabeled and the negative rows that tie with labeled ones at each threshold."""
    if steps.tied_unlabeled is not None and steps.tied_negative is not None:
        return steps.tied_unlabeled, steps.tied_negative
    tied = np.flatnonzero(steps.tied)

    def count(sample: Sample, reached: Array) -> Array:
        rows = np.zeros_like(reached)
        rows[tied] = reached[tied] - sample.cumulative_counts(steps.threshold[tied])[0]
        return rows

    return count(samples[1], steps.unlabeled), count(samples[2], steps.negative)


def split_ties(samples: Samples, steps: Steps, where: Array) -> Steps:
    """Insert a step just above each of some labeled scores: the other rows above it come first."""
    score = steps.threshold[where]
    background = samples[1:]
    (unlabeled, _), (negative, _) = (sample.cumulative_counts(score) for sample in background)
    next_above = np.minimum(*(sample.next_above(score) for sample in background))
    # No labeled row lies between this labeled score and the one before.
    positives = steps.represented_positives
    if positives is not None:
        positives = np.insert(positives, where, positives[where - 1])
    return Steps(
        np.insert(steps.threshold, where, next_above),
        np.insert(steps.labeled, where, steps.labeled[where - 1]),
        np.insert(steps.unlabeled, where, unlabeled),
        np.insert(steps.negative, where, negative),
        np.insert(steps.tied, where, values=False),
        positives,
    )


def thin_to_quantiles(
    samples: Samples, represented: Sample | None, most: int, keep: Any = ()
) -> list[Sample] | None:
    """Merge neighboring scores so that about ``most`` quantiles remain, and the scores ``keep``.

    Return None if there are no more than ``most`` scores.
    """
    filled = [sample for sample in samples if sample.chunks]
    few = [sample.distinct_if_few(most) for sample in filled]
    scores = [values for values in few if values is not None]
    if len(scores) == len(few) and np.unique(np.concatenate(scores)).size <= most:
        return None
    share = max(most // len(filled), 1)
    lowest, highest = score_range(filled)
    kept = [
        sample.quantiles(np.linspace(0, sample.total, share, endpoint=False)) for sample in filled
    ]
    kept_scores = np.asarray(keep, dtype=np.float64)
    kept.append(kept_scores[(kept_scores > lowest) & (kept_scores < highest)])
    cuts = np.unique(np.concatenate([*kept, [lowest]]))[::-1]
    thinned = []
    for sample in samples if represented is None else (*samples, represented):
        count = np.diff(sample.cumulative_counts(cuts)[1], prepend=0)
        square = None
        if sample.has_importance_weights:
            square = sample.with_squared_weights.counts_between(cuts)
        merged = make_sample(cuts.copy(), count, square)
        thinned.append(replace(merged, design_effect=sample.design_effect))
    return thinned
