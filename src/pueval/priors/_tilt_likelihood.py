"""Penalized likelihood of the tilt model, maximized for many priors or purities at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, logit

from pueval._typing import Array

# The log slope of the log density ratio is a Gaussian process in the normal score z, given at these
# knots and constant outside. Its mean falls and its variance grows toward both ends, because real
# classifiers seldom become ever more certain there, and prior and purity depend on the ends. The
# constants were chosen for coverage and error on simulated and real scores.
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
# Weak prior distributions: Beta(1, 2) for the prior, Beta(2, ¼) for the purity, and a penalty that
# keeps the prior below the purity.
PRIOR_BETA, PURITY_BETA, ORDER_PENALTY = (1.0, 2.0), (2.0, 0.25), 2.0

# Bins of the normal score; more bins change the prior by about 0.0003.
BINS = 400

# The logit that stands for a share of exactly 1.
LOGIT_OF_ONE = 40.0
# Starting values of the logits of prior and purity.
START_LOGITS = np.array([(-2.0, 3.0), (0.0, 3.0), (1.5, 4.0), (-1.0, 1.0)])


def softplus(x: Array) -> Array:
    """Return ln(1 + e^x)."""
    return np.logaddexp(0.0, x)


def beta_penalty(x: Array, shape: tuple[float, float]) -> Array:
    """Return the negative log density of the logit of a Beta(a, b) share, up to a constant."""
    a, b = shape
    return a * softplus(-x) + b * softplus(x)


@dataclass(frozen=True)
class Fits:
    """Maxima of the likelihood for several sets of fixed parameters.

    Attributes
    ----------
    parameters : ndarray of shape (k, 10)
        Intercept, seven coordinates of the log slope, logit of the prior, logit of the purity.
    loss : ndarray of shape (k,)
        Negative penalized log-likelihood.
    information : ndarray of shape (k, f, f)
        Approximate Hessian of the loss in the free parameters.
    """

    parameters: Array
    loss: Array
    information: Array

    @property
    def log_integrated(self) -> Array:
        """Log of the likelihood, integrated over the free parameters by Laplace's method."""
        log_determinant: Array = np.linalg.slogdet(self.information)[1]
        return -self.loss - log_determinant / 2


