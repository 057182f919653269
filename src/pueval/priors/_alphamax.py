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
from pueval.priors._estimator_bases import ScorePriorEstimator
from pueval.priors._labeled_unlabeled_counts import LabeledUnlabeledCounts
from pueval.priors._with_purity import solve_prior_and_purity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pueval.displays import PriorLikelihoodDisplay

MOST_BINS = 512
# Bisection steps for the multiplier, whose bracket is at most about 200 wide.
BISECTIONS = 60
# Points on each side of the elbow that a line is fitted to.
ARM = 10


class HistogramPriorEstimator(ScorePriorEstimator):
    """Base of both estimators: likelihood curves over histograms of the scores."""

    grid_: Array
    log_likelihood_: Array

    def __init__(self, *, bins: int | None = None) -> None:
        self.bins = bins

    def _curve(self, counts: Counts, *, swapped: bool = False) -> Array:
        """Return the maximal log-likelihood of each candidate prior, and set ``grid_``."""
        if self.bins is not None:
            check_count("bins", self.bins, least=2)
        table = LabeledUnlabeledCounts.from_counts(counts)
        score = table.score[::-1].astype(np.float64)
        labeled, unlabeled = (column[::-1] for column in table.effective_counts())
        if swapped:
            labeled, unlabeled = unlabeled, labeled
        self.grid_ = np.arange(1, 100) / 100
        v, w = _histogram(score, labeled, unlabeled, self.bins)
        b = _positive_parts(v, w, self.grid_)
        a = self.grid_[:, None]
        curve = (xlogy(v, b / a) + xlogy(w, w - b + a * v)).sum(axis=1)
        # Made non-increasing.
        return np.asarray(np.maximum.accumulate(curve[::-1])[::-1])


class AlphaMax(HistogramPriorEstimator):
    r"""Prior by the AlphaMax method, for clean labels.

    Scores are binned: bin i holds a share :math:`w_i` of the unlabeled rows and :math:`v_i` of the
    labeled positives. For each candidate prior :math:`a` on a grid, let :math:`b_i` be the part of
    bin i's unlabeled share that is positive. The method maximizes

    .. math:: \sum_i v_i \ln(b_i / a) + \sum_i w_i \ln(w_i - b_i + a v_i),
              \qquad 0 \le b_i \le w_i, \quad \sum_i b_i = a.

    The maximum is flat for :math:`a` below the prior and falls above it. The estimate is the elbow
    of this curve. The inner problem is solved exactly: given the Lagrange multiplier, each
    :math:`b_i` is the root of a quadratic, and the multiplier is found by bisection.

    The method assumes clean labels and random labeling.

    Parameters
    ----------
    bins : int, optional
        Number of bins of equal width over the range of the scores, at least 2. By default,
        Scott's rule for the labeled positives sets the width. Bins without unlabeled rows are
        merged with the next lower bin.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        Always 1: the estimator assumes clean labels.
    grid_ : ndarray of shape (99,)
        Candidate priors.
    log_likelihood_ : ndarray of shape (99,)
        Maximal log-likelihood per row for each candidate, made non-increasing.

    Notes
    -----
    The method estimates the *largest* prior compatible with the histograms. This is the prior
    itself only if negatives practically never reach some scores. The authors advise looking at the
    curve: do not trust an estimate without a visible elbow. There is no confidence interval.

    Unlike the ranks that `Tilt` uses, the histogram depends on the scale of the scores. If
    probabilities pile up near 0 or 1, pass log-odds instead.

    References
    ----------
    Jain, White, Trosset and Radivojac (2016), "Nonparametric semi-supervised learning of class
    proportions".

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import AlphaMax
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.normal(3, 1, 500), rng.normal(3, 1, 600), rng.normal(0, 1, 1400)]
    >>> estimator = AlphaMax().fit(score, np.repeat([1, 0], [500, 2000]))
    >>> round(estimator.prior_, 1)
    0.3
    """

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

    def _estimate(self, counts: Counts) -> None:
        self.log_likelihood_ = self._curve(counts)
        self.prior_ = _elbow(self.grid_, self.log_likelihood_)


