"""Data of a comparison plot: values of several models, and their paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pueval.comparison import comparison_text
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate
from pueval.evaluation.evaluation import Evaluation

DIFFERENCE_COLUMNS = {
    "difference": "value",
    "difference_low": "low",
    "difference_high": "high",
    "pvalue": "pvalue",
}
# Model → measure → (value, low, high).
ModelValues = Mapping[str, Mapping[str, tuple[float, float, float]]]


@dataclass(frozen=True)
class PairedDifference:
    """Difference between two models in a measure.

    Attributes
    ----------
    first, second : str
        Names of the models; the difference is first − second.
    measure : str
        Name of the measure.
    value, low, high : float
        Difference and its confidence interval.
    pvalue : float
        P-value of the hypothesis of no difference; NaN if unknown.
    """

    first: str
    second: str
    measure: str
    value: float
    low: float
    high: float
    pvalue: float = math.nan

    @classmethod
    def read(cls, row: Any) -> PairedDifference:
        """Read a mapping, or an object with these attributes; ignore all others."""
        if isinstance(row, cls):
            return row
        names = [field.name for field in fields(cls)]
        if isinstance(row, Mapping):
            values = {name: row[name] for name in names if name in row}
        else:
            values = {name: getattr(row, name) for name in names if hasattr(row, name)}
        missing = [name for name in names[:-1] if name not in values]
        if missing:
            raise InputError(f"a difference needs {', '.join(missing)}; got {row!r}.")
        return cls(**values)

    def reversed(self) -> PairedDifference:
        """Return second − first."""
        return PairedDifference(
            self.second, self.first, self.measure, -self.value, -self.high, -self.low, self.pvalue
        )


def collect_estimates(
    evaluations: Mapping[str, Evaluation], measures: Sequence[str]
) -> dict[str, dict[str, Estimate]]:
    """Look up measures of several models: model → measure → estimate."""
    # An Evaluation is itself a mapping of estimates.
    named = isinstance(evaluations, Mapping) and not isinstance(evaluations, Evaluation)
    if not named or not evaluations:
        raise InputError(
            f"evaluations must map at least one name to an Evaluation; got {evaluations!r:.80}."
        )
    check_measures(measures)
    return comparison_text.collect_estimates(evaluations, measures)


def comparison_rows(
    values: ModelValues,
    naive: Mapping[str, Mapping[str, float]] | None,
    differences: Sequence[PairedDifference],
) -> list[dict[str, Any]]:
    """Return a row for each model and measure; NaN where a number is unknown."""
    lookup = {(row.first, row.measure): row for row in differences}
    return [
        {"model": model, "measure": measure, "value": value, "low": low, "high": high}
        | {"naive": math.nan if naive is None else naive[model][measure]}
        | {
            column: getattr(lookup.get((model, measure)), name, math.nan)
            for column, name in DIFFERENCE_COLUMNS.items()
        }
        for model, row in values.items()
        for measure, (value, low, high) in row.items()
    ]


def check_measures(measures: Sequence[str]) -> None:
    """Raise an error unless ``measures`` is a non-empty list of names."""
    if isinstance(measures, str) or not measures:
        raise InputError(f"measures must be a list of at least one measure; got {measures!r}.")


def check_values(values: ModelValues) -> None:
    """Raise an error unless there is at least one model, all with the same measures."""
    if not isinstance(values, Mapping) or not values:
        raise InputError(
            "values must map at least one model's name to its measures, such as "
            f"{{'a': {{'roc_auc': (0.9, 0.8, 1.0)}}}}; got {values!r}."
        )
    (first, expected), *rest = ((name, [*row]) for name, row in values.items())
    for name, measures in rest:
        if measures != expected:
            raise InputError(
                f"all models need the same measures; {first!r} has {expected} and {name!r} "
                f"has {measures}."
            )
