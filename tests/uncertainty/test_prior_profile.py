"""Differences that share an uncertain prior: closed forms against a search."""

import numpy as np
import pytest
from scipy.special import ndtri

from pueval.uncertainty.prior_profile import (
    POSITIONS,
    EstimateVector,
    PriorProfile,
    shift_along_path,
)

CRITICAL_VALUE = float(ndtri(0.975))


class TestProfile:
    """The closed forms against a search of all priors and purities on a fine grid."""

    @staticmethod
    def paths(rng, count, size=4):
        return [
            [EstimateVector(rng.normal(size=size), 0.2 + rng.random(size)) for _ in POSITIONS]
            for _ in range(count)
        ]

    @staticmethod
    def along(q, center, path, k):
        """Values along one path, linear between positions and beyond the last ones."""
        at = np.insert(np.array(POSITIONS), len(POSITIONS) // 2, 0.0)
        known = np.insert([there[k] for there in path], len(POSITIONS) // 2, center[k], axis=0)
        found = []
        for j in range(known.shape[1]):
            inside = np.interp(q, at, known[:, j])
            right = known[-1, j] + (q - 1) * (known[-1, j] - known[-2, j]) / (at[-1] - at[-2])
            left = known[0, j] + (q + 1) * (known[1, j] - known[0, j]) / (at[1] - at[0])
            found.append(np.where(q > 1, right, np.where(q < -1, left, inside)))
        return np.array(found).T

    def test_limits(self):
        rng = np.random.default_rng(0)
        center = EstimateVector(rng.normal(size=4), 0.3 + rng.random(4))
        for count in (1, 2):
            paths = self.paths(rng, count)
            line = np.linspace(-1, 1, 401)
            moved = [
                [self.along(line, center, path, k) - center[k] for path in paths] for k in range(2)
            ]
            low, high = np.full(4, np.inf), np.full(4, -np.inf)
            for index in np.ndindex(*[line.size] * count):
                square = sum(line[i] ** 2 for i in index)
                if square > 1:
                    continue
                value, error = (
                    center[k] + sum(one[i] for one, i in zip(moved[k], index, strict=True))
                    for k in range(2)
                )
                away = CRITICAL_VALUE * np.maximum(error, 0) * np.sqrt(1 - square)
                low, high = np.minimum(low, value - away), np.maximum(high, value + away)
            found = PriorProfile(center, paths).interval(CRITICAL_VALUE)
            assert found == pytest.approx(np.stack([low, high]), abs=0.01)

    def test_score(self):
        rng = np.random.default_rng(1)
        center = EstimateVector(rng.normal(size=50) * 3, 0.3 + rng.random(50))
        [path] = self.paths(rng, 1, 50)
        q = np.linspace(-3, 3, 60_001)
        z = EstimateVector(center.value / center.error, center.error)
        ratios = [EstimateVector(there.value / there.error, there.error) for there in path]
        there = self.along(q, z, ratios, 0)
        least = np.sqrt((there**2 + (CRITICAL_VALUE * q[:, None]) ** 2).min(axis=0))
        assert np.abs(PriorProfile(center, [path]).z_score(CRITICAL_VALUE)) == pytest.approx(
            least, abs=1e-3
        )

    def test_nothing_uncertain(self):
        center = EstimateVector(np.array([0.3, -0.1]), np.array([0.1, 0.2]))
        assert PriorProfile(center, []).z_score(CRITICAL_VALUE) == pytest.approx([3, -0.5])
        assert PriorProfile(center, []).interval(2.0) == pytest.approx(
            np.array([[0.1, -0.5], [0.5, 0.3]])
        )  # fmt: skip

    def test_what_is_undefined_there(self):
        center = EstimateVector(np.array([0.3]), np.array([0.1]))
        gone = EstimateVector(np.array([np.nan]), np.array([np.nan]))
        assert PriorProfile.of(center, [[gone] * len(POSITIONS)]).paths == [
            [center] * len(POSITIONS)
        ]


def test_shift_along_path():
    path = np.array([[2.0 * q] for q in POSITIONS])
    q = np.array([-3.0, -0.6, 0.0, 0.9, 2.0])
    assert shift_along_path(np.zeros(1), path, q).ravel() == pytest.approx(2 * q)
    path[-1] = np.nan  # undefined at the upper confidence limit: nothing moves beyond 0.75
    shifted = shift_along_path(np.zeros(1), path, q).ravel()
    assert shifted == pytest.approx([-2.0, -1.2, 0.0, 1.5, 1.5])
