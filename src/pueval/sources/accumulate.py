"""Rows that come batch by batch: kept as they are while they are few, then as histograms."""

from __future__ import annotations

import numpy as np

from pueval.binning import DEFAULT_BINS
from pueval.histogram import Histogram, Kinds
from pueval.samples import Array
from pueval.sources import limits
from pueval.sources.arrays import read_arrays
from pueval.sources.labels import LabelValues
from pueval.sources.limits import Bins, Counted

Batch = tuple[Kinds, Array, list[Array], Array | None]


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
    text_weights : bool
        Whether weights were text; if all of them are whole numbers, they count rows.
    """

    def __init__(
        self, n_scores: int, labels: LabelValues, bins: Bins, *, text_weights: bool = False
    ) -> None:
        self.labels = labels
        self.bins = bins
        self._whole = text_weights
        self.n_scores = n_scores
        self.rows = 0
        self._kept: list[Batch] = []
        self._histograms: list[Histogram] = []

    def add(self, y: Array, scores: list[Array], weight: Array | None) -> bool:
        """Take rows without missing values; say whether labels are known and scores finite."""
        kinds = Kinds.of(y, self.labels.kinds)
        if kinds is None:
            return False
        self.rows += len(y)
        if weight is not None and self._whole:
            self._whole = bool(np.all(weight == np.floor(weight)))
        self._kept.append((kinds, y, scores, weight))
        beyond = self.bins == "auto" and self.rows * self.n_scores > limits.EXACT_ROWS
        if isinstance(self.bins, int) or beyond:
            return self._pour()
        return all(map(_finite, scores))

    def _pour(self) -> bool:
        """Put what was kept into histograms; say whether scores are finite."""
        while self._kept:
            kinds, _, scores, weight = self._kept.pop()
            if not self._histograms:
                bins = self.bins if isinstance(self.bins, int) else DEFAULT_BINS
                weighted = weight is not None and weight.dtype.kind == "f"
                self._histograms = [Histogram(bins, weighted=weighted) for _ in scores]
            for histogram, score in zip(self._histograms, scores, strict=True):
                if not histogram.add(kinds, score, weight):
                    return False
        return True

    def result(self) -> list[Counted]:
        """Return what was counted for each score column."""
        if self._histograms:
            found: list[Counted] = []
            for histogram in self._histograms:
                samples, binning = histogram.result(whole=self._whole)
                exact = self.bins == "auto" and not binning.wide.size
                found.append((samples, None if exact else binning))
            return found
        y = np.concatenate([batch[1] for batch in self._kept])
        weight = None
        if self._kept[0][3] is not None:
            weight = np.concatenate([batch[3] for batch in self._kept if batch[3] is not None])
            weight = weight.astype(np.int64) if self._whole else weight
        found = []
        for k in range(self.n_scores):
            score = np.concatenate([batch[2][k] for batch in self._kept])
            found.append((read_arrays(y, score, weight=weight, labels=self.labels), None))
        return found


def _finite(values: Array) -> bool:
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())
