"""Densities of scores: labeled, unlabeled, and the recovered positives and negatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pueval._checks import check_count
from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_pair, correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.sample import Sample
from pueval.text.results import Result

Scale = Literal["score", "rank"]

# Outliers go into the outermost bins: this share of the rows of a kind at each end, and what is so
# many times the distance between the quartiles away from them.
TAIL, FAR = 0.001, 10
QUANTILES = 12_000


@dataclass(frozen=True, eq=False, repr=False)
class ScoreDensities(Result):
    """Histograms of scores, as densities.

    Attributes
    ----------
    edges : ndarray of shape (bins + 1,)
        Bounds of the bins on the axis, ascending.
    cuts : ndarray of shape (bins − 1,)
        Scores between the bins, ascending. The outermost bins hold all that is beyond.
    labeled, unlabeled : ndarray of shape (bins,)
        Densities of labeled and of unlabeled (and known negative) rows.
    positive, negative : ndarray of shape (bins,)
        Recovered densities; not clipped, so noise stays visible.
    positive_error, negative_error : ndarray of shape (bins,)
        Their standard errors, with prior and purity taken as exact.
    scale : {"score", "rank"}
        What the axis shows.
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
        columns = {"left": self.edges[:-1], "right": self.edges[1:]}
        columns |= {"labeled": self.labeled, "unlabeled": self.unlabeled}
        for name in ("positive", "negative"):
            columns[name] = getattr(self, name)
            columns[f"{name}_standard_error"] = getattr(self, f"{name}_standard_error")
        return columns

    def interval(
        self, which: Literal["positive", "negative"], level: float | None
    ) -> tuple[Array, Array]:
        """Return limits of a recovered density, in each bin by itself.

        Parameters
        ----------
        which : {"positive", "negative"}
            Which density.
        level : float or None
            Confidence level; without it the limits are NaN.

        Returns
        -------
        low, high : ndarray of shape (bins,)
        """
        density: Array = getattr(self, which)
        reach = np.full(density.size, np.nan)
        if level is not None:
            reach = normal_quantile(level) * getattr(self, f"{which}_standard_error")
        return density - reach, density + reach


def score_densities(
    counts: Counts, mixture: Mixture, *, bins: int | None = None, scale: Scale = "score"
) -> ScoreDensities:
    """Compute histograms of scores, and unmix them.

    In every bin, labeled = purity·positive + (1 − purity)·negative and
    unlabeled = prior·positive + (1 − prior)·negative are solved for the positives and negatives.

    Parameters
    ----------
    counts : Counts
        The data.
    mixture : Mixture
        Prior and purity.
    bins : int, optional
        How many bins; by default 10 to 60, more for more labeled rows.
    scale : {"score", "rank"}
        ``"score"``: bins of equal width. ``"rank"``: bins that hold equal shares of all rows, as
        far as ties allow, against the share of rows that score lower; the picture then depends
        on the ranking only, and is readable however skewed the scores are.

    Returns
    -------
    ScoreDensities

    References
    ----------
    Jain, White and Radivojac (2017), equations 1 and 2, here in each bin.

    Examples
    --------
    >>> from pueval import Counts, Mixture
    >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[260, 640])
    >>> found = score_densities(counts, Mixture(0.2), bins=2)
    >>> width = found.edges[1] - found.edges[0]
    >>> (found.negative * width).round(3)    # 80 of the 260 are positives, 100 of the 640 …
    array([0.839, 0.161])
    """
    counts._check_nonempty()
    if bins is None:
        bins = int(np.clip(3 * counts.effective_sizes[0] ** (1 / 3), 10, 60))
    else:
        check_count("bins", bins, least=2)
    if scale not in {"score", "rank"}:
        raise InputError(f"scale must be 'score' or 'rank'; got {scale!r}.")
    edges, cuts = (_score_bins if scale == "score" else _rank_bins)(counts, int(bins))
    steps, width = counts.at(cuts), np.diff(edges)
    labeled = _inside(steps.labeled / counts.n_labeled)
    others = _inside((steps.unlabeled + steps.negative) / (counts.n_unlabeled + counts.n_negative))
    corrected = correct_steps(counts, steps, mixture)
    # What is unmixed: labeled rows and all others; or, where propensities are known, the positives
    # that the labeled rows stand for and all rows.
    pair, sizes = (labeled, others), counts.effective_sizes
    behind = mixture.background_prior(counts)
    if steps.represented_positives is not None:
        pair = (
            _inside(steps.represented_positives / counts.n_represented),
            _inside(corrected.predicted),
        )
        sizes = counts._inverse_propensity_sample().effective_size, sum(counts.effective_sizes)
        behind = mixture.prevalence(counts)
    # A share p of n rows has the variance p·(1 − p)/n. The correction is linear, so that what it
    # makes of one row of either kind are the factors of these.
    one, none = np.ones(1), np.zeros(1)
    of_first, of_second = (
        correct_pair(*unit, mixture, behind) for unit in ((one, none), (none, one))
    )
    spread = [share * (1 - share) / size for share, size in zip(pair, sizes, strict=True)]
    errors = [
        np.sqrt(a**2 * spread[0] + b**2 * spread[1])
        for a, b in zip(of_first, of_second, strict=True)
    ]
    columns = [
        column / width
        for column in (labeled, others, _inside(corrected.tpr), _inside(corrected.fpr), *errors)
    ]
    return ScoreDensities(edges, cuts, *columns, scale=scale)  # type: ignore[misc]


def _inside(above: Array) -> Array:
    """Turn shares at or above ascending cuts into shares between them."""
    shares: Array = -np.diff(np.concatenate([[1.0], above, [0.0]]))
    return shares


def _score_bins(counts: Counts, bins: int) -> tuple[Array, Array]:
    """Bins of equal width between the outermost scores, but for outliers of each kind."""
    # Quantiles of each kind tell its ends as well as all its rows do.
    ends = [_ends(kind) for kind in counts._thinned(QUANTILES)._samples if kind.total]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, bins + 1)
    return edges, edges[1:-1]


def _ends(kind: Sample) -> tuple[float, float]:
    """Return the lowest and the highest score that are no outliers."""
    score, reached = kind.distinct_cumulative()
    shares = np.array([TAIL, 0.25, 0.75, 1 - TAIL])
    where = np.minimum(np.searchsorted(reached / kind.total, shares), score.size - 1)
    high, upper, lower, low = score[where].astype(np.float64)
    far = FAR * (upper - lower)
    if far > 0:
        low, high = max(low, lower - far), min(high, upper + far)
    return float(low), float(high)


def _rank_bins(counts: Counts, bins: int) -> tuple[Array, Array]:
    """Bins between quantiles of all rows; fewer where ties make quantiles equal."""
    # The scores that stay are quantiles of each kind: enough to find those of all rows among them.
    score = counts._thinned(100 * bins).score[::-1].astype(np.float64)
    steps = counts.at(score)
    below = 1 - (steps.labeled + steps.unlabeled + steps.negative) / counts.n
    wanted = np.searchsorted(below, np.arange(1, bins) / bins - 1e-12)
    chosen = np.unique(wanted[wanted < score.size])
    chosen = chosen[below[chosen] > 0]
    return np.concatenate([[0.0], below[chosen], [1.0]]), score[chosen]
