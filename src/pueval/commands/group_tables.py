"""Groups on the command line: ``--by column``."""

from __future__ import annotations

from typing import Any

from pueval._typing import Array
from pueval.commands.suggestions import as_options
from pueval.commands.terminal import say, show_table
from pueval.core.curves import model_with_highest_naive_auc
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.groups.evaluate_by import evaluate_by
from pueval.groups.group_evaluation import GroupEvaluation
from pueval.groups.group_text import MOST, marks, table
from pueval.sources.arrays import read_arrays
from pueval.sources.columns import Columns as Wanted
from pueval.sources.files import read_rows
from pueval.sources.labels import KIND_CODES, LabelValues
from pueval.text.numbers import format_level

# Labels, scores, groups and weights.
Columns = tuple[Array, Array, Array, Array | None]
# Groups to print; all are in the JSON file.
PRINTED = 50


def refuse_with_groups(**given: Any) -> None:
    """Refuse options that are about one evaluation."""
    for name, value in given.items():
        if value:
            raise InputError(f"--{name} does not go with --by: leave out one of them.")


def read_groups(
    file: str,
    label: str,
    scores: list[str],
    weight: str | None,
    labels: LabelValues,
    by: str,
) -> dict[str, Columns]:
    """Read labels, scores, groups and weights for each model."""
    names = list(dict.fromkeys(scores))
    rows = read_rows(file, Wanted(label, tuple(names), weight, (by,)), labels=labels)
    assert rows.by is not None  # noqa: S101 - it was asked for
    return {
        name: (rows.kind, score, rows.by, rows.sample_weight)
        for name, score in zip(names, rows.scores, strict=True)
    }


def evaluate_groups(
    models: dict[str, Columns], group_prior: Any, assumed: dict[str, Any], how: dict[str, Any]
) -> dict[str, GroupEvaluation]:
    """Evaluate every group for each model; a bar shows progress in a terminal.

    If the prior of all rows is estimated, by the model that separates best.
    """
    how = {name: value for name, value in how.items() if name != "variance"}

    def one(columns: Columns, assumed: dict[str, Any]) -> GroupEvaluation:
        kind, score, by, weight = columns
        positive, unlabeled, negative = KIND_CODES.values
        return evaluate_by(
            kind,
            score,
            by,
            sample_weight=weight,
            group_prior=group_prior,
            pos_label=positive,
            unlabeled_label=unlabeled,
            negative_label=negative,
            **assumed,
            **how,
        )

    given = any(assumed[name] is not None for name in ("prior", "prevalence", "label_frequency"))
    if given or len(models) == 1 or group_prior == "each":
        return {name: one(columns, assumed) for name, columns in models.items()}
    best = model_with_highest_naive_auc({name: _count(each) for name, each in models.items()})
    first = one(models[best], assumed)
    # With its limits, which an estimate has and a number has not.
    known = assumed | {"prior": first.overall.prior_estimate}
    return {
        name: first if name == best else one(columns, known) for name, columns in models.items()
    }


def _count(columns: Columns) -> Counts:
    kind, score, _, weight = columns
    return Counts(*read_arrays(kind, score, sample_weight=weight, labels=KIND_CODES))


def print_groups(groups: dict[str, GroupEvaluation]) -> None:
    """Print every model's groups, and what looks wrong."""
    for name, one in groups.items():
        say(f"{name}: {one.summary()}.")
        show_table(*_table(one))
        for line in _notes(one):
            say(line)


def _table(groups: GroupEvaluation) -> tuple[list[str], list[list[str]]]:
    """Return header and rows."""
    return table(groups, max(PRINTED, MOST))


def _notes(groups: GroupEvaluation) -> list[str]:
    """Return what is to be said below the table."""
    lines = marks(groups)
    if len(groups.names) > PRINTED:
        lines.append(
            f"… and {len(groups.names) - PRINTED:,} more groups; --json writes all of them."
        )
    if groups.level is not None:
        lines.append(
            f"In brackets: {format_level(groups.level)} limits for other rows of the same groups."
        )
    return lines + [f"! {as_options(warning)}" for warning in groups.warnings]
