"""Measures that some fields report, by family; tables show them when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable

from pueval._typing import Target
from pueval.core.mean_measures import MEAN_MEASURES, MeanMeasure, check_probabilities
from pueval.core.measures import unknown_measure_error
from pueval.core.mixture import Mixture
from pueval.core.ranked_rows import RankedRows
from pueval.core.score_means import ScoreMeans
from pueval.core.top_measures import TOP_MEASURES, TopMeasure
from pueval.counts.counts import Counts

FieldMeasure = MeanMeasure | TopMeasure
FIELD_MEASURES: dict[str, FieldMeasure] = {**MEAN_MEASURES, **TOP_MEASURES}
# Measures by which models can be ordered.
ORDERING_MEASURES = {
    name: measure
    for name, measure in FIELD_MEASURES.items()
    if measure.greater_is_better is not None
}
# Titles of presence-only measures, which share windows of the score: `Evaluation.presence`.
PRESENCE_TITLES = {
    "boyce_index": "Boyce index",
    "smoothed_boyce_index": "Boyce index, smoothed",
    "minimal_predicted_area": "Minimal predicted area",
    "auc_ratio": "AUC ratio",
    "f_pb": "F_pb",
}
# Names of measures by family.
FAMILIES: dict[str, tuple[str, ...]] = {
    "probability": tuple(MEAN_MEASURES),
    "top": tuple(TOP_MEASURES),
    "presence": tuple(PRESENCE_TITLES),
}


def check_scores(counts: Counts, name: str) -> None:
    """Refuse scores that the measure cannot use."""
    if name in MEAN_MEASURES:
        check_probabilities(counts, name)


def field_value(name: str, counts: Counts, mixture: Mixture, target: Target) -> float:
    """Return the corrected value of a measure; not clipped."""
    check_scores(counts, name)
    measure = FIELD_MEASURES[name]
    if isinstance(measure, TopMeasure):
        return RankedRows(counts, counts._roc_corners(), target).value(measure, mixture)
    return float(measure(ScoreMeans(counts, measure.functions).corrected(mixture, target)))


def needs_prior(name: str) -> bool:
    """Return whether a measure depends on the prior even if labels are clean and random."""
    measure = FIELD_MEASURES.get(name)
    return not isinstance(measure, TopMeasure) or measure.needs_prior


def family_members(names: Iterable[str]) -> tuple[str, ...]:
    """Return the measures of families, and measures given by name, each once."""
    members: dict[str, None] = {}
    known = [*FAMILIES, *FIELD_MEASURES, *PRESENCE_TITLES]
    for name in names:
        if name not in known:
            raise unknown_measure_error(name, known, any_beta=False)
        members |= dict.fromkeys(FAMILIES.get(name, (name,)))
    return tuple(members)
