"""Rows that come in batches: read from Parquet by several threads, and collected.

Few rows are kept as they are; many go into histograms. Where they do, rows need not pass through
one thread: every thread reads row groups of its own into histograms of its own, which are added at
the end.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import require
from pueval.samples.bins import BinnedSamples, Bins, add_samples, resolve_bins
from pueval.samples.histogram import Histogram, RowKinds
from pueval.sources.arrays import EXACT, read_arrays
from pueval.sources.labels import LabelValues

# Rows of a Parquet batch: enough to be worth a switch between threads, few enough for the cache.
PARQUET_BATCH = 262_144
PLAIN_TYPES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float", "double", "bool"
)  # fmt: skip

RowGroups = queue.SimpleQueue[tuple[str, list[int]]]


@dataclass(eq=False)
class BatchCollector:
    """Collects batches of rows with one or more scores.

    Parameters
    ----------
    n_scores : int
        Number of score columns.
    labels : LabelValues
        Values of the label column.
    bins : int, "auto" or None
        As for `Counts.from_file`.
    expected_rows : int
        Number of rows to come, if it is known. If they are too many, none is kept.
    text_weights : bool
        Whether weights were text; if all of them are integers, they are frequency weights.
    """

    n_scores: int
    labels: LabelValues
    bins: Bins
    expected_rows: int = 0
    text_weights: bool = False
    rows: int = field(default=0, init=False)
    total_weight: float = field(default=0.0, init=False)
    # Batches that are kept: kinds, and columns of labels, scores and, if any, weights.
    _kept: list[tuple[RowKinds, list[Array]]] = field(default_factory=list, init=False)
    _histograms: list[Histogram] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._integer_weights = self.text_weights

    @property
    def histogram_bins(self) -> int | None:
        """Bins of the histograms that rows go into; None while every row is kept."""
        return resolve_bins(self.bins, max(self.rows, self.expected_rows) * self.n_scores)

    def add(self, columns: list[Array]) -> bool:
        """Add columns of labels, scores and, if any, weights, all without missing values.

        Return whether labels are known and scores finite.
        """
        y, scores, sample_weight = self._split(columns)
        kinds = RowKinds.of(y, self.labels.values)
        if kinds is None:
            return False
        self.rows += len(y)
        if sample_weight is not None:
            self.total_weight += float(sample_weight.sum(dtype=np.float64))
            if self._integer_weights:
                # Beyond what floats can hold, they cannot count rows.
                is_integer = np.all(sample_weight == np.floor(sample_weight))
                self._integer_weights = self.total_weight <= EXACT and bool(is_integer)
        self._kept.append((kinds, columns))
        if (bins := self.histogram_bins) is not None:
            return self._fill_histograms(bins)
        return all(score.dtype.kind != "f" or np.isfinite(score).all() for score in scores)

    def _split(self, columns: list[Array]) -> tuple[Array, list[Array], Array | None]:
        """Return labels, scores and weights."""
        y, *numbers = columns
        return y, numbers[: self.n_scores], numbers[-1] if len(numbers) > self.n_scores else None

    def _fill_histograms(self, bins: int) -> bool:
        """Move kept rows into histograms; return whether scores are finite."""
        while self._kept:
            kinds, columns = self._kept.pop()
            _, scores, sample_weight = self._split(columns)
            if not self._histograms:
                weighted = sample_weight is not None and sample_weight.dtype.kind == "f"
                self._histograms = [Histogram(bins, weighted=weighted) for _ in scores]
            for histogram, score in zip(self._histograms, scores, strict=True):
                if not histogram.add(kinds, score, sample_weight):
                    return False
        return True

    def result(self) -> list[BinnedSamples]:
        """Return the samples of each score column."""
        if self._histograms:
            return [
                histogram.result(integer_weights=self._integer_weights)
                for histogram in self._histograms
            ]
        y, scores, sample_weight = self._split(self._concatenate())
        if sample_weight is not None and self._integer_weights:
            sample_weight = sample_weight.astype(np.int64)
        return [
            (read_arrays(y, score, sample_weight=sample_weight, labels=self.labels), None)
            for score in scores
        ]

    def _concatenate(self) -> list[Array]:
        """Join the kept batches; each is freed as soon as it is copied."""
        columns = [np.empty(self.rows, dtype=part.dtype) for part in self._kept[0][1]]
        end = self.rows
        while self._kept:
            _, parts = self._kept.pop()
            for column, part in zip(columns, parts, strict=True):
                column[end - len(part) : end] = part
            end -= len(parts[0])
        return columns


def combine_results(parts: list[list[BinnedSamples]], bins: Bins) -> list[BinnedSamples]:
    """Add the results of several collectors; with "auto", only wide bins make scores binned."""
    total = parts[0]
    for part in parts[1:]:
        total = [add_samples(*left, *right) for left, right in zip(total, part, strict=True)]
    return [
        (samples, None if bins == "auto" and binning and not binning.wide.size else binning)
        for samples, binning in total
    ]


# ---------------------------------------------------------------------- Parquet row groups


def list_row_groups(files: Sequence[str], columns: Sequence[str]) -> RowGroups | None:
    """Return all row groups of some files; None if one lacks a column of plain numbers.

    A column may be missing because it is the name of a folder.
    """
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading files")
    row_groups: RowGroups = queue.SimpleQueue()
    for file in files:
        reader = parquet.ParquetFile(file)
        types = {field.name: str(field.type) for field in reader.schema_arrow}
        # PyArrow would read a dot in a name as a field inside a column.
        if not all(types.get(name) in PLAIN_TYPES and "." not in name for name in columns):
            return None
        for numbers in _neighbors(reader.metadata):
            row_groups.put((file, numbers))
    return row_groups


def read_row_groups(row_groups: RowGroups, columns: Sequence[str]) -> Iterator[list[Any]]:
    """Take row groups from the queue until it is empty; yield batches of Arrow arrays."""
    parquet = require("pyarrow.parquet", extra="cli", purpose="reading files")
    unique = list(dict.fromkeys(columns))
    open_file: str | None = None
    reader: Any = None
    while True:
        try:
            file, numbers = row_groups.get_nowait()
        except queue.Empty:
            return
        if file != open_file:
            open_file, reader = file, parquet.ParquetFile(file, memory_map=True)
        if len(numbers) > 1:
            batches = iter(reader.read_row_groups(numbers, unique, use_threads=False).to_batches())
        else:
            batches = reader.iter_batches(PARQUET_BATCH, numbers, unique, use_threads=False)
        for batch in batches:
            arrays = [batch.column(column) for column in columns]
            # Freed before the next rows are read, so that they reuse the memory.
            del batch
            yield arrays
            del arrays


def _neighbors(metadata: Any) -> Iterator[list[int]]:
    """Group neighboring row groups that together fit into a batch."""
    numbers: list[int] = []
    rows = 0
    for number in range(metadata.num_row_groups):
        size = metadata.row_group(number).num_rows
        if numbers and rows + size > PARQUET_BATCH:
            yield numbers
            numbers, rows = [], 0
        numbers.append(number)
        rows += size
    if numbers:
        yield numbers
