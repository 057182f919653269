"""Rows that come batch by batch: kept as they are while they are few, then as histograms."""

from __future__ import annotations

import numpy as np

from pueval.binning import DEFAULT_BINS
from pueval.histogram import Histogram
from pueval.samples import Array
from pueval.sources import limits
from pueval.sources.arrays import read_arrays
from pueval.sources.labels import LabelValues
from pueval.sources.limits import Bins, Counted

KINDS = LabelValues(0, 1, 2)
Batch = tuple[Array, list[Array], Array | None]


class Accumulator:
    """Collects batches of rows with one or more scores.

    Parameters
    ----------
    n_scores : int
        How many score columns there are.
    bins : int, "auto" or None
        As for `Counts.from_file`.
    text_weights : bool
        Whether weights were text; if all of them are whole numbers, they count rows.
    """

    def __init__(self, n_scores: int, bins: Bins, *, text_weights: bool = False) -> None:
        self.bins = bins
        self._whole = text_weights
        self.n_scores = n_scores
        self.rows = 0
        self._kept: list[Batch] = []
        self._histograms: list[Histogram] = []

    def add(self, kind: Array, scores: list[Array], weight: Array | None) -> None:
        """Take rows: kinds 0, 1, 2 for labeled, unlabeled, negative; no missing values."""
        self.rows += len(kind)
        if weight is not None and self._whole:
            self._whole = bool(np.all(weight == np.floor(weight)))
        self._kept.append((kind, scores, weight))
        beyond = self.bins == "auto" and self.rows * self.n_scores > limits.EXACT_ROWS
        if isinstance(self.bins, int) or beyond:
            self._pour()

    def _pour(self) -> None:
        """Put what was kept into histograms."""
        while self._kept:
            kind, scores, weight = self._kept.pop()
            if not self._histograms:
                bins = self.bins if isinstance(self.bins, int) else DEFAULT_BINS
                weighted = weight is not None and weight.dtype.kind == "f"
                self._histograms = [Histogram(bins, weighted=weighted) for _ in scores]
            for histogram, score in zip(self._histograms, scores, strict=True):
                histogram.add(kind, score, weight)

    def result(self) -> list[Counted]:
        """Return what was counted for each score column."""
        if self._histograms:
            found: list[Counted] = []
            for histogram in self._histograms:
                samples, binning = histogram.result(whole=self._whole)
                exact = self.bins == "auto" and not binning.wide.size
                found.append((samples, None if exact else binning))
            return found
        kind = np.concatenate([batch[0] for batch in self._kept])
        weight = None
        if self._kept[0][2] is not None:
            weight = np.concatenate([batch[2] for batch in self._kept if batch[2] is not None])
            weight = weight.astype(np.int64) if self._whole else weight
        found = []
        for k in range(self.n_scores):
            score = np.concatenate([batch[1][k] for batch in self._kept])
            found.append((read_arrays(kind, score, weight=weight, labels=KINDS), None))
        return found
