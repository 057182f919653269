"""Groups on the command line: ``--by column``."""

from __future__ import annotations

from typing import Any

from pueval._typing import Array
from pueval.commands.evaluation_tables import print_verdict
from pueval.commands.options import RowOptions
from pueval.commands.shared_prior import evaluate_with_one_prior
from pueval.commands.terminal import print_line, print_notes, show_table
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.findings import worst_warnings
from pueval.groups.evaluate_by import evaluate_by
from pueval.groups.group_evaluation import GroupEvaluation
from pueval.groups.group_text import group_table, table_notes
from pueval.sources.arrays import read_arrays
from pueval.sources.columns import Columns
from pueval.sources.files import read_rows
from pueval.sources.labels import KIND_CODES

# Labels, scores, groups and weights of one model.
ModelRows = tuple[Array, Array, Array, Array | None]
# Largest number of groups to print; the JSON file has all.
PRINTED_GROUPS = 50


def check_group_options(**given: Any) -> None:
    """Raise an error for an option that cannot be combined with ``--by``."""
    for name, value in given.items():
        if value:
            raise InputError(f"--{name} cannot be combined with --by. Leave one of them out.")


def read_groups(
    file: str, label: str, scores: list[str], by: str, options: RowOptions
) -> dict[str, ModelRows]:
    """Read labels, scores, groups and weights of each model."""
    names = list(dict.fromkeys(scores))
    columns = Columns(label, tuple(names), options.weight, (by,))
    rows = read_rows(file, columns, labels=options.labels)
    assert rows.by is not None  # noqa: S101 - the columns include it
    return {
        name: (rows.kind, score, rows.by, rows.sample_weight)
        for name, score in zip(names, rows.scores, strict=True)
    }


def evaluate_groups(
    models: dict[str, ModelRows],
    group_prior: Any,
    assumptions: dict[str, Any],
    options: dict[str, Any],
) -> dict[str, GroupEvaluation]:
    """Evaluate every group for each model. The model that separates best estimates the prior."""

    def evaluate_model(rows: ModelRows, assumptions: dict[str, Any]) -> GroupEvaluation:
        kind, score, by, weight = rows
        return evaluate_by(
            kind,
            score,
            by,
            sample_weight=weight,
            group_prior=group_prior,
            **KIND_CODES.arguments,
            **assumptions,
            **options,
        )

    if group_prior == "each":
        return {name: evaluate_model(rows, assumptions) for name, rows in models.items()}
    return evaluate_with_one_prior(
        models,
        assumptions,
        evaluate_model,
        count=_counts,
        prior_estimate=lambda groups: groups.overall.prior_estimate,
    )


def _counts(rows: ModelRows) -> Counts:
    kind, score, _, weight = rows
    return Counts(*read_arrays(kind, score, sample_weight=weight, labels=KIND_CODES))


def print_groups(evaluations: dict[str, GroupEvaluation]) -> None:
    """Print the verdict on all rows, and every model's groups and warnings."""
    print_verdict({name: groups.overall for name, groups in evaluations.items()})
    for name, groups in evaluations.items():
        print_line(f"{name}: {groups.summary()}.")
        show_table(*group_table(groups, PRINTED_GROUPS))
        print_notes(_notes(groups))


def _notes(groups: GroupEvaluation) -> list[str]:
    """Return the lines below the table."""
    lines = table_notes(groups, PRINTED_GROUPS, "--json writes all of them.")
    return lines + [f"! {warning}" for warning in worst_warnings(groups.warnings)]
