"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from pueval.errors import InputError


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a temporary file beside ``path`` that takes its place at the end.

    A reader sees the old file or the new one. If anything fails on the way, what was at
    ``path`` stays as it was. A link is followed; what is no file, such as ``/dev/stdout``, is
    written to.
    """
    path = Path(path)
    if is_device(path):
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / "whole"
            yield str(whole)
            _send(whole, path)
        return
    path = path.resolve()
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.")
        os.close(descriptor)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    try:
        yield name
        with Path(name).open("r+b") as written:  # Windows needs it to be writable
            os.fsync(written.fileno())
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None
        raise


def _mode(path: Path) -> int:
    """Return the permissions of a file: those it has, or those of a new one."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def is_device(path: Path) -> bool:
    """Whether a name stands for a terminal, a pipe or the like, or for where output goes."""
    if not path.exists() or path.is_dir():
        return False
    return not path.is_file() or path.absolute().parts[:2] == ("/", "dev")


def _send(whole: Path, device: Path) -> None:
    try:
        with whole.open("rb") as source, device.open("wb") as stream:
            shutil.copyfileobj(source, stream)
    except OSError as error:
        raise InputError(f"{device} cannot be written: {error.strerror or error}.") from None


@contextlib.contextmanager
def open_atomic(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a text file that takes the place of ``path`` at the end."""
    with atomic_path(path) as name, Path(name).open("w", encoding="utf-8") as stream:
        yield stream
