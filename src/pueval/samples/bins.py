"""Binning: scores too many to keep are put into bins that keep their order.

A bin is what scores have in common whose leading binary digits agree: with ``bins`` bins between
a score and twice it, those are the exponent and the first log2(bins) digits of the mantissa. So
the bins are the same for every batch, run and engine, nobody has to know the range of the scores,
and binned data of different days can be added. Small probabilities get bins as fine, relative to
their size, as large ones.

A bin whose rows all have the same score keeps that score; nothing is lost there. Any other bin is
*wide*: it stands at its lower edge, so that the number of rows at or above the score of any bin is
exact. What is lost is the order of rows inside wide bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.sample import Samples, make_sample

# Bins between a score and twice it, where nobody asked for a number.
DEFAULT_BINS = 4096
# With "auto", more scores than this (rows times score columns) are binned: one by one they would
# take more than a gigabyte of memory.
EXACT_ROWS = 50_000_000
MOST_BINS = 2**20
# Scores nearer to zero than this share two bins, one on each side; so do those beyond its inverse.
# It keeps clear of the ends of floating-point numbers, where arithmetic in engines overflows.
TINY = 2.0**-900
HUGE = 2.0**900
LOWEST = -np.finfo(np.float64).max
MANTISSA = 52

Bins = int | Literal["auto"] | None
"""Bins between a score and twice it; None keeps every score; "auto" bins large data only."""


@dataclass(frozen=True, eq=False)
class Binning:
    """How scores were put into bins.

    Attributes
    ----------
    bins : int
        How many lie between a score and twice it.
    wide : ndarray
        The scores, ascending, that stand for more than one.
    """

    bins: int
    wide: Array


BinnedSamples = tuple[Samples, Binning | None]
"""The three samples, and their binning if their scores are binned."""


def check_bins(bins: Any) -> int:
    """Return a number of bins, or say which there can be."""
    if (
        isinstance(bins, bool)
        or not isinstance(bins, int | np.integer)
        or not 2 <= bins <= MOST_BINS
        or bins & (bins - 1)
    ):
        raise InputError(
            "bins, the number of bins between a score and twice it, must be a power of 2 from 2 "
            f"to {MOST_BINS:,}; got {bins!r}. {DEFAULT_BINS:,} is a good choice."
        )
    return int(bins)


def check_bins_choice(bins: Any) -> Bins:
    """Return a valid argument ``bins``: a number of bins, None or "auto"."""
    if bins is None or (isinstance(bins, str) and bins == "auto"):
        return bins  # type: ignore[return-value]
    return check_bins(bins)


def resolve_bins(bins: Bins, n_scores: int) -> int | None:
    """Return the number of bins for some number of scores; None if every score is kept."""
    if bins == "auto":
        return DEFAULT_BINS if n_scores > EXACT_ROWS else None
    return bins


def shift(bins: int) -> int:
    """Return how many of the last binary digits of a score do not matter."""
    return MANTISSA - (bins.bit_length() - 1)


def keys(values: Array, bins: int) -> Array:
    """Give numbers to the bins of finite float64 scores; they rise with the scores."""
    return numbered(values, bins)[0]


def numbered(values: Array, bins: int, out: Array | None = None) -> tuple[Array, int, int]:
    """Give numbers to the bins of finite float64 scores, and return the least and the largest.

    ``out`` is memory to put them into.
    """
    digits = shift(bins)
    pattern = values.view(np.int64)
    least, most = (int(np.float64(edge).view(np.int64)) >> digits for edge in (TINY, HUGE))
    number: Array = np.right_shift(pattern, digits, out=out)
    if not number.size:
        return number, 0, 0
    low, high = int(number.min()), int(number.max())
    if low >= least and high <= most:
        return number, low, high
    if low < 0:
        # The lower edge of a bin of negative scores has the larger magnitude: rounded up.
        below = np.flatnonzero(pattern < 0)
        magnitude = ((pattern[below] & np.int64(2**63 - 1)) + ((1 << digits) - 1)) >> digits
        magnitude[(magnitude > 0) & (magnitude < least)] = least
        number[below] = -np.minimum(magnitude, most + 1)
    number[(number > 0) & (number < least)] = 0
    np.minimum(number, most, out=number)
    return number, int(number.min()), int(number.max())


def lower_edges(numbers: Array, bins: int) -> Array:
    """Return the lowest score that belongs to each of some numbered bins."""
    digits = shift(bins)
    most = int(np.float64(HUGE).view(np.int64)) >> digits
    edge = (np.minimum(np.abs(numbers), most) << digits).view(np.float64)
    edge = np.where(numbers < 0, -edge, edge)
    return np.where(numbers < -most, LOWEST, edge)


def assemble(
    kind: Array,
    low: Array,
    high: Array,
    count: Array,
    square: Array | None = None,
    *,
    bins: int,
) -> tuple[Samples, Binning]:
    """Put groups of rows into bins.

    Parameters
    ----------
    kind : ndarray
        0 for labeled, 1 for unlabeled, 2 for known negative rows.
    low, high : ndarray
        Lowest and highest score of each group; both must lie in the same bin.
    count : ndarray
        Rows, or their weight.
    square : ndarray or None
        Sum of their squared weights; None where rows just count.
    bins : int
        Bins between a score and twice it.
    """
    low = np.asarray(low).astype(np.float64) + 0.0
    number = keys(low, bins)
    there, group = np.unique(number, return_inverse=True)
    lowest, highest = np.full(there.size, np.inf), np.full(there.size, -np.inf)
    np.minimum.at(lowest, group, low)
    np.maximum.at(highest, group, high)
    wide = lowest < highest
    score = np.where(wide, lower_edges(there, bins), lowest)

    def added(column: Array, rows: Array) -> Array:
        total = np.zeros(there.size, dtype=np.float64 if column.dtype.kind == "f" else np.int64)
        np.add.at(total, group[rows], column[rows])
        return total

    kinds = []
    for code in range(3):
        rows = kind == code
        squares = None if square is None else added(square, rows)
        kinds.append(make_sample(score.copy(), added(count, rows), squares))
    return (kinds[0], kinds[1], kinds[2]), Binning(bins, score[wide])


def bin_samples(kinds: Samples, binning: Binning | None, bins: int) -> tuple[Samples, Binning]:
    """Put samples into bins; if they are in finer ones already, several of those become one."""
    columns: list[list[Array]] = [[], [], [], []]
    for code, one in enumerate(kinds):
        for chunk in one.chunks:
            size = chunk.values.size
            columns[0].append(np.full(size, code))
            columns[1].append(chunk.values.astype(np.float64))
            columns[2].append(chunk.row_counts)
            columns[3].append(chunk.squared_weights)
    if not columns[0]:
        return kinds, Binning(bins, np.empty(0))
    kind, low, count, square = (np.concatenate(column) for column in columns)
    high = low
    if binning is not None and binning.wide.size:
        high = np.where(np.isin(low, binning.wide), np.inf, low)
    weighted = any(one.has_importance_weights for one in kinds)
    return assemble(kind, low, high, count, square if weighted else None, bins=bins)


def add_binned(
    one: Samples, first: Binning | None, other: Samples, second: Binning | None
) -> tuple[Samples, Binning | None]:
    """Add samples; if some are in bins, all are put into the coarsest of them."""
    kinds = (one[0] + other[0], one[1] + other[1], one[2] + other[2])
    binnings = [binning for binning in (first, second) if binning is not None]
    if not binnings:
        return kinds, None
    bins = min(binning.bins for binning in binnings)
    wide = np.concatenate([binning.wide for binning in binnings])
    return bin_samples(kinds, Binning(bins, wide), bins)
