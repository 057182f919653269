"""Where the positives can be if labeling is biased: their possible shares of the scores.

Let g1 be the score distribution of the labeled positives and f1 that of all positives of the
target. With a labeling bias of at most Λ, there is a number λ with λ ≤ f1/g1 ≤ Λλ at every score.
Three more limits hold:

- f1 sums to 1.
- Positives are rows: there are no more positives than labeled and unlabeled rows (than unlabeled
  rows, if these are the target) in any cell of scores, above any cell, or below it.
- If all rows are the target, the positives include the labeled ones: f1/g1 is at least the label
  frequency.

For a given λ, the share of positives above *every* threshold is largest if the positives fill the
scores from the top, each as far as its limits allow. So a measure that rises with these shares has
its maximum at one of these fillings, and only λ remains to be found. The minimum is found in the
same way from the bottom. This solves the linear program in time proportional to the number of
scores.

With noisy labels g1 is not observed. The labeled rows have the distribution
g = purity·g1 + (1 − purity)·f0 and the rows of the target r = π·f1 + (1 − π)·f0. Without f0, the
first limit is a(λ)·d ≤ f1 ≤ a(Λλ)·d, with d = g − κ·r, κ = (1 − purity)/(1 − π) and
a(λ) = λ/(purity − λκπ). With clean labels d = g and a(λ) = λ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, NamedTuple

import numpy as np

from pueval._typing import Array, Target
from pueval.core.cluster_table import share_effect
from pueval.core.confidence import normal_quantile
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares
from pueval.core.tilted_rates import (
    LabelingTilt,
    reference_prior,
    reference_share,
    wrong_label_share,
)
from pueval.counts.counts import Counts

Limits = Literal["observed", "confidence"]
# More labeled scores are merged into this many groups.
GROUPS = 2048
# The rows of a cell limit its positives. A cell has at least this many labeled rows, and at least
# as many as there are cells: in smaller cells chance would be the limit.
CELL_ROWS = 10
# With noisy labels, few labeled rows still make this many cells.
NOISY_CELLS = 8
# Level of the intervals whose upper ends are relaxed limits of cells.
LIMIT_LEVEL = 0.95
# Values of λ that are tried before the golden section, its steps, and those of bisections.
GRID, GOLDEN_STEPS, STEPS = 17, 45, 60
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class PositiveShares:
    """Groups of scores, and the limits of the share of positives in each.

    Groups are in cells: neighboring groups whose rows limit the number of positives together.

    Attributes
    ----------
    lower : ndarray of shape (n_groups,)
        Lower edges of the groups, descending.
    net : ndarray of shape (n_groups,)
        Share of labeled rows in each group, net of wrong labels: d.
    cell_start : ndarray of int
        First group of each cell.
    limit, limit_above, limit_below : ndarray
        Largest share of the positives in each cell, in it and all above, and in it and all below.
    least_ratio : float
        Smallest possible f1/g1.
    purity, prior : float
        Shares of positives among labeled rows and among the rows of the target.
    wrong_labels : float
        κ.
    """

    lower: Array
    net: Array
    cell_start: Array
    limit: Array
    limit_above: Array
    limit_below: Array
    least_ratio: float
    purity: float
    prior: float
    wrong_labels: float

    @classmethod
    def of(
        cls,
        counts: Counts,
        mixture: Mixture,
        target: Target,
        threshold: float | None = None,
        limits: Limits = "observed",
    ) -> PositiveShares:
        """Group the scores.

        Parameters
        ----------
        counts : Counts
            The data.
        mixture : Mixture
            Prior and purity.
        target : {"population", "unlabeled"}
            Population to evaluate.
        threshold : float, optional
            No group contains scores on both sides of the threshold.
        limits : {"observed", "confidence"}
            Limits of the cells. ``"confidence"`` relaxes them by what chance explains in all cells
            together. ``"observed"`` takes cells of a single score at face value, except where
            random labeling exceeds the limit by no more than chance.
        """
        prior = float(reference_prior(counts, mixture, target))
        wrong = float(wrong_label_share(mixture, prior))
        groups = _group_scores(counts, threshold)
        shares = groups.shares(counts)
        net = shares.labeled
        if wrong:
            net = net - wrong * reference_share(counts, shares, target)
        start = _cell_starts(net * counts._labeled.n_rows, groups.below, noisy=wrong > 0)
        cells = groups.merged(start)
        lower = groups.lower
        if wrong:
            # Single scores may have more wrong labels than labeled rows.
            lower, net, start = cells.lower, np.add.reduceat(net, start), np.arange(start.size)
        positives, least = mixture.prior * counts.n_unlabeled, 0.0
        if target == "population":
            positives += mixture.purity * counts.n_labeled
            least = mixture.label_frequency(counts)
        unlimited = np.full(start.size, math.inf)
        result = cls(
            lower, net, start, *(unlimited,) * 3, least, mixture.purity, prior, wrong
        )  # fmt: skip
        if not positives:
            return result
        random_labeling = positives * result._ratio_to_net(1.0) * result.cell_net
        weight = independent_weight(counts)
        limit, limit_above, limit_below = (
            number / positives
            for number in _largest_numbers(cells, random_labeling, target, limits, weight)
        )
        return replace(result, limit=limit, limit_above=limit_above, limit_below=limit_below)

    @cached_property
    def cell_net(self) -> Array:
        """Share of labeled rows in each cell, net of wrong labels."""
        return np.asarray(np.add.reduceat(self.net, self.cell_start))

    def _ratio_to_net(self, ratio: float) -> float:
        """Turn a ratio f1/g1 into the ratio f1/d: a(λ) = λ/(purity − λκπ)."""
        denominator = self.purity - ratio * self.wrong_labels * self.prior
        most = 1 / float(self.net[self.net > 0].min())  # no share is above 1
        return min(ratio / denominator, most) if denominator > 0 else most

    # ------------------------------------------------------------------ fillings

    def fill(self, ratio: float, bias: float, *, from_top: bool) -> Array:
        """Return the shares of the positives that fill the groups from the top or the bottom."""
        low, high = self._ratio_to_net(ratio), self._ratio_to_net(bias * ratio)
        order = slice(None) if from_top else slice(None, None, -1)
        first, sizes = self._cells[from_top]
        # Above the smallest shares, positives are added up to the limits of all cells so far.
        room = ((high - low) * np.maximum(self.net, 0))[order]
        added_by_cell = np.minimum(self._room(low, high, from_top), 1 - low * float(self.net.sum()))
        start = np.repeat(np.append(0.0, added_by_cell[:-1]), sizes)
        room_before = np.cumsum(room) - np.repeat((np.cumsum(room) - room)[first], sizes)
        added = np.minimum(start + room_before, np.repeat(added_by_cell, sizes))
        shares: Array = low * self.net + np.diff(added, prepend=0)[order]
        return np.asarray(shares / shares.sum())

    @cached_property
    def _cells(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """First group and number of groups of each cell, from the bottom and from the top."""
        sizes = np.diff(np.append(self.cell_start, self.net.size))
        return (np.cumsum(sizes[::-1]) - sizes[::-1], sizes[::-1]), (self.cell_start, sizes)

    def _room(self, low: float, high: float, from_top: bool) -> Array:  # noqa: FBT001
        """Return the most that can be added to a smallest factor in each cell and all before it."""
        order = slice(None) if from_top else slice(None, None, -1)
        net = self.cell_net[order]
        room = np.minimum((high - low) * np.maximum(net, 0), self.limit[order] - low * net)
        filled = np.cumsum(np.maximum(room, 0))
        limit = (self.limit_above if from_top else self.limit_below[::-1]) - low * np.cumsum(net)
        most = filled + np.minimum(np.minimum.accumulate(limit - filled), 0)
        return np.maximum(np.minimum.accumulate(most[::-1])[::-1], 0)

    def possible_ratios(self, bias: float) -> tuple[float, float] | None:
        """Return the range of λ for which some distribution is possible; None if there is none."""
        net = self.cell_net
        limits = np.concatenate([self.limit, self.limit_above, self.limit_below])
        smallest = np.concatenate([net, np.cumsum(net), np.cumsum(net[::-1])[::-1]])

        def fits(ratio: float) -> bool:
            return bool(np.all(self._ratio_to_net(ratio) * smallest <= limits * (1 + 1e-12)))

        def suffices(ratio: float) -> bool:
            low, high = self._ratio_to_net(ratio), self._ratio_to_net(bias * ratio)
            most = min(float(self._room(low, high, from_top)[-1]) for from_top in (False, True))
            return low * float(net.sum()) + most >= 1 - 1e-12

        least = max(self.least_ratio, 1 / bias)
        if not fits(least):
            return None
        largest = 1.0 if fits(1.0) else _last(fits, least, 1.0)
        if not suffices(largest):
            return None
        if not suffices(least):
            least = -_last(lambda ratio: suffices(-ratio), -largest, -least)
        return least, largest

    def extreme(
        self, value: Callable[[LabelingTilt], float], bias: float, *, largest: bool
    ) -> LabelingTilt | None:
        """Find the distribution with the largest or smallest value; None if none is possible.

        ``value`` rises with the shares of positives above thresholds.
        """
        possible = self.possible_ratios(bias)
        if possible is None:
            return None
        sign = 1.0 if largest else -1.0

        def tilt(ratio: float) -> LabelingTilt:
            return LabelingTilt(self.lower, self.fill(ratio, bias, from_top=largest) / self.net)

        best = _maximize(lambda ratio: sign * value(tilt(ratio)), *possible)
        return tilt(best)


def independent_weight(counts: Counts) -> float:
    """Return the weight of one independent row: above 1 if rows form clusters."""
    return share_effect(counts) * counts._row_weight("population")


def smallest_bias(shares: PositiveShares, most: float) -> float:
    """Return the smallest labeling bias for which some distribution is possible; inf if none."""
    if shares.possible_ratios(1.0) is not None:
        return 1.0
    if shares.possible_ratios(most) is None:
        return math.inf
    is_impossible = _last(
        lambda log_bias: shares.possible_ratios(math.exp(log_bias)) is None, 0.0, math.log(most)
    )
    return math.exp(is_impossible)


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the last number for which a condition holds, which holds at ``low``."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _maximize(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the argument of the maximum: the best of a grid, then a golden section around it."""
    if high <= low * (1 + 1e-12):
        return low
    grid = np.linspace(low, high, GRID)
    best = int(np.argmax([function(x) for x in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(GOLDEN_STEPS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = function(right)
    candidates = (float(grid[best]), (low + high) / 2)
    return max(candidates, key=function)


class _ScoreGroups(NamedTuple):
    """Groups of labeled scores: lower edges, sides of the threshold, and rows.

    A group reaches up to the lower edge of the group above; the last one has all lower rows.
    """

    lower: Array
    below: Array
    n_scores: Array
    labeled: Array
    unlabeled: Array
    negative: Array

    def shares(self, counts: Counts) -> Shares:
        """Return the shares of rows in each group."""
        return Shares(
            self.labeled / counts.n_labeled,
            self.unlabeled / (counts.n_unlabeled or 1),
            self.negative / (counts.n_negative or 1),
        )

    def merged(self, start: Array) -> _ScoreGroups:
        """Merge neighboring groups; ``start`` has the first ones."""
        numbers = (np.add.reduceat(rows, start) for rows in self[2:])
        return _ScoreGroups(
            self.lower[np.append(start[1:], self.lower.size) - 1], self.below[start], *numbers
        )


def _group_scores(counts: Counts, threshold: float | None) -> _ScoreGroups:
    """Group the labeled scores, so that none is on both sides of the threshold."""
    score, cumulative = counts._cumulative_labeled
    score = score.astype(np.float64)
    below = np.zeros(score.size, dtype=bool) if threshold is None else score < threshold
    bucket = np.arange(score.size)
    if score.size > GROUPS:
        before = cumulative - np.diff(cumulative, prepend=0)
        bucket = np.floor(before * (GROUPS / cumulative[-1])).astype(np.intp)
    last = np.append(np.flatnonzero((np.diff(bucket) > 0) | np.diff(below)), score.size - 1)
    lower, below = score[last], below[last]
    if threshold is not None and not below[0]:
        # The last group above the threshold reaches down to it.
        lower[np.flatnonzero(~below)[-1]] = threshold
    steps = counts.at(lower)
    rows = (
        np.diff(np.append(above[:-1], total), prepend=0)
        for above, total in (
            (steps.labeled, counts.n_labeled),
            (steps.unlabeled, counts.n_unlabeled),
            (steps.negative, counts.n_negative),
        )
    )
    return _ScoreGroups(lower, below, np.diff(last, prepend=-1), *rows)


def _largest_numbers(
    cells: _ScoreGroups, random_labeling: Array, target: Target, limits: Limits, weight: float
) -> tuple[Array, Array, Array]:
    """Return the largest number of positives in each cell, from it up, and from it down.

    ``random_labeling`` is the number in each cell for random labeling. ``weight`` is that of
    `independent_weight`.
    """

    def relaxed(z: float, labeled: Array, unlabeled: Array) -> Array:
        odds = _largest_odds(labeled / weight, unlabeled / weight, z)
        return np.asarray(labeled * (odds + 1 if target == "population" else odds))

    labeled, unlabeled = cells.labeled, cells.unlabeled
    z = normal_quantile(LIMIT_LEVEL)
    # A single limit can determine λ. With this quantile all limits hold together, since the tail of
    # the normal distribution falls at least as fast as exp(−z²/2).
    simultaneous = partial(relaxed, math.sqrt(z**2 + 2 * math.log(3 * labeled.size)))
    above = simultaneous(np.cumsum(labeled), np.cumsum(unlabeled))
    below = simultaneous(np.cumsum(labeled[::-1]), np.cumsum(unlabeled[::-1]))[::-1]
    number = simultaneous(labeled, unlabeled)
    if limits == "observed":
        observed = unlabeled + labeled if target == "population" else unlabeled
        is_chance = random_labeling > observed
        is_chance &= random_labeling <= relaxed(z, labeled, unlabeled)
        observed = np.where(is_chance, random_labeling, observed)
        number = np.where(cells.n_scores == 1, observed, number)
    return number, above, below


def _largest_odds(labeled: Array, unlabeled: Array, z: float) -> Array:
    """Return upper ends of Wilson intervals of the odds of unlabeled to labeled rows."""
    n = labeled + unlabeled
    share = unlabeled / n
    center = share + z**2 / (2 * n)
    margin = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    largest = (center + margin) / (1 + z**2 / n)
    odds: Array = largest / (1 - largest)
    return odds


def _cell_starts(rows: Array, below: Array, *, noisy: bool) -> Array:
    """Return the first group of each cell; ``rows`` are labeled rows, net of wrong labels."""
    total = float(rows.sum())
    least = max(CELL_ROWS, math.sqrt(total))
    if noisy:
        least = min(least, total / NOISY_CELLS)
    starts: list[int] = []
    for same_side in (np.flatnonzero(~below), np.flatnonzero(below)):
        if not same_side.size:
            continue
        starts.append(int(same_side[0]))
        first, size = len(starts), 0.0
        for group in same_side:
            if size >= least:
                starts.append(int(group))
                size = 0.0
            size += float(rows[group])
        # The last cell of a side may be too small.
        while size < least and len(starts) > first:
            end = starts.pop()
            size += float(rows[starts[-1] : end].sum())
    return np.array(starts)
