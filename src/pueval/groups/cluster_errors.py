"""Standard errors of groups whose rows belong to clusters.

The errors of independent rows are multiplied by the roots of design effects, group by group and
measure by measure. Design effects are ratios of variances with the same influences, from the table
of clusters of the group: see `pueval.core.cluster_table`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.cluster_table import ClusterTable, prevalence_influences
from pueval.core.confidence import normal_quantile, student_quantile
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import labeled_contrast
from pueval.core.sizes import GroupSizes, divide_or_zero
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.unclipped_estimates import UnclippedEstimates
from pueval.samples.steps import Steps, find_cells
from pueval.uncertainty.bootstrap_draws import cell_thresholds
from pueval.uncertainty.clustered_auc import ClusteredAuc, clustered_auc_limits
from pueval.uncertainty.influence import AveragePrecisions, influence_variance, placements
from pueval.uncertainty.score_steps import ScoreSteps


def with_cluster_errors(
    part: UnclippedEstimates, counts: Iterable[Counts], prior: Array, overall: Evaluation
) -> tuple[UnclippedEstimates, Array, list[str | None]]:
    """Replace the errors of independent rows by those of clusters.

    Parameters
    ----------
    part : UnclippedEstimates
        Estimates of some groups.
    counts : iterable of Counts
        Counts of these groups, with clusters.
    prior : ndarray
        Their priors.
    overall : Evaluation
        Evaluation of all rows.

    Returns
    -------
    UnclippedEstimates
        With NaN as errors of groups with too few clusters. AUCs also have their excess, and the
        share of the rows in them, beside pseudo-observations.
    freedom : ndarray
        Degrees of freedom of the errors.
    reasons : list of str or None
        Why a group has no errors.
    """
    error = {name: values.copy() for name, values in part.error.items()}
    excess = part.excess | {"roc_auc": np.zeros(prior.size)}
    auc_row_share = np.full(prior.size, np.nan)
    freedom, reasons = np.full(prior.size, np.inf), []
    for k, group in enumerate(counts):
        reason = None if group._clusters is None else group._clusters.clusters.missing_reason
        reasons.append(reason)
        if reason is not None:
            for values in error.values():
                values[k] = np.nan
            continue
        if group._clusters is None:
            continue
        mixture = Mixture(float(prior[k]), overall.mixture.purity)
        ratios, table = _error_ratios(group, mixture, overall, part, k)
        freedom[k] = table.degrees_of_freedom
        for name, ratio in ratios.items():
            error[name][k] *= ratio
        naive_excess, auc_row_share[k] = ClusteredAuc.of(group, table)
        excess["roc_auc"][k] = naive_excess / labeled_contrast(mixture, group)
    part = replace(part, error=error, excess=excess, auc_row_share=auc_row_share)
    return part, freedom, reasons


def _error_ratios(
    counts: Counts, mixture: Mixture, overall: Evaluation, part: UnclippedEstimates, k: int
) -> tuple[dict[str, float], ClusterTable]:
    """Return errors with clusters relative to those of independent rows, by measure.

    Also return the table of the clusters. The group is the k-th of ``part``.
    """
    threshold, corners = overall.threshold, counts._roc_corners()
    bounds = cell_thresholds(counts, corners, threshold, threshold_chosen=False)
    table = ClusterTable.of(counts, bounds)
    steps, sizes = ScoreSteps.of_labeled(counts, corners), GroupSizes.of(counts)
    mixtures = Mixtures(np.array([mixture.prior]), np.array([mixture.purity]))
    of_area = AveragePrecisions(steps, sizes, mixtures, overall.target).influence()
    labeled, background = of_area.at_scores(steps, bounds)
    # A labeled row between two labeled scores moves the rates from its own score on.
    nearest = find_cells(steps.score, bounds)
    labeled = np.where(labeled == 0, of_area.labeled[nearest], labeled)
    weight = table.total / max(table.total[1:].sum(), 1e-300)
    influence = np.stack([labeled, weight[1] * background, weight[2] * background])
    # The influence of a row on the prevalence, in standard errors of it.
    of_kinds = prevalence_influences(mixture, counts) / max(
        mixture.prevalence_standard_error(counts), 1e-300
    )
    effects = {
        "average_precision": table.design_effect(
            influence, part.average_precision_change[k] * of_kinds
        )
    }
    reached = (bounds >= threshold).astype(np.float64)
    for name, changes in part.changes.items():
        slopes = divide_or_zero(np.abs(changes[:3, k]), part.source_error[:3, k])
        slopes = np.nan_to_num(slopes * np.sign(changes[:3, k]))
        prevalence_change = np.nan_to_num(changes[3, k])
        effects[name] = table.design_effect(np.outer(slopes, reached), prevalence_change * of_kinds)
    ratios = {name: math.sqrt(effect) for name, effect in effects.items()}
    ratios["roc_auc"] = _auc_error_ratio(counts, corners, table)
    return ratios, table


def _auc_error_ratio(counts: Counts, corners: Steps, table: ClusterTable) -> float:
    """Return the error of the AUC with clusters, relative to that of independent rows."""
    steps, sizes = ScoreSteps.of_corners(counts, corners), GroupSizes.of(counts)
    clustered, independent = (
        influence_variance(
            placements(steps, sizes), steps, sizes, pseudo_observation=True, design_effect=effect
        )[0]
        for effect in (table.auc_effect, 1.0)
    )
    return float(np.sqrt(clustered / independent))


# ---------------------------------------------------------------------- intervals and differences


def group_quantiles(level: float | None, n_groups: int, freedom: Array | None) -> Array:
    """Return the quantile of the interval of each group; NaN without intervals.

    ``freedom`` are the degrees of freedom of the errors, if rows belong to clusters.
    """
    if level is None or freedom is None:
        return np.full(n_groups, math.nan if level is None else normal_quantile(level))
    return np.array([student_quantile(level, number) for number in freedom.tolist()])


def group_limits(
    measure: str, estimates: UnclippedEstimates, quantiles: Array, contrast: Array
) -> tuple[Array, Array]:
    """Return the ends of the intervals of a measure, not clipped.

    AUCs of clusters have intervals on the logit scale. ``contrast`` is the share of positives
    among the labeled rows of each group minus that in its background.
    """
    center, error = estimates.center(measure), estimates.total_error(measure)
    low, high = center - quantiles * error, center + quantiles * error
    if measure == "roc_auc":
        ends = clustered_auc_limits(center, error, contrast, estimates.auc_row_share, quantiles)
        low, high = (
            np.where(np.isnan(estimates.auc_row_share), *both)
            for both in zip((low, high), ends, strict=True)
        )
    return low, high


def check_independent(purpose: str, clusters_span_groups: bool) -> None:  # noqa: FBT001
    """Refuse clusters with rows in several groups, whose estimates are then dependent."""
    if clusters_span_groups:
        raise InputError(
            f"{purpose} needs independent groups, but clusters have rows in several groups. "
            "Compare the intervals of the groups instead."
        )


def check_reference(reference: Any, freedom: Array | None) -> None:
    """Refuse a comparison with all rows if rows belong to clusters."""
    if freedom is not None and reference is None:
        raise InputError(
            "with cluster, groups can be compared with each other only: pass reference, the name "
            "of a group."
        )
