"""How estimates of groups and of all rows together vary together.

The rows of a group are part of all rows. The covariance of two areas is that of the influence
that the rows of the group have on both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixtures
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.areas import Influence, Table, average_precision, naive_auc
from pueval.groups.raw import Raw, contrast, results
from pueval.groups.sorted_rows import Block
from pueval.groups.totals import Totals, share
from pueval.uncertainty.intervals import with_pseudo_observation


def whole(overall: Evaluation, prior_error: float) -> Raw:
    """Evaluate all rows together as one group: values that are not clipped, and what moves them."""
    counts = overall.counts
    steps = counts.at(overall.threshold)
    squared_weights = None
    if counts._has_importance_weights:
        at = np.array([overall.threshold])
        labeled, unlabeled, negative = (
            kind.with_squared_weights.cumulative_counts(at)[1] for kind in counts._samples
        )
        squared_weights = labeled, unlabeled, negative
    return results(
        Table.of_counts(counts, counts._roc_corners()),
        Totals.of(counts),
        np.array([overall.mixture.prior]),
        overall,
        (steps.labeled, steps.unlabeled, steps.negative),
        np.array([prior_error]),
        squared_weights,
        chance=np.array([float(overall.assumptions.prevalence_varies(overall.target))]),
    )


def area_covariances(
    name: str, blocks: tuple[Block, ...], totals: Totals, prior: Array, overall: Evaluation
) -> Array:
    """Covariance of an area of each group with that of all rows; NaN without a prior."""
    counts = overall.counts
    every, all_totals = Table.of_counts(counts, counts._roc_corners()), Totals.of(counts)
    known = np.array([overall.mixture.prior])
    of_all = _influence(name, every, all_totals, known, overall)
    found = np.full(prior.size, np.nan)
    for block in blocks:
        mine = prior[block.first : block.first + block.n_groups]
        groups = np.flatnonzero(~np.isnan(mine))
        if not groups.size:
            continue
        table = Table.of(block.part(groups))
        own = totals.take(block.first + groups)
        of_group = _influence(name, table.labeled(), own, mine[groups], overall)
        found[block.first + groups] = _covariance(
            table,
            _of_rows(of_group, table),
            _at_scores(of_all, every, table.score),
            own,
            all_totals,
            _half(name, mine[groups], overall, own),
            _half(name, known, overall, all_totals),
        )
        if overall.assumptions.prevalence_varies(overall.target):
            # The prevalence of all rows is the mean of those of the groups.
            error = _prevalence_error(mine[groups], overall, own)
            together = of_group.by_prevalence * of_all.by_prevalence * error**2
            found[block.first + groups] += together * own.n / all_totals.n
    return found


def _prevalence_error(prior: Array, overall: Evaluation, totals: Totals) -> Array:
    like_counts: Any = totals
    mixtures = Mixtures(prior, np.full(prior.size, overall.mixture.purity))
    return mixtures.prevalence_standard_error(like_counts)


def _influence(
    name: str, table: Table, totals: Totals, prior: Array, overall: Evaluation
) -> Influence:
    mixtures = Mixtures(prior, np.full(prior.size, overall.mixture.purity))
    if name == "average_precision":
        return average_precision(table, totals, mixtures, overall.target)
    found = naive_auc(table, totals)
    scale = contrast(mixtures, totals)
    step = scale[table.group]
    return Influence(
        found.value / scale,
        found.labeled / step,
        found.other / step,
        found.gap / step,
        found.tail / scale,
        found.excess,
        found.by_prevalence,
    )


def _of_rows(influence: Influence, table: Table) -> tuple[Array, Array]:
    """Influence of labeled and of other rows at every step, from that at labeled steps."""
    labeled = table.at[0] > 0
    following = np.cumsum(labeled)
    step = np.where(labeled, following - 1, following)
    groups = table.group[labeled]
    there = np.minimum(step, groups.size - 1)
    below = (step < groups.size) & (groups[there] == table.group)
    other = np.where(
        labeled,
        influence.other[there],
        np.where(below, influence.gap[there], influence.tail[table.group]),
    )
    return np.where(labeled, influence.labeled[there], 0.0), other


def _at_scores(influence: Influence, table: Table, score: Array) -> tuple[Array, Array]:
    """Influence of labeled and of other rows with some scores on the area of one group."""
    known, wanted = table.score.astype(np.float64), score.astype(np.float64)
    step = known.size - np.searchsorted(known[::-1], wanted, side="right")
    there = np.minimum(step, known.size - 1)
    below = step < known.size
    tied = below & (known[there] == wanted)
    other = np.where(
        tied, influence.other[there], np.where(below, influence.gap[there], influence.tail[0])
    )
    return np.where(tied, influence.labeled[there], 0.0), other


def _covariance(
    table: Table,
    own: tuple[Array, Array],
    whole_: tuple[Array, Array],
    totals: Totals,
    all_totals: Totals,
    half: Array | None,
    all_half: Array | None,
) -> Array:
    """Covariance of two areas; ``half`` is what a placement of 1/2 is for the AUC."""
    covariance = np.zeros(table.n_groups)
    for kind in range(3):
        sample_weight = table.at[kind]
        mine, theirs = own[min(kind, 1)], whole_[min(kind, 1)]
        total, all_total = totals.kinds[kind], all_totals.kinds[kind]
        means = [
            share(table.sums(sample_weight * one), total)[table.group] for one in (mine, theirs)
        ]
        square, rows = table.squared.at[kind], totals.effective[kind]
        squared_weights = table.sums(square * (mine - means[0]) * (theirs - means[1]))
        # Of one row, and from it that of two means, of which one is over all groups.
        together = share(squared_weights, total**2) * rows
        if half is None or all_half is None:
            part = together / np.maximum(rows - 1, 1)
        else:
            mean, all_mean = (
                share(table.sums(sample_weight * one), total) for one in (mine, theirs)
            )
            away = (mean - half) * (all_mean - all_half)
            part = with_pseudo_observation(together, away, np.maximum(rows, 1), 4 * half * all_half)
        part = part * share(total, np.broadcast_to(all_total, total.shape))
        if kind:
            part = part * share(total, totals.n_others) * share(all_total, all_totals.n_others)
        covariance += np.where(total > 0, part, 0.0)
    return covariance


def _half(name: str, prior: Array, overall: Evaluation, totals: Totals) -> Array | None:
    """Return what a placement of 1/2 is for the corrected AUC; None for other areas."""
    if name != "roc_auc":
        return None
    mixtures = Mixtures(prior, np.full(prior.size, overall.mixture.purity))
    return 0.5 / contrast(mixtures, totals)


def point_covariance(name: str, raw: Raw, every: Raw, totals: Totals, all_totals: Totals) -> Array:
    """Covariance of a measure at the threshold of each group with that of all rows."""
    parts = []
    # Shares of a kind of rows, and the prevalence, which is one of all rows.
    sizes = (*totals.kinds, totals.n)
    all_sizes = (*all_totals.kinds, all_totals.n)
    for kind, (size, all_size) in enumerate(zip(sizes, all_sizes, strict=True)):
        error = every.share_error["shares"][kind]
        slope = share(every.moves[name][kind], error)
        part = share(size, all_size)
        parts.append(raw.moves[name][kind] * slope * part * raw.share_error["shares"][kind])
    total: Array = np.sum(parts, axis=0)
    return total
