"""Paths: the files, folders and database tables they stand for, and what these files look like."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

from pueval.errors import InputError, require
from pueval.sources.columns import check_unique
from pueval.sources.standard_input import (
    STANDARD_INPUT,
    STANDARD_INPUT_NAME,
    save_standard_input,
)

Format = Literal["csv", "parquet", "arrow", "duckdb"]

SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
# Files that are read from a folder; it may hold others.
IN_FOLDERS = (*SUFFIXES, ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
DATABASE = "duckdb://"
# Characters of another library's error message that are passed on.
LONGEST_REASON = 300


@dataclass(frozen=True)
class DataLocation:
    """Where the rows are.

    Attributes
    ----------
    text : str
        The path as it was given.
    format : str
        "csv", "parquet", "arrow" or "duckdb".
    files : tuple of str
        Files, all of this format; one for a database.
    folder : str or None
        Folder that holds the files, if the path is a folder. Folders in it with names such as
        ``day=3`` are columns.
    table : str or None
        Table of a database.
    """

    text: str
    format: Format
    files: tuple[str, ...]
    folder: str | None = None
    table: str | None = None


def locate(path: str | os.PathLike[str], *, remote: bool = False) -> DataLocation:
    """Return the files that a path, a pattern or an address stands for; refuse if there are none.

    With ``remote``, an address such as ``s3://bucket/scores.parquet`` is left to the engine.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            f"rows are read from a file, given by its path; got {type(path).__name__}. Save rows "
            "in memory to a file first, or pass them to Counts.from_frame or Counts.from_arrays."
        )
    text = os.fspath(path)
    if text == STANDARD_INPUT:
        return replace(locate(save_standard_input()), text=STANDARD_INPUT_NAME)
    if not text:
        raise InputError("the name of the file is empty. Pass the name of a file or folder.")
    if text.startswith(DATABASE):
        return _database(text)
    if remote and "://" in text:
        suffix = Path(urlsplit(text).path.rstrip("/*")).suffix.lower()
        return DataLocation(text, SUFFIXES.get(suffix, "csv" if suffix else "parquet"), (text,))
    folder = text if Path(text).is_dir() else None
    if folder is not None:
        files = sorted(
            os.fspath(file)
            for file in Path(text).rglob("*")
            if file.name.lower().endswith(IN_FOLDERS) and not _hidden(file.relative_to(text))
        )
        if not files:
            raise InputError(
                f"the folder {text} has no files that can be read ({', '.join(IN_FOLDERS)})."
            )
    elif Path(text).is_file():
        files = [text]
    else:
        files = sorted(glob.glob(text, recursive=True))  # noqa: PTH207
    files = [file for file in files if Path(file).is_file()]
    if not files:
        if glob.has_magic(text):
            raise InputError(f"no file matches {text!r} (looked in {Path.cwd()}).")
        raise file_not_found_error(text)
    if all(Path(file).stat().st_size == 0 for file in files):
        raise InputError(f"{text} is empty.")
    formats: set[Format] = {SUFFIXES.get(Path(file).suffix.lower(), "csv") for file in files}
    if len(formats) > 1:
        names = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow"}
        mixed = " and ".join(sorted(names[format_] for format_ in formats))
        raise InputError(f"{text!r} matches {mixed} files. Read them separately.")
    return DataLocation(text, formats.pop(), tuple(files), folder)


def file_not_found_error(path: str) -> InputError:
    """Return the error for a file that does not exist."""
    if "://" in path:
        return InputError(
            f"{path!r} is not a local file. Download it, or read scores with an engine that opens "
            "addresses: polars, dask or spark."
        )
    return InputError(f"file not found: {path!r} (looked in {Path.cwd()}).")


def _hidden(path: Path) -> bool:
    """Whether a file is hidden; Spark and others leave such files beside their data."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _database(text: str) -> DataLocation:
    parts = urlsplit(text)
    options = parse_qs(parts.query)
    table = options.pop("table", [])
    if len(table) != 1 or options or parts.netloc:
        raise InputError(
            f"the address of a DuckDB table is duckdb:///file.db?table=name; got {text!r}. "
            "An absolute path has four slashes: duckdb:////data/file.db?table=name."
        )
    file = unquote(parts.path).removeprefix("/")
    if not Path(file).is_file():
        raise file_not_found_error(file)
    return DataLocation(text, "duckdb", (file,), table=table[0])


# ---------------------------------------------------------------------- what files look like


def unreadable_error(path: str, error: Exception) -> InputError:
    """Return the error for files that cannot be read, with another library's reason."""
    text = " ".join(str(error).split())
    if re.search(r"unicode|utf-?8", text, re.IGNORECASE):
        line = re.search(r"Line: (\d+)", text)
        where = f" (line {line[1]})" if line else ""
        return InputError(f"{path} is not in UTF-8{where}. Save it as CSV UTF-8 first.")
    reason = re.split(r" Possible (?:fixes|Solution)| Original Line:", text)[0]
    if len(reason) > LONGEST_REASON:
        reason = reason[:LONGEST_REASON].rpartition(" ")[0] + " …"
    return InputError(f"{path} could not be read as a table: {reason.rstrip('.')}.")


def folder_columns(file: str, folder: str | None) -> tuple[tuple[str, str], ...]:
    """Return the columns that the folders of a file stand for, such as ``day=3``, with values."""
    if folder is None:
        return ()
    parts = Path(file).relative_to(folder).parent.parts
    pairs = [part.partition("=") for part in parts]
    return tuple((name, value) for name, equals, value in pairs if equals)


def parquet_headers(location: DataLocation) -> dict[tuple[str, ...], list[str]]:
    """Return the column names of Parquet files, and the files that have them."""
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading files")
    files_by_header: dict[tuple[str, ...], list[str]] = {}
    for file in location.files:
        try:
            header = tuple(parquet.read_schema(file).names)
        except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise unreadable_error(file, error) from None
        files_by_header.setdefault(header, []).append(file)
    return files_by_header


def needs_folder_columns(
    location: DataLocation,
    names: Sequence[str],
    files_by_header: Mapping[tuple[str, ...], Sequence[str]],
) -> bool:
    """Whether some requested columns of Parquet files are names of folders, such as ``day=3``.

    Engines turn every folder of a path into a column, which then hides the file's own column. So
    they do so only if a requested column is in no file.
    """
    for header, files in files_by_header.items():
        for name in names:
            check_unique(name, header, files[0])
    in_files = {name for header in files_by_header for name in header}
    if in_files.issuperset(names):
        return False
    in_paths = {
        part.partition("=")[0].lower()
        for file in location.files
        for part in Path(file).parent.parts
        if "=" in part
    }
    for name in names:
        if name in in_files and name.lower() in in_paths:
            raise InputError(
                f"{location.text} has a column {name!r} and lies in a folder of that name, which "
                "would be read instead. Rename the folder."
            )
    return True
