"""What a page shows on request: thresholds, bounds, more measures, groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pueval.errors import InputError
from pueval.estimates.measure_titles import measure_title, operating_point_titles
from pueval.ranking import RANKING_TITLES, saturation_note
from pueval.report._json_values import estimate_values, json_number, printable_text

if TYPE_CHECKING:
    from pueval.estimates.estimate import OperatingPoint
    from pueval.estimates.measure_family import MeasureFamily
    from pueval.evaluation.evaluation import Evaluation
    from pueval.report._group_table import GroupTable
    from pueval.sensitivity.bounds import Bounds


def threshold_table_data(
    choices: Mapping[str, Sequence[OperatingPoint]], evaluations: Mapping[str, Evaluation]
) -> dict[str, Any]:
    """Return the column titles, and a line for each chosen threshold of each model."""
    models = _models_in_order(choices, evaluations, "choices")
    points = [(model, point) for model in models for point in choices[model]]
    titles = operating_point_titles(point for _, point in points)
    return {
        "titles": [*titles.values()],
        "lines": [
            {
                "model": list(evaluations).index(model),
                "rule": printable_text(point.rule or "given threshold"),
                "threshold": json_number(point.threshold),
                "cells": [
                    estimate_values(point[name]) if name in point else None for name in titles
                ],
            }
            for model, point in points
        ],
        "intervals": any(point.level is not None for _, point in points),
    }


def ranking_table(
    rankings: Mapping[str, Mapping[str, float]], evaluations: Mapping[str, Evaluation]
) -> dict[str, Any]:
    """Return the models, and a line for each measure that needs no prior."""
    models = _models_in_order(rankings, evaluations, "rankings")
    for model in models:
        unknown = [measure for measure in rankings[model] if measure not in RANKING_TITLES]
        if unknown:
            raise InputError(
                f"rankings of {model!r} contain {unknown[0]!r}, which is not a measure without a "
                "prior. Pass the result of ev.ranking()."
            )
    return {
        "models": [printable_text(model) for model in models],
        "lines": [
            (title, [json_number(rankings[model][measure]) for model in models])
            for measure, title in RANKING_TITLES.items()
            if models and all(measure in rankings[model] for model in models)
        ],
        "note": _saturation_note({model: rankings[model] for model in models}, evaluations),
    }


def _saturation_note(
    rankings: Mapping[str, Mapping[str, float]], evaluations: Mapping[str, Evaluation]
) -> str | None:
    """Say that PULP hardly tells models apart; None also if they were evaluated on other rows."""
    values = {model: ranking["pulp"] for model, ranking in rankings.items() if "pulp" in ranking}
    counts = [evaluations[model].counts for model in values]
    sizes = {(each.n, each.n_labeled) for each in counts}
    if len(sizes) != 1 or not counts[0]._has_integer_counts:
        return None
    return saturation_note(values, counts[0])


def family_table(
    families: Mapping[str, MeasureFamily], evaluations: Mapping[str, Evaluation]
) -> dict[str, Any]:
    """Return the models, and a line for each measure of the families that were asked for."""
    models = _models_in_order(families, evaluations, "families")
    names = dict.fromkeys(name for model in models for name in families[model])
    return {
        "models": [printable_text(model) for model in models],
        "lines": [
            (
                measure_title(name),
                [
                    estimate_values(families[model][name]) if name in families[model] else None
                    for model in models
                ],
            )
            for name in names
        ],
    }


def bound_columns(
    bounds: Mapping[str, Bounds], evaluations: Mapping[str, Evaluation]
) -> dict[str, dict[str, Any]]:
    """Return the bounds of every measure, by model, and what they assume."""
    columns = {}
    for model in _models_in_order(bounds, evaluations, "bounds"):
        ranges, ev = bounds[model], evaluations[model]
        missing = [name for name in ev if name not in [*ranges]]
        if missing or (ranges.threshold, ranges.target) != (ev.threshold, ev.target):
            raise InputError(
                f"the bounds of {model!r} have another threshold or target than its evaluation. "
                "Pass the result of ev.bounds()."
            )
        columns[model] = {
            "level": ranges.level,
            "summary": ranges.summary(),
            "measures": {name: [json_number(end) for end in ranges[name]] for name in ev},
        }
    return columns


def group_tables(
    groups: Mapping[str, GroupTable], evaluations: Mapping[str, Evaluation]
) -> list[dict[str, Any]]:
    """Return the table of groups of each model, as text that a page can hold."""
    return [
        {
            "model": printable_text(model),
            "header": [printable_text(title) for title in groups[model].header],
            "rows": [[printable_text(cell) for cell in row] for row in groups[model].rows],
            "notes": [printable_text(note) for note in groups[model].notes],
        }
        for model in _models_in_order(groups, evaluations, "groups")
    ]


def _models_in_order(
    argument: Mapping[str, Any], evaluations: Mapping[str, Evaluation], name: str
) -> list[str]:
    """Return the models that an argument mentions, in the order of the page."""
    for model in argument:
        if model not in evaluations:
            raise InputError(
                f"{name} mention the model {model!r}, which is not one of {[*evaluations]}."
            )
    return [model for model in evaluations if model in argument]
