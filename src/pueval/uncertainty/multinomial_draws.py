"""Multinomial numbers of rows in cells, drawn fast where there are many rows."""

from __future__ import annotations

import numpy as np

from pueval._typing import Array
from pueval.samples.threads import map_in_threads

# From this many rows on, numbers are normal in cells where at least `LARGE_CELL` rows are expected.
# A multinomial number takes several times as long as a normal one, and here they are much alike.
LARGE_SAMPLE = 100_000
LARGE_CELL = 100
# Nearly all rows must be in such cells.
LEAST_IN_LARGE_CELLS = 0.9
# Lines that are drawn at a time. With fewer, threads would wait for each other.
LINES = 500


def draw_multinomial(rng: np.random.Generator, shares: Array, sizes: Array) -> Array:
    """Draw the number of rows in each cell, a line for each of ``sizes``.

    Numbers are multinomial, or have nearly the same means and covariances. Multinomial numbers are
    Poisson numbers given their sum. In large cells of large samples, Poisson numbers are nearly
    normal. These are not rounded, and take up what the sum of all numbers differs from the size,
    in proportion to their shares.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of random numbers.
    shares : ndarray
        Expected share of the rows in each cell.
    sizes : ndarray
        Number of rows of each line; much alike.
    """
    mean = float(np.mean(sizes)) * shares
    large = mean >= LARGE_CELL
    in_large = shares[large].sum()
    if np.min(sizes) < LARGE_SAMPLE or in_large < LEAST_IN_LARGE_CELLS:
        return rng.multinomial(sizes, shares)
    small = ~large
    drawn = np.empty((sizes.size, shares.size))

    def draw(lines: slice, rng: np.random.Generator) -> None:
        number, block = sizes[lines], drawn[lines]
        normal = np.empty((number.size, np.count_nonzero(large))) if small.any() else block
        rng.standard_normal(out=normal)
        normal *= np.sqrt(mean[large])
        normal += mean[large]
        excess = normal.sum(axis=1) - number
        if small.any():
            counts = rng.poisson(mean[small], size=(number.size, np.count_nonzero(small)))
            excess += counts.sum(axis=1)
            block[:, small] = counts
        normal -= np.outer(excess, shares[large] / in_large)
        if small.any():
            block[:, large] = normal

    blocks = [slice(first, first + LINES) for first in range(0, sizes.size, LINES)]
    # Each block has random numbers of its own, so that the draws do not depend on the cores.
    map_in_threads(
        lambda block: draw(*block), list(zip(blocks, rng.spawn(len(blocks)), strict=True))
    )
    return drawn
