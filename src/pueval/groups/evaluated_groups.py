"""Every measure of every group, and single groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixtures
from pueval.core.rates import labeled_contrast
from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.errors import InputError, warn_caller
from pueval.estimates.estimate import Estimate
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.audited_groups import AuditedGroups
from pueval.groups.cluster_errors import (
    group_limits,
    group_quantiles,
)
from pueval.groups.field_groups import FieldGroups, evaluate_group
from pueval.groups.group_estimates import GroupEstimates, find_group
from pueval.groups.group_jackknife import Jackknife, jackknife_groups
from pueval.groups.group_priors import GroupPriors
from pueval.groups.row_blocks import RowBlock, group_counts
from pueval.groups.shrinkage import GroupShrinkage, shrink_groups
from pueval.groups.unclipped_estimates import (
    GROUP_MEASURES,
    UnclippedEstimates,
    check_group_measure,
    is_field_measure,
    measure_range,
    no_level_error,
    not_shrunken_error,
)
from pueval.text.warning_lists import worst_warnings


@dataclass(frozen=True, eq=False, repr=False)
class EvaluatedGroups(Mapping[str, GroupEstimates]):
    """Base of `GroupEvaluation`, which adds averages, differences and output."""

    names: tuple[Any, ...]
    overall: Evaluation
    _sizes: GroupSizes
    prior: Array
    notes: tuple[str, ...]
    _estimates: UnclippedEstimates
    _priors: GroupPriors
    _blocks: tuple[RowBlock, ...]
    warnings: tuple[str, ...]
    shrink: bool = False
    # Degrees of freedom of the standard error of each group, if rows belong to clusters.
    _freedom: Array | None = None
    _clusters_span_groups: bool = False
    _audited: AuditedGroups | None = None

    # ------------------------------------------------------------------ measures

    def __getitem__(self, measure: str) -> GroupEstimates:
        check_group_measure(measure, self._indices)
        if is_field_measure(measure):
            return self._field_estimates(measure)
        if self._audited is not None:
            return GroupEstimates(measure, self.names, **self._audited.columns(measure))
        lowest, highest = measure_range(measure)
        value, error = self._estimates.value[measure].copy(), self._estimates.total_error(measure)
        naive = self._estimates.naive[measure].copy()
        if self.shrink:
            # Copies: the shrunken arrays are kept.
            value, low, high, error = self.shrinkage(measure)._interval_columns()
            return GroupEstimates(measure, self.names, value, low, high, naive, error, value.copy())
        mixtures = Mixtures(self.prior, np.full(self.prior.size, self.overall.mixture.purity))
        contrast = labeled_contrast(mixtures, self._sizes)
        limits = group_limits(measure, self._estimates, self._quantiles, contrast)
        clipped, low, high = np.clip([value, *limits], lowest, highest)
        return GroupEstimates(measure, self.names, clipped, low, high, naive, error, value)

    @property
    def _quantiles(self) -> Array:
        return group_quantiles(self.level, len(self.names), self._freedom)

    def _field_estimates(self, measure: str) -> GroupEstimates:
        if self.shrink:
            raise not_shrunken_error(measure)
        columns = self._field_groups(measure).with_uncertain_priors(self._quantiles)
        return GroupEstimates(measure, self.names, **columns)

    def _field_groups(self, measure: str) -> FieldGroups:
        if measure not in self._fields:
            evaluated = np.flatnonzero(self.evaluated).tolist()
            evaluations = {k: partial(self._evaluate_group, k) for k in evaluated}
            self._fields[measure] = FieldGroups.of(
                measure, evaluations, self._uncertain_priors, len(self.names)
            )
        return self._fields[measure]

    @cached_property
    def _fields(self) -> dict[str, FieldGroups]:
        return {}

    @property
    def _uncertain_priors(self) -> GroupPriors | None:
        """Standard errors of the priors; None with an audit, whose estimates include them."""
        return None if self._audited is not None else self._priors

    def _unclipped(self, measure: str) -> UnclippedEstimates:
        """Return the estimates of a measure in all groups before they are clipped."""
        check_group_measure(measure)
        if is_field_measure(measure):
            return self._field_groups(measure).estimates
        return self._estimates

    def __iter__(self) -> Iterator[str]:
        return iter(GROUP_MEASURES)

    def __len__(self) -> int:
        return len(GROUP_MEASURES)

    def __contains__(self, measure: object) -> bool:
        return measure in GROUP_MEASURES

    # As a mapping it would be equal by content, and could not be hashed.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return GROUP_MEASURES

    @property
    def n_labeled(self) -> Array:
        """Labeled rows of every group."""
        return self._sizes.n_labeled

    @property
    def n_unlabeled(self) -> Array:
        """Unlabeled rows of every group."""
        return self._sizes.n_unlabeled

    @property
    def n_negative(self) -> Array:
        """Known negative rows of every group."""
        return self._sizes.n_negative

    @property
    def n_audited(self) -> Array | None:
        """Audited unlabeled rows of every group; None without an audit."""
        return None if self._audited is None else self._audited.n_audited

    @property
    def level(self) -> float | None:
        """Confidence level of the intervals; None if there are none."""
        return self.overall._level

    @property
    def evaluated(self) -> Array:
        """Whether each group has estimates."""
        return ~np.isnan(self.prior)

    def shrinkage(self, measure: str) -> GroupShrinkage:
        """Shrink the estimates of a measure toward the mean of the groups (empirical Bayes).

        For many small groups. An estimate with sampling variance v gets the weight τ²/(v + τ²),
        and the mean of the groups the rest, where τ² is the variance of the true values between
        groups. Assumption: groups are exchangeable, which means that nothing but its rows tells a
        group from the others. The mean squared error over all groups is then smaller than that of
        the groups' own estimates, and intervals hold the true values **on average over groups**.
        What is lost: groups that are truly extreme are pulled toward the middle, and their
        intervals hold the truth less often.

        A group without an estimate of its own, or with one that is undefined without a part of
        its rows, gets the mean of the groups, with the interval of an unknown group.

        Parameters
        ----------
        measure : str
            Name of a measure.

        Returns
        -------
        GroupShrinkage
            Undefined (NaN) if fewer than five groups have the measure.

        Notes
        -----
        Values are shrunken before they are clipped, because corrected values are roughly normal
        and can be outside the range of the measure; ratios (lift, likelihood ratios) on the
        logarithmic scale. Results are averaged over the restricted likelihood of τ², with a flat
        prior, so that intervals include the error of the mean and of τ². Sampling variances come
        from a jackknife, smoothed over groups of similar size. The part of the uncertainty of an
        estimated prior that groups share is not shrunken.

        References
        ----------
        Morris (1983); Morris and Tang (2011).
        """
        check_group_measure(measure)
        if is_field_measure(measure):
            raise not_shrunken_error(measure)
        if self._audited is not None:
            raise InputError("groups with an audit cannot be shrunken.")
        if self.level is None:
            raise no_level_error("shrinkage")
        if measure not in self._shrinkages:
            prior = np.where(self.evaluated, self.prior, self.overall.mixture.prior)
            purity = np.full(prior.size, self.overall.mixture.purity)
            has_target = self.n_unlabeled > 0
            self._shrinkages[measure] = shrink_groups(
                measure,
                self.names,
                self._estimates,
                self._jackknife,
                self._sizes,
                Mixtures(prior, purity),
                self._priors,
                has_target | (self.overall.target == "population"),
                self.level,
            )
        return self._shrinkages[measure]

    @cached_property
    def _shrinkages(self) -> dict[str, GroupShrinkage]:
        return {}

    @cached_property
    def _jackknife(self) -> Jackknife:
        return jackknife_groups(self._blocks, self.prior, self.overall)

    # ------------------------------------------------------------------ single groups

    def of(self, group: Any) -> dict[str, Estimate]:
        """Return every measure of one group.

        Parameters
        ----------
        group : object
            Name of the group.

        Returns
        -------
        dict of str to Estimate
        """
        k = self._index(group)
        estimates = {}
        for name, of_groups in self.items():
            columns = of_groups._columns()
            estimates[name] = Estimate(**{field: float(columns[field][k]) for field in columns})
        return estimates

    def counts(self, group: Any) -> Counts:
        """Return the Counts of one group.

        Parameters
        ----------
        group : object
            Name of the group.

        Returns
        -------
        Counts
            With an audit, they include the positives that it implies, as ``ev.counts`` does.
        """
        k = self._index(group)
        if self._audited is not None and k in self._audited.evaluations:
            return self._audited.evaluations[k].counts
        return group_counts(self._blocks, k)

    def evaluation(self, group: Any) -> Evaluation:
        """Evaluate one group on its own, with its prior: curves, best thresholds, warnings.

        Parameters
        ----------
        group : object
            Name of the group.

        Returns
        -------
        Evaluation
            Its intervals treat the prior as exact, unless there is an audit.
        """
        k = self._index(group)
        if math.isnan(self.prior[k]):
            raise InputError(f"group {group!r} cannot be evaluated: {self.notes[k]}.")
        ev = self._evaluate_group(k)
        for warning in worst_warnings(ev.warnings if self._audited is None else ()):
            warn_caller(warning)
        return ev

    def _evaluate_group(self, k: int) -> Evaluation:
        if self._audited is not None:
            return self._audited.evaluations[k]
        prior = float(self.prior[k]) if self._sizes.n_unlabeled[k] else None
        return evaluate_group(self.counts(self.names[k]), prior, self.overall)

    def _index(self, group: Any) -> int:
        return find_group(group, self._indices)

    @cached_property
    def _indices(self) -> dict[Any, int]:
        return {name: k for k, name in enumerate(self.names)}
