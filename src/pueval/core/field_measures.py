"""Measures that some fields report, by family; tables show them when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable

from pueval._typing import Target
from pueval.core.mean_measures import MEAN_MEASURES, MeanMeasure, check_probabilities
from pueval.core.measures import unknown_measure_error
from pueval.core.mixture import Mixture
from pueval.core.presence_family import F_PB, PRESENCE_MEASURES, PresenceCurve, RatioMeasure
from pueval.core.ranked_rows import RankedRows
from pueval.core.score_means import ScoreMeans
from pueval.core.top_measure import TopMeasure
from pueval.core.top_measures import TOP_MEASURES
from pueval.counts.counts import Counts

FieldMeasure = MeanMeasure | TopMeasure | RatioMeasure
# F_pb is a measure at a threshold: `pueval.core.presence_family.find_threshold_measure`.
FIELD_MEASURES: dict[str, FieldMeasure] = {**MEAN_MEASURES, **TOP_MEASURES, **PRESENCE_MEASURES}
# Measures by which models can be ordered; they need no threshold.
ORDERING_MEASURES = {
    name: measure
    for name, measure in FIELD_MEASURES.items()
    if measure.greater_is_better is not None
}
# Names of measures by family.
FAMILIES: dict[str, tuple[str, ...]] = {
    "probability": tuple(MEAN_MEASURES),
    "top": tuple(TOP_MEASURES),
    "presence": (*PRESENCE_MEASURES, F_PB, "informedness"),
}


def check_scores(counts: Counts, name: str) -> None:
    """Refuse scores that the measure cannot use."""
    if name in MEAN_MEASURES:
        check_probabilities(counts, name)


def field_value(name: str, counts: Counts, mixture: Mixture, target: Target) -> float:
    """Return the corrected value of a measure; not clipped."""
    check_scores(counts, name)
    measure = FIELD_MEASURES[name]
    if isinstance(measure, RatioMeasure):
        return measure.value(counts, target)
    if isinstance(measure, PresenceCurve):
        return measure.value(counts, mixture, target)
    if isinstance(measure, TopMeasure):
        return RankedRows(counts, counts._roc_corners(), target).value(measure, mixture)
    return float(measure(ScoreMeans(counts, measure.functions).corrected(mixture, target)))


def needs_prior(name: str) -> bool:
    """Return whether a measure depends on the prior even if labels are clean and random."""
    measure = FIELD_MEASURES.get(name)
    if isinstance(measure, TopMeasure):
        return measure.needs_prior
    return not isinstance(measure, RatioMeasure) and name != F_PB


def family_members(names: Iterable[str]) -> tuple[str, ...]:
    """Return the measures of families, and measures given by name, each once."""
    members: dict[str, None] = {}
    known = [*FAMILIES, *(name for names in FAMILIES.values() for name in names)]
    for name in names:
        if name not in known:
            raise unknown_measure_error(name, known, any_beta=False)
        members |= dict.fromkeys(FAMILIES.get(name, (name,)))
    return tuple(members)
