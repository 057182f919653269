"""Sensitivity of the estimates of a classifier to prior, purity and random labeling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pueval.core.measures import find_measure
from pueval.errors import InputError
from pueval.estimates.bias_bounds import BiasBounds, bound_measures
from pueval.evaluation.field_estimates import FieldEstimates
from pueval.sensitivity.bounds import Bounds, claesen_bounds
from pueval.sensitivity.grid import SensitivityGrid, sensitivity_grid
from pueval.sensitivity.hidden_positives import Reference
from pueval.sensitivity.labeling_bias import BiasedLabeling, check_bias
from pueval.sensitivity.prior_slope import prior_slope
from pueval.sensitivity.rank_band import BandMethod
from pueval.sensitivity.tipping_point import TippingPoint, tipping_point


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityEstimates(FieldEstimates):
    """Estimates of one classifier, and their sensitivity to the assumptions."""

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

    def prior_slope(self, name: str) -> float:
        """Return the slope of a measure in the prior: its change per unit of prior.

        An error of .01 in the prior changes the measure by about .01 times the slope. With u and
        ℓ the shares of unlabeled and labeled rows predicted positive, clean labels and no known
        negatives, the slopes are

        - recall: 0,
        - false positive rate: (u − ℓ) / (1 − prior)²,
        - precision, for the unlabeled rows as target: ℓ / u,
        - ROC AUC: (AUC − ½) / (1 − prior).

        Purity and threshold stay as they are. The slope is that of values before they are clipped.

        Parameters
        ----------
        name : str
            ``"roc_auc"`` or a measure at ``threshold``.

        Returns
        -------
        float

        References
        ----------
        Claesen, Davis, De Smet and De Moor (2015), equations 15 and 19 to 21. The second of these
        slopes lacks a factor 1/|U| there.

        Examples
        --------
        >>> from pueval import Counts, evaluate
        >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
        >>> ev = evaluate(counts, prior=0.1, threshold=2, target="unlabeled")
        >>> round(ev.prior_slope("precision"), 9)    # 0.8 / (200/900)
        3.6
        >>> round(ev.prior_slope("false_positive_rate"), 3)
        -0.713
        """
        return prior_slope(name, self.counts, self.mixture, self.target, self.threshold)

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
        bounds, and the uncertainty of the prior as intervals of this evaluation do. That of an
        estimated prior assumes random labeling: with a bias, the prior can be up to Λ times larger
        or smaller than the estimate. Give a prior that you know, or an interval, if you can.

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
        """Return how much the choice of the threshold widens an interval on either side."""
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
