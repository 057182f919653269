"""DuckDB connections that can access the named files only.

A view inside a database can name any file, and a file of another kind makes DuckDB look for an
extension. So external access and extensions are off, and no query can turn them on again.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pueval.errors import require
from pueval.samples.threads import available_cores


def quoted(name: str) -> str:
    """Return a name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(value: Any) -> str:
    """Return a text as SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def file_names(files: Sequence[str]) -> str:
    """Return a list of file names as SQL."""
    # DuckDB treats every name as a pattern, so brackets and stars in names are escaped.
    return "[" + ", ".join(text_literal(glob.escape(file)) for file in files) + "]"


@contextmanager
def restricted_connection(
    files: Sequence[str], *, purpose: str = "reading files", keep_order: bool = False
) -> Iterator[Any]:
    """Open a connection that can read and write some files and no others.

    Parameters
    ----------
    files : sequence of str
        Names of the files, not patterns.
    purpose : str
        What DuckDB is needed for, if it is not installed.
    keep_order : bool
        Whether rows keep their order, which takes more memory.
    """
    duckdb = require("duckdb", extra="cli", purpose=purpose)
    config = {
        "threads": available_cores(),
        "preserve_insertion_order": keep_order,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(config=config) as connection:
        # DuckDB compares names as a query writes them, which is with escaped brackets and stars.
        allowed = dict.fromkeys(name for file in files for name in (file, glob.escape(file)))
        literals = ", ".join(map(text_literal, allowed))
        connection.execute(f"SET allowed_paths = [{literals}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection
