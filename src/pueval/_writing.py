"""Safe file writing: a file is written completely or not at all, and by one process at a time."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from pueval.errors import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# How the names of temporary files end. They begin with a dot and the name of the final file.
TEMPORARY = ".pueval-tmp"
# Temporary files of this process, so that a signal that ends it can remove them.
_unfinished: set[str] = set()


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the name of a temporary file that replaces ``path`` at the end.

    A reader sees either the old or the new file. If an error occurs, ``path`` does not change.
    Symbolic links are followed. Devices such as ``/dev/stdout`` are written to at the end. A
    process that is killed leaves its temporary file; whoever next writes ``path`` removes it.
    """
    path = Path(path)
    if is_device(path):
        with _temporary_file(Path(tempfile.gettempdir()), path.name) as name:
            yield name
            with write_errors(path), Path(name).open("rb") as source, path.open("wb") as stream:
                shutil.copyfileobj(source, stream)
        return
    path = path.resolve()
    check_folder(path)
    with write_errors(path):
        _remove_abandoned(path)
        with _temporary_file(path.parent, path.name) as name:
            yield name
            with Path(name).open("r+b") as stream:  # fsync needs a writable file on Windows
                os.fsync(stream.fileno())
            Path(name).chmod(_permissions(path))
            Path(name).replace(path)


def check_folder(path: Path) -> None:
    """Raise an error if the folder of a file to write does not exist."""
    if not path.parent.is_dir():
        raise InputError(
            f"{path} cannot be written: the folder {path.parent} does not exist. Create it first."
        )


@contextlib.contextmanager
def _temporary_file(folder: Path, name: str) -> Iterator[str]:
    """Yield the name of a new file that is locked while in use and removed at the end."""
    descriptor, temporary = _locked_temporary_file(folder, f".{name[:80]}.")
    _unfinished.add(temporary)
    try:
        yield temporary
    finally:
        os.close(descriptor)
        Path(temporary).unlink(missing_ok=True)
        _unfinished.discard(temporary)


def _locked_temporary_file(folder: Path, prefix: str) -> tuple[int, str]:
    while True:
        descriptor, name = tempfile.mkstemp(TEMPORARY, prefix, folder)
        if sys.platform != "win32":
            # Without locks, as in some network folders, abandoned files are not removed either.
            with contextlib.suppress(OSError):
                _try_lock(descriptor, wait=True)
        # Before it was locked, another process may have taken the file for an abandoned one.
        if _is_open_file(descriptor, name):
            return descriptor, name
        os.close(descriptor)


def _remove_abandoned(path: Path) -> None:
    """Remove temporary files of ``path`` that no process is writing."""
    for file in path.parent.glob(f".{glob.escape(path.name[:80])}.*{TEMPORARY}"):
        with contextlib.suppress(OSError):  # on Windows, files in use cannot be removed
            if sys.platform == "win32":
                file.unlink()
                continue
            descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if _try_lock(descriptor, wait=False):
                    file.unlink()
            finally:
                os.close(descriptor)


def remove_unfinished_files() -> None:
    """Remove the temporary files and folders of this process, which is about to end."""
    for name in tuple(_unfinished):
        if Path(name).is_dir():
            shutil.rmtree(name, ignore_errors=True)
        else:
            Path(name).unlink(missing_ok=True)


def remove_on_signal(path: str) -> None:
    """Remove a temporary file or folder, too, if a signal ends the process."""
    _unfinished.add(path)


@contextlib.contextmanager
def lock_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Wait until no other process holds the lock of a file, and hold it.

    Use it to read a file, change its content and write it again. The lock is a file beside it,
    which is removed at the end. The lock of a process that was killed is free.
    """
    path = Path(path).resolve()
    check_folder(path)
    lock = path.with_name(f".{path.name[:80]}.lock")
    with write_errors(path):
        while True:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
            # The process that held the lock before may have removed the file.
            if _try_lock(descriptor, wait=True) and _is_open_file(descriptor, lock):
                break
            os.close(descriptor)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # on Windows, another process may have it open
            if sys.platform != "win32":
                lock.unlink()
        os.close(descriptor)


def _is_open_file(descriptor: int, name: str | Path) -> bool:
    """Return whether a name is still that of an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), Path(name).stat())
    except FileNotFoundError:
        return False


def _try_lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file; return whether it is locked. Closing the file unlocks it."""
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:  # also after ten seconds of waiting
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


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
    # The system applies its default to a file. To ask for the umask would be to change it, for all
    # threads.
    probe = path.with_name(f".{path.name[:80]}.{secrets.token_hex(8)}{TEMPORARY}")
    descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
        probe.unlink(missing_ok=True)


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
