"""Score distributions with exact tails: normal, beta, and what a beta leaves of the uniform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Protocol

import numpy as np
from scipy.special import betaincc, betainccinv, betaln, ndtr, ndtri, xlog1py, xlogy

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.errors import InputError


class Density(Protocol):
    """What a population needs to know about the scores of one class."""

    def above(self, threshold: Array) -> Array:
        """Return the probability of a score at or above a threshold."""
        ...

    def threshold(self, share: Array) -> Array:
        """Return the threshold that a share of the scores reaches."""
        ...

    def pdf(self, score: Array) -> Array:
        """Return the density."""
        ...

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draw scores."""
        ...


@dataclass(frozen=True)
class Normal:
    """Normally distributed scores.

    Parameters
    ----------
    mean : float
        Their mean.
    spread : float
        Their standard deviation, positive.
    """

    mean: float = 0.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        check_number("mean", self.mean)
        check_positive("spread", self.spread)

    def above(self, threshold: Array) -> Array:
        """Return the probability of a score at or above a threshold."""
        tail: Array = ndtr((self.mean - np.asarray(threshold, dtype=np.float64)) / self.spread)
        return tail

    def threshold(self, share: Array) -> Array:
        """Return the threshold that a share of the scores reaches."""
        place: Array = self.mean - self.spread * ndtri(np.asarray(share, dtype=np.float64))
        return place

    def pdf(self, score: Array) -> Array:
        """Return the density."""
        z = (np.asarray(score, dtype=np.float64) - self.mean) / self.spread
        density: Array = np.exp(-z * z / 2) / (self.spread * math.sqrt(2 * math.pi))
        return density

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draw scores."""
        return rng.normal(self.mean, self.spread, n)


@dataclass(frozen=True)
class Beta:
    """Scores with a beta distribution on [0, 1].

    Parameters
    ----------
    rise : float
        First shape parameter, positive: the density rises like score^(rise − 1) from 0.
    fall : float
        Second shape parameter, positive: it falls like (1 − score)^(fall − 1) to 1.
    """

    rise: float
    fall: float

    def __post_init__(self) -> None:
        check_positive("rise", self.rise)
        check_positive("fall", self.fall)

    @property
    def mean(self) -> float:
        """Mean score."""
        return self.rise / (self.rise + self.fall)

    @property
    def highest_density(self) -> float:
        """The largest value of the density; infinite if a shape parameter is below 1."""
        if self.rise < 1 or self.fall < 1:
            return math.inf
        if self.rise + self.fall == 2:
            return 1.0
        mode = (self.rise - 1) / (self.rise + self.fall - 2)
        return float(self.pdf(np.array([mode]))[0])

    def above(self, threshold: Array) -> Array:
        """Return the probability of a score at or above a threshold."""
        inside = np.clip(np.asarray(threshold, dtype=np.float64), 0, 1)
        tail: Array = betaincc(self.rise, self.fall, inside)
        return tail

    def threshold(self, share: Array) -> Array:
        """Return the threshold that a share of the scores reaches."""
        place: Array = betainccinv(self.rise, self.fall, np.asarray(share, dtype=np.float64))
        return place

    def pdf(self, score: Array) -> Array:
        """Return the density."""
        given = np.asarray(score, dtype=np.float64)
        inside = np.clip(given, 0, 1)
        log = xlogy(self.rise - 1, inside) + xlog1py(self.fall - 1, -inside)
        with np.errstate(over="ignore"):
            density = np.exp(log - betaln(self.rise, self.fall))
        return np.where((given < 0) | (given > 1), 0.0, density)

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draw scores."""
        return rng.beta(self.rise, self.fall, n)


@dataclass(frozen=True)
class Remainder:
    """What is left of the uniform distribution on [0, 1] once a class is taken out.

    With all scores uniform, as relative ranks are, and a share π of them positive with density
    f₁, the negatives have density (1 − π·f₁)/(1 − π). This needs π·f₁ ≤ 1 everywhere.

    Parameters
    ----------
    taken : Beta
        The scores of the class that is taken out.
    share : float
        Its share, in (0, 1).
    """

    taken: Beta
    share: float

    def __post_init__(self) -> None:
        check_fraction("share", self.share)
        if self.share * self.taken.highest_density > 1:
            raise InputError(
                f"positives cannot be {self.share:g} of all rows and lie this close together: at "
                f"some rank they would be {self.share * self.taken.highest_density:.3g} times the "
                f"rows that are there. The prevalence must be at most "
                f"{1 / self.taken.highest_density:.3g} for this rank distribution."
            )

    def above(self, threshold: Array) -> Array:
        """Return the probability of a score at or above a threshold."""
        inside = np.clip(np.asarray(threshold, dtype=np.float64), 0, 1)
        return (1 - inside - self.share * self.taken.above(inside)) / (1 - self.share)

    def threshold(self, share: Array) -> Array:
        """Return the threshold that a share of the scores reaches, by bisection."""
        wanted = np.asarray(share, dtype=np.float64)
        low, high = np.zeros(wanted.shape), np.ones(wanted.shape)
        for _ in range(60):
            middle = (low + high) / 2
            enough = self.above(middle) >= wanted
            low, high = np.where(enough, middle, low), np.where(enough, high, middle)
        return (low + high) / 2

    def pdf(self, score: Array) -> Array:
        """Return the density."""
        given = np.asarray(score, dtype=np.float64)
        density = (1 - self.share * self.taken.pdf(given)) / (1 - self.share)
        return np.where((given < 0) | (given > 1), 0.0, density)

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """Draw scores: uniform ones, of which too many where positives are get rejected."""
        kept: list[Array] = []
        missing = n
        while missing > 0:
            wanted = int(missing / (1 - self.share) * 1.05) + 16
            score = rng.random(wanted)
            good = score[rng.random(wanted) >= self.share * self.taken.pdf(score)][:missing]
            kept.append(good)
            missing -= good.size
        return np.concatenate(kept) if kept else np.empty(0)


def check_number(name: str, value: object) -> float:
    """Return a finite number as a float; refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"{name} must be a finite number; got {value!r}.")
    return float(value)


def check_positive(name: str, value: object) -> None:
    """Refuse anything but a positive number."""
    if check_number(name, value) <= 0:
        raise InputError(f"{name} must be a positive number; got {value!r}.")
