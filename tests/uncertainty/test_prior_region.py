"""Regions of prior and purity, priors of draws, and the change with an uncertain prior."""

import numpy as np
import pytest
from scipy.stats import norm

from pueval import InputError, Mixture
from pueval.core.mixture import Mixtures, cap_prior
from pueval.priors import PriorEstimate
from pueval.uncertainty.prior_draws import scaled_to_intervals
from pueval.uncertainty.prior_region import (
    Region,
    confidence_region,
    estimate_standard_error,
    find_extremes,
)
from pueval.uncertainty.uncertain_prior import UncertainPrior, prior_changes


def estimate(prior=0.3, purity=1.0, prior_interval=(0.2, 0.45), purity_interval=None):
    return PriorEstimate(
        "made up", prior, purity, prior_interval, purity_interval, 0.9, None, {}, (), 0.95
    )


def test_lower_end_first():
    with pytest.raises(InputError, match="lower end first"):
        Region((0.3, 0.2), (1.0, 1.0))


def test_printed_as_one_line():
    assert repr(Region((0.1, 0.3), (0.9, 1.0))) == "Region of prior 0.1 to 0.3 and purity 0.9 to 1"
    assert Region((0.1, 0.3), (1.0, 1.0)).to_dict() == {
        "prior": [0.1, 0.3], "purity": [1.0, 1.0], "prior_by_purity": None,
    }  # fmt: skip
    pytest.importorskip("pandas")
    assert len(Region((0.1, 0.3), (1.0, 1.0)).frame()) == 1


def test_points_between():
    region = Region((0.1, 0.5), (0.8, 1.0))
    center = Mixture(0.3, 0.9)
    assert region.between(center, 0.0) == [center]
    assert region.between(center, 1.0) == [
        Mixture(0.1, 0.9), Mixture(0.5, 0.9), Mixture(0.3, 0.8), Mixture(0.3, 1.0),
    ]  # fmt: skip


def test_widened_stays_below_purity():
    region = Region((0.1, 0.8), (0.9, 0.9)).widened(lambda mixture: mixture.prior, 2.0)
    assert region.prior[0] == 0
    assert 0.8 < region.prior[1] < 0.9


def test_confidence_region_at_another_level():
    level = 2 * norm.cdf(2 * norm.ppf(0.975)) - 1  # intervals twice as wide
    region = confidence_region(estimate(), level)
    assert region.prior == pytest.approx((0.1, 0.6))
    assert estimate_standard_error(estimate()) == pytest.approx(0.125 / norm.ppf(0.975))
    assert estimate_standard_error(None) == 0


def test_extremes_inside_a_region():
    region = Region((0.1, 0.5), (0.8, 1.0))
    low, high = find_extremes(region, lambda m: (m.prior - 0.25) ** 2 + (m.purity - 0.93) ** 2)
    assert (low.prior, low.purity) == pytest.approx((0.25, 0.93), abs=1e-3)
    assert (high.prior, high.purity) == (0.5, 0.8)
    assert find_extremes(region, lambda m: np.full(len(m), np.nan)) == []


def test_quantiles_of_draws_are_the_confidence_limits():
    scores = np.random.default_rng(0).normal(size=100_000)
    mixtures = scaled_to_intervals(estimate(), (scores, scores))
    low, high = np.quantile(mixtures.prior, [0.025, 0.975])
    assert (low, high) == pytest.approx((0.2, 0.45), abs=2e-3)
    assert (mixtures.purity == 1).all()


def test_cap_prior():
    assert cap_prior(0.3) == 0.3
    assert cap_prior(0.95, 0.9) < 0.9
    assert cap_prior(np.array([0.1, 0.9]), 0.5, 0.1) == pytest.approx([0.1, 0.4])


def test_prior_changes_are_slopes_times_errors():
    mixtures = Mixtures(np.array([0.2, 0.3, 0.0]), np.ones(3))
    error = np.array([0.01, 0.0, 0.02])
    changes = prior_changes(lambda m: {"prior": 3 * m.prior}, ["prior"], mixtures, error)
    assert changes["prior"] == pytest.approx([0.03, 0.0, 0.06])  # one-sided at a prior of 0
    none = prior_changes(lambda m: {}, ["prior"], mixtures, np.zeros(3))
    assert (none["prior"] == 0).all()


