"""Random classifiers, random labels, and what F1 and Lee–Liu say about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from papers.data import load
from pueval.measures import fbeta
from pueval.rates import Rates
from pueval.simulate import Labeling, label_at_random

F1 = fbeta(1)
NAMES = {"generated": "generated", "iris": "iris", "heart": "heart disease"}


@dataclass(frozen=True, eq=False)
class Tables:
    """What a labeling shows about some classifiers: a column of counts for each."""

    truth: np.ndarray
    labeled: np.ndarray
    predicted: np.ndarray

    @property
    def true_f1(self) -> np.ndarray:
        hits = self.predicted[:, self.truth].sum(axis=1)
        return 2 * hits / (self.predicted.sum(axis=1) + self.truth.sum())

    @property
    def recall(self) -> np.ndarray:
        return self.predicted[:, self.labeled].mean(axis=1)

    def f1(self, label_frequency: float) -> np.ndarray:
        """F1 from the label frequency, for all classifiers at once, by pueval's formula."""
        share = self.predicted.mean(axis=1)
        prevalence = self.labeled.mean() / label_frequency
        zero = np.zeros(share.size)
        return F1(Rates(zero, self.recall, zero, share, prevalence, self.truth.size))

    def lee_liu(self) -> np.ndarray:
        """Recall² over the share predicted positive."""
        return self.recall**2 / self.predicted.mean(axis=1)


def generated(rng: np.random.Generator, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Points in the unit square; positive above the line X2 = X1 + 0.2."""
    X = rng.random((n, 2))
    return X, X[:, 0] + 0.2 < X[:, 1]


def rows(data: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and classes."""
    if data == "generated":
        return generated(rng)
    found = load(data)
    scale = found.X.std(axis=0)
    return (found.X - found.X.mean(axis=0)) / np.where(scale > 0, scale, 1), found.y


def classifiers(
    data: str, X: np.ndarray, target: np.ndarray, rng: np.random.Generator, n: int
) -> np.ndarray:
    """Predictions of n random classifiers that predict some rows, but not all, positive.

    Lines in the square, hyperplanes through iris; forests are trained on ``target``.
    """
    found: list[np.ndarray] = []
    while len(found) < n:
        if data == "generated":
            slope, intercept = rng.uniform(-3, 3), rng.uniform(-2, 2)
            predicted = X[:, 1] > slope * X[:, 0] + intercept
        elif data == "iris":
            predicted = X @ rng.uniform(-1, 1, X.shape[1]) + rng.uniform(-3, 3) > 0
        else:
            forest = RandomForestClassifier(
                int(rng.integers(1, 100)), max_depth=int(rng.integers(1, 10)),
                class_weight="balanced", random_state=int(rng.integers(2**31)),
            )  # fmt: skip
            predicted = cross_val_predict(forest, X, target, cv=3).astype(bool)
        if 0 < predicted.sum() < predicted.size:
            found.append(predicted)
    return np.stack(found)


def see(truth: np.ndarray, label_frequency: float, predicted: np.ndarray, rng: Any) -> Tables:
    """Label positives at random."""
    made: Labeling = label_at_random(truth, label_frequency=label_frequency, seed=rng)
    return Tables(truth, made.label.astype(bool), predicted)


def squared_errors(
    rng: np.random.Generator, data: str, train: str, number: int
) -> dict[str, float]:
    """Mean squared errors of both scores over random classifiers, at label frequency 0.3."""
    X, truth = rows(data, rng)
    made = label_at_random(truth, label_frequency=0.3, seed=rng)
    labeled = made.label.astype(bool)
    target = labeled if train == "labels" else truth
    seen = Tables(truth, labeled, classifiers(data, X, target, rng, number))
    true = seen.true_f1
    return {
        "f1": float(np.mean((seen.f1(made.label_frequency) - true) ** 2)),
        "lee_liu": float(np.mean((seen.lee_liu() - true) ** 2)),
    }


def inversions(true: np.ndarray, score: np.ndarray) -> float:
    """Percentage of pairs of classifiers that a score puts in the wrong order."""
    better = true[:, None] > true
    wrong = better & (score[:, None] < score)
    return float(100 * wrong.sum() / (true.size * (true.size - 1) / 2))


def orders(
    rng: np.random.Generator, data: str, label_frequency: float, number: int, factors: list[float]
) -> list[dict[str, float]]:
    """Inversions by F1, with the label frequency wrong by some factors, and by Lee–Liu."""
    X, truth = rows(data, rng)
    predicted = (
        _fixed_forests(number) if data == "heart" else classifiers(data, X, truth, rng, number)
    )
    seen = see(truth, label_frequency, predicted, rng)
    true, rho = seen.true_f1, seen.labeled.sum() / truth.sum()
    found = [{"factor": c, "inversions": inversions(true, seen.f1(rho * c))} for c in factors]
    return [*found, {"factor": 0.0, "inversions": inversions(true, seen.lee_liu())}]


_FORESTS: dict[int, np.ndarray] = {}


def _fixed_forests(number: int) -> np.ndarray:
    """Forests trained on the classes, once: only the labels change between repetitions."""
    if number not in _FORESTS:
        rng = np.random.default_rng(0)
        X, truth = rows("heart", rng)
        _FORESTS[number] = classifiers("heart", X, truth, rng, number)
    return _FORESTS[number]
