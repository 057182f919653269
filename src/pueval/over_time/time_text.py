"""A TimeEvaluation as text, as HTML for notebooks, and as plain data for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._checks import shorten
from pueval.estimates.measure_titles import TITLES
from pueval.over_time.window_results import time_measure_title
from pueval.text.numbers import CLIPPED_NOTE, format_count, format_level
from pueval.text.results import plain_dict
from pueval.text.tables import html_summary, text_table
from pueval.text.warning_lists import worst_warnings

if TYPE_CHECKING:
    from pueval.over_time.time_evaluation import TimeEvaluation

# Measures in the table; the data frame has all.
SHOWN_MEASURES = ("roc_auc", "average_precision", "precision", "recall", "f1")
# Windows in the table: the latest ones.
SHOWN_WINDOWS = 24
# Longest note in the table.
LONGEST_NOTE = 90


def time_table(
    times: TimeEvaluation, most: int = SHOWN_WINDOWS
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table: all rows, then the latest windows."""
    overall, with_negative = times.overall, bool(np.any(times.n_negative))
    header = ["", "labeled", "unlabeled", *(["negative"] if with_negative else []), "prevalence"]
    header += [TITLES[measure] for measure in SHOWN_MEASURES]
    counts = overall.counts
    sizes = [counts.n_labeled, counts.n_unlabeled, counts.n_negative][: 2 + with_negative]
    rows = [["all rows", *map(format_count, sizes), f"{overall.prevalence:.3f}"]]
    rows[0] += [str(overall[measure]) for measure in SHOWN_MEASURES]
    estimates = [times[measure] for measure in ("prevalence", *SHOWN_MEASURES)]
    first = max(len(times.names) - most, 0)
    for k in range(first, len(times.names)):
        sizes = [times.n_labeled[k], times.n_unlabeled[k], times.n_negative[k]][: 2 + with_negative]
        row = [str(times.names[k]), *map(format_count, sizes)]
        row += [estimate._text(k) for estimate in estimates]
        rows.append(row)
    if any(times.notes[first:]):
        header.append("note")
        for row, note in zip(rows, ["", *times.notes[first:]], strict=True):
            row.append(shorten(note, LONGEST_NOTE))
    return header, rows


def table_notes(times: TimeEvaluation, most: int, rest: str) -> list[str]:
    """Explain the table of up to ``most`` windows; ``rest`` says where all of them are."""
    lines = []
    clipped = any(times[measure].clipped.any() for measure in SHOWN_MEASURES)
    if clipped or {*SHOWN_MEASURES} & {*times.overall.clipped}:
        lines.append(CLIPPED_NOTE)
    if len(times.names) > most:
        lines.append(f"… and {len(times.names) - most:,} earlier windows. {rest}")
    if times.level is not None:
        lines.append(f"In brackets: {format_level(times.level)} confidence intervals.")
    return lines + alarm_lines(times)


def alarm_lines(times: TimeEvaluation) -> list[str]:
    """Say what changed, or that nothing did."""
    if times.level is None:
        return []
    if times.alarms:
        return [f"! {alarm!r}." for alarm in times.alarms]
    titles = ", ".join(map(time_measure_title, times.watch))
    n_looks = max(len(times.sequence(measure).windows) for measure in times.watch)
    if not n_looks and times._n_reference >= times._periods.n_complete:
        complete = (
            " with all labels" if times._periods.n_complete < len(times._periods.counts) else ""
        )
        return [f"No look at {titles} yet: the reference includes all periods{complete}."]
    if not n_looks:
        has_reference = any(times.sequence(name).reference is not None for name in times.watch)
        where = "after the reference" if has_reference else "for a reference"
        return [f"No look at {titles} yet: there are too few rows {where}."]
    looks = "1 look" if n_looks == 1 else f"{n_looks:,} looks"
    rate = format_level(times.false_alarm_rate)
    return [f"No alarm for {titles} in {looks} (false alarms over all looks: at most {rate})."]


def summary(times: TimeEvaluation) -> str:
    """Return one line about data and assumptions."""
    n_windows = len(times.names)
    text = "1 window" if n_windows == 1 else f"{n_windows:,} windows"
    if n_without := n_windows - int(times.evaluated.sum()):
        text += f", {n_without:,} of them without estimates (see notes)"
    return f"{text}; {times.overall.summary()}"


def as_text(times: TimeEvaluation) -> str:
    """Return summary, table, alarms and warnings."""
    lines = [f"Evaluation of {summary(times)}", text_table(*time_table(times))]
    lines += table_notes(times, SHOWN_WINDOWS, ".frame() returns all.")
    return "\n".join([*lines, *(f"! {warning}" for warning in worst_warnings(times.warnings))])


def as_html(times: TimeEvaluation) -> str:
    """Return summary, table, alarms and warnings for a notebook."""
    lines = table_notes(times, SHOWN_WINDOWS, ".frame() returns all.")
    lines += [f"⚠ {warning}" for warning in worst_warnings(times.warnings)]
    return html_summary(f"Evaluation of {summary(times)}", [time_table(times)], lines)


def as_data(times: TimeEvaluation) -> dict[str, Any]:
    """Return everything as plain numbers, lists and text; numbers that JSON lacks are None."""

    def without(result: Any, *names: str) -> dict[str, Any]:
        return {name: value for name, value in vars(result).items() if name not in names}

    def moments(values: Any) -> list[Any]:
        return values.tolist() if values.dtype.kind == "f" else [str(value) for value in values]

    watched = () if times.level is None else times.watch
    return plain_dict(
        {
            "windows": times.names,
            "start": moments(times.start),
            "end": moments(times.end),
            "labeled": times.n_labeled,
            "unlabeled": times.n_unlabeled,
            "negative": times.n_negative,
            "notes": times.notes,
            "level": times.level,
            "watch": watched,
            "false_alarm_rate": times.false_alarm_rate,
            "alarms": times.alarms,
            "sequences": {name: without(times.sequence(name), "measure") for name in watched},
            "warnings": times.warnings,
            "measures": {
                name: without(estimates, "measure", "windows") for name, estimates in times.items()
            },
            "overall": times.overall.to_dict(),
        }
    )
