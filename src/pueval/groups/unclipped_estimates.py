"""Estimates of every measure in every group as plain arrays, before they are clipped."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.measures import AREAS, MEASURES, unknown_measure_error
from pueval.core.mixture import Mixtures
from pueval.core.rates import correct_area, labeled_contrast
from pueval.core.sizes import GroupSizes
from pueval.errors import InputError, UnknownMeasureError
from pueval.evaluation.evaluation import Evaluation
from pueval.families.field_measures import FIELD_MEASURES, find_field_measure
from pueval.families.measures_at import PATTERNS
from pueval.families.presence_family import F_PB, F_PB_MEASURE
from pueval.groups.threshold_measures import threshold_changes, threshold_measures
from pueval.uncertainty.influence import (
    AveragePrecisions,
    influence_variance,
    naive_aucs,
    naive_average_precisions,
    placements,
)
from pueval.uncertainty.score_steps import ByKind, ScoreSteps
from pueval.uncertainty.uncertain_prior import prior_changes, purity_changes

GROUP_MEASURES = (*AREAS, *MEASURES)


@dataclass(frozen=True, eq=False)
class UnclippedEstimates:
    """Arrays with one entry per group, NaN for groups without estimates.

    Attributes
    ----------
    value, naive : dict of str to ndarray
        Corrected, not clipped; and with unlabeled rows counted as negative.
    error : dict of str to ndarray
        Standard errors for another sample of rows of the same groups.
    prior_change : dict of str to ndarray
        Change of the value with one standard error of the prior; 0 for a known prior.
    purity_change : dict of str to ndarray
        Change of the value with one standard error of the purity; 0 for a known purity.
    changes : dict of str to ndarray of shape (4, n_groups)
        Change of measures at the threshold with one standard error of the shares of labeled,
        unlabeled and negative rows at or above it, and of the prevalence.
    source_error : ndarray of shape (4, n_groups)
        These standard errors.
    excess : dict of str to ndarray
        By how much areas are too large on average: the average precision with few labeled rows, and
        the AUC by pairs of rows of one cluster.
    average_precision_change : ndarray
        Change of the average precision with one standard error of the prevalence.
    auc_row_share : ndarray
        Share of the rows in pairs of rows and pseudo-observations, if rows belong to clusters.
    """

    value: dict[str, Array]
    naive: dict[str, Array]
    error: dict[str, Array]
    prior_change: dict[str, Array]
    purity_change: dict[str, Array]
    changes: dict[str, Array]
    source_error: Array
    excess: dict[str, Array]
    average_precision_change: Array
    auc_row_share: Array

    @classmethod
    def undefined(cls, n_groups: int) -> UnclippedEstimates:
        """Return estimates that are NaN in every group."""

        def columns(names: tuple[str, ...], *shape: int) -> dict[str, Array]:
            return {name: np.full(shape, np.nan) for name in names}

        value, naive, error, prior_change, purity_change = (
            columns(GROUP_MEASURES, n_groups) for _ in range(5)
        )
        excess = columns(AREAS, n_groups)
        changes = columns((*MEASURES,), 4, n_groups)
        source_error = np.full((4, n_groups), np.nan)
        average_precision_change, auc_row_share = np.full((2, n_groups), np.nan)
        return cls(
            value,
            naive,
            error,
            prior_change,
            purity_change,
            changes,
            source_error,
            excess,
            average_precision_change,
            auc_row_share,
        )

    def put(self, groups: Array, part: UnclippedEstimates) -> None:
        """Fill in the estimates of some groups."""
        for field in fields(self):
            target, source = getattr(self, field.name), getattr(part, field.name)
            if isinstance(target, np.ndarray):
                target[..., groups] = source
                continue
            for name, values in source.items():
                target[name][..., groups] = values

    def center(self, name: str) -> Array:
        """Return the value less its excess: the center of the confidence interval."""
        value = self.value[name]
        return value - self.excess[name] if name in self.excess else value

    def prevalence_change(self, name: str) -> Array:
        """Return the change with one standard error of the prevalence, by the label count."""
        if name == "roc_auc":
            return np.zeros(self.value[name].size)
        if name == "average_precision":
            return self.average_precision_change
        change: Array = self.changes[name][3]
        return change

    def total_error(self, name: str) -> Array:
        """Return standard errors that include the uncertainty of prior and purity."""
        of_mixture = np.hypot(self.prior_change[name], self.purity_change[name])
        total: Array = np.hypot(self.error[name], of_mixture)
        return total


def measure_range(name: str) -> tuple[float, float]:
    """Return the range of the true values of a measure."""
    if name in AREAS:
        return 0.0, 1.0
    measure = F_PB_MEASURE if name == F_PB else find_field_measure(name) or MEASURES[name]
    return measure.low, measure.high


def is_field_measure(name: str) -> bool:
    """Return whether a measure belongs to a family, and is computed when it is looked up."""
    return name == F_PB or find_field_measure(name) is not None


def check_group_measure(name: str, groups: Collection[Any] = ()) -> None:
    """Refuse a measure that groups do not have; ``groups`` are names that are no measures."""
    if not is_field_measure(name) and name not in GROUP_MEASURES:
        if name in groups:
            raise UnknownMeasureError(
                f"{name!r} is a group, not a measure. For a group, use groups.of({name!r})."
            )
        names = [*GROUP_MEASURES, *FIELD_MEASURES, F_PB, *PATTERNS]
        raise unknown_measure_error(name, names, any_beta=False)


def not_shrunken_error(measure: str) -> InputError:
    """Return the error for shrunken estimates of a measure of a family."""
    return InputError(
        f"{measure} of groups cannot be shrunken. Leave shrink out, and use groups[{measure!r}]."
    )


def no_level_error(what: str) -> InputError:
    """Return the error for a result that needs standard errors, without a level."""
    needs = "needs" if what == "shrinkage" else "need"
    return InputError(
        f"{what} {needs} confidence intervals, but level is None. Pass a level to evaluate_by, "
        "such as level=0.95."
    )


def estimate_groups(
    steps: ScoreSteps,
    sizes: GroupSizes,
    prior: Array,
    overall: Evaluation,
    reached: ByKind,
    prior_error: Array,
    squared_weights: ByKind | None = None,
    *,
    label_count_error: Array,
    purity_error: float = 0.0,
    prior_slope: Array | float = 0.0,
) -> UnclippedEstimates:
    """Estimate every measure of every group; ``steps`` has labeled steps only.

    ``purity_error`` is the standard error of the purity, and ``prior_slope`` the change of each
    prior with it.

    The number of labeled rows varies from sample to sample, and with it the prevalence.
    ``label_count_error`` is the part of that error that each group has for itself, from 0 to 1.
    """
    target = overall.target
    mixtures = Mixtures(prior, np.full(prior.size, overall.mixture.purity))
    naive = Mixtures.naive(prior.size)
    auc = naive_aucs(steps, sizes)
    precisions = AveragePrecisions(steps, sizes, mixtures, target)

    def values(precisions: AveragePrecisions) -> dict[str, Array]:
        mixtures = precisions.mixtures
        return {
            "roc_auc": correct_area(auc, mixtures, mixtures.background_prior(sizes)),
            "average_precision": precisions.value,
            **threshold_measures(reached, sizes, mixtures, target),
        }

    def values_for(mixtures: Mixtures) -> dict[str, Array]:
        return values(AveragePrecisions(steps, sizes, mixtures, target))

    naive_values = {
        "roc_auc": auc,
        "average_precision": naive_average_precisions(steps, sizes),
        **threshold_measures(reached, sizes, naive, "population"),
    }
    estimates = replace(
        UnclippedEstimates.undefined(prior.size),
        value=values(precisions),
        naive=naive_values,
        excess={"roc_auc": np.zeros(prior.size), "average_precision": precisions.excess()},
    )
    if overall.resampling is None:
        return estimates
    prevalence_error = label_count_error * mixtures.prevalence_standard_error(sizes)
    changes, source_error = threshold_changes(
        reached, sizes, mixtures, target, squared_weights, prevalence_error
    )
    error = {name: np.sqrt(np.sum(change**2, axis=0)) for name, change in changes.items()}
    variance = influence_variance(placements(steps, sizes), steps, sizes, pseudo_observation=True)
    error["roc_auc"] = np.sqrt(variance) / labeled_contrast(mixtures, sizes)
    variance = influence_variance(precisions.influence(), steps, sizes, pseudo_observation=False)
    average_precision_change = precisions.by_prevalence * prevalence_error
    error["average_precision"] = np.hypot(np.sqrt(variance), average_precision_change)
    return replace(
        estimates,
        error=error,
        prior_change=prior_changes(values_for, GROUP_MEASURES, mixtures, prior_error),
        purity_change=purity_changes(
            values_for, GROUP_MEASURES, mixtures, purity_error, np.zeros(prior.size) + prior_slope
        ),
        changes=changes,
        source_error=source_error,
        average_precision_change=average_precision_change,
    )


def estimate_all_rows(
    overall: Evaluation, prior_error: float, purity_error: float = 0.0, prior_slope: float = 0.0
) -> UnclippedEstimates:
    """Estimate every measure of all rows together, as a single group."""
    counts = overall.counts
    at = counts.at(overall.threshold)
    squared_weights = None
    if counts._has_importance_weights:
        threshold = np.array([overall.threshold])
        squared_weights = tuple(
            kind.with_squared_weights.cumulative_counts(threshold)[1] for kind in counts._samples
        )
    return estimate_groups(
        ScoreSteps.of_labeled(counts, counts._roc_corners()),
        GroupSizes.of(counts),
        np.array([overall.mixture.prior]),
        overall,
        (at.labeled, at.unlabeled, at.negative),
        np.array([prior_error]),
        squared_weights,
        label_count_error=np.array([float(overall.assumptions.prevalence_varies(overall.target))]),
        purity_error=purity_error,
        prior_slope=prior_slope,
    )
