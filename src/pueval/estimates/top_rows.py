"""The first rows of the list: how many of them are positive, and which share of all positives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pueval.core.measures import ROUNDING
from pueval.errors import UnknownMeasureError
from pueval.estimates.estimate import Estimate, estimate_rows
from pueval.estimates.estimate_table import EstimateTable
from pueval.families.top_measure import TopMeasure, first_rows
from pueval.families.top_measures import (
    average_precision_at,
    enrichment,
    f_at,
    ndcg,
    positives_at,
    precision_at,
    recall_at,
)
from pueval.text.numbers import CLIPPED_NOTE, format_count, format_number
from pueval.text.results import plain_dict

if TYPE_CHECKING:
    from collections.abc import Callable

    from pueval.evaluation.model_estimates import ModelEstimates


@dataclass(frozen=True, eq=False, repr=False)
class TopRows(EstimateTable):
    """Measures of the rows with the highest scores; made by `Evaluation.top`.

    It maps names of measures to estimates: ``top["precision"].value``. Tied rows at the end of the
    list count by the expectation over their orders.

    Attributes
    ----------
    rows : float
        Number of first rows, k.
    size : float
        Number of rows in the target; with importance weights their effective number.
    level : float or None
        Confidence level.
    needs_prior : dict of str to bool
        Whether each measure depends on the prior. With clean labels that are random, or have known
        propensities, recall and enrichment do not. So they can be above what the prevalence allows;
        printed tables then say so.
    """

    rows: float
    size: float
    level: float | None
    needs_prior: dict[str, bool]
    _measures: dict[str, TopMeasure]
    _estimate: Callable[[TopMeasure], Estimate]
    _assumption: str
    _prevalence: float
    _estimates: dict[str, Estimate] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Estimate:
        # Intervals take time, so each is computed when it is first looked up.
        if name not in self._estimates:
            if name not in self._measures:
                raise UnknownMeasureError(
                    f"unknown measure {name!r}. Measures of first rows: {', '.join(self)}."
                )
            self._estimates[name] = self._estimate(self._measures[name])
        return self._estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __contains__(self, name: object) -> bool:
        return name in self._measures

    @property
    def share(self) -> float:
        """Share of the target that the first rows are."""
        return self.rows / self.size

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return plain_dict(
            {
                "rows": self.rows,
                "share": self.share,
                "size": self.size,
                "level": self.level,
                "needs_prior": self.needs_prior,
                "measures": dict(self),
            }
        )

    def summary(self) -> str:
        """Return what the first rows are, in one line.

        Returns
        -------
        str
        """
        return (
            f"The first {format_count(self.rows)} of {format_count(self.size)} rows "
            f"({100 * self.share:.3g}%)"
        )

    def _headline(self) -> str:
        return self.summary()

    def _table(self) -> tuple[list[str], list[list[str]]]:
        titles = (measure.title for measure in self._measures.values())
        return estimate_rows(zip(titles, self.values(), strict=True), self.level)

    def _notes(self) -> list[str]:
        free = [m.title for name, m in self._measures.items() if not self.needs_prior[name]]
        notes = []
        if free:
            names = f"{', '.join(free[:-1])} and {free[-1].lower()}"
            notes.append(f"{names} need no prior: {self._assumption}.")
            notes += self._most_possible()
        if any(estimate.clipped for estimate in self.values()):
            notes.append(CLIPPED_NOTE)
        return notes

    def _most_possible(self) -> list[str]:
        """Say if recall is above that of first rows that are all positive."""
        most = self.share / self._prevalence if self._prevalence else math.inf
        if self.needs_prior["recall"] or not self["recall"].value > most * (1 + ROUNDING):
            return []
        prevalence, enrichment = self._prevalence, 1 / self._prevalence
        limits = f"{format_number(most)}, and enrichment at most {format_number(enrichment)}"
        return [f"With a prevalence of {format_number(prevalence)}, recall is at most {limits}."]


def evaluate_top(ev: ModelEstimates, k: float | None, share: float | None) -> TopRows:
    """Evaluate the first rows."""
    rows, size = first_rows(k, share), ev._rates[0].n_rows
    number = rows(size)
    measures = {
        "positives": replace(positives_at(rows), high=number),
        "precision": precision_at(rows),
        "recall": recall_at(rows),
        "f1": f_at(rows),
        "enrichment_factor": enrichment(rows),
        "average_precision": average_precision_at(rows),
        "ndcg": ndcg(rows),
    }
    resamples = ev._resamples_of_first(number)
    counts = ev.counts
    labels_suffice = ev.purity == 1 and counts._audit is None
    if ev.target == "unlabeled" and counts.n_negative:
        labels_suffice = False
    needs_prior = {name: m.needs_prior or not labels_suffice for name, m in measures.items()}
    return TopRows(
        rows=number,
        size=size,
        level=ev._level,
        needs_prior=needs_prior,
        _measures=measures,
        _estimate=partial(ev._estimate_top, resamples=resamples),
        _assumption="labels are assumed clean, and "
        + ("their propensities known" if counts.has_propensity else "random"),
        _prevalence=ev.prevalence,
    )
