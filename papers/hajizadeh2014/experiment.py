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
# Numbers of positives in test sets: an eighth of the positives, those of an eighth of all rows, the
# same in all test sets, or one of four that changes between configurations.
REGIMES = ("stratified folds", "random folds", "one size", "mixed sizes")
ONE_SIZE, MIXED_SIZES = 60, (15, 30, 60)
# Positives that are kept for test sets: those of a random fold can be more than an eighth.
TEST_SHARE = 1.5 / FOLDS
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
    """Train and test on different rows, for all scenarios, classifiers and sizes of test sets."""
    X, reduced, classes = inputs(data)
    truth = classes == target
    depth = representativeness(reduced, truth, seed=rng)
    positives, negatives = (rng.permutation(np.flatnonzero(truth == value)) for value in (1, 0))
    ones = positives[: round(TEST_SHARE * positives.size)]
    zeros = negatives[: negatives.size // FOLDS]
    left = np.concatenate([positives[ones.size :], negatives[zeros.size :]])
    train = rng.choice(left, TRAINING_ROWS, replace=False)
    fold = positives.size // FOLDS
    random_fold = min(
        int(rng.hypergeometric(positives.size, negatives.size, truth.size // FOLDS)), ones.size
    )
    found: list[dict[str, float | str]] = []
    for scenario in SCENARIOS:
        labels = label(truth[train], depth[train], scenario, rng)
        test = np.concatenate([ones, zeros])
        scores = weighted_svms(X[train], labels, X[test], rng)
        fold_labels = {
            size: test_labels(depth[test], size, ones.size, scenario, rng)
            for size in {fold, random_fold}
        }
        for k, (name, score) in enumerate(scores.items()):
            mixed = (*MIXED_SIZES, fold)
            sizes = (fold, random_fold, ONE_SIZE, mixed[(k + target) % len(mixed)])
            for regime, size in zip(REGIMES, sizes, strict=True):
                # All classifiers see the same labels of a fold; those of a part of the positives
                # are drawn anew.
                known = fold_labels.get(size)
                if known is None:
                    known = test_labels(depth[test], size, ones.size, scenario, rng)
                kept = np.r_[:size, ones.size : test.size]
                found += [
                    {"scenario": scenario, "classifier": name, "regime": regime,
                     "positives": size, **row}
                    for row in by_prior(score[kept], known, size)
                ]  # fmt: skip
    return found


def test_labels(
    depth: np.ndarray, size: int, n_ones: int, scenario: str, rng: np.random.Generator
) -> np.ndarray:
    """Label half of the first positives of a test set, whose other positives are left out."""
    kept = np.r_[:size, n_ones : depth.size]
    return label(np.arange(kept.size) < size, depth[kept], scenario, rng)


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
