"""Row groups of Parquet files, read by several threads at a time.

Where scores go into histograms, rows need not pass through one place: every thread reads row groups
and keeps histograms of its own, which are added at the end.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from typing import Any

from pueval.errors import require

# Rows that are looked at together: enough to be worth a switch between threads, few enough for the
# cache of a processor.
BATCH = 262_144
TYPES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float", "double", "bool"
)  # fmt: skip

Groups = queue.SimpleQueue[tuple[str, list[int]]]


def find_row_groups(files: Sequence[str], columns: Sequence[str]) -> Groups | None:
    """Return all row groups of files that have some columns of plain numbers; None if one has not.

    A column may be missing because it is the name of a folder.
    """
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading files")
    found: Groups = queue.SimpleQueue()
    for file in files:
        opened = parquet.ParquetFile(file)
        types = {field.name: str(field.type) for field in opened.schema_arrow}
        # A dot in a name would be taken for a field inside a column.
        if not all(types.get(name) in TYPES and "." not in name for name in columns):
            return None
        for some in _together(opened.metadata):
            found.put((file, some))
    return found


def read_batches(groups: Groups, columns: Sequence[str]) -> Iterator[list[Any]]:
    """Take row groups while there are any, and give their rows: Arrow arrays, in batches."""
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading files")
    unique = list(dict.fromkeys(columns))
    name: str | None = None
    opened: Any = None
    while True:
        try:
            file, some = groups.get_nowait()
        except queue.Empty:
            return
        if file != name:
            name, opened = file, parquet.ParquetFile(file, memory_map=True)
        if len(some) > 1:
            batches = iter(opened.read_row_groups(some, unique, use_threads=False).to_batches())
        else:
            batches = opened.iter_batches(BATCH, some, unique, use_threads=False)
        for batch in batches:
            arrays = [batch.column(column) for column in columns]
            # Let go before the next rows are read, which then come to memory that is at hand.
            del batch
            yield arrays
            del arrays


def _together(metadata: Any) -> Iterator[list[int]]:
    """Put neighboring row groups together while they are no more than a batch."""
    some: list[int] = []
    rows = 0
    for group in range(metadata.num_row_groups):
        size = metadata.row_group(group).num_rows
        if some and rows + size > BATCH:
            yield some
            some, rows = [], 0
        some.append(group)
        rows += size
    if some:
        yield some
