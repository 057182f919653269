"""The numbers of one evaluated classifier: areas, measures at thresholds, and best values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import PrecisionRecallCurve, direct_auc, mean_placement
from pueval.core.measures import AREAS, MEASURES, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_steps, corrected_and_naive_rates
from pueval.core.resolution import Resolution, resolution
from pueval.counts.arguments import check_threshold, suggest_arguments
from pueval.counts.counts import Counts
from pueval.errors import InputError, UnknownMeasureError
from pueval.estimates.audit import Audit
from pueval.estimates.calibration import calibrate, calibration_estimates
from pueval.estimates.decision_curve import estimate_net_benefit
from pueval.estimates.estimate import (
    Best,
    Contingency,
    Estimate,
    IntervalOf,
    OperatingPoint,
    best_value,
    clipped_areas,
)
from pueval.estimates.expectation import estimate_mean
from pueval.estimates.presence import estimate_f_pb, evaluate_presence
from pueval.evaluation.assumptions import Assumptions, resample_evaluation
from pueval.families.calibration_measures import N_BINS, CalibrationMeasure
from pueval.families.field_measures import (
    FIELD_MEASURES,
    FieldMeasure,
    check_rows,
    find_field_measure,
)
from pueval.families.mean_measures import MEAN_MEASURES, MeanMeasure
from pueval.families.measures_at import PATTERNS
from pueval.families.net_benefit import NetBenefitMeasure
from pueval.families.presence_family import AREA_SHARE, F_PB, N_WINDOWS, OMISSION, PRESENCE_MEASURES
from pueval.families.ranked_rows import RankedRows
from pueval.families.top_measure import TopMeasure
from pueval.families.top_measures import TOP_MEASURES
from pueval.samples.steps import Steps
from pueval.samples.threads import map_in_threads, start_in_thread
from pueval.thresholds.rules import find_rule
from pueval.thresholds.threshold_choice import choose
from pueval.uncertainty.intervals import Interval, IntervalOptions
from pueval.uncertainty.measure_intervals import Resamples
from pueval.uncertainty.prior_region import Region
from pueval.uncertainty.top_intervals import TopResamples, top_interval, top_thresholds

if TYPE_CHECKING:
    from pueval.model_selection._splits import Splits
    from pueval.priors import PriorEstimate


@dataclass(frozen=True, eq=False, repr=False)
class ModelEstimates(Mapping[str, Estimate]):
    """Data, assumptions and estimates of one classifier: what `Evaluation` is built on."""

    counts: Counts
    target: Target
    threshold: float
    warnings: tuple[str, ...]
    assumptions: Assumptions
    resampling: IntervalOptions | None
    operating_point: OperatingPoint
    threshold_chosen: bool
    _corners: Steps
    _rates: tuple[Rates, Rates]
    _pr: tuple[PrecisionRecallCurve, ...]
    _resamples: Resamples | None
    _areas: dict[str, tuple[float, float]]
    splits: Splits | None = None
    audit: Audit | None = None
    _area_estimates: dict[str, Estimate] = field(default_factory=dict)
    _kept_resamples: dict[float, Resamples | None] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Estimate:
        if name in self._area_estimates:
            return self._area_estimates[name]
        if name in self.operating_point:
            return self.operating_point[name]
        if name in self._areas:
            estimate = self._estimate_area(name)
        elif name == F_PB:
            estimate = estimate_f_pb(self)
        elif (measure := find_field_measure(name)) is not None:
            estimate = self._estimate_field_measure(name, measure)
        else:
            try:
                return self.operating_point[name]
            except UnknownMeasureError:
                known = [*self, *FIELD_MEASURES, F_PB, *PATTERNS]
                raise unknown_measure_error(name, known) from None
        self._area_estimates[name] = estimate
        return estimate

    def __iter__(self) -> Iterator[str]:
        return iter((*self._areas, *self.operating_point))

    def __len__(self) -> int:
        return len(self._areas) + len(self.operating_point)

    def __contains__(self, name: object) -> bool:
        """Whether ``ev[name]`` is a measure, also of a family that the default table leaves out."""
        if name in self._areas or name in self.operating_point or name == F_PB:
            return True
        try:
            return find_field_measure(name) is not None
        except UnknownMeasureError:
            return False

    # A mapping is equal by content and cannot be hashed; an evaluation is neither.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def mixture(self) -> Mixture:
        """Prior and purity; the midpoint where they were given as intervals."""
        return self.assumptions.mixture

    @property
    def prior(self) -> float:
        """Share of positives among the unlabeled rows, as given or estimated."""
        return self.mixture.prior

    @property
    def purity(self) -> float:
        """Share of true positives among the labeled rows, as given or estimated."""
        return self.mixture.purity

    @property
    def clipped(self) -> dict[str, float]:
        """Measures outside their range, with their values before clipping."""
        return clipped_areas(self._areas) | self.operating_point.clipped

    @property
    def region(self) -> Region | None:
        """Possible priors and purities, where they were given as intervals."""
        return self.assumptions.region

    @property
    def prior_estimate(self) -> PriorEstimate | None:
        """Estimate of prior and purity, if they were estimated."""
        return self.assumptions.estimate

    @property
    def prevalence(self) -> float:
        """Share of positives in the target."""
        return self.mixture.prevalence(self.counts, self.target)

    @property
    def _level(self) -> float | None:
        """Confidence level of the intervals; None if there are none."""
        return None if self.resampling is None else self.resampling.level

    @property
    def resolution(self) -> Resolution | None:
        """Largest error that binned scores can cause; None if scores are not binned."""
        return resolution(self.counts, self.mixture)

    @property
    def table(self) -> Contingency:
        """Corrected contingency table at ``threshold``; not clipped."""
        return self.operating_point.table

    def _estimate_areas(self) -> None:
        """Estimate both areas; the error of the AUC on a core that the resamples leave idle."""
        resamples = self._resamples
        if resamples is None or resamples.standard_errors:
            return
        error = start_in_thread(lambda: resamples.naive_auc_error)
        self["average_precision"]
        error()

    def _estimate_area(self, name: str) -> Estimate:
        """Estimate the area under the ROC curve or the precision-recall curve."""
        value, naive = self._areas[name]
        interval = Interval()
        if self._resamples is not None and name == "roc_auc":
            weighted = self._resamples.counts.has_propensity
            observed = mean_placement(self.counts, self.target) if weighted else naive
            interval = self._resamples.auc_interval(
                observed, lambda mixture: direct_auc(self.counts, naive, mixture, self.target)
            )
        elif self._resamples is not None:
            interval = self._resamples.average_precision_interval(self._average_precision)
        return Estimate.of(value, naive, interval)

    def _estimate_field_measure(self, name: str, measure: FieldMeasure) -> Estimate:
        """Estimate a measure of a family, and the measures that share its computation."""
        check_rows(self.counts, name, self.target)
        if isinstance(measure, NetBenefitMeasure):
            return estimate_net_benefit(self, measure.risk, standardized=False).model
        if isinstance(measure, MeanMeasure):
            return self._estimate_mean_measure(name)
        if isinstance(measure, CalibrationMeasure):
            self._area_estimates.update(calibration_estimates(calibrate(self, N_BINS)))
            return self._area_estimates[name]
        if name in PRESENCE_MEASURES:
            return self._estimate_presence_measure(name)
        assert isinstance(measure, TopMeasure)  # noqa: S101 - for the type checker
        return self._estimate_top(measure, self._first_rows_resamples(measure))

    def _estimate_mean_measure(self, name: str) -> Estimate:
        """Estimate a measure of predicted probabilities, and the measures that share its means."""
        functions = MEAN_MEASURES[name].functions
        measures = [each for each in MEAN_MEASURES.values() if each.functions is functions]
        estimates = estimate_mean(
            self.counts,
            self.mixture,
            self.target,
            self._resamples,
            functions,
            [(measure, (measure.low, measure.high)) for measure in measures],
        )
        by_name = dict(zip((each.name for each in measures), estimates, strict=True))
        self._area_estimates.update(by_name)
        return by_name[name]

    def _estimate_together(self, names: Iterable[str]) -> None:
        """Estimate those of some measures that share much of what they are computed from."""
        top = [name for name in names if name in TOP_MEASURES and name not in self._area_estimates]
        measures = [TOP_MEASURES[name] for name in top]
        estimates = self._estimate_top_measures(measures, self._top_resamples) if top else []
        self._area_estimates.update(zip(top, estimates, strict=True))

    def _first_rows_resamples(self, measure: TopMeasure) -> Resamples | None:
        """Return the resamples for a measure of the top, such as BEDROC or precision_at_100."""
        if measure.name in TOP_MEASURES or measure.rows is None:
            return self._top_resamples
        return self._resamples_of_first(measure.rows(self._rates[0].n_rows))

    def _resamples_of_first(self, number: float) -> Resamples | None:
        """Return the resamples for measures of a number of first rows."""
        if number not in self._kept_resamples:
            thresholds = top_thresholds(self.counts, self.target, [number])
            self._kept_resamples.clear()  # they are large
            self._kept_resamples[number] = self._resample(thresholds)
        return self._kept_resamples[number]

    def _estimate_top(self, measure: TopMeasure, resamples: Resamples | None) -> Estimate:
        return self._estimate_top_measures([measure], resamples)[0]

    def _estimate_top_measures(
        self, measures: Sequence[TopMeasure], resamples: Resamples | None
    ) -> list[Estimate]:
        value_for = [cache(partial(self._ranked.value, measure)) for measure in measures]

        def point_estimates() -> list[tuple[float, float]]:
            pairs = zip(value_for, measures, strict=True)
            return [(value(self.mixture), self._ranked.naive(measure)) for value, measure in pairs]

        def draw() -> TopResamples | None:
            return None if resamples is None else TopResamples(resamples, measures).drawn()

        # Neither of these uses all cores all the time.
        tasks: list[Callable[[], Any]] = [point_estimates, draw]
        points, top_resamples = map_in_threads(lambda task: task(), tasks)
        estimates = []
        for measure, value_of, (value, naive) in zip(measures, value_for, points, strict=True):
            interval = Interval()
            if top_resamples is not None and math.isfinite(value):
                interval = top_interval(top_resamples, measure, value_of)
            estimates.append(Estimate.of(value, naive, interval, (measure.low, measure.high)))
        return estimates

    def _estimate_presence_measure(self, name: str) -> Estimate:
        """Estimate a presence-only measure, and the measures that share its resamples."""
        presence = evaluate_presence(self, AREA_SHARE, OMISSION, N_WINDOWS, None)
        self._area_estimates.update({each: presence[each] for each in (*PRESENCE_MEASURES, F_PB)})
        return presence[name]

    @cached_property
    def _ranked(self) -> RankedRows:
        return RankedRows(self.counts, self._corners, self.target)

    @cached_property
    def _top_resamples(self) -> Resamples | None:
        """Resamples for the measures of the top of the list that have no argument."""
        size = self._rates[0].n_rows
        rows = [m.rows(size) for m in TOP_MEASURES.values() if m.rows is not None]
        thresholds = top_thresholds(
            self.counts, self.target, [*rows, min(max(self.prevalence, 0.0), 1.0) * size]
        )
        return self._resample(thresholds)

    def _point_estimate(self, name: str) -> Estimate:
        """Return the estimate of a measure without its interval, which takes time."""
        if name in self._areas:
            return Estimate.of(*self._areas[name], Interval())
        return self.operating_point._point_estimate(find_measure(name))

    def _average_precision(self, mixture: Mixture) -> float:
        if mixture == self.mixture:
            return self._areas["average_precision"][0]
        rates = correct_steps(self.counts, self._corners, mixture, self.target)
        return float(average_precision(rates))

    def at(self, threshold: float) -> OperatingPoint:
        """Evaluate another threshold.

        Parameters
        ----------
        threshold : float
            Score at or above which rows are predicted positive.

        Returns
        -------
        OperatingPoint
        """
        threshold = check_threshold(threshold)
        resamples = self._resample(threshold)
        intervals: IntervalOf | None = None
        if resamples is not None:
            intervals = partial(resamples.interval_at, threshold=threshold)
        level, rates = self._level, self._rates_at(threshold)
        return OperatingPoint(threshold, level, rates, intervals)

    def best(self, measure: str) -> Best:
        """Find the best value of a measure over all thresholds.

        Parameters
        ----------
        measure : str
            Name of a measure at a threshold, for example ``"f1"``.

        Returns
        -------
        Best

        Notes
        -----
        The best of many noisy values is too good on average, most of all with few labeled rows.
        ``value`` is the observed best. The interval is corrected for this bias, so it need not
        be symmetric, and ``value`` may lie above it.

        References
        ----------
        Ramola, Jain and Radivojac (2019) for accuracy, balanced accuracy, F1 and MCC.
        """
        if measure in AREAS:
            raise InputError(
                f"{measure} is an area under a curve and has no threshold. "
                "Choose a measure at a threshold, such as 'f1'."
            )
        optimized = find_measure(measure)
        corrected, naive = (best_value(optimized, rates) for rates in self._rates)

        def best_for(mixture: Mixture) -> float:
            if mixture == self.mixture:
                return corrected[1]
            return best_value(
                optimized, correct_steps(self.counts, self._corners, mixture, self.target)
            )[1]

        interval = Interval()
        if self._resamples is not None and not math.isnan(corrected[1]):
            interval = self._resamples.best_interval(optimized, best_for)
        return Best(
            measure=optimized.name,
            threshold=corrected[0],
            value=optimized.clip(corrected[1]),
            low=interval.low,
            high=interval.high,
            naive_threshold=naive[0],
            naive=naive[1],
            unclipped=corrected[1],
        )

    @suggest_arguments
    def threshold_for(
        self,
        *,
        precision: float | None = None,
        recall: float | None = None,
        fpr: float | None = None,
        top: float | None = None,
        best: str | None = None,
        cost: tuple[float, float] | None = None,
    ) -> OperatingPoint:
        """Choose a threshold by what it must achieve. Give exactly one argument.

        Parameters
        ----------
        precision : float, optional
            Minimum precision, in [0, 1]. The threshold with the highest recall is chosen. Where
            fewer than 10 labeled rows (or half of them, if there are fewer than 20) lie at or
            above a threshold, it is not considered: precision is too noisy there.
        recall : float, optional
            Minimum recall, in [0, 1]. The highest threshold is chosen.
        fpr : float, optional
            Maximum false positive rate, in [0, 1]. The threshold with the highest recall is chosen.
        top : int, optional
            Maximum number of rows of the target at or above the threshold. The lowest threshold
            is chosen.
        best : str, optional
            Name of the measure to optimize, for example ``"f1"``.
        cost : (float, float), optional
            Cost of a false positive and of a false negative, in any unit. The threshold with the
            least expected cost per row of the target is chosen; the result has the measure
            ``"cost"``.

        Returns
        -------
        OperatingPoint
            Intervals cover the true value of each measure at the chosen threshold. They are
            corrected for choosing it on the same rows: every resample repeats the choice, and
            its average optimism is subtracted. For the best value of any threshold, see `best`.
            ``threshold_interval`` is the confidence interval of the threshold itself.

        Notes
        -----
        The observed value satisfies the rule. The true value reaches a minimum precision or recall
        in about half of all samples. To be more certain, ask for more, until ``low`` of the
        measure reaches what you need.

        References
        ----------
        Elkan (2001), The foundations of cost-sensitive learning, for ``cost``.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(20_000) < 0.3
        >>> score = rng.normal(size=20_000) + 2 * positive
        >>> labeled = positive & (rng.random(20_000) < 0.2)
        >>> ev = evaluate(labeled, score, prevalence=0.3)
        >>> choice = ev.threshold_for(precision=0.9)
        >>> round(choice.threshold, 1), round(choice["recall"].value, 1)
        (1.8, 0.6)
        >>> choice["precision"].low < 0.9 < choice["precision"].high
        True
        """
        goals = {
            "precision": precision,
            "recall": recall,
            "fpr": fpr,
            "top": top,
            "best": best,
            "cost": cost,
        }
        rule = find_rule(self.counts, self.target, goals)

        def resample(threshold: float) -> Resamples | None:
            return self._resample(threshold, threshold_chosen=True)

        choice = choose(rule, self._rates[0], resample)
        threshold, level = choice.threshold, self._level
        rates = self._rates_at(threshold)
        extra = {} if rule.measure is None else {rule.measure.name: rule.measure}
        interval = choice.threshold_interval
        return OperatingPoint(
            threshold,
            level,
            rates,
            choice.intervals,
            MEASURES | extra,
            rule.name,
            choice.reached,
            (interval.low, interval.high),
        )

    def _rates_at(self, threshold: float | Array) -> tuple[Rates, Rates]:
        return corrected_and_naive_rates(
            self.counts, self.counts.at(threshold), self.mixture, self.target
        )

    def _resample(
        self, threshold: float | Array, *, threshold_chosen: bool = False
    ) -> Resamples | None:
        if self.resampling is None:
            return None
        # Of cross-validation, these have the effective sizes that folds leave.
        counts = self.counts if self._resamples is None else self._resamples.counts
        return resample_evaluation(
            counts,
            self._corners,
            self.assumptions,
            self.target,
            threshold,
            self.resampling,
            threshold_chosen=threshold_chosen,
        )
