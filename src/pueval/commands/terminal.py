"""Terminal output: lines, warnings, tables that fit the width, and small ROC curves."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from pueval._checks import shorten
from pueval._writing import is_device
from pueval.commands.option_names import name_options
from pueval.commands.text_curves import draw_curves
from pueval.text.numbers import format_number
from pueval.text.tables import text_table

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation

# Header and rows.
TextTable = tuple[Sequence[str], Sequence[Sequence[str]]]
WIDTH, HEIGHT = 34, 12
# Characters that move the cursor, change colors, or reverse the direction of text, and halves of
# characters, which cannot be printed.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Least width of the column of titles.
MIN_TITLE_WIDTH = 12
STYLES = ("yellow", "bold cyan")

# The arguments of the running command; a report shows them.
command_line: ContextVar[Sequence[str]] = ContextVar("command_line", default=())


def printable(text: str) -> str:
    r"""Return text with characters that control a terminal as codes; names may contain them.

    Examples
    --------
    >>> print(printable("model\x1b[2J"))
    model\x1b[2J
    """
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def print_line(text: str) -> None:
    """Print a line."""
    Console(soft_wrap=not sys.stdout.isatty(), highlight=False).print(escape(printable(text)))


def print_notes(lines: Iterable[str]) -> None:
    """Print notes and warnings, with options in place of function arguments."""
    for line in lines:
        print_line(name_options(line))


def print_warnings(lines: Iterable[str]) -> None:
    """Print the worst warnings to the standard error stream."""
    from pueval.text.warning_lists import worst_warnings

    for line in worst_warnings([*lines]):
        print_error(f"warning: {name_options(line)}")


def print_written(*paths: str | None) -> None:
    """Print which files were written, to the standard error stream; devices are not named."""
    for path in paths:
        if path is not None and not is_device(Path(path)):
            print(f"Wrote {printable(path)}.", file=sys.stderr)  # noqa: T201


def print_error(message: str) -> None:
    """Print a message to the standard error stream."""
    print(f"pueval: {printable(message)}", file=sys.stderr)  # noqa: T201


def show_tables(tables: Iterable[TextTable]) -> None:
    """Print tables with blank lines between them."""
    for k, (header, rows) in enumerate(tables):
        if k and not sys.stdout.isatty():
            print()  # noqa: T201
        show_table(header, rows)


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal, or aligned text if the output is no terminal."""
    header, rows = [*map(printable, header)], [[*map(printable, row)] for row in rows]
    if not sys.stdout.isatty():
        flat = [cell.replace("\n", " ") for cell in header]
        print(text_table(flat, rows))  # noqa: T201
        return
    print_table(header, rows)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; if it is too wide for the terminal, print groups of columns one by one.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns. Neighbors with the same first line stay in one group.
    rows : sequence of sequence of str
        Cells as text. They are wrapped between words, never cut.
    """
    console = Console()
    parts: list[list[int]] = []
    for k, title in enumerate(header[1:], start=1):
        if k > 1 and "\n" in title and title.split("\n")[0] == header[k - 1].split("\n")[0]:
            parts[-1].append(k)
        else:
            parts.append([k])
    while parts:
        together = parts.pop(0)
        while (
            parts and _excess_width(console, _table(header, rows, [0, *together, *parts[0]])) <= 0
        ):
            together += parts.pop(0)
        table = _table(header, rows, [0, *together])
        excess = _excess_width(console, table)
        if excess > 0:
            # In a narrow terminal, wrap titles rather than numbers.
            first = table.columns[0]
            first.width = first.min_width = max((first.min_width or 0) - excess, MIN_TITLE_WIDTH)
            first.no_wrap = False
        console.print(table)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], columns: list[int]) -> Table:
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for k in columns:
        cells = [row[k] for row in rows]
        # Titles and numbers stay whole; a value and its interval may take two lines.
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


def _excess_width(console: Console, table: Table) -> int:
    """Return by how many characters a table is too wide to keep its numbers whole."""
    unlimited = console.options.update(width=100_000)
    # Rich does not count the edges and the spaces between columns.
    between = len(table.columns) + 1
    return console.measure(table, options=unlimited).minimum + between - console.width


def print_roc_curves(evaluations: Mapping[str, Evaluation]) -> None:
    """Print a small ROC plot of each model: the naive curve dotted, the corrected one solid.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Evaluations by name of the model.
    """
    console = Console()
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
    """Draw the naive and the corrected ROC curve as text.

    Parameters
    ----------
    name : str
        Name of the model; long names are cut.
    ev : Evaluation
        Evaluation of the model.
    braille : bool, default True
        Whether the terminal can show braille and box characters.

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
    text.append(f"{shorten('ROC curve of ' + shown, WIDTH + 4)}\n", style="bold")
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
