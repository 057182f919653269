"""Known negative rows say nothing about the prior, whatever they weigh."""

import numpy as np
import pytest

from pueval import Counts
from pueval.priors import BestBin, DistCurve, RocNetwork, RocSlope, WithPurity
from tests.priors.test_sklearn_checks_scores import ESTIMATORS

MORE = [DistCurve(), RocNetwork(purity="estimate"), WithPurity(BestBin())]


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("estimator", [*ESTIMATORS, *MORE], ids=repr)
@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
def test_known_negatives_are_left_out(estimator, weighted):
    rng = np.random.default_rng(11)
    positive = rng.random(1500) < 0.4
    score = 1 / (1 + np.exp(-(rng.normal(size=1500) + 2 * positive)))
    y = (positive & (rng.random(1500) < 0.4)).astype(int)
    weight = rng.exponential(size=1500) ** 2 if weighted else None
    more = rng.random(600)
    heavy = None if weight is None else np.r_[weight, rng.exponential(size=600) ** 3 * 20]
    alone = Counts.from_arrays(y, score, sample_weight=weight)
    beside = Counts.from_arrays(
        np.r_[y, np.full(600, -1)], np.r_[score, more], sample_weight=heavy, negative_label=-1
    )
    one, other = (type(estimator)(**estimator.get_params(deep=False)) for _ in range(2))
    one.fit(alone)
    other.fit(beside)
    assert other.prior_ == pytest.approx(one.prior_, abs=1e-9)
    assert other.purity_ == pytest.approx(one.purity_, abs=1e-9)
    # That of RocSlope is `largest_prior`, which takes all rows that are not labeled together.
    if one.prior_interval_ is not None and not isinstance(estimator, RocSlope):
        assert other.prior_interval_ == pytest.approx(one.prior_interval_, abs=1e-9)
