"""A progress bar for long runs, on the standard error stream."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from pueval.errors import require

# A bar that nobody asked for is shown only for work that takes longer than this many seconds.
PATIENCE = 1.5


@contextlib.contextmanager
def progress_bar(
    text: str, total: int, *, done: int = 0, show: bool | None = None
) -> Iterator[Callable[[], None]]:
    """Yield a function that advances the bar by one.

    With ``show=None`` there is a bar only for long work, in a terminal, where rich is installed.
    """
    if show is None:
        there = sys.stderr is not None and sys.stderr.isatty()
        wanted = there and importlib.util.find_spec("rich") is not None
        wait = PATIENCE
    else:
        wanted, wait = show, 0.0
    if not wanted:
        yield lambda: None
        return
    start, bar, task = time.monotonic(), _bar(), None

    def advance() -> None:
        nonlocal done, task
        done += 1
        if task is None and time.monotonic() - start >= wait:
            bar.start()
            task = bar.add_task(text, total=total)
        if task is not None:
            bar.update(task, completed=done)

    try:
        yield advance
    finally:
        bar.stop()


def _bar() -> Any:
    rich = require("rich.progress", extra="cli", purpose="a progress bar")
    console = require("rich.console", extra="cli", purpose="a progress bar").Console(stderr=True)
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
    )
    # In a file the bar is one line at the end; in a terminal it goes away.
    return rich.Progress(*columns, console=console, transient=console.is_terminal)
