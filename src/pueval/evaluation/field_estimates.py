"""Measures of some fields: calibration, means of functions, the top of the list, species models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pueval._typing import Array
from pueval.core.field_measures import FAMILIES, PRESENCE_TITLES, family_members
from pueval.errors import InputError
from pueval.evaluation.calibration import Calibration, calibrate
from pueval.evaluation.decision_curve import (
    DecisionCurve,
    NetBenefit,
    estimate_decision_curve,
    estimate_net_benefit,
)
from pueval.evaluation.expectation import Expectation, expect
from pueval.evaluation.gains_curve import GainsCurve, gains_curve
from pueval.evaluation.local_posterior import (
    EvidenceThresholds,
    LocalPosterior,
    estimate_evidence_thresholds,
    estimate_posterior,
)
from pueval.evaluation.measure_family import MeasureFamily
from pueval.evaluation.model_estimates import ModelEstimates
from pueval.evaluation.presence import Presence, evaluate_presence
from pueval.evaluation.top_rows import TopRows, evaluate_top


@dataclass(frozen=True, eq=False, repr=False)
class FieldEstimates(ModelEstimates):
    """Estimates of one classifier, and those that only some fields need."""

    def family(self, *names: str) -> MeasureFamily:
        """Return the measures that a field reports, naive and corrected, with intervals.

        Parameters
        ----------
        *names : str
            Families, or single measures of families. ``"probability"``: Brier score, log loss and
            skill scores, of scores in [0, 1]. ``"top"``: enrichment, BEDROC, NDCG, partial AUC and
            others. ``"presence"``: see `presence`.

        Returns
        -------
        MeasureFamily
            Measures of probabilities and of the top are also found by their names:
            ``ev["brier_score_loss"]``.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> score = rng.beta(1, 3, size=20_000)
        >>> positive = rng.random(20_000) < score
        >>> labeled = positive & (rng.random(20_000) < 0.4)
        >>> ev = evaluate(labeled, score, prevalence=0.25, level=None)
        >>> ev.family("brier_score_loss", "log_loss")
        Measures: brier_score_loss, log_loss
                     naive  corrected
        Brier score  0.121      0.151
        Log loss     0.385      0.462
        """
        if not names:
            raise InputError(f"name at least one family: {', '.join(FAMILIES)}.")
        members = family_members(names)
        level = None if self.resampling is None else self.resampling.level
        by_presence = PRESENCE_TITLES.keys() & members
        presence = self.presence() if by_presence else {}
        estimates = {
            name: presence[name] if name in by_presence else self[name] for name in members
        }
        return MeasureFamily(names, estimates, level)

    def calibration(self, *, bins: int = 10) -> Calibration:
        """Evaluate whether scores are the probabilities of being positive.

        In a bin of scores, the share of positives is prevalence·γ/θ, where γ is the share of the
        positives and θ the share of all rows that fall into the bin. Slope and intercept are those
        of a logistic regression of the class on the log-odds of the score. Assumes random
        labeling, or known propensities.

        Parameters
        ----------
        bins : int, default 10
            Number of bins, with about equally many rows.

        Returns
        -------
        Calibration

        References
        ----------
        Cox (1958), Two further applications of a model for binary regression, for slope and
        intercept. Van Calster et al. (2019), Calibration: the Achilles heel of predictive
        analytics.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> score = rng.beta(1, 3, size=20_000)
        >>> positive = rng.random(20_000) < score                 # calibrated
        >>> labeled = positive & (rng.random(20_000) < 0.4)
        >>> calibration = evaluate(labeled, score, prevalence=0.25).calibration()
        >>> slope = calibration.slope
        >>> slope.low < 1 < slope.high, slope.naive < 0.9
        (True, True)
        """
        return calibrate(self, bins)

    def expectation(self, function: Callable[[Array], Any]) -> Expectation:
        """Return the mean of a function of the score over positives, negatives and all rows.

        Any additive measure is a formula of such means. The mean over labeled rows is
        purity·E(f | positive) + (1 − purity)·E(f | negative), that over unlabeled rows the same
        with the prior in the place of the purity; both equations are solved for the means by
        class. Assumes random labeling, or known propensities.

        Parameters
        ----------
        function : callable
            From an array of scores to an array of the same shape with finite numbers.

        Returns
        -------
        Expectation

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(20_000) < 0.3
        >>> score = rng.normal(size=20_000) + 2 * positive
        >>> labeled = positive & (rng.random(20_000) < 0.2)
        >>> ev = evaluate(labeled, score, prevalence=0.3)
        >>> mean = ev.expectation(lambda score: score)
        >>> round(mean.positives.value, 1), round(abs(mean.negatives.value), 1)
        (2.0, 0.0)
        """
        return expect(self.counts, self.mixture, self.target, self._resamples, function)

    def presence(
        self,
        *,
        share: float = 0.9,
        omission: float = 0.05,
        n_windows: int = 100,
        window: float | None = None,
    ) -> Presence:
        """Evaluate a species model with the measures of presence-only data.

        In a window of scores, the ratio P/E is the share of the presences (labeled rows) divided by
        that of the background (the target). The Boyce index is the correlation of P/E with the
        score. Its order, and so the index, does not depend on how many unseen presences the
        background holds. Only TSS needs the prior; minimal predicted area, AUC ratio and F_pb need
        it if labels are noisy. Assumes random labeling. With separately collected presences, use
        ``target="unlabeled"`` in `evaluate`.

        Parameters
        ----------
        share : float, default 0.9
            Share of the presences in the minimal predicted area.
        omission : float, default 0.05
            Largest share of omitted presences for the AUC ratio.
        n_windows : int, default 100
            Number of windows of the Boyce index.
        window : float, optional
            Width of the windows; by default a tenth of the range of the background's scores.

        Returns
        -------
        Presence

        Notes
        -----
        Windows are fixed for the intervals: they cover the index of the true ratios in these
        windows. The observed Boyce index is too close to 0, because noisy ratios are out of order;
        its interval allows for that. See the functions in `pueval.metrics` for formulas.

        References
        ----------
        Hirzel et al. (2006), Evaluating the ability of habitat suitability models to predict
        species presences. Liu et al. (2024), Improving the estimation of the Boyce index using
        statistical smoothing methods.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> score = np.r_[rng.beta(3, 2, 200), rng.beta(2, 3, 5000)]
        >>> y = np.repeat([1, 0], [200, 5000])
        >>> presence = evaluate(y, score, prior=0.1, target="unlabeled").presence()
        >>> index = presence["boyce_index"]
        >>> index.low < 1 <= index.high
        True
        """
        return evaluate_presence(self, share, omission, n_windows, window)

    def top(self, k: float | None = None, *, share: float | None = None) -> TopRows:
        """Evaluate the rows with the highest scores: an alert queue, or compounds to test.

        Among the first k of N rows are the share γ of the positives. Their number is π·N·γ, with
        the prevalence π; precision, F1 and others follow from it. Average precision at k is
        Σ precision(r)·positive(r) over the ranks r ≤ k, divided by the smaller of k and the number
        of positives. NDCG has the discount 1/log₂(r + 1). Tied rows count by the expectation over
        their orders. Intervals are for the first rows of another sample of as many rows. Assumes
        random labeling, or known propensities.

        Parameters
        ----------
        k : int, optional
            Number of first rows of the target. If rows have importance weights, it is a sum of
            weights.
        share : float, optional
            Their share of the target instead of their number, in (0, 1]; rounded up to a row.

        Returns
        -------
        TopRows

        References
        ----------
        Järvelin and Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(20_000) < 0.1
        >>> score = rng.normal(size=20_000) + 2 * positive
        >>> labeled = positive & (rng.random(20_000) < 0.2)
        >>> top = evaluate(labeled, score, prevalence=0.1).top(500)
        >>> precision = top["precision"]
        >>> true_precision = positive[np.argsort(-score)[:500]].mean()
        >>> bool(precision.low < true_precision < precision.high), precision.naive < 0.25
        (True, True)
        >>> top["recall"].value == top["recall"].naive          # needs no prior
        True
        """
        return evaluate_top(self, k, share)

    def gains(self) -> GainsCurve:
        """Return the cumulative gains: the share of the positives among the first rows.

        Lift is recall divided by the share of rows. Both need no prior if labels are clean and
        random; what a perfect ranking could reach does. Assumes random labeling, or known
        propensities.

        Returns
        -------
        GainsCurve

        References
        ----------
        Vuk and Curk (2006), ROC curve, lift chart and calibration plot.

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(20_000) < 0.1
        >>> score = rng.normal(size=20_000) + 2 * positive
        >>> labeled = positive & (rng.random(20_000) < 0.2)
        >>> gains = evaluate(labeled, score, prevalence=0.1).gains()
        >>> tenth = np.searchsorted(gains.share, 0.1)
        >>> round(float(gains.recall[tenth]), 1), round(float(gains.lift[tenth]))
        (0.6, 6)
        """
        return gains_curve(self)

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
