"""From rows to the evaluation of every model and the covariance of all estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.area_covariances import area_covariances, influence_by_score
from pueval.comparison.model_exchanges import ModelExchanges
from pueval.comparison.paired_boyce import estimate_boyce_index
from pueval.comparison.paired_calibration import estimate_calibration_error
from pueval.comparison.paired_estimates import (
    BEST_VALUES,
    EstimatesByMeasure,
    ExchangedEstimates,
    PairedEstimates,
    constant_covariance,
)
from pueval.comparison.paired_means import PairedMeans
from pueval.comparison.paired_rows import PairedRows
from pueval.comparison.paired_shares import shares_at
from pueval.comparison.paired_top import estimate_top_measure
from pueval.comparison.row_sums import prevalence_error, prevalence_sums
from pueval.core.average_precision import average_precision, average_precision_slope
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import AREAS, MEASURES, Measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, labeled_contrast
from pueval.errors import InputError
from pueval.estimates.estimate import BEST_MEASURES, best_value
from pueval.evaluation.assumptions import Assumptions, resample_evaluation
from pueval.evaluation.evaluate import ModelRates, build_evaluation, rate_thresholds
from pueval.evaluation.evaluation import Evaluation
from pueval.families.calibration_measures import CalibrationMeasure
from pueval.families.field_measures import check_rows, find_ordering_measure
from pueval.families.presence_family import BoyceMeasure
from pueval.families.top_measure import TopMeasure
from pueval.samples.threads import map_in_threads
from pueval.uncertainty.influence import prevalence_slopes
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.prior_profile import POSITIONS
from pueval.uncertainty.prior_region import NODES

# Points of a given interval of priors, or of purities, at which models are compared.
NODES_OF_LINE = 9


@dataclass(frozen=True, eq=False)
class Model:
    """One model: its rates and threshold.

    Attributes
    ----------
    rates : ModelRates
        Rates at all thresholds, and the threshold to evaluate.
    threshold_chosen : bool
        Whether the threshold was chosen as the best for these rows.
    """

    rates: ModelRates
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
    """

    rows: PairedRows
    assumptions: Assumptions
    target: Target
    options: IntervalOptions | None
    prevalence_varies: bool

    @property
    def mixture(self) -> Mixture:
        """Prior and purity."""
        return self.assumptions.mixture

    def rate_models(self, thresholds: Sequence[float | None]) -> list[Model]:
        """Compute rates and thresholds of all models."""

        def rate(k: int) -> Model:
            counts, threshold = self.rows.counts[k], thresholds[k]
            rates = rate_thresholds(counts, self.assumptions, self.target, threshold)
            return Model(rates, threshold is None)

        return map_in_threads(rate, range(len(self.rows.names)))

    def estimate_values(self, models: Sequence[Model]) -> EstimatesByMeasure:
        """Estimate all measures, without covariances."""
        return self._estimate(models)

    def exchange_models(self, *, of_first_rows: bool = False) -> ModelExchanges | None:
        """Exchange the models of each pair in random rows; None without confidence intervals."""
        if self.options is None:
            return None
        return ModelExchanges.of(self.rows, self.options.seed, of_first_rows=of_first_rows)

    def estimate_pairs(
        self, models: Sequence[Model], exchanges: ModelExchanges | None
    ) -> EstimatesByMeasure:
        """Estimate all measures and their covariances, also for other priors and purities."""
        options = self.options
        if options is None or exchanges is None:
            return self.estimate_values(models)
        estimates = self._estimate(models, exchanges.correlation, exchanges)
        paths, grid = self._other_mixtures(options)
        # Covariances are computed at the ends of the intervals only.
        along_intervals = tuple(
            tuple(
                self._estimate_for(models, mixture, exchanges if abs(q) == 1 else None)
                for mixture, q in zip(path, POSITIONS, strict=True)
            )
            for path in paths
        )
        in_region = tuple(self._estimate_for(models, mixture, exchanges) for mixture in grid)
        return replace(estimates, along_intervals=along_intervals, in_region=in_region)

    def estimate_field_measure(
        self, name: str, exchanges: Callable[[], ModelExchanges | None]
    ) -> PairedEstimates:
        """Estimate a measure of a family and its covariances, also for other mixtures."""
        measure, options = find_ordering_measure(name), self.options
        assert measure is not None  # noqa: S101 - others were refused
        for model, counts in zip(self.rows.names, self.rows.counts, strict=True):
            try:
                check_rows(counts, name, self.target)
            except InputError as error:
                raise InputError(f"model {model!r}: {error}") from None
        if isinstance(measure, BoyceMeasure):
            seed = None if options is None else options.seed
            return estimate_boyce_index(self.rows, measure, self.target, seed)
        estimate: Callable[[Mixture], PairedEstimates]
        if isinstance(measure, TopMeasure):
            estimate = partial(
                estimate_top_measure,
                self.rows,
                measure,
                target=self.target,
                exchanges=exchanges(),
                prevalence_varies=self.prevalence_varies,
            )
        elif isinstance(measure, CalibrationMeasure):
            estimate = partial(
                estimate_calibration_error,
                self.rows,
                measure,
                target=self.target,
                prevalence_varies=self.prevalence_varies,
            )
        else:
            estimate = partial(
                PairedMeans.of(self.rows, [measure.functions] * len(self.rows.names)).estimate,
                measure,
                target=self.target,
                prevalence_varies=self.prevalence_varies,
            )
        estimates = estimate(self.mixture)
        if options is None:
            undefined = constant_covariance(len(self.rows.names), math.nan)
            return replace(estimates, covariance=undefined)
        paths, grid = self._other_mixtures(options)
        return replace(
            estimates,
            along_intervals=tuple(tuple(map(estimate, path)) for path in paths),
            in_region=tuple(map(estimate, grid)),
        )

    def _other_mixtures(
        self, options: IntervalOptions
    ) -> tuple[list[Sequence[Mixture]], Sequence[Mixture]]:
        """Return mixtures along the confidence intervals of prior and purity, and in a region.

        The former if prior or purity was estimated, the latter if intervals were given for them.
        """
        region = self.assumptions.mixture_region(self.rows.counts[0], options)
        if region is None:
            return [], ()
        if self.assumptions.region is None:
            paths = (
                region.along_prior(self.mixture, POSITIONS),
                region.along_purity(self.mixture, POSITIONS),
            )
            return [path for path in paths if path], ()
        return [], region.grid(NODES_OF_LINE if region.has_one_uncertain_share else NODES)

    def _estimate(
        self,
        models: Sequence[Model],
        correlation: Array | None = None,
        exchanges: ModelExchanges | None = None,
    ) -> EstimatesByMeasure:
        """Estimate for one prior and purity.

        Covariances need the ``correlation`` of the models, those of differences of average
        precisions and best values also the ``exchanges``.
        """
        shares = shares_at(
            self.rows,
            np.array([model.rates.threshold for model in models]),
            self.mixture,
            self.target,
            covariance=correlation is not None,
            prevalence_varies=self.prevalence_varies,
        )
        best = {
            name: [best_value(MEASURES[name], model.rates.rates[0]) for model in models]
            for name in BEST_MEASURES
        }
        changes = self._prevalence_changes(models, best)
        fixed = self._estimate_areas(models, changes["average_precision"], correlation)
        exchanged = None
        if exchanges is not None:
            exchanged = ExchangedEstimates(exchanges, self.mixture, self.target, changes)
        variance = constant_covariance(len(models), math.nan if exchanges is None else 0.0)
        for name, best_name in zip(BEST_MEASURES, BEST_VALUES, strict=True):
            value = np.array([of_model for _, of_model in best[name]])
            measure = MEASURES[name]
            fixed[best_name] = PairedEstimates(value, variance, measure.high - measure.low)
        return EstimatesByMeasure(fixed, shares, exchanged)

    def _prevalence_changes(
        self, models: Sequence[Model], best: dict[str, list[tuple[float, float]]]
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
        error = prevalence_error(self.mixture, self.rows.counts[0])
        return {name: error * np.array(of_models) for name, of_models in slopes.items()}

    def _estimate_areas(
        self, models: Sequence[Model], prevalence_changes: Array, correlation: Array | None
    ) -> dict[str, PairedEstimates]:
        """Estimate AUC and average precision, the latter without covariances."""
        counts, rates = self.rows.counts[0], [model.rates.rates[0] for model in models]
        naive = [naive_auc(model.rates.counts, model.rates.corners) for model in models]
        auc = np.array([direct_auc(counts, area, self.mixture) for area in naive])
        precision = np.array([float(average_precision(of_model)) for of_model in rates])
        auc_covariance = precision_covariance = constant_covariance(len(models), math.nan)
        if correlation is not None:
            influences = map_in_threads(
                lambda model: influence_by_score(model.rates.counts, self.mixture, self.target),
                models,
            )
            of_prevalence = None
            if self.rows.clusters is not None and self.prevalence_varies:
                # Clusters move rates and prevalence together.
                error = prevalence_error(self.mixture, counts)
                slopes, prevalence_changes = prevalence_changes / error, np.zeros(len(models))
                of_prevalence = np.outer(slopes, prevalence_sums(self.rows, self.mixture))
            naive_covariance, variance = area_covariances(
                self.rows, influences, np.array(naive), correlation, of_prevalence
            )
            auc_covariance = naive_covariance / labeled_contrast(self.mixture, counts) ** 2
            precision_covariance = np.diag(variance + prevalence_changes**2)
        return {
            "roc_auc": PairedEstimates(auc, auc_covariance),
            "average_precision": PairedEstimates(precision, precision_covariance),
        }

    def _estimate_for(
        self, models: Sequence[Model], mixture: Mixture, exchanges: ModelExchanges | None
    ) -> EstimatesByMeasure:
        """Estimate for another prior and purity, with unchanged thresholds."""
        estimation = replace(self, assumptions=Assumptions(mixture))
        rated = estimation.rate_models([model.rates.threshold for model in models])
        correlation = None if exchanges is None else exchanges.correlation
        return estimation._estimate(rated, correlation, exchanges)

    def evaluate(self, models: Sequence[Model]) -> list[Evaluation]:
        """Evaluate every model."""
        return map_in_threads(lambda k: self._evaluate(k, models[k]), range(len(models)))

    def _evaluate(self, k: int, model: Model) -> Evaluation:
        rates = model.rates
        if self.options is None:
            return build_evaluation(rates, None, None)
        standard_errors = None
        if self.assumptions == Assumptions(self.mixture):
            # The same as those of differences.
            estimates = self.subset([k])._estimate([model], np.ones((1, 1)))
            names = AREAS if model.threshold_chosen else (*AREAS, *MEASURES)
            standard_errors = {name: float(estimates.standard_errors(name)[0]) for name in names}
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

    def subset(self, numbers: Sequence[int]) -> PairedEstimation:
        """Return the estimation of some of the models, given by their numbers."""
        return replace(self, rows=self.rows.subset(numbers))


def _prevalence_slope(measure: Measure, rates: Rates, threshold: float) -> float:
    """Return the slope of a measure at one of the thresholds in the prevalence."""
    at = np.flatnonzero(rates.threshold == threshold)[:1]
    if not at.size:
        return math.nan
    tpr, fpr, predicted = (rate[at] for rate in (rates.tpr, rates.fpr, rates.predicted))
    there = replace(rates, threshold=rates.threshold[at], tpr=tpr, fpr=fpr, predicted=predicted)
    return float(prevalence_slopes(measure, there)[0])
