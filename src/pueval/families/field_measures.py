"""Measures that some fields report, by family; tables show them when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable

from pueval._typing import Target
from pueval.core.measures import AREAS, MEASURES, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import UnknownMeasureError
from pueval.families.calibration_measures import CALIBRATION_MEASURES, CalibrationMeasure
from pueval.families.mean_measures import MEAN_MEASURES, MeanMeasure, check_probabilities
from pueval.families.measures_at import PATTERNS, measure_at
from pueval.families.presence_family import F_PB, PRESENCE_MEASURES, BoyceMeasure, PresenceCurve
from pueval.families.ranked_rows import RankedRows
from pueval.families.score_means import ScoreMeans
from pueval.families.top_measure import TopMeasure
from pueval.families.top_measures import TOP_MEASURES

FieldMeasure = MeanMeasure | CalibrationMeasure | TopMeasure | BoyceMeasure
# Those without a number in their names; `find_field_measure` finds all.
# F_pb is a measure at a threshold: `pueval.families.presence_family.find_threshold_measure`.
FIELD_MEASURES: dict[str, FieldMeasure] = {
    **MEAN_MEASURES,
    **CALIBRATION_MEASURES,
    **TOP_MEASURES,
    **PRESENCE_MEASURES,
}
# Measures by which models can be ordered; they need no threshold.
ORDERING_MEASURES = {
    name: measure
    for name, measure in FIELD_MEASURES.items()
    if measure.greater_is_better is not None
}
# Names of measures by family.
FAMILIES: dict[str, tuple[str, ...]] = {
    "probability": (*MEAN_MEASURES, *CALIBRATION_MEASURES),
    "top": tuple(TOP_MEASURES),
    "presence": (*PRESENCE_MEASURES, F_PB, "informedness"),
}


def find_field_measure(name: object) -> FieldMeasure | None:
    """Return a measure of a family, or one with a number in its name; None if there is none."""
    if not isinstance(name, str):
        return None
    return FIELD_MEASURES.get(name) or measure_at(name)


def find_ordering_measure(name: object) -> FieldMeasure | None:
    """Return a measure of a family by which models can be ordered; None if there is none."""
    measure = find_field_measure(name)
    return None if measure is None or measure.greater_is_better is None else measure


def can_order_models(name: str) -> bool:
    """Return whether models can be ordered by a measure."""
    return find_ordering_measure(name) is not None or find_field_measure(name) is None


def needs_probabilities(name: str) -> bool:
    """Return whether a measure needs scores in [0, 1]."""
    return isinstance(find_field_measure(name), MeanMeasure | CalibrationMeasure)


def check_rows(counts: Counts, name: str, target: Target) -> None:
    """Refuse scores that the measure cannot use, and too few rows for its number of first rows."""
    if needs_probabilities(name):
        check_probabilities(counts, name)
    measure = find_field_measure(name)
    if isinstance(measure, TopMeasure) and measure.rows is not None:
        measure.rows(counts._n_rows(target))


def field_value(name: str, counts: Counts, mixture: Mixture, target: Target) -> float:
    """Return the corrected value of a measure; not clipped."""
    check_rows(counts, name, target)
    measure = find_field_measure(name)
    if isinstance(measure, CalibrationMeasure):
        return measure(counts, mixture, target)
    if isinstance(measure, MeanMeasure):
        return float(measure(ScoreMeans(counts, measure.functions).corrected(mixture, target)))
    if isinstance(measure, PresenceCurve):
        return measure.value(counts, mixture, target)
    if isinstance(measure, TopMeasure):
        return RankedRows(counts, counts._roc_corners(), target).value(measure, mixture)
    assert measure is not None  # noqa: S101 - for the type checker
    return measure.value(counts, target)


def needs_prior(name: str) -> bool:
    """Return whether a measure depends on the prior even if labels are clean and random."""
    measure = find_field_measure(name)
    if isinstance(measure, TopMeasure):
        return measure.needs_prior
    return not isinstance(measure, BoyceMeasure) and name != F_PB


def is_family_member(name: str) -> bool:
    """Return whether a measure belongs to a family, or has a number in its name."""
    return any(name in members for members in FAMILIES.values()) or measure_at(name) is not None


def family_members(names: Iterable[str]) -> tuple[str, ...]:
    """Return the measures of families, and measures given by name, each once."""
    members: dict[str, None] = {}
    for name in names:
        if not (name in FAMILIES or is_family_member(name) or name in AREAS):
            try:
                find_measure(name)
            except UnknownMeasureError:
                known = [
                    *AREAS,
                    *MEASURES,
                    *(each for names in FAMILIES.values() for each in names),
                ]
                raise unknown_measure_error(
                    name, [*FAMILIES, *dict.fromkeys(known), *PATTERNS]
                ) from None
        members |= dict.fromkeys(FAMILIES.get(name, (name,)))
    return tuple(members)
