"""Best bin: the share of unlabeled rows in the highest scores that labeled rows fill best."""

from __future__ import annotations

from numbers import Real

import numpy as np

from pueval._checks import check_fraction
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._reduced import reduced, tails
from pueval.priors._score_estimator import ScorePriorEstimator


class BestBin(ScorePriorEstimator):
    """Best-bin estimate of the prior.

    With q_L and q_U the shares of labeled and of unlabeled rows at or above a threshold, the
    threshold is chosen that minimizes ::

        q_U/q_L + (1 + gamma)·(√(ln(4/delta)/2n_U) + √(ln(4/delta)/2n_L)) / q_L

    and the estimate is q_U/q_L there. The second term keeps away from thresholds that
    few rows reach, where the ratio is mostly noise.

    It assumes clean labels that are a random draw from the positives, and scores above which
    there are (almost) only positives. Where negatives are found at every threshold, the
    estimate is too large.

    Parameters
    ----------
    level : float, default 0.95
        Confidence level of ``prior_interval_``.
    delta : float, default 0.1
        Probability with which the bound that is minimized may fail.
    gamma : float, default 0.01
        How much more than the bound the second term weighs; not negative.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        1, since labels are taken as clean.
    prior_interval_ : tuple of float
        Limits from bands around both distributions. By the inequality of Dvoretzky, Kiefer and
        Wolfowitz, q_L and q_U are known at all thresholds at once up to
        e = √(ln(4/(1 − level))/2n). The upper limit is the least (q_U + e_U)/(q_L − e_L). It
        needs no assumption about the scores, and it also holds for prior/purity. The lower
        limit is the estimate minus (e_U + e_L)/q_L at the chosen threshold. It leaves room for
        negatives above the threshold, but not for any number of them: where classes overlap
        everywhere it may fail. If the bands leave it open whether the scores separate
        labeled from unlabeled rows at all, the interval is (0, 1).
    purity_interval_ : None
    threshold_ : float
        The chosen threshold.

    References
    ----------
    Garg, Wu, Smola, Balakrishnan and Lipton (2021), Mixture proportion estimation and PU
    learning: a modern approach. Massart (1990) for the constant in the bands.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._best_bin import BestBin
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> score = np.r_[np.linspace(0.5, 1, 500),                           # labeled
    ...               np.linspace(0.5, 1, 400), np.linspace(0, 0.5, 1600)]  # 20 % positives
    >>> best = BestBin().fit(score, y)
    >>> round(best.prior_, 3)
    0.2
    >>> tuple(round(limit, 2) for limit in best.prior_interval_)
    (0.1, 0.25)
    """

    threshold_: float

    def __init__(self, level: float = 0.95, *, delta: float = 0.1, gamma: float = 0.01) -> None:
        self.level = level
        self.delta = delta
        self.gamma = gamma

    def _estimate(self, counts: Counts) -> None:
        check_fraction("level", self.level)
        check_fraction("delta", self.delta)
        gamma: object = self.gamma
        if not isinstance(gamma, Real) or not 0 <= self.gamma < np.inf:
            raise InputError(f"gamma must be a number that is not negative; got {gamma!r}.")
        table = reduced(counts)
        threshold, labeled, unlabeled = tails(table)
        n_labeled, n_unlabeled = table.n_labeled, table.n_unlabeled

        doubt = _band(self.delta, n_labeled) + _band(self.delta, n_unlabeled)
        best = int(np.argmin((unlabeled + (1 + self.gamma) * doubt) / labeled))
        # Scores that rank labeled rows below unlabeled ones have ratios above 1.
        self.prior_ = float(min(unlabeled[best] / labeled[best], 1.0))
        self.threshold_ = float(threshold[best])

        band_labeled = _band(1 - self.level, n_labeled)
        band_unlabeled = _band(1 - self.level, n_unlabeled)
        sure = labeled > band_labeled
        above = (unlabeled[sure] + band_unlabeled) / (labeled[sure] - band_labeled)
        upper = float(np.min(above, initial=1.0))
        if upper >= 1:
            self.prior_interval_ = (0.0, 1.0)
            return
        lower = self.prior_ - (band_unlabeled + band_labeled) / labeled[best]
        # Another threshold may set an upper limit below the estimate, which would make no sense.
        self.prior_interval_ = (float(max(lower, 0.0)), max(upper, self.prior_))


def _band(error: float, n: float) -> float:
    """Half width of one of two bands that hold together except with probability ``error``."""
    return float(np.sqrt(np.log(4 / error) / (2 * n)))
