"""Threshold rules on the command line: ``--at precision=0.9`` and the like."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pueval.commands.family_option import print_clipped_note
from pueval.commands.terminal import show_table
from pueval.errors import InputError, UnreachableError
from pueval.estimates.estimate import OperatingPoint
from pueval.estimates.measure_titles import operating_point_titles
from pueval.evaluation.evaluation import Evaluation
from pueval.text.titles import title_in_sentence

# The names are the arguments of `Evaluation.threshold_for`.
EXAMPLES = {
    "precision": "0.9",
    "recall": "0.8",
    "fpr": "0.01",
    "top": "500",
    "best": "f1",
    "cost": "1:20",
}


def parse_rule(text: str) -> dict[str, Any]:
    """Read ``name=value`` as an argument of `Evaluation.threshold_for`.

    Examples
    --------
    >>> parse_rule("cost=1:20")
    {'cost': (1.0, 20.0)}
    """
    name, _, value = text.partition("=")
    try:
        return {name: _goal_value(name, value)}
    except ValueError:
        pass
    close = difflib.get_close_matches(name, EXAMPLES, n=1)
    hint = ""
    if close and close[0] != name:
        hint = f" Did you mean '{close[0]}={value}'?"
    *others, last = (f"{name}={example}" for name, example in EXAMPLES.items())
    raise InputError(
        f"unrecognized --at value {text!r}.{hint} Use {', '.join(others)} or {last} "
        "(costs of a false positive and a false negative)."
    )


def _goal_value(name: str, value: str) -> str | float | tuple[float, ...]:
    """Read the value of a rule; raise a ValueError if it has no meaning."""
    if name == "best" and value:
        return value
    if name == "cost":
        costs = tuple(map(float, value.split(":")))
        if len(costs) == 2:
            return costs
    elif name in EXAMPLES:
        return float(value)
    raise ValueError(name)


@dataclass(frozen=True)
class ChosenThresholds:
    """The thresholds of all models by all rules.

    Attributes
    ----------
    points : dict of str to dict of str to OperatingPoint
        Operating points by model and rule.
    unreachable : dict of str to dict of str to str
        Why no threshold satisfies a rule, by model and rule.
    """

    points: dict[str, dict[str, OperatingPoint]]
    unreachable: dict[str, dict[str, str]]

    @property
    def warnings(self) -> list[str]:
        """Rules that no threshold satisfies."""
        return [
            f"{model}, {rule}: {reason}"
            for model, reasons in self.unreachable.items()
            for rule, reason in reasons.items()
        ]

    def to_dict(self, model: str) -> dict[str, Any]:
        """Return the thresholds of one model as plain data."""
        points = {rule: point.to_dict() for rule, point in self.points[model].items()}
        return points | {
            rule: {"unreachable": reason} for rule, reason in self.unreachable[model].items()
        }


def choose_thresholds(texts: Sequence[str], evaluations: dict[str, Evaluation]) -> ChosenThresholds:
    """Choose the thresholds of all models."""
    goals = {text: parse_rule(text) for text in texts}
    chosen = ChosenThresholds(
        {name: {} for name in evaluations}, {name: {} for name in evaluations}
    )
    for name, ev in evaluations.items():
        for rule, goal in goals.items():
            try:
                chosen.points[name][rule] = ev.threshold_for(**goal)
            except UnreachableError as error:
                chosen.unreachable[name][rule] = str(error)
    return chosen


def print_thresholds(points: dict[str, dict[str, OperatingPoint]]) -> None:
    """Print the chosen thresholds and the measures there."""
    header, rows = threshold_table(points)
    show_table(header, rows)
    print_clipped_note(rows)


def threshold_table(
    points: dict[str, dict[str, OperatingPoint]],
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table: a row for each model and rule."""
    titles = operating_point_titles(
        point for by_rule in points.values() for point in by_rule.values()
    )
    rows = [
        [
            f"{model}, {rule}",
            f"{point.threshold:.5g}",
            *(str(point[name]) if name in point else "" for name in titles),
        ]
        for model, by_rule in points.items()
        for rule, point in by_rule.items()
    ]
    return ["Chosen threshold", "threshold", *map(title_in_sentence, titles.values())], rows
