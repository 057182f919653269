"""Tables as text for terminals and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

Rows = Sequence[Sequence[str]]


def text_table(
    header: Sequence[str], rows: Rows, *, most: int | None = None, hint: str = ""
) -> str:
    """Align columns: the first to the left, all others to the right.

    With ``most``, further rows are left out; a line says how many, followed by the ``hint``.
    """
    n_more = 0 if most is None else max(len(rows) - most, 0)
    rows = rows[:most]
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    more = [f"… and {n_more:,} more{hint}"] if n_more else []
    return "\n".join([line(header), *map(line, rows), *more])


def html_summary(
    summary: str, tables: Iterable[tuple[list[str], Rows]], notes: Iterable[str]
) -> str:
    """Make HTML for a notebook: a summary, tables, and notes below them."""
    body = [html_table(*table) for table in tables]
    body += [f"<p>{escape(note)}</p>" for note in notes]
    return f"<div><p>{escape(summary)}</p>{''.join(body)}</div>"


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
