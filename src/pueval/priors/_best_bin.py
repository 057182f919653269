"""BestBin: the prior as a ratio of upper-tail shares at a well-chosen threshold."""

from __future__ import annotations

from numbers import Real

import numpy as np

from pueval._checks import check_fraction
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._estimator_bases import ScorePriorEstimator
from pueval.priors._labeled_unlabeled_counts import LabeledUnlabeledCounts


class BestBin(ScorePriorEstimator):
    """Best-bin estimate of the prior.

    Let q_L and q_U be the shares of labeled positives and of unlabeled rows at or above a
    threshold. The estimator chooses the threshold that minimizes ::

        q_U/q_L + (1 + gamma)·(√(ln(4/delta)/2n_U) + √(ln(4/delta)/2n_L)) / q_L

    and estimates the prior by q_U/q_L at that threshold. The second term penalizes thresholds with
    few rows above them, where the ratio is mostly noise.

    The estimator assumes clean labels, random labeling, and scores above which (almost) all rows
    are positive. If there are negatives at every threshold, the estimate is too large in large
    samples.

    Parameters
    ----------
    level : float, default 0.95
        Confidence level of ``prior_interval_``, in (0, 1).
    delta : float, default 0.1
        Error probability of the bound that is minimized, in (0, 1).
    gamma : float, default 0.01
        Extra weight of the penalty, at least 0.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        Always 1: the estimator assumes clean labels.
    prior_interval_ : tuple of float
        Confidence interval from bands around both distribution functions. By the
        Dvoretzky–Kiefer–Wolfowitz inequality, q_L and q_U are within
        e = √(ln(4/(1 − level))/2n) of the truth at all thresholds simultaneously. The upper end is
        the smallest (q_U + e_U)/(q_L − e_L); it needs no assumption about the scores and also
        holds for prior/purity. The lower end is the estimate minus (e_U + e_L)/q_L at the chosen
        threshold; it allows for some negatives above the threshold, but may fail if the classes
        overlap everywhere. If the bands are compatible with scores that do not separate at all,
        the interval is (0, 1).
    purity_interval_ : None
    threshold_ : float
        Chosen threshold.
    ratio_error_ : float
        Standard error of the ratio q_U/q_L at that threshold.

    References
    ----------
    Garg, Wu, Smola, Balakrishnan and Lipton (2021), Mixture proportion estimation and PU
    learning: a modern approach. Massart (1990) for the constant in the bands.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import BestBin
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> score = np.r_[np.linspace(0.5, 1, 500),                           # labeled
    ...               np.linspace(0.5, 1, 400), np.linspace(0, 0.5, 1600)]  # 20% positives
    >>> estimator = BestBin().fit(score, y)
    >>> round(estimator.prior_, 3)
    0.2
    >>> tuple(round(end, 2) for end in estimator.prior_interval_)
    (0.1, 0.25)
    """

    threshold_: float
    ratio_error_: float

    def __init__(self, level: float = 0.95, *, delta: float = 0.1, gamma: float = 0.01) -> None:
        self.level = level
        self.delta = delta
        self.gamma = gamma

    def _estimate(self, counts: Counts) -> None:
        check_fraction("level", self.level)
        check_fraction("delta", self.delta)
        gamma: object = self.gamma
        if not isinstance(gamma, Real) or not 0 <= self.gamma < np.inf:
            raise InputError(f"gamma must be a number of at least 0; got {gamma!r}.")
        table = LabeledUnlabeledCounts.from_counts(counts)
        threshold, labeled, unlabeled = table.upper_tails()
        n_labeled, n_unlabeled = table.n_labeled, table.n_unlabeled

        penalty = _half_width(self.delta, n_labeled) + _half_width(self.delta, n_unlabeled)
        best = int(np.argmin((unlabeled + (1 + self.gamma) * penalty) / labeled))
        # The ratio exceeds 1 if labeled positives score below unlabeled rows.
        self.prior_ = float(min(unlabeled[best] / labeled[best], 1.0))
        self.threshold_ = float(threshold[best])
        variances = (
            (1 - labeled[best]) / (n_labeled * labeled[best]),
            (1 - unlabeled[best]) / max(n_unlabeled * unlabeled[best], 1.0),
        )
        self.ratio_error_ = float(self.prior_ * np.sqrt(sum(variances)))

        labeled_band = _half_width(1 - self.level, n_labeled)
        unlabeled_band = _half_width(1 - self.level, n_unlabeled)
        usable = labeled > labeled_band
        bounds = (unlabeled[usable] + unlabeled_band) / (labeled[usable] - labeled_band)
        upper = float(np.min(bounds, initial=1.0))
        if upper >= 1:
            self.prior_interval_ = (0.0, 1.0)
            return
        lower = self.prior_ - (unlabeled_band + labeled_band) / labeled[best]
        # Another threshold may give an upper bound below the estimate; keep the estimate inside.
        self.prior_interval_ = (float(max(lower, 0.0)), max(upper, self.prior_))


def _half_width(error: float, n: float) -> float:
    """Return the half-width of one of two bands that jointly fail with probability ``error``."""
    return float(np.sqrt(np.log(4 / error) / (2 * n)))
