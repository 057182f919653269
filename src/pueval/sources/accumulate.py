"""Rows that come batch by batch: kept as they are while they are few, then as histograms."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array
from pueval.samples.bins import BinnedSamples, Bins, add_binned, resolve_bins
from pueval.samples.histogram import Histogram, RowKinds
from pueval.sources.arrays import EXACT, read_arrays
from pueval.sources.labels import LabelValues

Batch = tuple[RowKinds, Array, list[Array], Array | None]


class Accumulator:
    """Collects batches of rows with one or more scores.

    Parameters
    ----------
    n_scores : int
        How many score columns there are.
    labels : LabelValues
        What labels mean.
    bins : int, "auto" or None
        As for `Counts.from_file`.
    expected : int
        How many rows will come, as far as that is known: if they are too many to be kept, none is.
    text_weights : bool
        Whether weights were text; if all of them are whole numbers, they count rows.
    """

    def __init__(
        self,
        n_scores: int,
        labels: LabelValues,
        bins: Bins,
        *,
        expected: int = 0,
        text_weights: bool = False,
    ) -> None:
        self.expected = expected
        self.text_weights = text_weights
        self.labels = labels
        self.bins = bins
        self._whole = text_weights
        self.n_scores = n_scores
        self.rows = 0
        self.sample_weight = 0.0  # the sum of all weights
        self._kept: list[Batch] = []
        self._histograms: list[Histogram] = []

    @property
    def histogram_bins(self) -> int | None:
        """Bins of the histograms that rows go into; None while every row is kept."""
        return resolve_bins(self.bins, max(self.rows, self.expected) * self.n_scores)

    def another(self) -> Accumulator:
        """Return an empty one for other rows of the same place."""
        return Accumulator(
            self.n_scores,
            self.labels,
            self.bins,
            expected=self.expected,
            text_weights=self.text_weights,
        )

    def add(self, y: Array, scores: list[Array], sample_weight: Array | None) -> bool:
        """Take rows without missing values; say whether labels are known and scores finite."""
        kinds = RowKinds.of(y, self.labels.values)
        if kinds is None:
            return False
        self.rows += len(y)
        if sample_weight is not None:
            self.sample_weight += float(sample_weight.sum(dtype=np.float64))
        if sample_weight is not None and self._whole:
            # Beyond what floats can hold, they cannot count rows.
            self._whole = self.sample_weight <= EXACT and bool(
                np.all(sample_weight == np.floor(sample_weight))
            )
        self._kept.append((kinds, y, scores, sample_weight))
        if (bins := self.histogram_bins) is not None:
            return self._pour(bins)
        return all(map(_finite, scores))

    def _pour(self, bins: int) -> bool:
        """Put what was kept into histograms; say whether scores are finite."""
        while self._kept:
            kinds, _, scores, sample_weight = self._kept.pop()
            if not self._histograms:
                weighted = sample_weight is not None and sample_weight.dtype.kind == "f"
                self._histograms = [Histogram(bins, weighted=weighted) for _ in scores]
            for histogram, score in zip(self._histograms, scores, strict=True):
                if not histogram.add(kinds, score, sample_weight):
                    return False
        return True

    def result(self) -> list[BinnedSamples]:
        """Return what was counted for each score column."""
        if self._histograms:
            return [histogram.result(whole=self._whole) for histogram in self._histograms]
        y, scores, sample_weight = self._together()
        if sample_weight is not None and self._whole:
            sample_weight = sample_weight.astype(np.int64)
        return [
            (read_arrays(y, score, sample_weight=sample_weight, labels=self.labels), None)
            for score in scores
        ]

    def _together(self) -> tuple[Array, list[Array], Array | None]:
        """Put the kept batches together; each is let go as soon as it is copied."""
        first = self._kept[0]
        given = [first[1], *first[2], *([] if first[3] is None else [first[3]])]
        columns = [np.empty(self.rows, dtype=column.dtype) for column in given]
        end = self.rows
        while self._kept:
            _, y, scores, sample_weight = self._kept.pop()
            given = [y, *scores, *([] if sample_weight is None else [sample_weight])]
            for column, part in zip(columns, given, strict=True):
                column[end - len(part) : end] = part
            end -= len(y)
        labels, *numbers = columns
        if sample_weight is None:
            return labels, numbers, None
        return labels, numbers[:-1], numbers[-1]


def combine(parts: list[list[BinnedSamples]], bins: Bins) -> list[BinnedSamples]:
    """Add what was counted apart; scores that each have a bin of their own are not binned."""
    total = parts[0]
    for part in parts[1:]:
        total = [add_binned(*one, *other) for one, other in zip(total, part, strict=True)]
    return [
        (samples, None if bins == "auto" and binning and not binning.wide.size else binning)
        for samples, binning in total
    ]


def _finite(values: Array) -> bool:
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())
