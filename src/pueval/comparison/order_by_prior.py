"""Which model is the best at which prior, and where two models change places."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.comparison.paired_rows import unknown_model_error
from pueval.comparison.values_by_prior import ValuesByPrior
from pueval.core.measures import AREAS
from pueval.core.mixture import Mixture, cap_prior
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.sensitivity.feasibility import largest_prior
from pueval.text.results import SHOWN_ROWS, Result
from pueval.text.tables import text_table

# Priors at which measures are computed before changes of the order between them are located. Two
# changes of the same pair between neighbors would be missed. Areas take longer to compute.
GRID_POINTS, AREA_GRID_POINTS = 513, 33
# Smaller differences are rounding errors, and the models count as equal.
ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class RankReversal(Result):
    """A prior at which two models change places.

    Attributes
    ----------
    first, second : str
        Names of the models; the first is better below the prior, the second above it.
    prior : float
        Prior at which both are equally good.
    """

    first: str
    second: str
    prior: float

    def _headline(self) -> str:
        return f"{self.first} is better below prior {self.prior:.4g}, {self.second} above it"


@dataclass(frozen=True, repr=False)
class BestModelRange(Result):
    """A range of priors in which one model is the best.

    Attributes
    ----------
    model : str
        Name of the model; the first of several that are equally good.
    low, high : float
        Lower and upper end of the range.
    """

    model: str
    low: float
    high: float

    def _headline(self) -> str:
        return f"{self.model} is the best for priors {self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True, eq=False, repr=False)
class OrderByPrior(Result):
    """The order of models as the prior varies; made by `Comparison.order_by_prior`.

    Attributes
    ----------
    measure : str
        Name of the measure that orders the models.
    reversals : tuple of RankReversal
        Priors at which two models change places, ascending.
    best_models : tuple of BestModelRange
        The best model in each range of priors; together the ranges cover all priors.
    prior : ndarray
        Grid of priors, for plots.
    value : dict of str to ndarray
        Values of each model on the grid, not clipped.
    """

    measure: str
    reversals: tuple[RankReversal, ...]
    best_models: tuple[BestModelRange, ...]
    prior: Array
    value: dict[str, Array]
    _sign: float = 1.0

    def better_model(self, first: str, second: str) -> tuple[BestModelRange, ...]:
        """Return which of two models is better in which range of priors.

        Parameters
        ----------
        first, second : str
            Names of two models.

        Returns
        -------
        tuple of BestModelRange
            By ascending prior. If both are equal everywhere, the first.
        """
        for name in (first, second):
            if name not in self.value:
                raise unknown_model_error(name, self.value)
        pair = [
            reversal
            for reversal in self.reversals
            if {reversal.first, reversal.second} == {first, second}
        ]
        low, high = float(self.prior[0]), float(self.prior[-1])
        edges = [low, *(reversal.prior for reversal in pair), high]
        if pair:
            better = [pair[0].first, *(reversal.second for reversal in pair)]
        else:
            gap = self._sign * (self.value[first] - self.value[second])
            different = gap[np.isfinite(gap) & (np.abs(gap) > ROUNDING)]
            better = [second if different.size and different[0] < 0 else first]
        return tuple(
            BestModelRange(name, *ends) for name, ends in zip(better, pairwise(edges), strict=True)
        )

    def _columns(self) -> Mapping[str, Any]:
        return {"prior": self.prior, **self.value}

    def _headline(self) -> str:
        low, high = self.prior[0], self.prior[-1]
        return f"Order by {self.measure} for priors {low:.4g} to {high:.4g}"

    def _table(self) -> str:
        ranges = [[best.model, f"{best.low:.4g} to {best.high:.4g}"] for best in self.best_models]
        best = text_table(["best model", "prior"], ranges, most=SHOWN_ROWS)
        if not self.reversals:
            return f"{best}\nNo two models change places."
        pairs = [
            [f"{reversal.first} → {reversal.second}", f"{reversal.prior:.4g}"]
            for reversal in self.reversals
        ]
        reversals = text_table(["models change places", "prior"], pairs, most=SHOWN_ROWS)
        return f"{best}\n{reversals}"


def order_by_prior(
    names: Sequence[str],
    measure: str,
    values: ValuesByPrior,
    prior_range: tuple[float, float],
    *,
    greater_is_better: bool,
) -> OrderByPrior:
    """Order models along a range of priors and locate where pairs change places."""
    grid = np.linspace(*prior_range, AREA_GRID_POINTS if measure in AREAS else GRID_POINTS)
    table = values(grid)
    sign = 1.0 if greater_is_better else -1.0
    reversals: list[RankReversal] = []
    for first, second in combinations(range(len(names)), 2):

        def gap(prior: float, a: int = first, b: int = second) -> float:
            [pair] = values(np.array([prior]))
            return sign * float(pair[a] - pair[b])

        gaps = sign * (table[:, first] - table[:, second])
        for prior, rising in _sign_changes(grid, gaps, gap):
            below, above = (second, first) if rising else (first, second)
            reversals.append(RankReversal(names[below], names[above], prior))
    reversals.sort(key=lambda reversal: reversal.prior)
    edges = np.unique([prior_range[0], *(reversal.prior for reversal in reversals), prior_range[1]])
    best_models: list[BestModelRange] = []
    between = sign * values((edges[1:] + edges[:-1]) / 2)
    for (low, high), middle in zip(pairwise(edges.tolist()), between, strict=True):
        if np.isnan(middle).all():
            continue
        best = float(np.nanmax(middle))
        model = names[int(np.flatnonzero(middle >= best - ROUNDING)[0])]
        if best_models and best_models[-1].model == model:
            best_models[-1] = BestModelRange(model, best_models[-1].low, high)
        else:
            best_models.append(BestModelRange(model, low, high))
    by_model = {name: table[:, k] for k, name in enumerate(names)}
    return OrderByPrior(measure, tuple(reversals), tuple(best_models), grid, by_model, sign)


def _sign_changes(
    grid: Array, gaps: Array, gap: Callable[[float], float]
) -> list[tuple[float, bool]]:
    """Return where a gap changes its sign, and whether it rises there; zeros have no sign."""
    from scipy.optimize import brentq  # slow to import, and seldom needed

    nonzero = np.flatnonzero(np.isfinite(gaps) & (np.abs(gaps) > ROUNDING))
    changes = []
    for left, right in pairwise(nonzero.tolist()):
        if gaps[left] * gaps[right] < 0:
            root = brentq(gap, grid[left], grid[right], xtol=1e-12)
            changes.append((float(root), bool(gaps[right] > 0)))
    return changes


def possible_priors(counts: Sequence[Counts], mixture: Mixture) -> tuple[float, float]:
    """Return the priors from 0 to the largest that every ranking allows, or that is assumed."""
    largest = min(largest_prior(model, purity=mixture.purity).prior for model in counts)
    # Measures at the end of the range are shown, so they must stay far from the pole.
    return 0.0, cap_prior(max(largest, mixture.prior), mixture.purity, 1e-6 * mixture.purity)


def check_prior_range(mixture: Mixture, priors: tuple[float, float]) -> tuple[float, float]:
    """Return a range of priors as two floats; refuse anything else."""
    try:
        low, high = (float(end) for end in priors)
    except (TypeError, ValueError):
        low = high = math.nan
    if not 0 <= low < high < mixture.purity:
        raise InputError(
            f"priors must be two numbers (low, high) with 0 <= low < high < purity "
            f"({mixture.purity:g}); got {priors!r}."
        )
    return low, high
