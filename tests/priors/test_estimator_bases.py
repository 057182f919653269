"""Estimators take tensors as they take arrays."""

import numpy as np
import pytest

from pueval import priors

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    positive = rng.random(300) < 0.4
    score = (rng.normal(size=300) + 2 * positive).astype(np.float32)
    return score, (positive & (rng.random(300) < 0.5)).astype(np.int64)


@pytest.mark.parametrize("estimator", [priors.Tilt(), priors.RocSlope()], ids=str)
@pytest.mark.parametrize("n_dimensions", [1, 2])
def test_scores_of_a_network(rows, estimator, n_dimensions):
    score, y = rows
    leaf = torch.tensor(score.reshape(-1, *[1] * (n_dimensions - 1)), requires_grad=True)
    for tensor in (leaf, leaf * 1, leaf.bfloat16()):
        expected = estimator.fit(tensor.detach().float().numpy(), y).prior_
        assert estimator.fit(tensor, torch.tensor(y)).prior_ == expected


def test_features_of_a_network(rows):
    estimator, (score, y) = priors.KernelMean(), rows
    leaf = torch.tensor(np.stack([score, score**2], axis=1), requires_grad=True)
    for tensor in (leaf, leaf.bfloat16()):
        expected = estimator.fit(tensor.detach().float().numpy(), y).prior_
        assert estimator.fit(tensor, torch.tensor(y)).prior_ == expected
