"""260 classifiers of newsgroups and digits, three ways of labeling, eight measures."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from papers.data import cache_folder, digits, newsgroups
from pueval import Counts
from pueval.ranking import ranking_measures
from pueval.simulate import label_at_random, label_by_representativeness, representativeness

SCENARIOS = ("random", "scenario 1", "scenario 2")
# Share of positives among the unlabeled rows of the test set.
PRIORS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
# Half of the positives are labeled, in training and test set alike.
LABEL_FREQUENCY = 0.5
# What makes one classifier better than another: model, number of inputs, number of rows to learn.
CLASSIFIERS = (
    ("logistic", 1, 1.0), ("logistic", 2, 1.0), ("logistic", 4, 1.0), ("logistic", 7, 1.0),
    ("logistic", 12, 1.0), ("logistic", 20, 1.0), ("logistic", 40, 1.0), ("logistic", 40, 0.05),
    ("logistic", 20, 0.02), ("bayes", 2, 1.0), ("bayes", 5, 1.0), ("bayes", 12, 1.0),
    ("bayes", 40, 1.0),
)  # fmt: skip
GROUPS = tuple(range(0, 20, 2))
DIGITS = tuple(range(10))


@lru_cache(maxsize=2)
def inputs(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Forty inputs per row, and the class of each row; made once and kept."""
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
    """Label half of the positives: at random, the most, or the least representative ones."""
    if scenario == "random":
        return label_at_random(truth, label_frequency=LABEL_FREQUENCY, seed=rng).label
    first: Any = "most" if scenario == "scenario 1" else "least"
    return label_by_representativeness(
        truth, depth, first=first, label_frequency=LABEL_FREQUENCY, seed=rng
    ).label


def measured(rng: np.random.Generator, data: str, target: int) -> list[dict[str, float | str]]:
    """Train on one half, test on the other; all classifiers, scenarios and priors."""
    X, classes = inputs(data)
    truth = classes == target
    depth = representativeness(X, truth, dimensions=20, seed=rng)
    half = rng.permutation(truth.size) < truth.size // 2
    found: list[dict[str, float | str]] = []
    for scenario in SCENARIOS:
        train = np.flatnonzero(half)
        labels = label(truth[train], depth[train], scenario, rng)
        scores = _scores(X, train, labels, ~half, rng)
        test = np.flatnonzero(~half)
        known = label(truth[test], depth[test], scenario, rng)
        ones, hidden = np.flatnonzero(truth[test]), int((truth[test] & (known == 0)).sum())
        zeros = rng.permutation(np.flatnonzero(~truth[test]))
        for prior in PRIORS:
            rows = np.concatenate([ones, zeros[: round(hidden * (1 - prior) / prior)]])
            for k, score in enumerate(scores):
                full = ranking_measures(Counts.from_arrays(truth[test][rows], score[rows]))
                seen = ranking_measures(Counts.from_arrays(known[rows], score[rows]))
                found += [
                    {"scenario": scenario, "prior": prior, "classifier": k, "measure": name,
                     "full": full[name], "seen": seen[name]}
                    for name in full
                ]  # fmt: skip
    return found


def _scores(
    X: np.ndarray, train: np.ndarray, labels: np.ndarray, test: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    scores = []
    for model, size, share in CLASSIFIERS:
        rows = np.arange(train.size)
        if share < 1:
            rows = rng.choice(train.size, round(share * train.size), replace=False)
            while labels[rows].sum() < 2:
                rows = rng.choice(train.size, round(share * train.size), replace=False)
        columns = rng.choice(X.shape[1], size, replace=False)
        made = LogisticRegression(max_iter=200) if model == "logistic" else GaussianNB()
        made.fit(X[train[rows]][:, columns], labels[rows])
        chance = made.predict_log_proba(X[test][:, columns])
        scores.append(chance[:, 1] - chance[:, 0])
    return scores
