"""Influence functions: how much each row moves an estimate.

An estimate is a function of three samples: labeled, unlabeled and known negative rows. To first
order it differs from the truth by the sum, over the samples, of the mean of an influence function
over the rows of the sample. Covariances of estimates are those of these means, whichever models
and measures the estimates belong to; so one pass over the rows gives them all.

- Of the naive AUC these functions are DeLong's placement values.
- A measure at a threshold is a smooth function of the shares of each sample at or above it: its
  function is the slope times "at or above".
- The best value over thresholds moves, to first order, like the value at the best threshold
  (the envelope theorem).
- The average precision is made of the rates at all thresholds: a row moves those at and below its
  score.

Prior and purity are held fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import AveragePrecisionTerms
from pueval.core.measures import ZERO, Measure, Table
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, Shares, background_share, correct_shares, replace_prevalence
from pueval.counts.counts import Counts

# Numeric slopes use a step of this share of the smallest cell of the contingency table: errors
# are then about its square.
STEP = 1e-5
# Scores at which influence functions change. With more of them, half of these are quantiles of
# the labeled rows: no rate changes by more than 1/4096 in between, and no variance by its square.
KNOTS = 8192


def share_slopes(counts: Counts, mixture: Mixture, target: Target) -> Rates:
    """Return how rates depend on the shares of labeled, unlabeled and negative rows.

    Corrected rates are linear in these shares, without a constant: their slopes are the rates
    of the unit shares.
    """
    units = Shares(*np.eye(3))
    return correct_shares(counts, np.zeros(3), units, mixture, target)


def measure_slopes(measure: Measure, these: Rates, slopes: Rates) -> Array:
    """Return the slope of a measure in each share, one line per kind; NaN where undefined."""
    table = Table.of(these)
    cells = np.abs(
        [table.true_positive, table.false_positive, table.false_negative, table.true_negative]
    )
    # A cell that is empty, but for rounding, has no say in the size of the step.
    step = STEP * np.min(np.where(cells > ZERO, cells, 1.0), axis=0)

    def formula(hits: Array, predicted: Array) -> Array:
        return np.asarray(measure.formula(Table(hits, predicted, table.positive)))

    hits, predicted = table.true_positive, table.predicted
    by_hits = (formula(hits + step, predicted) - formula(hits - step, predicted)) / (2 * step)
    by_predicted = (formula(hits, predicted + step) - formula(hits, predicted - step)) / (2 * step)
    found: Array = (
        by_hits * (these.prevalence * slopes.tpr)[:, None]
        + by_predicted * slopes.predicted[:, None]
    )
    return found


def prevalence_slopes(measure: Measure, these: Rates) -> Array:
    """Return the slope of a measure in the prevalence, rates of both classes being the same."""
    step = STEP * min(float(these.prevalence), 1 - float(these.prevalence))
    if step <= 0:
        return np.zeros(these.tpr.shape)
    above, below = (
        measure(replace_prevalence(these, these.prevalence + sign * step)) for sign in (1, -1)
    )
    found: Array = (above - below) / (2 * step)
    return found


@dataclass(frozen=True, eq=False)
class StepFunctions:
    """Influence on the naive AUC and on the average precision, as a function of the score.

    Both are step functions for each kind of rows, with mean zero over these rows.

    Attributes
    ----------
    knots : ndarray
        Ascending scores; a step reaches from one to just below the next.
    values : ndarray of shape (3, 2, m)
        For labeled, unlabeled and negative rows and for AUC and average precision: the values of
        the steps.
    """

    knots: Array
    values: Array

    def __call__(self, kind: int, score: Array) -> Array:
        """Return the influence of rows of one kind with these scores, one line per estimate."""
        # To sort the scores and look the knots up among them is faster than the other way round.
        order = np.argsort(score)
        first = np.searchsorted(score[order], self.knots[1:])
        lengths = np.diff(first, prepend=0, append=score.size)
        step = np.empty(score.size, dtype=np.intp)
        step[order] = np.repeat(np.arange(self.knots.size), lengths)
        found: Array = self.values[kind].take(step, axis=1)
        return found


def influence_functions(counts: Counts, mixture: Mixture, target: Target) -> StepFunctions:
    """Return how rows of each kind influence the naive AUC and the average precision.

    More than `KNOTS` distinct scores are put together, as `Counts.thinned` does.
    """
    counts = counts._thinned(KNOTS)
    steps = counts.steps()
    columns = (steps.labeled, steps.unlabeled, steps.negative)
    # A kind without rows is zero everywhere.
    reached = [column / max(column[-1], ZERO) for column in columns]
    above = Shares(*(column[:-1] for column in reached))
    inside = Shares(*(column[1:] for column in reached))
    auc = _auc_influence(counts, above, inside)
    precision = _average_precision_influence(counts, inside, mixture, target)
    values = np.stack([auc, precision], axis=1)
    for each, column in zip(values, reached, strict=True):
        each -= (each @ np.diff(column))[:, None]  # noqa: PLW2901 - in place
    values = values[:, :, ::-1]
    return StepFunctions(steps.threshold[:0:-1].copy(), np.ascontiguousarray(values))


def _auc_influence(counts: Counts, above: Shares, inside: Shares) -> Array:
    """Return placement values: the shares of other kinds that a row of each kind is ahead of.

    For a labeled row it is the share of others below it, for another row the share of labeled
    rows above it; ties count half. Shares are those above, and at or above, descending scores.
    """
    share = counts.n_unlabeled / (counts.n_unlabeled + counts.n_negative)
    ahead = 1 - (background_share(counts, above) + background_share(counts, inside)) / 2
    behind = (above.labeled + inside.labeled) / 2
    return np.stack([ahead, share * behind, (1 - share) * behind])


def _average_precision_influence(
    counts: Counts, inside: Shares, mixture: Mixture, target: Target
) -> Array:
    """Return the influence on the average precision: a row moves the rates at and below it."""
    where = np.flatnonzero(np.diff(inside.labeled, prepend=0))
    there = Shares(*(column[where] for column in inside[:3]))
    rates = correct_shares(counts, there.labeled, there, mixture, target)
    group = np.zeros(where.size, dtype=np.intp)
    by_tpr, by_fpr = np.zeros((2, inside.labeled.size))
    by_tpr[where], by_fpr[where] = AveragePrecisionTerms.of(rates, group).rate_slopes()
    by_tpr, by_fpr = _from_end(by_tpr), _from_end(by_fpr)
    slopes = share_slopes(counts, mixture, target)
    return np.stack(
        [tpr * by_tpr + fpr * by_fpr for tpr, fpr in zip(slopes.tpr, slopes.fpr, strict=True)]
    )


def _from_end(values: Array) -> Array:
    """Sum each value and those after it."""
    sums: Array = np.cumsum(values[::-1])[::-1]
    return sums
