"""Windows with randomly labeled rows: estimated as `evaluate_by` estimates groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.core.measures import AREAS, MEASURES
from pueval.core.mixture import Mixtures
from pueval.core.sizes import GroupSizes, divide_or_zero
from pueval.counts.counts import Counts
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.evaluate_by import infeasible_notes, own_label_count_error
from pueval.groups.group_priors import GroupPriors, group_priors
from pueval.groups.unclipped_estimates import (
    GROUP_MEASURES,
    UnclippedEstimates,
    estimate_groups,
)
from pueval.over_time.window_estimates import (
    BACKGROUND,
    LABELED,
    NEGATIVE,
    PRIOR,
    ROWS,
    TIME_MEASURES,
    UNLABELED,
    WindowEstimates,
    WindowOptions,
    time_measure_range,
    undefined_windows,
)
from pueval.samples.sample import Sample
from pueval.uncertainty.influence import (
    AveragePrecisions,
    Influence,
    influence_variance,
    placements,
)
from pueval.uncertainty.score_steps import ByKind, ScoreSteps


def estimate_random_labels(
    counts: Sequence[Counts],
    names: list[Any],
    sizes: GroupSizes,
    enough: Array,
    options: WindowOptions,
) -> tuple[WindowEstimates, dict[int, str]]:
    """Estimate windows as `evaluate_by` estimates groups."""
    overall, n_windows = options.overall, len(counts)
    priors = group_priors(
        options.group_prior, names, sizes, enough, overall, lambda k: counts[k], lambda: None
    )
    usable = enough & ~np.isnan(priors.prior)
    label_count_error = own_label_count_error(sizes, overall, options.group_prior)
    slope = np.broadcast_to(priors.slope, priors.prior.shape)
    unclipped = UnclippedEstimates.undefined(n_windows)
    labeled_share = {name: np.ones(n_windows) for name in AREAS}
    windows = np.flatnonzero(usable)
    if windows.size:
        rows = _WindowRows.of([counts[k] for k in windows.tolist()], overall.threshold)
        part = estimate_groups(
            rows.steps,
            sizes.take(windows),
            priors.prior[windows],
            overall,
            rows.reached,
            priors.error[windows],
            rows.squared_weights,
            label_count_error=label_count_error[windows],
            purity_error=priors.purity_error,
            prior_slope=slope[windows],
        )
        unclipped.put(windows, part)
        shares = _labeled_shares(rows.steps, sizes.take(windows), priors.prior[windows], overall)
        for name, share in shares.items():
            labeled_share[name][windows] = share
    notes = priors.notes | infeasible_notes(unclipped, usable, options.level)
    prior = np.where(usable, priors.prior, np.nan)
    estimates = replace(
        undefined_windows(n_windows), prior=prior, own_label_count=label_count_error
    )
    for name in GROUP_MEASURES:
        estimates.value[name] = unclipped.value[name]
        estimates.naive[name] = unclipped.naive[name]
        estimates.center[name] = unclipped.center(name)
        own, shared = priors.split_changes(unclipped.prior_change[name])
        parts = estimates.parts[name]
        parts[:] = 0.0 * unclipped.error[name]
        own_change = unclipped.prevalence_change(name)
        parts[ROWS], parts[PRIOR] = divide_or_zero(own_change, label_count_error), own
        estimates.shared[name][:] = shared, unclipped.purity_change[name]
        if name in MEASURES:
            parts[[LABELED, UNLABELED, NEGATIVE]] = unclipped.changes[name][:3]
            continue
        of_rows = unclipped.error[name] ** 2 - own_change**2
        parts[LABELED] = np.sqrt(of_rows * labeled_share[name])
        parts[BACKGROUND] = np.sqrt(of_rows * (1 - labeled_share[name]))
    _add_shares(estimates, sizes, priors, label_count_error, slope, options)
    _add_intervals(estimates, options.level)
    return estimates, notes


@dataclass(frozen=True, eq=False)
class _WindowRows:
    """Rows of windows, as `estimate_groups` takes those of groups.

    Attributes
    ----------
    steps : ScoreSteps
        Scores of the labeled rows.
    reached, squared_weights : tuple of three ndarray
        Weights, and squared importance weights, of the rows at or above the threshold.
    """

    steps: ScoreSteps
    reached: ByKind
    squared_weights: ByKind | None

    @classmethod
    def of(cls, counts: Sequence[Counts], threshold: float) -> _WindowRows:
        weighted = any(part._has_importance_weights for part in counts)
        parts = [ScoreSteps.of_labeled(part, part._roc_corners()) for part in counts]
        steps = _join_steps(parts)
        if weighted:
            steps = replace(steps, with_squares=_join_steps([part.squared for part in parts]))
        at = np.array([threshold])

        def reached(kinds: Iterable[Sample]) -> list[float]:
            return [float(kind.cumulative_counts(at)[1][0]) for kind in kinds]

        weights = np.array([reached(part._samples) for part in counts])
        squares = None
        if weighted:
            by_window = [
                reached(kind.with_squared_weights for kind in part._samples) for part in counts
            ]
            squares = tuple(np.array(by_window).T)
        return cls(steps, tuple(weights.T), squares)


def _join_steps(parts: Sequence[ScoreSteps]) -> ScoreSteps:
    """Make groups of samples that are single groups."""
    group = np.repeat(np.arange(len(parts)), [part.score.size for part in parts])

    def join(columns: Iterable[ByKind]) -> ByKind:
        return tuple(map(np.concatenate, zip(*columns, strict=True)))

    return ScoreSteps(
        group,
        np.concatenate([part.score for part in parts]),
        join(part.at for part in parts),
        join(part.reached for part in parts),
        len(parts),
    )


def _labeled_shares(
    steps: ScoreSteps, sizes: GroupSizes, prior: Array, overall: Evaluation
) -> dict[str, Array]:
    """Return the part of the variance of each area that comes from the labeled rows."""
    mixtures = Mixtures(prior, np.full(prior.size, overall.mixture.purity))
    precisions = AveragePrecisions(steps, sizes, mixtures, overall.target)
    influences = {
        "roc_auc": placements(steps, sizes),
        "average_precision": precisions.influence(),
    }
    shares = {}
    for name, influence in influences.items():
        background = (influence.background, influence.gap, influence.tail)
        labeled, total = (
            influence_variance(part, steps, sizes, pseudo_observation=False)
            for part in (Influence(influence.labeled, *map(np.zeros_like, background)), influence)
        )
        shares[name] = np.where(total > 0, divide_or_zero(labeled, total), 1.0)
    return shares


def _add_shares(
    estimates: WindowEstimates,
    sizes: GroupSizes,
    priors: GroupPriors,
    label_count_error: Array,
    slope: Array,
    options: WindowOptions,
) -> None:
    """Add prior and prevalence with their sources of error."""
    overall, prior = options.overall, estimates.prior
    # Other windows may have no rows.
    windows = np.flatnonzero(estimates.evaluated)
    own_sizes = sizes.take(windows)
    mixtures = Mixtures(prior[windows], np.full(windows.size, overall.mixture.purity))
    prevalence = np.full(prior.size, np.nan)
    prevalence[windows] = mixtures.prevalence(own_sizes, overall.target)
    unlabeled_share, error, by_purity = np.ones(prior.size), np.zeros(prior.size), slope
    if overall.target == "population":
        unlabeled_share = divide_or_zero(sizes.n_unlabeled, sizes.n)
        by_purity = divide_or_zero(sizes.n_labeled, sizes.n) + slope * unlabeled_share
        error[windows] = mixtures.prevalence_standard_error(own_sizes)
        error[label_count_error == 0] = 0.0
    for name, value, rows, factor, purity_slope in (
        ("prior", prior, 0.0, np.ones(prior.size), slope),
        ("prevalence", prevalence, error, unlabeled_share, by_purity),
    ):
        naive = np.zeros(prior.size) if name == "prior" else sizes.labeled_share
        if overall.target == "population" and name == "prevalence":
            naive = divide_or_zero(sizes.n_labeled, sizes.n)
        estimates.value[name] = estimates.center[name] = value
        estimates.naive[name] = np.where(estimates.evaluated, naive, np.nan)
        if options.level is None:
            continue
        parts = estimates.parts[name]
        parts[:] = 0.0 * prior
        parts[ROWS] += rows
        parts[PRIOR] += factor * priors.own_error
        estimates.shared[name][:] = 0.0 * prior
        # A prior that follows from a known prevalence errs with the number of labeled rows, and
        # what it does to the prevalence of a window is in the error of its rows.
        if name == "prior" or overall.assumptions.prior_follows_from != "prevalence":
            estimates.shared[name][0] += factor * priors.shared_error
        estimates.shared[name][1] += purity_slope * priors.purity_error


def _add_intervals(estimates: WindowEstimates, level: float | None) -> None:
    for name in TIME_MEASURES:
        if level is None:
            continue
        margin = normal_quantile(level) * estimates.standard_error(name)
        center, (lowest, highest) = estimates.center[name], time_measure_range(name)
        estimates.low[name] = np.clip(center - margin, lowest, highest)
        estimates.high[name] = np.clip(center + margin, lowest, highest)
