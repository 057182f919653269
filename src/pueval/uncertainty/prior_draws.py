"""Prior and purity of each bootstrap draw, where they vary with the rows.

Four sources: the positives that labeled rows with known propensities represent, known error rates
of the labels, a standard error of the prior, and an estimate with confidence intervals. The
functions return columns, one line per draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.core.label_errors import LabelErrors
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.counts.counts import Counts
from pueval.uncertainty.bootstrap_draws import BootstrapDraws
from pueval.uncertainty.prior_region import ESTIMATE_CONTRAST

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


def priors_from_positives(counts: Counts, draws: BootstrapDraws) -> Mixtures:
    """Return the priors that follow from the positives that the labeled rows represent."""
    assert draws.positives is not None  # noqa: S101 - only called where propensities are known
    # Not clipped at 0: draws around 0 would all lose the same side of their noise.
    prior = cap_prior((draws.positives - counts.n_labeled) / counts.n_unlabeled)
    return Mixtures(prior[:, None], np.ones((prior.size, 1)))


def mixtures_from_label_errors(
    errors: LabelErrors, counts: Counts, draws: BootstrapDraws
) -> Mixtures:
    """Return the mixtures that follow from error rates and the labeled rows of each draw.

    The number of labeled rows is the one that also moves the prevalence of the draw.
    """
    shift = draws.resampled.prevalence_shift
    assert shift is not None  # noqa: S101 - the prevalence varies, see Assumptions
    return errors.mixtures(counts, shift)


def normal_priors(
    mixture: Mixture, standard_error: float, seed: int, draws: BootstrapDraws
) -> Mixtures:
    """Return normal priors with a standard error, independent of the drawn rows."""
    column = (draws.noise.size, 1)
    mixtures = Mixtures(np.full(column, mixture.prior), np.full(column, mixture.purity))
    return with_prior_error(mixtures, standard_error, seed)


def with_prior_error(mixtures: Mixtures, standard_error: float, seed: int) -> Mixtures:
    """Add independent normal errors to priors, which stay below their purities."""
    rng = np.random.default_rng([seed, len(mixtures)])
    prior = mixtures.prior + standard_error * rng.normal(size=mixtures.prior.shape)
    return Mixtures(cap_prior(prior, mixtures.purity), mixtures.purity)


def scaled_to_intervals(estimate: PriorEstimate, scores: tuple[Array, Array]) -> Mixtures:
    """Return priors and purities whose quantiles are the ends of an estimate's interval.

    Parameters
    ----------
    estimate : PriorEstimate
        With confidence intervals; a share without one does not vary.
    scores : tuple of ndarray
        Standardized deviations of prior and purity, one for each draw.

    Returns
    -------
    Mixtures
    """
    critical_value = normal_quantile(estimate.level)
    columns = []
    for center, interval, score in zip(
        (estimate.prior, estimate.purity),
        (estimate.prior_interval, estimate.purity_interval),
        scores,
        strict=True,
    ):
        low, high = interval or (center, center)
        scale = np.where(score < 0, center - low, high - center) / critical_value
        columns.append(np.clip(center + scale * score, 0.0, 1.0))
    prior, purity = columns
    if estimate.known_share is not None:
        # Only the purity was estimated; the prior moves with it.
        shift = estimate.prior_slope * (purity - estimate.purity)
        prior = np.maximum(estimate.prior + shift, 0.0)
    purity = np.maximum(purity, ESTIMATE_CONTRAST)
    return Mixtures(cap_prior(prior, purity, ESTIMATE_CONTRAST)[:, None], purity[:, None])
