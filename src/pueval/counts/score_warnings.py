"""Warnings about scores that were binned, or are tied because of half precision or less."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval.counts.score_table import ScoreTable
from pueval.errors import BinnedScoresWarning, warn_caller

# Share of labeled rows that half precision or less may tie with others without a warning.
MOST_TIED = 0.01


def warn_of_bins(counts: ScoreTable) -> None:
    """Warn that scores were binned by default."""
    warn_caller(
        f"{counts.n:,} rows have too many scores to keep them all, so they were binned, "
        f"with {counts.bins:,} bins per doubling of the score. The naive AUC is off by "
        f"at most {counts.auc_error():.1g}. Pass bins={counts.bins} to accept this, or "
        "bins=None to keep every score.",
        BinnedScoresWarning,
    )


def warn_of_ties(counts: ScoreTable, dtype: Any, model: str | None = None) -> None:
    """Warn that scores in half precision or less tie many labeled rows with others."""
    if not counts.n_labeled or counts.n == counts.n_labeled:
        return
    corners = counts._roc_corners()
    tied = np.diff(corners.labeled)[corners.tied[1:]].sum() / counts.n_labeled
    if tied > MOST_TIED:
        name = str(dtype).removeprefix("torch.")
        which = "" if model is None else f"model {model!r}: "
        warn_caller(
            f"{which}scores are {name}, and {tied:.0%} of the labeled rows have the same score as "
            "other rows: rounding may have lost their order. Compute the scores in float32. If "
            "they were tied before rounding, convert them to float32.",
            BinnedScoresWarning,
        )