class AlphaMaxN(HistogramPriorEstimator):
    r"""Prior and purity by two runs of AlphaMax, for labels that may be wrong.

    The first run estimates :math:`a`, the largest share of the labeled density that fits into the
    unlabeled density. The second run, with the two samples swapped, estimates :math:`b`. Then

    .. math:: \text{prior} = \frac{a(1-b)}{1-ab}, \qquad \text{purity} = \frac{1-b}{1-ab}.

    Parameters
    ----------
    bins : int, optional
        Number of bins, at least 2; see `AlphaMax`. By default, each run uses Scott's rule for its
        first sample.

    Attributes
    ----------
    prior_, purity_ : float
        Share of positives among the unlabeled rows, and of true positives among the labeled rows.
    grid_ : ndarray of shape (99,)
        Candidates for a and b.
    log_likelihood_, swapped_log_likelihood_ : ndarray of shape (99,)
        Curves of the two runs.

    Notes
    -----
    The method assumes random labeling, and that practically only positives reach some scores and
    only negatives others. The second run relies on few labeled rows, so the purity is imprecise.

    References
    ----------
    Jain, White and Radivojac (2016), "Estimating the class prior and posterior from noisy
    positives and unlabeled data".

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import AlphaMaxN
    >>> rng = np.random.default_rng(1)
    >>> positive, negative = rng.normal(4, 1, 2200), rng.normal(0, 1, 2800)
    >>> score = np.r_[positive[:1600], negative[:400], positive[1600:], negative[400:]]
    >>> estimator = AlphaMaxN().fit(score, np.repeat([1, 0], [2000, 3000]))
    >>> round(estimator.prior_, 1), round(estimator.purity_, 1)
    (0.2, 0.8)
    """

    swapped_log_likelihood_: Array

    def _estimate(self, counts: Counts) -> None:
        self.log_likelihood_ = self._curve(counts)
        self.swapped_log_likelihood_ = self._curve(counts, swapped=True)
        self.prior_, self.purity_ = solve_prior_and_purity(
            _elbow(self.grid_, self.log_likelihood_),
            _elbow(self.grid_, self.swapped_log_likelihood_),
        )


def _histogram(
    score: Array, labeled: Array, unlabeled: Array, bins: int | None
) -> tuple[Array, Array]:
    """Return the shares of labeled and unlabeled rows in bins of equal width."""
    # Halving keeps differences finite for scores near the largest float.
    low, high = score[0] / 2, score[-1] / 2
    position = (score / 2 - low) / (high - low)
    if bins is None:
        n = labeled.sum()
        mean = labeled @ position / n
        width = 3.49 * np.sqrt(labeled @ (position - mean) ** 2 / n) * n ** (-1 / 3)
        bins = max(int(np.ceil(1 / max(width, 1 / MOST_BINS))), 2)
    index = np.minimum((position * bins).astype(int), bins - 1)
    v = np.bincount(index, labeled, bins) / labeled.sum()
    w = np.bincount(index, unlabeled, bins) / unlabeled.sum()
    # A bin with labeled but no unlabeled rows would have likelihood 0 for every prior.
    merged = np.maximum(np.cumsum(w > 0) - 1, 0)
    return np.bincount(merged, v), np.bincount(merged, w)


def _positive_parts(v: Array, w: Array, grid: Array) -> Array:
    """Return the optimal positive parts b of the unlabeled bins, one row per candidate prior a.

    At the optimum, v/b − w/(c − b) equals the multiplier wherever 0 < b < w, with c = w + a·v. The
    sum of b falls with the multiplier: it is at least a at −1/(1 − a), and at most a at 1/a.
    """
    a = grid[:, None]
    c = w + a * v
    low, high = -1 / (1 - a), 1 / a
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = _parts_for_multiplier(v, w, c, middle).sum(axis=1, keepdims=True) > a
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return _parts_for_multiplier(v, w, c, (low + high) / 2)


def _parts_for_multiplier(v: Array, w: Array, c: Array, multiplier: Array) -> Array:
    shifted = multiplier * c
    total = v + w + shifted
    root = np.sqrt((shifted + w - v) ** 2 + 4 * v * w)
    # Two forms of the same root of the quadratic; each avoids cancellation on its side.
    stable = total > 0
    first = 2 * v * c / np.where(stable, total + root, 1.0)
    second = (total - root) / np.where(stable, 1.0, 2 * multiplier)
    return np.clip(np.where(stable, first, second), 0.0, w)


def _elbow(grid: Array, curve: Array) -> float:
    """Return where the curve bends most, relative to how far it has already fallen."""
    fall = np.median(sliding_window_view(np.pad(-curve, 2, mode="edge"), 5), axis=1)
    fall = fall - fall.min()
    if fall.max() <= 0:
        raise InputError(
            "the likelihood is the same for every prior: the scores do not separate labeled from "
            "unlabeled rows. Pass scores that rank the rows."
        )
    fall = fall / fall.max()
    # Extrapolate: flat to the left of the grid, linear to the right.
    step = (fall[-1] - fall[-5]) / 4
    padded = np.r_[np.full(ARM - 1, fall[0]), fall, fall[-1] + step * np.arange(1, ARM)]
    window = sliding_window_view(padded, ARM)
    x = np.arange(ARM) - (ARM - 1) / 2
    slope = window @ (x / (x @ x))
    left, right = window[: grid.size], slope[ARM - 1 :]
    bend = (right - slope[: grid.size]) / (np.median(left, axis=1) + 0.01)
    return float(grid[np.argmax(bend)])
