"""WithPurity: prior and purity from two runs of an estimator that assumes clean labels."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from pueval.core.mixture import cap_prior
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._estimator_bases import ScorePriorEstimator
from pueval.priors._labeled_unlabeled_counts import LabeledUnlabeledCounts


class WithPurity(ScorePriorEstimator):
    """Prior and purity from two runs of an estimator that assumes clean labels.

    Such an estimator finds the largest share a of the labeled distribution that fits into the
    unlabeled distribution. If some labels are wrong, a = prior/purity. A second run with the roles
    of labeled and unlabeled rows swapped, and scores negated, finds the largest share of the
    unlabeled distribution that fits into the labeled one, b = (1 − purity)/(1 − prior). Then ::

        purity = (1 − b)/(1 − a·b)    and    prior = a·purity

    The estimator assumes random labeling, and that some scores occur only among positives and
    others only among negatives. The second run relies on the lowest scores, where there are few
    labeled rows, so the purity is less certain than the prior. Most estimators overestimate their
    share in small samples, which makes the purity too small.

    If both shares are 1, labeled and unlabeled rows look the same and nothing is identified: prior
    and purity are then about one half, and both intervals are (0, 1).

    Parameters
    ----------
    estimator : estimator of the prior on one score
        An estimator that assumes clean labels, such as `BestBin`, `RocSlope` or `Dedpul`. It is
        cloned, not fitted in place.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        Share of true positives among the labeled rows.
    prior_interval_, purity_interval_ : tuple of float, or None
        Confidence intervals that combine those of both runs; None if the estimator has none. If
        each run has confidence level 1 − e, they have at least 1 − 2e (Bonferroni): for 95%, use
        an estimator with level 0.975.
    forward_, backward_ : estimator
        The two fitted estimators, whose ``prior_`` are a and b.

    References
    ----------
    Jain, White and Radivojac (2016), Estimating the class prior and posterior from noisy
    positives and unlabeled data; Scott, Blanchard and Handy (2013) for the identities.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import BestBin, WithPurity
    >>> high, low = (lambda n: np.linspace(0.5, 1, n)), (lambda n: np.linspace(0, 0.5, n))
    >>> y = np.repeat([1, 0], [1000, 2000])
    >>> score = np.r_[high(900), low(100), high(400), low(1600)]
    >>> estimator = WithPurity(BestBin(level=0.975)).fit(score, y)
    >>> round(estimator.prior_, 2), round(estimator.purity_, 2)
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
        self.backward_ = clone(self.estimator).fit_without_warning(_swap_roles(counts))
        for fitted in (self.forward_, self.backward_):
            self._note(*fitted.warnings_)
            if fitted.purity_ != 1:
                raise InputError(
                    f"{self.estimator!r} already estimates the purity. Use it on its own, or pass "
                    "an estimator that assumes clean labels."
                )
        self.prior_, self.purity_ = solve_prior_and_purity(
            cap_prior(self.forward_.prior_), cap_prior(self.backward_.prior_)
        )
        a, b = self.forward_.prior_interval_, self.backward_.prior_interval_
        if a is None or b is None:
            return
        # Prior and purity both rise with a and fall with b. A lower end of 1 has no solution.
        low = solve_prior_and_purity(cap_prior(a[0]), b[1])
        high = solve_prior_and_purity(a[1], cap_prior(b[0]))
        self.prior_interval_ = (low[0], high[0])
        self.purity_interval_ = (low[1], high[1])


def solve_prior_and_purity(a: float, b: float) -> tuple[float, float]:
    """Return prior and purity for a = prior/purity and b = (1 − purity)/(1 − prior)."""
    purity = (1 - b) / (1 - a * b)
    return a * purity, purity


def _swap_roles(counts: Counts) -> Counts:
    """Swap the roles of labeled and unlabeled rows, and negate the scores."""
    table = LabeledUnlabeledCounts.from_counts(counts)
    labeled, unlabeled = table.labeled, table.unlabeled
    if not counts._has_integer_counts:
        # from_table counts each unit of weight as a row, so rescale to effective sample sizes.
        labeled, unlabeled = table.effective_counts()
    return Counts.from_table(-table.score, labeled=unlabeled, unlabeled=labeled)
