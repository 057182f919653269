"""Atomic file writing: a file is written completely or not at all."""

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
    """Yield the name of a temporary file that replaces ``path`` at the end.

    A reader sees either the old or the new file. If an error occurs, ``path`` does not change.
    Symbolic links are followed. Devices such as ``/dev/stdout`` are written to at the end.
    """
    path = Path(path)
    if is_device(path):
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / "content"
            yield str(temporary)
            with write_errors(path), temporary.open("rb") as source, path.open("wb") as stream:
                shutil.copyfileobj(source, stream)
        return
    path = path.resolve()
    if not path.parent.is_dir():
        raise InputError(
            f"{path} cannot be written: the folder {path.parent} does not exist. Create it first."
        )
    with write_errors(path):
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.")
        os.close(descriptor)
        try:
            yield name
            with Path(name).open("r+b") as stream:  # fsync needs a writable file on Windows
                os.fsync(stream.fileno())
            Path(name).chmod(_permissions(path))
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into an InputError that names the file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None


def _permissions(path: Path) -> int:
    """Return the permissions of an existing file, or the default ones of a new file."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def is_device(path: Path) -> bool:
    """Return whether a path is a device or pipe, such as a terminal or ``/dev/stdout``."""
    if not path.exists() or path.is_dir():
        return False
    return not path.is_file() or path.absolute().parts[:2] == ("/", "dev")


@contextlib.contextmanager
def open_atomic(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a temporary text file that replaces ``path`` at the end."""
    with atomic_path(path) as name, Path(name).open("w", encoding="utf-8") as stream:
        yield stream
