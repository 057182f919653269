"""Monotone maps from scores to the probability of being positive.

The share of positives at a score is m/e, where e is the share of all rows that have this score, and
m = prevalence·(share of the positives that have it). Both come from corrected rates. The maps
minimize a proper loss of probabilities p over the positives and over all rows:

- isotonic: Σ e·p² − 2·Σ m·p, the Brier score up to a constant. It is the isotonic regression of m/e
  with weights e; with clean random labels, of label/label_frequency.
- logistic and beta: Σ e·log(1 + exp(η)) − Σ m·η, the log loss, where η is linear in features of the
  score, with coefficients of at least 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.families.calibration_line import logits
from pueval.families.mean_measures import probabilities_inside

Method = Literal["isotonic", "beta", "logistic"]
# Largest coefficient of a standardized feature: the classes are then separated completely.
LARGEST_COEFFICIENT = 1e3


@dataclass(frozen=True)
class ScoreShares:
    """Distinct scores, ascending, with the shares of all rows and of the positives at each.

    Attributes
    ----------
    score : ndarray
        Distinct scores.
    rows : ndarray
        Share of the rows of the target; sums to 1.
    positives : ndarray
        Share of the rows of the target that are positive and have this score; sums to the
        prevalence. Noise can make it negative if labels are noisy.
    """

    score: Array
    rows: Array
    positives: Array

    @property
    def mean_rank(self) -> float:
        """Probability that a positive scores higher than any row; 0.5 without information."""
        rank = np.cumsum(self.rows) - self.rows / 2
        return float(self.positives @ rank / max(self.positives.sum(), np.finfo(float).tiny))

    def without_empty_scores(self) -> ScoreShares:
        """Add the positives at scores without rows of the target to the next score with some."""
        filled = np.flatnonzero(self.rows > 0)
        place = np.minimum(np.searchsorted(filled, np.arange(self.rows.size)), filled.size - 1)
        positives = np.bincount(place, self.positives, filled.size)
        return ScoreShares(self.score[filled], self.rows[filled], positives)


@dataclass(frozen=True)
class StepMap:
    """Piecewise linear map between known scores; constant beyond them."""

    score: Array
    probability: Array

    def __call__(self, score: Array) -> Array:
        """Return the probabilities of scores."""
        return np.interp(score, self.score, self.probability)


@dataclass(frozen=True)
class LinearMap:
    """Logistic function of a linear combination of features of the score."""

    features: Callable[[Array], Array]
    intercept: float
    coefficients: Array

    def __call__(self, score: Array) -> Array:
        """Return the probabilities of scores."""
        linear = self.intercept + self.features(score) @ self.coefficients
        probability: Array = scipy.special.expit(linear)
        return probability


ScoreMap = StepMap | LinearMap


def fit_map(shares: ScoreShares, method: Method) -> ScoreMap:
    """Fit a map of the given kind."""
    if method == "isotonic":
        return _fit_isotonic(shares.without_empty_scores())
    if method == "beta":
        return _fit_linear(shares, beta_features)
    inside = shares.score[0] >= 0 and shares.score[-1] <= 1
    return _fit_linear(shares, log_odds if inside else score_itself)


def log_odds(score: Array) -> Array:
    """Return the log-odds of probabilities as one column."""
    return logits(score)[:, None]


def score_itself(score: Array) -> Array:
    """Return scores of any scale as one column."""
    return score[:, None]


def beta_features(score: Array) -> Array:
    """Return log p and −log(1 − p)."""
    p = probabilities_inside(score)
    return np.stack([np.log(p), -np.log1p(-p)], axis=1)


def _fit_isotonic(shares: ScoreShares) -> StepMap:
    fitted = scipy.optimize.isotonic_regression(
        shares.positives / shares.rows, weights=shares.rows
    ).x
    probability = np.clip(fitted, 0, 1)
    # Both ends of every constant piece are enough.
    change = np.diff(probability) != 0
    ends = np.r_[True, change] | np.r_[change, True]
    return StepMap(shares.score[ends], probability[ends])


def _fit_linear(shares: ScoreShares, features: Callable[[Array], Array]) -> LinearMap:
    raw = features(shares.score)
    center, scale = raw.mean(axis=0), raw.std(axis=0)
    scale[scale == 0] = 1.0
    x = np.column_stack([np.ones(raw.shape[0]), (raw - center) / scale])
    prevalence = float(np.clip(shares.positives.sum(), 1e-9, 1 - 1e-9))

    def loss(coefficients: Array) -> tuple[float, Array]:
        linear = x @ coefficients
        value = shares.rows @ np.logaddexp(0, linear) - shares.positives @ linear
        gradient = x.T @ (shares.rows * scipy.special.expit(linear) - shares.positives)
        return float(value), gradient

    bounds = [(-LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)]
    bounds += [(0.0, LARGEST_COEFFICIENT)] * raw.shape[1]
    start = np.r_[scipy.special.logit(prevalence), np.ones(raw.shape[1])]
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000}
    found = scipy.optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).x
    slopes = found[1:] / scale
    return LinearMap(features, float(found[0] - slopes @ center), slopes)
