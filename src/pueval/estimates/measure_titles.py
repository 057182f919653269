"""Titles of measures for tables and sentences, and the short lists that tables show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pueval.core.measures import AREA_TITLES, MEASURES, find_measure
from pueval.errors import UnknownMeasureError
from pueval.families.field_measures import FIELD_MEASURES, find_field_measure
from pueval.families.presence_family import F_PB, F_PB_MEASURE
from pueval.text.titles import title_in_sentence

if TYPE_CHECKING:
    from pueval.estimates.estimate import OperatingPoint

TITLES = AREA_TITLES | {
    name: measure.title for name, measure in (MEASURES | FIELD_MEASURES).items()
}
TITLES[F_PB] = F_PB_MEASURE.title
# The measures that people report, shown unless all are asked for.
REPORTED_MEASURES = (
    "roc_auc",
    "average_precision",
    "precision",
    "recall",
    "f1",
    "matthews_corrcoef",
    "accuracy",
    "balanced_accuracy",
    "specificity",
    "negative_predictive_value",
    "cohen_kappa",
    "lift",
)
# Shown where there is no room for all measures.
HEADLINE_MEASURES = ("roc_auc", "average_precision", "best_f1")
# Shown for each of several models.
COMPARED_MEASURES = ("roc_auc", "average_precision", "f1", "matthews_corrcoef", "balanced_accuracy")


def operating_point_titles(points: Iterable[OperatingPoint]) -> dict[str, str]:
    """Return the measures to show for chosen thresholds, with their titles."""
    names = ("precision", "recall", "false_positive_rate", "f1")
    cost = {"cost": "Cost per row"} if any("cost" in point for point in points) else {}
    return {name: TITLES[name] for name in names} | cost


def measure_title(measure: str) -> str:
    """Return the title of a measure, an area or a best value; unknown names stay as they are."""
    if measure.startswith("best_"):
        return f"Best {title_in_sentence(measure_title(measure.removeprefix('best_')))}"
    if measure in TITLES:
        return TITLES[measure]
    if (of_field := find_field_measure(measure)) is not None:
        return of_field.title
    try:
        return find_measure(measure).title
    except UnknownMeasureError:
        return measure
