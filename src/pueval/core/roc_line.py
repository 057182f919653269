"""The line through corrected rates, from corner to corner, and the legal ROC curve it becomes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.core.monotone import lower_envelope
from pueval.core.rates import Rates
from pueval.samples.steps import Steps

# Rounding may put a rate this far outside [0, 1]; anything more is noise or a wrong assumption.
ROUNDING = 1e-12


class RocLine(NamedTuple):
    """Corners in the order of their thresholds.

    A corner that shares its score with rows of another kind is reached on a straight line, which
    goes ``right`` and ``up`` so far; both are 0 for corners that are reached by a jump.
    """

    x: Array
    y: Array
    threshold: Array
    right: Array
    up: Array

    @classmethod
    def of(cls, steps: Steps, rates: Rates) -> RocLine:
        """Draw the line through some rates."""
        x, y = rates.fpr, rates.tpr
        right, up = np.zeros((2, x.size))
        joint = np.flatnonzero(steps.tied)
        joint = joint[(x[joint] > x[joint - 1]) & (y[joint] > y[joint - 1])]
        right[joint], up[joint] = x[joint] - x[joint - 1], y[joint] - y[joint - 1]
        return cls(x, y, rates.threshold, right, up)

    @property
    def inside(self) -> Array:
        """Which corners lie in the unit square."""
        return _in_unit(self.x) & _in_unit(self.y)

    def part(self, rows: slice | Array) -> RocLine:
        """Return some of the corners."""
        return RocLine(*(column[rows] for column in self))

    def replaced(self, rows: slice, part: RocLine) -> RocLine:
        """Put other corners in the place of some that follow each other."""
        return RocLine(
            *(
                np.concatenate([old[: rows.start], new, old[rows.stop :]])
                for old, new in zip(self, part, strict=True)
            )
        )

    def within_square(self) -> RocLine:
        """Return the part of the line that lies in the unit square.

        Corners cut off at an edge have the threshold at which the line has crossed it.
        """
        inside = self.inside
        if inside.all():
            return self
        cut = np.flatnonzero(~(inside[1:] & inside[:-1]))
        start, end = self.part(cut), self.part(cut + 1)
        enter, leave = _cut(start.x, start.y, end.x, end.y)
        entered, left = (enter < leave) & (enter > 0), (enter < leave) & (leave < 1)

        def at_edge(which: Array, share: Array, *, reached: bool) -> RocLine:
            first, last, share = start.part(which), end.part(which), share[which]
            x = first.x + share * (last.x - first.x)
            y = first.y + share * (last.y - first.y)
            share = share * reached
            return RocLine(x, y, last.threshold, share * last.right, share * last.up)

        found = (
            self.part(inside),
            at_edge(entered, enter, reached=False),
            at_edge(left, leave, reached=True),
        )
        order = np.argsort(
            np.concatenate([np.flatnonzero(inside), (cut + enter)[entered], (cut + leave)[left]]),
            kind="stable",
        )
        return RocLine(*(np.concatenate(columns)[order] for columns in zip(*found, strict=True)))

    def legal(self) -> tuple[Array, Array, Array]:
        """Return false positive rate, true positive rate and threshold of a legal curve's points.

        For a line within the square.
        """
        x, y, threshold, right, up = self
        x, y = np.clip(x, 0, 1), np.clip(y, 0, 1)
        x[-1] = y[-1] = 1  # but for rounding
        y, lowest, order = lower_envelope(y, x)
        if order is not None:
            x, threshold, right, up = (column[order] for column in (x, threshold, right, up))
        # Before each corner is a foot, as high as the corner before: below it, or on its line.
        foot = lowest
        if right.any():
            # Of corners that others undercut only lines are left, to where they are undercut.
            kept = (lowest == x) | (x - lowest < right)
            lean = np.divide(right, up, out=np.zeros(up.size), where=up > 0)
            x, y, lowest, threshold, lean = (c[kept] for c in (x, y, lowest, threshold, lean))
            y = y - np.divide(x - lowest, lean, out=np.zeros(x.size), where=lean > 0)
            y = np.maximum.accumulate(y)
            foot = lowest.copy()
            foot[1:] = np.maximum(lowest[1:] - lean[1:] * (y[1:] - y[:-1]), lowest[:-1])
        rises = y[1:] > y[:-1]
        kept = np.zeros((y.size, 2), dtype=bool)
        kept[0, 1] = True
        kept[1:, 0] = rises & (foot[1:] > lowest[:-1] + ROUNDING)
        kept[1:, 1] = rises | (lowest[1:] > lowest[:-1])
        at = np.flatnonzero(kept)
        x = lowest[at >> 1] if foot is lowest else np.stack([foot, lowest], axis=1).ravel()[at]
        return x, y[(at - 1) >> 1], threshold[at >> 1]


def _in_unit(values: Array) -> Array:
    return (values > -ROUNDING) & (values < 1 + ROUNDING)


def _cut(x0: Array, y0: Array, x1: Array, y1: Array) -> tuple[Array, Array]:
    """Where segments enter and leave the unit square, as shares of their length."""
    enter, leave = np.zeros(x0.size), np.ones(x0.size)
    for start, end in ((x0, x1), (1 - x0, 1 - x1), (y0, y1), (1 - y0, 1 - y1)):
        # The square is where all four of these distances are at least zero.
        at_zero = np.divide(start, start - end, out=np.zeros(x0.size), where=start != end)
        enter = np.where(end > start, np.maximum(enter, at_zero), enter)
        leave = np.where(end < start, np.minimum(leave, at_zero), leave)
        leave = np.where((start == end) & (start < 0), -1.0, leave)
    return enter, leave
