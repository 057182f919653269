"""The prior from the distances at which labeled rows find an unlabeled row that is still free."""

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
from pueval.priors._reduced import SEPARATES_NOT, reduced
from pueval.priors._score_estimator import ScorePriorEstimator

# A curve has at most this many labeled and unlabeled rows; larger samples are thinned evenly.
MOST_LABELED, MOST_UNLABELED = 2000, 1000
# The curve is described by its mean in this many parts of equal length.
PARTS = 50


def distance_curve(labeled: Array, unlabeled: Array, order: Array) -> Array:
    """Distance of each drawn labeled row to its nearest unlabeled row, which is then removed.

    Of two unlabeled rows at the same distance the higher one is taken. Between the unlabeled rows
    there are gaps; gap k lies below the row k. A removed row joins the gaps at its sides, so
    the nearest remaining rows are those at the ends of the joined gap that a labeled row is in.
    Joined gaps are found by a union-find structure, in almost constant time.

    Parameters
    ----------
    labeled : ndarray
        Positions of the labeled rows.
    unlabeled : ndarray
        Positions of the unlabeled rows, ascending.
    order : ndarray of int
        Which labeled row is drawn at each step; at most as many steps as unlabeled rows.

    Returns
    -------
    ndarray
        One distance for each step.
    """
    # Lists, because single items of an array are slow to get.
    position: list[float] = labeled.tolist()
    home: list[int] = np.searchsorted(unlabeled, labeled).tolist()
    row: list[float] = [-np.inf, *unlabeled.tolist(), np.inf]
    parent = list(range(unlabeled.size + 1))
    low, high = parent.copy(), parent.copy()

    def joined(gap: int) -> int:
        while parent[gap] != gap:
            parent[gap] = parent[parent[gap]]
            gap = parent[gap]
        return gap

    distances = []
    for drawn in order.tolist():
        gap = joined(home[drawn])
        below = position[drawn] - row[low[gap]]
        above = row[high[gap] + 1] - position[drawn]
        if above <= below:
            distances.append(above)
            other = joined(high[gap] + 1)
            high[gap] = high[other]
        else:
            distances.append(below)
            other = joined(low[gap] - 1)
            low[gap] = low[other]
        parent[other] = gap
    return np.array(distances)


def mean_curve(labeled: Array, unlabeled: Array, n_curves: int, rng: np.random.Generator) -> Array:
    """Mean of several distance curves, each until no unlabeled row is left.

    Labeled rows are drawn without replacement; when all have been drawn, all come again.
    """
    rounds = -(-unlabeled.size // labeled.size)
    total = np.zeros(unlabeled.size)
    for _ in range(n_curves):
        order = np.concatenate([rng.permutation(labeled.size) for _ in range(rounds)])
        total += distance_curve(labeled, unlabeled, order[: unlabeled.size])
    return total / n_curves


def positions(labeled: Array, unlabeled: Array, rows: tuple[float, float]) -> tuple[Array, Array]:
    """Return normal quantiles of the pooled ranks, both kinds weighing the same; ascending.

    Parameters
    ----------
    labeled, unlabeled : ndarray
        Rows (or weights) of each kind at each distinct score, in descending order of the scores.
    rows : tuple of float
        Numbers of equally weighted rows that they are worth.

    Returns
    -------
    tuple of ndarray
        Of each kind as many as there are rows, or as a curve may have at most.
    """
    share = (labeled / labeled.sum() + unlabeled / unlabeled.sum()) / 2
    # Rounding may lead to a rank of 0 or 1 where only known negatives are.
    value = -ndtri(np.clip(np.cumsum(share) - share / 2, 1e-12, 1 - 1e-12))
    found = []
    for column, worth, most in zip(
        (labeled, unlabeled), rows, (MOST_LABELED, MOST_UNLABELED), strict=True
    ):
        number = max(min(round(worth), most), 1)
        # The middle of each of ``number`` equal parts; with one part per row, every row once.
        passed = np.cumsum(column)
        wanted = (np.arange(number) + 0.5) * (float(passed[-1]) / number)
        found.append(value[np.searchsorted(passed, wanted)][::-1])
    return found[0], found[1]


def curve_features(curve: Array, rows: tuple[float, float]) -> Array:
    """Describe a mean curve by the square roots of its means in equal parts, and the rows."""
    passed = np.concatenate([[0.0], np.cumsum(curve) / curve.size])
    edges = np.interp(np.linspace(0, 1, PARTS + 1), np.linspace(0, 1, passed.size), passed)
    means = np.diff(edges) * PARTS
    return np.concatenate([np.sqrt(np.maximum(means, 0)), np.log(rows)])


def predict(weights: dict[str, Array], features: Array) -> float:
    """Mean answer of the stored networks."""
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
def _stored() -> dict[str, Array]:
    source = files("pueval.priors") / "dist_curve.npz"
    with source.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float64) for name in stored.files}


