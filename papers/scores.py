"""Out-of-bag scores of networks on real data, kept in the cache folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from papers.data import cache_folder, load
from papers.networks import OutOfBag, out_of_bag_scores
from pueval import Counts
from pueval.simulate import label_at_random

# Largest number of training rows of a traditional classifier; no PU data set has more.
MAX_ROWS = 11_000


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores, PU labels and true classes of a data set, and epochs of the longest training."""

    score: np.ndarray
    label: np.ndarray
    truth: np.ndarray
    epochs: int = 0

    @property
    def counts(self) -> Counts:
        return Counts.from_arrays(self.label, self.score)

    @property
    def prior(self) -> float:
        return float(self.truth[self.label == 0].mean())

    @property
    def purity(self) -> float:
        return float(self.truth[self.label == 1].mean())


@dataclass(frozen=True)
class Networks:
    """Number of networks and of hidden neurons."""

    number: int
    hidden: int


def pu_scores(
    data: str, *, labeled: int, unlabeled: int, purity: float, networks: Networks, repetition: int
) -> Scored:
    """Label rows at random, train networks on the labels, and score all rows out of bag."""
    key = f"pu, 5000 epochs, {data} {labeled} {unlabeled} {purity:g} {networks} {repetition}"

    def make(rng: np.random.Generator) -> dict[str, np.ndarray]:
        rows = load(data)
        made = label_at_random(
            rows.y, count=labeled, purity=purity, n_unlabeled=unlabeled, seed=rng
        )
        found = out_of_bag_scores(
            rows.X[made.rows], made.label, rng=rng, networks=networks.number, hidden=networks.hidden
        )
        return _stored(found, made.label, made.truth)

    return Scored(**_cached(key, make))


def traditional_scores(data: str, *, networks: Networks, repetition: int) -> Scored:
    """Train networks on the true classes; the label of every row is its class."""
    key = f"traditional, 5000 epochs, {data} {networks} {repetition} {MAX_ROWS}"

    def make(rng: np.random.Generator) -> dict[str, np.ndarray]:
        rows = load(data)
        kept = np.sort(rng.permutation(rows.y.size)[:MAX_ROWS])
        truth = rows.y[kept]
        found = out_of_bag_scores(
            rows.X[kept], truth, rng=rng, networks=networks.number, hidden=networks.hidden
        )
        return _stored(found, truth.astype(np.int8), truth)

    return Scored(**_cached(key, make))


def _stored(found: OutOfBag, label: np.ndarray, truth: np.ndarray) -> dict[str, np.ndarray]:
    score = found.score.astype(np.float32)
    return {"score": score, "label": label, "truth": truth, "epochs": np.array(found.epochs)}


def _cached(key: str, make) -> dict[str, np.ndarray]:
    """Load a cached result, or compute and cache it."""
    digest = hashlib.sha256(key.encode()).digest()
    path = cache_folder() / f"{digest[:8].hex()}.npz"
    if path.exists():
        with np.load(path) as stored:
            if str(stored["key"]) == key:
                return {name: stored[name] for name in stored.files if name != "key"}
    found = make(np.random.default_rng(np.frombuffer(digest, dtype=np.uint32).tolist()))
    partial = path.with_suffix(".part.npz")
    np.savez_compressed(partial, key=key, **found)
    partial.replace(path)
    return found
