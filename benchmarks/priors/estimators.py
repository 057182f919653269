"""The estimators of the benchmark: a name and a function of the counts.

To add one, put a line into `PRIOR_ONLY` (purity known to be 1) or `BOTH` (neither known). Classes
of `pueval.priors` are wrapped by `fitted`; anything else is a function that returns an `Answer`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pueval import Counts
from pueval.feasibility import largest_prior
from pueval.priors.base import ScorePriorEstimator
from pueval.priors.roc_network import RocNetwork

Interval = tuple[float, float]


@dataclass(frozen=True)
class Answer:
    prior: float
    purity: float = 1.0
    prior_interval: Interval | None = None
    purity_interval: Interval | None = None


Estimator = Callable[[Counts], Answer]


def fitted(estimator: ScorePriorEstimator) -> Estimator:
    """An estimator of pueval.priors as a function."""

    def answer(counts: Counts) -> Answer:
        estimator.fit(counts)
        return Answer(
            estimator.prior_,
            estimator.purity_,
            estimator.prior_interval_,
            estimator.purity_interval_,
        )

    return answer


def upper_limit(counts: Counts) -> Answer:
    """Not an estimate but what the data allow at most; what every estimate has to beat."""
    limit = largest_prior(counts).prior
    return Answer(limit, prior_interval=(0.0, limit))


def guess(prior: float, purity: float) -> Estimator:
    """Always the same answer: what knowing nothing costs."""
    return lambda _counts: Answer(prior, purity)


PRIOR_ONLY: dict[str, Estimator] = {
    "always .25": guess(0.25, 1.0),
    "upper limit": upper_limit,
    "RocNetwork": fitted(RocNetwork()),
}
BOTH: dict[str, Estimator] = {
    "always .25 and .95": guess(0.25, 0.95),
    "RocNetwork": fitted(RocNetwork(purity="estimate")),
}
