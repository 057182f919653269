"""Likelihood-ratio test of clean labels (purity 1) in the tilt model."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, expit

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import Contradiction
from pueval.priors._labeled_unlabeled_counts import normal_scores, scores_significantly_higher
from pueval.priors._tilt_likelihood import (
    LOGIT_OF_ONE,
    PURITY_BETA,
    Fits,
    TiltLikelihood,
    beta_penalty,
    binned_likelihood,
)
from pueval.samples.sample import score_range

# Labels are called noisy below this p-value.
NOISY_PVALUE = 0.01
# With fewer labeled rows there is no test.
LEAST_LABELED = 10
# With fewer wrong labels by the fit, the p-value is not below NOISY_PVALUE: the chi-square
# approximation fails, and a few positives far in the tail would pass for wrong labels.
LEAST_WRONG = 10
# Logits of the purities that are tried first, and points per refinement around the best of them.
PURITY_LOGITS = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.5])
REFINED_POINTS, REFINEMENTS = 5, 2
# Smaller statistics are below the accuracy of the maximization.
SMALLEST_STATISTIC = 1e-3


def clean_label_pvalue(counts: Counts) -> float | None:
    """Return the p-value of the hypothesis that all labels are right; None without a test.

    There is none with few labeled rows, or if the scores do not separate labeled from unlabeled
    rows: there is then nothing to see.
    """
    few = counts.effective_sizes[0] < LEAST_LABELED
    low, high = score_range(counts._samples[:2])
    if few or not counts.n_unlabeled or low == high:
        return None
    _, z, labeled, unlabeled = normal_scores(counts)
    if not scores_significantly_higher(labeled, unlabeled):
        return None
    return likelihood_ratio_pvalue(binned_likelihood(z, labeled, unlabeled))


def noisy_label_warning(pvalue: float | None) -> str | None:
    """Warn that some labels seem to be wrong, given the p-value of the test."""
    if pvalue is None or pvalue >= NOISY_PVALUE:
        return None
    return Contradiction(
        f"labels may be noisy (test of clean labels: p = {pvalue:.1g}): more labeled rows than "
        "expected score as low as negatives. Either some labels are wrong, or some positives look "
        'like negatives. If labels can be wrong, pass their purity, or purity="estimate".'
    )


def likelihood_ratio_pvalue(model: TiltLikelihood) -> float:
    """Return the p-value of the likelihood-ratio test of purity 1.

    The likelihood is maximized over prior and tilt for several purities, without the prior
    distribution of the purity.
    """
    clean = model.fit(1.0)[0].parameters[0]
    logits = np.r_[PURITY_LOGITS, LOGIT_OF_ONE]
    fits = _fit_purities(model, clean, logits, tolerance=1e-3)
    losses = _loss_without_purity_penalty(fits)
    best = int(np.argmin(losses))
    if best == PURITY_LOGITS.size:
        return 1.0
    clean = _fit_purities(model, clean, logits[-1:], tolerance=1e-4)
    loss, step = losses[best], 1.5
    parameters = fits.parameters[best]
    for _ in range(REFINEMENTS):
        center = parameters[model.PURITY]
        near = np.linspace(center - step, center + step, REFINED_POINTS)
        fits = _fit_purities(model, parameters, near, tolerance=1e-4)
        losses = _loss_without_purity_penalty(fits)
        best = int(np.argmin(losses))
        parameters, loss = fits.parameters[best], min(loss, losses[best])
        step /= REFINED_POINTS - 1
    pvalue = boundary_pvalue(float(_loss_without_purity_penalty(clean)[0] - loss))
    n_wrong = expit(-parameters[model.PURITY]) * model.labeled.sum()
    return pvalue if n_wrong >= LEAST_WRONG else max(pvalue, NOISY_PVALUE)


def boundary_pvalue(lost: float) -> float:
    """Return the p-value of purity 1, given the log-likelihood that is lost by assuming it.

    Purity 1 is on the boundary of the parameter space, so the reference distribution of the
    likelihood-ratio statistic is an equal mixture of 0 and chi-square with 1 degree of freedom.
    """
    return float(chdtrc(1, 2 * lost)) / 2 if 2 * lost > SMALLEST_STATISTIC else 1.0


def _fit_purities(model: TiltLikelihood, start: Array, logits: Array, *, tolerance: float) -> Fits:
    """Maximize over everything but the purity, at each of several purities."""
    parameters = np.repeat(start[None], logits.size, axis=0)
    parameters[:, model.PURITY] = logits
    # Start below the purity.
    parameters[:, model.PRIOR] = np.minimum(parameters[:, model.PRIOR], logits - 0.5)
    return model.maximize(parameters, model.WITHOUT_PURITY, steps=25, tolerance=tolerance)


def _loss_without_purity_penalty(fits: Fits) -> Array:
    loss: Array = fits.loss - beta_penalty(fits.parameters[:, TiltLikelihood.PURITY], PURITY_BETA)
    return loss