@dataclass(frozen=True)
class TiltLikelihood:
    """Logistic likelihood of being labeled given z, under the tilt model.

    Parameters
    ----------
    z : ndarray of shape (m,)
        Normal scores, ascending.
    labeled, unlabeled : ndarray of shape (m,)
        Numbers of rows at each normal score.
    """

    z: Array
    labeled: Array
    unlabeled: Array
    basis: Array = field(init=False)
    mean: Array = field(init=False)

    INTERCEPT, PRIOR, PURITY = 0, KNOTS.size + 1, KNOTS.size + 2
    WITHOUT_PURITY = tuple(range(KNOTS.size + 2))

    def __post_init__(self) -> None:
        root = np.linalg.cholesky(COVARIANCE)
        basis = np.array([np.interp(self.z, KNOTS, column) for column in root.T])
        object.__setattr__(self, "basis", basis)
        object.__setattr__(self, "mean", np.interp(self.z, KNOTS, MEAN))

    def log_ratio(self, parameters: Array) -> tuple[Array, Array]:
        """Return the log density ratio at z, and its gradient in the log-slope coordinates."""
        coordinates = parameters[:, 1 : self.PRIOR]
        # Outside this range the ratio is constant, or jumps from 0 to infinity.
        slope = np.exp(np.clip(self.mean + coordinates @ self.basis, -8.0, 6.0))
        integrand = np.concatenate([slope[:, None], slope[:, None] * self.basis], axis=1)
        integral = np.zeros_like(integrand)
        steps = (integrand[:, :, 1:] + integrand[:, :, :-1]) * (np.diff(self.z) / 2)
        np.cumsum(steps, axis=2, out=integral[:, :, 1:])
        middle = int(np.argmin(np.abs(self.z)))
        integral -= integral[:, :, middle, None].copy()
        return parameters[:, [self.INTERCEPT]] + integral[:, 0], integral[:, 1:]

    def _labeling_logit(self, parameters: Array) -> tuple[Array, Array]:
        """Return the logit of being labeled at z, and its gradient in all parameters."""
        ratio, ratio_gradient = self.log_ratio(parameters)
        prior, purity = parameters[:, [self.PRIOR]], parameters[:, [self.PURITY]]
        log_odds = (
            np.log(self.labeled.sum() / self.unlabeled.sum())
            + (softplus(purity + ratio) - softplus(purity))
            - (softplus(prior + ratio) - softplus(prior))
        )
        in_labeled, in_unlabeled = expit(purity + ratio), expit(prior + ratio)
        slope = in_labeled - in_unlabeled
        jacobian = np.concatenate(
            [
                slope[:, None],
                ratio_gradient * slope[:, None],
                (expit(prior) - in_unlabeled)[:, None],
                (in_labeled - expit(purity))[:, None],
            ],
            axis=1,
        )
        return log_odds, jacobian

    def row_gradients(self, parameters: Array) -> tuple[Array, Array]:
        """Return the gradient of one labeled and of one unlabeled row at each z.

        ``parameters`` has a single row.
        """
        log_odds, jacobian = self._labeling_logit(parameters)
        probability = expit(log_odds)
        return (jacobian * (probability - 1)[:, None])[0], (jacobian * probability[:, None])[0]

    def derivatives(self, parameters: Array) -> tuple[Array, Array, Array]:
        """Return loss, gradient and approximate Hessian for each row of parameters."""
        log_odds, jacobian = self._labeling_logit(parameters)
        rows = self.labeled + self.unlabeled
        probability = expit(log_odds)
        loss = softplus(log_odds) @ rows - log_odds @ self.labeled
        gradient = (jacobian @ (rows * probability - self.labeled)[:, :, None])[:, :, 0]
        weight = rows * probability * (1 - probability)
        hessian = (jacobian * weight[:, None]) @ np.swapaxes(jacobian, 1, 2)
        self._add_penalties(parameters, loss, gradient, hessian)
        return loss, gradient, hessian

    def _add_penalties(
        self, parameters: Array, loss: Array, gradient: Array, hessian: Array
    ) -> None:
        """Add the negative log prior densities of all parameters, in place."""
        precision = np.r_[INTERCEPT_SD**-2, np.ones(KNOTS.size)]
        free = parameters[:, : self.PRIOR]
        loss += free**2 @ precision / 2
        gradient[:, : self.PRIOR] += free * precision
        diagonal = np.arange(self.PRIOR)
        hessian[:, diagonal, diagonal] += precision
        for column, (a, b) in ((self.PRIOR, PRIOR_BETA), (self.PURITY, PURITY_BETA)):
            x = parameters[:, column]
            share = expit(x)
            loss += beta_penalty(x, (a, b))
            gradient[:, column] += b * share - a * (1 - share)
            hessian[:, column, column] += (a + b) * share * (1 - share)
        gap = parameters[:, self.PRIOR] - parameters[:, self.PURITY]
        order_gradient = expit(gap)
        loss += ORDER_PENALTY * softplus(gap)
        gradient[:, self.PRIOR] += ORDER_PENALTY * order_gradient
        gradient[:, self.PURITY] -= ORDER_PENALTY * order_gradient
        both = [self.PRIOR, self.PURITY]
        sign = np.array([[1, -1], [-1, 1]])
        curvature = order_gradient * (1 - order_gradient)
        hessian[:, np.array(both)[:, None], both] += ORDER_PENALTY * curvature[:, None, None] * sign

    def fit(self, known_purity: float | None) -> tuple[Fits, tuple[int, ...]]:
        """Maximize from several starting values; the purity is free unless it is known.

        Return the best maximum and the free parameters.
        """
        free = self.WITHOUT_PURITY
        start = np.zeros((len(START_LOGITS), self.PURITY + 1))
        start[:, self.PRIOR :] = START_LOGITS
        if known_purity is None:
            free = (*free, self.PURITY)
        else:
            start[:, self.PURITY] = logit(known_purity) if known_purity < 1 else LOGIT_OF_ONE
            start[:, self.PRIOR] = np.minimum(start[:, self.PRIOR], start[:, self.PURITY] - 1)
        fits = self.maximize(start, free)
        best = [int(np.argmin(fits.loss))]
        return Fits(fits.parameters[best], fits.loss[best], fits.information[best]), free

    def maximize(
        self, start: Array, free: tuple[int, ...], *, steps: int = 25, tolerance: float = 2e-4
    ) -> Fits:
        """Maximize over the ``free`` parameters from each row of ``start``.

        Takes damped Gauss–Newton steps for all rows at once.
        """
        index = np.array(free)
        best, trial = start.copy(), start.copy()
        k, f = start.shape[0], index.size
        loss, damping = np.full(k, np.inf), np.full(k, 1e-3)
        gradient, hessian = np.zeros((k, f)), np.zeros((k, f, f))
        active = np.arange(k)
        for _ in range(steps):
            new_loss, new_gradient, new_hessian = self.derivatives(trial[active])
            gain = loss[active] - new_loss
            better = gain >= 0
            accepted = active[better]
            best[accepted], loss[accepted] = trial[accepted], new_loss[better]
            gradient[accepted] = new_gradient[better][:, index]
            hessian[accepted] = new_hessian[better][:, index[:, None], index]
            damping[active] = np.where(
                better, damping[active] / 10, np.maximum(damping[active] * 10, 1e-2)
            )
            # Far below the maximum, a rough value of the likelihood is enough.
            small_gain = tolerance * (1 + (loss[active] - loss.min()) ** 2)
            converged = (better & (gain < small_gain)) | (damping[active] > 1e5)
            active = active[~converged]
            if not active.size:
                break
            scale = hessian[active][:, np.arange(f), np.arange(f)] * damping[active, None]
            matrix = hessian[active] + scale[:, :, None] * np.eye(f)
            step = -np.linalg.solve(matrix, gradient[active][:, :, None])[:, :, 0]
            step *= np.minimum(1.0, 2.0 / np.abs(step).max(axis=1))[:, None]
            trial[active] = best[active]
            trial[active[:, None], index] += step
        return Fits(best, loss, hessian)


def binned_likelihood(z: Array, labeled: Array, unlabeled: Array) -> TiltLikelihood:
    """Return the likelihood on bins of equal width in z, each placed at its mean z."""
    if z.size <= BINS:
        return TiltLikelihood(z, labeled, unlabeled)
    bin_index = ((z - z[0]) / (z[-1] - z[0]) * BINS).astype(int)
    first = np.flatnonzero(np.r_[True, np.diff(np.minimum(bin_index, BINS - 1)) > 0])
    weight = labeled / labeled.sum() + unlabeled / unlabeled.sum()
    mean = np.add.reduceat(weight * z, first) / np.add.reduceat(weight, first)
    return TiltLikelihood(mean, np.add.reduceat(labeled, first), np.add.reduceat(unlabeled, first))
