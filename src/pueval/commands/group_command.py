"""Groups on the command line: ``--by column``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pueval._typing import Array
from pueval.commands.audit_options import AuditOptions, read_rows_with_audit
from pueval.commands.evaluation_tables import model_warnings, print_clusters, print_verdict
from pueval.commands.options import RowOptions
from pueval.commands.shared_prior import evaluate_with_one_prior
from pueval.commands.terminal import print_line, print_notes, show_table
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.groups.evaluate_by import evaluate_by
from pueval.groups.group_evaluation import GroupEvaluation
from pueval.groups.group_text import group_table, table_notes
from pueval.sources.arrays import read_arrays
from pueval.sources.columns import Columns
from pueval.sources.files import read_rows
from pueval.sources.group_codes import OrderedGroups
from pueval.sources.labels import KIND_CODES
from pueval.text.warning_lists import worst_warnings

# Labels, scores, groups, weights and clusters of one model.
ModelRows = tuple[Array, Array, Array | OrderedGroups, Array | None, Array | None]
# Largest number of groups to print; the JSON file has all.
PRINTED_GROUPS = 50


def check_group_options(**given: Any) -> None:
    """Raise an error for an option that cannot be combined with ``--by``."""
    for name, value in given.items():
        if value:
            raise InputError(f"--{name} cannot be combined with --by. Leave one of them out.")


def read_groups(
    file: str,
    label: str,
    scores: list[str],
    by: str,
    options: RowOptions,
    cluster: str | None,
    audit: AuditOptions | None = None,
) -> tuple[dict[str, ModelRows], dict[str, Any]]:
    """Read the rows of each model, and the arguments of an audit."""
    names = list(dict.fromkeys(scores))
    columns = Columns(label, tuple(names), options.weight, (by,), cluster=cluster)
    audited: dict[str, Any] = {}
    if audit is None:
        rows = read_rows(file, columns, labels=options.labels)
    else:
        rows, audited = read_rows_with_audit(file, columns, audit, options.labels)
    assert rows.by is not None  # noqa: S101 - the columns include it
    models = {
        name: (rows.kind, score, rows.by, rows.sample_weight, rows.cluster)
        for name, score in zip(names, rows.scores, strict=True)
    }
    return models, audited


def evaluate_groups(
    models: dict[str, ModelRows],
    group_prior: Any,
    assumptions: dict[str, Any],
    options: dict[str, Any],
) -> dict[str, GroupEvaluation]:
    """Evaluate every group for each model. The model that separates best estimates the prior."""

    def evaluate_model(rows: ModelRows, assumptions: dict[str, Any]) -> GroupEvaluation:
        kind, score, by, weight, cluster = rows
        return evaluate_by(
            kind,
            score,
            by,
            sample_weight=weight,
            cluster=cluster,
            group_prior=group_prior,
            **KIND_CODES.arguments,
            **assumptions,
            **options,
        )

    if group_prior == "each" or "audited" in options:
        return {name: evaluate_model(rows, assumptions) for name, rows in models.items()}
    return evaluate_with_one_prior(
        models,
        assumptions,
        evaluate_model,
        count=count_rows,
        prior_estimate=lambda groups: groups.overall.prior_estimate,
    )


def count_rows(rows: ModelRows) -> Counts:
    """Return the counts of a model's rows, all groups together."""
    kind, score, _, weight, _ = rows
    return Counts(*read_arrays(kind, score, sample_weight=weight, labels=KIND_CODES))


def print_groups(evaluations: dict[str, GroupEvaluation], clusters: Sequence[str]) -> None:
    """Print the verdict on all rows, and every model's groups and warnings."""
    overall = {name: groups.overall for name, groups in evaluations.items()}
    print_verdict(overall)
    print_clusters(overall, clusters)
    for name, groups in evaluations.items():
        print_line(f"{name}: {groups.summary()}.")
        show_table(*group_table(groups, PRINTED_GROUPS))
        print_notes(table_notes(groups, PRINTED_GROUPS, "--json writes all of them."))
    print_notes(f"! {warning}" for warning in worst_warnings(model_warnings(evaluations)))
