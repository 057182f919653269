"""What a path stands for: files of one format, a folder of them, or a table of a database."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

from pueval.errors import InputError

Format = Literal["csv", "parquet", "arrow", "duckdb"]

SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
# A folder may hold other things; these are looked for.
IN_FOLDERS = (*SUFFIXES, ".csv", ".tsv", ".csv.gz", ".tsv.gz")
DATABASE = "duckdb://"


@dataclass(frozen=True)
class DataLocation:
    """Where rows are.

    Attributes
    ----------
    text : str
        As it was given.
    format : str
        "csv", "parquet", "arrow" or "duckdb".
    files : tuple of str
        All of the same format; one for a database.
    folder : str or None
        The folder whose files they are, if one was given: names such as ``day=3`` of folders in
        it are columns.
    table : str or None
        Of a database.
    """

    text: str
    format: Format
    files: tuple[str, ...]
    folder: str | None = None
    table: str | None = None


def locate(path: str | os.PathLike[str], *, remote: bool = False) -> DataLocation:
    """Find the files that a path, a pattern or an address stands for, or say why there are none.

    With ``remote`` an address such as ``s3://bucket/scores.parquet`` is left to the engine.
    """
    text = os.fspath(path)
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
                f"the folder {text} holds no files that can be read ({', '.join(IN_FOLDERS)})."
            )
    elif Path(text).is_file():
        files = [text]
    else:
        files = sorted(glob.glob(text, recursive=True))  # noqa: PTH207
    files = [file for file in files if Path(file).is_file()]
    if not files:
        what = "no file matches" if glob.has_magic(text) else "there is no file"
        raise InputError(f"{what} {text!r} (looked in {Path.cwd()}).")
    if all(Path(file).stat().st_size == 0 for file in files):
        raise InputError(f"{text} is empty.")
    formats: set[Format] = {SUFFIXES.get(Path(file).suffix.lower(), "csv") for file in files}
    if len(formats) > 1:
        names = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow"}
        both = " and ".join(sorted(names[one] for one in formats))
        raise InputError(f"{text!r} matches {both} files. Read them apart.")
    return DataLocation(text, formats.pop(), tuple(files), folder)


def _hidden(path: Path) -> bool:
    """Spark and others leave such files beside their data."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _database(text: str) -> DataLocation:
    parts = urlsplit(text)
    given = parse_qs(parts.query)
    table = given.pop("table", [])
    if len(table) != 1 or given or parts.netloc:
        raise InputError(
            f"a DuckDB database is addressed as duckdb:///file.db?table=name; got {text!r}. "
            "An absolute path has four slashes: duckdb:////data/file.db?table=name."
        )
    file = unquote(parts.path).removeprefix("/")
    if not Path(file).is_file():
        raise InputError(f"there is no file {file!r} (looked in {Path.cwd()}).")
    return DataLocation(text, "duckdb", (file,), table=table[0])
