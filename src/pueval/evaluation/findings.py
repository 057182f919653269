"""Findings: what looks wrong with an evaluation. Each function returns a warning, or None."""

from __future__ import annotations

import math

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval.core.cluster_table import reduced_counts
from pueval.core.curves import REVERSED_Z_SCORE, auc_z_score
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import Contradiction
from pueval.evaluation.assumptions import Assumptions
from pueval.samples.bins import bin_numbers
from pueval.samples.sample import score_range
from pueval.sensitivity.feasibility import infeasibility_message, region_infeasibility_message
from pueval.text.numbers import format_count
from pueval.uncertainty.measure_intervals import Resamples

# Intervals can cover too rarely where propensities leave an effective number of labeled rows below
# MIN_EFFECTIVE and below MIN_EFFICIENCY times their actual number.
MIN_EFFECTIVE, MIN_EFFICIENCY = 100, 0.7
# Smallest number of labeled rows for which an abrupt end of their scores is noticed.
MIN_ABRUPT_LABELED = 200
# The lowest two tenths of the labeled scores. All of these must differ: rounded scores always end
# abruptly.
LOWEST_TENTHS = np.linspace(0, 0.2, 11)
# Smallest share of unlabeled rows below the lowest labeled score.
MIN_BELOW = 0.05
# How wide the lowest tenth of the labeled scores is, relative to the next tenth. About 1 where
# scores are cut off, and 3 or more where their distribution has a tail.
ABRUPT_RATIO = 1.4


def independent_rows(counts: Counts, resamples: Resamples | None) -> Counts:
    """Return counts with the effective number of independent rows, if rows form clusters."""
    if counts._clusters is None:
        return counts
    return reduced_counts(counts, None if resamples is None else resamples.share_effect)


def reversed_scores(counts: Counts, naive: float) -> str | None:
    """Warn that scores seem to be reversed."""
    if auc_z_score(counts, naive) >= REVERSED_Z_SCORE:
        return None
    return Contradiction(
        f"labeled rows score lower than the background rows (naive AUC {naive:.3f}). Higher scores "
        "must mean more likely positive; negate the scores if they do not."
    )


def constant_scores(counts: Counts) -> str | None:
    """Warn that all rows have the same score, unless scores are binned."""
    low, high = score_range(counts._samples)
    if low < high or counts.bins is not None:
        return None
    return (
        f"all rows have the same score ({float(low):g}), so the classifier ranks nothing: its "
        "AUC is 0.5, and some measures are undefined."
    )


def predicted_classes(counts: Counts) -> str | None:
    """Warn that scores are predicted classes: 0 and 1 only."""
    low, high = score_range(counts._samples)
    if (low, high) != (0, 1) or counts.bins is not None:
        return None
    chunks = [chunk.values for sample in counts._samples for chunk in sample.chunks]
    if any(np.searchsorted(v, 0, "right") < np.searchsorted(v, 1, "left") for v in chunks):
        return None
    return (
        "all scores are 0 or 1, so they look like predicted classes. AUC, average precision and "
        "curves need scores: pass predict_proba(X)[:, 1] or decision_function(X). Measures at the "
        "threshold, such as precision and recall, are those of the predictions."
    )


def threshold_beyond_scores(counts: Counts, threshold: float) -> str | None:
    """Warn that a threshold lies outside the range of scores, unless scores are binned."""
    low, high = map(float, score_range(counts._samples))
    if low <= threshold <= high or math.isinf(threshold) or counts.bins is not None:
        return None
    return (
        f"{'no row scores' if threshold > high else 'all rows score'} at or above the threshold "
        f"{threshold:g}: scores range from {low:.9g} to {high:.9g}."
    )


def threshold_within_bin(counts: Counts, threshold: float) -> str | None:
    """Warn that a threshold lies inside a bin of scores."""
    if counts.bins is None or not math.isfinite(threshold):
        return None
    scores = counts._wide_bin_scores()
    same_bin = bin_numbers(scores, counts.bins) == bin_numbers(np.array([threshold]), counts.bins)
    if not np.any(same_bin & (scores != threshold)):
        return None
    return (
        f"the threshold {threshold:g} lies inside a bin, so measures are those at a neighboring "
        f"score. Use more than {counts.bins:,} bins, or a threshold that is a score of the counts."
    )


def few_effective_rows(counts: Counts) -> str | None:
    """Warn that a few labeled rows with small propensities dominate, or are missing."""
    if not counts.has_propensity or not counts.n_represented:
        return None
    labeled, represented = counts.effective_sizes[0], counts._inverse_propensity_sample()
    # With one more labeled row, which represents as many positives as it could.
    most = counts._most_represented(represented.total)
    squares = represented.with_squared_weights.total + most**2
    effective = (represented.total + most) ** 2 / squares
    if effective >= MIN_EFFECTIVE or effective > MIN_EFFICIENCY * labeled:
        return None
    return (
        f"small propensities reduce the effective number of labeled rows from "
        f"{format_count(round(labeled))} to {effective:.0f}. Estimates can be far off. Intervals "
        "allow for positives that are hardly ever labeled, but may still be too narrow."
    )


