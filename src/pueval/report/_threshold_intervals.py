"""Intervals at several thresholds, where prior or purity are uncertain.

A page interpolates between them if only its threshold is moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.core.measures import MEASURES
from pueval.report._json_values import json_number

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation

# Number of thresholds, and the smallest number with many models.
MOST_THRESHOLDS, LEAST_THRESHOLDS = 20, 8
# The page of an audited model has no draws, and room for more thresholds.
AUDITED_FACTOR = 2


def threshold_intervals(ev: Evaluation, n_models: int) -> dict[str, Any] | None:
    """Return intervals at thresholds that divide the rows evenly, denser at the top.

    Returns
    -------
    dict or None
        ``thresholds``, descending, and by measure a list of pairs of ends, not clipped. None if
        prior and purity are known, or without intervals: the draws are then enough.
    """
    resamples = ev._resamples
    if resamples is None:
        return None
    same_draws = resamples.counts.has_propensity == ev.counts.has_propensity
    if resamples.prior.is_exact and same_draws:
        return None
    candidates = resamples.draws.threshold
    number = max(MOST_THRESHOLDS // n_models, LEAST_THRESHOLDS)
    if ev.counts._audit is not None:
        number *= AUDITED_FACTOR
    position = np.linspace(0, 1, number + 1)[1:] ** 1.5 * (candidates.size - 1)
    thresholds = candidates[np.unique(np.round(position).astype(np.intp))].tolist()
    measures = {}
    for name, measure in MEASURES.items():
        intervals = [
            resamples.interval_at(measure, threshold, clipped=False) for threshold in thresholds
        ]
        measures[name] = [[json_number(end) for end in (i.low, i.high)] for i in intervals]
    return {"thresholds": thresholds, "measures": measures}
