"""Standard input as a file: engines read tables several times, but a stream can be read once."""

from __future__ import annotations

import atexit
import functools
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from pueval._writing import remove_on_signal
from pueval.errors import InputError

# What users type for standard input, and its name in messages.
STANDARD_INPUT, STANDARD_INPUT_NAME = "-", "standard input"
# Formats by their first bytes; anything else is CSV.
SUFFIXES_BY_START = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz"}
FOLDER = "pueval-stdin-"


def save_standard_input() -> str:
    """Copy standard input to a temporary file; return its name, the same each time."""
    if sys.stdin is None:
        raise InputError("standard input is closed. Pass the name of a file instead of -.")
    if sys.stdin.isatty():
        raise InputError(
            "- reads standard input, but nothing is piped to it. Type, for example: "
            "pueval evaluate - … < scores.csv"
        )
    return _save(sys.stdin)


@functools.lru_cache(maxsize=1)
def _save(stream: TextIO) -> str:
    """Copy a stream to a file that is deleted when the program ends."""
    start = stream.buffer.read(max(map(len, SUFFIXES_BY_START)))
    if not start:
        raise InputError(f"{STANDARD_INPUT_NAME} is empty.")
    suffixes = [end for bytes_, end in SUFFIXES_BY_START.items() if start.startswith(bytes_)]
    folder = tempfile.mkdtemp(prefix=FOLDER)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    remove_on_signal(folder)
    path = Path(folder) / f"stdin{(suffixes or ['.csv'])[0]}"
    with path.open("wb") as copy:
        copy.write(start)
        shutil.copyfileobj(stream.buffer, copy)
    return str(path)


def name_standard_input(message: str) -> str:
    """Replace the name of the temporary file in a message."""
    folder = re.escape(str(Path(tempfile.gettempdir()) / FOLDER))
    return re.sub(rf"{folder}\w+[/\\]stdin(\.[a-z]+)+", STANDARD_INPUT_NAME, message)
