"""Numbers of several models: values with limits, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pueval.comparison.comparison_text import estimate_of
from pueval.errors import InputError
from pueval.evaluation.estimates import Estimate
from pueval.evaluation.evaluation import Evaluation

Values = Mapping[str, Mapping[str, tuple[float, float, float]]]


@dataclass(frozen=True)
class Row:
    """How much better one model is than another.

    Attributes
    ----------
    first, second : str
        The models; the difference is first − second.
    measure : str
        The measure.
    value, low, high : float
        The difference and its limits.
    pvalue : float
        Of the hypothesis that there is none; NaN if not known.
    """

    first: str
    second: str
    measure: str
    value: float
    low: float
    high: float
    pvalue: float = math.nan

    @classmethod
    def of(cls, given: Any) -> Row:
        """Read a mapping, or an object with such attributes; others it may have are left out."""
        if isinstance(given, cls):
            return given
        names = [one.name for one in fields(cls)]
        if isinstance(given, Mapping):
            known = {name: given[name] for name in names if name in given}
        else:
            known = {name: getattr(given, name) for name in names if hasattr(given, name)}
        missing = [name for name in names[:-1] if name not in known]
        if missing:
            raise InputError(f"a difference needs {', '.join(missing)}; got {given!r}.")
        return cls(**known)

    def reversed(self) -> Row:
        """Return second − first."""
        return Row(
            self.second, self.first, self.measure, -self.value, -self.high, -self.low, self.pvalue
        )


def estimates(
    evaluations: Mapping[str, Evaluation], measures: Sequence[str]
) -> dict[str, dict[str, Estimate]]:
    """Look up the measures of several models.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        A name and an evaluation for each model.
    measures : sequence of str
        Names of measures.

    Returns
    -------
    dict of str to dict of str to Estimate
        Model → measure → estimate.
    """
    # An Evaluation is a mapping itself, of estimates.
    named = isinstance(evaluations, Mapping) and not isinstance(evaluations, Evaluation)
    if not named or not evaluations:
        raise InputError(
            f"evaluations must map at least one name to an Evaluation; got {evaluations!r:.80}."
        )
    check_measures(measures)
    return {
        name: {measure: estimate_of(ev, measure) for measure in measures}
        for name, ev in evaluations.items()
    }


def check_measures(measures: Sequence[str]) -> None:
    """Refuse what is not a list of names."""
    if isinstance(measures, str) or not measures:
        raise InputError(
            f"measures must be a list with at least one name of a measure; got {measures!r}."
        )


def check_values(values: Values) -> None:
    """Refuse values that do not give the same measures for each of some models."""
    if not isinstance(values, Mapping) or not values:
        raise InputError(
            "values must map at least one model's name to its measures, such as "
            f"{{'a': {{'roc_auc': (0.9, 0.8, 1.0)}}}}; got {values!r}."
        )
    (first, expected), *others = ((name, [*row]) for name, row in values.items())
    for name, measures in others:
        if measures != expected:
            raise InputError(
                f"all models need the same measures; {first!r} has {expected} and {name!r} "
                f"has {measures}."
            )
