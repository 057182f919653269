"""From rows to the evaluation of every model and the covariance of all estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.area_covariances import (
    InfluenceByScore,
    area_covariances,
    influence_by_score,
)
from pueval.comparison.model_exchanges import ModelExchanges
from pueval.comparison.paired_estimates import (
    BEST_VALUES,
    EstimatesByMeasure,
    ExchangedEstimates,
    PairedEstimates,
)
from pueval.comparison.paired_rows import PairedRows
from pueval.comparison.paired_shares import shares_at
from pueval.core.average_precision import average_precision, average_precision_slope
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import AREAS, MEASURES, Measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, labeled_contrast
from pueval.evaluation.assumptions import Assumptions, resample_evaluation
from pueval.evaluation.estimates import BEST_MEASURES, best_value
from pueval.evaluation.evaluate import ModelRates, build_evaluation, rate_thresholds
from pueval.evaluation.evaluation import Evaluation
from pueval.samples.threads import map_in_threads
from pueval.uncertainty.influence import prevalence_slopes
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.prior_profile import POSITIONS
from pueval.uncertainty.prior_region import NODES, Region

# Points of a given interval of priors, or of purities, at which models are compared.
NODES_OF_LINE = 9


@dataclass(frozen=True, eq=False)
class Model:
    """One model: its rates, threshold and influences.

    Attributes
    ----------
    rates : ModelRates
        Rates at all thresholds, and the threshold to evaluate.
    influence : InfluenceByScore or None
        Influence of rows on the areas; None without confidence intervals.
    threshold_chosen : bool
        Whether the threshold was chosen as the best for these rows.
    """

    rates: ModelRates
    influence: InfluenceByScore | None
    threshold_chosen: bool


@dataclass(frozen=True, eq=False)
class PairedEstimation:
    """Estimation of all models on the same rows, with one prior and purity.

    Attributes
    ----------
    rows : PairedRows
        Labels and scores.
    assumptions : Assumptions
        Prior and purity.
    target : str
        Population to evaluate.
    options : IntervalOptions or None
        Options of confidence intervals; None without them.
    prevalence_varies : bool
        Whether the prevalence varies with the number of labeled rows.
    exchanges : ModelExchanges or None
        Exchanges of the models; None without confidence intervals.
    """

    rows: PairedRows
    assumptions: Assumptions
    target: Target
    options: IntervalOptions | None
    prevalence_varies: bool
    exchanges: ModelExchanges | None

    @property
    def mixture(self) -> Mixture:
        """Prior and purity."""
        return self.assumptions.mixture

    def rate_models(self, thresholds: Sequence[float | None]) -> list[Model]:
        """Compute rates, thresholds and influences of all models."""
        return map_in_threads(
            lambda k: self._rate_model(k, thresholds[k]), range(len(self.rows.names))
        )

    def _rate_model(self, k: int, threshold: float | None) -> Model:
        rates = rate_thresholds(self.rows.counts[k], self.assumptions, self.target, threshold)
        influence = None
        if self.options is not None:
            influence = influence_by_score(rates.counts, self.mixture, self.target)
        return Model(rates, influence, threshold is None)

    def estimate(self, models: list[Model]) -> EstimatesByMeasure:
        """Estimate all measures, also for the other priors and purities that are possible."""
        estimates, options = self._estimate(models), self.options
        if options is None:
            return estimates
        region = self.assumptions.mixture_region(self.rows.counts[0], options)
        if region is None:
            return estimates
        if self.assumptions.region is None:
            along_intervals = self._along_intervals(models, region, options)
            return replace(estimates, along_intervals=along_intervals)
        grid = region.grid(NODES_OF_LINE if region.has_one_uncertain_share else NODES)
        in_region = tuple(self._estimate_for(models, mixture, options) for mixture in grid)
        return replace(estimates, in_region=in_region)

    def _estimate(self, models: list[Model]) -> EstimatesByMeasure:
        shares = shares_at(
            self.rows,
            np.array([model.rates.threshold for model in models]),
            self.mixture,
            self.target,
            covariance=self.options is not None,
            prevalence_varies=self.prevalence_varies,
        )
        best = {
            name: [best_value(MEASURES[name], model.rates.rates[0]) for model in models]
            for name in BEST_MEASURES
        }
        changes = self._prevalence_changes(models, best)
        fixed = self._estimate_areas(models, changes["average_precision"])
        exchanged = None
        no_variance = np.full((len(models), len(models)), np.nan)
        if self.exchanges is not None:
            exchanged = ExchangedEstimates(self.exchanges, self.mixture, self.target, changes)
            no_variance = np.zeros((len(models), len(models)))
        for name, best_name in zip(BEST_MEASURES, BEST_VALUES, strict=True):
            value = np.array([of_model for _, of_model in best[name]])
            measure = MEASURES[name]
            fixed[best_name] = PairedEstimates(value, no_variance, measure.high - measure.low)
        return EstimatesByMeasure(fixed, shares, exchanged)

    def _prevalence_changes(
        self, models: list[Model], best: dict[str, list[tuple[float, float]]]
    ) -> dict[str, Array]:
        """Return how much average precisions and best values change with the prevalence.

        With a standard error of it, for fixed rates; ``best`` has best thresholds and values.
        """
        rates = [model.rates.rates[0] for model in models]
        if not self.prevalence_varies:
            return dict.fromkeys(("average_precision", *BEST_VALUES), np.zeros(len(models)))
        slopes = {"average_precision": [average_precision_slope(of_model) for of_model in rates]}
        for name, best_name in zip(BEST_MEASURES, BEST_VALUES, strict=True):
            slopes[best_name] = [
                _prevalence_slope(MEASURES[name], of_model, threshold)
                for of_model, (threshold, _) in zip(rates, best[name], strict=True)
            ]
        error = self.mixture.prevalence_standard_error(self.rows.counts[0])
        return {name: error * np.array(of_models) for name, of_models in slopes.items()}

    def _estimate_areas(
        self, models: list[Model], prevalence_changes: Array
    ) -> dict[str, PairedEstimates]:
        """Estimate AUC and average precision, the latter without covariances."""
        counts, rates = self.rows.counts[0], [model.rates.rates[0] for model in models]
        naive = [naive_auc(model.rates.counts, model.rates.corners) for model in models]
        auc = np.array([direct_auc(counts, area, self.mixture) for area in naive])
        precision = np.array([float(average_precision(of_model)) for of_model in rates])
        auc_covariance = precision_covariance = np.full((len(models), len(models)), np.nan)
        if self.exchanges is not None:
            influences = [model.influence for model in models if model.influence is not None]
            naive_covariance, variance = area_covariances(
                self.rows, influences, np.array(naive), self.exchanges.correlation
            )
            auc_covariance = naive_covariance / labeled_contrast(self.mixture, counts) ** 2
            precision_covariance = np.diag(variance + prevalence_changes**2)
        return {
            "roc_auc": PairedEstimates(auc, auc_covariance),
            "average_precision": PairedEstimates(precision, precision_covariance),
        }

    def _along_intervals(
        self, models: list[Model], region: Region, options: IntervalOptions
    ) -> tuple[tuple[EstimatesByMeasure, ...], ...]:
        """Estimate along the confidence intervals of an estimated prior and purity.

        Covariances are computed at the ends of the intervals only.
        """
        paths = (
            region.along_prior(self.mixture, POSITIONS),
            region.along_purity(self.mixture, POSITIONS),
        )
        return tuple(
            tuple(
                self._estimate_for(models, mixture, options if abs(q) == 1 else None)
                for mixture, q in zip(path, POSITIONS, strict=True)
            )
            for path in paths
            if path
        )

    def _estimate_for(
        self, models: list[Model], mixture: Mixture, options: IntervalOptions | None
    ) -> EstimatesByMeasure:
        """Estimate for another prior and purity, at the same thresholds."""
        exchanges = None if options is None else self.exchanges
        estimation = replace(
            self, assumptions=Assumptions(mixture), options=options, exchanges=exchanges
        )
        thresholds = [model.rates.threshold for model in models]
        return estimation._estimate(estimation.rate_models(thresholds))

    def evaluate(self, models: list[Model], estimates: EstimatesByMeasure) -> list[Evaluation]:
        """Evaluate every model, with standard errors from the same covariances."""
        return map_in_threads(lambda k: self._evaluate(k, models[k], estimates), range(len(models)))

    def _evaluate(self, k: int, model: Model, estimates: EstimatesByMeasure) -> Evaluation:
        rates = model.rates
        if self.options is None:
            return build_evaluation(rates, None, None)
        names = AREAS if model.threshold_chosen else (*AREAS, *MEASURES)
        standard_errors = None
        if self.assumptions == Assumptions(self.mixture):
            standard_errors = {name: estimates.standard_error(name, k) for name in names}
        resamples = resample_evaluation(
            rates.counts,
            rates.corners,
            self.assumptions,
            self.target,
            rates.threshold,
            self.options,
            standard_errors=standard_errors,
        )
        return build_evaluation(
            rates, self.options, resamples, threshold_chosen=model.threshold_chosen
        )


def _prevalence_slope(measure: Measure, rates: Rates, threshold: float) -> float:
    """Return the slope of a measure at one of the thresholds in the prevalence."""
    at = np.flatnonzero(rates.threshold == threshold)[:1]
    if not at.size:
        return math.nan
    tpr, fpr, predicted = (rate[at] for rate in (rates.tpr, rates.fpr, rates.predicted))
    there = replace(rates, threshold=rates.threshold[at], tpr=tpr, fpr=fpr, predicted=predicted)
    return float(prevalence_slopes(measure, there)[0])
