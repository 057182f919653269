"""AlphaMax and AlphaMaxN: the prior as the elbow of a likelihood curve over histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import xlogy

from pueval._checks import check_count
from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._reduced import reduced
from pueval.priors._score_estimator import ScorePriorEstimator
from pueval.priors._two_way import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pueval.displays import PriorLikelihoodDisplay

MOST_BINS = 512
# Halvings of the bracket of the multiplier, which is at most about 200 wide.
HALVINGS = 60
# Points on each side of the elbow to which a line is fitted.
ARM = 10


class AlphaMax(ScorePriorEstimator):
    r"""The prior by the AlphaMax method, for clean labels.

    Scores are put into one histogram: shares :math:`w_i` of the unlabeled and :math:`v_i` of the
    labeled rows. For every candidate prior :math:`a` of a grid, the part :math:`b_i` of each
    unlabeled bin that belongs to positives is chosen to maximize

    .. math:: \sum_i v_i \ln(b_i / a) + \sum_i w_i \ln(w_i - b_i + a v_i),
              \qquad 0 \le b_i \le w_i, \quad \sum_i b_i = a.

    The maximum stays flat while :math:`a` is below the prior and falls above it; the estimate is
    the elbow of this curve. The inner problem is solved exactly: for a multiplier of the sum each
    :math:`b_i` is the root of a quadratic, and the multiplier is found by bisection.

    Parameters
    ----------
    bins : int, optional
        Bins of equal width over the range of all scores. Left out, Scott's rule for the labeled
        rows sets the width. Bins without unlabeled rows are joined to their lower neighbor.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        1: the labels are taken as clean.
    grid_ : ndarray of shape (99,)
        Candidate priors.
    log_likelihood_ : ndarray of shape (99,)
        The curve to look at: per row, largest value for each candidate, made non-increasing.

    Notes
    -----
    The estimate is the *largest* prior that the histograms allow. It is the prior itself only if
    some scores are practically never those of negatives. The authors advise looking at the curve:
    an estimate without a visible elbow is not to be trusted. There is no confidence interval.

    Unlike `Tilt`, the histogram depends on the scale of the scores. Probabilities that pile up
    near 0 or 1 are better given as log-odds.

    References
    ----------
    Jain, White, Trosset and Radivojac (2016), "Nonparametric semi-supervised learning of class
    proportions".

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._alphamax import AlphaMax
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.normal(3, 1, 500), rng.normal(3, 1, 600), rng.normal(0, 1, 1400)]
    >>> estimator = AlphaMax().fit(score, np.repeat([1, 0], [500, 2000]))
    >>> round(estimator.prior_, 1)
    0.3
    """

    grid_: Array
    log_likelihood_: Array

    def plot(self, ax: Axes | None = None) -> PriorLikelihoodDisplay:
        """Plot the likelihood curve and the prior chosen at its elbow.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PriorLikelihoodDisplay
            Display with ``figure_``, ``ax_`` and ``frame()``.
        """
        from pueval.displays import PriorLikelihoodDisplay

        display = PriorLikelihoodDisplay(
            candidates=self.grid_, log_likelihood=self.log_likelihood_, prior=self.prior_
        )
        return display.plot(ax)

    def __init__(self, *, bins: int | None = None) -> None:
        self.bins = bins

    def _estimate(self, counts: Counts) -> None:
        _check_bins(self.bins)
        score, labeled, unlabeled = _rows(counts)
        self.grid_, self.log_likelihood_ = _curve(score, labeled, unlabeled, self.bins)
        self.prior_ = _elbow(self.grid_, self.log_likelihood_)


class AlphaMaxN(ScorePriorEstimator):
    r"""Prior and purity by two runs of AlphaMax, for labels that may be wrong.

    The first run gives :math:`a`, the largest share of the labeled density that fits into the
    unlabeled one; the second, with the two samples exchanged, gives :math:`b`. Then

    .. math:: \text{prior} = \frac{a(1-b)}{1-ab}, \qquad \text{purity} = \frac{1-b}{1-ab}.

    Parameters
    ----------
    bins : int, optional
        As for `AlphaMax`; left out, each run uses Scott's rule for its first sample.

    Attributes
    ----------
    prior_, purity_ : float
        Shares of positives among the unlabeled and of true positives among the labeled rows.
    grid_ : ndarray of shape (99,)
        Candidates for a and b.
    log_likelihood_, swapped_log_likelihood_ : ndarray of shape (99,)
        The curves of the two runs.

    Notes
    -----
    Needs scores that are practically only those of positives, and others that are practically
    only those of negatives. The second run sees few labeled rows, so the purity is rough.

    References
    ----------
    Jain, White and Radivojac (2016), "Estimating the class prior and posterior from noisy
    positives and unlabeled data".

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._alphamax import AlphaMaxN
    >>> rng = np.random.default_rng(1)
    >>> positive, negative = rng.normal(4, 1, 2200), rng.normal(0, 1, 2800)
    >>> score = np.r_[positive[:1600], negative[:400], positive[1600:], negative[400:]]
    >>> estimator = AlphaMaxN().fit(score, np.repeat([1, 0], [2000, 3000]))
    >>> round(estimator.prior_, 1), round(estimator.purity_, 1)
    (0.2, 0.8)
    """

    grid_: Array
    log_likelihood_: Array
    swapped_log_likelihood_: Array

    def __init__(self, *, bins: int | None = None) -> None:
        self.bins = bins

    def _estimate(self, counts: Counts) -> None:
        _check_bins(self.bins)
        score, labeled, unlabeled = _rows(counts)
        self.grid_, self.log_likelihood_ = _curve(score, labeled, unlabeled, self.bins)
        _, self.swapped_log_likelihood_ = _curve(score, unlabeled, labeled, self.bins)
        self.prior_, self.purity_ = solve(
            _elbow(self.grid_, self.log_likelihood_),
            _elbow(self.grid_, self.swapped_log_likelihood_),
        )


def _check_bins(bins: int | None) -> None:
    if bins is not None:
        check_count("bins", bins, least=2)


def _rows(counts: Counts) -> tuple[Array, Array, Array]:
    """Ascending scores with their counts."""
    table = reduced(counts)
    return table.score[::-1].astype(np.float64), table.labeled[::-1], table.unlabeled[::-1]


def _curve(score: Array, labeled: Array, unlabeled: Array, bins: int | None) -> tuple[Array, Array]:
    grid = np.arange(1, 100) / 100
    v, w = _histogram(score, labeled, unlabeled, bins)
    part = _inner(v, w, grid)
    a = grid[:, None]
    curve = (xlogy(v, part / a) + xlogy(w, w - part + a * v)).sum(axis=1)
    return grid, np.maximum.accumulate(curve[::-1])[::-1]


def _histogram(
    score: Array, labeled: Array, unlabeled: Array, bins: int | None
) -> tuple[Array, Array]:
    """Shares of labeled and unlabeled rows in bins of equal width."""
    # Halves keep the differences finite for scores near the largest float.
    low, high = score[0] / 2, score[-1] / 2
    place = (score / 2 - low) / (high - low)
    if bins is None:
        n = labeled.sum()
        mean = labeled @ place / n
        width = 3.49 * np.sqrt(labeled @ (place - mean) ** 2 / n) * n ** (-1 / 3)
        bins = max(int(np.ceil(1 / max(width, 1 / MOST_BINS))), 2)
    index = np.minimum((place * bins).astype(int), bins - 1)
    v = np.bincount(index, labeled, bins) / labeled.sum()
    w = np.bincount(index, unlabeled, bins) / unlabeled.sum()
    # Without unlabeled rows a bin's labeled ones would have likelihood 0, whatever the prior.
    owner = np.maximum(np.cumsum(w > 0) - 1, 0)
    return np.bincount(owner, v), np.bincount(owner, w)


def _inner(v: Array, w: Array, grid: Array) -> Array:
    """Best parts b of the unlabeled bins, one row for each candidate of the grid.

    At the best b, v/b − w/(c − b) equals a multiplier wherever 0 < b < w, with c = w + a·v. The sum
    of b falls as the multiplier grows: it is at least a at −1/(1 − a), at most a at 1/a.
    """
    a = grid[:, None]
    c = w + a * v
    low, high = -1 / (1 - a), 1 / a
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = _part(v, w, c, middle).sum(axis=1, keepdims=True) > a
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return _part(v, w, c, (low + high) / 2)


def _part(v: Array, w: Array, c: Array, multiplier: Array) -> Array:
    shifted = multiplier * c
    total = v + w + shifted
    root = np.sqrt((shifted + w - v) ** 2 + 4 * v * w)
    # Two forms of the same root of the quadratic; each is used where it does not cancel.
    stable = total > 0
    first = 2 * v * c / np.where(stable, total + root, 1.0)
    second = (total - root) / np.where(stable, 1.0, 2 * multiplier)
    return np.clip(np.where(stable, first, second), 0.0, w)


def _elbow(grid: Array, curve: Array) -> float:
    """Where the curve bends down most, relative to how far it has fallen already."""
    fall = np.median(sliding_window_view(np.pad(-curve, 2, mode="edge"), 5), axis=1)
    fall = fall - fall.min()
    if fall.max() <= 0:
        raise InputError("the likelihood is the same for every prior; the scores do not separate.")
    fall = fall / fall.max()
    # Left of the grid the curve is flat; right of it, it goes on falling as it did.
    step = (fall[-1] - fall[-5]) / 4
    padded = np.r_[np.full(ARM - 1, fall[0]), fall, fall[-1] + step * np.arange(1, ARM)]
    window = sliding_window_view(padded, ARM)
    x = np.arange(ARM) - (ARM - 1) / 2
    slope = window @ (x / (x @ x))
    left, right = window[: grid.size], slope[ARM - 1 :]
    bend = (right - slope[: grid.size]) / (np.median(left, axis=1) + 0.01)
    return float(grid[np.argmax(bend)])
