"""priors.estimate(): estimators given as objects, and many at a time."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pueval import AssumptionWarning, InputError, priors
from pueval.priors._best_bin import BestBin
from pueval.priors._dedpul import Dedpul
from pueval.priors._tilt import Tilt
from pueval.priors._with_purity import WithPurity
from tests.conftest import draw


@pytest.fixture
def rows(rng):
    _, score, y = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    return y, score


class TestObjects:
    def test_is_not_fitted_itself(self, rows):
        mine = Tilt()
        priors.estimate(*rows, method=mine)
        assert not hasattr(mine, "prior_")

    def test_has_its_own_level(self, rows):
        found = priors.estimate(*rows, method=Tilt(level=0.5))
        usual = priors.estimate(*rows, method="tilt", level=0.5)
        assert found.level == 0.5
        assert found.prior_interval == usual.prior_interval
        assert found.prior_upper == usual.prior_upper
        with pytest.raises(InputError, match=r"has level=0\.5, but you passed level=0\.9"):
            priors.estimate(*rows, method=Tilt(level=0.5), level=0.9)

    def test_has_its_own_purity(self, rows):
        found = priors.estimate(*rows, method=Tilt(purity=0.9))
        usual = priors.estimate(*rows, method="tilt", purity=0.9)
        assert (found.prior, found.purity) == (usual.prior, 0.9)
        assert found.prior_upper == usual.prior_upper
        with pytest.raises(InputError, match=r"has purity=0\.9, but you passed purity=0\.8"):
            priors.estimate(*rows, method=Tilt(purity=0.9), purity=0.8)

    @pytest.mark.filterwarnings("ignore:no prior is compatible:pueval.AssumptionWarning")
    @pytest.mark.parametrize("purity", [0.8, "estimate"])
    def test_that_takes_labels_as_clean(self, rows, purity):
        found = priors.estimate(*rows, method=Dedpul(), purity=purity)
        usual = priors.estimate(*rows, method="dedpul", purity=purity)
        assert (found.prior, found.purity) == (usual.prior, usual.purity)

    def test_what_the_data_rule_out_is_said(self, rows):
        with pytest.warns(AssumptionWarning, match=r"no prior is compatible with a purity of 0\.5"):
            priors.estimate(*rows, method="dedpul", purity=0.5)

    def test_two_runs_must_both_hold(self, rows):
        found = priors.estimate(*rows, method="best_bin", purity="estimate", level=0.9)
        alone = WithPurity(BestBin(level=0.95)).fit(rows[1], rows[0])
        assert found.prior_interval == alone.prior_interval_
        given = priors.estimate(*rows, method=BestBin(level=0.95), purity="estimate")
        assert given.level == pytest.approx(0.9)
        assert given.prior_interval == found.prior_interval


def test_warnings_are_right_in_threads():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [30, 200])
    scores = [rng.normal(size=y.size) + shift * y for shift in (0, 2)] * 12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        alone = [priors.estimate(y, score).warnings for score in scores]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda score: priors.estimate(y, score).warnings, scores))
    assert len(set(alone)) == 2
    assert together == alone
