"""Random mixtures with known prior and purity, for training the networks of `pueval.priors`.

A population is a table of score cells with the shares of the positives and of the negatives in
each. Positives and negatives are mixtures of normal distributions in one to four dimensions. The
score is a linear function, their log density ratio, or that of wrong mixtures, with noise and ties.
Some positives may look like negatives, some negatives almost like positives, some positives may be
beyond all negatives, and some rows of both classes may have a score at random. Samples are drawn
from the cells, so that a million rows cost as little as a hundred.

Beta, gamma, log-normal and t distributions are left out on purpose: the benchmark uses them to test
the networks on shapes that they have not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtri

# Number of cells of a population.
CELLS = 4_096
# A quarter of the cells are drawn from components this much wider, so that tails have many cells.
WIDER, WIDE_SHARE = 1.7, 0.25
# Samples with more rows than this are not untied row by row, but by dividing cells into parts.
MANY_ROWS, PARTS = 50_000, 16


@dataclass(frozen=True)
class Normals:
    """Mixture of isotropic normal distributions."""

    weight: np.ndarray
    center: np.ndarray
    spread: np.ndarray

    def log_density(self, x: np.ndarray) -> np.ndarray:
        squares = np.einsum("ij,ij->i", x, x)[:, None] - 2 * x @ self.center.T
        squares = squares + (self.center**2).sum(axis=1)
        size = np.log(self.weight) - self.center.shape[1] * np.log(self.spread)
        return logsumexp(size - squares / (2 * self.spread**2), axis=1)

    def changed(self, rng: np.random.Generator, amount: float) -> Normals:
        return Normals(
            self.weight,
            self.center + amount * rng.standard_normal(self.center.shape),
            self.spread * np.exp(0.5 * amount * rng.standard_normal(self.spread.shape)),
        )


def normals(rng: np.random.Generator, parts: int, dimensions: int, scatter: float) -> Normals:
    return Normals(
        rng.dirichlet(np.full(parts, 1.2)),
        scatter * rng.standard_normal((parts, dimensions)),
        np.exp(0.3 * rng.standard_normal(parts)),
    )


def draw_classes(
    rng: np.random.Generator, dimensions: int, *, plain: bool
) -> tuple[Normals, Normals]:
    """Return the distributions of the positives and of the negatives."""
    shift = rng.uniform(0.4, 5.5)
    scatter = rng.uniform(0, 1.5)
    positives = normals(rng, int(rng.integers(1, 4)), dimensions, scatter)
    negatives = normals(rng, int(rng.integers(1, 5)), dimensions, scatter)
    positives.center[:, 0] += shift
    if plain:
        return positives, negatives
    if rng.random() < 0.15:
        # Positives of several kinds: some are harder than others.
        positives.center[1:, 0] -= shift * rng.random()
    if rng.random() < 0.15:
        # Hard negatives, not far from the positives.
        negatives.center[1:, 0] += shift * rng.uniform(0, 0.8)
    if rng.random() < 0.12:
        # Easy positives of any share, beyond all negatives.
        share = rng.random()
        positives = Normals(
            np.append(positives.weight * (1 - share), share),
            np.vstack([positives.center, positives.center[:1] + rng.uniform(1, 5)]),
            np.append(positives.spread, np.exp(0.3 * rng.standard_normal())),
        )
    return positives, negatives


def draw_cells(rng: np.random.Generator, *parts: Normals) -> np.ndarray:
    """Return points from all components of several mixtures, some of them from wider ones."""
    center = np.concatenate([part.center for part in parts])
    spread = np.concatenate([part.spread for part in parts])
    component = rng.integers(len(center), size=CELLS)
    spread = spread[component] * np.where(np.arange(CELLS) < WIDE_SHARE * CELLS, WIDER, 1.0)
    return center[component] + spread[:, None] * rng.standard_normal((CELLS, center.shape[1]))


def proposal(*parts: Normals) -> Normals:
    """Return the distribution that `draw_cells` draws from."""
    center = np.concatenate([part.center for part in parts])
    spread = np.concatenate([part.spread for part in parts])
    return Normals(
        np.repeat([1 - WIDE_SHARE, WIDE_SHARE], len(center)) / len(center),
        np.concatenate([center, center]),
        np.concatenate([spread, WIDER * spread]),
    )


def shares(log_weight: np.ndarray) -> np.ndarray:
    return np.exp(log_weight - logsumexp(log_weight))


def draw_population(rng: np.random.Generator, *, plain: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of positives and of negatives in each score cell, scores descending.

    A plain population has no hard or easy positives and no hard negatives beyond those of random
    normal mixtures.
    """
    kind = rng.choice(["binormal", "raw", "ratio", "wrong ratio"], p=[0.15, 0.25, 0.35, 0.25])
    if kind == "binormal":
        spread = np.exp(rng.normal(0, 0.25)) if rng.random() < 0.5 else 1.0
        positives = Normals(np.ones(1), np.array([[rng.uniform(0.4, 5.0)]]), np.array([spread]))
        negatives = Normals(np.ones(1), np.zeros((1, 1)), np.ones(1))
    else:
        dimensions = 1 if kind == "raw" else int(rng.integers(1, 5))
        positives, negatives = draw_classes(rng, dimensions, plain=plain)
    x = draw_cells(rng, positives, negatives)
    drawn = proposal(positives, negatives).log_density(x)
    log_positive, log_negative = positives.log_density(x), negatives.log_density(x)
    positive, negative = shares(log_positive - drawn), shares(log_negative - drawn)
    if kind in ("binormal", "raw"):
        score = x[:, 0]
    elif kind == "ratio":
        score = log_positive - log_negative
    else:
        amount = rng.uniform(0.1, 0.6)
        wrong = positives.changed(rng, amount), negatives.changed(rng, amount)
        score = wrong[0].log_density(x) - wrong[1].log_density(x)
    return disturb(rng, score, positive, negative, plain=plain)


