"""The ``pueval`` command."""

from __future__ import annotations

import io
import sys

from pueval.errors import MissingPackageError, require


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        for package in ("cyclopts", "rich"):
            require(package, extra="cli", purpose="the command line")
    except MissingPackageError as error:
        sys.exit(f"pueval: {error}")
    from pueval.commands.app import run

    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal or a file may lack a dash or the name of a column; that is no reason to stop.
        sys.stdout.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
