"""Measures of the left part of the ROC curve: partial AUC, logAUC, ROC enrichment.

They are functionals of the monotone ROC curve, and belong to the top of the list.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.core.rank_weights import (
    cut_lines,
    interpolate_lines,
)
from pueval.core.rates import Rates, monotone_rates
from pueval.core.top_measure import TopMeasure

# Rates that differ by less are equal.
SAME_RATE = 1e-12
# Default false positive rates.
LOWEST_FPR = 0.001
PARTIAL_FPR = 0.1
ENRICHMENT_FPR = 0.01


def _partial_auc(rates: Rates, max_fpr: float) -> Array:
    fpr, tpr = cut_lines(*_roc_lines(rates), np.asarray(max_fpr))
    area = np.sum(np.diff(fpr, axis=-1) * (tpr[..., 1:] + tpr[..., :-1]) / 2, axis=-1)
    least = max_fpr**2 / 2
    value: Array = (1 + (area - least) / (max_fpr - least)) / 2
    return value


def _logauc(rates: Rates, min_fpr: float) -> Array:
    fpr, tpr = _roc_lines(rates)
    start = np.expand_dims(interpolate_lines(fpr, tpr, np.asarray(min_fpr), upper=True), -1)
    tpr, fpr = np.where(fpr > min_fpr, tpr, start), np.maximum(fpr, min_fpr)
    step, rise = np.diff(fpr, axis=-1), np.diff(tpr, axis=-1)
    slope = np.zeros(step.shape)
    np.divide(rise, step, out=slope, where=step > 0)
    log = np.log1p(step / fpr[..., :-1])
    # The integral of t₀ + slope·(f − f₀) over ln f.
    pieces = tpr[..., :-1] * log + slope * (step - fpr[..., :-1] * log)
    value: Array = np.sum(pieces, axis=-1) / -math.log(min_fpr)
    return value


def _roc_enrichment(rates: Rates, fpr: float) -> Array:
    x, y = _roc_lines(rates)
    return interpolate_lines(x, y, np.asarray(fpr), slack=SAME_RATE, upper=True) / fpr


def partial_auc(max_fpr: float = PARTIAL_FPR) -> TopMeasure:
    """Area under the ROC curve up to a false positive rate, standardized as McClish does.

    .5·(1 + (area − f²/2)/(f − f²/2)), f = ``max_fpr``: 1 for a perfect, .5 for a random ranking.
    """
    check_fraction("max_fpr", max_fpr)
    formula = partial(_partial_auc, max_fpr=max_fpr)
    return TopMeasure("partial_roc_auc", "Partial AUC", formula, along_roc=True)


def logauc(min_fpr: float = LOWEST_FPR) -> TopMeasure:
    """Mean of the recall over the logarithm of the false positive rate, from ``min_fpr`` to 1.

    A random ranking has (1 − λ)/ln(1/λ), λ = ``min_fpr``: .145 for .001.
    """
    check_fraction("min_fpr", min_fpr)
    return TopMeasure("logauc", "logAUC", partial(_logauc, min_fpr=min_fpr), along_roc=True)


def roc_enrichment(fpr: float = ENRICHMENT_FPR) -> TopMeasure:
    """Recall at a false positive rate, divided by this rate."""
    check_fraction("fpr", fpr)
    formula = partial(_roc_enrichment, fpr=fpr)
    return TopMeasure("roc_enrichment", "ROC enrichment", formula, high=1 / fpr, along_roc=True)


def _roc_lines(rates: Rates) -> tuple[Array, Array]:
    """Return the points of the monotone ROC curves, from (0, 0) to (1, 1)."""
    monotone = monotone_rates(rates)
    start = np.zeros((*monotone.tpr.shape[:-1], 1))
    fpr, tpr = (
        np.concatenate([start, rate, start + 1], axis=-1) for rate in (monotone.fpr, monotone.tpr)
    )
    return fpr, tpr
