"""Exit codes of commands, for scripts and continuous integration."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pueval.errors import (
    ALARM_EXIT_CODE,
    CONTRADICTION_EXIT_CODE,
    INTERRUPT_EXIT_CODE,
    Contradiction,
)

# Meanings of the exit codes, by the commands that use them; None for all commands.
MEANINGS: dict[int, tuple[str, set[str] | None]] = {
    0: ("if all is well", None),
    1: ("if the output was closed, or after an internal error", None),
    2: ("if the input or an option is wrong", None),
    CONTRADICTION_EXIT_CODE: (
        "if the data contradict the assumptions, though results are printed and written",
        {"evaluate", "prior", "compare", "audit plan", "doctor"},
    ),
    ALARM_EXIT_CODE: ("if a watched measure changed over time", {"evaluate"}),
    INTERRUPT_EXIT_CODE: ("if interrupted", None),
}


def describe_exit_codes(command: str | None = None) -> str:
    """Return the exit codes of a command and their meanings; by default, of all commands.

    Examples
    --------
    >>> print(describe_exit_codes("count")[:57])
    Exit codes: 0 if all is well; 1 if the output was closed,
    """
    shown = (
        f"{code} {meaning}"
        for code, (meaning, commands) in MEANINGS.items()
        if command is None or commands is None or command in commands
    )
    return f"Exit codes: {'; '.join(shown)}."


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
