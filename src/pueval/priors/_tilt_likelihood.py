"""The penalized likelihood behind `Tilt`, maximized for many fixed priors or purities at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from pueval._typing import Array

# The logarithm of the slope of the log density ratio is a Gaussian process of the normal score z,
# given at these knots, constant outside. Its mean falls and its variance grows toward both ends:
# real classifiers seldom become ever more certain there, and prior and purity hang on what they
# do. The figures were chosen by coverage and error on simulated and real score sets.
KNOTS = np.linspace(-2.4, 2.4, 7)
_UPPER, _LOWER = np.clip(KNOTS - 0.3, 0, None), np.clip(-KNOTS - 0.3, 0, None)
MEAN = 0.7 - 0.4 * (_UPPER + _LOWER)
COVARIANCE = (
    0.25
    + np.exp(-0.5 * (KNOTS[:, None] - KNOTS) ** 2)
    + 0.2 * np.outer(_UPPER, _UPPER)
    + 0.5 * np.outer(_LOWER, _LOWER)
)
INTERCEPT_SD = 4.0
# Weak priors: Beta(1, 2) for the prior, Beta(2, 1/4) for the purity, and prior < purity.
PRIOR_BETA, PURITY_BETA, ORDER = (1.0, 2.0), (2.0, 0.25), 2.0

# A logit this large is a share of 1.
CERTAIN = 40.0


def softplus(x: Array) -> Array:
    """ln(1 + e^x)."""
    return np.logaddexp(0.0, x)


@dataclass(frozen=True)
class Fits:
    """Maxima for several sets of fixed parameters.

    Attributes
    ----------
    parameters : ndarray of shape (k, 10)
        Intercept, seven coordinates of the log slope, logit of the prior, logit of the purity.
    loss : ndarray of shape (k,)
        Negative penalized log-likelihood.
    information : ndarray of shape (k, f, f)
        Its approximate second derivative in the free parameters.
    """

    parameters: Array
    loss: Array
    information: Array

    @property
    def integrated(self) -> Array:
        """Log of the likelihood integrated over the free parameters, by Laplace's method."""
        volume: Array = np.linalg.slogdet(self.information)[1]
        return -self.loss - volume / 2


