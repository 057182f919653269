"""Scores counted in a fixed number of bins, as tensors that add up.

The bins are those of `Counts.to_bins`: `bins` per doubling of the score. float32 numbers span 277
doublings on each side of zero (subnormal ones included), so a tensor with a place for every bin has
a fixed size, and counts of batches and processes are sums.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor, int32, int64, ones_like, where

from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.bins import assemble_bins, is_bins

# Exponents of the smallest and above the largest float32, of the smallest normal one, and the
# exponent biases of both types.
LOWEST_EXPONENT, END_EXPONENT, NORMAL_EXPONENT = -149, 128, -126
BIAS_32, BIAS_64 = 127, 1023
MANTISSA_32 = 23
# With more, the state would take more memory than the scores of a million rows.
MOST_STATE_BINS = 4096


def check_state_bins(bins: int) -> int:
    """Return a valid number of bins for a state of fixed size."""
    if not is_bins(bins) or bins > MOST_STATE_BINS:
        raise InputError(
            "bins, the number of bins per doubling of the score, must be a power of 2 from 2 to "
            f"{MOST_STATE_BINS:,} here, since the state has a place for every bin; got {bins!r}. "
            "256 is a good choice. Leave bins out to keep every score."
        )
    return int(bins)


def positive_bins(bins: int) -> int:
    """Return the number of bins of positive float32 scores."""
    return (END_EXPONENT - LOWEST_EXPONENT) * bins


def state_size(bins: int) -> int:
    """Return the number of bins: of positive scores, of negative ones, one more, and zero."""
    return 2 * positive_bins(bins) + 2


def bin_places(scores: Tensor, bins: int) -> Tensor:
    """Return the place of the bin of each finite float32 score; places ascend with scores."""
    digits = bins.bit_length() - 1
    magnitude = scores.abs()
    # Subnormal numbers have no leading digit: shift them into the normal range.
    subnormal = magnitude < 2.0**NORMAL_EXPONENT
    shift = 64
    normal = where(subnormal, magnitude * 2.0**shift, magnitude)
    pattern = normal.view(int32).to(int64)
    dropped = MANTISSA_32 - digits
    # The lower edge of a bin of negative scores has the larger magnitude: round up.
    rounding = where(scores < 0, (1 << dropped) - 1, 0)
    number = (pattern + rounding) >> dropped
    number = number + ((-BIAS_32 - LOWEST_EXPONENT) << digits) + 1
    number = number - where(subnormal, shift << digits, 0)
    signed = where(scores < 0, -number, number)
    return where(magnitude == 0, 0, signed) + positive_bins(bins) + 1


def add_rows(
    rows: Tensor, lowest: Tensor, highest: Tensor, kinds: Tensor, scores: Tensor, bins: int
) -> None:
    """Add finite float32 scores to a state, in place: only their bins are touched."""
    places = bin_places(scores, bins)
    rows.index_put_((kinds.to(int64), places), ones_like(places), accumulate=True)
    lowest.scatter_reduce_(0, places, scores, "amin")
    highest.scatter_reduce_(0, places, scores, "amax")


def counts_from_state(rows: Tensor, lowest: Tensor, highest: Tensor, bins: int) -> Counts:
    """Return the Counts of a state: rows by kind and bin, and the range of scores in each bin."""
    kind, place = rows.nonzero(as_tuple=True)
    if not kind.numel():
        return Counts.empty()
    columns = (kind, lowest[place], highest[place], rows[kind, place])
    codes, low, high, count = (column.cpu().numpy() for column in columns)
    samples, binning = assemble_bins(codes, low, high.astype(np.float64), count, bins=bins)
    return Counts(*samples, _binning=binning)
