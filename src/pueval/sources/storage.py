"""Counts kept in a Parquet file, so that a later run can add to them.

The file is an ordinary table, which any tool can read: a row per distinct score (or bin), with
columns ``score``, ``labeled``, ``unlabeled``, ``negative`` and ``wide``; where rows have float
weights, also with sums of squared weights, ``labeled_squared`` and so on. What else is needed
stands in the metadata of the file under the key ``pueval``, with the version of this format.
"""

from __future__ import annotations

import json
import os
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval._writing import atomic_path
from pueval.errors import InputError, require
from pueval.samples.bins import Binning
from pueval.samples.sample import Sample, Samples, make_sample

# Raise it when an older pueval could not read a file any more, or would read it wrongly.
VERSION = 2
KEY = b"pueval"
KINDS = ("labeled", "unlabeled", "negative")
SQUARES = tuple(f"{kind}_squared" for kind in KINDS)
AGAIN = "count the rows again."
Path_ = str | os.PathLike[str]


def write_counts(
    path: Path_,
    table: tuple[Array, ...],
    kinds: Samples,
    binning: Binning | None,
    name: str | None,
) -> None:
    """Write the table of some samples; the file is there whole or not at all."""
    arrow = require("pyarrow", extra="cli", purpose="Counts.to_parquet")
    parquet = require("pyarrow.parquet", extra="cli", purpose="Counts.to_parquet")
    score, *columns = table
    wide = np.zeros(score.size, dtype=bool)
    if binning is not None:
        wide = np.isin(score, binning.wide)
    about = {
        "format": "counts",
        "version": VERSION,
        "name": name,
        "bins": None if binning is None else binning.bins,
        "totals": [column.sum().item() for column in columns],
    }
    squares: dict[str, Array] = {}
    if any(kind.has_importance_weights for kind in kinds):
        squares = {
            # Where nothing is left of a weight beside others, nothing is of its square.
            name: np.where(column > 0, kind.with_squared_weights.counts_between(score), 0)
            for name, column, kind in zip(SQUARES, columns, kinds, strict=True)
        }
    content = arrow.table(
        {"score": score, **dict(zip(KINDS, columns, strict=True)), **squares, "wide": wide},
    ).replace_schema_metadata({KEY: json.dumps(about).encode()})
    with atomic_path(path) as temporary:
        parquet.write_table(content, temporary, compression="zstd", write_page_checksum=True)


def is_counts_file(path: Path_) -> bool:
    """Whether a file holds Counts; a table of rows does not."""
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading saved Counts")
    try:
        metadata = parquet.read_metadata(os.fspath(path)).metadata
    except (OSError, ValueError):  # ArrowInvalid is a ValueError
        return False
    return KEY in (metadata or {})


def saved_name(path: Path_) -> str | None:
    """Return the name of the score whose Counts a file holds, if it is known."""
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading saved Counts")
    name = _about(os.fspath(path), parquet.read_metadata(os.fspath(path)).metadata).get("name")
    return name if isinstance(name, str) else None


def is_damaged(path: Path_) -> bool:
    """Whether there is a file, but without the end that Parquet files have."""
    if not Path(path).is_file():
        return False
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading saved Counts")
    try:
        parquet.read_metadata(os.fspath(path))
    except (OSError, ValueError):  # ArrowInvalid is a ValueError
        return True
    return False


