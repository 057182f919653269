"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from pueval.errors import InputError


@contextlib.contextmanager
def replacement(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a temporary file beside ``path`` that takes its place at the end.

    A reader sees the old file or the new one. If anything fails on the way, what was at
    ``path`` stays as it was.
    """
    path = Path(path)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.")
        os.close(descriptor)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    try:
        yield name
        with Path(name).open("rb") as written:
            os.fsync(written.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None
        raise


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a text file that takes the place of ``path`` at the end."""
    with replacement(path) as name, Path(name).open("w", encoding="utf-8") as stream:
        yield stream
