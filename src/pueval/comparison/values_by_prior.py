"""Measures of several models as functions of the prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Shares, correct_shares, correct_steps
from pueval.counts.counts import Counts

# From priors to a table of values: a line per prior, a column per model.
ValuesByPrior = Callable[[Array], Array]


def threshold_values(
    counts: Counts, share: Array, measure: Measure, purity: float, target: Target
) -> ValuesByPrior:
    """Return a measure at fixed thresholds as a function of the prior.

    ``share`` has the shares of labeled, unlabeled and negative rows at or above each threshold.
    """
    thresholds = np.zeros(share.shape[1])

    def values(priors: Array) -> Array:
        prior = priors[:, None]
        mixtures = Mixtures(prior, np.full_like(prior, purity))
        value = measure(correct_shares(counts, thresholds, Shares(*share), mixtures, target))
        # Some measures do not depend on the prior.
        return np.broadcast_to(value, (priors.size, thresholds.size))

    return values


def best_values(
    counts: Sequence[Counts], measure: Measure, purity: float, target: Target
) -> ValuesByPrior:
    """Return the best value over thresholds as a function of the prior.

    The measures that have a best value rise with the true positive rate, fall with the false
    positive rate, and are quasi-convex: accuracies are linear, F1 is a ratio of linear functions,
    and the level lines of the Matthews correlation are concave. So the best threshold is at a
    corner of the convex hull of the naive ROC curve, whatever the prior, since corrected rates
    are linear in the naive ones.
    """
    hulls = [_hull_shares(model) for model in counts]
    share = np.concatenate(hulls, axis=1)
    starts = np.cumsum([0, *(hull.shape[1] for hull in hulls[:-1])])
    at_corners = threshold_values(counts[0], share, measure, purity, target)

    def values(priors: Array) -> Array:
        best: Array = np.fmax.reduceat(at_corners(priors), starts, axis=1)
        return best

    return values


def _hull_shares(counts: Counts) -> Array:
    """Return shares of each kind at the corners of the convex hull of the naive ROC curve."""
    steps = counts._roc_corners()
    background = (steps.unlabeled + steps.negative) / (counts.n_unlabeled + counts.n_negative)
    labeled = steps.labeled / counts.n_labeled
    corners = upper_hull(background, labeled)
    if corners.size <= 2:
        # The ranking is nowhere better than chance: the hull is the diagonal, without corners.
        corners = np.arange(labeled.size)
    else:
        # For the target "unlabeled", the Matthews correlation is undefined where no unlabeled row,
        # or every one, is predicted positive.
        defined = np.flatnonzero((steps.unlabeled > 0) & (steps.unlabeled < counts.n_unlabeled))
        inner = defined[upper_hull(background[defined], labeled[defined])]
        corners = np.union1d(corners, inner)
    shares = Shares.of(counts, steps)
    return np.stack([shares.labeled, shares.unlabeled, shares.negative])[:, corners]


def upper_hull(x: Array, y: Array) -> Array:
    """Return the corners of the upper convex hull of distinct points that go right or up.

    Points on or below the line between their neighbors are dropped until none is left.

    Parameters
    ----------
    x, y : ndarray
        Coordinates, not decreasing.

    Returns
    -------
    ndarray of int
        Indices of the corners.

    Examples
    --------
    >>> import numpy as np
    >>> upper_hull(np.array([0.0, 0.1, 0.2, 1.0]), np.array([0.0, 0.6, 0.62, 1.0]))
    array([0, 1, 3])
    """
    corners = np.arange(x.size)
    while corners.size > 2:
        right, up = np.diff(x[corners]), np.diff(y[corners])
        convex = up[:-1] * right[1:] > up[1:] * right[:-1]
        if convex.all():
            break
        corners = corners[np.r_[True, convex, True]]
    return corners


def auc_values(counts: Sequence[Counts], naive: Array, purity: float) -> ValuesByPrior:
    """Return the ROC AUC by the direct formula as a function of the prior."""
    models = [*zip(counts, naive.tolist(), strict=True)]
    return _one_prior_at_a_time(
        lambda mixture: [direct_auc(model, auc, mixture) for model, auc in models], purity
    )


def average_precision_values(
    counts: Sequence[Counts], purity: float, target: Target
) -> ValuesByPrior:
    """Return the average precision as a function of the prior."""
    models = [(model, model._roc_corners()) for model in counts]

    def values(mixture: Mixture) -> list[float]:
        rates = [correct_steps(model, corners, mixture, target) for model, corners in models]
        return [float(average_precision(of_model)) for of_model in rates]

    return _one_prior_at_a_time(values, purity)


def _one_prior_at_a_time(values: Callable[[Mixture], list[float]], purity: float) -> ValuesByPrior:
    return lambda priors: np.array([values(Mixture(prior, purity)) for prior in priors.tolist()])