def test_scenarios():
    mixture, region = Mixture(0.3), Region((0.2, 0.4), (1.0, 1.0))
    exact = UncertainPrior(mixture)
    assert exact.is_exact
    assert exact.scenarios(lambda m: m.prior) == exact.corner_scenarios() == [mixture]
    assert list(exact.curve_scenarios(2.0)) == [(mixture, 1.0)]
    given = UncertainPrior(mixture, given_region=region)
    assert not given.is_exact
    assert [m.prior for m in given.corner_scenarios()] == [0.3, 0.2, 0.4]
    assert {share for _, share in given.curve_scenarios(2.0)} == {1.0}
    estimated = UncertainPrior(mixture, confidence_region=region)
    by_prior = {m.prior: share for m, share in estimated.curve_scenarios(2.0)}
    assert by_prior[0.3] == 1
    assert by_prior[0.2] == by_prior[0.4] == 0


class TestPriorThatFollowsFromThePurity:
    region = Region.between_priors((0.3, 0.4), (0.2, 0.25), (0.8, 1.0))

    def test_points_lie_between_two_lines(self):
        mesh = self.region.mixtures(*self.region.coordinates(7))
        low, high = (np.interp(mesh.purity, (0.8, 1.0), ends) for ends in ((0.3, 0.2), (0.4, 0.25)))
        assert np.all((low - 1e-12 <= mesh.prior) & (mesh.prior <= high + 1e-12))
        assert len(mesh) == 49
        assert self.region.prior == (0.2, 0.4)
        assert (self.region.best_fit, self.region.worst_fit) == (Mixture(0.2, 1), Mixture(0.4, 0.8))

    def test_extremes(self):
        low, high = find_extremes(self.region, lambda m: (m.purity - 0.9) ** 2 + m.prior)
        corner = Mixture(0.4, 0.8)  # 0.41; the other corners have at most 0.31
        assert (high.prior, high.purity) == pytest.approx((corner.prior, corner.purity))
        # On the lower line, prior = 0.7 − purity/2: least at purity 0.9 + 1/4, beyond the end.
        assert (low.prior, low.purity) == pytest.approx((0.2, 1.0))

    def test_paths(self):
        center = Mixture(0.3, 0.9)
        assert [m.prior for m in self.region.along_prior(center, (-1, 1))] == pytest.approx(
            [0.25, 0.325]
        )
        # The center is at two thirds of its interval, and stays there.
        ends = self.region.along_purity(center, (-1, -0.5, 1))
        assert [m.purity for m in ends] == pytest.approx([0.8, 0.85, 1.0])
        expected = [0.3 + 0.1 * 2 / 3, None, 0.2 + 0.05 * 2 / 3]
        assert ends[0].prior == pytest.approx(expected[0])
        assert ends[2].prior == pytest.approx(expected[2])

    def test_a_known_share_leaves_one_path(self):
        line = Region.between_priors((0.3, 0.3), (0.2, 0.2), (0.8, 1.0))
        assert line.has_one_uncertain_share
        assert line.along_prior(line.middle, (-1, 1)) == []
        assert line.corners == [Mixture(0.3, 0.8), Mixture(0.2, 1.0)]
        wide = line.widened(lambda mixture: mixture.prior / 10, 1.0)
        assert wide.prior_by_purity == (pytest.approx((0.27, 0.33)), pytest.approx((0.18, 0.22)))

    def test_estimate_with_a_known_share(self):
        found = PriorEstimate(
            "made up", 0.3, 0.9, (0.28, 0.32), (0.8, 1.0), 0.9, None, {}, (), 0.95,
            "prevalence", -0.2,
        )  # fmt: skip
        region = confidence_region(found, 0.95)
        assert region.prior_by_purity == (
            pytest.approx((0.32, 0.32)), pytest.approx((0.28, 0.28)),
        )  # fmt: skip
        scores = np.random.default_rng(0).normal(size=1000)
        draws = scaled_to_intervals(found, (scores, scores))
        assert draws.prior == pytest.approx(0.3 - 0.2 * (draws.purity - 0.9))
