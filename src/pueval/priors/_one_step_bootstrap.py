"""One-step bootstrap of an estimated prior, on the same draws as everything else.

Each bootstrap draw gets a prior of its own: one Newton step of the tilt likelihood from its maximum
for all rows. Only the order of these priors and their relation to the drawn rows are used. Their
spread is that of the confidence intervals of the estimate, because the bootstrap intervals of prior
estimators cover too rarely.
"""

from __future__ import annotations

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixtures
from pueval.core.rates import Shares
from pueval.counts.counts import Counts
from pueval.priors._estimation_result import PriorEstimate
from pueval.priors._labeled_unlabeled_counts import pooled_normal_scores
from pueval.priors._tilt_likelihood import TiltLikelihood
from pueval.uncertainty.bootstrap_draws import BootstrapDraws
from pueval.uncertainty.prior_draws import scaled_to_intervals


def draw_mixtures(estimate: PriorEstimate, counts: Counts, draws: BootstrapDraws) -> Mixtures:
    """Return a prior and a purity for each draw, as columns."""
    scores = _standardized_steps(counts, draws, with_purity=estimate.purity_interval is not None)
    return scaled_to_intervals(estimate, scores)


def _standardized_steps(
    counts: Counts, draws: BootstrapDraws, *, with_purity: bool
) -> tuple[Array, Array]:
    """Return the Newton steps of the logits of prior and purity, standardized over the draws."""
    labeled, unlabeled = (kind.effective_size for kind in counts._samples[:2])
    expected = _rows_by_cell(draws.expected, labeled, unlabeled)
    used = expected.sum(axis=0) > 0
    expected = expected[:, used]
    resampled = _rows_by_cell(draws.resampled, labeled, unlabeled)[..., used]
    model = TiltLikelihood(pooled_normal_scores(*expected), *expected)
    peak, free = model.fit(None if with_purity else 1.0)
    gradients = model.row_gradients(peak.parameters)
    score = sum(
        (rows - center) @ gradient[list(free)].T
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


def _rows_by_cell(shares: Shares, labeled: float, unlabeled: float) -> Array:
    """Return effective numbers of labeled and unlabeled rows in the cells, scores ascending."""
    rows: Array = np.stack(
        [
            size * np.diff(share, axis=-1, prepend=0.0)[..., ::-1]
            for share, size in ((shares.labeled, labeled), (shares.unlabeled, unlabeled))
        ]
    )
    return rows
