"""The ``pueval`` command."""

from __future__ import annotations

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

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
