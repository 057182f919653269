"""Differences of every group from all rows together, or from one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from pueval._typing import Array
from pueval.core.confidence import normal_quantile, student_quantile
from pueval.core.sizes import GroupSizes
from pueval.groups.group_estimates import GroupResult, printable_name
from pueval.groups.group_priors import GroupPriors
from pueval.groups.unclipped_estimates import UnclippedEstimates
from pueval.uncertainty.holm import holm

# A t distribution with so many degrees of freedom is normal.
LARGE_FREEDOM = 1e9


@dataclass(frozen=True, eq=False, repr=False)
class GroupDifferences(GroupResult):
    """The difference of every group from all rows together, or from one group.

    Attributes
    ----------
    measure : str
        Name of the measure.
    reference : object
        Name of the reference group; None for all rows together.
    groups : tuple
        Names of the groups.
    value : ndarray
        Value of the group minus that of the reference, both before they are clipped. The excess
        of average precision is subtracted from both.
    low, high : ndarray
        Confidence intervals.
    standard_error : ndarray
        Standard errors.
    pvalue : ndarray
        Two-sided p-values of no difference, from the standard error of the group, or from the one
        it would have if it were like all rows, whichever is larger.
    adjusted_pvalue : ndarray
        Holm's p-values over all groups.
    """

    measure: str
    reference: Any
    groups: tuple[Any, ...]
    value: Array
    low: Array
    high: Array
    standard_error: Array
    pvalue: Array
    adjusted_pvalue: Array

    def _headline(self) -> str:
        reference = "all rows" if self.reference is None else printable_name(self.reference)
        return f"{super()._headline()} minus that of {reference}"


@dataclass(frozen=True, eq=False)
class DifferenceTest:
    """Differences of one measure, tested with the covariance that groups and reference have.

    Attributes
    ----------
    measure : str
        Name of the measure.
    groups : tuple
        Names of the groups.
    estimates, all_rows : UnclippedEstimates
        Estimates of the groups, and of all rows as a single group.
    priors : GroupPriors
        Priors of the groups.
    sizes : GroupSizes
        Sizes of the groups.
    level : float
        Confidence level.
    freedom : ndarray or None
        Degrees of freedom of the errors of the groups, if rows belong to clusters.
    """

    measure: str
    groups: tuple[Any, ...]
    estimates: UnclippedEstimates
    all_rows: UnclippedEstimates
    priors: GroupPriors
    sizes: GroupSizes
    level: float
    freedom: Array | None = None

    def from_all_rows(self, covariance: Array) -> GroupDifferences:
        """Compare every group with all rows, with which its estimate has a covariance."""
        own, shared = self.priors.split_changes(self.estimates.prior_change[self.measure])
        change = self.all_rows.prior_change[self.measure][0]
        overall_own, overall_shared = self.priors.split_overall_change(change)
        prior_variance = own**2 + overall_own**2
        prior_variance -= 2 * self.priors.correlation * own * overall_own
        prior_variance += (shared - overall_shared) ** 2
        purity = self.estimates.purity_change[self.measure]
        prior_variance += (purity - self.all_rows.purity_change[self.measure][0]) ** 2
        rows_variance = self.all_rows.error[self.measure][0] ** 2 - 2 * covariance
        value = self.all_rows.center(self.measure)[0]
        return self._differences(None, value, rows_variance, prior_variance)

    def from_group(self, k: int) -> GroupDifferences:
        """Compare every group with the k-th group; groups have no rows in common."""
        own, shared = self.priors.split_changes(self.estimates.prior_change[self.measure])
        prior_variance = own**2 + own[k] ** 2
        prior_variance[k] = 0.0
        prior_variance += (shared - shared[k]) ** 2
        purity = self.estimates.purity_change[self.measure]
        prior_variance += (purity - purity[k]) ** 2
        variance = self.estimates.error[self.measure][k] ** 2
        rows_variance = np.full(own.shape, variance)
        rows_variance[k] = -variance  # a group does not differ from itself
        value = self.estimates.center(self.measure)[k]
        freedom = None if self.freedom is None else np.minimum(self.freedom, self.freedom[k])
        return self._differences(self.groups[k], value, rows_variance, prior_variance, freedom)

    def _differences(
        self,
        reference: Any,
        reference_value: float,
        rows_variance: Array,
        prior_variance: Array,
        freedom: Array | None = None,
    ) -> GroupDifferences:
        """Make intervals and p-values; ``rows_variance`` adds to the variance of the groups."""
        variance = self.estimates.error[self.measure] ** 2
        error, null_error = (
            np.sqrt(np.maximum(of_group + rows_variance, 0) + prior_variance)
            for of_group in (variance, np.fmax(variance, self._null_variance()))
        )
        value = self.estimates.center(self.measure) - reference_value
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = -np.abs(value) / null_error
        if freedom is None:
            margin = normal_quantile(self.level) * error
            pvalue = 2 * scipy.special.ndtr(statistic)
        else:
            quantiles = [student_quantile(self.level, number) for number in freedom.tolist()]
            margin = np.array(quantiles) * error
            pvalue = 2 * scipy.special.stdtr(np.minimum(freedom, LARGE_FREEDOM), statistic)
        # A group compared with itself has no error, and no p-value.
        pvalue = np.where(error > 0, pvalue, np.nan)
        low, high = value - margin, value + margin
        return GroupDifferences(
            self.measure, reference, self.groups, value, low, high, error, pvalue, holm(pvalue)
        )

    def _null_variance(self) -> Array:
        """Return the variance of each group if it were like all rows together.

        A group that looks perfect by chance has almost no standard error. Under the hypothesis of
        no difference its variance is that of all rows, scaled to its number of labeled rows.
        """
        (overall,), labeled = self.all_rows.error[self.measure] ** 2, self.sizes.effective_sizes[0]
        variance: Array = overall * np.sum(labeled) / np.maximum(labeled, 1)
        return variance
