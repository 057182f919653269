"""260 weighted support vector machines on newsgroups and digits, three labelings, eight measures."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from papers.data import cache_folder, digits, newsgroups
from papers.hajizadeh2014.classifiers import WEIGHTINGS, weighted_svms
from pueval import Counts
from pueval.ranking import ranking_measures
from pueval.simulate import label_at_random, label_by_representativeness, representativeness

SCENARIOS = ("random", "scenario 1", "scenario 2")
# Share of positives among the unlabeled rows of the test set.
PRIORS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
# Half of the positives are labeled, in both training and test set.
LABEL_FREQUENCY = 0.5
FOLDS = 8
# Numbers of positives in test sets: all of a fold, as in the paper; the same in all test sets; or one
# of four that changes between configurations.
ALL = 10**6
SIZES = {"folds": (ALL,), "one size": (60,), "mixed sizes": (15, 30, 60, ALL)}
GROUPS = tuple(range(0, 20, 2))
DIGITS = tuple(range(10))
TRAINING_ROWS = 4000


@lru_cache(maxsize=2)
def inputs(data: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the features of the paper, twenty dimensions of them, and the class of each row."""
    if data == "newsgroups":
        counts, label, _ = newsgroups()
        features: Any = sparse.csr_matrix(TfidfTransformer().fit_transform(counts))
    else:
        images, label = digits()
        features = images.astype(np.float64) / 255
    path = cache_folder() / f"hajizadeh_{data}_20.npy"
    if not path.exists():
        reduce = TruncatedSVD if data == "newsgroups" else PCA
        np.save(path, reduce(20, random_state=0).fit_transform(features))
    return features, np.load(path), np.asarray(label)


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
    """Train on seven of eight folds and test on the other, for all scenarios and classifiers."""
    X, reduced, classes = inputs(data)
    truth = classes == target
    depth = representativeness(reduced, truth, seed=rng)
    fold = rng.permutation(np.arange(truth.size) % FOLDS)
    train = rng.choice(np.flatnonzero(fold > 0), TRAINING_ROWS, replace=False)
    ones = rng.permutation(np.flatnonzero((fold == 0) & truth))
    zeros = rng.permutation(np.flatnonzero((fold == 0) & ~truth))
    found: list[dict[str, float | str]] = []
    for scenario in SCENARIOS:
        labels = label(truth[train], depth[train], scenario, rng)
        test = np.concatenate([ones, zeros])
        known = label(np.arange(test.size) < ones.size, depth[test], scenario, rng)
        scores = weighted_svms(X[train], labels, X[test], rng)
        for k, (name, score) in enumerate(scores.items()):
            for regime, sizes in SIZES.items():
                size = min(sizes[(k + target) % len(sizes)], ones.size)
                # The labels of a part of the positives are drawn anew for that part.
                kept = np.r_[:size, ones.size : test.size]
                seen = (
                    known
                    if size == ones.size
                    else label(np.arange(kept.size) < size, depth[test[kept]], scenario, rng)
                )
                found += [
                    {"scenario": scenario, "classifier": name, "regime": regime,
                     "positives": size, **row}
                    for row in by_prior(score[kept], seen, size)
                ]  # fmt: skip
    return found


def by_prior(score: np.ndarray, known: np.ndarray, positives: int) -> list[dict[str, float | str]]:
    """Return all measures, by true classes and by PU labels; the first rows are the positives.

    Negatives are left out until positives have the given share of the unlabeled rows.
    """
    truth = np.arange(score.size) < positives
    hidden = positives - int(known.sum())
    found: list[dict[str, float | str]] = []
    for prior in PRIORS:
        n = positives + min(round(hidden * (1 - prior) / prior), score.size - positives)
        full = ranking_measures(Counts.from_arrays(truth[:n], score[:n]))
        seen = ranking_measures(Counts.from_arrays(known[:n], score[:n]))
        found.append(
            {"prior": prior}
            | {f"full {name}": value for name, value in full.items()}
            | {f"seen {name}": value for name, value in seen.items()}
        )
    return found


CONFIGURATIONS = len(WEIGHTINGS) * (len(GROUPS) + len(DIGITS))
