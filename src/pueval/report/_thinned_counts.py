"""Counts that fit into a page: at all scores, or thinned to as many as there is room for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pueval._typing import Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import mean_placement
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.sensitivity.positive_shares import independent_weight

# Bytes that a page has for the counts of all models, and bytes of a model without its counts.
BYTES_FOR_MODELS, BYTES_PER_MODEL = 570_000, 26_000
# Largest numbers of bytes of a score (or weight) and of a number of rows.
SCORE_BYTES, COUNT_BYTES = 22, 7
FEWEST_SCORES = 100


@dataclass(frozen=True, eq=False)
class ThinnedCounts:
    """Counts at few enough scores, and the resulting error.

    At the remaining scores, the numbers of rows at or above them, and thus all measures, are exact.

    Attributes
    ----------
    counts : Counts
        Thinned counts, or the original ones if they are few enough.
    exact : bool
        Whether the counts are the original ones.
    placement : float or None
        Probability that a positive outscores any other row of the target, estimated with
        propensities or an audit; None without these.
    precision_error : float
        Error of the average precision at the evaluated prior and purity.
    auc_error : float
        Largest error of the labeling-bias bounds of the AUC, at the same prior and purity.
    """

    counts: Counts
    exact: bool
    placement: float | None
    precision_error: float
    auc_error: float

    def columns(self) -> dict[str, list[float]]:
        """Return the table as lists, by descending score, without empty columns."""
        counts = self.counts
        columns = {
            "labeled": counts.labeled,
            "unlabeled": counts.unlabeled,
            "negative": counts.negative,
        }
        represented = counts.steps().represented_positives
        if represented is not None:
            columns["represented"] = np.diff(represented)
        filled = {name: column.tolist() for name, column in columns.items() if column.any()}
        return {"score": counts.score.tolist(), **filled}

    def row_numbers(self) -> dict[str, float]:
        """Return numbers of rows for the bounds of a labeling bias.

        ``labeledRows`` is the number of labeled rows, ``independentWeight`` the weight of one
        independent row.
        """
        return {
            "labeledRows": self.counts._labeled.n_rows,
            "independentWeight": independent_weight(self.counts),
        }


def affordable_scores(counts: Counts, n_models: int) -> int:
    """Return the number of scores for which a page with ``n_models`` models has room."""
    columns = 3 if counts.n_negative else 2
    bytes_per_score = (
        SCORE_BYTES
        + columns * (COUNT_BYTES if counts._has_integer_counts else SCORE_BYTES)
        + SCORE_BYTES * counts.has_propensity
    )
    return max((BYTES_FOR_MODELS // n_models - BYTES_PER_MODEL) // bytes_per_score, FEWEST_SCORES)


def thin_counts(
    counts: Counts,
    mixture: Mixture,
    target: Target,
    *,
    keep: Sequence[float],
    precision: float,
    scores: int,
) -> ThinnedCounts:
    """Merge neighboring scores until about ``scores`` remain.

    The thresholds in ``keep`` remain, so that measures there are exact. ``precision`` is the
    average precision of the original counts.
    """
    placement = mean_placement(counts, target) if counts.has_propensity else None
    if _has_few_scores(counts, 3 * scores) and counts.score.size <= scores:
        return ThinnedCounts(counts, True, placement, 0.0, 0.0)  # noqa: FBT003
    thinned = counts._thinned(scores, keep=keep)
    corrected = correct_steps(thinned, thinned._roc_corners(), mixture, target)
    error = abs(float(average_precision(corrected)) - precision)
    # Merging can displace a labeled row by half of the rows that are now tied with it.
    rows = thinned.labeled + thinned.unlabeled + thinned.negative
    tied = np.max(rows[thinned.labeled > 0])
    displacement = tied / thinned.n / 2 / (1 - mixture.prevalence(thinned))
    precision_error = 0.0 if math.isnan(error) else error
    return ThinnedCounts(thinned, False, placement, precision_error, float(displacement))  # noqa: FBT003


def _has_few_scores(counts: Counts, most: int) -> bool:
    """Return whether labeled, unlabeled and negative rows have at most ``most`` distinct scores.

    Distinct scores are counted per sample, without building the full table.
    """
    few = [sample.distinct_if_few(most) for sample in counts._samples]
    return sum(most + 1 if scores is None else scores.size for scores in few) <= most
