"""Measures that some fields report: calibration, the top of the list, means of any function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pueval._typing import Array
from pueval.evaluation.calibration import Calibration, calibrate
from pueval.evaluation.expectation import Expectation, expect
from pueval.evaluation.gains_curve import GainsCurve, gains_curve
from pueval.evaluation.model_estimates import ModelEstimates
from pueval.evaluation.top_rows import TopRows, evaluate_top


@dataclass(frozen=True, eq=False, repr=False)
class FieldEstimates(ModelEstimates):
    """Estimates of one classifier, and those that only some fields need."""

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
