"""Numbers of rows in cells, against NumPy's multinomial distribution."""

import numpy as np
import pytest
from scipy.stats import kstest

from pueval import Counts, evaluate
from pueval.samples import threads
from pueval.uncertainty import multinomial_draws
from pueval.uncertainty.multinomial_draws import LARGE_SAMPLE, draw_multinomial

# Two small cells among large ones.
SHARES = np.array([0.3, 2e-5, 0.2, 1e-4, 0.15, 0.34988, 0.0])


def test_small_samples_are_multinomial():
    sizes = np.full(50, LARGE_SAMPLE - 1)
    first, second = (np.random.default_rng(0) for _ in range(2))
    assert (draw_multinomial(first, SHARES, sizes) == second.multinomial(sizes, SHARES)).all()


def test_many_small_cells_are_multinomial():
    shares, sizes = np.full(5000, 1 / 5000), np.full(3, LARGE_SAMPLE)
    first, second = (np.random.default_rng(0) for _ in range(2))
    assert (draw_multinomial(first, shares, sizes) == second.multinomial(sizes, shares)).all()


def test_large_samples_have_the_same_moments_and_distributions(rng):
    size, repeats = 2 * LARGE_SAMPLE, 20_000
    drawn = draw_multinomial(rng, SHARES, np.full(repeats, size))
    assert drawn.sum(axis=1) == pytest.approx(np.full(repeats, size))
    assert drawn.min() >= 0
    exact = size * (np.diag(SHARES) - np.outer(SHARES, SHARES))
    error = np.sqrt(np.diag(exact))
    assert np.abs(drawn.mean(axis=0) - size * SHARES).max() <= 5 * error.max() / np.sqrt(repeats)
    scale = np.outer(error, error)
    scale[scale == 0] = 1
    assert np.cov(drawn.T) / scale == pytest.approx(exact / scale, abs=5 / np.sqrt(repeats))
    # Cumulative sums, which measures are made of, are binomial up to a continuity correction.
    sums = np.cumsum(drawn, axis=1)
    for cell in (0, 3, 4):
        binomial = rng.binomial(size, SHARES[: cell + 1].sum(), repeats) + rng.uniform(
            -0.5, 0.5, repeats
        )
        assert kstest(sums[:, cell], binomial).pvalue > 1e-3


def test_sizes_may_vary(rng):
    sizes = rng.binomial(10**6, 0.3, 500)
    assert draw_multinomial(rng, SHARES, sizes).sum(axis=1) == pytest.approx(sizes)


def test_draws_do_not_depend_on_the_cores(monkeypatch):
    drawn = []
    for cores in (1, 8):
        monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
        sizes = np.full(1000, LARGE_SAMPLE)
        drawn.append(draw_multinomial(np.random.default_rng(0), SHARES, sizes))
    np.testing.assert_array_equal(*drawn)
    assert np.unique(drawn[0][:, 0]).size == 1000  # blocks of lines have their own numbers


def test_intervals_are_those_of_multinomial_draws(rng, monkeypatch):
    """Ends of intervals differ by no more than two series of multinomial draws do."""
    n = 600_000
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + 1.5 * positive
    counts = Counts.from_arrays(positive & (rng.random(n) < 0.6), score)

    def ends(seed):
        frame = evaluate(counts, prior=0.146, seed=seed).frame()
        return frame[["low", "high"]].to_numpy(dtype=float)

    fast = ends(0)
    monkeypatch.setattr(multinomial_draws, "LARGE_SAMPLE", 10**9)
    slow, other = ends(0), ends(1)
    assert not np.array_equal(fast, slow, equal_nan=True)
    width = (slow[:, 1] - slow[:, 0])[:, None]
    usual = np.nanmax(np.abs(other - slow) / width)
    assert np.nanmax(np.abs(fast - slow) / width) <= max(2 * usual, 0.05)
