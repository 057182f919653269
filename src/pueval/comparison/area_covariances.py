"""Covariances of the AUCs of several models, from the influence of each row on each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.difference_variances import (
    covariance_of_differences,
    difference_variances,
)
from pueval.comparison.paired_rows import PairedRows
from pueval.comparison.row_sums import cluster_sums, sum_products
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.uncertainty.influence import AveragePrecisions, placements, with_pseudo_observation
from pueval.uncertainty.score_steps import ScoreSteps

# Most distinct scores at which influences change. With more of them, half of the knots are
# quantiles of the labeled rows: no rate changes by more than 1/4096 in between, and no variance by
# more than the square of it.
KNOTS = 8192


@dataclass(frozen=True, eq=False)
class InfluenceByScore:
    """Influence of a row on the naive AUC and the average precision, as a function of its score.

    Both are step functions for each kind of rows, with mean zero over the rows of the kind.

    Attributes
    ----------
    knots : ndarray
        Ascending scores; a step reaches from one to just below the next.
    values : ndarray of shape (3, 2, m)
        Influence of labeled, unlabeled and negative rows on AUC and average precision, by step.
    """

    knots: Array
    values: Array

    def __call__(self, kind: int, score: Array) -> Array:
        """Return the influence of rows of one kind with these scores, one line per area."""
        # Sorting the scores and looking the knots up among them is faster than the reverse.
        order = np.argsort(score)
        first = np.searchsorted(score[order], self.knots[1:])
        lengths = np.diff(first, prepend=0, append=score.size)
        step = np.empty(score.size, dtype=np.intp)
        step[order] = np.repeat(np.arange(self.knots.size), lengths)
        influence: Array = self.values[kind].take(step, axis=1)
        return influence


def influence_by_score(counts: Counts, mixture: Mixture, target: Target) -> InfluenceByScore:
    """Return the influence of rows on the naive AUC and the average precision of one model.

    More than `KNOTS` distinct scores are pooled.
    """
    counts = counts._thinned(KNOTS)
    steps, sizes = ScoreSteps.of_counts(counts.steps()), GroupSizes.of(counts)
    labeled_steps = steps.labeled_only()
    mixtures = Mixtures(np.array([mixture.prior]), np.array([mixture.purity]))
    precisions = AveragePrecisions(labeled_steps, sizes, mixtures, target)
    influences = (placements(labeled_steps, sizes), precisions.influence())
    values = np.empty((3, 2, steps.score.size))
    for area, influence in enumerate(influences):
        values[0, area], background = influence.at_steps(steps)
        # A mean over one kind is a part of the mean over the background.
        for kind in (1, 2):
            values[kind, area] = sizes.by_kind[kind] / sizes.n_background * background
    for kind, total in enumerate(sizes.by_kind):
        if total:
            values[kind] -= (values[kind] @ (steps.at[kind] / total))[:, None]
    return InfluenceByScore(steps.score[::-1].copy(), np.ascontiguousarray(values[:, :, ::-1]))


def area_covariances(
    rows: PairedRows,
    influences: list[InfluenceByScore],
    naive_auc: Array,
    correlation: Array,
    prevalence_sums: Array | None = None,
) -> tuple[Array, Array]:
    """Return the covariances of the naive AUCs, and the variances of the average precisions.

    The samples are independent, so their parts add up. Variances of AUCs are those of
    `pueval.uncertainty.delong.delong_standard_error`, with a pseudo-observation. Variances of
    differences are DeLong's: a pseudo-observation that two good models place differently would
    outweigh all rows. They are at least those of the pseudo-observation alone, since two perfect
    rankings need not be equally good. NaN for a single labeled row.

    ``correlation`` says how much alike two models place a row, here the pseudo-observation.
    ``prevalence_sums`` are what clusters add to the errors of average precisions by the prevalence,
    one line per model.
    """
    n_models = len(influences)
    auc, delong, pseudo, precision = np.zeros((4, n_models, n_models))

    def of_rows(kind: int, where: Array) -> Array:
        by_model = [
            influence(kind, score[where])
            for influence, score in zip(influences, rows.scores, strict=True)
        ]
        return np.stack(by_model, axis=1)

    distance_products = np.outer(naive_auc - 0.5, naive_auc - 0.5)
    sizes, totals = rows.effective_sizes, rows.weight_by_kind
    n_background = totals[1] + totals[2]
    products = [
        sum_products(rows, of_rows, kind) * (size / total**2) if total else None
        for kind, (size, total) in enumerate(zip(sizes, totals, strict=True))
    ]
    clustered, effect = None, np.ones((n_models, n_models))
    if rows.clusters is not None:
        sums = cluster_sums(rows, of_rows, (2, n_models)).sum(axis=0)
        if prevalence_sums is not None:
            sums[1] += prevalence_sums
        clustered = sums @ sums.transpose(0, 2, 1)
        independent = sum(
            part[0] / max(size - 1, 1)
            for part, size in zip(products, sizes, strict=True)
            if part is not None
        )
        effect = np.diag(clustered[0]) / np.diag(independent)
        effect = np.sqrt(np.outer(effect, effect))
    for kind, (size, total) in enumerate(zip(sizes, totals, strict=True)):
        covariance = products[kind]
        if covariance is None:
            continue
        degrees_of_freedom = size - 1 if kind == 0 else max(size - 1, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_mean = np.divide(covariance, degrees_of_freedom)
        delong += of_mean[0]
        precision += of_mean[1]
        part = total / n_background if kind else 1.0
        prior = (distance_products, np.maximum(size / effect, 1), correlation)
        auc += part**2 * with_pseudo_observation(covariance[0] / part**2, *prior)
        pseudo += part**2 * with_pseudo_observation(0.0, *prior)
    if clustered is not None:
        delong, precision = clustered
    of_differences = np.maximum(difference_variances(delong), difference_variances(pseudo))
    return covariance_of_differences(of_differences, np.diag(auc)), np.diag(precision)
