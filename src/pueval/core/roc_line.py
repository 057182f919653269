"""The line through corrected rates, and the monotone ROC curve made from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.core.rates import Rates, lower_envelope, within_unit
from pueval.core.sizes import divide_or_zero
from pueval.samples.steps import Steps

# Rounding can move a rate this far outside [0, 1]; a larger excess is noise or a wrong assumption.
ROUNDING = 1e-12


class RocLine(NamedTuple):
    """Corners of the line in the order of their thresholds.

    If labeled and other rows share the score of a corner, the line leads to it straight, ``right``
    and ``up`` by these amounts. Both are 0 for corners that the line reaches by a jump.
    """

    x: Array
    y: Array
    threshold: Array
    right: Array
    up: Array

    @classmethod
    def of(cls, steps: Steps, rates: Rates) -> RocLine:
        """Connect rates by a line."""
        x, y = rates.fpr, rates.tpr
        right, up = np.zeros((2, x.size))
        tied = np.flatnonzero(steps.tied)
        tied = tied[(x[tied] > x[tied - 1]) & (y[tied] > y[tied - 1])]
        right[tied], up[tied] = x[tied] - x[tied - 1], y[tied] - y[tied - 1]
        return cls(x, y, rates.threshold, right, up)

    @property
    def inside(self) -> Array:
        """Whether each corner lies in the unit square."""
        return within_unit(self.x, ROUNDING) & within_unit(self.y, ROUNDING)

    def take(self, rows: Array) -> RocLine:
        """Return some of the corners."""
        return RocLine(*(column[rows] for column in self))

    def replace_rows(self, rows: slice, replacement: RocLine) -> RocLine:
        """Replace a run of corners by other corners."""
        return RocLine(
            *(
                np.concatenate([old[: rows.start], new, old[rows.stop :]])
                for old, new in zip(self, replacement, strict=True)
            )
        )

    def within_square(self) -> RocLine:
        """Return the line moved into the unit square.

        New corners at an edge get the threshold at which the line crosses it. Corners outside move
        to the nearest point of the square: a recall above 1 with a negative false positive rate is
        a perfect point. Without them, a line that leaves the square at its upper left corner and
        does not return would lose all points that it should pass.
        """
        inside = self.inside
        if inside.all():
            return self
        cut = np.flatnonzero(~(inside[1:] & inside[:-1]))
        start, end = self.take(cut), self.take(cut + 1)
        enter, leave = _clip_segments(start.x, start.y, end.x, end.y)
        enters, leaves = (enter < leave) & (enter > 0), (enter < leave) & (leave < 1)

        def at_edge(which: Array, share: Array, *, on_the_way_out: bool) -> RocLine:
            first, last, share = start.take(which), end.take(which), share[which]
            x = first.x + share * (last.x - first.x)
            y = first.y + share * (last.y - first.y)
            share = share * on_the_way_out
            return RocLine(x, y, last.threshold, share * last.right, share * last.up)

        beyond = self.take(~inside)
        at_rest = np.zeros(beyond.x.size)
        corners = (
            self.take(inside),
            RocLine(
                np.clip(beyond.x, 0, 1), np.clip(beyond.y, 0, 1), beyond.threshold, at_rest, at_rest
            ),
            at_edge(enters, enter, on_the_way_out=False),
            at_edge(leaves, leave, on_the_way_out=True),
        )
        places = (
            np.flatnonzero(inside),
            np.flatnonzero(~inside),
            (cut + enter)[enters],
            (cut + leave)[leaves],
        )
        order = np.argsort(np.concatenate(places), kind="stable")
        return RocLine(*(np.concatenate(columns)[order] for columns in zip(*corners, strict=True)))

    def monotone(self) -> tuple[Array, Array, Array]:
        """Return fpr, tpr and threshold of a monotone curve, for a line within the unit square."""
        x, y, threshold, right, up = self
        x, y = np.clip(x, 0, 1), np.clip(y, 0, 1)
        x[-1] = y[-1] = 1  # up to rounding
        y, envelope, order = lower_envelope(y, x)
        if order is not None:
            x, threshold, right, up = (column[order] for column in (x, threshold, right, up))
        # The foot of a corner is the point as high as the previous corner from which the line
        # rises to it: straight below the corner, or on the straight line that leads to it.
        foot = envelope
        if right.any():
            # Where the envelope passes left of a corner, only the line up to the envelope remains.
            kept = (envelope == x) | (x - envelope < right)
            lean = divide_or_zero(right, up)
            x, y, envelope, threshold, lean = (c[kept] for c in (x, y, envelope, threshold, lean))
            y = y - divide_or_zero(x - envelope, lean)
            y = np.maximum.accumulate(y)
            foot = envelope.copy()
            foot[1:] = np.maximum(envelope[1:] - lean[1:] * (y[1:] - y[:-1]), envelope[:-1])
        rises = y[1:] > y[:-1]
        # Two candidate points per corner: its foot and the corner itself.
        kept = np.zeros((y.size, 2), dtype=bool)
        kept[0, 1] = True
        kept[1:, 0] = rises & (foot[1:] > envelope[:-1] + ROUNDING)
        kept[1:, 1] = rises | (envelope[1:] > envelope[:-1])
        point = np.flatnonzero(kept)
        corner = point >> 1
        if foot is envelope:
            x = envelope[corner]
        else:
            x = np.stack([foot, envelope], axis=1).ravel()[point]
        return x, y[(point - 1) >> 1], threshold[corner]


def _clip_segments(x0: Array, y0: Array, x1: Array, y1: Array) -> tuple[Array, Array]:
    """Return where segments enter and leave the unit square, as shares of their length."""
    enter, leave = np.zeros(x0.size), np.ones(x0.size)
    for start, end in ((x0, x1), (1 - x0, 1 - x1), (y0, y1), (1 - y0, 1 - y1)):
        # A point is in the square if its distances from all four edges are at least zero.
        at_zero = np.divide(start, start - end, out=np.zeros(x0.size), where=start != end)
        enter = np.where(end > start, np.maximum(enter, at_zero), enter)
        leave = np.where(end < start, np.minimum(leave, at_zero), leave)
        leave = np.where((start == end) & (start < 0), -1.0, leave)
    return enter, leave
