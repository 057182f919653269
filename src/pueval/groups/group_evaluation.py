"""GroupEvaluation: every measure of every group, averages, differences, data and text."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._typing import Array
from pueval.core.field_measures import FIELD_MEASURES
from pueval.core.measures import AREAS
from pueval.core.mixture import Mixtures
from pueval.core.rates import labeled_contrast
from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError, require
from pueval.evaluation.estimates import Estimate
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.findings import worst_warnings
from pueval.groups import group_text
from pueval.groups.audited_groups import AuditedGroups, estimate_audited_rows
from pueval.groups.cluster_errors import (
    check_independent,
    check_reference,
    group_limits,
    group_quantiles,
)
from pueval.groups.field_groups import evaluate_group, field_columns
from pueval.groups.group_differences import DifferenceTest, GroupDifferences
from pueval.groups.group_estimates import GroupEstimates, find_group
from pueval.groups.group_jackknife import Jackknife, jackknife_groups
from pueval.groups.group_priors import GroupPriors
from pueval.groups.macro_average import MacroAverage, macro_average
from pueval.groups.overlap_covariances import area_overlap_covariances, threshold_overlap_covariance
from pueval.groups.row_blocks import RowBlock, group_counts
from pueval.groups.shrinkage import GroupShrinkage, shrink_groups
from pueval.groups.unclipped_estimates import (
    GROUP_MEASURES,
    UnclippedEstimates,
    check_group_measure,
    estimate_all_rows,
    measure_range,
    no_level_error,
)

if TYPE_CHECKING:
    import os

    import pandas as pd

    from pueval.displays import GroupCurvesDisplay


@dataclass(frozen=True, eq=False, repr=False)
class GroupEvaluation(Mapping[str, GroupEstimates]):
    """Corrected performance in every group of rows; made by `evaluate_by`.

    It is a mapping from measures to their estimates in all groups: ``groups["roc_auc"]``. Measures
    of families, such as ``groups["brier_score_loss"]``, are computed when you ask for them. The
    estimates of all measures in one group are ``groups.of("Oslo")``. Groups are in ascending order
    of their names.

    Attributes
    ----------
    names : tuple
        Names of the groups.
    overall : Evaluation
        Evaluation of all rows together; every group uses its threshold.
    n_labeled, n_unlabeled, n_negative : ndarray
        Number of rows (or their total weight) in every group.
    n_audited : ndarray or None
        Number of audited unlabeled rows in every group; None without an audit.
    prior : ndarray
        Prior of every group; NaN for groups without estimates.
    notes : tuple of str
        Why a group has no estimates, or what is wrong with them; empty strings for other groups.
    warnings : tuple of str
        Warnings about all rows together.
    shrink : bool
        Whether estimates are shrunken toward the mean of the groups; see `shrinkage`.
    """

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
        if measure in FIELD_MEASURES:
            return self._field_estimates(measure)
        check_group_measure(measure)
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
            raise InputError(f"{measure} of groups cannot be shrunken. Leave shrink out.")
        evaluated = np.flatnonzero(self.evaluated).tolist()
        evaluations = {k: partial(self._evaluate_group, k) for k in evaluated}
        priors = None if self._audited is not None else self._priors
        columns = field_columns(measure, evaluations, priors, self._quantiles)
        return GroupEstimates(measure, self.names, **columns)

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
        return None if self.overall.resampling is None else self.overall.resampling.level

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

    def macro(self, measure: str) -> MacroAverage:
        """Return the mean of a measure over groups, all with the same weight.

        Parameters
        ----------
        measure : str
            Name of a measure.

        Returns
        -------
        MacroAverage
            Groups without a value are left out. The interval is for another sample of rows of the
            same groups, and includes the uncertainty of an estimated prior. Estimates are not
            shrunken for it.
        """
        check_group_measure(measure)
        check_independent("a macro average", self._clusters_span_groups)
        return macro_average(measure, self._estimates, self._priors, self.level)

    def differences(self, measure: str, *, reference: Any = None) -> GroupDifferences:
        """Compare every group with all rows together, or with one group.

        Parameters
        ----------
        measure : str
            Name of a measure.
        reference : object, optional
            Name of a group. By default groups are compared with all rows together, and intervals
            allow for the rows of the group being among them. With an audit, a reference is needed.

        Returns
        -------
        GroupDifferences
            An estimated prior moves both sides of a difference together, unless it was estimated
            in each group. Estimates are not shrunken for it.
        """
        check_group_measure(measure)
        if self.level is None:
            raise no_level_error("differences")
        check_independent("a difference of groups", self._clusters_span_groups)
        check_reference(reference, self._freedom)
        estimates, priors = self._estimates, self._priors
        known = (self._all_rows, priors, self._sizes, self.level, self._freedom)
        test = DifferenceTest(measure, self.names, estimates, *known)
        if reference is None:
            if self._audited is not None:
                raise InputError(
                    "with an audit, groups can be compared with a group, not with all rows. Pass "
                    "reference, the name of a group."
                )
            return test.from_all_rows(self._covariance_with_all_rows(measure))
        k = self._index(reference)
        if math.isnan(self._estimates.center(measure)[k]):
            reason = self.notes[k] or f"{measure} is undefined there"
            raise InputError(f"group {reference!r} has no {measure} to compare with: {reason}.")
        return test.from_group(k)

    @cached_property
    def _all_rows(self) -> UnclippedEstimates:
        if self._audited is not None:
            return estimate_audited_rows(self.overall)
        priors = self._priors
        return estimate_all_rows(
            self.overall, priors.overall_error, priors.purity_error, priors.overall_slope
        )

    def _covariance_with_all_rows(self, measure: str) -> Array:
        if measure in AREAS:
            return area_overlap_covariances(
                measure, self._blocks, self._sizes, self.prior, self.overall
            )
        all_sizes = GroupSizes.of(self.overall.counts)
        return threshold_overlap_covariance(
            measure, self._estimates, self._all_rows, self._sizes, all_sizes
        )

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
            warnings.warn(warning, AssumptionWarning, stacklevel=2)
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

    # ------------------------------------------------------------------ as data and pictures

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for every measure of every group.

        Returns
        -------
        pandas.DataFrame
            Indexed by group and measure, with the columns of `Estimate` and the rows, prior and
            note of the group. ``groups["f1"].frame()`` has a single measure.
        """
        pandas = require("pandas", extra="pandas", purpose="GroupEvaluation.frame()")
        about_group: dict[str, Any] = {
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "n_negative": self.n_negative,
            "prior": self.prior,
            "note": list(self.notes),
        }
        if self.n_audited is not None:
            about_group["n_audited"] = self.n_audited
        parts = [part.frame().assign(measure=name, **about_group) for name, part in self.items()]
        frame: pd.DataFrame = pandas.concat(parts)
        order = np.argsort(np.tile(np.arange(len(self.names)), len(self)), kind="stable")
        return frame.iloc[order].set_index("measure", append=True)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Lists are in the order of ``groups``; undefined numbers are None.
        """
        return group_text.as_data(self)

    def plot(
        self,
        curve: Literal["roc", "pr"] = "roc",
        *,
        groups: Any = None,
        most: int = 12,
        columns: int = 4,
    ) -> GroupCurvesDisplay:
        """Plot the curve of each group in a panel of its own, with the curve of all rows.

        Parameters
        ----------
        curve : {"roc", "pr"}
            ROC or precision-recall curves.
        groups : list, optional
            Names of the groups to draw; by default those with the most labeled rows.
        most : int, default 12
            Number of groups to draw if ``groups`` is not given.
        columns : int, default 4
            Number of panels side by side.

        Returns
        -------
        GroupCurvesDisplay
            Display with ``figure_``, ``axes_`` and ``frame()``.
        """
        from pueval.displays import GroupCurvesDisplay

        return GroupCurvesDisplay.from_groups(
            self, curve=curve, names=groups, most=most, columns=columns
        )

    def to_html(self, path: str | os.PathLike[str], *, name: str = "classifier") -> None:
        """Write a report of all rows together, with a table of the groups.

        Parameters
        ----------
        path : str or path
            File to write; an existing file is replaced.
        name : str
            Name of the model on the page.
        """
        from pueval.report import write_report

        write_report(path, {name: self.overall}, groups={name: group_text.report_table(self)})

    def summary(self) -> str:
        """Return one line about data and assumptions.

        Returns
        -------
        str
        """
        return group_text.summary(self)

    def __repr__(self) -> str:
        return group_text.as_text(self)

    def _repr_html_(self) -> str:
        return group_text.as_html(self)
