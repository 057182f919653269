"""Single groups, and measures of families, such as the Brier score, in every group."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate
from pueval.evaluation.evaluate import evaluate_counts
from pueval.evaluation.evaluation import Evaluation
from pueval.families.field_measures import field_value, find_field_measure
from pueval.families.presence_family import F_PB, find_threshold_measure
from pueval.families.top_measure import TopMeasure
from pueval.groups.group_priors import GroupPriors
from pueval.groups.unclipped_estimates import UnclippedEstimates, measure_range
from pueval.uncertainty.uncertain_prior import prior_changes, purity_changes


def evaluate_group(counts: Counts, prior: float | None, overall: Evaluation) -> Evaluation:
    """Evaluate one group on its own, as all rows were; its prior is taken for exact."""
    resampling = overall.resampling
    options: dict[str, Any] = {"level": None} if resampling is None else resampling.arguments
    return evaluate_counts(
        counts,
        prior=prior,
        purity=overall.mixture.purity,
        target=overall.target,
        threshold=overall.threshold,
        **options,
    )


@dataclass(frozen=True, eq=False)
class FieldGroups:
    """A measure of a family in every group.

    Attributes
    ----------
    measure : str
        Name of the measure.
    columns : dict of str to ndarray
        Fields of `Estimate` over all groups, for priors and purity as if they were exact.
    prior_change, purity_change : ndarray
        Change with one standard error of the priors, and of the purity.
    """

    measure: str
    columns: dict[str, Array]
    prior_change: Array
    purity_change: Array

    @classmethod
    def of(
        cls,
        measure: str,
        evaluations: Mapping[int, Callable[[], Evaluation]],
        priors: GroupPriors | None,
        n_groups: int,
    ) -> FieldGroups:
        """Estimate a measure in every group.

        Parameters
        ----------
        measure : str
            Name of a measure of a family.
        evaluations : mapping of int to callable
            Evaluates a group, given by its number, with its prior and purity as if they were exact.
        priors : GroupPriors or None
            Standard errors of the priors and of the purity; None if the evaluations include them.
        n_groups : int
            Number of groups.
        """
        names = [field.name for field in fields(Estimate)]
        columns = {name: np.full(n_groups, math.nan) for name in names}
        of_prior, of_purity = np.zeros((2, n_groups))
        for k, evaluate_group in evaluations.items():
            ev = evaluate_group()
            if not _has_enough_rows(measure, ev):
                continue
            estimate = ev[measure]
            for name in names:
                columns[name][k] = getattr(estimate, name)
            if priors is not None and not math.isnan(estimate.low):
                of_prior[k], of_purity[k] = _changes(measure, ev, priors, k)
        return cls(measure, columns, of_prior, of_purity)

    def with_uncertain_priors(self, quantile: Array) -> dict[str, Array]:
        """Return the columns with the uncertainty of priors and purity.

        ``quantile`` is that of the interval of each group.
        """
        columns = self.columns
        change = np.hypot(self.prior_change, self.purity_change)
        margin = np.where(change > 0, quantile * change, 0.0)
        center = columns["unclipped"]
        moved = change > 0
        ends = (
            center - np.hypot(center - columns["low"], margin),
            center + np.hypot(columns["high"] - center, margin),
        )
        low, high = np.clip(ends, *measure_range(self.measure))
        return columns | {
            "standard_error": np.hypot(columns["standard_error"], change),
            "low": np.where(moved, low, columns["low"]),
            "high": np.where(moved, high, columns["high"]),
        }

    @property
    def estimates(self) -> UnclippedEstimates:
        """The measure before it is clipped, for averages and differences."""
        return replace(
            UnclippedEstimates.undefined(self.prior_change.size),
            value={self.measure: self.columns["unclipped"]},
            naive={self.measure: self.columns["naive"]},
            error={self.measure: self.columns["standard_error"]},
            prior_change={self.measure: self.prior_change},
            purity_change={self.measure: self.purity_change},
        )


def _has_enough_rows(measure: str, ev: Evaluation) -> bool:
    """Return whether a group has as many rows as a measure of first rows is about."""
    of_field = find_field_measure(measure)
    if not isinstance(of_field, TopMeasure) or of_field.rows is None:
        return True
    try:
        of_field.rows(ev._rates[0].n_rows)
    except InputError:
        return False
    return True


def _changes(
    measure: str, ev: Evaluation, priors: GroupPriors, group: int | None
) -> tuple[float, float]:
    """Return the changes with one standard error of the prior and of the purity.

    ``group`` is the number of a group; None for all rows together.
    """

    def values(mixtures: Mixtures) -> dict[str, Array]:
        return {measure: np.array([_value(measure, ev, mixtures[0])])}

    slope, error = np.array([priors.overall_slope]), np.array([priors.overall_error])
    if group is not None:
        slope = (np.zeros(priors.error.size) + priors.slope)[[group]]
        error = priors.error[[group]]
    mixtures = Mixtures(np.array([ev.mixture.prior]), np.array([ev.mixture.purity]))
    of_prior = prior_changes(values, (measure,), mixtures, error)
    of_purity = purity_changes(values, (measure,), mixtures, priors.purity_error, slope)
    return float(of_prior[measure][0]), float(of_purity[measure][0])


def _value(measure: str, ev: Evaluation, mixture: Mixture) -> float:
    if measure != F_PB:
        return field_value(measure, ev.counts, mixture, ev.target)
    rates = correct_steps(ev.counts, ev.counts.at(ev.threshold), mixture, ev.target)
    return float(find_threshold_measure(measure, ev.counts, ev.target)(rates)[0])


def estimate_field_rows(
    measure: str, overall: Evaluation, priors: GroupPriors | None
) -> UnclippedEstimates:
    """Estimate a measure of all rows together, as a single group."""
    of_prior = of_purity = 0.0
    ev = overall
    if priors is not None:
        prior = overall.mixture.prior if overall.counts.n_unlabeled else None
        ev = evaluate_group(overall.counts, prior, overall)
        of_prior, of_purity = _changes(measure, ev, priors, None)
    columns = {name: np.array([value]) for name, value in vars(ev[measure]).items()}
    changes = np.array([of_prior]), np.array([of_purity])
    return FieldGroups(measure, columns, *changes).estimates
