"""Evaluation: everything about one classifier, as numbers, curves, data and text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pueval._typing import Array, Target
from pueval.core.curves import PrecisionRecallCurve, RocCurve, recover_roc_from_corners
from pueval.core.measures import AREAS, Measure, find_measure, unknown_measure_error
from pueval.core.mixture import NAIVE, Mixture, cap_prior
from pueval.core.rates import Rates, correct_steps, corrected_and_naive_rates
from pueval.core.resolution import Resolution, resolution
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import InputError, UnknownMeasureError
from pueval.evaluation import evaluation_text as presentation
from pueval.evaluation.assumptions import Assumptions
from pueval.evaluation.estimates import Best, Contingency, Estimate, best_value, estimate_frame
from pueval.evaluation.evaluation_resamples import resample_evaluation
from pueval.evaluation.operating_point import FixedThresholdIntervals, OperatingPoint
from pueval.ranking import ranking_measures
from pueval.samples.steps import Steps
from pueval.sensitivity.bounds import BandMethod, Bounds, Reference, claesen_bounds
from pueval.sensitivity.grid import SensitivityGrid, sensitivity_grid
from pueval.sensitivity.labeling_bias import TippingPoint, labeling_bias_bounds, tipping_point
from pueval.thresholds.measure_curve import MeasureCurve, curve_thresholds, measure_curve
from pueval.thresholds.rules import Rule, cost_rule, find_rule
from pueval.thresholds.threshold_choice import choose, neighbors
from pueval.uncertainty.bands import BandKind, CurveBand, precision_recall_band, roc_band
from pueval.uncertainty.intervals import Interval, IntervalOptions
from pueval.uncertainty.prior_region import Region
from pueval.uncertainty.resampling import Resamples

if TYPE_CHECKING:
    import os

    import pandas as pd

    from pueval.displays import OverviewDisplay
    from pueval.model_selection._splits import Splits
    from pueval.priors import PriorEstimate


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Mapping[str, Estimate]):
    """Corrected performance of one classifier; made by `evaluate`.

    ``ev["f1"].value`` is the corrected measure, ``ev["f1"].naive`` the one that counts unlabeled
    rows as negative. Areas are ``"roc_auc"`` and ``"average_precision"``; all others belong to
    ``ev.threshold``. It is a mapping, with ``ev.items()``; `frame` makes a table of it.

    Attributes
    ----------
    counts : Counts
        The data.
    mixture : Mixture
        Prior and purity; the middle of the region where they were given as intervals.
    target : str
        ``"population"`` or ``"unlabeled"``.
    threshold : float
        The threshold of the measures that need one.
    warnings : tuple of str
        What looked wrong.
    assumptions : Assumptions
        How well prior and purity are known: exactly, within a region, or as estimated.
    resampling : Resampling or None
        How the intervals were made: level, number of resamples, seed.
    operating_point : OperatingPoint
        Everything at ``threshold``.
    threshold_chosen : bool
        Whether the threshold was chosen on these rows, for which limits then allow.
    splits : Splits or None
        Every repeat of the cross-validation, if it was made by `evaluate_cv`.
    """

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
    _areas: dict[str, Estimate]
    splits: Splits | None = None

    # ------------------------------------------------------------------ numbers

    def __getitem__(self, name: str) -> Estimate:
        if name in self._areas:
            return self._areas[name]
        try:
            return self.operating_point[name]
        except UnknownMeasureError:
            raise unknown_measure_error(name, [*self]) from None

    def __iter__(self) -> Iterator[str]:
        return iter((*self._areas, *self.operating_point.measures))

    def __len__(self) -> int:
        return len(self._areas) + len(self.operating_point.measures)

    def __contains__(self, name: object) -> bool:
        return name in self._areas or name in self.operating_point.measures

    # As a mapping it would be equal by content, and could not be hashed.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def mixture(self) -> Mixture:
        """Prior and purity; the middle of the region where they were given as intervals."""
        return self.assumptions.mixture

    @property
    def prior(self) -> float:
        """Share of positives among the unlabeled rows, as assumed or estimated."""
        return self.mixture.prior

    @property
    def purity(self) -> float:
        """Share of true positives among the labeled rows, as assumed or estimated."""
        return self.mixture.purity

    @property
    def clipped(self) -> dict[str, float]:
        """The measures that left their range, before they were clipped."""
        areas = {name: one.unclipped for name, one in self._areas.items() if one.clipped}
        return areas | self.operating_point.clipped

    @property
    def region(self) -> Region | None:
        """What prior and purity may be, where they were given as intervals."""
        return self.assumptions.region

    @property
    def prior_estimate(self) -> PriorEstimate | None:
        """Where prior and purity came from, if they were estimated."""
        return self.assumptions.estimate

    @property
    def prevalence(self) -> float:
        """Share of positives in the target."""
        return self.mixture.prevalence(self.counts, self.target)

    @property
    def resolution(self) -> Resolution | None:
        """What bins may have changed, at most; None if scores are not in bins."""
        return resolution(self.counts, self.mixture)

    @property
    def table(self) -> Contingency:
        """Corrected contingency table at ``threshold``; not clipped."""
        return self.operating_point.table

    def _rates_at(self, threshold: float) -> tuple[Rates, Rates]:
        return corrected_and_naive_rates(
            self.counts, self.counts.at(threshold), self.mixture, self.target
        )

    def at(self, threshold: float) -> OperatingPoint:
        """Evaluate another threshold.

        Parameters
        ----------
        threshold : float
            Scores at or above it are predicted positive.

        Returns
        -------
        OperatingPoint
        """
        wanted = check_threshold(threshold)
        drawn = self._draw(wanted)
        limits = None if drawn is None else FixedThresholdIntervals(drawn, wanted)
        level = None if drawn is None else drawn.options.level
        return OperatingPoint.of(wanted, self._rates_at(wanted), limits, level)

    def best(self, measure: str) -> Best:
        """Find the threshold at which a measure is best.

        Parameters
        ----------
        measure : str
            Name of a measure that belongs to a threshold, for example ``"f1"``.

        Returns
        -------
        Best

        Notes
        -----
        The best of many noisy values is too good on average; with few labeled rows this
        matters. ``value`` is the best as it is; the limits have the excess taken off, so they
        need not lie evenly around it, and ``value`` may even lie above them.

        References
        ----------
        Ramola, Jain and Radivojac (2019) for accuracy, balanced accuracy, F1 and MCC.
        """
        if measure in AREAS:
            raise InputError(
                f"{measure} is an area under a curve and has no threshold. "
                "Ask for the best of a measure at a threshold, such as 'f1'."
            )
        found = find_measure(measure)
        (threshold, value), (naive_threshold, naive) = (
            best_value(found, these) for these in self._rates
        )
        interval = Interval()
        if self._resamples is not None and not math.isnan(value):
            interval = self._resamples.best_interval(found, lambda m: self._best_for(found, m))
        return Best(
            found.name,
            threshold,
            found.clip(value),
            interval.low,
            interval.high,
            naive_threshold,
            naive,
            value,
        )

    def _best_for(self, measure: Measure, mixture: Mixture) -> float:
        """Best value for another mixture, over all thresholds; not clipped."""
        these = self._rates[0]
        if mixture != self.mixture:
            these = correct_steps(self.counts, self._corners, mixture, self.target)
        return best_value(measure, these)[1]

    def threshold_for(
        self,
        *,
        precision: float | None = None,
        recall: float | None = None,
        fpr: float | None = None,
        top: float | None = None,
        best: str | None = None,
    ) -> OperatingPoint:
        """Choose a threshold by what it has to achieve, and say what it achieves.

        Parameters
        ----------
        precision : float, optional
            Of the thresholds with at least this precision, the one with the highest recall.
            Thresholds with fewer than 10 labeled rows at or above them (or half of the labeled
            rows, if there are fewer than 20) are not considered: precision is chance there.
        recall : float, optional
            The highest threshold with at least this recall.
        fpr : float, optional
            Of the thresholds with at most this false positive rate, the one with the highest
            recall.
        top : int, optional
            The lowest score of a row of the target with at most so many of its rows at or above.
        best : str, optional
            The threshold at which this measure is best.

        Returns
        -------
        OperatingPoint
            Its limits hold the true value of each measure at the chosen threshold. They are
            corrected for its having been chosen on the same rows: the choice is repeated in every
            resample, and what it looks better there than where the resample was drawn from is
            taken off. For the best value that any threshold could reach, see `best`.

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
        asked = {"precision": precision, "recall": recall, "fpr": fpr, "top": top, "best": best}
        return self._follow(find_rule(self.counts, self.target, asked))

    def best_cost(self, *, false_positive: float, false_negative: float) -> OperatingPoint:
        """Choose the threshold of the least expected cost.

        cost = false_positive·P(false positive) + false_negative·P(false negative), per row of the
        target.

        Parameters
        ----------
        false_positive, false_negative : float
            What one wrong prediction of each kind costs, in any unit.

        Returns
        -------
        OperatingPoint
            With the measure ``"cost"``; limits as for `threshold_for`.

        References
        ----------
        Elkan (2001), The foundations of cost-sensitive learning.
        """
        return self._follow(cost_rule(false_positive, false_negative))

    def _follow(self, rule: Rule) -> OperatingPoint:
        def draw(threshold: float) -> Resamples | None:
            return self._draw(neighbors(self.counts, threshold))

        choice = choose(rule, self._rates[0], draw)
        return OperatingPoint.of(
            choice.threshold,
            self._rates_at(choice.threshold),
            choice.intervals,
            None if self.resampling is None else self.resampling.level,
            more=rule.measure,
            rule=rule.name,
            reached=choice.reached,
        )

    def _draw(self, threshold: float | Array) -> Resamples | None:
        if self.resampling is None:
            return None
        return resample_evaluation(
            self.counts, self._corners, self.assumptions, self.target, threshold, self.resampling
        )

    def roc(self, *, naive: bool = False) -> RocCurve:
        """Return the ROC curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        RocCurve
            With ``area``, which for the corrected curve is Jain's indirect estimate of the AUC.
        """
        if naive:
            return recover_roc_from_corners(self.counts, self._corners, NAIVE)
        return recover_roc_from_corners(
            self.counts, self._corners, self.mixture, self.target, rates=self._rates[0]
        )

    def pr(self, *, naive: bool = False) -> PrecisionRecallCurve:
        """Return the precision-recall curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        PrecisionRecallCurve
            With ``area``, which is the average precision.
        """
        return self._pr[naive]

    def roc_band(self, kind: BandKind = "pointwise") -> CurveBand:
        """Return confidence limits of the ROC curve.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}
            Whether the limits hold for each false positive rate, or for the whole curve.

        Returns
        -------
        CurveBand
        """
        return roc_band(self.roc(), self._drawn("roc_band"), kind)

    def pr_band(self, kind: BandKind = "pointwise") -> CurveBand:
        """Return confidence limits of the precision-recall curve.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}
            Whether the limits hold for each recall, or for the whole curve.

        Returns
        -------
        CurveBand
            From the recall on that five labeled rows make.
        """
        return precision_recall_band(self.pr(), self._drawn("pr_band"), kind)

    def _drawn(self, method: str) -> Resamples:
        if self._resamples is None:
            raise InputError(
                f"{method}() needs intervals, and level=None asked for none. Evaluate with a level."
            )
        return self._resamples

    def sensitivity(
        self, measure: str, *, priors: Any = None, purities: Any = None
    ) -> SensitivityGrid:
        """Tabulate a measure over prior × purity, around this evaluation's own.

        Parameters
        ----------
        measure : str
            ``"roc_auc"``, ``"average_precision"`` or a measure at ``threshold``.
        priors, purities : array-like, optional
            What to tabulate.

        Returns
        -------
        SensitivityGrid
            With the region that the ranking contradicts.
        """
        return sensitivity_grid(
            measure,
            self.counts,
            self.mixture,
            self.target,
            self.threshold,
            priors=priors,
            purities=purities,
        )

    def by_threshold(self, measure: str) -> MeasureCurve:
        """Return a measure at many thresholds, as Ramola et al. (2019) draw it in figure 1.

        Parameters
        ----------
        measure : str
            Name of a measure that belongs to a threshold, for example ``"f1"``.

        Returns
        -------
        MeasureCurve
            At about a thousand quantiles of the scores, with limits at some of them; the
            thresholds of the best corrected and naive value and ``threshold`` are among them.
        """
        best = self.best(measure)
        thresholds = curve_thresholds(
            self.counts, self._resamples, best.threshold, best.naive_threshold, self.threshold
        )
        steps = self.counts.at(thresholds)
        both = corrected_and_naive_rates(self.counts, steps, self.mixture, self.target)
        return measure_curve(find_measure(measure), *both, self._resamples)

    def bounds(
        self,
        *,
        level: float = 0.95,
        band: BandMethod = "clopper-pearson",
        reference: Reference = "positives",
    ) -> Bounds:
        """Return Claesen's bounds of tables, curves and areas: see `pueval.claesen_bounds`.

        Parameters
        ----------
        level, band, reference
            As there. The prior is that of the evaluation; its limits, if it was estimated or
            given as an interval.

        Returns
        -------
        Bounds
        """
        if self.mixture.purity < 1:
            raise InputError(
                f"these bounds take labels as clean; got purity {self.mixture.purity:g}."
            )
        prior: float | tuple[float, float] = self.mixture.prior
        if self.region is not None:
            prior = self.region.prior
        if self.prior_estimate is not None and self.prior_estimate.prior_interval is not None:
            low, high = self.prior_estimate.prior_interval
            prior = (low, cap_prior(high))
        return claesen_bounds(self.counts, prior=prior, level=level, band=band, reference=reference)

    def labeling_bias(self, bias: float) -> dict[str, tuple[float, float]]:
        """Bound every measure for labels that were not drawn at random.

        Parameters
        ----------
        bias : float
            The labeling bias Λ, at least 1: any two positives' chances of being labeled differ by
            at most this factor. 1 is random labeling.

        Returns
        -------
        dict of str to tuple of float
            Sharp bounds of the AUC (known negatives aside) and of every measure at ``threshold``,
            clipped to its range; the prior is taken as exact.
        """
        return labeling_bias_bounds(self.counts, self.mixture, self.target, self.threshold, bias)

    def tipping_point(self, name: str, value: float) -> TippingPoint:
        """Find how wrong labeling or prior would have to be for a conclusion to fail.

        Parameters
        ----------
        name : str
            ``"roc_auc"``, or a measure at ``threshold``.
        value : float
            The value to be reached, for example the one another classifier has.

        Returns
        -------
        TippingPoint
        """
        now = self[name].value
        return tipping_point(
            name, value, now, self.counts, self._corners, self.mixture, self.target, self.threshold
        )

    def ranking(self) -> dict[str, float]:
        """Return the measures that need no prior: see `pueval.ranking.ranking_measures`.

        Returns
        -------
        dict of str to float
        """
        return ranking_measures(self.counts)

    def plot(self, *, measure: str = "f1", title: str | None = None) -> OverviewDisplay:
        """Draw both curves, the distributions of scores, and a measure by threshold.

        Parameters
        ----------
        measure : str, default "f1"
            The measure that is drawn by threshold.
        title : str, optional
            Above the four pictures.

        Returns
        -------
        OverviewDisplay
            With ``figure_``, ``ax_`` and ``frame()``.
        """
        from pueval.displays._overview import OverviewDisplay

        return OverviewDisplay.compute(self, measure=measure, title=title).plot()

    # ------------------------------------------------------------------ as data

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure, a column per field of `Estimate`.

        Returns
        -------
        pandas.DataFrame
        """
        return estimate_frame(self, "Evaluation.frame()")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return presentation.as_data(self)

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "classifier",
        choices: Sequence[OperatingPoint] = (),
        ranking: bool = False,
    ) -> None:
        """Write one self-contained HTML page with sliders: see `pueval.report.write_report`.

        Parameters
        ----------
        path : str or path
            The file to write; an existing one is replaced once the new one is complete.
        name : str
            What the page calls the model.
        choices : sequence of OperatingPoint, optional
            Thresholds to show, from `threshold_for` or `best_cost`.
        ranking : bool, default False
            Whether to show the measures that need no prior, too.
        """
        from pueval.report import write_report

        write_report(
            path,
            {name: self},
            choices={name: choices} if choices else None,
            rankings={name: self.ranking()} if ranking else None,
        )

    # ------------------------------------------------------------------ as text

    def summary(self) -> str:
        """Say in one line what was evaluated and assumed.

        Returns
        -------
        str
        """
        return presentation.summary(self)

    def assumed(self) -> str:
        """Say which prior and purity were used, and whether they were estimated.

        Returns
        -------
        str
        """
        return presentation.assumed(self)

    def __repr__(self) -> str:
        return presentation.as_text(self)

    def _repr_html_(self) -> str:
        from pueval.displays._notebook import notebook_html

        return notebook_html(self)
