"""A measure as a function of prior and purity."""

import warnings

import numpy as np
import pytest

from pueval import AssumptionWarning, InputError, evaluate, largest_prior
from tests.conftest import draw


@pytest.fixture
def ev(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    return evaluate(labeled, score, prior=0.2)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "f1", "accuracy", "f2"])
def test_values_are_those_of_evaluations(ev, name):
    priors, purities = [0.0, 0.1, 0.3], [0.7, 0.9, 1.0]
    grid = ev.sensitivity(name, priors=priors, purities=purities)
    assert grid.value.shape == (3, 3)
    for row, purity in enumerate(purities):
        for column, prior in enumerate(priors):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AssumptionWarning)
                one = evaluate(
                    ev.counts, prior=prior, purity=purity, threshold=ev.threshold, level=None
                )
            value = min(max(grid.value[row, column], 0), 1)
            near = 2e-3 if name == "average_precision" else 1e-9
            assert value == pytest.approx(one[name].value, abs=near)
            largest = largest_prior(ev.counts, purity=purity).prior
            # If the largest prior is 0, no prior fits.
            assert grid.feasible[row, column] == (prior <= largest and largest > 0)
    assert grid.assumed == ev.mixture
    assert grid.assumed_value == pytest.approx(ev[name].value, abs=2e-3)
    np.testing.assert_allclose(grid.change, grid.assumed_value - grid.value)


def test_default_axes(ev):
    grid = ev.sensitivity("f1")
    assert grid.prior[0] == 0
    assert grid.purity[-1] == 1
    assert grid.feasible.any()
    assert not grid.feasible.all()
    assert grid.prior[-1] > ev.mixture.prior > 0
    frame = grid.frame()
    assert len(frame) == grid.value.size
    row = frame.iloc[70]
    where = np.searchsorted(grid.purity, row.purity), np.searchsorted(grid.prior, row.prior)
    assert grid.value[where] == row.value


@pytest.mark.parametrize("prior", [0.0, 0.97, 0.9999])
def test_axes_of_extreme_priors(ev, prior):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        grid = evaluate(ev.counts, prior=prior, level=None).sensitivity("roc_auc")
    assert np.all(np.diff(grid.prior) > 0)
    assert np.all(np.diff(grid.purity) > 0)
    assert grid.purity[-1] == 1


def test_too_close_to_tell(ev):
    grid = ev.sensitivity("f1", priors=[0.1, 0.9], purities=[0.9])
    assert np.isnan(grid.value[0, 1])
    assert not grid.feasible[0, 1]


def test_bad_input(ev):
    with pytest.raises(InputError, match="unknown measure 'fone'"):
        ev.sensitivity("fone")
    with pytest.raises(InputError, match="priors must be numbers in"):
        ev.sensitivity("f1", priors=[-0.1])
    with pytest.raises(InputError, match="priors must be numbers in"):
        ev.sensitivity("f1", priors=["much"])
    with pytest.raises(InputError, match="purities must be numbers in"):
        ev.sensitivity("f1", purities=[0.5, 1.1])
    known = evaluate([1, 1, -1], [3, 2, 1], negative_label=-1)
    with pytest.raises(InputError, match="no unlabeled rows"):
        known.sensitivity("f1")
