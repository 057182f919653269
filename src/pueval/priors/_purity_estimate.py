"""Purity from the tilt model, where prior, prevalence or label frequency is known."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from pueval._typing import Array, Range
from pueval.core.prior_line import KnownShare, PriorLine
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._clean_label_test import boundary_pvalue
from pueval.priors._clustered_estimate import estimate_clustered
from pueval.priors._estimation_result import MemberEstimate, PriorEstimate
from pueval.priors._labeled_unlabeled_counts import normal_scores, scores_significantly_higher
from pueval.priors._tilt_likelihood import (
    LOGIT_OF_ONE,
    PRIOR_BETA,
    PURITY_BETA,
    Fits,
    TiltLikelihood,
    beta_penalty,
    binned_likelihood,
)
from pueval.priors._tilt_posterior import HIGHEST_LOGIT, posterior_density, posterior_quantiles
from pueval.sensitivity.feasibility import largest_prior

# Weak prior distribution of the purity: Beta(1, ½). It favors clean labels less than that of
# `Tilt`, because with a known prior the scores tell more about the purity.
WEAK_BETA = (1.0, 0.5)
# Purities at which the likelihood is evaluated: their number, and the lowest logit.
NODES, LOWEST_LOGIT = 25, -3.0
# Smallest prior that has a usable logit, and smallest purity − prior.
SMALLEST_PRIOR, SMALLEST_CONTRAST = 1e-9, 1e-3


def estimate_purity(
    counts: Counts,
    line: PriorLine,
    known_share: KnownShare,
    *,
    purities: Range,
    level: float = 0.95,
) -> PriorEstimate:
    """Estimate the purity where the prior is a known function of it.

    For each of several purities, with the prior that belongs to it, the likelihood of the tilt
    model is integrated over the tilt by Laplace's method. With a weak prior distribution of the
    purity this gives a posterior density. Its median is the estimate, its quantiles are the
    interval; the interval ends at 1 if the likelihood-ratio test does not reject purity 1.

    Parameters
    ----------
    counts : Counts
        Labels and scores.
    line : PriorLine
        The prior as a function of the purity.
    known_share : {"prior", "prevalence", "label_frequency"}
        The share that is known.
    purities : tuple of float
        Smallest and largest possible purity.
    level : float, default 0.95
        Level of the interval.

    Returns
    -------
    PriorEstimate
        ``known_share`` and ``prior_slope`` say how the prior follows from the purity.
    """
    if counts._clusters is not None:
        return estimate_clustered(
            counts,
            lambda rows: estimate_purity(rows, line, known_share, purities=purities, level=level),
        )
    _, z, labeled, unlabeled = normal_scores(counts)
    if not scores_significantly_higher(labeled, unlabeled):
        raise InputError(
            "the purity cannot be estimated: labeled rows do not score significantly higher than "
            "unlabeled rows. Give the purity, as a number or an interval."
        )
    model = binned_likelihood(z, labeled, unlabeled)
    nodes = _nodes(line, purities)
    fits = _fit_on_line(model, line, nodes)
    posterior = posterior_density(nodes, _log_posterior(fits))
    low, purity, high = np.clip(posterior_quantiles(*posterior, level), *expit(nodes[[0, -1]]))
    pvalue = None
    if purities[1] == 1:
        pvalue = _clean_label_pvalue(model, line, fits)
        high = 1.0 if pvalue > (1 - level) / 2 else high
    interval = float(low), float(high)
    prior = line.prior(float(purity))
    at_ends = sorted(line.prior(end) for end in interval)
    prior_interval = (at_ends[0], at_ends[1]) if line.slope else None
    return PriorEstimate(
        "tilt",
        prior,
        float(purity),
        prior_interval,
        interval,
        largest_prior(counts, level=level).prior,
        pvalue,
        {"tilt": MemberEstimate(prior, float(purity), prior_interval, interval)},
        (),
        level,
        known_share,
        line.slope,
    )


def _nodes(line: PriorLine, purities: Range) -> Array:
    """Return logits of possible purities, at which the prior is clearly below the purity."""
    low, high = purities
    # The contrast purity − prior is linear in the purity, too.
    low = low + SMALLEST_CONTRAST / (1 - line.slope)
    if low >= high:
        raise InputError(
            f"the purity cannot be estimated: only purities from {purities[0]:.4g} to {high:.4g} "
            "are possible, and the prior is almost as large. Give the purity."
        )
    first = max(float(logit(low)), LOWEST_LOGIT)
    last = min(float(logit(high)), HIGHEST_LOGIT)
    return np.linspace(min(first, last - 1e-6), last, NODES)


def _fit_on_line(model: TiltLikelihood, line: PriorLine, logits: Array) -> Fits:
    """Maximize over the tilt, with the purity at each node and the prior that belongs to it."""
    start = np.zeros((logits.size, model.PURITY + 1))
    priors = np.maximum([line.prior(float(purity)) for purity in expit(logits)], SMALLEST_PRIOR)
    start[:, model.PRIOR], start[:, model.PURITY] = logit(priors), logits
    return model.maximize(start, tuple(range(model.PRIOR)), steps=60, tolerance=1e-5)


def _log_posterior(fits: Fits) -> Array:
    """Return the log posterior density of the logit of the purity, up to a constant."""
    weak_penalty = beta_penalty(fits.parameters[:, TiltLikelihood.PURITY], WEAK_BETA)
    density: Array = fits.log_integrated + _share_penalties(fits.parameters) - weak_penalty
    return density


def _share_penalties(parameters: Array) -> Array:
    """Return what the likelihood includes for the prior distributions of prior and purity."""
    prior, purity = parameters[:, TiltLikelihood.PRIOR], parameters[:, TiltLikelihood.PURITY]
    return beta_penalty(prior, PRIOR_BETA) + beta_penalty(purity, PURITY_BETA)


def _clean_label_pvalue(model: TiltLikelihood, line: PriorLine, fits: Fits) -> float:
    """Return the p-value of the likelihood-ratio test of purity 1, with the prior on the line."""
    clean = _fit_on_line(model, line, np.array([LOGIT_OF_ONE]))
    loss, clean_loss = (f.loss - _share_penalties(f.parameters) for f in (fits, clean))
    return boundary_pvalue(float(clean_loss[0] - loss.min()))
