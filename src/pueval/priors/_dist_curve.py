"""DistCurve: the prior from nearest-neighbor distances while unlabeled rows are used up."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from scipy.special import ndtri

from pueval._checks import check_count
from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._estimator_bases import ScorePriorEstimator
from pueval.priors._labeled_unlabeled_counts import NOT_SEPARATED, LabeledUnlabeledCounts

# Largest numbers of rows for a curve; larger samples are thinned evenly.
MAX_LABELED, MAX_UNLABELED = 2000, 1000
# The features of a curve are its means over this many parts of equal length.
PARTS = 50


def distance_curve(labeled: Array, unlabeled: Array, order: Array) -> Array:
    """Return the distance of each labeled row to its nearest unlabeled row, removing the latter.

    If two unlabeled rows are equally near, the higher one is used. Gap k lies below unlabeled
    row k. Removing a row merges the gaps on both sides, so the nearest remaining rows are the ends
    of the merged gap that contains the labeled row. A union-find structure finds merged gaps in
    almost constant time.

    Parameters
    ----------
    labeled : ndarray
        Positions of the labeled rows.
    unlabeled : ndarray
        Positions of the unlabeled rows, ascending.
    order : ndarray of int
        Index of the labeled row at each step; at most as many steps as unlabeled rows.

    Returns
    -------
    ndarray
        Distance at each step.
    """
    # Lists, because indexing single items of an array is slow.
    position: list[float] = labeled.tolist()
    own_gap: list[int] = np.searchsorted(unlabeled, labeled).tolist()
    neighbor: list[float] = [-np.inf, *unlabeled.tolist(), np.inf]
    parent = list(range(unlabeled.size + 1))
    low, high = parent.copy(), parent.copy()

    def find_merged(gap: int) -> int:
        while parent[gap] != gap:
            parent[gap] = parent[parent[gap]]
            gap = parent[gap]
        return gap

    distances = []
    for row in order.tolist():
        gap = find_merged(own_gap[row])
        below = position[row] - neighbor[low[gap]]
        above = neighbor[high[gap] + 1] - position[row]
        if above <= below:
            distances.append(above)
            adjacent = find_merged(high[gap] + 1)
            high[gap] = high[adjacent]
        else:
            distances.append(below)
            adjacent = find_merged(low[gap] - 1)
            low[gap] = low[adjacent]
        parent[adjacent] = gap
    return np.array(distances)


def mean_curve(labeled: Array, unlabeled: Array, n_curves: int, rng: np.random.Generator) -> Array:
    """Return the mean of several distance curves, each until all unlabeled rows are removed.

    Labeled rows are drawn without replacement, starting over when all have been drawn.
    """
    rounds = -(-unlabeled.size // labeled.size)
    total = np.zeros(unlabeled.size)
    for _ in range(n_curves):
        order = np.concatenate([rng.permutation(labeled.size) for _ in range(rounds)])
        total += distance_curve(labeled, unlabeled, order[: unlabeled.size])
    return total / n_curves


def normal_positions(
    labeled: Array, unlabeled: Array, sizes: tuple[float, float]
) -> tuple[Array, Array]:
    """Return both samples as normal quantiles of pooled ranks, ascending.

    Both samples have equal total weight in the ranks.

    Parameters
    ----------
    labeled, unlabeled : ndarray
        Numbers of rows (or weights) at each distinct score, scores descending.
    sizes : tuple of float
        Effective sample sizes.

    Returns
    -------
    tuple of ndarray
        Positions of labeled and unlabeled rows, at most MAX_LABELED and MAX_UNLABELED of them.
    """
    share = (labeled / labeled.sum() + unlabeled / unlabeled.sum()) / 2
    # Rounding may give a rank of 0 or 1 at scores of known negatives only.
    quantile = -ndtri(np.clip(np.cumsum(share) - share / 2, 1e-12, 1 - 1e-12))
    samples = []
    for column, size, largest in zip(
        (labeled, unlabeled), sizes, (MAX_LABELED, MAX_UNLABELED), strict=True
    ):
        n = max(min(round(size), largest), 1)
        # Midpoints of n equal parts; with one part per row, each row occurs once.
        cumulative = np.cumsum(column)
        midpoints = (np.arange(n) + 0.5) * (float(cumulative[-1]) / n)
        samples.append(quantile[np.searchsorted(cumulative, midpoints)][::-1])
    return samples[0], samples[1]


def curve_features(curve: Array, sizes: tuple[float, float]) -> Array:
    """Return the square roots of a curve's means over equal parts, and the log sample sizes."""
    cumulative = np.concatenate([[0.0], np.cumsum(curve) / curve.size])
    edges = np.interp(np.linspace(0, 1, PARTS + 1), np.linspace(0, 1, cumulative.size), cumulative)
    means = np.diff(edges) * PARTS
    return np.concatenate([np.sqrt(np.maximum(means, 0)), np.log(sizes)])


