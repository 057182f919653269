"""What a page shows only if it was asked for: chosen thresholds, and measures without a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pueval.errors import InputError
from pueval.evaluation.measure_titles import OPERATING_POINT_MEASURES, TITLES
from pueval.ranking import RANKING_TITLES
from pueval.report._plain import json_number, shown_estimate, text

if TYPE_CHECKING:
    from pueval.evaluation.estimates import OperatingPoint
    from pueval.evaluation.evaluation import Evaluation


def chosen_thresholds(
    choices: Mapping[str, Sequence[OperatingPoint]], evaluations: Mapping[str, Evaluation]
) -> dict[str, Any]:
    """Return the titles of the columns, and a line for each choice of each model."""
    order = _known(choices, evaluations, "choices")
    every = [(name, choice) for name in order for choice in choices[name]]
    cost = ["cost"] if any("cost" in choice for _, choice in every) else []
    return {
        "titles": [TITLES[name] for name in OPERATING_POINT_MEASURES]
        + ["Cost per row" for _ in cost],
        "lines": [
            {
                "model": list(evaluations).index(name),
                "rule": text(choice.rule or "a threshold that was given"),
                "threshold": json_number(choice.threshold),
                "cells": [_cell(choice, measure) for measure in (*OPERATING_POINT_MEASURES, *cost)],
            }
            for name, choice in every
        ],
        "limits": any(choice.level is not None for _, choice in every),
    }


def _cell(choice: OperatingPoint, measure: str) -> dict[str, Any] | None:
    if measure not in choice:
        return None
    return shown_estimate(choice[measure])


def without_prior(
    rankings: Mapping[str, Mapping[str, float]], evaluations: Mapping[str, Evaluation]
) -> dict[str, Any]:
    """Return the models, and a line for each measure that needs no prior."""
    order = _known(rankings, evaluations, "rankings")
    for name in order:
        unknown = [measure for measure in rankings[name] if measure not in RANKING_TITLES]
        if unknown:
            raise InputError(
                f"rankings of {name!r} have {unknown[0]!r}, which is no measure without a prior; "
                "give what ev.ranking() returns."
            )
    return {
        "models": [text(name) for name in order],
        "lines": [
            (title, [json_number(rankings[name][measure]) for name in order])
            for measure, title in RANKING_TITLES.items()
            if order and all(measure in rankings[name] for name in order)
        ],
    }


def _known(given: Mapping[str, Any], evaluations: Mapping[str, Evaluation], what: str) -> list[str]:
    """Return the models that something was given for, in the order of the page."""
    for name in given:
        if name not in evaluations:
            raise InputError(f"{what} are about {name!r}, which is none of the models.")
    return [name for name in evaluations if name in given]
