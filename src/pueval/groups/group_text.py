"""A GroupEvaluation as text, as HTML for notebooks, and as plain data for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._checks import shorten
from pueval.estimates.measure_titles import TITLES
from pueval.groups.group_estimates import json_name, printable_name
from pueval.report import GroupTable
from pueval.text.numbers import (
    CLIPPED_NOTE,
    format_count,
    format_estimate,
    format_level,
    format_number,
)
from pueval.text.results import plain_dict
from pueval.text.tables import html_summary, text_table
from pueval.text.titles import title_in_sentence
from pueval.text.warning_lists import worst_warnings

if TYPE_CHECKING:
    from pueval.groups.group_evaluation import GroupEvaluation

# Measures in the table; the data frame has all.
SHOWN_MEASURES = ("roc_auc", "average_precision", "precision", "recall", "f1")
# Groups in the table.
SHOWN_GROUPS = 20
# Groups in the table of a report.
REPORTED_GROUPS = 500
# Longest note in the table.
LONGEST_NOTE = 60


def group_table(
    groups: GroupEvaluation, most: int = SHOWN_GROUPS
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table: all rows, the macro average, then the groups.

    There is no macro average if clusters have rows in several groups.
    """
    overall, with_negative = groups.overall, bool(np.any(groups.n_negative))
    audited = groups.n_audited
    header = ["", "labeled", "unlabeled", *(["negative"] if with_negative else [])]
    header += [*(["audited"] if audited is not None else []), "prior"]
    header += [TITLES[measure] for measure in SHOWN_MEASURES]
    estimates = [groups[measure] for measure in SHOWN_MEASURES]

    def cells(name: str, sizes: tuple[float, ...], n_audited: int, prior: float) -> list[str]:
        shown_sizes = sizes if with_negative else sizes[:2]
        shown_sizes += () if audited is None else (n_audited,)
        return [name, *map(format_count, shown_sizes), format_number(prior)]

    counts = overall.counts
    sizes = (counts.n_labeled, counts.n_unlabeled, counts.n_negative)
    n_audited = 0 if audited is None else int(audited.sum())
    all_rows = cells("all rows", sizes, n_audited, overall.mixture.prior)
    macro = ["macro average", *[""] * (len(all_rows) - 1)]
    all_rows += [str(overall[measure]) for measure in SHOWN_MEASURES]
    rows = [all_rows]
    if not groups._clusters_span_groups:
        for estimate in estimates:
            mean = groups.macro(estimate.measure)
            clipped = bool(estimate.clipped.any())
            macro.append(format_estimate(mean.value, mean.low, mean.high, clipped=clipped))
        rows.append(macro)
    above = len(rows)
    for k, name in enumerate(groups.names[:most]):
        sizes = (groups.n_labeled[k], groups.n_unlabeled[k], groups.n_negative[k])
        n_audited = 0 if audited is None else int(audited[k])
        row = cells(printable_name(name), sizes, n_audited, groups.prior[k])
        row += [estimate._text(k) for estimate in estimates]
        rows.append(row)
    if any(groups.notes[:most]):
        header.append("note")
        for row, note in zip(rows, [*[""] * above, *groups.notes[:most]], strict=True):
            row.append(shorten(note, LONGEST_NOTE))
    return header, rows


def clipped_notes(groups: GroupEvaluation) -> list[str]:
    """Explain the mark of clipped values, if there are any."""
    clipped = any(groups[measure].clipped.any() for measure in SHOWN_MEASURES)
    return [CLIPPED_NOTE] if clipped or {*SHOWN_MEASURES} & {*groups.overall.clipped} else []


def macro_notes(groups: GroupEvaluation) -> list[str]:
    """Say of which measures the macro average is not the mean of the groups' values, and why.

    Shrunken values have a note of their own.
    """
    if groups._clusters_span_groups or groups.shrink:
        return []
    corrected = [name for name in SHOWN_MEASURES if _is_corrected(groups, name)]
    if not corrected:
        return []
    titles = ", ".join(title_in_sentence(TITLES[name]) for name in corrected)
    note = (
        f"The macro average of {titles} is not the mean of the groups' values: it averages them "
        "before clipping, less their bias in small groups and from clusters."
    )
    return [note]