class DistCurve(ScorePriorEstimator):
    """A regression on the distances from labeled rows to unlabeled rows that are still there.

    A labeled row is drawn, the distance to its nearest unlabeled row is noted, and that unlabeled
    row is removed; this goes on until none is left. As long as there are positives among the
    unlabeled rows the distances stay small. After about the share ``prior`` of the unlabeled rows
    has been removed they grow, because labeled rows now find negatives only. The mean of
    several such curves is described by its means in 50 parts of equal length and by the numbers
    of rows. Small networks, trained on simulated mixtures, turn these numbers into the prior.

    Distances are differences of z, the normal quantile of the pooled rank of the score, ranks
    computed with labeled and unlabeled rows given equal total weight. So only the order of the
    scores counts. The cost of a curve is almost proportional to the number of unlabeled rows; of
    more than 1,000 unlabeled or 2,000 labeled rows evenly spaced ones are taken.

    The training script is ``benchmarks/priors/train_dist_curve.py``.

    Assumption: labels are clean (purity 1), labeled rows are a random draw from the positives, and
    the curve resembles those of the simulated mixtures, in which the prior was below .9, with
    20 to 2,000 labeled and 100 to 20,000 unlabeled rows.

    Parameters
    ----------
    n_curves : int, default 10
        How many curves are averaged. The networks were trained with 10.
    random_state : int, numpy Generator or None, default 0
        Seed of the order in which labeled rows are drawn. None gives another order each time.

    Attributes
    ----------
    prior_ : float
        Estimate.
    prior_interval_ : tuple of float, or None
        (0, 1) if labeled rows do not score higher than unlabeled ones, otherwise None.
    curve_ : ndarray
        Mean distance at each step, as unlabeled rows are removed one by one.

    References
    ----------
    Zeiberg, Jain and Radivojac (2020), Fast nonparametric estimation of class proportions in the
    positive-unlabeled classification setting.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.random(2000) < 0.3                          # 30 % of the unlabeled
    >>> score = np.r_[rng.normal(3, 1, 500), rng.normal(3 * hidden, 1)]
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> found = DistCurve().fit(score, y)
    >>> round(found.prior_, 1)
    0.3
    >>> bool(found.curve_[:200].mean() < 0.1 * found.curve_[-200:].mean())
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
                "random_state must be a whole number of at least 0, a numpy Generator or None; "
                f"got {self.random_state!r}."
            ) from error
        table = reduced(counts)
        labeled, unlabeled = table.labeled, table.unlabeled
        rows = max(table.n_labeled, 1.0), max(table.n_unlabeled, 1.0)
        self.curve_ = mean_curve(*positions(labeled, unlabeled, rows), int(self.n_curves), rng)
        self.prior_ = predict(_stored(), curve_features(self.curve_, rows))
        if not table.separates:
            self.prior_interval_ = (0.0, 1.0)
            self._note(SEPARATES_NOT)
