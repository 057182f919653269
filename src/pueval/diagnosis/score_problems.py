"""Signs that scores cannot be trusted: reversed, in-sample, or no scores at all."""

from __future__ import annotations

from pueval.core.curves import naive_auc
from pueval.counts.counts import Counts
from pueval.errors import Contradiction
from pueval.evaluation.findings import constant_scores, predicted_classes, reversed_scores
from pueval.priors._consensus import IN_SAMPLE_RATIO, SUSPICIOUS_AUC
from pueval.sensitivity.feasibility import largest_prior


def score_problem(counts: Counts) -> str | None:
    """Return what is wrong with scores; None if nothing looks wrong."""
    auc = naive_auc(counts, counts._roc_corners())
    return (
        constant_scores(counts)
        or predicted_classes(counts)
        or reversed_scores(counts, auc)
        or _in_sample(counts, auc)
    )


def _in_sample(counts: Counts, auc: float) -> str | None:
    if auc <= SUSPICIOUS_AUC or not counts.n_unlabeled:
        return None
    largest = largest_prior(counts)
    if largest.prior * counts.n_unlabeled >= IN_SAMPLE_RATIO * counts.n_labeled:
        return None
    return Contradiction(
        f"hardly any unlabeled row scores like a labeled one (naive AUC {auc:.3f}). Either nearly "
        "all positives are labeled, or these are in-sample scores. If the classifier was trained "
        "on these rows, use out-of-fold scores: see pueval.model_selection.evaluate_cv."
    )


def repeats_label(counts: Counts) -> str | None:
    """Return how a column of 0 and 1 repeats the labels: "equals" or "contains"; else None."""
    background = counts.unlabeled + counts.negative
    if counts.score.size != 2 or counts.labeled[1]:
        return None
    return "contains" if background[0] else "equals"
