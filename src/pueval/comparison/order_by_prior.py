"""Which model is the best at which prior, and where the order of two models flips."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.core.rates import Shares, correct_shares, correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.sensitivity.feasibility import largest_prior
from pueval.text.tables import text_table

# Priors at which measures are computed before flips between them are located. Two flips of the
# same pair between neighbors would be missed.
GRID = 513
GRID_OF_AREAS = 33
# Differences below this are rounding, and no order.
EQUAL = 1e-12


@dataclass(frozen=True)
class RankReversal:
    """A prior at which two models change places.

    Attributes
    ----------
    first, second : str
        The models; the first is better below the prior, the second above it.
    prior : float
        Where they are equal.
    """

    first: str
    second: str
    prior: float


@dataclass(frozen=True)
class BestModelRange:
    """Priors at which one model is the best.

    Attributes
    ----------
    model : str
        The best one; the first of several that are equal.
    low, high : float
        From which prior to which.
    """

    model: str
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class OrderByPrior:
    """The order of models as the prior varies.

    Attributes
    ----------
    measure : str
        The measure they are ordered by.
    flips : tuple of Flip
        Where two models change places, by ascending prior.
    reigns : tuple of Reign
        Which model is the best where; together they cover the priors.
    prior : ndarray
        Priors at which the values were computed, for plots.
    value : dict of str to ndarray
        Each model's values there, not clipped.
    """

    measure: str
    reversals: tuple[RankReversal, ...]
    best_models: tuple[BestModelRange, ...]
    prior: Array
    value: dict[str, Array]

    def better_model(self, first: str, second: str) -> tuple[BestModelRange, ...]:
        """Return which of two models is the better one at which priors.

        Parameters
        ----------
        first, second : str
            Two of the models.

        Returns
        -------
        tuple of Reign
            By ascending prior. Equal models: the first.
        """
        for name in (first, second):
            if name not in self.value:
                raise InputError(
                    f"there is no model {name!r}. The models are "
                    f"{', '.join(map(repr, self.value))}."
                )
        mine = [flip for flip in self.reversals if {flip.first, flip.second} == {first, second}]
        edges = [float(self.prior[0]), *(flip.prior for flip in mine), float(self.prior[-1])]
        if mine:
            winners = [mine[0].first, *(flip.second for flip in mine)]
        else:
            gap = self.value[first] - self.value[second]
            known = gap[np.isfinite(gap) & (np.abs(gap) > EQUAL)]
            better = self._sign * known[0] > 0 if known.size else True
            winners = [first if better else second]
        return tuple(
            BestModelRange(name, *ends) for name, ends in zip(winners, pairwise(edges), strict=True)
        )

    _sign: float = 1.0

    def __repr__(self) -> str:
        low, high = self.prior[0], self.prior[-1]
        rows = [[r.model, f"{r.low:.4g} to {r.high:.4g}"] for r in self.best_models]
        best = text_table(["best", "prior"], rows)
        reversals = [[f"{f.first} → {f.second}", f"{f.prior:.4g}"] for f in self.reversals]
        below = (
            "\n" + text_table(["flip", "prior"], reversals)
            if reversals
            else "\nNo two models flip."
        )
        return f"Order by {self.measure} for priors {low:.4g} to {high:.4g}\n{best}{below}"


# From priors to a table of values: a line per prior, a column per model.
Values = Callable[[Array], Array]


def order_by_prior(
    names: Sequence[str],
    measure: str,
    values: Values,
    *,
    greater_is_better: bool,
    span: tuple[float, float],
    points: int,
) -> OrderByPrior:
    """Order models along the priors of a span and locate where pairs change places."""
    grid = np.linspace(*span, points)
    table = values(grid)
    sign = 1.0 if greater_is_better else -1.0
    reversals: list[RankReversal] = []
    for first, second in combinations(range(len(names)), 2):

        def gap(prior: float, a: int = first, b: int = second) -> float:
            [both] = values(np.array([prior]))
            return sign * float(both[a] - both[b])

        for prior, rising in _crossings(grid, sign * (table[:, first] - table[:, second]), gap):
            below, above = (second, first) if rising else (first, second)
            reversals.append(RankReversal(names[below], names[above], prior))
    reversals.sort(key=lambda flip: flip.prior)
    edges = np.unique([span[0], *(flip.prior for flip in reversals), span[1]])
    best_models: list[BestModelRange] = []
    between = sign * values((edges[1:] + edges[:-1]) / 2)
    for (low, high), middle in zip(pairwise(edges.tolist()), between, strict=True):
        if np.isnan(middle).all():
            continue
        best = float(np.nanmax(middle))
        model = names[int(np.flatnonzero(middle >= best - EQUAL)[0])]
        if best_models and best_models[-1].model == model:
            best_models[-1] = BestModelRange(model, best_models[-1].low, high)
        else:
            best_models.append(BestModelRange(model, low, high))
    by_model = {name: table[:, k] for k, name in enumerate(names)}
    return OrderByPrior(measure, tuple(reversals), tuple(best_models), grid, by_model, sign)


def _crossings(grid: Array, gaps: Array, gap: Callable[[float], float]) -> list[tuple[float, bool]]:
    """Return where a gap changes its sign, and whether it rises there; zeros have no sign."""
    from scipy.optimize import brentq  # slow to import, and seldom needed

    there = np.flatnonzero(np.isfinite(gaps) & (np.abs(gaps) > EQUAL))
    found = []
    for left, right in pairwise(there.tolist()):
        if gaps[left] * gaps[right] < 0:
            root = brentq(gap, grid[left], grid[right], xtol=1e-12)
            found.append((float(root), bool(gaps[right] > 0)))
    return found


def possible_priors(counts: Sequence[Counts], mixture: Mixture) -> tuple[float, float]:
    """Return the priors from 0 to the largest that every ranking allows, or that is assumed."""
    most = min(largest_prior(one, purity=mixture.purity).prior for one in counts)
    # Measures at the end of the span are shown, so they must stay far from the pole.
    return 0.0, cap_prior(max(most, mixture.prior), mixture.purity, 1e-6 * mixture.purity)


def prior_span(mixture: Mixture, span: tuple[float, float]) -> tuple[float, float]:
    """Return a span of priors as two floats; refuse what is none."""
    try:
        low, high = (float(end) for end in span)
    except (TypeError, ValueError):
        low = high = math.nan
    if not 0 <= low < high < mixture.purity:
        raise InputError(
            f"priors must be a low and a high number with 0 <= low < high < purity "
            f"({mixture.purity:g}); got {span!r}."
        )
    return low, high


def point_values(
    counts: Counts, share: Array, measure: Measure, purity: float, target: Target
) -> Values:
    """Return a measure at fixed thresholds as a function of the prior."""
    columns = np.zeros(share.shape[1])

    def values(priors: Array) -> Array:
        prior = priors[:, None]
        mixtures = Mixtures(prior, np.full_like(prior, purity))
        return measure(correct_shares(counts, columns, Shares(*share), mixtures, target))

    return values


def best_values(
    counts: Sequence[Counts], measure: Measure, purity: float, target: Target
) -> Values:
    """Return the best value over thresholds as a function of the prior.

    The measures asked for here rise with the true and fall with the false positive rate, and
    their sets of low values are convex (accuracies are linear, F1 is a ratio of linear functions,
    and the level lines of the MCC are concave). So the best threshold is at a corner of the
    convex hull of the naive ROC curve, whatever the prior: rates are linear in the naive ones.
    """
    hulls = [_hull_shares(one) for one in counts]
    share = np.concatenate(hulls, axis=1)
    starts = np.cumsum([0, *(hull.shape[1] for hull in hulls[:-1])])
    every = point_values(counts[0], share, measure, purity, target)

    def values(priors: Array) -> Array:
        best: Array = np.fmax.reduceat(every(priors), starts, axis=1)
        return best

    return values


def _hull_shares(counts: Counts) -> Array:
    """Shares of each kind at the corners of the upper convex hull of the naive ROC curve."""
    steps = counts._roc_corners()
    others = (steps.unlabeled + steps.negative) / (counts.n_unlabeled + counts.n_negative)
    labeled = steps.labeled / counts.n_labeled
    kept = upper_hull(others, labeled)
    if kept.size <= 2:
        # No better than chance anywhere: the hull is the diagonal, and says nothing.
        kept = np.arange(labeled.size)
    else:
        # With the target "unlabeled" the MCC is undefined where none, or all, of them are above.
        defined = np.flatnonzero((steps.unlabeled > 0) & (steps.unlabeled < counts.n_unlabeled))
        kept = np.union1d(kept, defined[upper_hull(others[defined], labeled[defined])])
    totals = (counts.n_labeled, counts.n_unlabeled, counts.n_negative)
    columns = (steps.labeled, steps.unlabeled, steps.negative)
    return np.stack(
        [
            column[kept] / total if total else np.zeros(kept.size)
            for column, total in zip(columns, totals, strict=True)
        ]
    )


def upper_hull(x: Array, y: Array) -> Array:
    """Return the corners of the upper convex hull of different points that go right or up.

    Points on or below the line between their neighbors are dropped until none is left: a point
    below a line between two others is below the hull.

    Parameters
    ----------
    x, y : ndarray
        Not decreasing.

    Returns
    -------
    ndarray of int
        Which points are corners.

    Examples
    --------
    >>> import numpy as np
    >>> upper_hull(np.array([0.0, 0.1, 0.2, 1.0]), np.array([0.0, 0.6, 0.62, 1.0]))
    array([0, 1, 3])
    """
    kept = np.arange(x.size)
    while kept.size > 2:
        right, up = np.diff(x[kept]), np.diff(y[kept])
        convex = up[:-1] * right[1:] > up[1:] * right[:-1]
        if convex.all():
            break
        kept = kept[np.r_[True, convex, True]]
    return kept


def area_values(
    name: str, counts: Sequence[Counts], naive: Array, purity: float, target: Target
) -> Values:
    """Return the ROC AUC (direct formula) or the average precision as a function of the prior."""
    corners = [one._roc_corners() for one in counts] if name == "average_precision" else []

    def at(prior: float) -> list[float]:
        mixture = Mixture(prior, purity)
        if name == "roc_auc":
            return [
                direct_auc(one, plain, mixture)
                for one, plain in zip(counts, naive.tolist(), strict=True)
            ]
        return [
            float(average_precision(correct_steps(one, steps, mixture, target)))
            for one, steps in zip(counts, corners, strict=True)
        ]

    def values(priors: Array) -> Array:
        return np.array([at(prior) for prior in priors.tolist()])

    return values
