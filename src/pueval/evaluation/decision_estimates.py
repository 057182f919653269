"""What an evaluation says about decisions: net benefit, costs, and the risk at a score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pueval.estimates.cost_curve import CostCurve, estimate_cost_curve
from pueval.estimates.decision_curve import (
    DecisionCurve,
    NetBenefit,
    estimate_decision_curve,
    estimate_net_benefit,
)
from pueval.estimates.local_posterior import (
    EvidenceThresholds,
    LocalPosterior,
    estimate_evidence_thresholds,
    estimate_posterior,
)
from pueval.evaluation.model_estimates import ModelEstimates


@dataclass(frozen=True, eq=False, repr=False)
class DecisionEstimates(ModelEstimates):
    """Estimates of one classifier, and those that help to decide."""

    def net_benefit(self, threshold: float, *, standardized: bool = False) -> NetBenefit:
        """Return the net benefit of treating the rows with a score at or above a risk threshold.

        At a risk threshold q, it is π·tpr − (1 − π)·fpr·q/(1 − q), where π is the prevalence: true
        positives minus false positives, each of which costs q/(1 − q) true positives. Scores must
        be probabilities. Assumes random labeling, or known propensities.

        Parameters
        ----------
        threshold : float
            Risk from which you would treat, between 0 and 1. Rows with a score at or above it are
            treated.
        standardized : bool, default False
            Whether to divide by π, the net benefit of a perfect classifier.

        Returns
        -------
        NetBenefit
            Beside it the net benefit of treating everybody, and the difference.

        References
        ----------
        Vickers and Elkin (2006), Decision curve analysis. Kerr et al. (2016), Assessing the
        clinical impact of risk prediction models with decision curves, for the standardized one.

        Examples
        --------
        >>> from pueval import Counts, evaluate
        >>> counts = Counts.from_table([0.8, 0.1], labeled=[80, 20], unlabeled=[200, 700])
        >>> ev = evaluate(counts, prior=1 / 9, threshold=0.5, level=None)
        >>> ev.net_benefit(0.2)
        Net benefit at a risk threshold of 0.2: corrected 0.130, naive 0.030
        Treat all: 0.000; treat none: 0
        Model minus treat all: 0.130
        """
        return estimate_net_benefit(self, threshold, standardized=standardized)

    def decision_curve(
        self, *, thresholds: Iterable[float] | None = None, standardized: bool = False
    ) -> DecisionCurve:
        """Return net benefit by risk threshold, beside treating everybody and treating nobody.

        See `net_benefit` for formula and assumptions.

        Parameters
        ----------
        thresholds : array-like, optional
            Risk thresholds between 0 and 1; by default 0.01 to 0.99.
        standardized : bool, default False
            Whether to divide by the prevalence, the net benefit of a perfect classifier.

        Returns
        -------
        DecisionCurve
            ``better`` has the risk thresholds where the model is better than both defaults, and
            ``significantly_better`` those where the confidence interval says so.

        References
        ----------
        Vickers and Elkin (2006), Decision curve analysis.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> risk = rng.beta(1, 3, size=20_000)
        >>> positive = rng.random(20_000) < risk                 # calibrated
        >>> labeled = positive & (rng.random(20_000) < 0.3)
        >>> ev = evaluate(labeled, risk, prevalence=0.25)
        >>> curve = ev.decision_curve(thresholds=[0.1, 0.2, 0.4, 0.6])
        >>> curve.better                            # at these four thresholds
        ((0.1, 0.6),)
        >>> bool(curve.naive[2] < 0 < curve.low[2])      # naive: treat nobody
        True
        """
        return estimate_decision_curve(self, thresholds, standardized=standardized)

    def cost_curve(self, *, probability_costs: Iterable[float] | None = None) -> CostCurve:
        """Return the least expected cost by the share of the positives in it.

        With the costs C₊ of a missed positive and C₋ of a false positive, and prevalence π where
        the classifier is used, the probability cost is p = π·C₊/(π·C₊ + (1 − π)·C₋). The expected
        cost, divided by that of misclassifying all rows, is p·(1 − tpr) + (1 − p)·fpr. The curve is
        its least value over all thresholds. It holds for every prevalence and all costs, needs no
        probabilities, and the prior only for the correction. Assumes random labeling, or known
        propensities.

        Parameters
        ----------
        probability_costs : array-like, optional
            Probability costs between 0 and 1; by default 0.02 to 0.98.

        Returns
        -------
        CostCurve
            ``value`` is the observed best, which is too low on average. The intervals are corrected
            for choosing the threshold on the same rows, and extended to Wilson's limits there,
            because few positives may be missed at the best threshold.

        References
        ----------
        Drummond and Holte (2006), Cost curves: an improved method for visualizing classifier
        performance.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(20_000) < 0.3
        >>> score = rng.normal(size=20_000) + 2 * positive
        >>> labeled = positive & (rng.random(20_000) < 0.3)
        >>> curve = evaluate(labeled, score, prevalence=0.3).cost_curve(probability_costs=[0.5])
        >>> bool(curve.low[0] < 0.159 < curve.high[0])     # Φ(−1), with a threshold of 1
        True
        >>> bool(curve.naive[0] > curve.high[0])
        True
        """
        return estimate_cost_curve(self, probability_costs)

    def posterior(
        self, score: Any, *, window: float = 0.03, prevalence: float | None = None
    ) -> LocalPosterior:
        """Return the probability of being positive at a score, and the likelihood ratio.

        Among the rows near the score, the share of positives is π·γ/θ, where π is the prevalence,
        γ the share of the positives and θ the share of all rows that are there. The likelihood
        ratio is γ/η, with η the share of the negatives. Scores can have any scale. Assumes random
        labeling, or known propensities.

        Parameters
        ----------
        score : float or array-like
            Scores at which to estimate.
        window : float, default 0.03
            Share of the rows of the target that are near a score, half of them on either side; at
            least 100 rows.
        prevalence : float, optional
            Share of positives in the population to which the posterior belongs, if it is not the
            target: posterior odds are the likelihood ratio times the odds of the prevalence.

        Returns
        -------
        LocalPosterior

        References
        ----------
        Pejaver et al. (2022), Calibration of computational tools for missense variant
        pathogenicity classification, for windows and lower limits of local posteriors.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(20_000) < 0.2
        >>> score = rng.normal(size=20_000) + 2 * positive
        >>> labeled = positive & (rng.random(20_000) < 0.3)
        >>> found = evaluate(labeled, score, prevalence=0.2).posterior([1, 2])
        >>> truth = np.array([0.200, 0.649])
        >>> bool(np.all((found.low < truth) & (truth < found.high)))
        True
        >>> found.naive.round(2)
        array([0.06, 0.21])
        """
        return estimate_posterior(self, score, window=window, prevalence=prevalence)

    def evidence_thresholds(
        self, *, very_strong: float = 350.0, window: float = 0.03
    ) -> EvidenceThresholds:
        """Return the scores that are evidence of a given strength, as in clinical genetics.

        Evidence is very strong from a likelihood ratio of ``very_strong`` on, strong from its
        square root (18.7), moderate from its fourth root (4.33) and supporting from its eighth
        root (2.08). A score is evidence for positives if the lower confidence limit of the local
        likelihood ratio (see `posterior`) reaches this at the score and at all higher ones; for
        negatives, if the upper confidence limit stays below the reciprocal at all lower scores.
        Assumes random labeling, or known propensities.

        Parameters
        ----------
        very_strong : float, default 350
            Likelihood ratio of very strong evidence. Use 350 for a prior probability of .10, and
            1124 for .0441.
        window : float, default 0.03
            Share of the rows of the target that are near a score; at least 100 rows.

        Returns
        -------
        EvidenceThresholds

        References
        ----------
        Tavtigian et al. (2018), Modeling the ACMG/AMP variant classification guidelines as a
        Bayesian classification framework. Pejaver et al. (2022), Calibration of computational
        tools for missense variant pathogenicity classification.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(50_000) < 0.2
        >>> score = rng.normal(size=50_000) + 2 * positive      # likelihood ratio exp(2·score − 2)
        >>> labeled = positive & (rng.random(50_000) < 0.3)
        >>> found = evaluate(labeled, score, prevalence=0.2).evidence_thresholds()
        >>> found.strength[2], round(float(found.score[2]), 1)      # from 1.73 on
        ('moderate', 1.8)
        """
        return estimate_evidence_thresholds(self, very_strong=very_strong, window=window)
