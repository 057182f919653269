"""Estimators of the benchmark: names and functions of the counts.

To add one, add a line to `PRIOR_ONLY` (purity known to be 1) or `BOTH` (both unknown). `fitted`
wraps classes of `pueval.priors`; anything else is a function that returns an `Answer`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from pueval import AssumptionWarning, Counts
from pueval.priors import (
    AlphaMax,
    AlphaMaxN,
    BestBin,
    Consensus,
    Dedpul,
    DistCurve,
    ElkanNoto,
    KernelMean,
    RocNetwork,
    RocSlope,
    Tice,
    Tilt,
    WithPurity,
)
from pueval.priors._estimator_bases import ScorePriorEstimator
from pueval.sensitivity.feasibility import largest_prior

Interval = tuple[float, float]


@dataclass(frozen=True)
class Answer:
    prior: float
    purity: float = 1.0
    prior_interval: Interval | None = None
    purity_interval: Interval | None = None


Estimator = Callable[[Counts], Answer]


def fitted(estimator: ScorePriorEstimator) -> Estimator:
    """Turn an estimator of pueval.priors into a function."""

    def answer(counts: Counts) -> Answer:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            estimator.fit(counts)
        if np.isnan(estimator.prior_):
            # Consensus gives no estimate if scores do not separate, but the benchmark needs one.
            # The network dominates the combination where its interval is wide, so use its estimate.
            network = estimator.members_["roc_network"]
            return Answer(
                network.prior,
                network.purity,
                estimator.prior_interval_,
                estimator.purity_interval_,
            )
        return Answer(
            estimator.prior_,
            estimator.purity_,
            estimator.prior_interval_,
            estimator.purity_interval_,
        )

    return answer


def upper_limit(counts: Counts) -> Answer:
    """Return the largest prior compatible with the data, a baseline for all estimates."""
    limit = largest_prior(counts).prior
    return Answer(limit, prior_interval=(0.0, limit))


def rows(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and labels of the rows, for estimators that do not accept Counts."""
    score = np.repeat(counts.score, counts.labeled + counts.unlabeled)
    each = [np.repeat([1, 0], pair) for pair in zip(counts.labeled, counts.unlabeled, strict=True)]
    return score, np.concatenate(each)


def on_rows(estimator) -> Estimator:
    """Apply an estimator on features to the score as the only feature."""

    def answer(counts: Counts) -> Answer:
        score, label = rows(counts)
        return Answer(estimator.fit(score.reshape(-1, 1), label).prior_)

    return answer


class Identity(ClassifierMixin, BaseEstimator):
    """Classifier that returns its only feature as the probability."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def pulearn_prior(make) -> Estimator:
    """Apply pulearn 0.2 to the score; its pi is the share of positives among all rows."""

    def answer(counts: Counts) -> Answer:
        score, label = rows(counts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = make(Identity()).estimate(score.reshape(-1, 1), label)
        share = found.pi
        prior = (share * counts.n - counts.n_labeled) / counts.n_unlabeled
        return Answer(float(np.clip(prior, 0, 1)))

    return answer


def guess(prior: float, purity: float) -> Estimator:
    """Return a constant estimate, the baseline of knowing nothing."""
    return lambda _counts: Answer(prior, purity)


PRIOR_ONLY: dict[str, Estimator] = {
    "always .25": guess(0.25, 1.0),
    "upper limit": upper_limit,
    "Consensus": fitted(Consensus()),
    "Tilt": fitted(Tilt()),
    "Tilt, purity free": fitted(Tilt(purity="estimate")),
    "RocNetwork": fitted(RocNetwork()),
    "RocNetwork, purity free": fitted(RocNetwork(purity="estimate")),
    "Dedpul": fitted(Dedpul()),
    "DistCurve": fitted(DistCurve()),
    "RocSlope": fitted(RocSlope()),
    "BestBin": fitted(BestBin()),
    "AlphaMax": fitted(AlphaMax()),
    "KernelMean on the score": on_rows(KernelMean(max_rows=400)),
    "Tice on the score": on_rows(Tice()),
    "ElkanNoto e1": fitted(ElkanNoto("e1")),
    "ElkanNoto e3": fitted(ElkanNoto("e3")),
}
BOTH: dict[str, Estimator] = {
    "always .25 and .95": guess(0.25, 0.95),
    "Consensus": fitted(Consensus(purity="estimate")),
    "Tilt": fitted(Tilt(purity="estimate")),
    "RocNetwork": fitted(RocNetwork(purity="estimate")),
    "Dedpul, two runs": fitted(WithPurity(Dedpul())),
    "RocSlope, two runs": fitted(WithPurity(RocSlope())),
    "BestBin, two runs": fitted(WithPurity(BestBin())),
    "AlphaMaxN": fitted(AlphaMaxN()),
}

try:
    from pulearn.priors import HistogramMatchPriorEstimator, ScarEMPriorEstimator
except ImportError:
    # Optional: install pulearn to include it in the table.
    pass
else:
    PRIOR_ONLY["pulearn 0.2 histogram"] = pulearn_prior(HistogramMatchPriorEstimator)
    PRIOR_ONLY["pulearn 0.2 EM"] = pulearn_prior(lambda _: ScarEMPriorEstimator())
