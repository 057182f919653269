"""Thresholds on the command line: ``--at precision=0.9`` and the like."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pueval.errors import InputError, UnreachableError
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.measure_titles import OPERATING_POINT_MEASURES, TITLES, title_in_sentence
from pueval.evaluation.operating_point import OperatingPoint

NUMBERS = ("precision", "recall", "fpr", "top")


@dataclass(frozen=True)
class Asked:
    """One ``--at``, understood."""

    text: str
    name: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Asked:
        """Take ``name=value`` apart; refuse what cannot be one."""
        name, _, value = text.partition("=")
        parts = value.split(":") if name == "cost" else [value]
        if name in {*NUMBERS, "cost"}:
            try:
                numbers = [float(part) for part in parts]
            except ValueError:
                numbers = []
            if len(numbers) == (2 if name == "cost" else 1):
                return cls(text, name, value)
        elif name == "best" and value:
            return cls(text, name, value)
        near = difflib.get_close_matches(name, [*NUMBERS, "best", "cost"], n=1)
        hint = f" Did you mean {near[0]}={value}?" if near and near[0] != name else ""
        raise InputError(
            f"--at {text!r} says nothing.{hint} Write precision=0.9, recall=0.8, fpr=0.01, "
            "top=500, best=f1 or cost=1:20 (false positive : false negative)."
        )

    def of(self, ev: Evaluation) -> OperatingPoint:
        """Choose the threshold of one model."""
        if self.name == "cost":
            false_positive, false_negative = map(float, self.value.split(":"))
            return ev.best_cost(false_positive=false_positive, false_negative=false_negative)
        if self.name == "best":
            return ev.threshold_for(best=self.value)
        asked: dict[str, Any] = {self.name: float(self.value)}
        return ev.threshold_for(**asked)


@dataclass(frozen=True)
class Chosen:
    """All thresholds that were asked for.

    Attributes
    ----------
    points : dict of str to dict of str to OperatingPoint
        By model and by what was asked.
    unreachable : dict of str to dict of str to str
        What cannot be reached, and why.
    """

    points: dict[str, dict[str, OperatingPoint]]
    unreachable: dict[str, dict[str, str]]

    @property
    def notes(self) -> list[str]:
        """Say what cannot be reached."""
        return [
            f"{model}, {text}: {why}"
            for model, all_ in self.unreachable.items()
            for text, why in all_.items()
        ]

    def to_dict(self, model: str) -> dict[str, Any]:
        """Return everything about one model as plain data."""
        points = {text: one.to_dict() for text, one in self.points[model].items()}
        lost = {text: {"unreachable": why} for text, why in self.unreachable[model].items()}
        return points | lost


def choose_all(texts: Sequence[str], evaluations: dict[str, Evaluation]) -> Chosen:
    """Choose all thresholds of all models, before anything is printed."""
    asked = [Asked.parse(text) for text in dict.fromkeys(texts)]
    chosen = Chosen({name: {} for name in evaluations}, {name: {} for name in evaluations})
    for name, ev in evaluations.items():
        for one in asked:
            try:
                chosen.points[name][one.text] = one.of(ev)
            except UnreachableError as error:
                chosen.unreachable[name][one.text] = str(error)
    return chosen


def choice_table(
    choices: dict[str, dict[str, OperatingPoint]],
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows: a row for each model and each ``--at``."""
    every = [(model, text, one) for model, all_ in choices.items() for text, one in all_.items()]
    cost = any("cost" in one.measures for _, _, one in every)
    header = [
        "Chosen threshold",
        "threshold",
        *(title_in_sentence(TITLES[name]) for name in OPERATING_POINT_MEASURES),
    ]
    header += ["cost per row"] if cost else []
    rows = []
    for model, text, one in every:
        cells = [str(one[name]) for name in OPERATING_POINT_MEASURES]
        if cost:
            cells.append(str(one["cost"]) if "cost" in one.measures else "")
        rows.append([f"{model}, {text}", f"{one.threshold:.5g}", *cells])
    return header, rows
