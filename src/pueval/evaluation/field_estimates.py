"""Measures of some fields: calibration, means of functions, the top of the list, species models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pueval._typing import Array
from pueval.errors import InputError
from pueval.estimates.calibration import Calibration, calibrate
from pueval.estimates.expectation import Expectation, expect
from pueval.estimates.gains_curve import GainsCurve, gains_curve
from pueval.estimates.measure_family import MeasureFamily
from pueval.estimates.presence import Presence, evaluate_presence
from pueval.estimates.top_rows import TopRows, evaluate_top
from pueval.evaluation.decision_estimates import DecisionEstimates
from pueval.families.field_measures import FAMILIES, family_members
from pueval.families.presence_family import AREA_SHARE, N_WINDOWS, OMISSION


@dataclass(frozen=True, eq=False, repr=False)
class FieldEstimates(DecisionEstimates):
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
            Its measures are also found by their names: ``ev["brier_score_loss"]``.

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
        self._estimate_together(members)
        return MeasureFamily(names, {name: self[name] for name in members}, self._level)

    def calibration(self, *, bins: int = 10) -> Calibration:
        """Evaluate whether scores are the probabilities of being positive.

        In a bin of scores, the share of positives is prevalence·γ/θ, where γ is the share of the
        positives and θ the share of all rows that fall into the bin. Slope and intercept are those
        of a logistic regression of the class on the log-odds of the score. Assumes random
        labeling, or known propensities.

        Parameters
        ----------
        bins : int, default 10
            Number of bins, 2 to 200, with about equally many rows.

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
        share: float = AREA_SHARE,
        omission: float = OMISSION,
        n_windows: int = N_WINDOWS,
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
            Number of first rows of the target. If rows have importance weights w, ranks count
            rows of weight Σw²/Σw, so all rows together are as many as their effective number. So
            the unit of the weights does not matter, and equal weights are as good as none.
        share : float, optional
            Their share of the target instead of their number, in (0, 1]; rounded up to a row. With
            importance weights, it is a share of the weight.

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
