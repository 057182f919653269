"""Test whether labels are independent of features, given what is known about them.

Under the null hypothesis, logit P(y = 1) = offset + b(score), b a spline. The score statistic of an
additional column h is Σ h̃·(y − g), with g the fitted probability and h̃ the column minus its
weighted projection on the spline. Columns are the ranks of each feature and their distance from the
middle, so trends and bulges are seen. The largest of the standardized statistics is compared with
that of labels drawn from g: all dependence between columns is allowed for.

If rows belong to clusters, Σ h̃·(y − g) is a sum over clusters. Each sum is standardized by the root
of the sum of its squares, and compared with that of sums with random signs, the same for all
columns: the wild bootstrap of scores (Kline and Santos, 2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._progress import progress_bar
from pueval._typing import Array
from pueval.core.sizes import divide_or_zero
from pueval.labeling._features import Features
from pueval.labeling._logistic import fit_logistic, information

# Pieces of the spline: as many as half the root of the number of labeled rows.
LEAST_PIECES, MOST_PIECES = 3, 10
# A feature is left out if the score explains all but this share of its variance.
LEAST_VARIANCE = 1e-6
# Drawn labels in memory at a time.
BLOCK = 20_000_000


@dataclass(frozen=True, eq=False)
class ConditionalTest:
    """Statistics of the columns, and the largest ones of drawn labels.

    Attributes
    ----------
    z : ndarray of shape (features, 2)
        Standardized statistics of trend and bulge of each feature; NaN where there is none.
    largest : ndarray
        Largest absolute statistic for each draw of labels, or of signs.
    """

    z: Array
    largest: Array

    def pvalues(self) -> Array:
        """Return the p-value of each feature, adjusted for the number of features."""
        strength = np.nan_to_num(np.abs(self.z)).max(axis=1)
        exceeded = self.largest[:, None] >= strength - 1e-9
        return np.asarray((1 + exceeded.sum(axis=0)) / (1 + self.largest.size))


def conditional_test(
    features: Features,
    y: Array,
    *,
    score: Array | None,
    offset: Array | float,
    cluster: Array | None,
    n_draws: int,
    rng: np.random.Generator,
) -> ConditionalTest:
    """Test whether ``y`` is independent of the features, given the score and the offset.

    ``cluster`` has the number of the cluster of each row; None for independent rows.
    """
    design = np.ones((y.size, 1)) if score is None else score_spline(score, y)
    fit = fit_logistic(design, y, offset=offset, penalty=1e-3)
    share = scipy.special.expit(design @ fit + offset)
    columns, feature, kind = rank_columns(features.values)
    weighted = design * (share * (1 - share))[:, None]
    # Splines where labels are rare have hardly any information.
    inverse = np.linalg.pinv(information(design, share), rcond=1e-10, hermitian=True)
    columns -= design @ (inverse @ (weighted.T @ columns))
    variance = (share * (1 - share)) @ columns**2
    total = float(np.sum(share * (1 - share)))
    told = variance > LEAST_VARIANCE * total
    columns = columns[:, told] / np.sqrt(variance[told])
    z = np.full((len(features.names), 2), np.nan)
    if cluster is None:
        z[feature[told], kind[told]] = columns.T @ (y - share)
        largest = _largest_statistics(columns, share, n_draws, rng)
    else:
        sums = _cluster_sums(columns, y - share, cluster)
        z[feature[told], kind[told]] = sums.sum(axis=0)
        largest = _largest_sign_flips(sums, n_draws, rng)
    return ConditionalTest(z, largest)


def _cluster_sums(columns: Array, residual: Array, cluster: Array) -> Array:
    """Return the sum of each column over the rows of each cluster; squares of a column add to 1."""
    sums = np.stack([np.bincount(cluster, column * residual) for column in columns.T], axis=1)
    return divide_or_zero(sums, np.sqrt(np.sum(sums**2, axis=0)))


def _largest_sign_flips(sums: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """Return the largest absolute statistic for each draw of signs of clusters."""
    if not sums.shape[1]:
        return np.zeros(n_draws)
    largest = [
        np.abs(rng.choice([-1.0, 1.0], (size, len(sums))) @ sums).max(axis=1)
        for size in block_sizes(n_draws, len(sums))
    ]
    return np.concatenate(largest)


def _largest_statistics(
    columns: Array, share: Array, n_draws: int, rng: np.random.Generator
) -> Array:
    """Return the largest absolute statistic for each draw of labels from the null hypothesis."""
    if not columns.shape[1]:
        return np.zeros(n_draws)
    expected = columns.T @ share
    sizes = block_sizes(n_draws, share.size)
    largest = []
    with progress_bar("Drawing labels", len(sizes)) as advance:
        for size in sizes:
            drawn = (rng.random((size, share.size)) < share).astype(np.float64)
            largest.append(np.abs(drawn @ columns - expected).max(axis=1))
            advance()
    return np.concatenate(largest)


def block_sizes(n_draws: int, n_rows: int) -> list[int]:
    """Return how many draws of all rows to make at a time."""
    block = int(np.clip(BLOCK // n_rows, 1, n_draws))
    return [min(block, n_draws - start) for start in range(0, n_draws, block)]


def score_spline(score: Array, y: Array) -> Array:
    """Return a basis of cubic splines in the score.

    Scores are replaced by the mean of their ranks among all rows and among labeled rows, so that
    both have rows in every piece.
    """
    ranks = scipy.stats.rankdata(score) / score.size
    among_labeled = scipy.stats.rankdata(np.r_[score, score[y]])[: score.size]
    among_labeled = (among_labeled - ranks * score.size) / max(int(y.sum()), 1)
    place = (ranks + np.clip(among_labeled, 0, 1)) / 2
    pieces = int(np.clip(np.sqrt(y.sum()) / 2, LEAST_PIECES, MOST_PIECES))
    low, high = float(place.min()), float(place.max())
    if high - low < 1e-9:
        return np.ones((score.size, 1))
    place = (place - low) / (high - low)
    knots = np.r_[[0.0] * 3, np.linspace(0, 1, pieces + 1), [1.0] * 3]
    basis = scipy.interpolate.BSpline.design_matrix(place, knots, 3).toarray()
    return np.asarray(basis)


def rank_columns(values: Array) -> tuple[Array, Array, Array]:
    """Return ranks and their distance from the middle, with their feature and kind (0 or 1)."""
    columns, feature, kind = [], [], []
    for k, column in enumerate(values.T):
        rank = (scipy.stats.rankdata(column) - 0.5) / column.size - 0.5
        distinct = np.unique(column).size
        for number, part in enumerate((rank, np.abs(rank))):
            if distinct > 1 + number:
                columns.append(part)
                feature.append(k)
                kind.append(number)
    stacked = np.column_stack(columns) if columns else np.empty((len(values), 0))
    return stacked, np.array(feature, dtype=np.intp), np.array(kind, dtype=np.intp)
