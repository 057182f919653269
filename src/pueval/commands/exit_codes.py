"""Exit codes of commands, for scripts and continuous integration."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pueval.errors import ALARM_EXIT_CODE, CONTRADICTION_EXIT_CODE, Contradiction

EXIT_CODES = (
    "Exit codes: 0 if all is well; 2 if the input or an option is wrong; 3 if the data contradict "
    "the assumptions, though results are printed and written; 4 if a watched measure changed over "
    "time; 130 if interrupted."
)


def exit_code(warnings: Iterable[str], reason: str = "the data contradict the assumptions") -> int:
    """Return 3 if the data contradict an assumption, and say so; otherwise 0."""
    if not any(isinstance(warning, Contradiction) for warning in warnings):
        return 0
    print(  # noqa: T201
        f"pueval: exit code {CONTRADICTION_EXIT_CODE}: {reason}. See the warnings above.",
        file=sys.stderr,
    )
    return CONTRADICTION_EXIT_CODE


def alarm_exit_code(alarm: bool) -> int:  # noqa: FBT001
    """Return 4 if there was an alarm, and say so; otherwise 0."""
    if not alarm:
        return 0
    print(  # noqa: T201
        f"pueval: exit code {ALARM_EXIT_CODE}: a watched measure changed. See the alarms above.",
        file=sys.stderr,
    )
    return ALARM_EXIT_CODE
