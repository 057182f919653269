"""Measures of families on the command line: ``--measures probability``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from cyclopts import Parameter

from pueval._typing import Target
from pueval.commands.evaluation_tables import show_below
from pueval.commands.options import OUTPUT
from pueval.commands.terminal import print_line, show_table
from pueval.counts.counts import Counts
from pueval.errors import InputError, UnknownMeasureError
from pueval.estimates.measure_titles import measure_title
from pueval.evaluation.evaluation import Evaluation
from pueval.families.field_measures import (
    FAMILIES,
    can_order_models,
    check_rows,
    family_members,
)
from pueval.groups.group_estimates import printable_name
from pueval.groups.group_evaluation import GroupEvaluation
from pueval.text.numbers import CLIPPED_MARK, CLIPPED_NOTE, format_estimate, format_number

# Both spellings are accepted, and lists with commas as well as repeated options.
MEASURE_OPTIONS = ("--measures", "--measure")
FamilyNames = Annotated[
    list[str] | None,
    Parameter(
        name=MEASURE_OPTIONS,
        group=OUTPUT,
        negative=(),
        help=f"Also print families of measures ({', '.join(FAMILIES)}), or single measures, such "
        "as f2, log_loss, precision_at_100, recall_at_5% or net_benefit_at_0.2. Separate several "
        "with commas.",
    ),
]
ComparedMeasures = Annotated[
    list[str] | None,
    Parameter(
        name=MEASURE_OPTIONS,
        group=OUTPUT,
        negative=(),
        help="Measures for the comparison of pairs, such as f1, best_f1, log_loss or "
        "precision_at_100, or families of measures, such as probability. Separate several with "
        "commas.",
    ),
]


def read_families(given: list[str] | None) -> tuple[str, ...]:
    """Return the measures that were asked for, each once."""
    try:
        return family_members(_names(given))
    except UnknownMeasureError as error:
        raise UnknownMeasureError(f"--measures: {error}") from None


def _names(given: list[str] | None) -> list[str]:
    names = [name.strip() for text in given or () for name in text.split(",")]
    if names and not any(names):
        raise InputError(f"--measures is empty. Name a family: {', '.join(FAMILIES)}.")
    return [name for name in names if name]


def check_families(models: Mapping[str, Counts], measures: tuple[str, ...], target: Target) -> None:
    """Refuse rows that the measures cannot use, before anything is computed."""
    for model, counts in models.items():
        for measure in measures:
            try:
                check_rows(counts, measure, target)
            except InputError as error:
                raise InputError(f"{model}: {error}") from None


def print_families(evaluations: Mapping[str, Evaluation], measures: tuple[str, ...]) -> None:
    """Print measures of families, naive and corrected, of every model."""
    if not measures:
        return
    header, rows = [""], [[measure_title(measure)] for measure in measures]
    for name, ev in evaluations.items():
        header += [f"{name}\nnaive", f"{name}\ncorrected"]
        for row, estimate in zip(rows, ev.family(*measures).values(), strict=True):
            row += [format_number(estimate.naive), str(estimate)]
    show_below(header, rows)
    print_clipped_note(rows)


def print_group_families(
    groups: Mapping[str, GroupEvaluation], measures: tuple[str, ...], most: int
) -> None:
    """Print measures of families of all rows and of up to ``most`` groups, by model."""
    for name, of_model in groups.items() if measures else ():
        print_line(f"{name}:")
        header = ["", *(measure_title(measure) for measure in measures)]
        columns = [of_model[measure] for measure in measures]
        rows = [["all rows", *(str(of_model.overall[measure]) for measure in measures)]]
        for k, group in enumerate(of_model.names[:most]):
            cells = (
                format_estimate(each.value[k], each.low[k], each.high[k], clipped=each.clipped[k])
                for each in columns
            )
            rows.append([printable_name(group), *cells])
        show_table(header, rows)
        print_clipped_note(rows)


def print_clipped_note(rows: Iterable[Sequence[str]]) -> None:
    """Explain the mark of clipped values, if a table has it; its first column are names."""
    if any(CLIPPED_MARK in cell for row in rows for cell in row[1:]):
        print_line(CLIPPED_NOTE)


def compared_measures(given: list[str] | None) -> tuple[str, ...]:
    """Replace families by their measures that can compare models."""
    measures: dict[str, None] = {}
    for name in _names(given):
        members = [each for each in FAMILIES.get(name, (name,)) if can_order_models(each)]
        measures |= dict.fromkeys(members or [name])
    return tuple(measures)