def load_counts(path: Path_) -> tuple[Samples, Binning | None]:
    """Read what `write_counts` wrote; refuse anything else."""
    arrow = require("pyarrow", extra="cli", purpose="Counts.from_parquet")
    parquet = require("pyarrow.parquet", extra="cli", purpose="Counts.from_parquet")
    text = os.fspath(path)
    if not Path(text).is_file():
        raise InputError(f"there is no file {text!r} (looked in {Path.cwd()}).")
    try:
        table = parquet.read_table(
            text, page_checksum_verification=True, partitioning=None, memory_map=False
        )
    except (OSError, arrow.ArrowException) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(
            f"{text} is damaged, cut short or no Parquet file: {reason}. "
            "Restore it, or count the rows again."
        ) from None
    about = _about(text, table.schema.metadata or {})
    score, *columns = _columns(text, table)
    columns, squares = columns[: len(KINDS)], columns[len(KINDS) :]
    _check(text, score, columns, squares, about)
    made: list[Sample] = []
    for column, square in zip_longest(columns, squares):
        # From the lowest score up: sorted already. What counts rows has no other weights.
        weighed = square is not None and column.dtype.kind == "f"
        made.append(
            make_sample(
                score[::-1].copy(), column[::-1].copy(), square[::-1].copy() if weighed else None
            )
        )
    binning = None
    if about["bins"] is not None:
        wide = table["wide"].to_numpy()
        binning = Binning(about["bins"], score[wide][::-1].astype(np.float64))
    return (made[0], made[1], made[2]), binning


def _about(text: str, metadata: dict[bytes, bytes]) -> dict[str, Any]:
    if KEY not in metadata:
        raise InputError(
            f"{text} is a Parquet file, but not of Counts.to_parquet. For a table of rows use "
            "Counts.from_file."
        )
    try:
        about: Any = json.loads(metadata[KEY])
    except ValueError:
        about = None
    if not isinstance(about, dict):
        raise InputError(f"what {text} says of itself is no JSON. It was changed; {AGAIN}")
    if about.get("format") != "counts" or about.get("version") != VERSION:
        raise InputError(
            f"{text} is of format version {about.get('version')!r}; this pueval reads version "
            f"{VERSION}. Use the pueval that wrote it, or {AGAIN}"
        )
    bins = about.get("bins")
    totals = about.get("totals")
    sound = bins is None or (isinstance(bins, int) and bins > 1 and not bins & (bins - 1))
    if "bins" not in about or not (sound and _three_numbers(totals)):
        raise InputError(
            f"{text} must say its bins and totals; got bins {bins!r} and totals {totals!r}. "
            f"It was changed; {AGAIN}"
        )
    return about


def _three_numbers(values: Any) -> bool:
    return (
        isinstance(values, list)
        and len(values) == len(KINDS)
        and all(isinstance(value, int | float) for value in values)
    )


def _columns(text: str, table: Any) -> list[Array]:
    squares = SQUARES if SQUARES[0] in table.column_names else ()
    names = ("score", *KINDS, *squares, "wide")
    if tuple(table.column_names) != names or any(table[name].null_count for name in names):
        raise InputError(
            f"{text} must have the columns {', '.join(names)} without missing values; "
            f"got {', '.join(table.column_names)}. It was changed; {AGAIN}"
        )
    types = {name: table[name].to_numpy().dtype.kind for name in names}
    numbers = {types[name] for name in (*KINDS, *squares)}
    if not (types["score"] == "f" and types["wide"] == "b" and numbers <= {*"if"}):
        raise InputError(
            f"{text} must hold numbers, and truth values in 'wide'; got "
            f"{', '.join(str(table[name].type) for name in names)}. It was changed; {AGAIN}"
        )
    return [table[name].to_numpy() for name in names[:-1]]


def _check(
    text: str,
    score: Array,
    columns: list[Array],
    squares: list[Array],
    about: dict[str, Any],
) -> None:
    """Refuse a file whose content does not fit what it says of itself."""
    totals = [column.sum().item() for column in columns]
    sound = (
        bool(np.isfinite(score).all())
        and bool(np.all(score[1:] < score[:-1]))
        and all(bool(np.all(column >= 0)) for column in columns)
        and all(
            bool(np.all((square >= 0) & ((square == 0) | (column > 0))))
            for square, column in zip(squares, columns, strict=False)
        )
        and np.allclose(totals, about["totals"], rtol=1e-12, atol=0)
    )
    if not sound:
        raise InputError(
            f"the numbers of {text} do not add up to what the file says of itself "
            f"({totals} instead of {about['totals']} rows, or scores out of order). It was "
            f"changed; {AGAIN}"
        )
