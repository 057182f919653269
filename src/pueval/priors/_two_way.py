"""Two ways: prior and purity from an estimator of the prior alone, run in both directions."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from pueval.core.mixture import cap_prior
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._reduced import reduced
from pueval.priors._score_estimator import ScorePriorEstimator


class TwoWay(ScorePriorEstimator):
    """Prior and purity from two runs of an estimator that takes labels as clean.

    Such an estimator finds the largest share a of the labeled distribution that fits into the
    unlabeled one. With labels that are not clean, a = prior/purity. A second run, with labeled
    and unlabeled rows swapped and scores negated, finds the largest share of the
    unlabeled distribution that fits into the labeled one, b = (1 − purity)/(1 − prior). Then ::

        purity = (1 − b)/(1 − a·b)    and    prior = a·purity

    It assumes that some scores belong to positives only and some to negatives only. The
    second run rests on the lowest scores, where there are few labeled rows, so that the
    purity is less certain than the prior. Estimators that are too large when
    data are few, as most are, make the purity too small.

    If both shares are 1, labeled and unlabeled rows look the same and nothing is known: prior
    and purity are then about one half, and both intervals (0, 1).

    Parameters
    ----------
    estimator : estimator of the prior on one score
        Such as `BestBin`, `RocSlope` or `Dedpul`. It is cloned, not fitted itself.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        Share of true positives among the labeled rows.
    prior_interval_, purity_interval_ : tuple of float, or None
        What follows from the intervals of both runs together; None if the estimator has none.
        If each run has confidence level 1 − e, these hold with at least 1 − 2e.
        For 95 %, give an estimator with level 0.975.
    forward_, backward_ : estimator
        The two fitted estimators; their ``prior_`` are a and b.

    References
    ----------
    Jain, White and Radivojac (2016), Estimating the class prior and posterior from noisy
    positives and unlabeled data; Scott, Blanchard and Handy (2013) for the identities.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._best_bin import BestBin
    >>> from pueval.priors._two_way import TwoWay
    >>> high, low = (lambda n: np.linspace(0.5, 1, n)), (lambda n: np.linspace(0, 0.5, n))
    >>> y = np.repeat([1, 0], [1000, 2000])
    >>> score = np.r_[high(900), low(100), high(400), low(1600)]
    >>> both = TwoWay(BestBin(level=0.975)).fit(score, y)
    >>> round(both.prior_, 2), round(both.purity_, 2)
    (0.2, 0.9)
    """

    forward_: Any
    backward_: Any

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def _estimate(self, counts: Counts) -> None:
        if not isinstance(self.estimator, ScorePriorEstimator):
            raise InputError(
                "estimator must be an estimator of the prior on one score, such as BestBin(); "
                f"got {self.estimator!r}."
            )
        self.forward_ = clone(self.estimator).fit_without_warning(counts)
        self.backward_ = clone(self.estimator).fit_without_warning(_swapped(counts))
        for fitted in (self.forward_, self.backward_):
            self._note(*fitted.warnings_)
            if fitted.purity_ != 1:
                raise InputError(
                    f"{self.estimator!r} estimates the purity itself, so there is nothing to add. "
                    "Use it alone, or give one that takes labels as clean."
                )
        self.prior_, self.purity_ = solve(
            cap_prior(self.forward_.prior_), cap_prior(self.backward_.prior_)
        )
        a, b = self.forward_.prior_interval_, self.backward_.prior_interval_
        if a is None or b is None:
            return
        # Prior and purity both rise with a and fall with b.
        # A lower limit of 1 would leave nothing to solve.
        low = solve(cap_prior(a[0]), b[1])
        high = solve(a[1], cap_prior(b[0]))
        self.prior_interval_ = (low[0], high[0])
        self.purity_interval_ = (low[1], high[1])


def solve(a: float, b: float) -> tuple[float, float]:
    """Prior and purity from a = prior/purity and b = (1 − purity)/(1 − prior)."""
    purity = (1 - b) / (1 - a * b)
    return a * purity, purity


def _swapped(counts: Counts) -> Counts:
    """Exchange the roles of labeled and unlabeled rows, and negate the scores."""
    table = reduced(counts)
    labeled, unlabeled = table.labeled, table.unlabeled
    if not counts._has_integer_counts:
        # from_table takes a unit for one row, so weights have to add up to what rows are worth.
        labeled, unlabeled = table.effective()
    return Counts.from_table(-table.score, labeled=unlabeled, unlabeled=labeled)
