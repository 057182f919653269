"""How uncertain an estimated prior is, in step with the rows that are drawn again.

Every draw of the bootstrap has a prior of its own. Where it stands among all draws is found by
re-estimating it: one Newton step of the tilt likelihood from its maximum for all rows. How far
the priors spread is not left to the draws, since a bootstrap of prior estimators covers too seldom;
they are stretched so that their quantiles are the confidence limits of the estimate.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from pueval._typing import Array, Range
from pueval.core.confidence import normal_quantile
from pueval.core.mixture import Mixtures, cap_prior
from pueval.core.rates import Shares
from pueval.counts.counts import Counts
from pueval.priors._estimation_result import PriorEstimate
from pueval.priors._tilt import START_LOGITS
from pueval.priors._tilt_likelihood import LOGIT_OF_ONE, TiltLikelihood
from pueval.uncertainty.bootstrap_draws import Cells
from pueval.uncertainty.prior_region import Region

# Labeled rows hold at least this much more positives than unlabeled ones, in every draw.
RESAMPLED_CONTRAST = 1e-3


def draw_mixtures(estimate: PriorEstimate, counts: Counts, cells: Cells) -> Mixtures:
    """Return a prior and a purity for every draw, as a column."""
    place = _places(estimate, counts, cells)
    reach = normal_quantile(estimate.level)
    shares = []
    for name, places in zip(("prior", "purity"), place, strict=True):
        middle, limits = getattr(estimate, name), getattr(estimate, f"{name}_interval")
        low, high = (middle, middle) if limits is None else limits
        scale = np.where(places < 0, middle - low, high - middle) / reach
        shares.append(np.clip(middle + scale * places, 0.0, 1.0))
    prior, purity = shares
    purity = np.maximum(purity, RESAMPLED_CONTRAST)
    prior = cap_prior(prior, purity, RESAMPLED_CONTRAST)
    return Mixtures(prior[:, None], purity[:, None])


def limits(estimate: PriorEstimate, level: float) -> Region:
    """Return the confidence limits of an estimate as a region of possible mixtures."""
    wider = normal_quantile(level) / normal_quantile(estimate.level)

    def stretched(name: str) -> Range:
        middle = getattr(estimate, name)
        low, high = getattr(estimate, f"{name}_interval") or (middle, middle)
        return max(middle - wider * (middle - low), 0.0), min(middle + wider * (high - middle), 1.0)

    prior, purity = stretched("prior"), stretched("purity")
    contrast = min(RESAMPLED_CONTRAST, (estimate.purity - estimate.prior) / 2)
    purity = max(purity[0], estimate.prior + contrast), purity[1]
    return Region((prior[0], cap_prior(prior[1], purity[0], contrast)), purity)


def _places(estimate: PriorEstimate, counts: Counts, cells: Cells) -> tuple[Array, Array]:
    """Standardized logits of prior and purity, one Newton step from the maximum, per draw."""
    labeled, unlabeled = (kind.effective_size for kind in counts._samples[:2])
    used = _rows(cells.expected, labeled, unlabeled).sum(axis=0) > 0
    expected = _rows(cells.expected, labeled, unlabeled)[:, used]
    drawn = _rows(cells.drawn, labeled, unlabeled)[..., used]
    model = TiltLikelihood(_normal_scores(expected), *expected)
    free = model.WITHOUT_PURITY
    start = np.zeros((len(START_LOGITS), model.PURITY + 1))
    start[:, model.PRIOR :] = START_LOGITS
    if estimate.purity_interval is None:
        start[:, model.PURITY] = LOGIT_OF_ONE
    else:
        free = (*free, model.PURITY)
    fits = model.maximize(start, free)
    best = int(np.argmin(fits.loss))
    row_gradients = model.row_gradients(fits.parameters[[best]])
    change = sum(
        (again - known) @ part[list(free)].T
        for again, known, part in zip(drawn, expected, row_gradients, strict=True)
    )
    step = -np.linalg.solve(fits.information[best], np.asarray(change).T)
    found = []
    for column in (model.PRIOR, model.PURITY):
        if column not in free:
            found.append(np.zeros(cells.noise.size))
            continue
        moved = step[free.index(column)]
        scale = moved.std()
        # Where the likelihood does not move at all, nothing is known but the limits.
        found.append((moved - moved.mean()) / scale if scale > 0 else cells.noise)
    return found[0], found[1]


def _rows(shares: Shares, labeled: float, unlabeled: float) -> Array:
    """Effective numbers of labeled and unlabeled rows in the cells, scores ascending."""
    rows: Array = np.stack(
        [
            number * np.diff(share, axis=-1, prepend=0.0)[..., ::-1]
            for share, number in ((shares.labeled, labeled), (shares.unlabeled, unlabeled))
        ]
    )
    return rows


def _normal_scores(rows: Array) -> Array:
    """Return normal quantiles of pooled ranks, both kinds having the same weight."""
    weight = np.mean(rows / rows.sum(axis=1, keepdims=True), axis=0)
    return np.asarray(ndtri(np.cumsum(weight) - weight / 2))
