"""Score distributions with exact tails: normal, beta, and uniform minus beta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import betaincc, betainccinv, betaln, ndtr, ndtri, xlog1py, xlogy

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.errors import InputError
from pueval.simulate._simulation_inputs import check_number, check_positive


class Density(Protocol):
    """Distribution of the scores of one class."""

    def survival(self, threshold: Array) -> Array:
        """Return the probability of a score at or above a threshold."""

    def inverse_survival(self, share: Array) -> Array:
        """Return the threshold that a given share of the scores reaches."""

    def pdf(self, score: Array) -> Array:
        """Return the density."""

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draw scores."""


@dataclass(frozen=True)
class Normal:
    """Normally distributed scores.

    Parameters
    ----------
    mean : float
        Mean.
    spread : float
        Standard deviation, above 0.
    """

    mean: float = 0.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        check_number("mean", self.mean)
        check_positive("spread", self.spread)

    def survival(self, threshold: Array) -> Array:
        """Return the probability of a score at or above a threshold."""
        z = (self.mean - np.asarray(threshold, dtype=np.float64)) / self.spread
        return np.asarray(ndtr(z))

    def inverse_survival(self, share: Array) -> Array:
        """Return the threshold that a given share of the scores reaches."""
        return np.asarray(self.mean - self.spread * ndtri(np.asarray(share, dtype=np.float64)))

    def pdf(self, score: Array) -> Array:
        """Return the density."""
        z = (np.asarray(score, dtype=np.float64) - self.mean) / self.spread
        return np.exp(-z * z / 2) / (self.spread * math.sqrt(2 * math.pi))

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draw scores."""
        return rng.normal(self.mean, self.spread, n)


@dataclass(frozen=True)
class Beta:
    """Scores with a beta distribution on [0, 1].

    Parameters
    ----------
    a : float
        First shape parameter, above 0; near 0 the density is proportional to score^(a − 1).
    b : float
        Second shape parameter, above 0; near 1 the density is proportional to (1 − score)^(b − 1).
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        check_positive("a", self.a)
        check_positive("b", self.b)

    @property
    def mean(self) -> float:
        """Mean score."""
        return self.a / (self.a + self.b)

    @property
    def highest_density(self) -> float:
        """Largest value of the density; infinite if a shape parameter is below 1."""
        if self.a < 1 or self.b < 1:
            return math.inf
        if self.a + self.b == 2:
            return 1.0
        mode = (self.a - 1) / (self.a + self.b - 2)
        return float(self.pdf(np.array([mode]))[0])

    def survival(self, threshold: Array) -> Array:
        """Return the probability of a score at or above a threshold."""
        inside = np.clip(np.asarray(threshold, dtype=np.float64), 0, 1)
        return np.asarray(betaincc(self.a, self.b, inside))

    def inverse_survival(self, share: Array) -> Array:
        """Return the threshold that a given share of the scores reaches."""
        return np.asarray(betainccinv(self.a, self.b, np.asarray(share, dtype=np.float64)))

    def pdf(self, score: Array) -> Array:
        """Return the density."""
        values = np.asarray(score, dtype=np.float64)
        inside = np.clip(values, 0, 1)
        log = xlogy(self.a - 1, inside) + xlog1py(self.b - 1, -inside)
        with np.errstate(over="ignore"):
            density = np.exp(log - betaln(self.a, self.b))
        return np.where((values < 0) | (values > 1), 0.0, density)

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draw scores."""
        return rng.beta(self.a, self.b, n)


@dataclass(frozen=True)
class Remainder:
    """The uniform distribution on [0, 1] with one class removed.

    If all scores are uniform, like relative ranks, and a share π of them is positive with density
    f₁, the negatives have density (1 − π·f₁)/(1 − π). This requires π·f₁ ≤ 1 everywhere.

    Parameters
    ----------
    taken : Beta
        Distribution of the removed class.
    share : float
        Share of the removed class, in (0, 1).
    """

    taken: Beta
    share: float

    def __post_init__(self) -> None:
        check_fraction("share", self.share)
        if self.share * self.taken.highest_density > 1:
            raise InputError(
                f"a prevalence of {self.share:g} is too high for this rank distribution: at some "
                f"rank there would be {self.share * self.taken.highest_density:.3g} times as many "
                "positives as rows. The prevalence must be at most "
                f"{1 / self.taken.highest_density:.3g}."
            )

    def survival(self, threshold: Array) -> Array:
        """Return the probability of a score at or above a threshold."""
        inside = np.clip(np.asarray(threshold, dtype=np.float64), 0, 1)
        return (1 - inside - self.share * self.taken.survival(inside)) / (1 - self.share)

    def inverse_survival(self, share: Array) -> Array:
        """Return the threshold that a given share of the scores reaches, by bisection."""
        target = np.asarray(share, dtype=np.float64)
        low, high = np.zeros(target.shape), np.ones(target.shape)
        for _ in range(60):
            middle = (low + high) / 2
            reached = self.survival(middle) >= target
            low, high = np.where(reached, middle, low), np.where(reached, high, middle)
        return (low + high) / 2

    def pdf(self, score: Array) -> Array:
        """Return the density."""
        values = np.asarray(score, dtype=np.float64)
        density = (1 - self.share * self.taken.pdf(values)) / (1 - self.share)
        return np.where((values < 0) | (values > 1), 0.0, density)

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draw scores by rejection sampling from the uniform distribution."""
        accepted: list[Array] = []
        missing = n
        while missing > 0:
            n_proposed = int(missing / (1 - self.share) * 1.05) + 16
            score = rng.random(n_proposed)
            keep = rng.random(n_proposed) >= self.share * self.taken.pdf(score)
            accepted.append(score[keep][:missing])
            missing -= accepted[-1].size
        return np.concatenate(accepted) if accepted else np.empty(0)
