"""Titles of measures for tables and sentences, and the short lists that tables show."""

from __future__ import annotations

import re

from pueval.core.measures import MEASURES, find_measure
from pueval.errors import UnknownMeasureError

TITLES = {"roc_auc": "ROC AUC", "average_precision": "Average precision"} | {
    name: measure.title for name, measure in MEASURES.items()
}
# Shown where there is no room for all measures.
HEADLINE_MEASURES = ("roc_auc", "average_precision", "best_f1")
# Shown for each chosen threshold.
OPERATING_POINT_MEASURES = ("precision", "recall", "false_positive_rate", "f1")


def measure_title(measure: str) -> str:
    """Return the title of a measure, an area or a best value; unknown names stay as they are."""
    if measure.startswith("best_"):
        return f"Best {title_in_sentence(measure_title(measure.removeprefix('best_')))}"
    if measure in TITLES:
        return TITLES[measure]
    try:
        return find_measure(measure).title
    except UnknownMeasureError:
        return measure


def title_in_sentence(title: str) -> str:
    """Return a title in lower case; F1 and the names of people stay as they are.

    Examples
    --------
    >>> title_in_sentence("Precision"), title_in_sentence("Matthews correlation")
    ('precision', 'Matthews correlation')
    """
    if re.match(r"F\d|Matthews|Cohen|Fowlkes", title):
        return title
    return title[:1].lower() + title[1:]
