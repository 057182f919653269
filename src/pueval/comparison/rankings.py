"""The order of models by several criteria, and where criteria disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError, require
from pueval.text.numbers import format_number
from pueval.text.results import SHOWN_ROWS, Result, plain_dict
from pueval.text.tables import text_table

if TYPE_CHECKING:
    import pandas as pd


# With more models, only the best are shown.
MOST_MODELS = 20
# Criteria named when a disagreement prints.
LISTED = 3


@dataclass(frozen=True, repr=False)
class Disagreement(Result):
    """Two models that criteria order differently.

    Attributes
    ----------
    first, second : str
        Names of the models.
    for_first, for_second : tuple of str
        Criteria by which the first, or the second, model is better.
    """

    first: str
    second: str
    for_first: tuple[str, ...]
    for_second: tuple[str, ...]

    def _headline(self) -> str:
        return (
            f"{self.first} is better by {_listed(self.for_first)}; "
            f"{self.second} is better by {_listed(self.for_second)}"
        )


def _listed(criteria: tuple[str, ...]) -> str:
    if len(criteria) <= LISTED + 1:
        return ", ".join(criteria)
    return f"{', '.join(criteria[:LISTED])} and {len(criteria) - LISTED} more"


@dataclass(frozen=True, eq=False, repr=False)
class Rankings:
    """The order of models by several criteria; made by `Comparison.ranking`.

    Iterating gives the names of the criteria; ``rankings["roc_auc"]`` has the value of each model.

    Attributes
    ----------
    value : dict of str to dict of str to float
        Value of each model by each criterion.
    greater_is_better : dict of str to bool
        Whether a good model has a high value, for each criterion.
    notes : tuple of str
        Criteria that are missing, and why.
    """

    value: Mapping[str, Mapping[str, float]]
    greater_is_better: Mapping[str, bool]
    notes: tuple[str, ...] = ()

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria."""
        return tuple(self.value)

    def __iter__(self) -> Iterator[str]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, criterion: str) -> Mapping[str, float]:
        if criterion not in self.value:
            raise InputError(
                f"there is no criterion {criterion!r}. The criteria are {', '.join(self.criteria)}."
            )
        return self.value[criterion]

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
        names = [*self[criterion]]
        goodness = self._goodness(criterion)
        worst_first = np.sort(goodness[~np.isnan(goodness)])
        n_worse = np.searchsorted(worst_first, goodness, side="left")
        n_not_better = np.searchsorted(worst_first, goodness, side="right")
        mean_rank = worst_first.size + (1 - n_worse - n_not_better) / 2
        ranks = np.where(np.isnan(goodness), np.nan, mean_rank)
        return dict(zip(names, ranks.tolist(), strict=True))

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
        """Return the pairs of models that criteria order differently.

        Returns
        -------
        tuple of Disagreement
            Empty if all criteria agree on the order of all models.
        """
        names = [*next(iter(self.value.values()))]
        goodness = {name: self._goodness(name) for name in self.value}
        disagreements = []
        for a, b in combinations(range(len(names)), 2):
            for_first = tuple(name for name, good in goodness.items() if good[a] > good[b])
            for_second = tuple(name for name, good in goodness.items() if good[a] < good[b])
            if for_first and for_second:
                disagreements.append(Disagreement(names[a], names[b], for_first, for_second))
        return tuple(disagreements)

    def _goodness(self, criterion: str) -> Array:
        sign = 1.0 if self.greater_is_better[criterion] else -1.0
        return sign * np.array([*self.value[criterion].values()], dtype=np.float64)

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of a table: values, with ranks in parentheses.

        Returns
        -------
        header : list of str
        rows : list of list of str
        """
        names = [*next(iter(self.value.values()))]
        body = []
        for criterion, values in self.value.items():
            ranks = self.rank(criterion)
            row = [criterion]
            for name in names:
                rank = "" if np.isnan(ranks[name]) else f" ({ranks[name]:g})"
                row.append(format_number(values[name], 4) + rank)
            body.append(row)
        return ["criterion (rank)", *names], body

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per criterion and model.

        Returns
        -------
        pandas.DataFrame
            Indexed by criterion and model, with the columns ``value`` and ``rank``.
        """
        pandas = require("pandas", extra="pandas", purpose="Rankings.frame()")
        ranks = {criterion: self.rank(criterion) for criterion in self.value}
        keys = [(criterion, name) for criterion in self.value for name in self.value[criterion]]
        rows = [{"value": self.value[c][name], "rank": ranks[c][name]} for c, name in keys]
        index = pandas.MultiIndex.from_tuples(keys, names=["criterion", "model"])
        return pandas.DataFrame(rows, index=index)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined numbers are None.
        """
        return plain_dict(
            {
                "value": self.value,
                "rank": {criterion: self.rank(criterion) for criterion in self.value},
                "greater_is_better": self.greater_is_better,
                "disagreements": self.disagreements(),
                "notes": self.notes,
            }
        )

    def subset(self, names: Sequence[str]) -> Rankings:
        """Return the values of some of the models.

        Parameters
        ----------
        names : sequence of str
            Names of models.

        Returns
        -------
        Rankings
        """
        value = {
            criterion: {name: values[name] for name in names}
            for criterion, values in self.value.items()
        }
        return replace(self, value=value)

    def __repr__(self) -> str:
        first = self.criteria[0]
        n_models = len(self.value[first])
        if n_models > MOST_MODELS:
            shown = self.subset(self.order(first)[:MOST_MODELS])
            left_out = (
                f"The best {MOST_MODELS} of {n_models:,} models by {first}; .frame() returns all"
            )
            return f"{shown!r}\n{left_out}"
        disagreements = self.disagreements()
        lines = [text_table(*self.rows())]
        lines += [f"{disagreement!r}." for disagreement in disagreements[:SHOWN_ROWS]]
        if len(disagreements) > SHOWN_ROWS:
            more = len(disagreements) - SHOWN_ROWS
            lines.append(f"… and {more:,} more pairs; .disagreements() has all")
        lines += [f"! {note}" for note in self.notes]
        return "\n".join(lines)
