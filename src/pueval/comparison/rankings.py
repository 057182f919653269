"""Which order of models each criterion gives, and where criteria disagree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.text.numbers import format_number
from pueval.text.tables import text_table


@dataclass(frozen=True)
class Disagreement:
    """Two models that criteria put in different orders.

    Attributes
    ----------
    first, second : str
        The models.
    for_first, for_second : tuple of str
        The criteria by which the one or the other is better.
    """

    first: str
    second: str
    for_first: tuple[str, ...]
    for_second: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Rankings:
    """The order of models by several criteria.

    Attributes
    ----------
    value : dict of str to dict of str to float
        For each criterion the value of each model.
    greater_is_better : dict of str to bool
        For each criterion whether a good model has a high value.
    notes : tuple of str
        Which criteria are missing, and why.
    """

    value: Mapping[str, Mapping[str, float]]
    greater_is_better: Mapping[str, bool]
    notes: tuple[str, ...] = ()

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria."""
        return tuple(self.value)

    def rank(self, criterion: str) -> dict[str, float]:
        """Return the rank of each model: 1 is the best, equal models share their mean rank.

        Parameters
        ----------
        criterion : str
            One of ``criteria``.

        Returns
        -------
        dict of str to float
            NaN where the criterion is undefined.
        """
        if criterion not in self.value:
            raise InputError(
                f"there is no criterion {criterion!r}. The criteria are {', '.join(self.criteria)}."
            )
        names = [*self.value[criterion]]
        goodness = self._goodness(criterion)
        ranks = [
            np.nan
            if np.isnan(mine)
            else 1 + float(np.sum(goodness > mine)) + (float(np.sum(goodness == mine)) - 1) / 2
            for mine in goodness
        ]
        return dict(zip(names, ranks, strict=True))

    def order(self, criterion: str) -> tuple[str, ...]:
        """Return the models, best first; those without a value last.

        Parameters
        ----------
        criterion : str
            One of ``criteria``.

        Returns
        -------
        tuple of str
        """
        ranks = self.rank(criterion)
        return tuple(sorted(ranks, key=lambda name: np.nan_to_num(ranks[name], nan=np.inf)))

    def disagreements(self) -> tuple[Disagreement, ...]:
        """Return the pairs of models whose order is disputed.

        Returns
        -------
        tuple of Disagreement
            Empty if all criteria agree on the order of all models.
        """
        names = [*next(iter(self.value.values()))]
        found = []
        for a, b in combinations(range(len(names)), 2):
            gaps = {name: g[a] - g[b] for name in self.value for g in (self._goodness(name),)}
            for_first = tuple(name for name, gap in gaps.items() if gap > 0)
            for_second = tuple(name for name, gap in gaps.items() if gap < 0)
            if for_first and for_second:
                found.append(Disagreement(names[a], names[b], for_first, for_second))
        return tuple(found)

    def _goodness(self, criterion: str) -> Array:
        sign = 1.0 if self.greater_is_better[criterion] else -1.0
        return sign * np.array([*self.value[criterion].values()], dtype=np.float64)

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of a table: values, and in brackets ranks.

        Returns
        -------
        header : list of str
        rows : list of list of str
        """
        names = [*next(iter(self.value.values()))]
        body = []
        for criterion, values in self.value.items():
            ranks = self.rank(criterion)
            cells = [f"{format_number(values[name], 4)} ({ranks[name]:g})" for name in names]
            body.append([criterion, *cells])
        return ["criterion (rank)", *names], body

    def __repr__(self) -> str:
        lines = [text_table(*self.rows())]
        lines += [
            f"{one.first} or {one.second}: {one.first} by {', '.join(one.for_first)}; "
            f"{one.second} by {', '.join(one.for_second)}."
            for one in self.disagreements()
        ]
        lines += [f"! {note}" for note in self.notes]
        return "\n".join(lines)
