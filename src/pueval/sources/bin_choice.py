"""How many scores are kept one by one, and what happens beyond."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

from pueval.samples.bins import Binning, check_bins
from pueval.samples.sample import Samples

# A number of bins; None for none, however many scores there are; "auto" for none up to a limit.
Bins = int | Literal["auto"] | None
# What can read files.
Engine = Literal["duckdb", "polars", "dask", "spark"]
# The three samples, and how their scores were put into bins, if they were.
Counted = tuple[Samples, Binning | None]
# Group (the values of its columns; no value if there are no groups) → score column → its counts.
Tallies = dict[tuple[Hashable, ...], dict[str, Counted]]

# More scores than this (rows times score columns) are put into bins unless told otherwise: one by
# one they would take more than a gigabyte of memory.
EXACT_ROWS = 50_000_000


def check_choice(bins: Any) -> Bins:
    """Return what was said about bins, or say what can be."""
    if bins is None or (isinstance(bins, str) and bins == "auto"):
        return bins  # type: ignore[return-value]
    return check_bins(bins)