def disturb(
    rng: np.random.Generator,
    score: np.ndarray,
    positive: np.ndarray,
    negative: np.ndarray,
    *,
    plain: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Add noise, hard positives, rows with random scores and ties; return the cells in order.

    With ties, there are fewer cells.
    """
    means = positive @ score, negative @ score
    spread = sum(
        np.sqrt(share @ (score - mean) ** 2)
        for share, mean in zip((positive, negative), means, strict=True)
    )
    if rng.random() < 0.3:
        noise = rng.laplace if rng.random() < 0.5 else rng.normal
        score = score + noise(0, spread * 10 ** rng.uniform(-1.5, -0.2), score.size)
    if not plain and rng.random() < 0.12:
        # Positives that look like negatives, of any share.
        share = 0.8 * rng.random()
        positive = (1 - share) * positive + share * negative
    if rng.random() < 0.3:
        share = 0.25 * rng.random() ** 2
        anywhere = random_scores(rng, score, positive + negative)
        positive = (1 - share) * positive + share * anywhere
        negative = (1 - share) * negative + share * anywhere
    order = np.argsort(-score)
    score, positive, negative = score[order], positive[order], negative[order]
    if rng.random() < 0.2:
        levels = np.round(score / spread * 10 ** rng.uniform(0.3, 2))
        first = np.flatnonzero(np.r_[True, np.diff(levels) < 0])
        positive, negative = (np.add.reduceat(share, first) for share in (positive, negative))
    return positive, negative


def random_scores(rng: np.random.Generator, score: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return cell shares of scores that tell nothing of the class, a normal curve over ranks."""
    order = np.argsort(score)
    rank = np.cumsum(weight[order]) - weight[order] / 2
    z = ndtri(np.clip(rank / weight.sum(), 1e-9, 1 - 1e-9))
    center, spread = rng.normal(0, 0.5), rng.uniform(0.3, 1.5)
    density = np.exp(z**2 / 2 - ((z - center) / spread) ** 2 / 2)
    result = np.empty_like(score)
    result[order] = weight[order] * np.minimum(density, 1e3)
    return result / result.sum()


def draw_sizes(rng: np.random.Generator, *, few: bool) -> tuple[int, int]:
    """Return numbers of labeled and unlabeled rows, up to 200,000 and a million if not few."""

    def log_uniform(low: float, high: float) -> int:
        return round(np.exp(rng.uniform(np.log(low), np.log(high))))

    n_labeled = log_uniform(20, 3_000) if few or rng.random() < 0.7 else log_uniform(3_000, 200_000)
    n_unlabeled = log_uniform(100, 20_000) if few or rng.random() < 0.65 else log_uniform(2e4, 1e6)
    return n_labeled, n_unlabeled


def draw_truth(rng: np.random.Generator, *, pure: bool) -> tuple[float, float]:
    """Return a random prior and purity."""
    purity = 1.0
    if not pure and rng.random() < 0.75:
        purity = 1 - 0.5 * rng.random() ** 1.5
    while True:
        prior = rng.uniform(0, 0.95) if rng.random() < 0.85 else 10 ** rng.uniform(-3, -0.5)
        if prior < purity - 0.05:
            return prior, purity


def untie(
    rng: np.random.Generator, labeled: np.ndarray, unlabeled: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Put the rows of each cell in random order, as scores without ties are."""
    if labeled.sum() + unlabeled.sum() > MANY_ROWS:
        even = np.full(PARTS, 1 / PARTS)
        return rng.multinomial(labeled, even).ravel(), rng.multinomial(unlabeled, even).ravel()
    cells = np.arange(labeled.size)
    place = np.concatenate([np.repeat(cells, labeled), np.repeat(cells, unlabeled)])
    order = np.argsort(place + rng.random(place.size))
    is_labeled = order < labeled.sum()
    return is_labeled.astype(np.int64), (~is_labeled).astype(np.int64)


def draw_sample(
    rng: np.random.Generator, *, pure: bool, plain: bool = False
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return labeled and unlabeled rows of each score, descending, and prior and purity."""
    prior, purity = draw_truth(rng, pure=pure)
    n_labeled, n_unlabeled = draw_sizes(rng, few=plain)
    positive, negative = draw_population(rng, plain=plain)
    labeled = rng.multinomial(n_labeled, purity * positive + (1 - purity) * negative)
    unlabeled = rng.multinomial(n_unlabeled, prior * positive + (1 - prior) * negative)
    if positive.size == CELLS:
        labeled, unlabeled = untie(rng, labeled, unlabeled)
    used = labeled + unlabeled > 0
    return labeled[used], unlabeled[used], prior, purity
