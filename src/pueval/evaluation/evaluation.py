"""Evaluation: the corrected performance of one classifier, and everything derived from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pueval.core.curves import PrecisionRecallCurve, RocCurve, correct_roc_from_corners
from pueval.core.measures import find_measure
from pueval.core.mixture import NAIVE, Mixture
from pueval.errors import InputError
from pueval.evaluation import evaluation_text
from pueval.evaluation.assumption_text import prior_and_purity
from pueval.evaluation.bias_bounds import BiasBounds, bound_measures
from pueval.evaluation.estimates import Estimate, OperatingPoint, estimate_frame
from pueval.evaluation.model_estimates import ModelEstimates
from pueval.ranking import ranking_measures
from pueval.sensitivity.bounds import Bounds, claesen_bounds
from pueval.sensitivity.grid import SensitivityGrid, sensitivity_grid
from pueval.sensitivity.hidden_positives import Reference
from pueval.sensitivity.labeling_bias import BiasedLabeling, check_bias
from pueval.sensitivity.rank_band import BandMethod
from pueval.sensitivity.tipping_point import TippingPoint, tipping_point
from pueval.thresholds.measure_curve import MeasureCurve, curve_thresholds, measure_curve
from pueval.uncertainty.bands import BandKind, CurveBand, precision_recall_band, roc_band
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples

if TYPE_CHECKING:
    import os

    import pandas as pd

    from pueval.displays import OverviewDisplay


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ModelEstimates):
    """Corrected performance of one classifier; made by `evaluate`.

    It maps names of measures to estimates: ``ev["f1"].value`` is the corrected F1,
    ``ev["f1"].naive`` the one that counts unlabeled rows as negative. ``"roc_auc"`` and
    ``"average_precision"`` are areas; all other measures belong to ``ev.threshold``.

    Attributes
    ----------
    counts : Counts
        The data.
    target : {"population", "unlabeled"}
        Population that was evaluated.
    threshold : float
        Threshold at which threshold-based measures are computed.
    warnings : tuple of str
        Problems that were found, such as a prior that contradicts the ranking.
    assumptions : Assumptions
        Prior and purity, and how they are known: exactly, as an interval or as an estimate.
    resampling : IntervalOptions or None
        Confidence level, number of resamples, random seed and kind of variance; None without
        intervals.
    operating_point : OperatingPoint
        Every measure at ``threshold``.
    threshold_chosen : bool
        Whether the threshold was chosen on these rows; intervals account for the choice.
    splits : Splits or None
        Repeats of the cross-validation, if made by `evaluate_cv`.
    """

    # ------------------------------------------------------------------ curves

    def roc(self, *, naive: bool = False) -> RocCurve:
        """Return the ROC curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        RocCurve
            Its ``area`` is, for the corrected curve, Jain's indirect estimate of the AUC.
        """
        if naive:
            return correct_roc_from_corners(self.counts, self._corners, NAIVE)
        return correct_roc_from_corners(
            self.counts, self._corners, self.mixture, self.target, rates=self._rates[0]
        )

    def roc_area(self) -> Estimate:
        """Return the area under the corrected ROC curve: another estimate of the AUC.

        ``ev["roc_auc"]`` corrects the naive AUC directly. This is the indirect estimate of Jain et
        al.: the area under the curve of `roc`, which is monotone and stays in [0, 1]. With few
        labeled rows, noisy labels or an AUC above 0.9 its error is smaller, down to half; for weak
        classifiers it is somewhat too high. The interval comes from resampled rates, made
        monotone in the same way. Assumes random labeling.

        Returns
        -------
        Estimate
            Without an interval if the evaluation was made with ``level=None``.

        References
        ----------
        Jain, White and Radivojac (2017), algorithm 1.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat([1, 0], [100, 900])
        >>> positive = rng.random(1000) < np.where(y == 1, 1.0, 0.3)
        >>> score = rng.normal(size=1000) + 2 * positive
        >>> ev = evaluate(y, score, prior=0.3, threshold=1)
        >>> direct, indirect = ev["roc_auc"], ev.roc_area()
        >>> bool(indirect.high - indirect.low < direct.high - direct.low)
        True
        """
        interval = Interval()
        if self._resamples is not None:
            interval = self._resamples.roc_area_interval(self._roc_area)
        area = self._roc_area(self.mixture)
        return Estimate.of(area, self["roc_auc"].naive, interval)

    def _roc_area(self, mixture: Mixture) -> float:
        return correct_roc_from_corners(self.counts, self._corners, mixture, self.target).area

    def pr(self, *, naive: bool = False) -> PrecisionRecallCurve:
        """Return the precision-recall curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        PrecisionRecallCurve
            Its ``area`` is the average precision.
        """
        return self._pr[naive]

    def roc_band(self, kind: BandKind = "pointwise") -> CurveBand:
        """Return the confidence band of the ROC curve.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}
            Coverage of the band: at each false positive rate, or of the whole curve.

        Returns
        -------
        CurveBand
        """
        return roc_band(self.roc(), self._resamples_for("roc_band"), kind)

    def pr_band(self, kind: BandKind = "pointwise") -> CurveBand:
        """Return the confidence band of the precision-recall curve.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}
            Coverage of the band: at each recall, or of the whole curve.

        Returns
        -------
        CurveBand
            It starts at the recall at which five labeled rows are predicted positive.
        """
        return precision_recall_band(self.pr(), self._resamples_for("pr_band"), kind)

    def _resamples_for(self, method: str) -> Resamples:
        if self._resamples is None:
            raise InputError(
                f"{method}() needs intervals, but this evaluation was made with level=None. "
                "Evaluate with a level."
            )
        return self._resamples

    def by_threshold(self, measure: str) -> MeasureCurve:
        """Return a measure at many thresholds, as in figure 1 of Ramola et al. (2019).

        Parameters
        ----------
        measure : str
            Name of a measure at a threshold, for example ``"f1"``.

        Returns
        -------
        MeasureCurve
            The measure at about a thousand quantiles of the scores, with intervals at some of
            them. The thresholds include the best ones (corrected and naive) and ``threshold``.
        """
        best = self.best(measure)
        thresholds = curve_thresholds(
            self.counts, self._resamples, best.threshold, best.naive_threshold, self.threshold
        )
        return measure_curve(find_measure(measure), *self._rates_at(thresholds), self._resamples)

    # ------------------------------------------------------------------ sensitivity

    def sensitivity(
        self, measure: str, *, priors: Any = None, purities: Any = None
    ) -> SensitivityGrid:
        """Tabulate a measure over prior × purity.

        Parameters
        ----------
        measure : str
            ``"roc_auc"``, ``"average_precision"`` or a measure at ``threshold``.
        priors, purities : array-like, optional
            Values of the grid; by default around those of this evaluation.

        Returns
        -------
        SensitivityGrid
            It marks the region that the ranking contradicts.
        """
        evaluated = (self.counts, self.mixture, self.target, self.threshold)
        return sensitivity_grid(measure, *evaluated, priors=priors, purities=purities)

    def bounds(
        self,
        *,
        level: float = 0.95,
        band: BandMethod = "clopper-pearson",
        reference: Reference = "positives",
    ) -> Bounds:
        """Return Claesen's bounds of every measure, the tables, curves and areas.

        Parameters
        ----------
        level, band, reference
            As for `pueval.claesen_bounds`. The prior is that of this evaluation, with its
            interval if it has one; target and threshold are those of this evaluation.

        Returns
        -------
        Bounds
            ``bounds["f1"].low`` and ``bounds["f1"].high`` bound the F1 at ``threshold``.
        """
        if self.mixture.purity < 1:
            raise InputError(f"these bounds need clean labels; got purity {self.mixture.purity:g}.")
        prior = self.assumptions.prior_range or self.mixture.prior
        return claesen_bounds(
            self.counts,
            prior=prior,
            level=level,
            band=band,
            reference=reference,
            target=self.target,
            threshold=self.threshold,
        )

    def labeling_bias(self, bias: float) -> BiasBounds:
        """Bound every measure for labels that are not a random sample of the positives.

        Parameters
        ----------
        bias : float
            Labeling bias Λ, at least 1: the largest ratio between the labeling probabilities of
            two positives. 1 is random labeling.

        Returns
        -------
        BiasBounds
            For the areas and every measure at ``threshold``: the smallest and the largest value
            that the rows allow, and a confidence interval of the true value.

        Notes
        -----
        The bounds hold for any labeling within the bias. They are sharp: labelings exist that
        attain them, with no more positives than rows at any score. Scores with few labeled rows
        are merged with their neighbors, and their limit is relaxed by what chance explains. Bounds
        of the average precision are sharp if precision falls as the threshold is lowered.

        The interval contains the true value with probability ``level`` or more if the bias is
        large enough, for the least favorable labeling, too. It includes the sampling error of the
        bounds, and the uncertainty of the prior as intervals of this evaluation do.

        With ``target="unlabeled"``, the bias is the largest ratio between the probabilities of two
        unlabeled positives to be in the labeled sample. With noisy labels, wrongly labeled rows
        are a random sample of the negatives.

        References
        ----------
        Imbens and Manski (2004), Confidence intervals for partially identified parameters.
        Stoye (2009), More on confidence intervals for partially identified parameters.

        Examples
        --------
        >>> from pueval import Counts, evaluate
        >>> counts = Counts.from_table([3, 2, 1], labeled=[10, 10, 20], unlabeled=[9, 100, 1000])
        >>> ev = evaluate(counts, prior=20 / 1109, threshold=2)
        >>> ev.labeling_bias(2)["recall"]
        0.333 to 0.658 (0.218 to 0.785)
        """
        return bound_measures(
            self._biased_labeling(), check_bias(bias), self._resamples, self._choice_margins
        )

    def _biased_labeling(self) -> BiasedLabeling:
        self.counts._refuse_propensities("a bound for a labeling bias")
        return BiasedLabeling(self.counts, self.mixture, self.target, self.threshold)

    def _choice_margins(self, name: str) -> tuple[float, float]:
        """Return what choosing the threshold on these rows adds to both sides of an interval."""
        if not self.threshold_chosen or self._resamples is None or name in self._areas:
            return 0.0, 0.0
        fixed = self._resamples.interval_at(find_measure(name), self.threshold)
        chosen = self[name]
        margins = (fixed.low - chosen.low, chosen.high - fixed.high)
        below, above = (max(margin, 0.0) if math.isfinite(margin) else 0.0 for margin in margins)
        return below, above

    def tipping_point(self, name: str, value: float) -> TippingPoint:
        """Find how wrong the labeling or the prior must be to overturn a conclusion.

        Parameters
        ----------
        name : str
            ``"roc_auc"``, ``"average_precision"`` or a measure at ``threshold``.
        value : float
            Value at which the conclusion changes, for example that of another classifier.

        Returns
        -------
        TippingPoint
        """
        return tipping_point(name, value, self._biased_labeling())

    def ranking(self) -> dict[str, float]:
        """Return the measures that need no prior: see `pueval.ranking.ranking_measures`.

        Returns
        -------
        dict of str to float
        """
        return ranking_measures(self.counts)

    # ------------------------------------------------------------------ output

    def plot(self, *, measure: str = "f1", title: str | None = None) -> OverviewDisplay:
        """Draw both curves, the score distributions, and a measure by threshold.

        Parameters
        ----------
        measure : str, default "f1"
            Measure to draw by threshold.
        title : str, optional
            Title of the figure.

        Returns
        -------
        OverviewDisplay
            Display with ``figure_``, ``axes_`` and ``frame()``.
        """
        from pueval.displays._overview import OverviewDisplay

        return OverviewDisplay.compute(self, measure=measure, title=title).plot()

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure and a column per field of `Estimate`.

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
        return evaluation_text.as_data(self)

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "classifier",
        choices: Sequence[OperatingPoint] = (),
        ranking: bool = False,
    ) -> None:
        """Write a self-contained page with sliders: see `pueval.report.write_report`.

        Parameters
        ----------
        path : str or path
            File to write; an existing file is replaced.
        name : str
            Name of the model on the page.
        choices : sequence of OperatingPoint, optional
            Chosen thresholds to show, from `threshold_for`.
        ranking : bool, default False
            Whether to show the measures that need no prior.
        """
        from pueval.report import write_report

        write_report(
            path,
            {name: self},
            choices={name: choices} if choices else None,
            rankings={name: self.ranking()} if ranking else None,
        )

    def summary(self) -> str:
        """Return what was evaluated and assumed, in one line.

        Returns
        -------
        str
        """
        return evaluation_text.summary(self)

    def assumed(self) -> str:
        """Return the prior and purity that were used, and whether they were estimated.

        Returns
        -------
        str
        """
        return prior_and_purity(self)

    def __repr__(self) -> str:
        return evaluation_text.as_text(self)

    def _repr_html_(self) -> str:
        from pueval.displays._notebook import notebook_html

        return notebook_html(self)
