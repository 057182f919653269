"""Curves drawn with characters: braille dots, or ASCII."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pueval._typing import Array

# Bits of the eight dots of a braille character, by row and column.
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
BRAILLE = 0x2800
MARKS = ".*"


class Cell(NamedTuple):
    """A character, and the index of the topmost curve in it; −1 for none."""

    character: str
    curve: int


def draw_curves(
    curves: Sequence[tuple[Array, Array]], *, width: int, height: int, braille: bool = True
) -> list[list[Cell]]:
    """Draw curves in the unit square as lines of characters.

    Parameters
    ----------
    curves : sequence of (x, y)
        Points, joined by straight lines. Later curves are drawn over earlier ones. All but the
        last are dotted, so that they differ without colors.
    width, height : int
        Size in characters, at least 2.
    braille : bool, default True
        Whether to use braille characters, each with 2 × 4 dots, or ASCII.

    Returns
    -------
    list of list of Cell
        Lines, from the top.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([0.0, 1.0])
    >>> for row in draw_curves([(line, line)], width=6, height=3):
    ...     print("|" + "".join(cell.character for cell in row) + "|")
    |    ⡠⠊|
    |  ⡠⠎  |
    |⡠⠊    |
    >>> for row in draw_curves([(line, line**2)], width=6, height=3, braille=False):
    ...     print("|" + "".join(cell.character for cell in row) + "|")
    |    **|
    | **** |
    |**    |
    """
    fine = (4, 2) if braille else (1, 1)
    rows, columns = height * fine[0], width * fine[1]
    lit = np.zeros((len(curves), rows, columns), dtype=bool)
    for k, (x, y) in enumerate(curves):
        across, down = _dots(x, y, columns, rows)
        if k < len(curves) - 1 and braille:
            # A dotted line has every third dot.
            across, down = across[::3], down[::3]
        lit[k, down, across] = True
    # Axes: line, character, curve, and row and column of the dot in the character.
    cells = lit.reshape(len(curves), height, fine[0], width, fine[1]).transpose(1, 3, 0, 2, 4)
    return [[_cell(cell, braille=braille) for cell in line] for line in cells]


def _dots(x: Array, y: Array, columns: int, rows: int) -> tuple[Array, Array]:
    """Return the dots along a curve, without repeating a dot."""
    across, down = np.clip(x, 0, 1) * (columns - 1), (1 - np.clip(y, 0, 1)) * (rows - 1)
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(across), np.diff(down)))])
    # Four steps per dot leave no gaps.
    places = np.linspace(0.0, way[-1], max(int(4 * way[-1]), 1) + 1)
    across = np.rint(np.interp(places, way, across)).astype(int)
    down = np.rint(np.interp(places, way, down)).astype(int)
    new = np.ones(across.size, dtype=bool)
    new[1:] = (np.diff(across) != 0) | (np.diff(down) != 0)
    return across[new], down[new]


def _cell(lit: Array, *, braille: bool) -> Cell:
    present = np.flatnonzero(lit.any(axis=(1, 2)))
    top = int(present[-1]) if present.size else -1
    if not braille:
        last = lit.shape[0] - 1
        return Cell(" " if top < 0 else MARKS[top == last], top)
    if top < 0:
        return Cell(" ", top)
    bits = int(np.sum(np.array(DOTS) * lit.any(axis=0)))
    return Cell(chr(BRAILLE + bits), top)
