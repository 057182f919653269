"""GroupEvaluation: every measure of every group, averages, differences, data and text."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.core.measures import AREAS, MEASURES, unknown_measure_error
from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.errors import InputError, require
from pueval.evaluation.estimates import Estimate
from pueval.evaluation.evaluate import evaluate
from pueval.evaluation.evaluation import Evaluation
from pueval.groups import group_text as presentation
from pueval.groups.group_estimates import GroupDifferences, GroupEstimates, MacroAverage
from pueval.groups.group_priors import GroupPriors
from pueval.groups.overlap_covariances import (
    area_overlap_covariances,
    threshold_overlap_covariance,
)
from pueval.groups.row_blocks import RowBlock, block_of
from pueval.groups.unclipped_estimates import (
    GROUP_MEASURES,
    UnclippedEstimates,
    estimate_all_rows,
)

if TYPE_CHECKING:
    import pandas as pd

    from pueval.displays import GroupCurvesDisplay


@dataclass(frozen=True, eq=False, repr=False)
class GroupEvaluation:
    """Corrected performance in every group of rows; made by `evaluate_by`.

    ``groups["roc_auc"]`` are the estimates of a measure in all groups, ``groups.of("Oslo")`` those
    of all measures in one. Groups are in ascending order of their names.

    Attributes
    ----------
    names : tuple
        Names of the groups.
    overall : Evaluation
        All rows together; its threshold is that of every group.
    n_labeled, n_unlabeled, n_negative : ndarray
        Rows (or their weight) in every group.
    prior : ndarray
        Prior of every group; NaN where it has no estimates.
    notes : tuple of str
        Why a group has no estimates, or what looks wrong with them; empty if nothing does.
    warnings : tuple of str
        What looked wrong with all rows together.
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

    # ------------------------------------------------------------------ numbers

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
    def level(self) -> float | None:
        """Confidence level of the limits."""
        return None if self.overall.resampling is None else self.overall.resampling.level

    @property
    def evaluated(self) -> Array:
        """Whether each group has estimates."""
        return ~np.isnan(self.prior)

    def __iter__(self) -> Iterator[str]:
        return iter(GROUP_MEASURES)

    def __getitem__(self, measure: str) -> GroupEstimates:
        _check_measure(measure)
        low, high = _range(measure)
        value, error = self._estimates.value[measure], self._estimates.total_error(measure)
        center, reach = self._estimates.center(measure), self._reach * error
        return GroupEstimates(
            measure,
            self.names,
            np.clip(value, low, high),
            np.clip(center - reach, low, high),
            np.clip(center + reach, low, high),
            self._estimates.naive[measure].copy(),
            error,
            value.copy(),
        )

    @property
    def _reach(self) -> float:
        return math.nan if self.level is None else normal_quantile(self.level)

    def of(self, group: Any) -> dict[str, Estimate]:
        """Return every measure of one group.

        Parameters
        ----------
        group : object
            Its name.

        Returns
        -------
        dict of str to Estimate
        """
        k = self._index(group)
        found = {}
        for name in GROUP_MEASURES:
            one = self[name]
            columns = (one.value, one.low, one.high, one.naive, one.standard_error, one.unclipped)
            found[name] = Estimate(*(float(column[k]) for column in columns))
        return found

    def counts(self, group: Any) -> Counts:
        """Return the Counts of one group.

        Parameters
        ----------
        group : object
            Its name.

        Returns
        -------
        Counts
        """
        k = self._index(group)
        block = block_of(self._blocks, k)
        return block.counts(k - block.first)

    def evaluation(self, group: Any) -> Evaluation:
        """Evaluate one group alone, with its prior: curves, best thresholds, warnings.

        Parameters
        ----------
        group : object
            Its name.

        Returns
        -------
        Evaluation
            Its limits take the prior as exact.
        """
        k = self._index(group)
        if math.isnan(self.prior[k]):
            raise InputError(f"group {group!r} cannot be evaluated: {self.notes[k]}.")
        options: dict[str, Any] = {"level": None}
        if self.overall.resampling is not None:
            one = self.overall.resampling
            options = {"level": one.level, "n_resamples": one.n_resamples, "seed": one.seed}
        return evaluate(
            self.counts(group),
            prior=float(self.prior[k]) if self._sizes.n_unlabeled[k] else None,
            purity=self.overall.mixture.purity,
            target=self.overall.target,
            threshold=self.overall.threshold,
            **options,
        )

    def macro(self, measure: str) -> MacroAverage:
        """Return the mean of a measure over groups, each counting the same.

        Parameters
        ----------
        measure : str
            Its name.

        Returns
        -------
        MacroAverage
            Groups without a value are left out; ``groups`` says how many are in it. The limits
            are for other rows of the same groups, and for an estimated prior.
        """
        _check_measure(measure)
        value, naive = self._estimates.center(measure), self._estimates.naive[measure]
        there = np.isfinite(value)
        size = int(there.sum())
        if not size:
            none = math.nan
            return MacroAverage(measure, none, none, none, none, none, none, 0)
        error = self._estimates.error[measure][there]
        rows = float(np.sum(error**2)) / size**2
        own, common = (
            part[there] for part in self._priors.parts(self._estimates.prior_change[measure])
        )
        shift = np.sum(own**2) / size**2 + np.mean(common) ** 2
        total = math.sqrt(rows + float(shift))
        mean = float(np.mean(value[there]))
        low, high = _range(measure)
        spread = math.nan
        if size > 1:
            noise = 0.0 if self.level is None else float(np.mean(error**2 + own**2))
            spread = math.sqrt(max(float(np.var(value[there], ddof=1)) - noise, 0.0))
            spread = math.nan if self.level is None else spread
        return MacroAverage(
            measure,
            min(max(mean, low), high),
            float(np.clip(mean - self._reach * total, low, high)),
            float(np.clip(mean + self._reach * total, low, high)),
            float(np.mean(naive[there])),
            total,
            spread,
            size,
        )

    def differences(self, measure: str, *, reference: Any = None) -> GroupDifferences:
        """Compare every group with all rows together, or with one group.

        Parameters
        ----------
        measure : str
            Name of a measure.
        reference : object, optional
            Name of a group; by default all rows together are compared with, of which the rows
            of the group are a part: the limits allow for that.

        Returns
        -------
        GroupDifferences
            An estimated prior moves both sides of a difference together, unless it was estimated
            in each group.
        """
        _check_measure(measure)
        if self.level is None:
            raise InputError(
                "differences need limits; evaluate_by(…, level=0.95) makes them, level=None not."
            )
        raw = self._estimates
        value, variance = raw.center(measure), raw.error[measure] ** 2
        own, common = self._priors.parts(raw.prior_change[measure])
        if reference is None:
            every = self._all_rows
            other = every.center(measure)[0]
            mine, shift = self._priors.parts_of_all(every.prior_change[measure][0])
            prior = own**2 + mine**2 - 2 * self._priors.together * own * mine
            more = every.error[measure][0] ** 2 - 2 * self._covariance(measure)
        else:
            k = self._index(reference)
            if math.isnan(value[k]):
                reason = self.notes[k] or f"{measure} is undefined there"
                raise InputError(f"group {reference!r} has no {measure} to compare with: {reason}.")
            other, shift = value[k], common[k]
            prior = own**2 + own[k] ** 2
            prior[k] = 0.0
            more = np.full(value.shape, variance[k])
            more[k] = -variance[k]  # a group does not differ from itself
        prior += (common - shift) ** 2
        error, if_equal = (
            np.sqrt(np.maximum(one + more, 0) + prior)
            for one in (variance, np.fmax(variance, self._variance_if_equal(measure)))
        )
        return GroupDifferences.of(
            measure, reference, self.names, value - other, error, if_equal, self.level
        )

    def _variance_if_equal(self, measure: str) -> Array:
        """Return the variance of a group's value if it were like all rows together.

        A group that by chance looks perfect seems to be known exactly. What is tested is that it
        is like the others, and then its error is theirs, for as few labeled rows.
        """
        (every,), labeled = self._all_rows.error[measure] ** 2, self._sizes.effective_by_kind[0]
        variance: Array = every * np.sum(labeled) / np.maximum(labeled, 1)
        return variance

    @cached_property
    def _all_rows(self) -> UnclippedEstimates:
        return estimate_all_rows(self.overall, self._priors.error_of_all)

    def _covariance(self, measure: str) -> Array:
        if measure in AREAS:
            return area_overlap_covariances(
                measure, self._blocks, self._sizes, self.prior, self.overall
            )
        return threshold_overlap_covariance(
            measure,
            self._estimates,
            self._all_rows,
            self._sizes,
            GroupSizes.of(self.overall.counts),
        )

    def _index(self, group: Any) -> int:
        try:
            return self._places[group]
        except (KeyError, TypeError):
            near = difflib.get_close_matches(str(group), [str(name) for name in self.names], n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"there is no group {group!r}.{hint} There are {len(self.names):,} groups."
            ) from None

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {name: k for k, name in enumerate(self.names)}

    # ------------------------------------------------------------------ as data and pictures

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for every measure of every group.

        Returns
        -------
        pandas.DataFrame
            Indexed by group and measure, with the columns of `Estimate`, and with the rows,
            prior and note of the group. For one measure see ``groups["f1"].frame()``.
        """
        pandas = require("pandas", extra="pandas", purpose="GroupEvaluation.frame()")
        about: dict[str, Any] = {
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "n_negative": self.n_negative,
            "prior": self.prior,
            "note": list(self.notes),
        }
        parts = [self[name].frame().assign(measure=name, **about) for name in GROUP_MEASURES]
        frame: pd.DataFrame = pandas.concat(parts)
        order = np.argsort(np.tile(np.arange(len(self.names)), len(GROUP_MEASURES)), kind="stable")
        return frame.iloc[order].set_index("measure", append=True)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Lists are in the order of ``groups``; undefined numbers are None.
        """
        return presentation.as_data(self)

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

    def summary(self) -> str:
        """Say in one line what was evaluated and assumed.

        Returns
        -------
        str
        """
        return presentation.summary(self)

    def __repr__(self) -> str:
        return presentation.as_text(self)

    def _repr_html_(self) -> str:
        return presentation.as_html(self)


def _range(name: str) -> tuple[float, float]:
    return (0.0, 1.0) if name in AREAS else (MEASURES[name].low, MEASURES[name].high)


def _check_measure(name: str) -> None:
    if name not in GROUP_MEASURES:
        raise unknown_measure_error(name, [*GROUP_MEASURES], any_beta=False)
