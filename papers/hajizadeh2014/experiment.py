"""260 configurations of newsgroups and digits, three labeling mechanisms, eight measures."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from papers.data import cache_folder, digits, newsgroups
from pueval import Counts
from pueval.ranking import ranking_measures
from pueval.simulate import label_at_random, label_by_representativeness, representativeness

SCENARIOS = ("random", "scenario 1", "scenario 2")
# Share of positives among the unlabeled rows of the test set.
PRIORS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
# Half of the positives are labeled, in both training and test set.
LABEL_FREQUENCY = 0.5
# A logistic regression trained on PU labels is turned by so many degrees toward a random direction,
# and tested on so many positives: 13 configurations, from good to bad, on small and large sets.
TURNS = (0, 6, 12, 19, 25, 31, 37, 44, 50, 56, 62, 69, 75)
POSITIVES = (20, 60, 150, 300)
GROUPS = tuple(range(0, 20, 2))
DIGITS = tuple(range(10))


@lru_cache(maxsize=2)
def inputs(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Return forty inputs and the class of each row, from the cache if possible."""
    path = cache_folder() / f"hajizadeh_{data}.npz"
    if not path.exists():
        if data == "newsgroups":
            counts, label, _ = newsgroups()
            reduced = TruncatedSVD(40, random_state=0).fit_transform(
                TfidfTransformer(sublinear_tf=True).fit_transform(counts)
            )
        else:
            images, label = digits()
            reduced = PCA(40, random_state=0).fit_transform(images)
        reduced = reduced / reduced.std(axis=0)
        np.savez_compressed(path, X=reduced.astype(np.float32), label=label)
    with np.load(path) as stored:
        return stored["X"].astype(np.float64), stored["label"]


def label(
    truth: np.ndarray, depth: np.ndarray, scenario: str, rng: np.random.Generator
) -> np.ndarray:
    """Label half of the positives: at random, or the most or least representative ones."""
    if scenario == "random":
        return label_at_random(truth, label_frequency=LABEL_FREQUENCY, seed=rng).label
    first: Any = "most" if scenario == "scenario 1" else "least"
    return label_by_representativeness(
        truth, depth, first=first, label_frequency=LABEL_FREQUENCY, seed=rng
    ).label


def measured(rng: np.random.Generator, data: str, target: int) -> list[dict[str, float | str]]:
    """Train on one half and test on the other, for all scenarios, configurations and priors."""
    X, classes = inputs(data)
    truth = classes == target
    depth = representativeness(X, truth, dimensions=20, seed=rng)
    half = rng.random(truth.size) < 0.5
    train = rng.choice(np.flatnonzero(half), 4000, replace=False)
    found: list[dict[str, float | str]] = []
    for scenario in SCENARIOS:
        labels = label(truth[train], depth[train], scenario, rng)
        model = LogisticRegression(C=0.1, max_iter=200).fit(X[train], labels)
        learned = model.coef_[0] / np.linalg.norm(model.coef_[0])
        for k, turn in enumerate(TURNS):
            size = POSITIVES[(k + target) % len(POSITIVES)]
            ones = rng.choice(np.flatnonzero(~half & truth), size, replace=False)
            zeros = rng.permutation(np.flatnonzero(~half & ~truth))
            test = np.concatenate([ones, zeros])
            positive = np.arange(test.size) < size
            known = label(positive, depth[test], scenario, rng)
            hidden = size - int(known.sum())
            score = X[test] @ _turned(learned, turn, rng)
            for prior in PRIORS:
                # As many negatives as the share of positives among the unlabeled rows asks for.
                n = size + min(round(hidden * (1 - prior) / prior), zeros.size)
                full = ranking_measures(Counts.from_arrays(positive[:n], score[:n]))
                seen = ranking_measures(Counts.from_arrays(known[:n], score[:n]))
                found += [
                    {"scenario": scenario, "prior": prior, "turn": turn, "positives": size,
                     "measure": name, "full": full[name], "seen": seen[name]}
                    for name in full
                ]  # fmt: skip
    return found


def _turned(direction: np.ndarray, degrees: float, rng: np.random.Generator) -> np.ndarray:
    other = rng.normal(size=direction.size)
    other -= other @ direction * direction
    angle = np.radians(degrees)
    return np.cos(angle) * direction + np.sin(angle) * other / np.linalg.norm(other)
