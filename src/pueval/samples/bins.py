"""Bins: scores that are too many to keep, put into bins that keep their order.

Scores share a bin if their leading binary digits agree: the exponent and the first log2(bins)
digits of the mantissa. So there are ``bins`` bins per doubling of the score. They are the same for
every batch, run and engine, the range of the scores need not be known, and binned data of different
days can be added. Small probabilities get bins as fine, relative to their size, as large ones.

A bin whose rows all have the same score keeps that score, and nothing is lost. Any other bin is
*wide*: it is placed at its lower edge, so the number of rows at or above the score of any bin is
exact. Only the order of rows inside wide bins is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.sample import Samples, SortedChunk, make_sample

# Bins per doubling of the score, with "auto".
DEFAULT_BINS = 4096
# With "auto", more scores than this (rows times score columns) are binned: one by one they would
# take more than a gigabyte of memory.
EXACT_ROWS = 50_000_000
MOST_BINS = 2**20
# Scores closer to zero than this share two bins, one on each side; so do those beyond its inverse.
# It stays clear of the limits of floating-point numbers, where engines overflow.
TINY = 2.0**-900
HUGE = 2.0**900
LOWEST = -np.finfo(np.float64).max
MANTISSA = 52
# Edges of bins that are searched at once.
EDGES = 2**22

Bins = int | Literal["auto"] | None
"""Bins per doubling of the score; None keeps every score; "auto" bins large data only."""


@dataclass(frozen=True, eq=False)
class Binning:
    """How scores were binned.

    Attributes
    ----------
    bins : int
        Number of bins per doubling of the score.
    wide : ndarray
        Scores, ascending, of the wide bins.
    """

    bins: int
    wide: Array


BinnedSamples = tuple[Samples, Binning | None]
"""The three samples, and their binning if their scores are binned."""


def is_bins(bins: Any) -> bool:
    """Return whether a value is a valid number of bins."""
    whole = isinstance(bins, int | np.integer) and not isinstance(bins, bool)
    return whole and 2 <= bins <= MOST_BINS and not bins & (bins - 1)


def check_bins(bins: Any) -> int:
    """Return a valid number of bins."""
    if not is_bins(bins):
        raise InputError(
            "bins, the number of bins per doubling of the score, must be a power of 2 from 2 "
            f"to {MOST_BINS:,}; got {bins!r}. {DEFAULT_BINS:,} is a good choice."
        )
    return int(bins)


def check_bins_choice(bins: Any) -> Bins:
    """Return a valid argument ``bins``: a number of bins, None or "auto"."""
    if bins is None or (isinstance(bins, str) and bins == "auto"):
        return bins  # type: ignore[return-value]
    return check_bins(bins)


def resolve_bins(bins: Bins, n_scores: int) -> int | None:
    """Return the number of bins for a number of scores; None if every score is kept."""
    if bins == "auto":
        return DEFAULT_BINS if n_scores > EXACT_ROWS else None
    return bins


def dropped_digits(bins: int) -> int:
    """Return how many trailing binary digits of a score do not affect its bin."""
    return MANTISSA - (bins.bit_length() - 1)


def bin_numbers(values: Array, bins: int) -> Array:
    """Return the bin numbers of finite float64 scores; they increase with the scores."""
    return bin_numbers_and_range(values, bins)[0]


def bin_numbers_and_range(
    values: Array, bins: int, out: Array | None = None
) -> tuple[Array, int, int]:
    """Return the bin numbers of finite float64 scores, the lowest and the highest of them.

    ``out`` is memory to put them into.
    """
    digits = dropped_digits(bins)
    pattern = values.view(np.int64)
    least, most = (int(np.float64(edge).view(np.int64)) >> digits for edge in (TINY, HUGE))
    number: Array = np.right_shift(pattern, digits, out=out)
    if not number.size:
        return number, 0, 0
    low, high = int(number.min()), int(number.max())
    if low >= least and high <= most:
        return number, low, high
    if low < 0:
        # The lower edge of a bin of negative scores has the larger magnitude: round up.
        below = np.flatnonzero(pattern < 0)
        magnitude = ((pattern[below] & np.int64(2**63 - 1)) + ((1 << digits) - 1)) >> digits
        magnitude[(magnitude > 0) & (magnitude < least)] = least
        number[below] = -np.minimum(magnitude, most + 1)
    number[(number > 0) & (number < least)] = 0
    np.minimum(number, most, out=number)
    return number, int(number.min()), int(number.max())


def lower_edges(numbers: Array, bins: int) -> Array:
    """Return the lowest score in each of some bins, given by their numbers."""
    digits = dropped_digits(bins)
    most = int(np.float64(HUGE).view(np.int64)) >> digits
    edge = (np.minimum(np.abs(numbers), most) << digits).view(np.float64)
    edge = np.where(numbers < 0, -edge, edge)
    return np.where(numbers < -most, LOWEST, edge)


def assemble_bins(
    kind: Array, low: Array, high: Array, count: Array, square: Array | None = None, *, bins: int
) -> tuple[Samples, Binning]:
    """Put groups of rows into bins.

    Parameters
    ----------
    kind : ndarray
        Code of the kind of rows in each group: 0 labeled, 1 unlabeled, 2 known negative.
    low, high : ndarray
        Lowest and highest score of each group; both must lie in the same bin.
    count : ndarray
        Number of rows, or sum of their weights.
    square : ndarray or None
        Sum of squared importance weights; None without importance weights.
    bins : int
        Number of bins per doubling of the score.
    """
    low = np.asarray(low).astype(np.float64) + 0.0
    number = bin_numbers(low, bins)
    filled, group = np.unique(number, return_inverse=True)
    lowest, highest = np.full(filled.size, np.inf), np.full(filled.size, -np.inf)
    np.minimum.at(lowest, group, low)
    np.maximum.at(highest, group, high)
    wide = lowest < highest
    score = np.where(wide, lower_edges(filled, bins), lowest)

    def sum_by_bin(column: Array, rows: Array) -> Array:
        total = np.zeros(filled.size, dtype=np.float64 if column.dtype.kind == "f" else np.int64)
        np.add.at(total, group[rows], column[rows])
        return total

    samples = []
    for code in range(3):
        rows = kind == code
        squares = None if square is None else sum_by_bin(square, rows)
        samples.append(make_sample(score.copy(), sum_by_bin(count, rows), squares))
    return (samples[0], samples[1], samples[2]), Binning(bins, score[wide])


def bin_samples(samples: Samples, binning: Binning | None, bins: int) -> tuple[Samples, Binning]:
    """Put samples into bins; finer bins they may already be in are merged."""
    columns: list[list[Array]] = [[], [], [], [], []]
    for code, sample in enumerate(samples):
        for chunk in sample.chunks:
            if chunk.device_values is not None:
                low, high, count = _rows_by_bin(chunk, bins)
            else:
                low, high, count = chunk.values, chunk.values, chunk.row_counts
            columns[0].append(np.full(low.size, code))
            columns[1].append(low.astype(np.float64))
            columns[2].append(high.astype(np.float64))
            columns[3].append(count)
            columns[4].append(count if chunk.square is None else chunk.square)
    if not columns[0]:
        return samples, Binning(bins, np.empty(0))
    kind, low, high, count, square = (np.concatenate(column) for column in columns)
    if binning is not None and binning.wide.size:
        high = np.where(np.isin(low, binning.wide), np.inf, high)
    weighted = any(sample.has_importance_weights for sample in samples)
    return assemble_bins(kind, low, high, count, square if weighted else None, bins=bins)


def _rows_by_bin(chunk: SortedChunk, bins: int) -> tuple[Array, Array, Array]:
    """Return the lowest and highest score, and the number of rows, of the bins of a sorted chunk.

    The lower edges of all bins between the ends are searched in the scores: scores on a GPU stay
    there. Zero is apart, so that few bins between the signs are empty. If there are more edges
    than scores, distinct scores count as bins.
    """
    values, ranges, places = chunk.values, [], []
    zero = [int(np.searchsorted(values, 0.0, side)) for side in ("left", "right")]
    for start, stop in pairwise([0, *zero, values.size]):
        if start < stop:
            ends = np.array([values[start], values[stop - 1]], dtype=np.float64)
            ranges.append((start, *(int(number) for number in bin_numbers(ends, bins))))
    if sum(last - first for _, first, last in ranges) > values.size:
        table = chunk.on_host()
        return table.values, table.values, table.row_counts
    for start, first, last in ranges:
        places.append(np.array([start]))
        for block in range(first, last + 1, EDGES):
            edges = lower_edges(np.arange(block, min(block + EDGES, last + 1)), bins)
            places.append(values.size - chunk.cumulative_counts(edges)[1])
    # Ascending, so a comparison finds the distinct ones faster than np.unique.
    place = np.concatenate(places)
    begin = place[(np.diff(place, prepend=-1) > 0) & (place < values.size)]
    end = np.append(begin[1:], values.size)
    return values[begin], values[end - 1], end - begin


def add_samples(
    left: Samples, left_binning: Binning | None, right: Samples, right_binning: Binning | None
) -> BinnedSamples:
    """Add samples; if some are binned, put all into the coarsest bins."""
    samples = (left[0] + right[0], left[1] + right[1], left[2] + right[2])
    binnings = [binning for binning in (left_binning, right_binning) if binning is not None]
    if not binnings:
        return samples, None
    bins = min(binning.bins for binning in binnings)
    wide = np.concatenate([binning.wide for binning in binnings])
    return bin_samples(samples, Binning(bins, wide), bins)
