"""AUC and average precision of many groups at once, and how single rows move them.

The influence of a row on an area is what the area changes with a bit more weight on the row. Its
variance over the rows of a kind, divided by their number, is that of the area: for the AUC
these are DeLong's placement values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import AveragePrecisionTerms
from pueval.core.measures import MEASURES
from pueval.core.mixture import NAIVE, Mixtures
from pueval.core.rates import Rates, Shares
from pueval.counts.counts import Counts
from pueval.groups.sorted_rows import Block
from pueval.groups.totals import Totals
from pueval.samples.sample import Sample
from pueval.samples.steps import Steps

# Sums of weights as small as this beside others are rounding errors.
ROUNDING = 1e-12
Columns = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct scores of every group, descending, and the rows that have and exceed them.

    Attributes
    ----------
    group, score : ndarray
        Of each step.
    at, beyond : tuple of three ndarray
        Labeled, unlabeled and negative rows at the score, and at or above it.
    n_groups : int
        How many groups there are; every one has a step.
    square : Table or None
        The same with squared weights, where rows have float weights.
    """

    group: Array
    score: Array
    at: Columns
    beyond: Columns
    n_groups: int
    square: Table | None = None

    @property
    def squared(self) -> Table:
        """The same with squared weights; as it is if every row counts once."""
        return self if self.square is None else self.square

    @classmethod
    def of(cls, block: Block) -> Table:
        """Count the rows of a block."""
        return cls._of(block, cls._of(block.squared) if block.weighted else None)

    @classmethod
    def _of(cls, block: Block, square: Table | None = None) -> Table:
        group, score = block.group, block.score
        new = np.ones(group.size, dtype=bool)
        new[1:] = (group[1:] != group[:-1]) | (score[1:] != score[:-1])
        first = np.flatnonzero(new)
        last = np.append(first[1:], group.size) - 1
        ones = (
            np.ones(group.size, dtype=np.int64)
            if block.sample_weight is None
            else block.sample_weight
        )
        at, beyond = [], []
        for kind in range(3):
            rows = np.where(block.kind == kind, ones, 0)
            at.append(np.add.reduceat(rows, first))
            reached = _running(rows, block.starts)[last]
            beyond.append(np.where(reached < ROUNDING * rows.max(), 0, reached))
        return cls(
            group[first],
            score[first],
            (at[0], at[1], at[2]),
            (beyond[0], beyond[1], beyond[2]),
            block.n_groups,
            square,
        )

    @classmethod
    def of_counts(cls, counts: Counts, corners: Steps) -> Table:
        """Take the labeled scores of one Counts as the steps of one group."""
        where = np.flatnonzero(np.diff(corners.labeled)) + 1
        score = corners.threshold[where]
        zero = np.zeros(score.size, dtype=np.intp)

        def table(kinds: list[Sample], square: Table | None) -> Table:
            (al, bl), (au, bu), (an, bn) = (kind.cumulative_counts(score) for kind in kinds)
            return cls(zero, score, (bl - al, bu - au, bn - an), (bl, bu, bn), 1, square)

        kinds = [*counts._samples]
        squared_weights = (
            table([kind.with_squared_weights for kind in kinds], None)
            if counts._has_importance_weights
            else None
        )
        return table(kinds, squared_weights)

    @property
    def above(self) -> Columns:
        """Labeled, unlabeled and negative rows strictly above each score."""
        found = [
            # Where no row is above, sums of weights differ by rounding.
            np.where(beyond - at <= ROUNDING * beyond, 0, beyond - at)
            for at, beyond in zip(self.at, self.beyond, strict=True)
        ]
        return found[0], found[1], found[2]

    def labeled(self) -> Table:
        """Return the steps that have labeled rows."""
        return self.part(self.at[0] > 0)

    def part(self, mask: Array) -> Table:
        """Return some of the steps."""
        at, beyond = ([column[mask] for column in columns] for columns in (self.at, self.beyond))
        return Table(
            self.group[mask],
            self.score[mask],
            (at[0], at[1], at[2]),
            (beyond[0], beyond[1], beyond[2]),
            self.n_groups,
            None if self.square is None else self.square.part(mask),
        )

    def sums(self, values: Array) -> Array:
        """Add up by group."""
        return np.bincount(self.group, values, minlength=self.n_groups)


def _running(rows: Array, starts: Array) -> Array:
    """Cumulative sums that start again with every group."""
    first = starts[:-1]
    if rows.dtype.kind in "iu":
        sums = np.cumsum(rows)
        base = sums[first] - rows[first]
        within: Array = sums - np.repeat(base, np.diff(starts))
        return within
    # To take the sum of the last group off at its end, and not the sum of all, keeps the digits.
    change = rows.copy()
    change[first[1:]] -= np.add.reduceat(rows, first)[:-1]
    return np.cumsum(change)