def contradicted_assumptions(counts: Counts, assumptions: Assumptions) -> str | None:
    """Warn that the ranking contradicts the prior or the purity."""
    if counts.has_propensity:
        return None
    if assumptions.region is not None:
        return region_infeasibility_message(
            counts, assumptions.region.best_fit, assumptions.region.worst_fit
        )
    return infeasibility_message(counts, assumptions.mixture)


def label_doubts(counts: Counts, independent: Counts, assumptions: Assumptions) -> list[str]:
    """Warn of labels that look noisy, and of labeled scores that end abruptly.

    ``independent`` has the effective number of independent rows.
    """
    doubts = (noisy_labels(independent, assumptions), abrupt_labeled_scores(counts, independent))
    return [doubt for doubt in doubts if doubt]


def noisy_labels(counts: Counts, assumptions: Assumptions) -> str | None:
    """Warn that labels that are assumed to be clean look noisy; None if they were tested before.

    An estimate of the prior includes this test.
    """
    purity = assumptions.mixture.purity
    if assumptions.region is not None:
        purity = assumptions.region.purity[0]
    if purity < 1 or assumptions.estimate is not None or counts.has_propensity:
        return None
    from pueval.priors._clean_label_test import clean_label_pvalue, noisy_label_warning

    return noisy_label_warning(clean_label_pvalue(counts))


def abrupt_labeled_scores(counts: Counts, reduced: Counts | None = None) -> str | None:
    """Warn that the labeled scores end abruptly at their lowest value.

    Positives of one distribution thin out toward low scores: the lowest tenth of their scores is
    several times as wide as the next. Where only rows above some score could get a label, for
    example because only alarms were checked, both tenths are about equally wide. Both widths are
    compared as scores and as log-odds of ranks among the unlabeled rows, and the larger ratio
    counts. ``reduced`` has the effective number of independent rows.
    """
    labeled, unlabeled, _ = counts._samples
    n_labeled = (counts if reduced is None else reduced)._labeled.effective_size
    if counts.has_propensity or n_labeled < MIN_ABRUPT_LABELED or not unlabeled.total:
        return None
    quantiles = labeled.quantiles(labeled.total * LOWEST_TENTHS).astype(np.float64)
    score = quantiles[[0, LOWEST_TENTHS.size // 2, -1]]
    above, at_or_above = unlabeled.cumulative_counts(score)
    few_below = at_or_above[0] > (1 - MIN_BELOW) * unlabeled.total
    if few_below or np.any(np.diff(quantiles) <= 0):
        return None
    n_above = (above + at_or_above) / 2 / unlabeled.row_weight
    rank = scipy.special.logit(1 - (n_above + 0.5) / (unlabeled.n_rows + 1))
    widths = np.diff(np.stack([score, rank]))
    if np.any(widths <= 0) or np.max(widths[:, 0] / widths[:, 1]) > ABRUPT_RATIO:
        return None
    n_below = float(unlabeled.total - at_or_above[0]) / unlabeled.row_weight
    below = format_count(round(n_below))
    return (
        f"labeled scores end abruptly at {score[0]:.4g}, although {below} unlabeled rows score "
        "lower. If only rows above some score could get a label, for example because only alarms "
        "were checked, labels are not random and all estimates are too favorable. An audit of "
        "rows below that score would show it."
    )


def clipped_values(
    counts: Counts, clipped: dict[str, float], mixture: Mixture, threshold: float
) -> str | None:
    """Warn that measures were outside their range."""
    if not clipped:
        return None
    shown = ", ".join(f"{name} {_outside(value)}" for name, value in [*clipped.items()][:4])
    if len(clipped) > 4:
        shown += f" and {len(clipped) - 4} more"
    labeling = "the propensities" if counts.has_propensity else "random labeling"
    return (
        f"corrected values outside their range were clipped: {shown} (threshold {threshold:g}). "
        "This can be chance if few rows score above the threshold. Otherwise the data contradict "
        f"prior {mixture.prior:g}, purity {mixture.purity:g} or {labeling}."
    )


def _outside(value: float) -> str:
    """Show a value with enough digits to differ from the end of its range."""
    return next(
        (text for text in (f"{value:.{k}g}" for k in (4, 6, 8)) if float(text) not in {-1, 0, 1}),
        f"{value:.12g}",
    )
