"""Likelihood of labels whose probability is propensity times probability of the class.

P(y = 1) = e·p with logit e linear in the labeling features and logit p linear in the class
features: the model that SAR-EM fits (Bekker and Davis, 2018), maximized directly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.labeling._logistic import fit_logistic

# Label frequencies to start from.
STARTS = (0.15, 0.4, 0.7)
# Steps of the constant of logit e for its profile, and how far it goes.
FIRST_STEP, LAST_STEP, LONGEST, FARTHEST = 0.4, 0.05, 3.0, 15.0
SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class ProductFit:
    """Coefficients of the propensity, followed by those of the class, and their covariance."""

    coefficients: Array
    covariance: Array
    n_propensity: int

    @property
    def propensity(self) -> Array:
        """Coefficients of the propensity."""
        return self.coefficients[: self.n_propensity]

    def hidden(self, labeling: Array, classes: Array) -> Array:
        """Return the probability that each of some unlabeled rows is positive.

        That is r = p·(1 − e)/(1 − e·p).
        """
        propensity, positive, share = _shares(self.coefficients, labeling, classes)
        return np.asarray(positive * (1 - propensity) / (1 - share))

    def hidden_error(self, labeling: Array, classes: Array) -> float:
        """Return the standard error of the sum of `hidden`, from logit r = logit p + log(1 − e)."""
        propensity, _, _ = _shares(self.coefficients, labeling, classes)
        hidden = self.hidden(labeling, classes)
        spread = hidden * (1 - hidden)
        slope = np.r_[-((spread * propensity) @ labeling), spread @ classes]
        return float(np.sqrt(slope @ self.covariance @ slope))


def fit_product(
    labeling: Array, classes: Array, y: Array, *, penalty: float, start: Array | None = None
) -> ProductFit:
    """Maximize the likelihood; the first column of both designs is constant and not penalized.

    Without a start, several are tried, since the likelihood can have several maxima.
    """
    weight = _penalties(labeling, classes, penalty)
    starts = [start] if start is not None else _starts(labeling, classes, y, weight)
    fits = [_maximize(point, labeling, classes, y, weight) for point in starts]
    best = min(fits, key=lambda fit: fit[1])[0]
    information = _information(best, labeling, classes) + np.diag(weight)
    return ProductFit(best, np.linalg.inv(information), labeling.shape[1])


def hidden_profile(
    fit: ProductFit, labeling: Array, classes: Array, y: Array, *, penalty: float, level: float
) -> tuple[float, float]:
    """Return a confidence interval of the number of hidden positives.

    The data determine the constant of logit e only by the form of the model, so its likelihood is
    far from normal. For constants away from the best one, all other coefficients are fitted again,
    until twice the loss of log-likelihood reaches the quantile of χ². The interval of the mean
    number of hidden positives reaches as far as its values at these ends, and at least as far as
    its standard error says. The classes given the labels add the variance Σ r·(1 − r).
    """
    weight = _penalties(labeling, classes, penalty)
    unlabeled = ~y
    quantile = normal_quantile(level)

    def number(coefficients: Array) -> Array:
        moved = ProductFit(coefficients, fit.covariance, fit.n_propensity)
        return moved.hidden(labeling[unlabeled], classes[unlabeled])

    _, loss = _maximize(fit.coefficients, labeling, classes, y, weight)
    middle = number(fit.coefficients)
    means = [float(middle.sum())]
    for sign in (-1.0, 1.0):
        point, step, inside = fit.coefficients, FIRST_STEP, fit.coefficients[0]
        while step > LAST_STEP and abs(inside) < FARTHEST:
            start = point.copy()
            start[0] = inside + sign * step
            moved, value = _maximize(start, labeling, classes, y, weight, fixed=True)
            if 2 * (value - loss) > quantile**2:
                step /= 2
                continue
            point, inside, step = moved, moved[0], min(1.5 * step, LONGEST)
            means.append(float(number(point).sum()))
    error = quantile * fit.hidden_error(labeling[unlabeled], classes[unlabeled])
    spread = quantile * float(np.sum(middle * (1 - middle))) ** 0.5
    low = means[0] - np.hypot(max(means[0] - min(means), error), spread)
    high = means[0] + np.hypot(max(max(means) - means[0], error), spread)
    return float(max(np.floor(low), 0.0)), float(np.ceil(high))


def _penalties(labeling: Array, classes: Array, penalty: float) -> Array:
    weight = np.full(labeling.shape[1] + classes.shape[1], penalty)
    weight[[0, labeling.shape[1]]] = 1e-6
    return weight


def _maximize(
    start: Array, labeling: Array, classes: Array, y: Array, weight: Array, *, fixed: bool = False
) -> tuple[Array, float]:
    """Return the best coefficients and the penalized loss; the first one can be kept fixed."""
    free = (None, None)
    bounds = [(start[0], start[0]) if fixed else free, *([free] * (start.size - 1))]
    fit = scipy.optimize.minimize(
        _penalized,
        start,
        args=(labeling, classes, y, weight),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 2000},
    )
    return np.asarray(fit.x), float(fit.fun)


def _starts(labeling: Array, classes: Array, y: Array, weight: Array) -> list[Array]:
    """Return coefficients of constant propensities, with the classes that fit them."""
    split = labeling.shape[1]
    slopes = fit_logistic(classes, y, penalty=weight[split:])
    starts = []
    for frequency in STARTS:
        start = np.r_[scipy.special.logit(frequency), np.zeros(split - 1), slopes]
        start[split] -= np.log(frequency)
        starts.append(start)
    return starts


def _shares(parameters: Array, labeling: Array, classes: Array) -> tuple[Array, Array, Array]:
    """Return propensity, probability of the class, and their product."""
    split = labeling.shape[1]
    propensity = scipy.special.expit(labeling @ parameters[:split])
    positive = scipy.special.expit(classes @ parameters[split:])
    return propensity, positive, np.clip(propensity * positive, SMALLEST, 1 - SMALLEST)


def _penalized(
    parameters: Array, labeling: Array, classes: Array, y: Array, weight: Array
) -> tuple[float, Array]:
    """Return the negative penalized log-likelihood and its gradient."""
    propensity, positive, share = _shares(parameters, labeling, classes)
    value = np.sum(np.where(y, np.log(share), np.log1p(-share)))
    slope = (y - share) / (1 - share)
    gradient = np.r_[labeling.T @ (slope * (1 - propensity)), classes.T @ (slope * (1 - positive))]
    loss = float(0.5 * np.sum(weight * parameters**2) - value)
    return loss, np.asarray(weight * parameters - gradient)


def _information(parameters: Array, labeling: Array, classes: Array) -> Array:
    """Return the expected information."""
    propensity, positive, share = _shares(parameters, labeling, classes)
    slopes = np.hstack([labeling * (1 - propensity)[:, None], classes * (1 - positive)[:, None]])
    return np.asarray((slopes * (share / (1 - share))[:, None]).T @ slopes)
