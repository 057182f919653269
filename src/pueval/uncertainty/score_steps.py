"""Numbers of rows at, and at or above, each distinct score, by group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pueval._typing import Array
from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.samples.sample import Sample
from pueval.samples.steps import Steps

# Sums of weights below this share of other sums are rounding errors.
ROUNDING = 1e-12
ByKind = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class ScoreSteps:
    """Distinct scores of every group in descending order, with their rows.

    Attributes
    ----------
    group : ndarray of int
        Group of each step, ascending.
    score : ndarray
        Score of each step, descending within a group.
    at, reached : tuple of three ndarray
        Labeled, unlabeled and known negative rows at the score, and at or above it.
    n_groups : int
        Number of groups; each has at least one step.
    with_squares : ScoreSteps or None
        The same steps with squared weights, if rows have importance weights.
    """

    group: Array
    score: Array
    at: ByKind
    reached: ByKind
    n_groups: int
    with_squares: ScoreSteps | None = None

    @property
    def squared(self) -> ScoreSteps:
        """Steps with squared weights; without importance weights these steps themselves."""
        return self if self.with_squares is None else self.with_squares

    @classmethod
    def of_rows(
        cls, starts: Array, group: Array, score: Array, kind: Array, sample_weight: Array | None
    ) -> ScoreSteps:
        """Count rows that are sorted by group and by descending score.

        ``starts`` are the first rows of the groups, followed by the number of rows; ``kind`` is 0
        for labeled, 1 for unlabeled and 2 for known negative rows.
        """
        new = np.ones(group.size, dtype=bool)
        new[1:] = (group[1:] != group[:-1]) | (score[1:] != score[:-1])
        first = np.flatnonzero(new)
        last = np.append(first[1:], group.size) - 1

        def steps(row_weight: Array) -> ScoreSteps:
            at, reached = [], []
            for k in range(3):
                rows = np.where(kind == k, row_weight, 0)
                at.append(np.add.reduceat(rows, first))
                sums = cumulative_by_group(rows, starts)[last]
                reached.append(np.where(sums < ROUNDING * rows.max(), 0, sums))
            return cls(group[first], score[first], tuple(at), tuple(reached), starts.size - 1)

        if sample_weight is None:
            return steps(np.ones(group.size, dtype=np.int64))
        if sample_weight.dtype.kind != "f":
            return steps(sample_weight)
        return replace(steps(sample_weight), with_squares=steps(np.square(sample_weight)))

    @classmethod
    def of_counts(cls, steps: Steps) -> ScoreSteps:
        """Take all distinct scores of one sample, from `Counts.steps`, as a single group."""
        columns = (steps.labeled, steps.unlabeled, steps.negative)
        at, reached = tuple(map(np.diff, columns)), tuple(column[1:] for column in columns)
        return cls(np.zeros_like(at[0], dtype=np.intp), steps.threshold[1:], at, reached, 1)

    @classmethod
    def of_labeled(cls, counts: Counts, corners: Steps) -> ScoreSteps:
        """Take the scores of the labeled rows of one sample as a single group."""
        score = corners.threshold[np.flatnonzero(np.diff(corners.labeled)) + 1]

        def steps(kinds: Iterable[Sample]) -> ScoreSteps:
            above, reached = zip(*(kind.cumulative_counts(score) for kind in kinds), strict=True)
            at = tuple(map(np.subtract, reached, above))
            return cls(np.zeros(score.size, dtype=np.intp), score, at, reached, 1)

        if not counts._has_importance_weights:
            return steps(counts._samples)
        squares = steps(kind.with_squared_weights for kind in counts._samples)
        return replace(steps(counts._samples), with_squares=squares)

    @classmethod
    def of_corners(cls, counts: Counts, corners: Steps) -> ScoreSteps:
        """Like `of_labeled`, from what was counted for the corners.

        Squares of importance weights were not, so rows with weights are counted again.
        """
        if counts._has_importance_weights:
            return cls.of_labeled(counts, corners)
        labeled = np.diff(corners.labeled)
        rises: Array | slice = np.flatnonzero(labeled)
        if labeled[:-1].all():  # a slice copies nothing; only the lowest score may have no label
            rises = slice(np.count_nonzero(labeled))
        tied = (rows[1:][rises] for rows in counts._tied_background(corners))
        columns = (corners.labeled, corners.unlabeled, corners.negative)
        reached = tuple(column[1:][rises] for column in columns)
        score = corners.threshold[1:][rises]
        return cls(np.zeros(score.size, dtype=np.intp), score, (labeled[rises], *tied), reached, 1)

    def sizes_at(self, sizes: GroupSizes) -> GroupSizes:
        """Return the sizes of the group of each step; those of a single group once."""
        return sizes if self.n_groups == 1 else sizes.take(self.group)

    def labeled_only(self) -> ScoreSteps:
        """Return the steps that have labeled rows."""
        return self._part(self.at[0] > 0)

    def _part(self, mask: Array) -> ScoreSteps:
        return ScoreSteps(
            self.group[mask],
            self.score[mask],
            tuple(column[mask] for column in self.at),
            tuple(column[mask] for column in self.reached),
            self.n_groups,
            None if self.with_squares is None else self.with_squares._part(mask),
        )

    def sum_by_group(self, values: Array) -> Array:
        """Add up values of the steps of each group."""
        return np.bincount(self.group, values, minlength=self.n_groups)

    def sum_from_below(self, values: Array) -> Array:
        """Add up, for each step, its value and those of all lower scores of its group."""
        total = self.sum_by_group(values)
        starts = np.searchsorted(self.group, np.arange(self.n_groups + 1))
        return total[self.group] - cumulative_by_group(values, starts) + values


def cumulative_by_group(values: Array, starts: Array) -> Array:
    """Return cumulative sums that start again with every group."""
    first = starts[:-1]
    if values.dtype.kind in "iu":
        sums = np.cumsum(values)
        base = sums[first] - values[first]
        within: Array = sums - np.repeat(base, np.diff(starts))
        return within
    # Subtracting the sum of the previous group only, not of all groups before, keeps the digits.
    change = values.copy()
    change[first[1:]] -= np.add.reduceat(values, first)[:-1]
    return np.cumsum(change)
