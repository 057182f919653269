"""Poisson resamples: their law, and the uncertainty they give."""

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from scipy.stats import chisquare, poisson
from sklearn.metrics import roc_auc_score

from pueval import Counts, InputError, evaluate, poisson_resamples
from pueval.sources.poisson_bootstrap import PRIME, add_weights, poisson_thresholds


def weights(numbers, *, seed=0, n_resamples=20):
    frame = nw.from_native(pl.LazyFrame({"key": np.asarray(numbers, dtype=float)}))
    made = add_weights(
        frame, seed=seed, resamples=range(n_resamples), n_resamples=n_resamples
    ).collect()
    return np.column_stack([made[f"w{r}"].to_numpy() for r in range(n_resamples)])


def test_thresholds():
    found = np.array(poisson_thresholds())
    np.testing.assert_allclose(found / PRIME, poisson.cdf(np.arange(found.size), 1), atol=2e-8)


@pytest.mark.parametrize(
    "numbers",
    [np.arange(30_000), 2**40 + 64 * np.arange(30_000), -(2**26) * np.arange(30_000)],
    ids=["in a row", "far apart", "multiples"],
)
def test_law(numbers):
    """Poisson, and independent between rows and between resamples, whatever the keys are."""
    drawn = weights(numbers)
    seen = np.bincount(drawn.ravel(), minlength=6)
    expected = poisson.pmf(np.arange(5), 1) * drawn.size
    table = np.r_[seen[:5], seen[5:].sum()]
    assert chisquare(table, np.r_[expected, drawn.size - expected.sum()]).pvalue > 1e-4
    n, many = drawn.shape
    between_resamples = np.corrcoef(drawn.T)[np.triu_indices(many, 1)] * np.sqrt(n)
    assert np.abs(between_resamples).max() < 4.5
    assert between_resamples.std() == pytest.approx(1, abs=0.25)
    for lag in (1, 2, 7):
        neighbors = [np.corrcoef(w[:-lag], w[lag:])[0, 1] * np.sqrt(n) for w in drawn.T]
        assert np.abs(neighbors).max() < 4.5
    assert (drawn.sum(axis=0) - n).std() == pytest.approx(np.sqrt(n), rel=0.5)


def test_seeds():
    assert np.array_equal(weights(range(100), seed=1), weights(range(100), seed=1))
    assert not np.array_equal(weights(range(100), seed=1), weights(range(100), seed=2))
    # More resamples begin with the same ones.
    few = weights(range(100), n_resamples=3)
    assert not np.array_equal(few[:, 0], few[:, 1])


def test_paired_uncertainty(rng):
    """The spread of differences between two models is that of new samples of rows."""

    def sample(n):
        y = rng.random(n) < 0.3
        shared = rng.normal(size=n)
        a = y + 1.5 * shared + 0.5 * rng.normal(size=n)
        b = y + 1.5 * shared + 0.5 * rng.normal(size=n)
        return y, a, b

    truth = []
    for _ in range(300):
        y, a, b = sample(1500)
        truth.append(roc_auc_score(y, a) - roc_auc_score(y, b))
    y, a, b = sample(1500)
    frame = pl.LazyFrame({"id": np.arange(1500), "y": y, "a": a, "b": b})
    drawn = poisson_resamples(frame, label="y", scores=["a", "b"], key="id", n_resamples=120)
    auc = {
        name: [evaluate(one, prior=0, level=None)["roc_auc"].value for one in drawn[name]]
        for name in ("a", "b")
    }
    found = np.std(np.subtract(auc["a"], auc["b"]))
    assert found == pytest.approx(np.std(truth), rel=0.3)
    # Without pairing it would be far more.
    assert np.hypot(np.std(auc["a"]), np.std(auc["b"])) > 1.5 * np.std(truth)
    assert len({one.n for one in drawn["a"]}) > 50
    for one, other in zip(drawn["a"], drawn["b"], strict=True):
        assert (one.n_labeled, one.n_unlabeled) == (other.n_labeled, other.n_unlabeled)


def test_refused():
    frame = pl.LazyFrame({"y": [1, 0, 0], "s": [3.0, 2.0, 1.0], "id": [1, None, 3],
                          "text": ["a", "b", "c"], "far": [1, 2, 2**60]})  # fmt: skip

    def refused(match, **given):
        with pytest.raises(InputError, match=match):
            poisson_resamples(frame, **{"label": "y", "scores": "s", "key": "id"} | given)

    refused("1 row with a missing key .column 'id'")
    refused("key column 'text' must hold integers", key="text")
    refused(r"keys must lie within ±2\*\*53; got 1 beyond", key="far")
    refused("no key column 'ids'. Did you mean 'id'", key="ids")
    refused("n_resamples must be a whole number", n_resamples=0)
    refused("must be a power of 2", bins=7)
    refused("at least one column", scores=[])
    refused("with an unrecognized label", label="far")


def test_one_score():
    frame = pl.DataFrame({"y": [1, 0] * 50, "s": np.arange(100.0), "id": np.arange(100)})
    (only,) = poisson_resamples(frame, label="y", scores="s", key="id", n_resamples=1).values()
    assert isinstance(only[0], Counts)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, True])
def test_seeds_that_are_none(seed):
    frame = pl.LazyFrame({"y": [1, 0], "s": [1.0, 2.0], "k": [1, 2]})
    with pytest.raises(InputError, match="seed must be a whole number of at least 0; got"):
        poisson_resamples(frame, label="y", scores="s", key="k", n_resamples=2, seed=seed)
