"""The ``pueval`` command."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from pueval.errors import INTERRUPT_EXIT_CODE, MissingPackageError, require


def main() -> None:
    """Run the command line, or say how to install the packages it requires."""
    try:
        _main()
    except KeyboardInterrupt:
        # Modules were still loading; nothing else needs to stop.
        sys.exit(INTERRUPT_EXIT_CODE)


def _main() -> None:
    if sys.stdout is None:  # closed by the caller
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - open until the program ends
    try:
        for package in ("cyclopts", "rich"):
            require(package, extra="cli", purpose="the command line")
    except MissingPackageError as error:
        sys.exit(f"pueval: {error}")
    from pueval.commands.app import run
    from pueval.commands.termination import end_on_signals

    end_on_signals()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The encoding may lack a character, such as a dash; show a replacement instead of failing.
        sys.stdout.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
