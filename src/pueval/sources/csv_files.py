"""What CSV files look like: the delimiter, the column names, and lines that are too long."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from pathlib import Path
from typing import Any

from pueval.errors import InputError, require
from pueval.sources.foreign_formats import LONGEST, refuse_foreign_format
from pueval.sources.paths import unreadable_error

DELIMITERS = ",\t;|"
# Characters of the first line, and bytes of any other line. The second is the limit of DuckDB.
LONGEST_HEADER, LONGEST_LINE = 2**20, 2_000_000
# First bytes of compressed files, and the rest of the message.
UNREADABLE = (
    "which cannot be read. Decompress it, or compress it with gzip (.csv.gz) or zstd (.csv.zst)."
)
PACKED_STARTS: tuple[tuple[bytes, str], ...] = (
    (rb"\x28\xb5\x2f\xfd", "zstd. Rename it to end in .csv.zst, or decompress it."),
    (rb"BZh[1-9]1AY&SY", f"bzip2, {UNREADABLE}"),
    (rb"\xfd7zXZ\x00", f"xz, {UNREADABLE}"),
)


def is_packed(file: str) -> bool:
    """Whether a file is compressed, by its name."""
    return file.lower().endswith((".gz", ".zst"))


def _open(file: str) -> Any:
    """Open a file to read its bytes, decompressed."""
    if file.lower().endswith(".zst"):
        arrow = require("pyarrow", extra="cli", purpose="reading compressed files")
        return arrow.CompressedInputStream(file, "zstd")
    return gzip.open(file) if is_packed(file) else Path(file).open("rb")


def csv_header(file: str, label: str) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter and the column names in the first line of a CSV file.

    The delimiter is the one that makes a column of the label. DuckDB would guess it from all
    lines, and guess wrong if some lines are malformed.
    """
    try:
        with _open(file) as stream:
            start = stream.read(LONGEST)
        with io.TextIOWrapper(_open(file), "utf-8-sig", errors="replace", newline="") as lines:
            header = lines.readline(LONGEST_HEADER + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable_error(file, error) from None
    if not start:
        raise InputError(f"{file} is empty.")
    _refuse_compression(file, start)
    refuse_foreign_format(file, start)
    if len(header) > LONGEST_HEADER:
        raise InputError(
            f"the first line of {file} is not a CSV header: it has more than {LONGEST_HEADER:,} "
            "characters."
        )
    columns = {mark: _fields(header.rstrip("\r\n"), mark) for mark in DELIMITERS}
    delimiter = max(columns, key=lambda mark: (label in columns[mark], len(columns[mark])))
    if not columns[delimiter]:
        raise InputError(
            f"the first line of {file} is not a CSV header: a name in it has more than "
            f"{csv.field_size_limit():,} characters."
        )
    return delimiter, tuple(columns[delimiter])


def _refuse_compression(file: str, start: bytes) -> None:
    """Raise an error for a compression that cannot be read, or that the file's name hides."""
    if file.lower().endswith(".zip"):
        raise InputError(f"{file} is compressed with zip, {UNREADABLE}")
    for signature, message in PACKED_STARTS:
        if re.match(signature, start):
            raise InputError(f"{file} is compressed with {message}")


def _fields(line: str, delimiter: str) -> list[str]:
    """Split a line; with the wrong delimiter, a field may be too long, and there are none."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [""])
    except csv.Error:
        return []


def check_file_end(file: str) -> None:
    """Refuse files whose end DuckDB would not read rightly, without an error.

    Its parallel reader drops a last line that does not fit into its buffer. It does not compare the
    checksum of gzip files, and takes a zstd file that was cut off for one without rows.
    """
    try:
        end = _end_of_packed(file) if is_packed(file) else _end(file)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable_error(file, error) from None
    # The last character may be a line break or not.
    if len(end) == LONGEST_LINE and not re.search(rb"[\r\n]", end.rstrip(b"\r\n")):
        raise InputError(
            f"{file} could not be read as a table: its last line has more than "
            f"{LONGEST_LINE:,} bytes."
        )


def _end(file: str) -> bytes:
    """Return the last bytes of a file."""
    with Path(file).open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - LONGEST_LINE, 0))
        return stream.read()


def _end_of_packed(file: str) -> bytes:
    """Return the last bytes of a compressed file, which is read to its end and its checksum."""
    end = b""
    with _open(file) as stream:
        while block := stream.read(LONGEST_LINE):
            end = (end + block)[-LONGEST_LINE:]
    return end
