"""A GroupEvaluation as text, as HTML for notebooks, and as plain data for JSON."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.evaluation.measure_titles import TITLES
from pueval.groups.unclipped_estimates import GROUP_MEASURES
from pueval.text.numbers import CLIPPED_NOTE, format_count, format_estimate, format_number
from pueval.text.results import plain_data
from pueval.text.tables import html_table, text_table

if TYPE_CHECKING:
    from pueval.groups.group_evaluation import GroupEvaluation

# Measures in the table; all others are in the data frame.
SHOWN = ("roc_auc", "average_precision", "precision", "recall", "f1")
# Groups in the table; and the longest name or note.
MOST = 20
LONGEST = 40


def shown(name: Any) -> str:
    """Return a name for people: one line, no control characters, not too long."""
    text = str(name)
    if not text.isprintable():
        text = text.encode("unicode_escape").decode("ascii")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def table(groups: GroupEvaluation, most: int = MOST) -> tuple[list[str], list[list[str]]]:
    """Return header and rows: all rows, the macro average, then the groups."""
    overall, negative = groups.overall, bool(np.any(groups.n_negative))
    header = ["", "labeled", "unlabeled", *(["negative"] if negative else []), "prior"]
    header += [TITLES[name] for name in SHOWN]
    noted = any(groups.notes[:most])
    if noted:
        header.append("note")
    counts = overall.counts
    known = [format_count(counts.n_negative)] if negative else []
    first = ["all rows", format_count(counts.n_labeled), format_count(counts.n_unlabeled), *known]
    first += [format_number(overall.mixture.prior), *(str(overall[name]) for name in SHOWN)]
    second = ["macro average", "", "", *([""] if negative else []), ""]
    estimates = [groups[name] for name in SHOWN]
    macros = [groups.macro(name) for name in SHOWN]
    second += [
        format_estimate(one.value, one.low, one.high, clipped=bool(each.clipped.any()))
        for one, each in zip(macros, estimates, strict=True)
    ]
    rows = [first, second]
    for k, name in enumerate(groups.names[:most]):
        known = [format_count(groups.n_negative[k])] if negative else []
        row = [
            shown(name),
            format_count(groups.n_labeled[k]),
            format_count(groups.n_unlabeled[k]),
            *known,
        ]
        row.append(format_number(groups.prior[k]))
        row += [
            format_estimate(one.value[k], one.low[k], one.high[k], clipped=one.clipped[k])
            for one in estimates
        ]
        rows.append(row)
    if noted:
        for row, note in zip(rows, ["", "", *groups.notes[:most]], strict=True):
            row.append(note if len(note) <= 2 * LONGEST else note[: 2 * LONGEST - 1] + "…")
    return header, rows


def marks(groups: GroupEvaluation) -> list[str]:
    """Say what the mark in the table means, if there is one."""
    clipped = any(groups[name].clipped.any() for name in SHOWN)
    return [CLIPPED_NOTE] if clipped or set(SHOWN) & {*groups.overall.clipped} else []


def summary(groups: GroupEvaluation) -> str:
    """Say in one line what was evaluated and assumed."""
    number_of = len(groups.names)
    without = number_of - int(groups.evaluated.sum())
    text = "1 group" if number_of == 1 else f"{number_of:,} groups"
    if without:
        text += f", {without:,} of them without estimates (see notes)"
    return f"{text}; {groups.overall.summary()}"


def _more(groups: GroupEvaluation) -> str:
    left = len(groups.names) - MOST
    return f"… and {left:,} more groups: see frame()" if left > 0 else ""


def as_text(groups: GroupEvaluation) -> str:
    """Return summary, table and warnings."""
    lines = [f"Evaluation of {summary(groups)}", text_table(*table(groups))]
    lines += [_more(groups)] if _more(groups) else []
    lines += marks(groups)
    lines += [f"! {warning}" for warning in groups.warnings]
    return "\n".join(lines)


def as_html(groups: GroupEvaluation) -> str:
    """Return summary, table and warnings for a notebook."""
    said = [*marks(groups), *(f"⚠ {warning}" for warning in groups.warnings)]
    notes = "".join(f"<p>{escape(one)}</p>" for one in said)
    more = f"<p>{escape(_more(groups))}</p>" if _more(groups) else ""
    body = html_table(*table(groups))
    return f"<div><p>Evaluation of {escape(summary(groups))}</p>{body}{more}{notes}</div>"


def as_data(groups: GroupEvaluation) -> dict[str, Any]:
    """Return everything as plain numbers, lists and text; numbers that JSON lacks are None."""
    columns = ("value", "low", "high", "naive", "standard_error", "unclipped")
    content: dict[str, Any] = plain_data(
        {
            "groups": [_plain_name(name) for name in groups.names],
            "labeled": groups.n_labeled,
            "unlabeled": groups.n_unlabeled,
            "negative": groups.n_negative,
            "prior": groups.prior,
            "notes": list(groups.notes),
            "level": groups.level,
            "warnings": list(groups.warnings),
            "measures": {
                name: {column: getattr(groups[name], column) for column in columns}
                for name in GROUP_MEASURES
            },
            "macro": {
                name: {k: v for k, v in vars(groups.macro(name)).items() if k != "measure"}
                for name in GROUP_MEASURES
            },
            "overall": groups.overall.to_dict(),
        }
    )
    return content


def _plain_name(name: Any) -> Any:
    return name if isinstance(name, str | bool | int | float) else str(name)
