"""Steps: how many rows of each kind score at or above some thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.samples.sample import Sample, Samples, make_sample, score_range


@dataclass(frozen=True, eq=False)
class Steps:
    """How many rows of each kind score at or above some thresholds.

    Attributes
    ----------
    threshold : ndarray
        Descending.
    labeled, unlabeled, negative : ndarray
        Cumulative counts.
    tied : ndarray of bool
        Whether a labeled row shares its score with one of another kind.
    represented_positives : ndarray or None
        Cumulative sums of 1/propensity over the labeled rows, where propensities are known.
    """

    threshold: Array
    labeled: Array
    unlabeled: Array
    negative: Array
    tied: Array
    represented_positives: Array | None = None

    def part(self, rows: slice) -> Steps:
        """Return some of the thresholds."""
        return Steps(
            self.threshold[rows],
            self.labeled[rows],
            self.unlabeled[rows],
            self.negative[rows],
            self.tied[rows],
            None if self.represented_positives is None else self.represented_positives[rows],
        )


def tabulate_scores(kinds: Samples) -> tuple[Array, Array, Array, Array]:
    """Return the distinct scores, descending, and the rows of each kind that have them."""
    found = [kind.distinct_counts() for kind in kinds]
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


def roc_corners(
    kinds: Samples, labeled_ranks: tuple[Array, Array], represented: Sample | None = None
) -> Steps:
    """Cumulative counts at +inf, at every labeled score, and at the lowest score."""
    labeled, unlabeled, negative = kinds
    score, reached = labeled_ranks
    (_, u_at), (_, n_at) = beyond = [kind.cumulative_counts(score) for kind in kinds[1:]]
    joint = np.zeros(score.size, dtype=bool)
    for above, at_or_above in beyond:
        if above is not at_or_above:
            joint |= at_or_above > above
    rest = u_at[-1] < unlabeled.total or n_at[-1] < negative.total
    lowest, _ = score_range(kinds)

    def framed(column: Array, first: float, last: float) -> Array:
        longer = np.empty(1 + column.size + rest, dtype=column.dtype)
        longer[0], longer[1 : 1 + column.size], longer[1 + column.size :] = first, column, last
        return longer

    threshold = framed(score, np.inf, lowest)
    return Steps(
        threshold,
        framed(reached, 0, labeled.total),
        framed(u_at, 0, unlabeled.total),
        framed(n_at, 0, negative.total),
        framed(joint, False, False),  # noqa: FBT003
        None if represented is None else represented.cumulative_counts(threshold)[1],
    )


def split_ties(kinds: Samples, steps: Steps, where: Array) -> Steps:
    """Insert, before some labeled scores, the counts just above them."""
    score = steps.threshold[where]
    others = kinds[1:]
    (unlabeled, _), (negative, _) = (kind.cumulative_counts(score) for kind in others)
    lowest = np.minimum(*(kind.next_above(score) for kind in others))
    # Between this labeled score and the one before, nothing else is added to these.
    stand_for = steps.represented_positives
    if stand_for is not None:
        stand_for = np.insert(stand_for, where, stand_for[where - 1])
    return Steps(
        np.insert(steps.threshold, where, lowest),
        np.insert(steps.labeled, where, steps.labeled[where - 1]),
        np.insert(steps.unlabeled, where, unlabeled),
        np.insert(steps.negative, where, negative),
        np.insert(steps.tied, where, values=False),
        stand_for,
    )


def thin_to_quantiles(
    kinds: Samples, represented: Sample | None, most: int, keep: Any = ()
) -> list[Sample] | None:
    """Put neighboring scores together, so that at most about ``most`` are left, and ``keep``.

    None if there are no more scores than that.
    """
    filled = [kind for kind in kinds if kind.chunks]
    few = [kind.distinct_if_few(most) for kind in filled]
    scores = [values for values in few if values is not None]
    if len(scores) == len(few) and np.unique(np.concatenate(scores)).size <= most:
        return None
    each = max(most // len(filled), 1)
    lowest, highest = score_range(filled)
    kept = [kind.quantiles(np.linspace(0, kind.total, each, endpoint=False)) for kind in filled]
    wanted = np.asarray(keep, dtype=np.float64)
    kept.append(wanted[(wanted > lowest) & (wanted < highest)])
    cuts = np.unique(np.concatenate([*kept, [lowest]]))[::-1]
    samples = []
    for kind in kinds if represented is None else (*kinds, represented):
        inside = np.diff(kind.cumulative_counts(cuts)[1], prepend=0)
        square = (
            kind.with_squared_weights.counts_between(cuts) if kind.has_importance_weights else None
        )
        samples.append(make_sample(cuts.copy(), inside, square))
    return samples
