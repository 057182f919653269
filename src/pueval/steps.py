"""Steps: how many rows of each kind score at or above some thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval.samples import Array, Sample, sample

Kinds = tuple[Sample, Sample, Sample]


@dataclass(frozen=True, eq=False)
class Steps:
    """How many rows of each kind score at or above some thresholds.

    Attributes
    ----------
    threshold : ndarray
        Descending.
    labeled, unlabeled, negative : ndarray
        Cumulative counts.
    joint : ndarray of bool
        Whether a labeled row shares its score with one of another kind.
    """

    threshold: Array
    labeled: Array
    unlabeled: Array
    negative: Array
    joint: Array


def tabulate(kinds: Kinds) -> tuple[Array, Array, Array, Array]:
    """Return the distinct scores, descending, and the rows of each kind that have them."""
    found = [kind.distinct() for kind in kinds]
    filled = [values for values, _ in found if values.size]
    scores = np.unique(np.concatenate(filled))[::-1] if filled else np.empty(0)
    columns = []
    for values, count in found:
        column = np.zeros(scores.size, dtype=count.dtype)
        column[scores.size - 1 - np.searchsorted(scores[::-1], values)] = count
        columns.append(column)
    for array in (scores, *columns):
        array.flags.writeable = False
    return scores, columns[0], columns[1], columns[2]


def corners(kinds: Kinds) -> Steps:
    """Cumulative counts at +inf, at every labeled score, and at the lowest score."""
    labeled, unlabeled, negative = kinds
    score, reached = labeled.descending()
    (u_above, u_at), (n_above, n_at) = (kind.around(score) for kind in (unlabeled, negative))
    rest = u_at[-1] < unlabeled.total or n_at[-1] < negative.total
    lowest = min(c.values[0] for kind in kinds for c in kind.chunks)

    def framed(column: Array, first: float, last: float) -> Array:
        return np.concatenate([[first], column, [last] if rest else []]).astype(
            column.dtype, copy=False
        )

    return Steps(
        framed(score, np.inf, lowest),
        framed(reached, 0, labeled.total),
        framed(u_at, 0, unlabeled.total),
        framed(n_at, 0, negative.total),
        framed((u_at > u_above) | (n_at > n_above), False, False),  # noqa: FBT003
    )


def unfold(kinds: Kinds, steps: Steps, where: Array) -> Steps:
    """Insert, before some labeled scores, the counts just above them."""
    score = steps.threshold[where]
    others = kinds[1:]
    (unlabeled, _), (negative, _) = (kind.around(score) for kind in others)
    lowest = np.minimum(*(kind.next_above(score) for kind in others))
    return Steps(
        np.insert(steps.threshold, where, lowest),
        np.insert(steps.labeled, where, steps.labeled[where - 1]),
        np.insert(steps.unlabeled, where, unlabeled),
        np.insert(steps.negative, where, negative),
        np.insert(steps.joint, where, values=False),
    )


def thin(kinds: Kinds, most: int) -> Kinds:
    """Put neighboring scores together, so that at most about ``most`` are left."""
    filled = [kind for kind in kinds if kind.chunks]
    if sum(c.values.size for kind in filled for c in kind.chunks) <= most:
        return kinds
    each = max(most // len(filled), 1)
    kept = []
    for kind in filled:
        sizes = np.array([c.values.size for c in kind.chunks])
        share = np.maximum((each * sizes) // sizes.sum(), 1)
        for chunk, wanted in zip(kind.chunks, share, strict=True):
            ranks = np.linspace(0, chunk.values.size, wanted, endpoint=False).astype(int)
            kept.append(chunk.values[ranks])
    lowest = min(c.values[0] for kind in filled for c in kind.chunks)
    cuts = np.unique(np.concatenate([*kept, [lowest]]))[::-1]
    samples = []
    for kind in kinds:
        inside = np.diff(kind.around(cuts)[1], prepend=0)
        samples.append(Sample(sample(cuts.copy(), inside).chunks, kind.squares))
    return samples[0], samples[1], samples[2]
