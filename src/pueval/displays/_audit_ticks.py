"""Tick marks of audited rows, below a plot by score."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.displays._styling import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

    from pueval.core.densities import Scale
    from pueval.counts.counts import Counts
    from pueval.estimates.audit import Audit

# Heights of the ticks, as shares of the height of the axes: positives above negatives.
POSITIVE_TICKS, NEGATIVE_TICKS, SPACE = (0.045, 0.08), (0.0, 0.035), 0.1


class AuditedScores(NamedTuple):
    """Ascending places of the audited positives and negatives on the axis."""

    positive: Array
    negative: Array

    @classmethod
    def of(cls, audit: Audit, scale: Scale) -> AuditedScores:
        """Return scores, or ranks, of the audited rows."""
        rows = audit.applied.rows.used
        return cls(
            *(
                places_on_scale(audit.counts, np.sort(rows.score[where]), scale)
                for where in (rows.positive, ~rows.positive)
            )
        )


def places_on_scale(counts: Counts, score: Array, scale: Scale) -> Array:
    """Return scores, or the shares of rows that score lower."""
    if scale == "score":
        return score
    steps = counts.at(score)
    rank: Array = 1 - (steps.labeled + steps.unlabeled + steps.negative) / counts.n
    return rank


def draw_audited(
    ax: Axes,
    scores: AuditedScores,
    labels: tuple[str, str | None] = ("audited positives", "audited negatives"),
) -> tuple[LineCollection, LineCollection]:
    """Draw a tick for each audited row; call `make_room` when the limits are final."""
    left, right = ax.get_xlim()
    transform = ax.get_xaxis_transform()
    ticks = [
        ax.vlines(
            place[(place >= left) & (place <= right)],
            *heights,
            color=color,
            linewidth=0.8,
            alpha=0.8,
            transform=transform,
            label=label,
        )
        for place, heights, color, label in (
            (scores.positive, POSITIVE_TICKS, POSITIVE, labels[0] or ""),
            (scores.negative, NEGATIVE_TICKS, NEGATIVE, labels[1] or ""),
        )
    ]
    ax.set_xlim(left, right)
    return ticks[0], ticks[1]


def make_room(ax: Axes) -> None:
    """Extend the y-axis downward, so that the ticks are below the data."""
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom - SPACE / (1 - SPACE) * (top - bottom), top)
