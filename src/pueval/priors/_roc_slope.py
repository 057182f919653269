"""ROC slope: the slope of the ROC curve of labeled against unlabeled rows at its steepest end."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.priors._reduced import reduced, tails
from pueval.priors._score_estimator import ScorePriorEstimator
from pueval.sensitivity.feasibility import largest_prior


class RocSlope(ScorePriorEstimator):
    """Slope estimate of the prior, and an upper limit that needs no assumption about the scores.

    With q_L and q_U the shares of labeled and of unlabeled rows at or above a threshold,
    the prior is at most q_U/q_L at every threshold, and equal to the least of these
    ratios if the highest scores belong to positives only. Since the least of
    many noisy ratios is too small, each is replaced by a cautious one: ::

        prior = min over thresholds of upper(q_U) / lower(q_L)

    with exact binomial limits, which are quantiles of beta distributions. Each limit fails with
    probability ``point_error``·√q_L, so that limits are the more cautious the fewer rows there
    are above a threshold: there are many thresholds with few rows above them, and one of
    them would otherwise often be wrong. The root makes these probabilities add up to a finite
    sum over thresholds whose q_L halve again and again. A smaller ``point_error`` makes the
    estimate larger. Root and default had the least mean absolute error of those tried on
    simulated and real scores.

    It assumes clean labels that are a random draw from the positives.

    Parameters
    ----------
    level : float, default 0.95
        Confidence level of ``prior_upper_``.
    point_error : float, default 0.5
        Error probability of the limits in the estimate, where all labeled rows are above.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows; not above ``prior_upper_``.
    purity_ : float
        1, since labels are taken as clean.
    prior_upper_ : float
        Upper confidence limit of the prior, as `pueval.largest_prior` finds it: by
        a union bound it holds for any distribution of the scores, and also for
        prior/purity. Known negative rows count here, and nowhere else.
    prior_interval_ : tuple of float
        From 0 to ``prior_upper_``: without an assumption, data cannot exclude any smaller prior.
    purity_interval_ : None
    threshold_ : float
        The threshold of the least ratio.

    References
    ----------
    Blanchard, Lee and Scott (2010), Semi-supervised novelty detection; Sanderson and Scott (2014),
    Class proportion estimation with application to multiclass anomaly rejection.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._roc_slope import RocSlope
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> score = np.r_[np.linspace(0.5, 1, 500),                           # labeled
    ...               np.linspace(0.5, 1, 400), np.linspace(0, 0.5, 1600)]  # 20 % positives
    >>> slope = RocSlope().fit(score, y)
    >>> round(slope.prior_, 2), round(slope.prior_upper_, 2)
    (0.2, 0.23)
    """

    prior_upper_: float
    threshold_: float

    def __init__(self, level: float = 0.95, *, point_error: float = 0.5) -> None:
        self.level = level
        self.point_error = point_error

    def _estimate(self, counts: Counts) -> None:
        check_fraction("level", self.level)
        check_fraction("point_error", self.point_error)
        table = reduced(counts)
        threshold, labeled, unlabeled = tails(table)
        error = self.point_error * np.sqrt(labeled)
        upper = _upper(unlabeled, table.n_unlabeled, error)
        ratio = upper / _lower(labeled, table.n_labeled, error)
        best = int(np.argmin(ratio))
        self.prior_upper_ = largest_prior(counts, level=self.level).prior
        self.prior_interval_ = (0.0, self.prior_upper_)
        self.prior_ = float(min(ratio[best], self.prior_upper_))
        self.threshold_ = float(threshold[best])


def _upper(share: Array, n: float, error: Array) -> Array:
    """Exact upper limits of binomial shares."""
    found = share * n
    # A share of 1 has the limit 1; its beta distribution has no second parameter.
    missing = np.maximum(n - found, np.finfo(float).tiny)
    return np.where(share < 1, betaincinv(found + 1, missing, 1 - error), 1.0)


def _lower(share: Array, n: float, error: Array) -> Array:
    """Exact lower limits of binomial shares above 0."""
    found = share * n
    limits: Array = betaincinv(found, n - found + 1, error)
    return limits
