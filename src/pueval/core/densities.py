"""Score densities of labeled and unlabeled rows, and corrected ones of positives and negatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from pueval._checks import check_choice, check_count
from pueval._typing import Array, Target
from pueval.core.cluster_table import share_effect
from pueval.core.confidence import normal_quantile
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_pair, correct_steps
from pueval.counts.counts import Counts
from pueval.samples.sample import Sample
from pueval.text.results import Result

Scale = Literal["score", "rank"]

# Outliers go into the outermost bins: this share of each kind of rows at each end, and scores
# further from the quartiles than this many interquartile ranges.
TAIL, INTERQUARTILE_RANGES = 0.001, 10
# Number of quantiles from which the range of scores is computed.
QUANTILES = 12_000


@dataclass(frozen=True, eq=False, repr=False)
class ScoreDensities(Result):
    """Histograms of scores, as densities.

    Attributes
    ----------
    edges : ndarray of shape (bins + 1,)
        Edges of the bins on the axis, ascending.
    cuts : ndarray of shape (bins − 1,)
        Scores between the bins, ascending. The outermost bins also hold all scores beyond.
    labeled, unlabeled : ndarray of shape (bins,)
        Densities of the labeled and of the background rows.
    positive, negative : ndarray of shape (bins,)
        Corrected densities of positives and negatives; not clipped, so noise stays visible.
    positive_standard_error, negative_standard_error : ndarray of shape (bins,)
        Standard errors of the corrected densities for known prior and purity.
    scale : {"score", "rank"}
        Unit of the axis.
    """

    edges: Array
    cuts: Array
    labeled: Array
    unlabeled: Array
    positive: Array
    negative: Array
    positive_standard_error: Array
    negative_standard_error: Array
    scale: Scale

    def _headline(self) -> str:
        return f"Score densities in {self.labeled.size} bins by {self.scale}"

    def _columns(self) -> dict[str, Array]:
        corrected = ("positive", "positive_standard_error", "negative", "negative_standard_error")
        names = ("labeled", "unlabeled", *corrected)
        edges = {"left": self.edges[:-1], "right": self.edges[1:]}
        return edges | {name: getattr(self, name) for name in names}

    def interval(
        self, which: Literal["positive", "negative"], level: float | None
    ) -> tuple[Array, Array]:
        """Return pointwise confidence intervals of a corrected density.

        Parameters
        ----------
        which : {"positive", "negative"}
            Corrected density.
        level : float or None
            Confidence level; if None, the intervals are NaN.

        Returns
        -------
        low, high : ndarray of shape (bins,)
        """
        density: Array = getattr(self, which)
        half_width = np.full(density.size, np.nan)
        if level is not None:
            half_width = normal_quantile(level) * getattr(self, f"{which}_standard_error")
        return density - half_width, density + half_width


def score_densities(
    counts: Counts, mixture: Mixture, *, bins: int | None = None, scale: Scale = "score"
) -> ScoreDensities:
    """Compute histograms of scores, and corrected ones of positives and negatives.

    In every bin, solve labeled = purity·positive + (1 − purity)·negative and
    unlabeled = prior·positive + (1 − prior)·negative for positive and negative.

    Parameters
    ----------
    counts : Counts
        The data.
    mixture : Mixture
        Prior and purity.
    bins : int, optional
        Number of bins; by default 10 to 60, more for more labeled rows.
    scale : {"score", "rank"}
        ``"score"``: bins of equal width. ``"rank"``: bins with equal shares of all rows, as far as
        ties allow, by the share of rows that score lower. Ranks depend on the order of the scores
        only, so they suit skewed scores.

    Returns
    -------
    ScoreDensities

    References
    ----------
    Jain, White and Radivojac (2017), equations 1 and 2, applied to each bin.

    Examples
    --------
    >>> from pueval import Counts, Mixture
    >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[260, 640])
    >>> densities = score_densities(counts, Mixture(0.2), bins=2)
    >>> width = densities.edges[1] - densities.edges[0]
    >>> (densities.negative * width).round(3)    # 80 of the 260 are positives, 100 of the 640 …
    array([0.839, 0.161])
    """
    counts._check_nonempty()
    if bins is None:
        bins = int(np.clip(3 * counts.effective_sizes[0] ** (1 / 3), 10, 60))
    else:
        check_count("bins", bins, least=2)
    check_choice("scale", scale, get_args(Scale))
    edges, cuts = (_score_bins if scale == "score" else _rank_bins)(counts, int(bins))
    steps, width = counts.at(cuts), np.diff(edges)
    labeled = _bin_shares(steps.labeled / counts.n_labeled)
    background = _bin_shares(
        (steps.unlabeled + steps.negative) / (counts.n_unlabeled + counts.n_negative)
    )
    # Only after an audit do the densities depend on the target.
    target: Target = "population" if counts._audit is None else counts._audit.target
    corrected = correct_steps(counts, steps, mixture, target)
    # Unmix labeled and background rows. With known propensities, unmix the positives that the
    # labeled rows represent and all rows; after an audit, the estimated positives and the target.
    effect = share_effect(counts)
    labeled_size, background_size = (size / effect for size in counts.effective_sizes)
    pair, sizes = (labeled, background), (labeled_size, background_size)
    background_prior = mixture.background_prior(counts)
    n_represented = counts.n_represented or math.nan  # an audit may have found no positives
    if steps.represented_positives is not None:
        pair = (
            _bin_shares(steps.represented_positives / n_represented),
            _bin_shares(corrected.predicted),
        )
        n_rows = sum(counts.effective_sizes)
        if target == "unlabeled":
            n_rows = counts._unlabeled.effective_size
        represented = counts._inverse_propensity_sample().effective_size
        sizes = represented / effect, n_rows / effect
        background_prior = mixture.prevalence(counts, target)
    # A share p of n rows has the variance p·(1 − p)/n. The correction is linear; its coefficients
    # are the corrections of (1, 0) and (0, 1).
    first, second = np.eye(2)
    coefficients = correct_pair(first, second, mixture, background_prior)
    variance = [share * (1 - share) / size for share, size in zip(pair, sizes, strict=True)]
    errors = [np.sqrt(a**2 * variance[0] + b**2 * variance[1]) for a, b in coefficients]
    tpr = corrected.tpr if counts.n_represented else np.full(cuts.size, np.nan)
    positive, negative = _bin_shares(tpr), _bin_shares(corrected.fpr)
    columns = [share / width for share in (labeled, background, positive, negative, *errors)]
    return ScoreDensities(edges, cuts, *columns, scale=scale)  # type: ignore[misc]


def _bin_shares(above: Array) -> Array:
    """Turn shares at or above ascending cuts into shares between the cuts."""
    return -np.diff(np.concatenate([[1.0], above, [0.0]]))


def _score_bins(counts: Counts, bins: int) -> tuple[Array, Array]:
    """Return edges and cuts of bins of equal width between the extreme scores, outliers aside."""
    # Quantiles of each kind have the same range as its rows.
    ends = [
        _range_without_outliers(kind) for kind in counts._thinned(QUANTILES)._samples if kind.total
    ]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, bins + 1)
    return edges, edges[1:-1]


def _range_without_outliers(kind: Sample) -> tuple[float, float]:
    """Return the lowest and the highest score, outliers aside."""
    score, cumulative = kind.distinct_cumulative()
    shares = np.array([TAIL, 0.25, 0.75, 1 - TAIL])
    where = np.minimum(np.searchsorted(cumulative / kind.total, shares), score.size - 1)
    high, upper, lower, low = score[where].astype(np.float64)
    distance = INTERQUARTILE_RANGES * (upper - lower)
    if distance > 0:
        low, high = max(low, lower - distance), min(high, upper + distance)
    return float(low), float(high)


def _rank_bins(counts: Counts, bins: int) -> tuple[Array, Array]:
    """Return edges and cuts of bins between quantiles of all rows; ties reduce their number."""
    # Thinning keeps quantiles of each kind; the quantiles of all rows are among them.
    score = counts._thinned(100 * bins).score[::-1].astype(np.float64)
    steps = counts.at(score)
    below = 1 - (steps.labeled + steps.unlabeled + steps.negative) / counts.n
    index = np.searchsorted(below, np.arange(1, bins) / bins - 1e-12)
    index = np.unique(index[index < score.size])
    index = index[below[index] > 0]
    return np.concatenate([[0.0], below[index], [1.0]]), score[index]
