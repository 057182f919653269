"""What the command line shows in a terminal: tables that fit its width, small ROC curves."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from pueval.commands.suggestions import as_options
from pueval.commands.text_curves import draw_curves
from pueval.text.numbers import format_number
from pueval.text.tables import text_table

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation

WIDTH, HEIGHT = 34, 12
# Fewer characters than this are no column of titles.
NARROWEST = 12
STYLES = ("yellow", "bold cyan")


# What was typed, for pages to show.
typed: ContextVar[Sequence[str]] = ContextVar("typed", default=())


def say(text: str) -> None:
    """Print a line."""
    Console(soft_wrap=not sys.stdout.isatty(), highlight=False).print(escape(text))


def warn(lines: Iterable[str]) -> None:
    """Say what looks wrong where nothing else is printed."""
    for line in lines:
        print(f"pueval: warning: {as_options(line)}", file=sys.stderr)  # noqa: T201


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal; aligned text elsewhere."""
    if not sys.stdout.isatty():
        flat = [cell.replace("\n", " ") for cell in header]
        print(text_table(flat, rows))  # noqa: T201
        return
    print_table(header, rows)


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], console: Console | None = None
) -> None:
    """Print a table; in parts below each other, if it is too wide for the terminal.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns. Neighbors with the same first line stay together.
    rows : sequence of sequence of str
        Cells as text. They are broken between words, and never cut.
    console : rich Console, optional
        Where to print; by default the standard output.
    """
    console = console or Console()
    parts: list[list[int]] = []
    for k, title in enumerate(header[1:], start=1):
        if k > 1 and "\n" in title and title.split("\n")[0] == header[k - 1].split("\n")[0]:
            parts[-1].append(k)
        else:
            parts.append([k])
    while parts:
        together = parts.pop(0)
        while parts and _beyond(console, _table(header, rows, [0, *together, *parts[0]])) <= 0:
            together += parts.pop(0)
        table = _table(header, rows, [0, *together])
        beyond = _beyond(console, table)
        if beyond > 0:
            # In a narrow terminal titles are broken before numbers are.
            first = table.columns[0]
            first.width = first.min_width = max((first.min_width or 0) - beyond, NARROWEST)
            first.no_wrap = False
        console.print(table)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], columns: list[int]) -> Table:
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for k in columns:
        cells = [row[k] for row in rows]
        # Titles stay whole, and so do numbers; a value and its limits may stand in two lines.
        uncut = [word for cell in cells for word in cell.split()] if k else cells
        table.add_column(
            escape(header[k]),
            justify="right" if k else "left",
            style="bold" if header[k].endswith("corrected") else None,
            no_wrap=k == 0,
            min_width=max(map(len, uncut), default=0),
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(escape(row[k]) for k in columns))
    return table


def _beyond(console: Console, table: Table) -> int:
    """Return by how many characters a table is too wide, if its numbers are not to be cut."""
    unlimited = console.options.update(width=100_000)
    # Rich leaves out the edges and the spaces between columns.
    between = len(table.columns) + 1
    return console.measure(table, options=unlimited).minimum + between - console.width


def print_roc_curves(evaluations: Mapping[str, Evaluation], console: Console | None = None) -> None:
    """Print a small ROC curve of each model, naive dotted and corrected solid.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        By name of the model.
    console : rich Console, optional
        Where to print; by default the standard output.
    """
    console = console or Console()
    pictures = [
        roc_picture(name, ev, braille=_can_print(console)) for name, ev in evaluations.items()
    ]
    console.print(Columns(pictures, padding=(1, 4)))


def _can_print(console: Console) -> bool:
    try:
        "⠿┤".encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def roc_picture(name: str, ev: Evaluation, *, braille: bool = True) -> Text:
    """Draw naive and corrected ROC curve as text.

    Parameters
    ----------
    name : str
        Of the model; shown as it is, but short.
    ev : Evaluation
        Its evaluation.
    braille : bool, default True
        Whether braille and box characters can be printed.

    Returns
    -------
    rich.text.Text
    """
    curves = [(curve.fpr, curve.tpr) for curve in (ev.roc(naive=True), ev.roc())]
    rows = draw_curves(curves, width=WIDTH, height=HEIGHT, braille=braille)
    side, corner, floor = ("│", "└", "─") if braille else ("|", "+", "-")
    shown = "".join(ch if ch.isprintable() else "?" for ch in name)
    area = ev["roc_auc"]
    text = Text(no_wrap=True)
    text.append(f"{_cut('ROC curve of ' + shown, WIDTH + 4)}\n", style="bold")
    for k, row in enumerate(rows):
        text.append({0: "1 ", HEIGHT - 1: "0 "}.get(k, "  ") + side)
        for cell in row:
            text.append(cell.character, style=STYLES[cell.curve] if cell.curve >= 0 else "")
        text.append("\n")
    text.append(f"  {corner}{floor * WIDTH}\n")
    text.append(f"   0{'false positive rate':^{WIDTH - 2}}1\n")
    dots, line = ("⠂⠂⠂", "⠒⠒⠒") if braille else ("...", "***")
    text.append(dots, style=STYLES[0])
    text.append(f" naive {format_number(area.naive)}  ")
    text.append(line, style=STYLES[1])
    text.append(f" corrected {format_number(area.value)}")
    if not np.isnan(area.low):
        text.append(
            "\n" + f"({format_number(area.low)}–{format_number(area.high)})".rjust(WIDTH + 3)
        )
    return text


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
