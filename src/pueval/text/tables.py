"""Tables as text for terminals and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Rows = Sequence[Sequence[str]]


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
