"""A progress bar for long runs, on the standard error stream."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from pueval.errors import require


@contextlib.contextmanager
def progress_bar(text: str, total: int, *, show: bool) -> Iterator[Callable[[], None]]:
    """Yield a function that advances the bar by one; it does nothing if there is none to show."""
    if not show:
        yield lambda: None
        return
    rich = require("rich.progress", extra="cli", purpose="a progress bar")
    console = require("rich.console", extra="cli", purpose="a progress bar").Console(stderr=True)
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(text, total=total)
        yield lambda: bar.advance(task)
