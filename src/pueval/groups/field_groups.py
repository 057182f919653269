"""Single groups, and measures of families, such as the Brier score, in every group."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.field_measures import field_value
from pueval.core.mixture import Mixture, Mixtures
from pueval.counts.counts import Counts
from pueval.evaluation.estimates import Estimate
from pueval.evaluation.evaluate import evaluate_counts
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.group_priors import GroupPriors
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


def field_columns(
    measure: str,
    evaluations: Mapping[int, Callable[[], Evaluation]],
    priors: GroupPriors | None,
    quantile: Array,
) -> dict[str, Array]:
    """Return the fields of `Estimate` of a measure, as columns over all groups.

    Parameters
    ----------
    measure : str
        Name of a measure of a family.
    evaluations : mapping of int to callable
        Evaluates a group, given by its number, with its prior and purity as if they were exact.
    priors : GroupPriors or None
        Standard errors of the priors and of the purity; None if the evaluations include them.
    quantile : ndarray
        Quantile of the interval of each group; NaN without intervals.
    """
    names = [field.name for field in fields(Estimate)]
    columns = {name: np.full(quantile.size, math.nan) for name in names}
    for k, evaluate_group in evaluations.items():
        ev = evaluate_group()
        estimate = ev[measure]
        for name in names:
            columns[name][k] = getattr(estimate, name)
        if priors is not None and not math.isnan(estimate.low):
            change = _change(measure, ev.counts, ev.target, ev.mixture, priors, k)
            margin = quantile[k] * change
            center = estimate.unclipped
            columns["standard_error"][k] = math.hypot(estimate.standard_error, change)
            columns["low"][k] = center - math.hypot(center - estimate.low, margin)
            columns["high"][k] = center + math.hypot(estimate.high - center, margin)
    return columns


def _change(
    measure: str, counts: Counts, target: Target, mixture: Mixture, priors: GroupPriors, group: int
) -> float:
    """Return the change with one standard error of prior and purity of a group together."""

    def values(mixtures: Mixtures) -> dict[str, Array]:
        return {measure: np.array([field_value(measure, counts, mixtures[0], target)])}

    mixtures = Mixtures(np.array([mixture.prior]), np.array([mixture.purity]))
    slope = np.zeros(priors.error.size) + priors.slope
    of_prior = prior_changes(values, (measure,), mixtures, priors.error[[group]])
    of_purity = purity_changes(values, (measure,), mixtures, priors.purity_error, slope[[group]])
    return math.hypot(float(of_prior[measure][0]), float(of_purity[measure][0]))