def _is_corrected(groups: GroupEvaluation, measure: str) -> bool:
    """Whether the macro average differs from the mean of the values, as far as both are shown."""
    value, macro = groups[measure].value, groups.macro(measure).value
    defined = value[np.isfinite(value)]
    if not defined.size:
        return False
    mean = float(defined.mean())
    return not math.isclose(mean, macro) and format_number(mean) != format_number(macro)


def table_notes(groups: GroupEvaluation, most: int, rest: str) -> list[str]:
    """Explain the table of up to ``most`` groups; ``rest`` says where all of them are."""
    lines = [*clipped_notes(groups), *macro_notes(groups)]
    if len(groups.names) > most:
        lines.append(f"… and {len(groups.names) - most:,} more groups. {rest}")
    if groups.level is not None:
        lines.append(f"In brackets: {format_level(groups.level)} confidence intervals.")
    if groups.shrink:
        lines.append("Groups are shrunken toward their mean; their intervals hold on average only.")
    return lines


def report_table(groups: GroupEvaluation) -> GroupTable:
    """Return the table for a report."""
    notes = table_notes(groups, REPORTED_GROUPS, "--json and .frame() have all of them.")
    return GroupTable(*group_table(groups, REPORTED_GROUPS), notes)


def summary(groups: GroupEvaluation) -> str:
    """Return one line about data and assumptions."""
    n_groups = len(groups.names)
    n_without = n_groups - int(groups.evaluated.sum())
    text = "1 group" if n_groups == 1 else f"{n_groups:,} groups"
    if n_without:
        own = " of their own" if groups.shrink else ""
        text += f", {n_without:,} of them without estimates{own} (see notes)"
    if groups.shrink:
        text += ", shrunken toward their mean"
    return f"{text}; {groups.overall.summary()}"


def _notes(groups: GroupEvaluation) -> list[str]:
    n_more = len(groups.names) - SHOWN_GROUPS
    more = [f"… and {n_more:,} more groups; .frame() returns all"] if n_more > 0 else []
    return [*more, *clipped_notes(groups), *macro_notes(groups)]


def as_text(groups: GroupEvaluation) -> str:
    """Return summary, table and warnings."""
    lines = [f"Evaluation of {summary(groups)}", text_table(*group_table(groups))]
    lines += [*_notes(groups), *(f"! {warning}" for warning in worst_warnings(groups.warnings))]
    return "\n".join(lines)


def as_html(groups: GroupEvaluation) -> str:
    """Return summary, table and warnings for a notebook."""
    lines = [*_notes(groups), *(f"⚠ {warning}" for warning in worst_warnings(groups.warnings))]
    return html_summary(f"Evaluation of {summary(groups)}", [group_table(groups)], lines)


def as_data(groups: GroupEvaluation) -> dict[str, Any]:
    """Return everything as plain numbers, lists and text; numbers that JSON lacks are None."""

    def without(result: dict[str, Any], *names: str) -> dict[str, Any]:
        return {name: value for name, value in result.items() if name not in names}

    shrinkage = {}
    if groups.shrink:
        shown = ("measure", "groups", "value", "low", "high", "standard_error")
        details = {name: without(vars(groups.shrinkage(name)), *shown) for name in groups}
        shrinkage = {"shrinkage": details}
    return plain_dict(
        {
            "groups": [json_name(name) for name in groups.names],
            "labeled": groups.n_labeled,
            "unlabeled": groups.n_unlabeled,
            "negative": groups.n_negative,
            **({} if groups.n_audited is None else {"audited": groups.n_audited}),
            "prior": groups.prior,
            "notes": groups.notes,
            "level": groups.level,
            "shrink": groups.shrink,
            "warnings": groups.warnings,
            "measures": {
                name: without(vars(estimate), "measure", "groups")
                for name, estimate in groups.items()
            },
            "macro": None
            if groups._clusters_span_groups
            else {name: without(vars(groups.macro(name)), "measure") for name in groups},
            **shrinkage,
            "overall": groups.overall.to_dict(),
        }
    )
