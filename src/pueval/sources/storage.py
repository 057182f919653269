"""Counts saved in a Parquet file, so that a later run can add to them.

The file is an ordinary table, which any tool can read: a row per distinct score (or bin), with
columns ``score``, ``labeled``, ``unlabeled``, ``negative`` and ``wide``. With importance weights it
also has sums of squared weights, ``labeled_squared`` and so on. The bins, the totals, the name of
the score and the version of this format are in the file's metadata, under the key ``pueval``.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval._writing import atomic_path
from pueval.errors import InputError, require
from pueval.samples.bins import Binning, bin_numbers, is_bins, lower_edges
from pueval.samples.sample import Samples, make_sample
from pueval.sources.paths import DataLocation, file_not_found_error, locate

# Increase it when an older pueval could not read a new file, or would read it wrongly.
VERSION = 2
KEY = b"pueval"
KINDS = ("labeled", "unlabeled", "negative")
SQUARES = tuple(f"{kind}_squared" for kind in KINDS)
CHANGED = " The file was changed; count the rows again."
PathLike = str | os.PathLike[str]


def write_counts(
    path: PathLike,
    table: tuple[Array, ...],
    samples: Samples,
    binning: Binning | None,
    name: str | None,
) -> None:
    """Write the table of some samples, completely or not at all."""
    arrow = require("pyarrow", extra="cli", purpose="Counts.to_parquet")
    parquet = require("pyarrow.parquet", extra="cli", purpose="Counts.to_parquet")
    score, *columns = table
    wide = np.isin(score, [] if binning is None else binning.wide)
    header = {
        "format": "counts",
        "version": VERSION,
        "name": name,
        "bins": None if binning is None else binning.bins,
        "totals": [column.sum().item() for column in columns],
    }
    squares: dict[str, Array] = {}
    if any(sample.has_importance_weights for sample in samples):
        squares = {
            # A weight may vanish by rounding in a large sum; then its square vanishes, too.
            name: np.where(column > 0, sample.with_squared_weights.counts_between(score), 0)
            for name, column, sample in zip(SQUARES, columns, samples, strict=True)
        }
    content = arrow.table(
        {"score": score, **dict(zip(KINDS, columns, strict=True)), **squares, "wide": wide}
    ).replace_schema_metadata({KEY: json.dumps(header).encode()})
    with atomic_path(path) as temporary:
        parquet.write_table(content, temporary, compression="zstd", write_page_checksum=True)


def _read_metadata(path: PathLike) -> dict[bytes, bytes] | None:
    """Return the metadata of a Parquet file; None if it is not a complete one."""
    arrow = require("pyarrow", extra="cli", purpose="reading saved Counts")
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading saved Counts")
    try:
        return parquet.read_metadata(os.fspath(path)).metadata or {}
    except (OSError, ValueError, arrow.ArrowException):
        return None


def is_counts_file(path: PathLike) -> bool:
    """Whether a file holds saved Counts, not rows."""
    return KEY in (_read_metadata(path) or {})


def locate_rows(path: PathLike) -> DataLocation:
    """Return the files that a path stands for; refuse saved Counts, which do not keep the rows."""
    location = locate(path)
    if location.format == "parquet" and any(map(is_counts_file, location.files)):
        raise InputError(
            f"{location.text} holds saved counts, not rows. Pass the file with the rows."
        )
    return location


def saved_name(path: PathLike) -> str | None:
    """Return the name of the score in a file of saved Counts, if it has one."""
    name = _header(os.fspath(path), _read_metadata(path) or {}).get("name")
    return name if isinstance(name, str) else None


def is_damaged(path: PathLike) -> bool:
    """Whether a file exists but is not a complete Parquet file."""
    return Path(path).is_file() and _read_metadata(path) is None


def load_counts(path: PathLike) -> tuple[Samples, Binning | None]:
    """Read what `write_counts` wrote; refuse anything else."""
    arrow = require("pyarrow", extra="cli", purpose="Counts.from_parquet")
    parquet = require("pyarrow.parquet", extra="cli", purpose="Counts.from_parquet")
    text = os.fspath(path)
    if not Path(text).is_file():
        raise file_not_found_error(text)
    try:
        table = parquet.read_table(
            text, page_checksum_verification=True, partitioning=None, memory_map=False
        )
        _ = table.column_names  # names that are not UTF-8 raise an error only here
    except (OSError, ValueError, arrow.ArrowException) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(
            f"{text} is damaged, incomplete or not a Parquet file: {reason}. "
            "Restore it, or count the rows again."
        ) from None
    header = _header(text, table.schema.metadata or {})
    score, *columns, wide = _columns(text, table)
    columns, squares = columns[: len(KINDS)], columns[len(KINDS) :]
    _check(text, score, columns, squares, header)
    if not _fits_bins(score, wide, header["bins"]):
        raise InputError(
            f"the scores of {text} do not fit the bins in its metadata ({header['bins']}).{CHANGED}"
        )
    samples = []
    for column, square in zip_longest(columns, squares):
        # Reversed, scores are sorted already. Integer counts have no importance weights.
        weighted = square is not None and column.dtype.kind == "f"
        squares_ascending = square[::-1] if weighted else None
        samples.append(make_sample(score[::-1].copy(), column[::-1], squares_ascending))
    binning = None
    if header["bins"] is not None:
        binning = Binning(header["bins"], score[wide][::-1].astype(np.float64))
    return (samples[0], samples[1], samples[2]), binning


def _header(text: str, metadata: dict[bytes, bytes]) -> dict[str, Any]:
    if KEY not in metadata:
        raise InputError(
            f"{text} is a Parquet file, but not one of Counts.to_parquet. For a table of rows use "
            "Counts.from_file."
        )
    try:
        header: Any = json.loads(metadata[KEY])
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise InputError(f"the metadata of {text} is not JSON.{CHANGED}")
    if header.get("format") != "counts" or header.get("version") != VERSION:
        raise InputError(
            f"{text} has format version {header.get('version')!r}; this pueval reads version "
            f"{VERSION}. Use the pueval that wrote it, or count the rows again."
        )
    bins, totals = header.get("bins"), header.get("totals")
    has_totals = (
        isinstance(totals, list) and len(totals) == len(KINDS) and all(map(_is_total, totals))
    )
    if not has_totals or "bins" not in header or not (bins is None or is_bins(bins)):
        raise InputError(
            f"the metadata of {text} must hold bins and totals; got {bins!r} and {totals!r}."
            f"{CHANGED}"
        )
    return header


def _is_total(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value <= sys.float_info.max


def _columns(text: str, table: Any) -> list[Array]:
    squares = SQUARES if SQUARES[0] in table.column_names else ()
    names = ("score", *KINDS, *squares, "wide")
    if tuple(table.column_names) != names or any(table[name].null_count for name in names):
        raise InputError(
            f"{text} must have the columns {', '.join(names)} without missing values; "
            f"got {', '.join(table.column_names)}.{CHANGED}"
        )
    types = {name: table[name].to_numpy().dtype.kind for name in names}
    numbers = {types[name] for name in (*KINDS, *squares)}
    if not (types["score"] == "f" and types["wide"] == "b" and numbers <= {*"if"}):
        raise InputError(
            f"{text} must hold numbers, and booleans in 'wide'; got "
            f"{', '.join(str(table[name].type) for name in names)}.{CHANGED}"
        )
    return [table[name].to_numpy() for name in names]


def _fits_bins(score: Array, wide: Array, bins: int | None) -> bool:
    """Return whether each bin has one score, which is its lower edge where it is wide."""
    if bins is None:
        return not wide.any()
    number = bin_numbers(score.astype(np.float64), bins)
    edges = lower_edges(number[wide], bins)
    return bool(np.all(number[1:] < number[:-1]) and np.all(score[wide] == edges))


def _check(
    text: str, score: Array, columns: list[Array], squares: list[Array], header: dict[str, Any]
) -> None:
    """Refuse a file whose content does not fit its metadata."""
    totals = [column.sum().item() for column in columns]
    sound = (
        bool(np.isfinite(score).all())
        and bool(np.all(score[1:] < score[:-1]))
        and all(bool(np.all(column >= 0)) for column in columns)
        and all(
            bool(np.all((square >= 0) & ((square == 0) | (column > 0))))
            for square, column in zip(squares, columns, strict=False)
        )
        and np.allclose(totals, header["totals"], rtol=1e-12, atol=0)
    )
    if not sound:
        raise InputError(
            f"the rows of {text} do not add up to the totals in its metadata ({totals} instead of "
            f"{header['totals']}), or its scores are out of order.{CHANGED}"
        )