def predict_prior(weights: dict[str, Array], features: Array) -> float:
    """Return the mean prediction of the stored networks."""
    value = np.clip((features - weights["center"]) / weights["scale"], -3, 3)
    value = np.broadcast_to(value, (len(weights["weight0"]), value.size))
    layers = sum(name.startswith("weight") for name in weights)
    for layer in range(layers):
        value = np.einsum("ni,nij->nj", value, weights[f"weight{layer}"])
        value = value + weights[f"offset{layer}"]
        if layer < layers - 1:
            value = np.maximum(value, 0)
    return float(np.clip(value, 0, 1).mean())


@cache
def _load_weights() -> dict[str, Array]:
    source = files("pueval.priors") / "dist_curve.npz"
    with source.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float64) for name in stored.files}


class DistCurve(ScorePriorEstimator):
    """Prior by regression on a curve of nearest-neighbor distances (DistCurve).

    The method repeatedly draws a labeled positive, records the distance to its nearest unlabeled
    row, and removes that unlabeled row, until none is left. While there are positives among the
    unlabeled rows, distances stay small. They grow once a share of about ``prior`` of the unlabeled
    rows is removed, because only negatives are left. Small neural networks, trained on simulated
    mixtures, predict the prior from the mean of several such curves (its means over 50 parts of
    equal length) and the sample sizes.

    Distances are measured between normal quantiles of pooled ranks, in which labeled and unlabeled
    rows have equal total weight, so only the order of the scores matters. The cost of a curve is
    almost linear in the number of unlabeled rows. Samples of more than 1,000 unlabeled or 2,000
    labeled rows are thinned evenly.

    The training script is ``benchmarks/priors/train_dist_curve.py``.

    The method assumes clean labels, random labeling, and a curve like those of the simulated
    mixtures, which had priors below 0.9, 20 to 2,000 labeled and 100 to 20,000 unlabeled rows.

    Parameters
    ----------
    n_curves : int, default 10
        Number of curves to average. The networks were trained with 10.
    random_state : int, numpy Generator or None, default 0
        Random seed for the order of the labeled rows. None uses a different order each time.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    prior_interval_ : tuple of float, or None
        (0, 1) if labeled positives do not score higher than unlabeled rows, otherwise None.
    curve_ : ndarray
        Mean distance at each step.

    References
    ----------
    Zeiberg, Jain and Radivojac (2020), Fast nonparametric estimation of class proportions in the
    positive-unlabeled classification setting.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.random(2000) < 0.3                          # 30% of the unlabeled
    >>> score = np.r_[rng.normal(3, 1, 500), rng.normal(3 * hidden, 1)]
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> from pueval.priors import DistCurve
    >>> estimator = DistCurve().fit(score, y)
    >>> round(estimator.prior_, 1)
    0.3
    >>> bool(estimator.curve_[:200].mean() < 0.1 * estimator.curve_[-200:].mean())
    True
    """

    def __init__(self, *, n_curves: int = 10, random_state: Any = 0) -> None:
        self.n_curves = n_curves
        self.random_state = random_state

    def _estimate(self, counts: Counts) -> None:
        check_count("n_curves", self.n_curves)
        try:
            rng = np.random.default_rng(self.random_state)
        except (TypeError, ValueError) as error:
            raise InputError(
                "random_state must be a whole number of at least 0, a NumPy Generator or None; "
                f"got {self.random_state!r}."
            ) from error
        table = LabeledUnlabeledCounts.from_counts(counts)
        sizes = max(table.n_labeled, 1.0), max(table.n_unlabeled, 1.0)
        labeled, unlabeled = normal_positions(table.labeled, table.unlabeled, sizes)
        self.curve_ = mean_curve(labeled, unlabeled, int(self.n_curves), rng)
        self.prior_ = predict_prior(_load_weights(), curve_features(self.curve_, sizes))
        if not table.separates:
            self.prior_interval_ = (0.0, 1.0)
            self._note(NOT_SEPARATED)