@dataclass(frozen=True, eq=False)
class Influence:
    """An area by group, and how labeled and other rows at labeled scores move it.

    Attributes
    ----------
    value : ndarray
        The area of each group.
    labeled : ndarray
        Of a labeled row, at each labeled step.
    other : ndarray
        Of another row at a labeled step.
    gap : ndarray
        Of another row between a labeled step and the one above it.
    tail : ndarray
        Of another row below all labeled steps, by group.
    excess : ndarray
        By how much the area of each group is too large on average, since every labeled row
        helps itself.
    by_prevalence : ndarray
        Slope of the area of each group in its prevalence.
    """

    value: Array
    labeled: Array
    other: Array
    gap: Array
    tail: Array
    excess: Array
    by_prevalence: Array


def naive_auc(table: Table, totals: Totals) -> Influence:
    """AUC of labeled against other rows, ties counting half; ``table`` has labeled steps only."""
    mine = totals.take(table.group)
    at, beyond = table.at[1] + table.at[2], table.beyond[1] + table.beyond[2]
    placement = (mine.n_others - beyond + at / 2) / mine.n_others
    above = table.beyond[0] - table.at[0]
    pairs = table.at[0].astype(np.float64) * (mine.n_others - beyond + at / 2)
    return Influence(
        table.sums(pairs) / totals.n_labeled / totals.n_others,
        placement,
        (above + table.at[0] / 2) / mine.n_labeled,
        above / mine.n_labeled,
        np.ones(table.n_groups),
        np.zeros(table.n_groups),
        np.zeros(table.n_groups),
    )


def average_precision(
    table: Table, totals: Totals, mixtures: Mixtures, target: Target
) -> Influence:
    """Average precision by group; ``table`` has labeled steps only.

    The value is that of `monotone.average_precision`. A row moves the rates at its own score
    and at all lower thresholds.
    """
    mine, own = totals.take(table.group), _take(mixtures, table.group)
    here = mine.corrected(table.beyond, own, target)
    steps = AveragePrecisionTerms.of(here, table.group)
    by_tpr, by_fpr = steps.rate_slopes()
    influence = [
        _from_end(slope.tpr[table.group] * by_tpr + slope.fpr[table.group] * by_fpr, table)
        for slope in _slopes(totals, mixtures, target)
    ]
    without = steps.precision_of(_without(table, mine, own, target))
    # Where nothing else reaches it, a row has no precision but its own.
    without = np.where(without > 0, without, steps.precision)
    return Influence(
        table.sums(steps.recall_gain * steps.precision),
        influence[0],
        influence[1],
        influence[1],
        np.zeros(table.n_groups),
        table.sums(steps.recall_gain * (steps.precision - without)),
        table.sums(steps.prevalence_slopes()),
    )


def naive_average_precision(table: Table, totals: Totals) -> Array:
    """Average precision by group with unlabeled rows counted as negative."""
    mine, size = totals.take(table.group), table.group.size
    plain = Mixtures(np.full(size, NAIVE.prior), np.full(size, NAIVE.purity))
    here = mine.corrected(table.beyond, plain, "population")
    precision = np.nan_to_num(MEASURES["precision"](here))
    return table.sums(table.at[0] / mine.n_labeled * precision)


def _without(table: Table, totals: Totals, mixtures: Mixtures, target: Target) -> Rates:
    """Rates at labeled steps, with one labeled row there left out.

    A labeled row counts at its own score, which makes precision there too high on average: with
    few labeled rows by far.
    """
    rows = totals.effective[0]
    reached = table.beyond[0] / totals.n_labeled
    fewer = np.maximum(reached * rows - 1, 0) / np.maximum(rows - 1, 1) * totals.n_labeled
    return totals.corrected((fewer, table.beyond[1], table.beyond[2]), mixtures, target)


def _from_end(values: Array, table: Table) -> Array:
    """Sum of a value and all that follow in its group."""
    total = table.sums(values)
    starts = np.searchsorted(table.group, np.arange(table.n_groups + 1))
    return total[table.group] - _running(values, starts) + values


def _slopes(totals: Totals, mixtures: Mixtures, target: Target) -> tuple[Rates, Rates]:
    """How rates change with the share of labeled, and of other rows beyond a threshold."""
    one, zero = np.ones(totals.n_labeled.size), np.zeros(totals.n_labeled.size)
    return (
        totals.corrected_shares(Shares(one, zero, zero), mixtures, target),
        totals.corrected_shares(Shares(zero, one, one), mixtures, target),
    )


def _take(mixtures: Mixtures, groups: Array) -> Mixtures:
    return Mixtures(mixtures.prior[groups], mixtures.purity[groups])
