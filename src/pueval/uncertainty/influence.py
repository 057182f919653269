"""Influence of rows on estimates, for many groups of rows at once.

An estimate depends on two samples: labeled rows, and the background of unlabeled rows and known
negatives. To first order its error is the sum, over the samples, of the mean *influence* of the
rows of the sample: what the estimate changes with a little more weight on the row. So the variance
of an estimate is that of these means, and the covariance of two estimates (of two models, or of a
group and all rows) is the sum of products of influences over the rows that both share.

- Naive AUC: the influences are DeLong's placements.
- Average precision: it is made of the rates at all thresholds, and a row moves the rates at its
  score and below.
- A measure at a threshold: a smooth function of the shares of rows at or above it. A row at or
  above the threshold has the slope of the measure in the share of its sample, others none.

Prior and purity are held fixed. A single `Counts` is treated as one group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import AveragePrecisionTerms
from pueval.core.measures import MEASURES, ZERO, Measure, Table
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Rates, Shares, correct_shares, replace_prevalence
from pueval.core.sizes import GroupSizes, SampleSizes, divide_or_zero
from pueval.uncertainty.score_steps import ByKind, ScoreSteps

# Numeric slopes use a step of this share of the smallest cell of the contingency table. The
# relative error is then about the square of it.
STEP = 1e-5


@dataclass(frozen=True, eq=False)
class Influence:
    """Influence of rows on one estimate per group, given at the scores of labeled rows.

    Background rows between two of these scores all have the same influence. Influences are not
    centered: their mean over the rows of a sample need not be zero.

    Attributes
    ----------
    labeled : ndarray
        Influence of a labeled row at each labeled step.
    background : ndarray
        Influence of a background row at each labeled step.
    gap : ndarray
        Influence of a background row between a labeled step and the one above it.
    tail : ndarray
        Influence of a background row below all labeled steps, by group.
    """

    labeled: Array
    background: Array
    gap: Array
    tail: Array

    def at_steps(self, steps: ScoreSteps) -> tuple[Array, Array]:
        """Return the influence of labeled and of background rows at every step of all groups."""
        has_labeled = steps.at[0] > 0
        following = np.cumsum(has_labeled)
        step = np.where(has_labeled, following - 1, following)
        groups = np.append(steps.group[has_labeled], -1)
        return self._look_up(step, has_labeled, groups[step] == steps.group, steps.group)

    def at_scores(self, labeled_steps: ScoreSteps, score: Array) -> tuple[Array, Array]:
        """Return the influence of labeled and of background rows with these scores; one group."""
        steps, score = labeled_steps.score.astype(np.float64), score.astype(np.float64)
        step = steps.size - np.searchsorted(steps[::-1], score, side="right")
        tied = np.append(steps, np.nan)[step] == score
        return self._look_up(step, tied, step < steps.size, 0)

    def _look_up(
        self, step: Array, tied: Array, in_gap: Array, group: int | Array
    ) -> tuple[Array, Array]:
        """Return the influence of rows at a labeled step, in the gap above it, or in the tail."""
        nearest = np.minimum(step, self.labeled.size - 1)
        background = np.where(in_gap, self.gap[nearest], self.tail[group])
        return (
            np.where(tied, self.labeled[nearest], 0.0),
            np.where(tied, self.background[nearest], background),
        )

    def divided_by(self, divisor: Array, steps: ScoreSteps) -> Influence:
        """Return the influence on estimates that are divided by a constant of each group."""
        by_step = divisor[steps.group]
        parts = (self.labeled, self.background, self.gap)
        labeled, background, gap = (part / by_step for part in parts)
        return Influence(labeled, background, gap, self.tail / divisor)


# ---------------------------------------------------------------------- areas of groups


def naive_aucs(steps: ScoreSteps, sizes: GroupSizes) -> Array:
    """Return the AUC of labeled against background rows by group; ties count half.

    ``steps`` has labeled steps only, here and below.
    """
    outscored = _outscored(steps, steps.sizes_at(sizes))
    pairs = steps.at[0].astype(np.float64) * outscored
    return steps.sum_by_group(pairs) / sizes.n_labeled / sizes.n_background


def placements(steps: ScoreSteps, sizes: GroupSizes) -> Influence:
    """Return the influence of rows on the naive AUC: DeLong's placements.

    The placement of a labeled row is the share of background rows that it outscores; that of a
    background row is the share of labeled rows that outscore it; ties count half.
    """
    step_sizes = steps.sizes_at(sizes)
    above = steps.reached[0] - steps.at[0]
    return Influence(
        _outscored(steps, step_sizes) / step_sizes.n_background,
        (above + steps.at[0] / 2) / step_sizes.n_labeled,
        above / step_sizes.n_labeled,
        np.ones(steps.n_groups),
    )


def _outscored(steps: ScoreSteps, sizes: GroupSizes) -> Array:
    """Return how many background rows each labeled step outscores; ties count half."""
    at, reached = steps.at[1] + steps.at[2], steps.reached[1] + steps.reached[2]
    outscored: Array = sizes.n_background - reached + at / 2
    return outscored


@dataclass(frozen=True, eq=False)
class AveragePrecisions:
    """Average precision by group, along monotone rates; ``steps`` has labeled steps only."""

    steps: ScoreSteps
    sizes: GroupSizes
    mixtures: Mixtures
    target: Target

    @cached_property
    def _terms(self) -> AveragePrecisionTerms:
        return AveragePrecisionTerms.of(self._rates(self.steps.reached), self.steps.group)

    def _rates(self, reached: ByKind) -> Rates:
        group = self.steps.group
        mixtures = Mixtures(self.mixtures.prior[group], self.mixtures.purity[group])
        return rates_by_group(reached, self.steps.sizes_at(self.sizes), mixtures, self.target)

    @property
    def value(self) -> Array:
        """The area of each group, as by `pueval.core.average_precision.average_precision`."""
        return self.steps.sum_by_group(self._terms.recall_gain * self._terms.precision)

    @property
    def by_prevalence(self) -> Array:
        """Slope of the area of each group in its prevalence."""
        return self.steps.sum_by_group(self._terms.prevalence_slopes())

    def influence(self) -> Influence:
        """Return the influence of rows: a row moves the rates at its score and below."""
        by_tpr, by_fpr = self._terms.rate_slopes()
        group = self.steps.group
        one, zero = np.ones(self.steps.n_groups), np.zeros(self.steps.n_groups)
        labeled, background = (
            self.steps.sum_from_below(slope.tpr[group] * by_tpr + slope.fpr[group] * by_fpr)
            for slope in (
                correct_shares(self.sizes, zero, shares, self.mixtures, self.target)
                for shares in (Shares(one, zero, zero), Shares(zero, one, one))
            )
        )
        return Influence(labeled, background, background, zero)

    def excess(self) -> Array:
        """Return by how much the area of each group is too large on average.

        A labeled row counts at its own score, which makes precision there too high on average,
        most of all with few labeled rows. The excess is the difference to precision with one
        labeled row left out.
        """
        step_sizes = self.steps.sizes_at(self.sizes)
        rows = step_sizes.effective_by_kind[0]
        labeled = self.steps.reached[0] / step_sizes.n_labeled
        fewer = np.maximum(labeled * rows - 1, 0) / np.maximum(rows - 1, 1) * step_sizes.n_labeled
        left_out = self._rates((fewer, self.steps.reached[1], self.steps.reached[2]))
        precision = self._terms.precision
        without = self._terms.precision_of(left_out)
        # Where no other row reaches the score, the row has no precision but its own.
        without = np.where(without > 0, without, precision)
        return self.steps.sum_by_group(self._terms.recall_gain * (precision - without))


def naive_average_precisions(steps: ScoreSteps, sizes: GroupSizes) -> Array:
    """Return the average precision by group with unlabeled rows counted as negative."""
    step_sizes, naive = steps.sizes_at(sizes), Mixtures.naive(steps.group.size)
    rates = rates_by_group(steps.reached, step_sizes, naive, "population")
    precision = np.nan_to_num(MEASURES["precision"](rates))
    return steps.sum_by_group(steps.at[0] / step_sizes.n_labeled * precision)


def rates_by_group(reached: ByKind, sizes: GroupSizes, mixtures: Mixtures, target: Target) -> Rates:
    """Correct numbers of rows at or above a threshold, one threshold for each entry."""
    shares = [divide_or_zero(*pair) for pair in zip(reached, sizes.by_kind, strict=True)]
    return correct_shares(sizes, np.empty(0), Shares(*shares), mixtures, target)


def influence_variance(
    influence: Influence,
    steps: ScoreSteps,
    sizes: GroupSizes,
    *,
    pseudo_observation: bool,
    design_effect: float | Array = 1.0,
) -> Array:
    """Return the variance of an area by group; rows of each kind vary independently.

    Influences that are `placements` can get a ``pseudo_observation``. Rows with importance weights
    add their squared weights. ``design_effect`` is that of clusters of rows.
    """
    squared, every_group = steps.squared, np.arange(steps.n_groups)
    pieces = [(steps.group, influence.labeled, steps.at[0], squared.at[0])]
    n_rows = sizes.effective_by_kind[0]
    options: dict[str, Any] = {
        "pseudo_observation": pseudo_observation,
        "design_effect": design_effect,
    }
    variance = _variance_of_mean(pieces, sizes.n_labeled, n_rows, **options)
    variance[n_rows <= 1] = np.nan
    for kind in (1, 2):
        total, n_rows = sizes.by_kind[kind], sizes.effective_by_kind[kind]
        if not total.any():
            continue
        gap, tail = gap_square, tail_square = _weight_off_steps(steps, kind, total)
        if steps.with_squares is not None:
            gap_square, tail_square = _weight_off_steps(squared, kind, sizes.squared_weights[kind])
        pieces = [
            (every_group, influence.tail, tail, tail_square),
            (steps.group, influence.gap, gap, gap_square),
        ]
        if steps.at[kind].any():
            tied = (steps.group, influence.background, steps.at[kind], squared.at[kind])
            pieces.insert(1, tied)
        part = _variance_of_mean(pieces, total, n_rows, **options)
        share = divide_or_zero(total, sizes.n_background)
        variance += np.where(total > 0, share**2 * part, 0)
    return variance


def _weight_off_steps(steps: ScoreSteps, kind: int, total: Array) -> tuple[Array, Array]:
    """Return the weight between each step and the one above, and below all steps of each group."""
    at, reached = steps.at[kind], steps.reached[kind]
    gap = reached - at
    if steps.n_groups == 1:
        gap[1:] -= reached[:-1]
        return gap, total - reached[-1:]
    same = steps.group[1:] == steps.group[:-1]
    gap[1:] -= np.where(same, reached[:-1], 0)
    last = np.zeros(steps.n_groups, dtype=reached.dtype)
    last[steps.group] = reached  # the last value of each group stays
    return gap, total - last


def _variance_of_mean(
    pieces: list[tuple[Array, Array, Array, Array]],
    total: Array,
    n_rows: Array,
    *,
    pseudo_observation: bool,
    design_effect: float | Array,
) -> Array:
    """Return the variance, by group, of the mean of values; ``n_rows`` are effective sizes.

    Each of the ``pieces`` has groups, values, weights and squared weights.
    """
    mean, squares = np.zeros(total.size), np.zeros(total.size)
    for group, value, weight, _ in pieces:
        mean += _sums_by_group(group, value * weight, total.size)
    mean = divide_or_zero(mean, total)
    for group, value, _, square in pieces:
        distance = value - (mean if total.size == 1 else mean[group])
        squares += _sums_by_group(group, square * distance**2, total.size)
    variance = divide_or_zero(divide_or_zero(squares, total), total) * n_rows
    of_mean: Array = design_effect * variance / np.maximum(n_rows - 1, 1)
    if pseudo_observation:
        n_independent = np.maximum(n_rows / design_effect, 1)
        of_mean = with_pseudo_observation(variance, (mean - 0.5) ** 2, n_independent)
    return of_mean


def _sums_by_group(group: Array, values: Array, n_groups: int) -> Array:
    """Add up the values of each group; those of a single one faster."""
    if n_groups == 1:
        return np.array([values.sum()])
    return np.bincount(group, values, minlength=n_groups)


def with_pseudo_observation(
    variance: Any, squared_distance: Any, n_rows: Any, correlation: Any = 1.0
) -> Any:
    """Return the variance of a mean placement, with one pseudo-observation added.

    If no row happens to be placed low, placements hardly vary; without a pseudo-observation, a
    perfect ranking of five labeled rows would get a zero-width interval. The placement of the
    pseudo-observation is uniform on [0, 1].

    Parameters
    ----------
    variance : float or ndarray
        Variance of the placements, or their covariance for two models.
    squared_distance : float or ndarray
        Squared distance of the mean placement from 1/2, or the product of two distances.
    n_rows : float or ndarray
        Number of rows.
    correlation : float or ndarray
        Correlation of the placements of the pseudo-observation by two models.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> round(with_pseudo_observation(0.0, 0.25, 5) ** 0.5, 3)
    0.099
    """
    total = n_rows * variance + n_rows / (n_rows + 1) * squared_distance + correlation / 12
    return total / (n_rows + 1) / n_rows


# ---------------------------------------------------------------------- measures at a threshold


def share_slopes(sizes: SampleSizes[float], mixture: Mixture, target: Target) -> Rates:
    """Return how rates depend on the shares of labeled, unlabeled and negative rows.

    Corrected rates are linear in these shares, without a constant. Their slopes are the rates
    of the unit shares.
    """
    return correct_shares(sizes, np.zeros(3), Shares(*np.eye(3)), mixture, target)


def measure_slopes(measure: Measure, rates: Rates, slopes: Rates) -> Array:
    """Return the slope of a measure in each share, one line per kind; NaN where undefined.

    This is the influence of a row at or above the threshold.
    """
    table = Table.of(rates)
    cells = np.abs(
        [table.true_positive, table.false_positive, table.false_negative, table.true_negative]
    )
    # An empty cell, up to rounding, has no say in the size of the step.
    step = STEP * np.min(np.where(cells > ZERO, cells, 1.0), axis=0)

    def formula(hits: Array, predicted: Array) -> Array:
        return np.asarray(measure.formula(Table(hits, predicted, table.positive)))

    hits, predicted = table.true_positive, table.predicted
    by_hits = (formula(hits + step, predicted) - formula(hits - step, predicted)) / (2 * step)
    by_predicted = (formula(hits, predicted + step) - formula(hits, predicted - step)) / (2 * step)
    slope: Array = (
        by_hits * (rates.prevalence * slopes.tpr)[:, None]
        + by_predicted * slopes.predicted[:, None]
    )
    return slope


def prevalence_slopes(measure: Measure, rates: Rates) -> Array:
    """Return the slope of a measure in the prevalence, with the rates of both classes fixed."""
    step = STEP * min(float(rates.prevalence), 1 - float(rates.prevalence))
    if step <= 0:
        return np.zeros(rates.tpr.shape)
    above, below = (
        measure(replace_prevalence(rates, rates.prevalence + sign * step)) for sign in (1, -1)
    )
    slope: Array = (above - below) / (2 * step)
    return slope
