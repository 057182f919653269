"""What looks wrong with an evaluation: each says it, or returns None."""

from __future__ import annotations

import math

import numpy as np

from pueval.core.curves import REVERSED_Z_SCORE, auc_z_score
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.evaluation.assumptions import Assumptions
from pueval.samples.bins import keys
from pueval.samples.sample import score_range
from pueval.sensitivity.feasibility import infeasibility_message, region_infeasibility_message
from pueval.text.numbers import format_count

# Where labeled rows, by their propensities, are worth fewer than so many, and than this part of
# their number, limits were seen to hold too seldom.
ENOUGH, EVEN = 50, 0.7


def reversed_scores(counts: Counts, naive: float) -> str | None:
    """Say that scores seem to be the wrong way round."""
    if auc_z_score(counts, naive) >= REVERSED_Z_SCORE:
        return None
    return (
        f"labeled rows score lower than the others (naive AUC {naive:.3f}). A higher score must "
        "mean more likely positive: negate the scores if it does not."
    )


def constant_scores(counts: Counts) -> str | None:
    """Say that all rows have the same score; unless binned."""
    low, high = score_range(counts._samples)
    if low < high or counts.bins is not None:
        return None
    return (
        f"all rows have the same score ({float(low):g}), so this classifier orders nothing: its "
        "AUC is 0.5, and measures that divide by zero are undefined."
    )


def beyond_scores(counts: Counts, threshold: float) -> str | None:
    """Say that a threshold is beyond all scores, perhaps on another scale; unless binned."""
    low, high = map(float, score_range(counts._samples))
    if low <= threshold <= high or math.isinf(threshold) or counts.bins is not None:
        return None
    return (
        f"{'no row scores' if threshold > high else 'all rows score'} at or above the threshold "
        f"{threshold:g}: scores are between {low:.9g} and {high:.9g}."
    )


def within_bin(counts: Counts, threshold: float) -> str | None:
    """Say that a threshold lies among scores that were put together."""
    if counts.bins is None or not math.isfinite(threshold):
        return None
    wide = counts._wide_bin_scores()
    same = keys(wide, counts.bins) == keys(np.array([threshold]), counts.bins)
    if not np.any(same & (wide != threshold)):
        return None
    return (
        f"the threshold {threshold:g} lies inside a bin, whose rows cannot be told apart: measures "
        f"are those at a neighboring score. Count with more bins than {counts.bins:,}, or take a "
        "threshold that is a score of the counts."
    )


def few_effective(counts: Counts) -> str | None:
    """Say that a few labeled rows with small propensities stand for most positives."""
    if not counts.has_propensity:
        return None
    labeled, effective = (
        counts.effective_sizes[0],
        counts._inverse_propensity_sample().effective_size,
    )
    if effective >= ENOUGH or effective > EVEN * labeled:
        return None
    return (
        f"with these propensities {format_count(round(labeled))} labeled rows tell as much as "
        f"{effective:.0f} that are equally likely, since some stand for many positives: limits "
        "hold less often than they say."
    )


def contradicted(counts: Counts, assumptions: Assumptions) -> str | None:
    """Say what of the assumptions the ranking cannot have."""
    if counts.has_propensity:
        return None
    if assumptions.region is not None:
        return region_infeasibility_message(
            counts, assumptions.region.prior, assumptions.region.purity
        )
    return infeasibility_message(counts, assumptions.mixture)


def clipped_values(clipped: dict[str, float], mixture: Mixture, threshold: float) -> str | None:
    """Say which measures were outside their range."""
    if not clipped:
        return None
    shown = ", ".join(f"{name} {_beyond(value)}" for name, value in [*clipped.items()][:4])
    if len(clipped) > 4:
        shown += f" and {len(clipped) - 4} more"
    return (
        f"corrected values outside their range were clipped: {shown} (threshold {threshold:g}). "
        f"Either few rows lie beyond the threshold and this is chance, or prior "
        f"{mixture.prior:g}, purity {mixture.purity:g} or random labeling do not fit this ranking."
    )


def _beyond(value: float) -> str:
    """Show a value with so many digits that it is not the end of its range."""
    return next(
        (text for text in (f"{value:.{k}g}" for k in (4, 6, 8)) if float(text) not in {-1, 0, 1}),
        f"{value:.12g}",
    )
