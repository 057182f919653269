"""Results as text and as plain data: columns for terminals, HTML for notebooks, JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

Rows = Sequence[Sequence[str]]

# Three decimals say little of numbers below this one, and nothing below that is but rounding.
SMALL, ROUNDING = 0.01, 1e-9
# Of values that were outside their range.
MARK = "†"
MARKED = f"{MARK} outside its range and clipped: by chance, or the assumptions do not fit."
# Larger numbers are shown with an exponent.
HUGE = 1e9


def number(value: float, digits: int = 3) -> str:
    """Show a measure: fixed decimals, two digits of small ones, a dash where it is undefined."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if ROUNDING < abs(value) < SMALL:
        return few_digits(value)
    if abs(value) < 1000:
        return f"{value:.{digits}f}"
    return f"{float(f'{value:.4g}'):,.0f}" if abs(value) < HUGE else f"{value:.4g}"


def few_digits(value: float) -> str:
    """Show a small number with two digits, without an exponent."""
    return np.format_float_positional(float(f"{value:.2g}"), trim="-")


def left_range(unclipped: Any, clipped: Any) -> Any:
    """Whether clipping changed a value, or each of many, by more than rounding."""
    return abs(unclipped - clipped) > ROUNDING


def marked(value: float, *, clipped: bool) -> str:
    """Show a measure, with a mark if it was outside its range."""
    return number(value) + (MARK if clipped else "")


def span(low: float, high: float, *, clipped: bool = False) -> str:
    """Show an interval; a dash if its ends, of a value that was clipped, were clipped to one."""
    if math.isnan(low) or (clipped and low == high):
        return "–"
    return f"{number(low)} to {number(high)}"


def bracketed(value: float, low: float, high: float, *, clipped: bool = False) -> str:
    """Show a value with its limits, if it has any; with a mark if it was outside its range.

    Examples
    --------
    >>> bracketed(0.91234, 0.9, 0.92), bracketed(0.91234, math.nan, math.nan)
    ('0.912 (0.900–0.920)', '0.912')
    >>> bracketed(1, 0.97, 1, clipped=True), bracketed(1, 1, 1, clipped=True)
    ('1.000† (0.970–1.000)', '1.000†')
    """
    limits = span(low, high, clipped=clipped)
    shown = marked(value, clipped=clipped)
    return shown if limits == "–" else f"{shown} ({limits.replace(' to ', '–')})"


def amount(value: float) -> str:
    """Show a number of rows."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"


def text_table(header: Sequence[str], rows: Rows) -> str:
    """Align columns: the first to the left, all others to the right."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    return "\n".join([line(header), *map(line, rows)])


def html_table(header: Sequence[str], rows: Rows) -> str:
    """Make an HTML table; every cell is escaped."""

    def line(tag: str, row: Sequence[str]) -> str:
        cells = []
        for k, cell in enumerate(row):
            align = "left" if k == 0 else "right"
            style = f"text-align:{align};white-space:nowrap;padding:2px 8px"
            cells.append(f'<{tag} style="{style}">{escape(cell)}</{tag}>')
        return "<tr>" + "".join(cells) + "</tr>"

    head = line("th", header)
    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def plain_data(value: Any) -> Any:
    """Turn arrays into lists and numbers that JSON lacks into None."""
    if isinstance(value, dict):
        return {key: plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain_data(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