@dataclass(frozen=True)
class TiltLikelihood:
    """Logistic likelihood of "labeled" given z, under the tilt model.

    Parameters
    ----------
    z : ndarray of shape (m,)
        Ascending normal scores.
    labeled, unlabeled : ndarray of shape (m,)
        Rows at each of them.
    """

    z: Array
    labeled: Array
    unlabeled: Array
    columns: Array = field(init=False)
    mean: Array = field(init=False)

    INTERCEPT, PRIOR, PURITY = 0, KNOTS.size + 1, KNOTS.size + 2
    WITHOUT_PURITY = tuple(range(KNOTS.size + 2))

    def __post_init__(self) -> None:
        root = np.linalg.cholesky(COVARIANCE)
        columns = np.array([np.interp(self.z, KNOTS, column) for column in root.T])
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "mean", np.interp(self.z, KNOTS, MEAN))

    def log_ratio(self, parameters: Array) -> tuple[Array, Array]:
        """Log density ratio at z, and its derivative by the coordinates of the log slope."""
        shape = parameters[:, 1 : self.PRIOR]
        # Beyond these limits the ratio is flat, or jumps from 0 to infinity.
        slope = np.exp(np.clip(self.mean + shape @ self.columns, -8.0, 6.0))
        rows = np.concatenate([slope[:, None], slope[:, None] * self.columns], axis=1)
        integral = np.zeros_like(rows)
        steps = (rows[:, :, 1:] + rows[:, :, :-1]) * (np.diff(self.z) / 2)
        np.cumsum(steps, axis=2, out=integral[:, :, 1:])
        middle = int(np.argmin(np.abs(self.z)))
        integral -= integral[:, :, middle, None].copy()
        return parameters[:, [self.INTERCEPT]] + integral[:, 0], integral[:, 1:]

    def _model(self, parameters: Array) -> tuple[Array, Array]:
        """Logit of "labeled" at z, and its derivative by all parameters."""
        ratio, by_shape = self.log_ratio(parameters)
        prior, purity = parameters[:, [self.PRIOR]], parameters[:, [self.PURITY]]
        logit = (
            np.log(self.labeled.sum() / self.unlabeled.sum())
            + (softplus(purity + ratio) - softplus(purity))
            - (softplus(prior + ratio) - softplus(prior))
        )
        in_labeled, in_unlabeled = expit(purity + ratio), expit(prior + ratio)
        by_ratio = in_labeled - in_unlabeled
        jacobian = np.concatenate(
            [
                by_ratio[:, None],
                by_shape * by_ratio[:, None],
                (expit(prior) - in_unlabeled)[:, None],
                (in_labeled - expit(purity))[:, None],
            ],
            axis=1,
        )
        return logit, jacobian

    def by_row(self, parameters: Array) -> tuple[Array, Array]:
        """Gradient that one labeled, and one unlabeled, row at each z adds; one line only."""
        logit, jacobian = self._model(parameters)
        chance = expit(logit)
        return (jacobian * (chance - 1)[:, None])[0], (jacobian * chance[:, None])[0]

    def derivatives(self, parameters: Array) -> tuple[Array, Array, Array]:
        """Loss, gradient and approximate second derivative for each row of parameters."""
        logit, jacobian = self._model(parameters)
        rows = self.labeled + self.unlabeled
        chance = expit(logit)
        loss = softplus(logit) @ rows - logit @ self.labeled
        gradient = (jacobian @ (rows * chance - self.labeled)[:, :, None])[:, :, 0]
        weight = rows * chance * (1 - chance)
        second = (jacobian * weight[:, None]) @ np.swapaxes(jacobian, 1, 2)
        self._penalize(parameters, loss, gradient, second)
        return loss, gradient, second

    def _penalize(self, parameters: Array, loss: Array, gradient: Array, second: Array) -> None:
        """Add the priors of all parameters, in place."""
        precision = np.r_[INTERCEPT_SD**-2, np.ones(KNOTS.size)]
        free = parameters[:, : self.PRIOR]
        loss += free**2 @ precision / 2
        gradient[:, : self.PRIOR] += free * precision
        diagonal = np.arange(self.PRIOR)
        second[:, diagonal, diagonal] += precision
        for column, (a, b) in ((self.PRIOR, PRIOR_BETA), (self.PURITY, PURITY_BETA)):
            x = parameters[:, column]
            share = expit(x)
            loss += a * softplus(-x) + b * softplus(x)
            gradient[:, column] += b * share - a * (1 - share)
            second[:, column, column] += (a + b) * share * (1 - share)
        gap = parameters[:, self.PRIOR] - parameters[:, self.PURITY]
        wrong = expit(gap)
        loss += ORDER * softplus(gap)
        gradient[:, self.PRIOR] += ORDER * wrong
        gradient[:, self.PURITY] -= ORDER * wrong
        both = [self.PRIOR, self.PURITY]
        sign = np.array([[1, -1], [-1, 1]])
        second[:, np.array(both)[:, None], both] += (
            ORDER * (wrong * (1 - wrong))[:, None, None] * sign
        )

    def maximize(
        self, start: Array, free: tuple[int, ...], *, steps: int = 25, tolerance: float = 2e-4
    ) -> Fits:
        """Damped Gauss–Newton steps for all rows of ``start`` at once; only ``free`` ones move."""
        index = np.array(free)
        best, trial = start.copy(), start.copy()
        k, f = start.shape[0], index.size
        loss, damping = np.full(k, np.inf), np.full(k, 1e-3)
        gradient, second = np.zeros((k, f)), np.zeros((k, f, f))
        active = np.arange(k)
        for _ in range(steps):
            new_loss, new_gradient, new_second = self.derivatives(trial[active])
            gain = loss[active] - new_loss
            better = gain >= 0
            taken = active[better]
            best[taken], loss[taken] = trial[taken], new_loss[better]
            gradient[taken] = new_gradient[better][:, index]
            second[taken] = new_second[better][:, index[:, None], index]
            damping[active] = np.where(
                better, damping[active] / 10, np.maximum(damping[active] * 10, 1e-2)
            )
            # Where the likelihood is far below its best value, a rough one will do.
            enough = tolerance * (1 + (loss[active] - loss.min()) ** 2)
            done = (better & (gain < enough)) | (damping[active] > 1e5)
            active = active[~done]
            if not active.size:
                break
            scale = second[active][:, np.arange(f), np.arange(f)] * damping[active, None]
            matrix = second[active] + scale[:, :, None] * np.eye(f)
            step = -np.linalg.solve(matrix, gradient[active][:, :, None])[:, :, 0]
            step *= np.minimum(1.0, 2.0 / np.abs(step).max(axis=1))[:, None]
            trial[active] = best[active]
            trial[active[:, None], index] += step
        return Fits(best, loss, second)
