"""Progress bars for long runs, on the standard error stream."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from pueval.errors import require

# By default, a bar appears only if the work takes longer than this many seconds.
DELAY = 1.5


@contextlib.contextmanager
def progress_bar(
    text: str, total: int, *, done: int = 0, show: bool | None = None
) -> Iterator[Callable[[], None]]:
    """Yield a function that advances the bar by one.

    With ``show=None``, a bar appears only for long work, in a terminal, if rich is installed.
    """
    delay = 0.0
    if show is None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        show, delay = is_terminal and importlib.util.find_spec("rich") is not None, DELAY
    if not show:
        yield lambda: None
        return
    start, bar, task = time.monotonic(), _rich_bar(), None

    def advance() -> None:
        nonlocal done, task
        done += 1
        if task is None and time.monotonic() - start >= delay:
            bar.start()
            task = bar.add_task(text, total=total)
        if task is not None:
            bar.update(task, completed=done)

    try:
        yield advance
    finally:
        bar.stop()


def _rich_bar() -> Any:
    rich = require("rich.progress", extra="cli", purpose="a progress bar")
    console = require("rich.console", extra="cli", purpose="a progress bar").Console(stderr=True)
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
    )
    # In a terminal the bar disappears at the end; in a file it leaves one line.
    return rich.Progress(*columns, console=console, transient=console.is_terminal)
