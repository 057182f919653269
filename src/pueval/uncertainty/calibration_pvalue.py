"""Test of calibration: whether scores are probabilities, up to slope and intercept.

Slope and intercept of the calibration line maximize a likelihood. Its gradient at intercept 0 and
slope 1, with x the log-odds of the score s, is

    prevalence − E(s),    prevalence·E(x | positive) − E(s·x).

Both are 0 on average if scores are calibrated. They are linear in means of rows, so they are closer
to normal than slope and intercept are, and they exist where the line does not. This is Rao's score
test, with a bootstrap covariance. The reference distribution is that of Hotelling's T² for as many
rows as there are labeled ones, since their mean varies most.
"""

from __future__ import annotations

import math

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.core.rates import Shares
from pueval.families.calibration_line import logits
from pueval.families.mean_measures import probabilities_inside
from pueval.families.score_means import ScoreMeans, correct_means
from pueval.uncertainty.mean_intervals import within_cell_noise
from pueval.uncertainty.measure_intervals import Resamples

# Points per uncertain share at which calibration is tested.
PVALUE_GRID = 41


def _functions(score: Array) -> Array:
    x, p = logits(score), probabilities_inside(score)
    return np.stack([x, p, p * x])


class CalibrationTest:
    """Rao's test of intercept 0 and slope 1.

    Parameters
    ----------
    resamples : Resamples
        Resampled counts.
    """

    def __init__(self, resamples: Resamples) -> None:
        self._resamples = resamples
        draws, options = resamples.draws, resamples.options
        means = ScoreMeans(resamples.counts, _functions, draws.threshold)
        pooled = options.variance == "labeling"
        noise = within_cell_noise(options, 3)
        self._shares = means.shares
        self._resampled = means.of_cells(draws.resampled, noise=noise, pooled=pooled)

    def _gradient(self, means: Shares, mixture: Mixture | Mixtures) -> Array:
        """Return the gradient, an array of shape (2, …)."""
        resamples = self._resamples
        found = correct_means(resamples.counts, means, mixture, resamples.target)
        x, everybody = found.positive[..., 0], found.everybody
        share = np.broadcast_to(np.asarray(found.prevalence), x.shape)
        return np.stack([share - everybody[..., 1], share * x - everybody[..., 2]])

    def _covariance(self, mixture: Mixture | Mixtures) -> Array:
        covariance: Array = np.cov(self._gradient(self._resampled, mixture))
        return covariance

    def pvalue(self) -> float:
        """Return the p-value.

        If prior and purity are only known to lie in a region, it is the largest one in the region:
        calibration is rejected only if it is for every prior. NaN with fewer than three labeled
        rows.
        """
        resamples, prior = self._resamples, self._resamples.prior
        options = resamples.options
        n = min(resamples.n_independent_labeled, options.degrees_of_freedom + 1)
        if n <= 2:
            return math.nan
        region = prior.region
        if region is None:
            scenarios = [resamples.mixture]
            covariances = [self._covariance(resamples.drawn_mixture)]
        else:
            # The covariance changes slowly with the prior, the gradient does not.
            scenarios, nodes = region.grid(PVALUE_GRID), region.nodes
            at_nodes = [self._covariance(node) for node in nodes]
            covariances = [at_nodes[_nearest(mixture, nodes)] for mixture in scenarios]
        pvalues = []
        for mixture, of_rows in zip(scenarios, covariances, strict=True):
            gradient, covariance = self._gradient(self._shares, mixture), of_rows
            if prior.prior_error is not None:
                change = self._change_with_prior(mixture, prior.prior_error(mixture))
                covariance = of_rows + np.outer(change, change)
            statistic = float(gradient @ np.linalg.pinv(covariance) @ gradient)
            pvalues.append(scipy.special.fdtrc(2, n - 2, statistic * (n - 2) / (2 * (n - 1))))
        return float(max(pvalues))

    def _change_with_prior(self, mixture: Mixture, error: float) -> Array:
        """Return the change of the gradient with one standard error of the prior."""
        low, high = (
            max(float(cap_prior(mixture.prior + sign * error, mixture.purity)), 0.0)
            for sign in (-1, 1)
        )
        ends = [Mixture(prior, mixture.purity) for prior in (low, high)]
        of_low, of_high = (self._gradient(self._shares, end) for end in ends)
        change: Array = (of_high - of_low) * (error / (high - low)) if high > low else 0 * of_low
        return change


def _nearest(mixture: Mixture, nodes: list[Mixture]) -> int:
    """Return the index of the node that is closest to a mixture."""
    distances = [
        abs(node.prior - mixture.prior) + abs(node.purity - mixture.purity) for node in nodes
    ]
    return int(np.argmin(distances))
