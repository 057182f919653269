"""Baselines: every measure of classifiers that ignore the scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.core.measures import AREAS, MEASURES, Table, find_measure, unknown_measure_error
from pueval.core.rates import Rates
from pueval.errors import UnknownMeasureError
from pueval.estimates.measure_titles import TITLES
from pueval.text.numbers import format_number
from pueval.text.results import Result, measure_frame, plain_dict
from pueval.text.tables import html_summary, text_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Baseline(Result):
    """A measure of three classifiers that ignore the scores; NaN where it is undefined.

    Attributes
    ----------
    all_positive, all_negative : float
        Value if every row, or no row, is predicted positive.
    random : float
        Value if as many rows as the classifier predicts positive are drawn at random.
    """

    all_positive: float
    all_negative: float
    random: float

    def _headline(self) -> str:
        values = zip(BASELINE_TITLES.values(), self.cells(), strict=True)
        return "Baseline: " + ", ".join(f"{title} {value}" for title, value in values)

    def cells(self) -> list[str]:
        """Return the values as text."""
        return [format_number(value) for value in vars(self).values()]


BASELINE_TITLES = {each.name: each.name.replace("_", " ") for each in fields(Baseline)}


@dataclass(frozen=True, eq=False, repr=False)
class Baselines(Mapping[str, Baseline]):
    """Every measure of classifiers that ignore the scores; made by `Evaluation.baselines`.

    It maps names of measures to baselines: ``baselines["f1"].all_positive`` is the F1 of
    predicting every row positive. Any ``"f<beta>"`` can be looked up, too.

    Attributes
    ----------
    prevalence : float
        Share of positives in the target.
    predicted : float
        Share of the target that the classifier predicts positive, and so does the random one.
    """

    prevalence: float
    predicted: float

    @classmethod
    def of(cls, rates: Rates) -> Baselines:
        """Return the baselines for the rates at one threshold."""
        predicted = float(np.clip(rates.predicted[0], 0, 1))
        return cls(float(np.clip(rates.prevalence, 0, 1)), predicted)

    def __getitem__(self, name: str) -> Baseline:
        if name == "roc_auc":
            return Baseline(0.5, 0.5, 0.5)
        if name == "average_precision":
            return Baseline(self.prevalence, self.prevalence, self.prevalence)
        try:
            measure = find_measure(name)
        except UnknownMeasureError:
            raise unknown_measure_error(name, [*self]) from None
        predicted = np.array([1.0, 0.0, self.predicted])
        # The prediction is independent of the class.
        table = Table(self.prevalence * predicted, predicted, self.prevalence)
        return Baseline(*np.asarray(measure.formula(table), dtype=np.float64).tolist())

    def __iter__(self) -> Iterator[str]:
        return iter((*AREAS, *MEASURES))

    def __len__(self) -> int:
        return len(AREAS) + len(MEASURES)

    # A mapping is equal by content and cannot be hashed; baselines are neither.
    __eq__, __hash__ = object.__eq__, object.__hash__

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure and a column per classifier.

        Returns
        -------
        pandas.DataFrame
        """
        return measure_frame(self, "Baselines.frame()")

    def to_dict(self) -> dict[str, Any]:
        """Return the values of every measure as plain numbers, ready for JSON.

        Returns
        -------
        dict
            Undefined numbers are None.
        """
        return plain_dict(self)

    def summary(self) -> str:
        """Return what the baselines depend on, in one line.

        Returns
        -------
        str
        """
        return (
            f"Baselines: classifiers that ignore the scores, at prevalence {self.prevalence:.4g}; "
            f"the random one predicts {self.predicted:.4g} of the rows positive"
        )

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[TITLES[name], *baseline.cells()] for name, baseline in self.items()]
        return ["", *BASELINE_TITLES.values()], rows

    def __repr__(self) -> str:
        return f"{self.summary()}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_summary(self.summary(), [self._table()], [])
