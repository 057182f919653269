"""MeasureFamily: estimates of the measures that a field reports, as a mapping and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pueval.estimates.estimate import Estimate, estimate_rows
from pueval.estimates.estimate_table import EstimateTable
from pueval.estimates.measure_titles import measure_title
from pueval.text.numbers import CLIPPED_NOTE
from pueval.text.results import plain_dict


@dataclass(frozen=True, eq=False, repr=False)
class MeasureFamily(EstimateTable):
    """Estimates of some measures by name; made by `Evaluation.family`.

    Attributes
    ----------
    names : tuple of str
        Names of the families and measures that were asked for.
    estimates : dict of str to Estimate
        Estimates by the name of the measure.
    level : float or None
        Confidence level of the intervals; None if there are none.
    """

    names: tuple[str, ...]
    estimates: dict[str, Estimate]
    level: float | None

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates as plain numbers, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return plain_dict(self.estimates)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        estimates = ((measure_title(name), estimate) for name, estimate in self.items())
        return estimate_rows(estimates, self.level)

    def _notes(self) -> list[str]:
        return [CLIPPED_NOTE] if any(estimate.clipped for estimate in self.values()) else []

    def _headline(self) -> str:
        return f"Measures: {', '.join(self.names)}"
