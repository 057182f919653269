"""One-step bootstrap of an estimated prior, on the same draws as everything else.

Each bootstrap draw gets a prior of its own: one Newton step of the tilt likelihood from its maximum
for all rows. Only the order of these priors and their relation to the drawn rows are used. Their
spread is that of the confidence intervals of the estimate, because the bootstrap intervals of prior
estimators cover too rarely.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from pueval._typing import Array
from pueval.core.mixture import Mixtures
from pueval.core.rates import Shares
from pueval.counts.counts import Counts
from pueval.priors._estimation_result import PriorEstimate
from pueval.priors._labeled_unlabeled_counts import pooled_normal_scores
from pueval.priors._tilt_likelihood import Fits, TiltLikelihood
from pueval.uncertainty.bootstrap_draws import BootstrapDraws
from pueval.uncertainty.prior_draws import scaled_to_intervals, with_prior_error

# Shares closer than this to 0 or 1 have no usable logit.
SMALLEST = 1e-4


def draw_mixtures(
    estimate: PriorEstimate,
    counts: Counts,
    draws: BootstrapDraws,
    *,
    prior_error: float = 0.0,
    seed: int = 0,
) -> Mixtures:
    """Return a prior and a purity for each draw, as columns.

    ``prior_error`` is an independent standard error of the prior, which it has if it follows from
    the number of labeled rows.
    """
    mixtures = scaled_to_intervals(estimate, _standardized_steps(estimate, counts, draws))
    return with_prior_error(mixtures, prior_error, seed) if prior_error else mixtures


def _standardized_steps(
    estimate: PriorEstimate, counts: Counts, draws: BootstrapDraws
) -> tuple[Array, Array]:
    """Return the Newton steps of prior and purity, standardized over the draws."""
    labeled, unlabeled = (kind.effective_size for kind in counts._samples[:2])
    expected = _rows_by_cell(draws.expected, labeled, unlabeled)
    used = expected.sum(axis=0) > 0
    expected = expected[:, used]
    resampled = _rows_by_cell(draws.resampled, labeled, unlabeled)[..., used]
    model = TiltLikelihood(pooled_normal_scores(*expected), *expected)
    if estimate.known_share is not None:
        peak, free, directions = _fit_on_line(model, estimate)
    else:
        with_purity = estimate.purity_interval is not None
        peak, free = model.fit(None if with_purity else 1.0)
        directions = np.eye(model.PURITY + 1)[:, list(free)]
    gradients = model.row_gradients(peak.parameters)
    score = sum(
        (rows - center) @ (directions.T @ gradient).T
        for rows, center, gradient in zip(resampled, expected, gradients, strict=True)
    )
    steps = -np.linalg.solve(peak.information[0], np.asarray(score).T)
    standardized = []
    for parameter in (model.PRIOR, model.PURITY):
        if parameter not in free:
            standardized.append(np.zeros(draws.noise.size))
            continue
        step = steps[free.index(parameter)]
        scale = step.std()
        # Where the likelihood is flat, only the confidence interval is known.
        standardized.append((step - step.mean()) / scale if scale > 0 else draws.noise)
    return standardized[0], standardized[1]


def _fit_on_line(
    model: TiltLikelihood, estimate: PriorEstimate
) -> tuple[Fits, tuple[int, ...], Array]:
    """Fit the model at an estimate whose prior follows from the purity.

    Return the fit, the parameters that vary, and the direction in which all parameters move with
    each of these: the logit of the prior moves with that of the purity.
    """
    prior, purity = (min(max(x, SMALLEST), 1 - SMALLEST) for x in (estimate.prior, estimate.purity))
    start = np.zeros((1, model.PURITY + 1))
    start[0, [model.PRIOR, model.PURITY]] = logit([prior, purity])
    free = (*range(model.PRIOR), model.PURITY)
    fit = model.maximize(start, free[:-1])
    directions = np.eye(model.PURITY + 1)[:, list(free)]
    by_purity = purity * (1 - purity) / (prior * (1 - prior))
    directions[model.PRIOR, -1] = estimate.prior_slope * by_purity
    information = directions.T @ model.derivatives(fit.parameters)[2][0] @ directions
    return Fits(fit.parameters, fit.loss, information[None]), free, directions


def _rows_by_cell(shares: Shares, labeled: float, unlabeled: float) -> Array:
    """Return effective numbers of labeled and unlabeled rows in the cells, scores ascending."""
    rows: Array = np.stack(
        [
            size * np.diff(share, axis=-1, prepend=0.0)[..., ::-1]
            for share, size in ((shares.labeled, labeled), (shares.unlabeled, unlabeled))
        ]
    )
    return rows
