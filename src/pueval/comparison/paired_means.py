"""Means of functions of the score for several models, and the covariances of formulas of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.paired_estimates import PairedEstimates, paired_field_estimates
from pueval.comparison.paired_rows import PairedRows
from pueval.comparison.row_sums import cluster_sums, prevalence_error, prevalence_sums, sum_products
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares
from pueval.families.mean_measures import MeanMeasure
from pueval.families.score_means import Means, ScoreFunctions, ScoreMeans, correct_means
from pueval.samples.threads import map_in_threads

# Steps of numerical derivatives; formulas of means are smooth.
STEP = 1e-6


@dataclass(frozen=True, eq=False)
class PairedMeans:
    """Means of m functions of the scores of every model, over each kind of rows.

    Attributes
    ----------
    rows : PairedRows
        Labels and scores.
    mean : ndarray of shape (models, 3, m)
        Means over labeled, unlabeled and negative rows; 0 for a kind without rows.
    covariance : ndarray of shape (3, models·m, models·m)
        Covariances of the means over each kind of rows, if rows are independent.
    sums : ndarray of shape (3, models·m, groups) or None
        What each group of clusters adds to the errors of the means; None for independent rows.
    """

    rows: PairedRows
    mean: Array
    covariance: Array
    sums: Array | None

    @classmethod
    def of(cls, rows: PairedRows, functions: Sequence[ScoreFunctions]) -> PairedMeans:
        """Compute means and covariances of each model's functions in one pass over the rows."""

        def means_of(model: int) -> Array:
            return np.stack(ScoreMeans(rows.counts[model], functions[model]).shares[:3])

        means = map_in_threads(means_of, range(len(functions)))
        mean = np.stack(means)
        n_values = mean.shape[0] * mean.shape[2]

        def deviations(kind: int, where: Array) -> Array:
            return np.concatenate(
                [
                    of_score(score[where]) - of_model[kind][:, None]
                    for of_score, score, of_model in zip(functions, rows.scores, mean, strict=True)
                ]
            )

        covariance = np.zeros((3, n_values, n_values))
        if rows.clusters is not None:
            return cls(rows, mean, covariance, cluster_sums(rows, deviations, (n_values,)))
        for kind, total in enumerate(rows.weight_by_kind):
            if not total:
                continue
            size = rows.effective_sizes[kind]
            # A single labeled row does not show how much labeled rows vary.
            freedom = max(size - 1, 1) if kind or size > 1 else math.nan
            scale = size / freedom / total**2
            covariance[kind] = scale * sum_products(rows, deviations, kind)
        return cls(rows, mean, covariance, None)

    def estimate(
        self, measure: MeanMeasure, mixture: Mixture, target: Target, *, prevalence_varies: bool
    ) -> PairedEstimates:
        """Estimate a measure of every model, with covariances, for one prior and purity."""
        n_models, _, m = self.mean.shape
        value, slope = np.empty(n_models), np.zeros(n_models)
        gradient = np.zeros((3, n_models, n_models, m))
        for k, mean in enumerate(self.mean):
            value[k], gradient[:, k, k], slope[k] = self._derivatives(
                measure, mean, mixture, target
            )
        derivative = gradient.reshape(3, n_models, n_models * m)
        counts = self.rows.counts[0]
        if self.sums is not None:
            errors = (derivative @ self.sums).sum(axis=0)
            if prevalence_varies:
                errors = errors + np.outer(slope, prevalence_sums(self.rows, mixture))
            covariance = errors @ errors.T
        else:
            parts = derivative @ self.covariance @ derivative.transpose(0, 2, 1)
            covariance = parts.sum(axis=0)
            if prevalence_varies:
                change = slope * prevalence_error(mixture, counts)
                covariance = covariance + np.outer(change, change)
        return paired_field_estimates(measure, value, covariance)

    def _derivatives(
        self, measure: MeanMeasure, mean: Array, mixture: Mixture, target: Target
    ) -> tuple[float, Array, float]:
        """Return the value of one model, and its slopes in all means and in the prevalence."""
        counts, size = self.rows.counts[0], mean.size
        step = STEP * (1 + np.abs(mean)).ravel()
        moves = np.concatenate([np.diag(step), -np.diag(step), np.zeros((1, size))])
        moved = mean + moves.reshape(-1, *mean.shape)
        means = correct_means(counts, Shares(*moved.transpose(1, 0, 2)), mixture, target)
        values = np.ravel(measure(means))
        slopes = (values[:size] - values[size:-1]) / (2 * step)
        positive, negative = means.positive[-1], means.negative[-1]
        share = float(means.prevalence)

        def at(prevalence: float) -> float:
            everybody = prevalence * positive + (1 - prevalence) * negative
            return float(measure(Means(positive, negative, everybody, prevalence)))

        ends = max(share - STEP, share / 2), min(share + STEP, (1 + share) / 2)
        slope = (at(ends[1]) - at(ends[0])) / (ends[1] - ends[0])
        return float(values[-1]), slopes.reshape(mean.shape), slope
