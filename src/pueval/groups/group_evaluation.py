"""GroupEvaluation: averages and differences of groups, data and text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._typing import Array
from pueval.core.measures import AREAS
from pueval.core.sizes import GroupSizes
from pueval.errors import InputError
from pueval.groups import group_text
from pueval.groups.audited_groups import estimate_audited_rows
from pueval.groups.cluster_errors import (
    check_independent,
    check_reference,
)
from pueval.groups.evaluated_groups import EvaluatedGroups
from pueval.groups.field_groups import estimate_field_rows
from pueval.groups.field_overlap import overlap_covariance
from pueval.groups.group_differences import DifferenceTest, GroupDifferences
from pueval.groups.group_estimates import frame_of_results
from pueval.groups.macro_average import MacroAverage, macro_average
from pueval.groups.overlap_covariances import area_overlap_covariances, threshold_overlap_covariance
from pueval.groups.unclipped_estimates import (
    UnclippedEstimates,
    check_group_measure,
    estimate_all_rows,
    is_field_measure,
    no_level_error,
)

if TYPE_CHECKING:
    import os

    import pandas as pd

    from pueval.displays import GroupCurvesDisplay


@dataclass(frozen=True, eq=False, repr=False)
class GroupEvaluation(EvaluatedGroups):
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

    # ------------------------------------------------------------------ averages and differences

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
        estimates = self._unclipped(measure)
        check_independent("a macro average", self._clusters_span_groups)
        return macro_average(measure, estimates, self._priors, self.level)

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
        estimates = self._unclipped(measure)
        known = (self._all_rows_by(measure), self._priors, self._sizes, self.level, self._freedom)
        test = DifferenceTest(measure, self.names, estimates, *known)
        if reference is None:
            if self._audited is not None:
                raise InputError(
                    "with an audit, groups can be compared with a group, not with all rows. Pass "
                    "reference, the name of a group."
                )
            return test.from_all_rows(self._covariance_with_all_rows(measure))
        k = self._index(reference)
        if math.isnan(estimates.center(measure)[k]):
            reason = self.notes[k] or f"{measure} is undefined there"
            raise InputError(f"group {reference!r} has no {measure} to compare with: {reason}.")
        return test.from_group(k)

    def _all_rows_by(self, measure: str) -> UnclippedEstimates:
        """Return the estimates of all rows together, as a single group."""
        if is_field_measure(measure):
            return estimate_field_rows(measure, self.overall, self._uncertain_priors)
        return self._all_rows

    @cached_property
    def _all_rows(self) -> UnclippedEstimates:
        if self._audited is not None:
            return estimate_audited_rows(self.overall)
        priors = self._priors
        return estimate_all_rows(
            self.overall, priors.overall_error, priors.purity_error, priors.overall_slope
        )

    def _covariance_with_all_rows(self, measure: str) -> Array:
        if is_field_measure(measure):
            covariance = np.full(len(self.names), math.nan)
            error = self._unclipped(measure).error[measure]
            overall_error = float(self._all_rows_by(measure).error[measure][0])
            for k in np.flatnonzero(self.evaluated).tolist():
                covariance[k] = overlap_covariance(
                    measure, self._evaluate_group(k), self.overall, float(error[k]), overall_error
                )
            return covariance
        if measure in AREAS:
            return area_overlap_covariances(
                measure, self._blocks, self._sizes, self.prior, self.overall
            )
        all_sizes = GroupSizes.of(self.overall.counts)
        return threshold_overlap_covariance(
            measure, self._estimates, self._all_rows, self._sizes, all_sizes
        )

    # ------------------------------------------------------------------ as data and pictures

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for every measure of every group.

        Returns
        -------
        pandas.DataFrame
            Indexed by group and measure, with the columns of `Estimate` and the rows, prior and
            note of the group. ``groups["f1"].frame()`` has a single measure.
        """
        about_group: dict[str, Any] = {
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "n_negative": self.n_negative,
            "prior": self.prior,
            "note": list(self.notes),
        }
        if self.n_audited is not None:
            about_group["n_audited"] = self.n_audited
        return frame_of_results(self, about_group, "GroupEvaluation.frame()")

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
