"""Results of many groups as plain arrays, before they are clipped and named."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.measures import AREAS, MEASURES
from pueval.core.mixture import Mixtures
from pueval.core.rates import correct_area
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.areas import Table, average_precision, naive_auc, naive_average_precision
from pueval.groups.totals import Totals
from pueval.groups.variances import area_variance, point

NAMES = (*AREAS, *MEASURES)


@dataclass(frozen=True, eq=False)
class Raw:
    """Arrays with one entry per group, NaN for groups without estimates.

    Attributes
    ----------
    value, naive : dict of str to ndarray
        Corrected, not clipped; and with unlabeled rows counted as negative.
    error : dict of str to ndarray
        Standard errors over other rows of the same groups.
    prior_moves : dict of str to ndarray
        Change of the value with one standard error of the prior; 0 for a prior that is given.
    moves : dict of str to ndarray of shape (4, n_groups)
        Change of measures at the threshold with one standard error of the shares beyond it, and
        of the prevalence.
    share_error : dict
        ``"shares"``: these standard errors, of shape (4, n_groups).
    excess : dict
        By how much the average precision is too large on average.
    """

    value: dict[str, Array]
    naive: dict[str, Array]
    error: dict[str, Array]
    prior_moves: dict[str, Array]
    moves: dict[str, Array]
    share_error: dict[str, Array]
    excess: dict[str, Array]

    @classmethod
    def empty(cls, size: int) -> Raw:
        """Return undefined results of so many groups."""

        def columns(names: tuple[str, ...], shape: tuple[int, ...]) -> dict[str, Array]:
            return {name: np.full(shape, np.nan) for name in names}

        one, four = (size,), (4, size)
        return cls(
            columns(NAMES, one),
            columns(NAMES, one),
            columns(NAMES, one),
            columns(NAMES, one),
            columns((*MEASURES,), four),
            columns(("shares",), four),
            columns(("average_precision",), one),
        )

    def put(self, groups: Array, part: Raw) -> None:
        """Write the results of some groups to their places."""
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(part, field.name)
            for name, values in theirs.items():
                mine[name][..., groups] = values

    def center(self, name: str) -> Array:
        """Return the value, less what it is too large on average."""
        value = self.value[name]
        return value - self.excess[name] if name in self.excess else value

    def total_error(self, name: str) -> Array:
        """Return the standard error over other rows, and for what is unknown about the prior."""
        total: Array = np.hypot(self.error[name], self.prior_moves[name])
        return total


def results(
    table: Table,
    totals: Totals,
    prior: Array,
    overall: Evaluation,
    beyond: tuple[Array, Array, Array],
    prior_error: Array,
    squared_weights: tuple[Array, Array, Array] | None = None,
    *,
    chance: Array,
) -> Raw:
    """Evaluate the groups of a table, which has steps with labeled rows only.

    Errors allow for the number of labeled rows, and with it the prevalence; ``chance`` is the
    part of that error which each group has for itself.
    """
    target, limits = overall.target, overall.resampling is not None
    mixtures = Mixtures(prior, np.full(prior.size, overall.mixture.purity))
    auc, area = naive_auc(table, totals), average_precision(table, totals, mixtures, target)
    like_counts: Any = totals
    prevalence_error = chance * mixtures.prevalence_standard_error(like_counts)
    here = point(
        beyond,
        totals,
        mixtures,
        target,
        prior_error if limits else None,
        squared_weights,
        prevalence_error=prevalence_error,
    )
    naive_area = naive_average_precision(table, totals)
    raw = Raw(
        {
            "roc_auc": _corrected(auc.value, mixtures, totals),
            "average_precision": area.value,
            **here.value,
        },
        {"roc_auc": auc.value, "average_precision": naive_area, **here.naive},
        {},
        {},
        here.moves,
        {"shares": here.error} if limits else {},
        {"average_precision": area.excess},
    )
    if not limits:
        return raw
    placed = np.sqrt(area_variance(auc, table, totals, placements=True))
    raw.error["roc_auc"] = placed / contrast(mixtures, totals)
    precise = np.sqrt(area_variance(area, table, totals, placements=False))
    raw.error["average_precision"] = np.hypot(precise, area.by_prevalence * prevalence_error)
    for name, moves in here.moves.items():
        raw.error[name] = np.sqrt(np.sum(moves**2, axis=0))
    raw.prior_moves.update(here.prior_moves)
    raw.prior_moves.update(_moved_areas(table, totals, mixtures, target, prior_error, auc.value))
    return raw


def contrast(mixtures: Mixtures, totals: Totals) -> Array:
    """How much more of the labeled than of the other rows are positive."""
    like_counts: Any = totals
    return mixtures.purity - mixtures.background_prior(like_counts)


def _corrected(naive: Array, mixtures: Mixtures, totals: Totals) -> Array:
    like_counts: Any = totals
    found: Array = correct_area(naive, mixtures, mixtures.background_prior(like_counts))
    return found


def _moved_areas(
    table: Table,
    totals: Totals,
    mixtures: Mixtures,
    target: Target,
    error: Array,
    naive: Array,
) -> dict[str, Array]:
    """Change of both areas with one standard error of the prior."""
    if not np.any(error > 0):
        return {name: np.zeros(error.size) for name in AREAS}
    ends: list[dict[str, Array]] = []
    priors = []
    for sign in (1.0, -1.0):
        prior = np.clip(mixtures.prior + sign * error, 0, 0.999 * mixtures.purity)
        moved = Mixtures(prior, mixtures.purity)
        priors.append(prior)
        area = average_precision(table, totals, moved, target).value
        ends.append({"roc_auc": _corrected(naive, moved, totals), "average_precision": area})
    width = priors[0] - priors[1]
    scale = np.divide(error, width, out=np.zeros(error.size), where=width > 0)
    return {name: (ends[0][name] - ends[1][name]) * scale for name in AREAS}
