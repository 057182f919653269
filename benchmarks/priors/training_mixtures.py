"""Random mixtures with known prior and purity, for training the ROC network.

Positives and negatives are mixtures of normal distributions in one to four dimensions. The score is
their log density ratio, that of wrong mixtures, or a linear function, with noise and ties. Beta,
gamma, log-normal and t distributions are excluded on purpose: the benchmark uses them to test the
network on shapes it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval.priors._roc_features import roc_features


@dataclass(frozen=True)
class Normals:
    """Mixture of isotropic normal distributions."""

    weight: np.ndarray
    center: np.ndarray
    spread: np.ndarray

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        x = rng.standard_normal((n, self.center.shape[1]), dtype=np.float32)
        stops = np.cumsum(rng.multinomial(n, self.weight))
        for start, stop, center, spread in zip(
            [0, *stops[:-1]], stops, self.center, self.spread, strict=True
        ):
            x[start:stop] = center + spread * x[start:stop]
        return rng.permutation(x)

    def log_density(self, x: np.ndarray) -> np.ndarray:
        center = self.center.astype(x.dtype)
        squares = np.einsum("ij,ij->i", x, x)[:, None] - 2 * x @ center.T + (center**2).sum(axis=1)
        size = np.log(self.weight) - self.center.shape[1] * np.log(self.spread)
        parts = (size - squares / (2 * self.spread**2)).astype(x.dtype)
        highest = parts.max(axis=1, keepdims=True)
        return highest[:, 0] + np.log(np.exp(parts - highest).sum(axis=1))

    def changed(self, rng: np.random.Generator, amount: float) -> Normals:
        return Normals(
            self.weight,
            self.center + amount * rng.standard_normal(self.center.shape),
            self.spread * np.exp(0.5 * amount * rng.standard_normal(self.spread.shape)),
        )


def normals(rng: np.random.Generator, parts: int, dimensions: int, scatter: float) -> Normals:
    return Normals(
        rng.dirichlet(np.full(parts, 1.5)),
        scatter * rng.standard_normal((parts, dimensions)),
        np.exp(0.3 * rng.standard_normal(parts)),
    )


def draw_scores(
    rng: np.random.Generator, n_positive: int, n_negative: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of positives and of negatives for one random problem."""
    shift = rng.uniform(0.4, 5.0)
    kind = rng.choice(["binormal", "raw", "ratio", "wrong ratio"], p=[0.2, 0.2, 0.4, 0.2])
    if kind == "binormal":
        spread = np.exp(rng.normal(0, 0.25)) if rng.random() < 0.5 else 1.0
        positive = shift + spread * rng.standard_normal(n_positive)
        negative = rng.standard_normal(n_negative)
    else:
        dimensions = 1 if kind == "raw" else int(rng.integers(1, 5))
        scatter = rng.uniform(0, 1.5)
        of_positive = normals(rng, int(rng.integers(1, 4)), dimensions, scatter)
        of_negative = normals(rng, int(rng.integers(1, 5)), dimensions, scatter)
        of_positive.center[:, 0] += shift
        x = np.concatenate([of_positive.draw(rng, n_positive), of_negative.draw(rng, n_negative)])
        if kind == "raw":
            score = x[:, 0]
        else:
            if kind == "wrong ratio":
                amount = rng.uniform(0.1, 0.6)
                of_positive = of_positive.changed(rng, amount)
                of_negative = of_negative.changed(rng, amount)
            score = of_positive.log_density(x) - of_negative.log_density(x)
        positive, negative = score[:n_positive], score[n_positive:]
    scale = negative.std() + positive.std()
    if rng.random() < 0.4:
        noise = rng.laplace if rng.random() < 0.5 else rng.normal
        amount = scale * 10 ** rng.uniform(-1.5, -0.2)
        positive = positive + noise(0, amount, n_positive)
        negative = negative + noise(0, amount, n_negative)
    if rng.random() < 0.4:
        shuffle_some(rng, positive, negative, 0.3 * rng.random() ** 2)
    if rng.random() < 0.2:
        step = scale / 10 ** rng.uniform(0.3, 2)
        positive, negative = np.round(positive / step), np.round(negative / step)
    return positive, negative


def shuffle_some(
    rng: np.random.Generator, positive: np.ndarray, negative: np.ndarray, share: float
) -> None:
    """Give a share of the rows a score that is independent of their class.

    The highest scores then include negatives, and the lowest include positives.
    """
    middle = negative.mean() + rng.random() * (positive.mean() - negative.mean())
    spread = (negative.std() + positive.std()) * rng.uniform(0.3, 1.5)
    for score in (positive, negative):
        chosen = rng.random(score.size) < share
        score[chosen] = rng.normal(middle, spread, chosen.sum())


def draw_truth(rng: np.random.Generator, *, pure: bool) -> tuple[float, float, int, int]:
    """Return random values of prior, purity, n1 and n."""
    n1 = round(10 ** rng.uniform(np.log10(20), np.log10(2000)))
    n = round(10 ** rng.uniform(2, np.log10(20000)))
    purity = 1.0
    if not pure and rng.random() < 0.75:
        purity = 1 - 0.5 * rng.random() ** 1.5
    while True:
        prior = rng.uniform(0, 0.9)
        if prior < purity - 0.1:
            return prior, purity, n1, n


def draw_example(rng: np.random.Generator, *, pure: bool) -> tuple[np.ndarray, float, float]:
    """Return features, prior and purity of one random sample."""
    prior, purity, n1, n = draw_truth(rng, pure=pure)
    labeled_positive, hidden = round(n1 * purity), round(n * prior)
    positive, negative = draw_scores(
        rng, labeled_positive + hidden, n1 - labeled_positive + n - hidden
    )
    labeled = np.concatenate([positive[:labeled_positive], negative[: n1 - labeled_positive]])
    unlabeled = np.concatenate([positive[labeled_positive:], negative[n1 - labeled_positive :]])
    features = roc_features(*count(labeled, unlabeled))
    return features, hidden / n, labeled_positive / n1


def count(labeled: np.ndarray, unlabeled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of labeled and unlabeled rows at each distinct score, descending."""
    value, place = np.unique(np.concatenate([labeled, unlabeled]), return_inverse=True)
    place = value.size - 1 - place
    return (
        np.bincount(place[: labeled.size], minlength=value.size),
        np.bincount(place[labeled.size :], minlength=value.size),
    )


def draw_examples(
    seed: int, number: int, *, pure: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, priors and purities of many samples."""
    rng = np.random.default_rng((seed, int(pure)))
    drawn = [draw_example(rng, pure=pure) for _ in range(number)]
    features, prior, purity = zip(*drawn, strict=True)
    return np.array(features), np.array(prior), np.array(purity)
