"""F1 and Lee–Liu for random classifiers and random labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import minmax_scale

from papers.data import load
from pueval.core.measures import fbeta
from pueval.core.rates import Rates
from pueval.simulate import label_at_random, label_by_propensity

F1 = fbeta(1)
NAMES = {"generated": "generated", "iris": "iris", "heart": "heart disease"}


@dataclass(frozen=True, eq=False)
class Tables:
    """Observed counts of several classifiers for one labeling, one column per classifier."""

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
        """Return F1 for all classifiers at once, from the label frequency by pueval's formula."""
        share = self.predicted.mean(axis=1)
        prevalence = self.labeled.mean() / label_frequency
        zero = np.zeros(share.size)
        return F1(Rates(zero, self.recall, zero, share, prevalence, self.truth.size))

    def lee_liu(self) -> np.ndarray:
        """Return recall² divided by the share predicted positive."""
        return self.recall**2 / self.predicted.mean(axis=1)


def generated(rng: np.random.Generator, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Points in the unit square; positive above the line X2 = X1 + 0.2."""
    X = rng.random((n, 2))
    return X, X[:, 0] + 0.2 < X[:, 1]


def rows(data: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs, scaled to [0, 1], and classes."""
    if data == "generated":
        return generated(rng)
    found = load(data)
    return minmax_scale(found.X), found.y


def classifiers(
    data: str,
    X: np.ndarray,
    labeled: np.ndarray,
    rng: np.random.Generator,
    n: int,
    target: np.ndarray | None = None,
) -> np.ndarray:
    """Return predictions of n random classifiers, as in the notebooks of the authors.

    Lines through a random point of the square at a random angle, positive where most of the
    labeled points are; hyperplanes with all weights uniform in (−3, 3) that leave rows on both
    sides; forests, of which there is no notebook, predict out of fold after training on ``target``
    (the labels, if not given).
    """
    if data == "generated":
        predicted = _lines(X, rng, n)
        return predicted ^ (predicted[:, labeled].mean(axis=1) < 0.5)[:, None]
    found: list[np.ndarray] = []
    while len(found) < n:
        if data == "iris":
            *weights, intercept = rng.uniform(-3, 3, X.shape[1] + 1)
            predicted = X @ weights + intercept > 0
        else:
            predicted = _forest(X, labeled if target is None else target, rng)
        if 0 < predicted.sum() < predicted.size:
            found.append(predicted)
    return np.stack(found)


def _lines(X: np.ndarray, rng: np.random.Generator, n: int) -> np.ndarray:
    across, up = rng.random((2, n, 1))
    slope = np.tan(rng.uniform(0, 2 * np.pi, (n, 1)))
    return X[:, 1] < up + slope * (X[:, 0] - across)


def _forest(X: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    forest = RandomForestClassifier(
        int(rng.integers(1, 100)), max_depth=int(rng.integers(1, 10)),
        class_weight="balanced", random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    return cross_val_predict(forest, X, target, cv=3).astype(bool)


def see(truth: np.ndarray, label_frequency: float, rng: np.random.Generator) -> np.ndarray:
    """Label a share of the positives at random."""
    return label_at_random(truth, label_frequency=label_frequency, seed=rng).label.astype(bool)


def see_each(truth: np.ndarray, label_frequency: float, rng: np.random.Generator) -> np.ndarray:
    """Label each positive with the same probability: the share of labeled ones varies."""
    chance = np.full(truth.size, label_frequency)
    return label_by_propensity(truth, chance, seed=rng).label.astype(bool)


def errors(rng: np.random.Generator, data: str, train: str, number: int) -> dict[str, float]:
    """Return root mean squared errors of both scores over random classifiers, at label frequency 0.3.

    On generated data F1 is given the label frequency 0.3, elsewhere the share that was labeled.
    ``by_number`` is the score of Lee and Liu with the number of rows predicted positive in place of
    their share.
    """
    X, truth = rows(data, rng)
    labeled = (see if data == "heart" else see_each)(truth, 0.3, rng)
    target = truth if train == "classes" else None
    seen = Tables(truth, labeled, classifiers(data, X, labeled, rng, number, target))
    known = 0.3 if data == "generated" else float(labeled.sum() / truth.sum())
    scores = {
        "f1": seen.f1(known),
        "lee_liu": seen.lee_liu(),
        "by_number": seen.lee_liu() / truth.size,
    }
    return {
        name: float(np.sqrt(np.mean((score - seen.true_f1) ** 2))) for name, score in scores.items()
    }


def estimated_label_frequency(
    rng: np.random.Generator, data: str, label_frequency: float
) -> list[dict[str, float | str]]:
    """Estimate the label frequency from predictions for labeled rows that were left out.

    Without one of the S labeled rows, S − 1 of P − 1 positives are labeled. The mean predicted
    probability of a label over left-out labeled rows estimates this share.
    """
    X, truth = rows(data, rng)
    labeled = see(truth, label_frequency, rng)
    number = int(labeled.sum())
    found: list[dict[str, float | str]] = []
    for kind in ("forest", "logistic regression"):
        probabilities = []
        for row in np.flatnonzero(labeled):
            kept = np.arange(truth.size) != row
            model = (
                RandomForestClassifier(10, random_state=int(rng.integers(2**31)))
                if kind == "forest"
                else LogisticRegression()
            )
            model.fit(X[kept], labeled[kept])
            probabilities.append(model.predict_proba(X[[row]])[0, 1])
        share = float(np.mean(probabilities))
        # No prediction above 0: no finite number of positives.
        estimate = number / ((number - 1) / share + 1) if share > 0 else 0.0
        found.append({"classifier": kind, "estimate": estimate})
    return found


def inversions(true: np.ndarray, score: np.ndarray) -> float:
    """Return the percentage of pairs of classifiers that a score orders wrongly."""
    better = true[:, None] > true
    wrong = better & (score[:, None] < score)
    return float(100 * wrong.sum() / (true.size * (true.size - 1) / 2))


def orders(
    rng: np.random.Generator, data: str, label_frequency: float, number: int, factors: list[float]
) -> list[dict[str, float]]:
    """Return inversions by F1, also with wrong label frequencies, and by Lee–Liu."""
    X, truth = rows(data, rng)
    labeled = see(truth, label_frequency, rng)
    seen = Tables(
        truth,
        labeled,
        _fixed_forests(number) if data == "heart" else classifiers(data, X, labeled, rng, number),
    )
    true, rho = seen.true_f1, seen.labeled.sum() / truth.sum()
    found = [{"factor": c, "inversions": inversions(true, seen.f1(rho * c))} for c in factors]
    return [*found, {"factor": 0.0, "inversions": inversions(true, seen.lee_liu())}]


_FORESTS: dict[int, np.ndarray] = {}


def _fixed_forests(number: int) -> np.ndarray:
    """Return forests trained once on the classes; only labels change between repetitions."""
    if number not in _FORESTS:
        rng = np.random.default_rng(0)
        X, truth = rows("heart", rng)
        _FORESTS[number] = classifiers("heart", X, truth, rng, number)
    return _FORESTS[number]
