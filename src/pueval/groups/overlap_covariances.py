"""Covariance of the estimate of a group with that of all rows, which contain the group.

It is the covariance of the influence that the rows of the group have on both estimates.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixtures
from pueval.core.rates import labeled_contrast
from pueval.core.sizes import GroupSizes, divide_or_zero
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.row_blocks import RowBlock
from pueval.groups.unclipped_estimates import UnclippedEstimates
from pueval.uncertainty.influence import (
    AveragePrecisions,
    Influence,
    placements,
    with_pseudo_observation,
)
from pueval.uncertainty.score_steps import ScoreSteps


def area_overlap_covariances(
    name: str, blocks: Iterable[RowBlock], sizes: GroupSizes, prior: Array, overall: Evaluation
) -> Array:
    """Return the covariance of an area of each group with that of all rows; NaN without a prior."""
    counts, purity = overall.counts, overall.mixture.purity
    all_steps = ScoreSteps.of_labeled(counts, counts._roc_corners())
    all_rows = _Area(
        name, all_steps, GroupSizes.of(counts), np.array([overall.mixture.prior]), overall
    )
    all_influence = all_rows.influence()
    covariances = np.full(prior.size, np.nan)
    for block in blocks:
        block_prior = prior[block.first : block.first + block.n_groups]
        in_block = np.flatnonzero(~np.isnan(block_prior))
        if not in_block.size:
            continue
        groups = block.first + in_block
        steps = block.part(in_block).steps()
        area = _Area(name, steps.labeled_only(), sizes.take(groups), prior[groups], overall)
        covariances[groups] = _covariance(
            steps,
            area.influence().at_steps(steps),
            all_influence.at_scores(all_steps, steps.score),
            area,
            all_rows,
        )
        if overall.assumptions.prevalence_varies(overall.target) and name == "average_precision":
            # The prevalence of all rows is the mean of the prevalences of the groups.
            mixtures = Mixtures(prior[groups], np.full(groups.size, purity))
            variance = mixtures.prevalence_standard_error(area.sizes) ** 2
            slopes = area.precisions.by_prevalence * all_rows.precisions.by_prevalence
            covariances[groups] += slopes * variance * area.sizes.n / all_rows.sizes.n
    return covariances


class _Area:
    """An area of one or more groups: its sizes, and the influence of rows on it."""

    def __init__(
        self, name: str, steps: ScoreSteps, sizes: GroupSizes, prior: Array, overall: Evaluation
    ) -> None:
        mixtures = Mixtures(prior, np.full(prior.size, overall.mixture.purity))
        self.steps, self.sizes = steps, sizes
        self.precisions = AveragePrecisions(steps, sizes, mixtures, overall.target)
        # The corrected AUC changes by 1/contrast with the naive one.
        self.contrast = labeled_contrast(mixtures, sizes) if name == "roc_auc" else None

    def influence(self) -> Influence:
        if self.contrast is None:
            return self.precisions.influence()
        return placements(self.steps, self.sizes).divided_by(self.contrast, self.steps)


def _covariance(
    steps: ScoreSteps,
    influence: tuple[Array, Array],
    all_influence: tuple[Array, Array],
    area: _Area,
    all_rows: _Area,
) -> Array:
    """Return the covariance of two areas, from influences on labeled and on background rows."""
    covariance = np.zeros(steps.n_groups)
    sizes, all_sizes = area.sizes, all_rows.sizes
    for kind in range(3):
        weight, square = steps.at[kind], steps.squared.at[kind]
        total, all_total = sizes.by_kind[kind], all_sizes.by_kind[kind]
        n_rows = sizes.effective_by_kind[kind]
        values, all_values = influence[min(kind, 1)], all_influence[min(kind, 1)]
        mean, all_mean = (
            divide_or_zero(steps.sum_by_group(weight * part), total)
            for part in (values, all_values)
        )
        products = steps.sum_by_group(
            square * (values - mean[steps.group]) * (all_values - all_mean[steps.group])
        )
        # First the covariance of a single row, then that of two means, one over all groups.
        of_row = divide_or_zero(divide_or_zero(products, total), total) * n_rows
        if area.contrast is None or all_rows.contrast is None:
            part = of_row / np.maximum(n_rows - 1, 1)
        else:
            # What a placement of 1/2 is for the corrected AUC.
            half, all_half = 0.5 / area.contrast, 0.5 / all_rows.contrast
            away = (mean - half) * (all_mean - all_half)
            part = with_pseudo_observation(of_row, away, np.maximum(n_rows, 1), 4 * half * all_half)
        part = part * divide_or_zero(total, np.broadcast_to(all_total, total.shape))
        if kind:
            share = divide_or_zero(total, sizes.n_background)
            part = part * share * divide_or_zero(all_total, all_sizes.n_background)
        covariance += np.where(total > 0, part, 0.0)
    return covariance


def threshold_overlap_covariance(
    name: str,
    estimates: UnclippedEstimates,
    all_rows: UnclippedEstimates,
    sizes: GroupSizes,
    all_sizes: GroupSizes,
) -> Array:
    """Return the covariance of a measure at the threshold of each group with that of all rows."""
    # Shares of each kind of rows, and the prevalence, to which all rows belong.
    total, all_total = (np.stack([*of.by_kind, of.n]) for of in (sizes, all_sizes))
    slope = divide_or_zero(all_rows.changes[name], all_rows.source_error)
    products = estimates.changes[name] * slope * divide_or_zero(total, all_total)
    covariance: Array = np.sum(products * estimates.source_error, axis=0)
    return covariance
