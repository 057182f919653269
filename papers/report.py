"""Results as Markdown and figures, and the command line shared by all papers."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed

from pueval import AssumptionWarning, __version__
from pueval._progress import progress_bar

# One color per concept in all figures, chosen for color-blind readers.
NAIVE, OURS, KNOWN, TRUTH, OTHER = "#D55E00", "#0072B2", "#009E73", "#222222", "#CC79A7"


@dataclass(frozen=True)
class Run:
    """Options of a run."""

    full: bool
    jobs: int
    most: int | None = None

    def times(self, reduced: int, full: int) -> int:
        """Return the number of repetitions."""
        number = full if self.full else reduced
        return number if self.most is None else min(number, self.most)

    def each(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a function for each task, in parallel, and show the progress."""
        work = Parallel(self.jobs, return_as="generator")(delayed(function)(*t) for t in tasks)
        found = []
        with progress_bar("repetitions", len(tasks)) as advance:
            for one in work:
                found.append(one)
                advance()
        return found


def style() -> None:
    """Set the common style of all figures."""
    plt.rcParams.update(
        {
            "figure.dpi": 100,
            "savefig.dpi": 110,
            "savefig.bbox": "tight",
            "font.size": 9.5,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 10,
            "axes.titleweight": "bold",
            "legend.frameon": False,
            "lines.linewidth": 1.6,
        }
    )


def number(value: Any, digits: int = 3) -> str:
    """Show a number without its leading zero, as tables of papers do."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    text = f"{abs(value):.{digits}f}"
    if text.startswith("0."):
        text = text[1:]
    return ("−" if value < 0 and float("0" + text if text[0] == "." else text) else "") + text


def signed(value: float, digits: int = 3) -> str:
    """Show a difference."""
    text = number(value, digits)
    return text if text.startswith("−") or text == "–" else "+" + text


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], digits: int = 3) -> str:
    """Make a Markdown table; the first column is text."""
    lines = ["| " + " | ".join(header) + " |"]
    lines.append("|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|")
    lines += ["| " + " | ".join(number(cell, digits) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def against_paper(rows: Sequence[tuple[str, float, float]], digits: int = 3) -> str:
    """Make the table *what | paper | ours | difference*."""
    return table(
        ["", "paper", "ours", "difference"],
        [
            (name, paper, ours, "–" if paper is None else signed(ours - paper, digits))
            for name, paper, ours in rows
        ],
        digits,
    )


class Page:
    """A Markdown page with its figures, in the folder of a paper."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder, self.run = folder, run
        self.parts: list[str] = []
        self.start = time.perf_counter()

    def add(self, text: str) -> None:
        """Add a section and print it."""
        self.parts.append(text)
        print(text + "\n", flush=True)

    def figure(self, figure: Any, name: str, caption: str) -> None:
        """Save a figure and add it to the page."""
        figure.savefig(self.folder / f"{name}.png")
        plt.close(figure)
        self.add(f"![{caption}]({name}.png)\n\n*{caption}*")

    def save(self) -> None:
        """Write RESULTS.md."""
        minutes = (time.perf_counter() - self.start) / 60
        module = f"papers.{self.folder.name}"
        gpu = "PUEVAL_GPU=1 " if os.environ.get("PUEVAL_GPU") == "1" else ""
        command = f"{gpu}python -m {module}" + (" --full" if self.run.full else "")
        command += f" --most {self.run.most}" if self.run.most else ""
        foot = f"Made by `{command}` with pueval {__version__}."
        text = "\n\n".join([*self.parts, foot]) + "\n"
        (self.folder / "RESULTS.md").write_text(text, encoding="utf-8")
        print(f"{self.folder.name}: {minutes:.1f} minutes", flush=True)


def main(file: str, make: Callable[[Page, Run], None]) -> None:
    """Run the module of a paper from the command line."""
    from papers.data import DataError

    folder = Path(file).parent
    parser = argparse.ArgumentParser(prog=f"python -m papers.{folder.name}")
    parser.add_argument("--full", action="store_true", help="as many repetitions as the paper")
    parser.add_argument(
        "--jobs", type=int, default=os.environ.get("PUEVAL_JOBS", "1"),
        help="processes at the same time (default: PUEVAL_JOBS, else 1)",
    )  # fmt: skip
    parser.add_argument("--most", type=int, help="at most this many repetitions, at least 1")
    given = parser.parse_args()
    if given.jobs < 1:
        parser.error(f"--jobs must be at least 1; got {given.jobs}.")
    if given.most is not None and given.most < 1:
        parser.error(f"--most must be at least 1; got {given.most}.")
    run = Run(given.full, given.jobs, given.most)
    style()
    page = Page(folder, run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        try:
            make(page, run)
        except DataError as error:
            sys.exit(f"papers.{folder.name}: {error}")
    page.save()
